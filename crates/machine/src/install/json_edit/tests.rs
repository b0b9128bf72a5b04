//! Before and after, byte by byte.

use serde_json::json;

use super::*;

fn entry() -> Written {
    Written::Object(vec![
        ("command".to_owned(), Written::Plain(json!("/bin/tabwire"))),
        ("args".to_owned(), Written::Plain(json!(["stdio"]))),
    ])
}

#[track_caller]
fn check(before: &str, after: &str) {
    let path = ["mcpServers", "tabwire"];
    let edited = set(before, &path, &entry()).unwrap();
    assert_eq!(edited, after, "from {before:?}");
    let value = get(&edited, &path).unwrap();
    assert_eq!(value, Some(json!({"command": "/bin/tabwire", "args": ["stdio"]})));
    assert_eq!(set(&edited, &path, &entry()).unwrap(), after, "once is enough");
    let without = remove(&edited, &path).unwrap();
    assert_eq!(get(&without, &path).unwrap(), None);
}

const WHOLE: &str = r#"{
  "mcpServers": {
    "tabwire": {
      "command": "/bin/tabwire",
      "args": ["stdio"]
    }
  }
}
"#;

#[test]
fn nothing_becomes_a_whole_file() {
    check("", WHOLE);
    check(" \n\n", WHOLE);
    check("\u{feff}", &format!("\u{feff}{WHOLE}"));
    check("// mine\n", &format!("// mine\n{WHOLE}"));
    check("{}\n", WHOLE);
    check("{\n}\n", WHOLE);
    check("{ }", WHOLE.trim_end());
    check("\r\n", &WHOLE.replace('\n', "\r\n"));
}

#[test]
fn a_member_goes_behind_the_last_one() {
    check(
        "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}\n  }\n}\n",
        "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"},\n    \
         \"tabwire\": {\n      \"command\": \"/bin/tabwire\",\n      \"args\": [\"stdio\"]\n    }\n  \
         }\n}\n",
    );
    check(
        "{\n  \"theme\": \"dark\"\n}",
        "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"tabwire\": {\n      \"command\": \
         \"/bin/tabwire\",\n      \"args\": [\"stdio\"]\n    }\n  }\n}",
    );
}

#[test]
fn comments_and_trailing_commas_stay_where_they_are() {
    check(
        "{\n\t// all of mine\n\t\"mcpServers\": {\n\t\t\"a\": 1, // first\n\t\t\"b\": 2 /* second */ // \
         really\n\t\t// \"c\": 3\n\t}, // done\n}\n// end\n",
        "{\n\t// all of mine\n\t\"mcpServers\": {\n\t\t\"a\": 1, // first\n\t\t\"b\": 2, /* second */ // \
         really\n\t\t\"tabwire\": {\n\t\t\t\"command\": \"/bin/tabwire\",\n\t\t\t\"args\": \
         [\"stdio\"]\n\t\t}\n\t\t// \"c\": 3\n\t}, // done\n}\n// end\n",
    );
    check(
        "{\n  \"mcpServers\": {\n    \"a\": 1, // first\n  },\n}",
        "{\n  \"mcpServers\": {\n    \"a\": 1, // first\n    \"tabwire\": {\n      \"command\": \
         \"/bin/tabwire\",\n      \"args\": [\"stdio\"]\n    },\n  },\n}",
    );
    check(
        "{\n  \"mcpServers\": { // none yet\n  }\n}",
        "{\n  \"mcpServers\": { // none yet\n    \"tabwire\": {\n      \"command\": \
         \"/bin/tabwire\",\n      \"args\": [\"stdio\"]\n    }\n  }\n}",
    );
}

#[test]
fn odd_indentation_is_taken_over() {
    check(
        "{\r\n   \"a\": 1,\r\n   \"mcpServers\": {}\r\n}",
        "{\r\n   \"a\": 1,\r\n   \"mcpServers\": {\r\n      \"tabwire\": {\r\n         \"command\": \
         \"/bin/tabwire\",\r\n         \"args\": [\"stdio\"]\r\n      }\r\n   }\r\n}",
    );
    check(
        "{\n\"a\": 1\n}",
        "{\n\"a\": 1,\n\"mcpServers\": {\n  \"tabwire\": {\n    \"command\": \"/bin/tabwire\",\n    \
         \"args\": [\"stdio\"]\n  }\n}\n}",
    );
    check(
        "{\n  \"mcpServers\": {\n    \"a\": 1}}",
        "{\n  \"mcpServers\": {\n    \"a\": 1,\n    \"tabwire\": {\n      \"command\": \
         \"/bin/tabwire\",\n      \"args\": [\"stdio\"]\n    }}}",
    );
}

