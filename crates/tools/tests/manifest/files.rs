//! Manifests that cannot be used, and folders of them.

use std::{env, fs, path::PathBuf};

use tools::manifest::{self, LARGEST, Manifest, ManifestError};

use crate::page::Stage;

const HEAD: &str = "name = \"lamp\"\ndialect = \"lamp\"\n";

fn parse(text: &str) -> Result<Manifest, ManifestError> {
    Manifest::parse("lamp.toml", text)
}

/// The text follows a good head of two lines; the error is the line and parts of the words.
#[track_caller]
fn check(text: &str, line: usize, part: &str) {
    let error = parse(&format!("{HEAD}{text}")).err().unwrap_or_else(|| panic!("good: {text}"));
    let shown = error.to_string();
    assert!(shown.starts_with(&format!("lamp.toml:{line}: ")), "{shown}\n{text}");
    for part in part.split(" … ") {
        assert!(shown.contains(part), "{part:?} is not in {shown:?}");
    }
}

/// A command with this in place of its last line.
fn tool(last: &str) -> String {
    format!("[[tool]]\nname = \"t\"\ndescription = \"d\"\ncommand = \"c\"\n{last}")
}

#[test]
fn the_example_of_the_documentation_is_a_good_manifest() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/manifests.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, example) = page.split_once("```toml\n").unwrap();
    let manifest =
        parse(example.split_once("```").unwrap().0).unwrap_or_else(|why| panic!("{why}"));
    let names: Vec<_> = manifest.tools().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["get_color", "set_color", "turn_left", "turn_right", "get_lamp_link"]);
}

#[test]
fn what_is_not_toml_is_told_with_its_line() {
    check("title = ", 3, "not valid TOML");
    check("x = 1\nx = 2", 4, "not valid TOML: duplicate key");
    let error = parse("").err().unwrap();
    assert_eq!(error.to_string(), "lamp.toml:1: a manifest needs `name`");
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    check("titel = \"x\"", 3, "a manifest has no key `titel` … did you mean `title`?");
    check(&tool("replay = \"x\""), 7, "tool `t` has no key `replay` … did you mean `reply`?");
    check("[types.a]\nkind = \"number\"\nminimum = 1", 5, "`minimum` … did you mean `min`?");
    check("[types.a]\nkind = \"colour\"\nmin = 1", 5, "type `a` has no key `min`; it has kind");
    check("[[tool]]\nnam = \"t\"", 4, "a tool has no key `nam` … did you mean `name`?");
    let arg = "args = { x = { type = \"text\", defualt = \"a\" } }\nreply = \"r\"";
    check(&tool(arg), 7, "argument `x` has no key `defualt` … did you mean `default`?");
    check(
        "[[tool]]\nname = \"t\"\ndescription = \"d\"\ncomand = \"c\"",
        6,
        "did you mean `command`?",
    );
}

#[test]
fn the_head_is_checked() {
    check("page = \"ftp://x/{id}\"", 3, "web address");
    check("page = \"http://x/\"", 3, "{id}");
    check("timeoutMs = 0", 3, "from 1 to 600000");
    check("timeoutMs = \"2s\"", 3, "`timeoutMs` must be a number; this is a TOML string");
    check("confirm = \"sate\"", 3, "did you mean `state`?");
    check("tool = 7", 3, "[[tool]]");
    check("[[tool]]\nname = \"t\"\ndescription = \"d\"\nlink = true", 1, "needs `page`");
    let error = parse("name = \"a b\"\ndialect = \"x\"").err().unwrap();
    assert_eq!(error.to_string(), "lamp.toml:1: \"a b\" is not a name");
    assert!(parse("name = \"a\"").err().unwrap().message.contains("needs `dialect`"));
}

