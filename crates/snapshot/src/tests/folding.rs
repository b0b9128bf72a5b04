//! Runs of the same: folded, opened, and nothing lost.

use super::*;

/// A table with links, as the extension tells it.
fn table(rows: u32) -> Page {
    let mut nodes = vec![
        json!([1, 1, 0, "main", ""]),
        json!([1, 2, 1, "table", "Orders"]),
        json!([1, 3, 2, "rowgroup", ""]),
        json!([1, 4, 3, "row", ""]),
    ];
    for (n, name) in ["Id", "Customer", "Link", "Date", "Total", "State"].iter().enumerate() {
        nodes.push(json!([1, 5 + n, 4, "columnheader", name]));
    }
    for row in 0..rows {
        let first = 100 + row * 8;
        nodes.push(json!([1, first, 2, "row", ""]));
        let cells = [
            format!("{row}"),
            format!("Customer {row}"),
            format!("Order {row}"),
            "2026-01-02".to_owned(),
            "12.00".to_owned(),
            "open".to_owned(),
        ];
        for (n, text) in (1..).zip(cells) {
            nodes.push(json!([1, first + n, 3, "cell", text]));
            if n == 3 {
                nodes.push(json!([1, first + 7, 4, "link", text]));
            }
        }
    }
    page(json!(nodes))
}

#[test]
fn a_long_table_is_a_few_rows_and_says_how_to_see_the_others() {
    let text = shown(&table(1000), json!({})).text;
    assert!(text.len() < 4 * 300, "{}: {text}", text.len());
    let row = "    - row [ref=e100]: 0 | Customer 0 | link \"Order 0\" [ref=e107] | 2026-01-02 | \
        12.00 | open";
    assert!(text.lines().any(|line| line == row), "{text}");
    assert!(text.contains("\n    - … 996 more row like these [open=e2]\n"), "{text}");
    assert!(text.contains("Order 999"), "{text}");
}

#[test]
fn an_opened_table_is_dense_and_complete() {
    let table = table(1000);
    let seen = walk(&table, json!({"open": "e2"}), 24_000);
    for row in 0..1000 {
        for offset in [0, 7] {
            let reference = format!("e{}", 100 + row * 8 + offset);
            assert!(seen.contains(&reference), "{reference}");
        }
    }
    let (mut bytes, mut args) = (0, json!({"open": "e2"}));
    loop {
        let part = shown(&table, args);
        bytes += part.text.len();
        match part.cursor {
            Some(cursor) => args = json!({"cursor": cursor}),
            None => break,
        }
    }
    assert!(bytes / 4 < 27_000, "{} tokens", bytes / 4);
}

#[test]
fn a_badge_more_or_less_does_not_break_a_run() {
    let mut nodes = vec![json!([1, 1, 0, "list", "Mails"])];
    for n in 0..40_u32 {
        let first = 10 + n * 10;
        nodes.push(json!([1, first, 1, "listitem", ""]));
        nodes.push(json!([1, first + 1, 2, "link", format!("A rather long subject line {n}")]));
        nodes.push(json!([1, first + 2, 2, "button", "Archive"]));
        if n % 7 == 3 {
            nodes.push(json!([1, first + 3, 2, "status", "new"]));
        }
        if n == 20 {
            nodes.push(json!([1, first + 4, 2, "img", "flag"]));
        }
    }
    let page = page(json!(nodes));
    let text = shown(&page, json!({})).text;
    assert!(text.contains("… 36 more listitem like these [open=e1]"), "{text}");
    assert!(walk(&page, json!({"open": "e1"}), 2000).contains(&"e212".to_owned()));
}

#[test]
fn items_of_several_siblings_are_a_run_too() {
    let mut nodes = Vec::new();
    for n in 0..60_u32 {
        nodes.push(json!([1, n * 3 + 1, 0, "heading", format!("Product {n}"), null, ["level=3"]]));
        nodes.push(json!([1, 0, 0, "text", "In stock, sent tomorrow"]));
        nodes.push(json!([1, n * 3 + 2, 0, "button", format!("Buy product {n}")]));
    }
    nodes.push(json!([1, 900, 0, "paragraph", "The end"]));
    nodes.push(json!([1, 901, 0, "button", "Load more"]));
    let page = page(json!(nodes));
    let text = shown(&page, json!({})).text;
    let fold = "- … 56 more heading + text + button like these [open=e1]";
    assert!(text.lines().any(|line| line == fold), "{text}");
    assert!(text.contains("The end") && text.contains("Load more"), "{text}");
    let seen = walk(&page, json!({"open": "e1"}), 2000);
    assert!(seen.contains(&"e95".to_owned()) && !seen.contains(&"e901".to_owned()), "{seen:?}");
}

#[test]
fn what_is_read_what_is_filled_in_and_what_is_short_stays() {
    let check = |nodes: Vec<Value>| {
        let count = nodes.len();
        assert_eq!(lines_of(&page(json!(nodes)), json!({})).len(), count);
    };
    let long = "Something that goes on for a good while and has no end in sight";
    check((1..31).map(|n| json!([1, n, 0, "textbox", format!("{long} {n}")])).collect());
    check((1..39).map(|n| json!([1, n, 0, "checkbox", format!("{long} {n}")])).collect());
    check((1..50).map(|n| json!([1, n, 0, "paragraph", format!("{long} {n}")])).collect());
    check((1..13).map(|n| json!([1, n, 0, "button", format!("Tool {n}")])).collect());
}

