//! Markdown.

use super::*;

#[test]
fn a_page_reads_like_a_text() {
    let page = page(json!([
        [1, 1, 0, "main", ""],
        [1, 2, 1, "heading", "The shop & more", null, ["level=1"]],
        [1, 3, 1, "paragraph", ""],
        [1, 0, 2, "text", "See the"],
        [1, 4, 2, "link", "price list", null, ["url=/prices"]],
        [1, 0, 2, "text", ", or"],
        [1, 5, 2, "strong", ""],
        [1, 0, 3, "text", "ask"],
        [1, 0, 2, "text", "us."],
        [1, 6, 1, "list", ""],
        [1, 7, 2, "listitem", ""],
        [1, 0, 3, "text", "One"],
        [1, 8, 3, "list", ""],
        [1, 9, 4, "listitem", ""],
        [1, 10, 5, "link", "Inner"],
        [1, 11, 2, "listitem", ""],
        [1, 0, 3, "text", "Two"],
        [1, 12, 1, "heading", "Prices", null, ["level=2"]],
        [1, 13, 1, "table", ""],
        [1, 14, 2, "row", ""],
        [1, 15, 3, "columnheader", "Thing"],
        [1, 16, 3, "columnheader", "Price"],
        [1, 17, 2, "row", ""],
        [1, 18, 3, "cell", "Cup a|b"],
        [1, 19, 3, "cell", "5.00 Buy"],
        [1, 20, 4, "button", "Buy"],
        [1, 21, 1, "textbox", "Email", "a@b.c ", ["required"]],
        [1, 22, 1, "button", "Send", null, ["disabled"]],
        [1, 23, 1, "paragraph", ""],
        [1, 24, 2, "code", ""],
        [1, 0, 3, "text", "npm i"],
        [1, 25, 1, "blockquote", ""],
        [1, 0, 2, "text", "said"],
        [1, 0, 1, "text", "one block"],
        [1, 0, 1, "text", "another block"],
    ]));
    let expected = "page \"A page\" http://a.example/ [version=v1]
# The shop & more
See the [price list](/prices), or **ask** us.
- One
  - [Inner](ref e10)
- Two

## Prices
| Thing | Price |
| --- | --- |
| Cup a\\|b | 5.00 [button \"Buy\" e20] |
[textbox \"Email\" e21 required: a@b.c ] [button \"Send\" e22 disabled]
`npm i`
> said
one block
another block";
    assert_eq!(shown(&page, json!({"format": "markdown"})).text, expected);
}

#[test]
fn a_long_text_comes_in_parts_and_nothing_is_lost() {
    let nodes: Vec<_> = (1..=500)
        .flat_map(|n| {
            [
                json!([1, n, 0, "paragraph", ""]),
                json!([1, 0, 1, "text", format!("Paragraph <{n}>")]),
            ]
        })
        .collect();
    let page = page(json!(nodes));
    let (mut all, mut args) = (String::new(), json!({"format": "markdown", "maxTokens": 300}));
    loop {
        let part = shown(&page, args);
        assert!(part.text.len() <= 1200, "{}", part.text);
        all.push_str(&part.text);
        match part.cursor {
            // The format comes with the cursor.
            Some(cursor) => args = json!({"cursor": cursor, "maxTokens": 300}),
            None => break,
        }
    }
    for n in 1..=500 {
        assert_eq!(all.matches(&format!("<{n}>")).count(), 1, "{n}");
    }
    assert!(!all.contains("- paragraph"));
}

#[test]
fn a_table_that_arranges_a_page_is_not_squeezed_into_rows() {
    let page = page(json!([
        [1, 1, 0, "table", ""],
        [1, 2, 1, "row", ""],
        [1, 3, 2, "cell", ""],
        [1, 4, 3, "heading", "News", null, ["level=2"]],
        [1, 5, 3, "paragraph", ""],
        [1, 0, 4, "text", "Much happened."],
        [1, 6, 2, "cell", ""],
        [1, 7, 3, "iframe", "Ad"],
        [2, 1, 4, "button", "Buy"],
    ]));
    let expected = ["## News", "Much happened.", "[button \"Buy\" d2e1]"];
    assert_eq!(lines_of(&page, json!({"format": "markdown"})), expected);
}

#[test]
fn a_table_without_rows_says_its_caption_once() {
    let page = page(json!([
        [1, 1, 0, "table", "Orders"],
        [1, 2, 1, "caption", "Orders"],
        [1, 0, 1, "text", "none yet"],
    ]));
    let text = shown(&page, json!({"format": "markdown"})).text;
    assert!(text.ends_with("\nOrders\nnone yet"), "{text}");
    assert_eq!(text.matches("Orders").count(), 1, "{text}");
}
