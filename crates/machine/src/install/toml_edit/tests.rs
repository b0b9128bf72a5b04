//! Before and after, byte by byte.

use super::*;

fn entry() -> Entry {
    Entry { command: "/bin/tabwire".to_owned(), args: vec!["stdio".to_owned()] }
}

#[track_caller]
fn check(before: &str, after: &str) {
    let edited = set(before, "tabwire", &entry()).unwrap();
    assert_eq!(edited, after, "from {before:?}");
    assert_eq!(set(&edited, "tabwire", &entry()).unwrap(), after, "once is enough");
    let without = remove(&edited, "tabwire").unwrap();
    assert_eq!(get(&without, "tabwire").unwrap(), None);
}

const OURS: &str = "[mcp_servers.tabwire]\ncommand = \"/bin/tabwire\"\nargs = [\"stdio\"]\n";

#[test]
fn a_table_goes_to_the_end() {
    check("", OURS);
    check("\u{feff}", &format!("\u{feff}{OURS}"));
    check("model = \"x\"\n", &format!("model = \"x\"\n\n{OURS}"));
    check("model = \"x\"", &format!("model = \"x\"\n\n{OURS}"));
    let dotted = "mcp_servers.a.command = \"x\"\n";
    check(dotted, &format!("{dotted}\n{OURS}"));
    check("# mine\n\n", &format!("# mine\n\n{OURS}"));
    check(
        "[mcp_servers.a]\ncommand = \"x\" # why\n  [mcp_servers.a.env]\n  K = 'v'\n[other]\nx=1\n",
        &format!(
            "[mcp_servers.a]\ncommand = \"x\" # why\n  [mcp_servers.a.env]\n  K = 'v'\n[other]\nx=1\n\n{OURS}"
        ),
    );
    check(
        "a = 1\r\n[mcp_servers]\r\n",
        &format!("a = 1\r\n[mcp_servers]\r\n\r\n{}", OURS.replace('\n', "\r\n")),
    );
}

#[test]
fn adding_and_removing_gives_back_what_was() {
    for before in ["", "a = 1\n", "a = 1\r\n", "[mcp_servers.b]\ncommand = \"x\"\n# end\n"] {
        let added = set(before, "tabwire", &entry()).unwrap();
        assert_eq!(remove(&added, "tabwire").unwrap(), before);
    }
}

#[test]
fn other_settings_of_the_entry_and_its_form_stay() {
    for (before, after) in [
        (
            "[mcp_servers.tabwire]\nargs = [] # none\nenabled = true\ncommand = 'old'\n[x]\n",
            "[mcp_servers.tabwire]\nargs = [\"stdio\"] # none\nenabled = true\ncommand = \"/bin/tabwire\"\n[x]\n",
        ),
        (
            "[mcp_servers]\ntabwire = { command = \"old\", args = [\"a\"], env = {} }\n",
            "[mcp_servers]\ntabwire = { command = \"/bin/tabwire\", args = [\"stdio\"], env = {} }\n",
        ),
    ] {
        assert_eq!(set(before, "tabwire", &entry()).unwrap(), after);
    }
}

#[test]
fn removing_takes_the_tables_below_and_nothing_else() {
    let text = "a = 1\n\n[mcp_servers.tabwire]\ncommand = \"x\"\n\n[mcp_servers.tabwire.env]\nK = \"v\" \
                # c\n\n# about other\n[mcp_servers.other]\ncommand = \"y\"\n";
    let wanted = "a = 1\n\n\n# about other\n[mcp_servers.other]\ncommand = \"y\"\n";
    assert_eq!(remove(text, "tabwire").unwrap(), wanted);
}

#[test]
fn removing_takes_keys_with_dots_along() {
    let before = "[mcp_servers.tabwire]\ncommand = \"x\"\nargs = []\ne.nv = { A = \"b\" }\n\
        e.other.deep = 1 # why\n\n[mcp_servers.tabwire.e.more]\nB = \"c\"\n[profiles]\na = 1\n";
    assert_eq!(remove(before, "tabwire").unwrap(), "\n[profiles]\na = 1\n");
}

#[test]
fn what_cannot_be_edited_safely_is_refused() {
    for text in [
        "a = ",
        "[a]\n[a]\n",
        "mcp_servers = 1\n",
        "mcp_servers = { a = { command = \"x\" } }\n",
        "[mcp_servers]\ntabwire = 1\n",
        "[mcp_servers.tabwire]\nurl = \"http://x\"\n",
        "[[mcp_servers]]\na = 1\n",
    ] {
        assert!(set(text, "tabwire", &entry()).is_err(), "{text}");
    }
    let inline = "[mcp_servers]\ntabwire = { command = \"x\" }\n";
    assert!(remove(inline, "tabwire").is_err(), "it is left to its owner");
}

#[test]
fn one_mark_is_passed_over_and_no_more() {
    for count in 2..5 {
        let text = format!("{}{OURS}", "\u{feff}".repeat(count));
        for text in [&text, &"\u{feff}".repeat(count)] {
            assert!(matches!(get(text, "tabwire"), Err(EditError::Broken(_))), "{text:?}");
            assert!(set(text, "tabwire", &entry()).is_err(), "{text:?}");
            assert!(remove(text, "tabwire").is_err(), "{text:?}");
        }
    }
}