#[test]
fn many_fields_long_options_and_many_buttons_fold() {
    for (role, count) in [("textbox", 200), ("option", 190), ("button", 5000)] {
        let mut nodes = vec![json!([1, 1, 0, "group", ""])];
        nodes.extend((2..count + 2).map(|n| json!([1, n, 1, role, format!("Thing {n}")])));
        let page = page(json!(nodes));
        let text = shown(&page, json!({})).text;
        assert!(
            text.contains(&format!("… {} more {role} like these [open=e1]", count - 4)),
            "{text}"
        );
        assert_eq!(walk(&page, json!({"open": "e1"}), 8000).len(), count);
        // Any of them names the run as well.
        assert_eq!(walk(&page, json!({"open": "e100"}), 8000).len(), count);
    }
}

#[test]
fn what_is_selected_is_shown_within_a_folded_run() {
    let mut nodes = vec![json!([1, 1, 0, "listbox", "Country"])];
    for n in 2..200 {
        let flags = if n == 77 { json!(["selected"]) } else { json!([]) };
        nodes.push(json!([1, n, 1, "option", format!("Country {n}"), null, flags]));
    }
    let text = shown(&page(json!(nodes)), json!({})).text;
    assert!(text.contains("- option \"Country 77\" [selected] [ref=e77]"), "{text}");
    assert!(text.contains("… 72 more option") && text.contains("… 121 more option"), "{text}");
}

#[test]
fn what_cannot_be_opened_is_shown_or_said() {
    let page = table(3);
    let text = shown(&page, json!({"open": "e2"})).text;
    assert!(text.contains("Order 2"), "{text}");
    let words = fault(&page, json!({"open": "e9999"}));
    assert!(words.contains("not in the page") && words.contains("new snapshot"), "{words}");
}

#[test]
fn depth_counts_what_is_deeper() {
    let page = table(2);
    let expected = ["- main [ref=e1]", "  - table \"Orders\" [ref=e2] … 24 things inside"];
    assert_eq!(lines_of(&page, json!({"depth": 2})), expected);
    assert_eq!(lines_of(&page, json!({"depth": 1})), ["- main [ref=e1] … 25 things inside"]);
}

/// Steps for each node, in six ways to look at it. Whatever is quadratic takes thousands.
const MOST_STEPS: usize = 200;

fn pick(n: u32, words: &'static str) -> &'static str {
    let words: Vec<_> = words.split(' ').collect();
    words[n as usize % words.len()]
}

#[test]
fn a_page_of_any_shape_takes_few_steps_for_each_node() {
    let count = 20_000_u32;
    type Shape = fn(u32) -> Value;
    let shapes: [(&str, Shape); 5] = [
        ("deep", |n| json!([1, n, n, "generic", "x"])),
        ("wide", |n| json!([1, n, 0, "button", format!("B {n}")])),
        ("comb", |n| json!([1, n, n % 2 * (n / 2), "row", ""])),
        ("saw", |n| json!([1, n, n % 150, pick(n, "list listitem text"), "x y"])),
        ("odd", |n| json!([1, n, n % 3, pick(n, "link row cell heading"), "x"])),
    ];
    for (name, shape) in shapes {
        let page = page(json!((1..=count).map(shape).collect::<Vec<_>>()));
        tree::steps::taken();
        for args in [
            json!({}),
            json!({"find": "x"}),
            json!({"find": "nothing like it"}),
            json!({"role": "row"}),
            json!({"format": "markdown"}),
        ] {
            shown(&page, args);
        }
        let before =
            Page { nodes: page.nodes.iter().step_by(2).cloned().collect(), ..Default::default() };
        let tree = Tree::of(&page);
        difference::find(&before, &tree, &runs::find(&tree));
        let steps = tree::steps::taken() / count as usize;
        println!("{name}: {steps} steps for each node");
        assert!(steps < MOST_STEPS, "{name}: {steps} steps for each node");
    }
}

#[test]
fn an_item_that_names_two_lists_opens_both_and_shows_nothing_twice() {
    let mut nodes = Vec::new();
    for card in 0..12 {
        nodes.push(json!([1, 1 + card * 100, 0, "article", format!("Card {card}")]));
        for n in 1..=70 {
            let name = format!("Choose the offer {n} of card {card}");
            nodes.push(json!([1, 1 + card * 100 + n, 1, "button", name]));
        }
    }
    let page = page(json!(nodes));
    let folded = shown(&page, json!({})).text;
    assert_eq!(folded.matches("[open=e1]").count(), 2, "{folded}");
    let seen = walk(&page, json!({"open": "e1"}), 2000);
    let mut once = seen.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), seen.len(), "{seen:?}");
    assert!(seen.contains(&"e20".to_owned()) && seen.contains(&"e501".to_owned()), "{seen:?}");
}
