//! Lines, parts that fit, and cursors.

use model::Json;
use serde_json::{Value, json};

use super::*;

fn page(nodes: Value) -> Page {
    let result = json!({
        "format": "snapshot.v1", "url": "http://a.example/", "title": "A page",
        "documents": [{"n": 1, "documentId": "x", "parent": null, "url": "http://a.example/"}],
        "nodes": nodes, "truncated": false,
    });
    Page::read(&Json::of(&result)).unwrap().unwrap()
}

fn view(max_tokens: usize) -> View {
    View { max_tokens, cursor: None }
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
    let shown = write(&page, &view(TOKENS)).unwrap();
    let expected = "page \"A page\" http://a.example/\n\
        - heading \"Shop\" [level=1] [ref=e1]\n\
        - textbox \"Email\" [ref=e7]: a@b.c \n\
        - button \"Buy \\\"now\\\"\" [disabled] [ref=e8]\n\
        - text: two lines\n\
        - iframe [ref=e9]\n  \
          - checkbox \"Yes\" [checked] [ref=d3e2]";
    assert_eq!(shown.text, expected);
    assert_eq!((shown.lines, shown.cursor), (6, None));
}

#[test]
fn a_long_page_comes_in_parts_that_fit_and_nothing_is_lost() {
    let nodes: Vec<_> =
        (1..=2000).map(|n| json!([1, n, 0, "button", format!("Button number {n}")])).collect();
    let whole = page(json!(nodes));
    let (mut seen, mut parts, mut next) = (Vec::new(), 0, View { max_tokens: 1000, cursor: None });
    loop {
        let shown = write(&whole, &next).unwrap();
        assert!(shown.text.len() <= 4000, "{} bytes", shown.text.len());
        let refs = shown.text.lines().filter_map(|line| line.split("[ref=").nth(1));
        seen.extend(refs.map(|text| text.trim_end_matches(']').to_owned()));
        parts += 1;
        match shown.cursor {
            Some(cursor) => next.cursor = Some(Cursor::parse(&cursor).unwrap()),
            None => break,
        }
    }
    let expected: Vec<_> = (1..=2000).map(|n| format!("e{n}")).collect();
    assert_eq!(seen, expected);
    assert!(parts > 10, "{parts}");
}

#[test]
fn a_cursor_finds_its_node_when_the_page_has_grown_before_it() {
    let first = page(json!([[1, 1, 0, "button", "A"], [1, 2, 0, "button", "B"]]));
    let cursor = Cursor::parse(&Cursor::at(&first.nodes[1], 1)).unwrap();
    let grown = page(json!([
        [1, 1, 0, "button", "A"],
        [1, 9, 0, "button", "New"],
        [1, 2, 0, "button", "B"],
    ]));
    let shown = write(&grown, &View { cursor: Some(cursor), ..view(TOKENS) }).unwrap();
    assert!(shown.text.contains("[ref=e2]") && !shown.text.contains("[ref=e9]"), "{}", shown.text);
    let other = page(json!([[1, 1, 0, "button", "A"]]));
    let fault = write(&other, &View { cursor: Some(cursor), ..view(TOKENS) }).unwrap_err();
    assert!(fault.to_string().contains("new snapshot"), "{fault}");
}

#[test]
fn bad_views_and_bad_pages_are_refused_and_other_results_are_not_ours() {
    for (name, value) in
        [("maxTokens", json!(5)), ("maxTokens", json!("many")), ("cursor", json!("1.2"))]
    {
        let mut args = Map::from_iter([(name.to_owned(), value)]);
        assert_eq!(View::take(&mut args).unwrap_err().code, Code::InvalidArgument);
    }
    assert!(Page::read(&Json::of(&json!({"tree": []}))).unwrap().is_none());
    assert!(Page::read(&Json::of(&json!("text"))).unwrap().is_none());
    let broken = json!({"format": "snapshot.v1", "url": "x", "nodes": [[1, 2]]});
    assert_eq!(Page::read(&Json::of(&broken)).unwrap_err().code, Code::MalformedReply);
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
    let shown = write(&page, &view(6000)).unwrap();
    assert_eq!(shown.text.lines().count(), 1 + 3 + 1, "{}", shown.text);
    assert!(shown.text.len() <= 6000 * 4, "{}", shown.text.len());
    assert!(!shown.text.contains(|letter: char| letter.is_control() && letter != '\n'));
    assert!(shown.text.contains(r": v\r\n- link \u{1b}[31m\u{2028}"), "{}", shown.text);
    let rest = View { max_tokens: 100, cursor: Some(Cursor::parse("1.3.3").unwrap()) };
    assert!(write(&page, &rest).unwrap().text.len() < 4000);
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
    ]));
    let shown = write(&page, &view(TOKENS)).unwrap();
    let expected = "page \"A page\" http://a.example/\n\
        - textbox \"Email\" [ref=e1]: a@b.c\n\
        - checkbox \"News\" [checked] [ref=e2]\n\
        - text: Email\n\
        - button \"Email\" [ref=e3]";
    assert_eq!(shown.text, expected);
}