#[test]
fn types_are_checked() {
    check("[types.a]\nkind = \"color\"", 4, "there is no kind `color` … did you mean `colour`?");
    check("[types.a]\nmin = 1", 3, "type `a` needs `kind`");
    check("[types.a]\nkind = \"number\"\nmin = 1\nmax = 0", 3, "no number is from 1 to 0");
    check("[types.a]\nkind = \"number\"\nmin = 1\nexclusiveMin = 0", 3, "not both");
    check("[types.a]\nkind = \"colour\"\nnames = { x = \"#12345\" }", 5, "#rrggbb, not \"#12345\"");
    let twice = "[types.a]\nkind = \"colour\"\n[types.a.names]\n\
                 \"sea foam\" = \"#000000\"\nSeaFoam = \"#000001\"";
    check(twice, 7, "\"SeaFoam\" and \"sea foam\" are the same word");
    let far = "[types.a]\nkind = \"number\"\nmax = 9\nwords = { much = 10 }";
    check(far, 6, "`much` must stand for a number up to 9");
    check("[types.a]\nkind = \"choice\"", 3, "needs `choices`");
    check("[types.a]\nkind = \"text\"\nmaxLength = -1", 5, "a whole number from 0");
    check("[types.a]\nkind = \"number\"\nmax = inf", 5, "`max` must be a number");
}

#[test]
fn tools_are_checked() {
    check("[[tool]]\ndescription = \"d\"", 3, "a tool needs `name`");
    check("[[tool]]\nname = \"a b\"", 4, "\"a b\" is not a name: 1 to 64 of letters");
    check(&format!("[[tool]]\nname = \"{}\"", "x".repeat(65)), 4, "is not a name");
    check("[[tool]]\nname = \"sleep\"", 3, "`sleep` is a tool of Tabwire's own");
    check("[[tool]]\nname = \"t\"", 3, "tool `t` needs `description`");
    check("[[tool]]\nname = \"t\"\ndescription = \"d\"", 3, "one of `state`, `command`, `link");
    check("[[tool]]\nname = \"t\"\ndescription = \"d\"\nlink = false", 3, "`link = true`");
    let getter = "[[tool]]\nname = \"t\"\ndescription = \"d\"\nstate = ";
    check(&format!("{getter}\"model.color\""), 6, "\"model.color\" is not a JSON pointer");
    check(&format!("{getter}\"/a~2\"\nlabel = \"x\""), 6, "is not a JSON pointer");
    check(&format!("{getter}\"/a\""), 3, "tool `t` needs `label`");
    check(&format!("{getter}\"/a\"\nlabel = \"x\"\nshow = \"{{x}}\""), 8, "such as {/x}");
    check(&tool(""), 3, "tool `t` needs `reply`");
    let good = tool("reply = \"r\"");
    check(&format!("{good}\n{good}"), 8, "there are two tools named `t`");
}

#[test]
fn arguments_and_the_places_of_texts_are_checked() {
    let check = |last: &str, line: usize, part: &str| check(&tool(last), line, part);
    check(
        "args = { x = \"nubmer\" }\nreply = \"r\"",
        7,
        "no type `nubmer` … did you mean `number`?",
    );
    check("args = { session = \"text\" }\nreply = \"r\"", 7, "`session` is reserved");
    check("args = { type = \"text\" }\nreply = \"r\"", 7, "`type` is reserved");
    check(
        "args = { x = \"text\" }\nreply = \"{y}\"",
        8,
        "nothing fills {y} in `reply`; there is {x}",
    );
    check("args = { color = \"text\" }\nreply = \"{colour}\"", 8, "did you mean `color`?");
    check("reply = \"{y\"", 7, "no `}` follows `{`");
    check("reply = \"r\"\nnow = \"{y}\"", 8, "{y} in `now` must be a JSON pointer");
    let optional = "args = { x = { type = \"text\", optional = true } }\nreply = \"{x}\"";
    check(optional, 8, "`x` may be left out: add `replyWithout`");
    check(
        &format!("{optional}\nreplyWithout = \"{{x}}\""),
        9,
        "nothing fills {x} in `replyWithout`",
    );
    let default = "args = { x = { type = \"integer\", default = 1.5 } }\nreply = \"r\"";
    check(default, 7, "the default of `x` must be a whole number, not 1.5");
    let positive = "args = { x = { type = \"p\", default = 0 } }\nreply = \"r\"\n\
                    [types.p]\nkind = \"number\"\nexclusiveMin = 0";
    check(positive, 7, "the default of `x` must be a number above 0, not 0");
}

