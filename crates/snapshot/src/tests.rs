//! Lines, parts that fit, and cursors.

use model::{Code, Json};
use serde_json::{Map, Value, json};

use super::*;

fn page(nodes: Value) -> Page {
    let result = json!({
        "format": "snapshot.v1", "url": "http://a.example/", "title": "A page",
        "documents": [{"n": 1, "documentId": "x", "parent": null, "url": "http://a.example/"}],
        "nodes": nodes, "truncated": false,
    });
    Page::read(&Json::of(&result)).unwrap().unwrap()
}

fn view(args: Value) -> View {
    View::take(&mut args.as_object().unwrap().clone()).unwrap()
}

fn shown(page: &Page, args: Value) -> Shown {
    let view = view(args);
    write(&Subject { page, version: "v1", before: None }, &view).unwrap()
}

fn fault(page: &Page, args: Value) -> String {
    let mut args = args.as_object().unwrap().clone();
    let written = View::take(&mut args)
        .and_then(|view| write(&Subject { page, version: "v1", before: None }, &view));
    written.unwrap_err().to_string()
}

/// The lines after the head.
fn lines_of(page: &Page, args: Value) -> Vec<String> {
    shown(page, args).text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_page_that_is_still_loading_says_so_whatever_is_asked() {
    let mut page = page(json!([[1, 1, 0, "heading", "Shop"]]));
    page.loading = true;
    for args in [json!({}), json!({"find": "nothing"}), json!({"format": "markdown"})] {
        let shown = shown(&page, args.clone()).text;
        let line = shown.lines().nth(1).unwrap();
        assert_eq!(line.trim_matches(['[', ']']), LOADING, "{args}: {shown}");
    }
}

#[test]
fn a_line_says_what_a_thing_is_and_how_to_refer_to_it() {
    let page = page(json!([
        [1, 1, 0, "heading", "Shop", null, ["level=1"]],
        [1, 0, 1, "text", "Shop"],
        [1, 7, 0, "textbox", "Email", "a@b.c "],
        [1, 8, 0, "button", "Buy \"now\"", null, ["disabled"]],
        [1, 0, 0, "text", "two\n  lines"],
        [1, 9, 0, "iframe", ""],
        [3, 2, 1, "checkbox", "Yes", null, ["checked"]],
    ]));
    let shown = shown(&page, json!({}));
    let expected = "page \"A page\" http://a.example/ [version=v1]\n\
        - heading \"Shop\" [level=1] [ref=e1]\n\
        - textbox \"Email\" [ref=e7]: a@b.c \n\
        - button \"Buy \\\"now\\\"\" [disabled] [ref=e8]\n\
        - text: two lines\n\
        - iframe [ref=e9]\n  \
          - checkbox \"Yes\" [checked] [ref=d3e2]";
    assert_eq!(shown.text, expected);
    assert_eq!((shown.lines, shown.cursor), (6, None));
}

/// All references that parts of an answer show, by going on as long as there is more.
fn walk(page: &Page, args: Value, cap: usize) -> Vec<String> {
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    for _ in 0..2000 {
        let part = match &cursor {
            // The cursor alone is enough.
            Some(cursor) => shown(page, json!({"cursor": cursor, "maxTokens": cap / 4})),
            None => shown(page, with(args.clone(), json!({"maxTokens": cap / 4}))),
        };
        assert!(part.text.len() <= cap, "{} bytes: {}", part.text.len(), part.text);
        assert!(part.lines > 0, "{}", part.text);
        let refs = part.text.split("[ref=").skip(1);
        seen.extend(refs.map(|text| text.split(']').next().unwrap().to_owned()));
        let next = part.cursor;
        assert!(next.is_none() || next != cursor, "a cursor moves on");
        match next {
            Some(next) => cursor = Some(next),
            None => return seen,
        }
    }
    panic!("it never ends");
}

fn with(mut object: Value, more: Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

#[test]
fn a_long_page_comes_in_parts_that_fit_and_nothing_is_lost() {
    let nodes: Vec<_> = (1..=2000)
        .map(|n| json!([1, n, 0, "paragraph", format!("Paragraph number {n}")]))
        .collect();
    let seen = walk(&page(json!(nodes)), json!({}), 4000);
    let expected: Vec<_> = (1..=2000).map(|n| format!("e{n}")).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_cursor_finds_its_node_when_the_page_has_grown_before_it() {
    let cursor = json!({"cursor": "1.2.1"});
    let grown = page(json!([
        [1, 1, 0, "button", "A"],
        [1, 9, 0, "button", "New"],
        [1, 2, 0, "button", "B"],
    ]));
    let text = shown(&grown, cursor.clone()).text;
    assert!(text.contains("[ref=e2]") && !text.contains("[ref=e9]"), "{text}");
    let other = page(json!([[1, 1, 0, "button", "A"]]));
    assert!(fault(&other, cursor).contains("new snapshot"));
}

#[test]
fn bad_views_and_bad_pages_are_refused_and_other_results_are_not_ours() {
    for (name, value) in [
        ("maxTokens", json!(5)),
        ("maxTokens", json!("many")),
        ("cursor", json!("1.2")),
        ("cursor", json!("1.2.3~open")),
        ("cursor", json!("1.2.3~session=%22x%22")),
        ("depth", json!(0)),
        ("open", json!("row 5")),
        ("open", json!("e0")),
        ("find", json!(" ")),
        ("find", json!("/(/")),
        ("find", json!("/a/x")),
        ("find", json!("/(a{1000}){1000}/")),
    ] {
        let mut args = Map::from_iter([(name.to_owned(), value)]);
        assert_eq!(View::take(&mut args).unwrap_err().code, Code::InvalidArgument);
    }
    assert!(Page::read(&Json::of(&json!({"tree": []}))).unwrap().is_none());
    assert!(Page::read(&Json::of(&json!("text"))).unwrap().is_none());
    let broken = json!({"format": "snapshot.v1", "url": "x", "nodes": [[1, 2]]});
    assert_eq!(Page::read(&Json::of(&broken)).unwrap_err().code, Code::MalformedReply);
    let broken = json!({"format": "snapshot.v1", "url": "x", "nodes": "none [ref=e2]"});
    let fault = Page::read(&Json::of(&broken)).unwrap_err();
    assert!(fault.message.contains(r"none \[ref=e2\]"), "{fault}");
}

#[test]
fn what_a_page_says_neither_ends_a_line_nor_fills_the_memory() {
    let mut page = page(json!([
        [1, 1, u32::MAX, "button\n- link", "a", null, ["x]\n- link [ref=e9"]],
        [1, 2, 0, "textbox", "", "v\r\n- link \u{1b}[31m\u{2028}"],
        [1, 0, 0, "text", "a\u{1b}]0;x\u{7}b"],
        [1, 3, 0, "button", "x".repeat(1 << 20)],
    ]));
    page.url = format!("http://a.example/\n- link [ref=e9]{}", "x".repeat(1 << 20));
    let shown = shown(&page, json!({}));
    assert_eq!(shown.text.lines().count(), 1 + 3 + 1, "{}", shown.text);
    assert!(shown.text.len() <= 6000 * 4, "{}", shown.text.len());
    assert!(!shown.text.contains(|letter: char| letter.is_control() && letter != '\n'));
    assert!(shown.text.contains(r": v\r\n- link \u{1b}\[31m\u{2028}"), "{}", shown.text);
    let rest = super::tests::shown(&page, json!({"maxTokens": 100, "cursor": "1.3.3"}));
    assert!(rest.text.len() <= 400, "{}", rest.text.len());
}

#[test]
fn the_label_of_a_field_beside_it_is_not_said_twice() {
    let page = page(json!([
        [1, 0, 0, "text", "Email"],
        [1, 1, 0, "textbox", "Email", "a@b.c"],
        [1, 2, 0, "checkbox", "News", null, ["checked"]],
        [1, 0, 0, "text", " News "],
        [1, 0, 0, "text", "Email"],
        [1, 3, 0, "button", "Email"],
        [1, 0, 0, "text", "Last name"],
        [1, 0, 0, "text", "(required)"],
        [1, 4, 0, "textbox", "Last name (required)"],
        [1, 0, 0, "text", "Other words"],
        [1, 0, 0, "text", "Phone"],
        [1, 5, 0, "textbox", "Phone"],
    ]));
    let shown = shown(&page, json!({}));
    let expected = "page \"A page\" http://a.example/ [version=v1]\n\
        - textbox \"Email\" [ref=e1]: a@b.c\n\
        - checkbox \"News\" [checked] [ref=e2]\n\
        - text: Email\n\
        - button \"Email\" [ref=e3]\n\
        - textbox \"Last name (required)\" [ref=e4]\n\
        - text: Other words\n\
        - textbox \"Phone\" [ref=e5]";
    assert_eq!(shown.text, expected);
}

#[test]
fn one_text_stands_in_the_line_of_what_it_is_in_and_a_paragraph_around_a_field_has_none() {
    let page = page(json!([
        [1, 1, 0, "form", ""],
        [1, 2, 1, "paragraph", ""],
        [1, 0, 2, "text", "Who are you?"],
        [1, 3, 1, "paragraph", ""],
        [1, 4, 2, "textbox", "Name", "Ann "],
        [1, 5, 1, "paragraph", ""],
        [1, 0, 2, "text", "See"],
        [1, 6, 2, "link", "help"],
        [1, 7, 1, "status", "", null, ["clickable"]],
        [1, 0, 2, "text", "saved"],
    ]));
    let expected = [
        "- form [ref=e1]",
        "  - paragraph [ref=e2]: Who are you?",
        "    - textbox \"Name\" [ref=e4]: Ann ",
        "  - paragraph [ref=e5]",
        "    - text: See",
        "    - link \"help\" [ref=e6]",
        "  - status [clickable] [ref=e7]: saved",
    ];
    assert_eq!(lines_of(&page, json!({})), expected);
}

mod attacks;
mod changes;
mod folding;
mod forging;
mod looking;
mod reading;