#[test]
fn one_line_stays_one_line() {
    check(
        r#"{"a":1,"mcpServers":{"b":{"x":[1,2]}}}"#,
        r#"{"a":1,"mcpServers":{"b":{"x":[1,2]},"tabwire":{"command":"/bin/tabwire","args":["stdio"]}}}"#,
    );
    check(
        r#"{ "a": 1 }"#,
        r#"{ "a": 1, "mcpServers": {"tabwire": {"command": "/bin/tabwire", "args": ["stdio"]}} }"#,
    );
}

#[test]
fn an_entry_is_replaced_in_its_place() {
    let before = "{\"mcpServers\": {\n  \"tabwire\": {\n    \"command\": \"old\" // mine\n  },\n  \"b\": 2}}";
    let command = Written::Plain(json!("/bin/tabwire"));
    let edited = set(before, &["mcpServers", "tabwire", "command"], &command).unwrap();
    assert_eq!(edited, before.replace("\"old\"", "\"/bin/tabwire\""));
    let args = Written::Plain(json!(["stdio"]));
    let edited = set(&edited, &["mcpServers", "tabwire", "args"], &args).unwrap();
    assert!(
        edited.contains("\"/bin/tabwire\", // mine\n    \"args\": [\"stdio\"]\n  },\n"),
        "{edited}"
    );
}

#[test]
fn a_member_is_taken_out_with_its_comma() {
    #[track_caller]
    fn check(before: &str, after: &str) {
        assert_eq!(remove(before, &["s", "tabwire"]).unwrap(), after);
    }
    check("{\"s\": {\"tabwire\": 1}}", "{\"s\": {}}");
    check("{\"s\": {\n  \"tabwire\": 1,\n}}", "{\"s\": {}}");
    check("{\"s\": {\"a\": 1, \"tabwire\": 1}}", "{\"s\": {\"a\": 1}}");
    check("{\"s\": {\"tabwire\": 1, \"a\": 1}}", "{\"s\": { \"a\": 1}}");
    check("{\"s\": {\n  \"a\": 1, // x\n  \"tabwire\": {}\n}}", "{\"s\": {\n  \"a\": 1 // x\n}}");
    check(
        "{\"s\": {\n  // x\n  \"tabwire\": {},\n  \"a\": 1\n}}",
        "{\"s\": {\n  // x\n  \"a\": 1\n}}",
    );
    check("{\"s\": {}}", "{\"s\": {}}");
    check("{}", "{}");
    check("", "");
}

#[test]
fn comments_trailing_commas_and_marks_are_no_hindrance() {
    let text = "\u{feff}// first\n{ /* a */ \"a\" /* b */ : [1, 2e3, -4.5,], \"\\u0062\": \
                {\"c\": \"//no\\\"\",}, \"d\": null } // last";
    let whole = json!({"a": [1, 2e3, -4.5], "b": {"c": "//no\""}, "d": null});
    assert_eq!(get(text, &[]).unwrap(), Some(whole));
    for text in ["", " \r\n\t", "\u{feff}", "// only this", "/* and that */\n"] {
        assert_eq!(get(text, &[]).unwrap(), None, "{text:?}");
    }
}

#[test]
fn broken_texts_are_refused_with_their_line() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    for (text, line) in [
        ("{", 1),
        ("{\n\"a\": 1\n\"b\": 2}", 2),
        ("{\"a\" 1}", 1),
        ("{a: 1}", 1),
        ("{\"a\": }", 1),
        ("{\"a\": 1} x", 1),
        ("[1 2]", 1),
        ("[,]", 1),
        ("{,}", 1),
        ("{\"a\": \"x\ny\"}", 1),
        ("\n\n{\"a\": \"x", 3),
        ("/* x", 1),
        ("{\"a\": truth}", 1),
        ("{\"a\": 01}", 1),
        (&deep, 1),
    ] {
        let Err(EditError::Broken(why)) = get(text, &[]) else { panic!("{text:?} is taken") };
        assert!(why.starts_with(&format!("line {line}: ")), "{text:?}: {why}");
    }
}

#[test]
fn what_cannot_be_edited_safely_is_refused() {
    for text in [
        "{",
        "{\"mcpServers\": }",
        "not json",
        "[]",
        "7",
        "{\"mcpServers\": []}",
        "{\"mcpServers\": null}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "{\"mcpServers\": {\"tabwire\": 1, \"tabwire\": 2}}",
    ] {
        assert!(set(text, &["mcpServers", "tabwire"], &entry()).is_err(), "{text}");
    }
    // Taking it out would put the brace into the comment.
    let trap = "{\"s\": { // x\n\"tabwire\": 1}}";
    assert!(remove(trap, &["s", "tabwire"]).is_err());
}