#[test]
fn each_makes_one_tool_of_every_combination_and_is_checked() {
    let text = |each: &str, name: &str| {
        format!(
            "{HEAD}[[tool]]\neach = {{ {each} }}\nname = \"{name}\"\ndescription = \"{{A}}\"\n\
             command = \"c{{A}}\"\nargs = {{ x = \"text\" }}\nreply = \"{{x}} {{a}}\""
        )
    };
    let manifest =
        parse(&text("a = [\"one\", \"two\"], b = [\"x\", \"y\"]", "t_{a}_{b}")).ok().unwrap();
    let names: Vec<_> = manifest.tools().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["t_one_x", "t_one_y", "t_two_x", "t_two_y"]);
    assert_eq!(manifest.tools().next().unwrap().description, "One");
    for (each, name, part) in [
        ("a = [\"one\", \"two\"]", "t", "3: there are two tools named `t`"),
        ("A = [\"one\"]", "t", "4: `A` must begin with a lower-case letter"),
        ("x = [\"one\"]", "t_{x}", "8: `x` is a word of `each` already"),
        ("a = []", "t", "4: `each` must make 1 to 256 tools"),
        ("a = \"one\"", "t", "4: `a` must be a list of texts"),
    ] {
        let shown = parse(&text(each, name)).err().unwrap().to_string();
        assert!(shown.starts_with(&format!("lamp.toml:{part}")), "{shown}");
    }
    let words: Vec<_> = (0..20).map(|number| format!("\"{number}\"")).collect();
    let many = format!("a = [{0}], b = [{0}]", words.join(", "));
    assert!(parse(&text(&many, "t{a}{b}")).err().unwrap().message.contains("1 to 256"));
}

#[test]
fn too_much_is_refused() {
    let many: String = (0..257)
        .map(|number| {
            tool("reply = \"r\"\n").replace("name = \"t\"", &format!("name = \"t{number}\""))
        })
        .collect();
    check(&many, 2 + 256 * 5 + 1, "more than 256 tools");
    let error = parse(&format!("# {}", "x".repeat(LARGEST))).err().unwrap();
    assert!(error.to_string().contains("at most 262144"), "{error}");
}

struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = env::temp_dir().join(format!("tabwire-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in files {
            fs::write(folder.join(file), text).unwrap();
        }
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_folder_is_read_in_order_and_a_bad_file_costs_only_itself() {
    let large = "#".repeat(LARGEST + 1);
    let folder = Folder::with(
        "manifests",
        &[
            ("b.toml", "name = \"b\"\ndialect = \"x\""),
            ("a.toml", "name = \"a\"\ndialect = \"x\""),
            ("c.toml", "name = \"a\"\ndialect = \"x\""),
            ("bad.toml", "name = \"bad\""),
            ("large.toml", &large),
            ("a.cases.json", "{}"),
        ],
    );
    let (manifests, errors) = manifest::Folder::default().load(&folder.0);
    let names: Vec<_> = manifests.iter().map(Manifest::name).collect();
    assert_eq!(names, ["a", "b"]);
    let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert!(errors[0].contains("bad.toml:1: a manifest needs `dialect`"), "{errors:?}");
    assert!(errors[1].contains("c.toml: the name `a` is "), "{errors:?}");
    assert!(errors[2].contains("large.toml: 262145 bytes"), "{errors:?}");
    assert_eq!(errors.len(), 3);
    let (none, errors) = manifest::Folder::default().load(&folder.0.join("nowhere"));
    assert!(none.is_empty() && errors[0].message.starts_with("cannot be read: "));
}

#[test]
fn a_manifest_takes_the_place_of_one_with_its_name() {
    let own = Manifest::parse("mine.toml", "name = \"hello3d\"\ndialect = \"other\"").unwrap();
    let lamp = parse(HEAD).ok().unwrap();
    let merged = manifest::merge(manifest::shipped(), vec![lamp, own]);
    let found: Vec<_> = merged.iter().map(|found| (found.name(), found.file())).collect();
    assert_eq!(found, [("hello3d", "mine.toml"), ("lamp", "lamp.toml")]);
}

#[tokio::test]
async fn a_tool_that_two_manifests_have_stays_with_the_first() {
    let text = format!("{HEAD}{}", tool("reply = \"r\""));
    let (first, second) = (parse(&text).ok().unwrap(), Manifest::parse("two.toml", &text).unwrap());
    let Stage { toolbox, apps, .. } = &Stage::with(Vec::new());
    let hub = &toolbox.hub;
    let complaints = apps.set(vec![first, second]);
    assert_eq!(complaints[0].to_string(), "two.toml: tool `t` is in lamp.toml already");
    assert_eq!(apps.list(hub).len(), 1);
    assert!(apps.set(Vec::new()).is_empty() && !apps.has(hub, "t"));
}
