//! Regions and find.

use super::*;

fn shop() -> Page {
    page(json!([
        [1, 1, 0, "banner", ""],
        [1, 2, 1, "navigation", "Main"],
        [1, 3, 2, "link", "Help"],
        [1, 4, 0, "main", ""],
        [1, 5, 1, "heading", "Orders", null, ["level=1"]],
        [1, 6, 1, "table", "Open orders"],
        [1, 7, 2, "row", ""],
        [1, 8, 3, "cell", "Ann Smith"],
        [1, 9, 3, "cell", "Edit"],
        [1, 10, 4, "button", "Edit"],
        [1, 11, 2, "row", ""],
        [1, 12, 3, "cell", "Bob Stone"],
        [1, 13, 3, "cell", "Edit"],
        [1, 14, 4, "button", "Edit"],
        [1, 15, 1, "form", "Address"],
        [1, 16, 2, "textbox", "Street", "Main Road 5"],
        [1, 0, 2, "text", format!("{} needle {}", "before ".repeat(100), "after ".repeat(100))],
        [1, 17, 0, "navigation", "Footer"],
        [1, 18, 1, "link", "Imprint"],
    ]))
}

#[test]
fn a_region_is_found_by_role_by_name_or_by_both() {
    for (region, has, has_not) in [
        ("main", "Street", "Imprint"),
        ("form", "Street", "Ann Smith"),
        ("Footer", "Imprint", "Help"),
        ("navigation \"Footer\"", "Imprint", "Help"),
        ("NAVIGATION", "Help", "Imprint"),
        ("addr", "Street", "Ann Smith"),
    ] {
        let text = shown(&shop(), json!({"region": region})).text;
        assert!(text.contains(has) && !text.contains(has_not), "{region}: {text}");
        assert!(text.lines().nth(1).unwrap().starts_with("- "), "{text}");
    }
    let words = fault(&shop(), json!({"region": "sidebar"}));
    assert!(
        words.contains("navigation \"Main\" [ref=e2]") && words.contains("main [ref=e4]"),
        "{words}"
    );
}

#[test]
fn a_match_comes_with_where_it_is_and_what_is_beside_it() {
    let expected = [
        "1 fits \"smith\"",
        "in main > table \"Open orders\" > heading \"Orders\":",
        "  - row [ref=e7]: Ann Smith | button \"Edit\" [ref=e10]",
    ];
    assert_eq!(lines_of(&shop(), json!({"find": "smith"})), expected);
    let text = shown(&shop(), json!({"find": "edit"})).text;
    assert!(text.contains("2 fit \"edit\"") && text.contains("Bob Stone"), "{text}");
    assert_eq!(text.matches("in main").count(), 1, "{text}");
}

#[test]
fn values_expressions_and_roles_are_found() {
    for (args, has) in [
        (json!({"find": "road 5"}), "- textbox \"Street\" [ref=e16]: Main Road 5"),
        (json!({"find": "/^Ann|^Bob/"}), "2 fit"),
        (json!({"find": "/STREET/"}), "nothing fits"),
        (json!({"find": "/STREET/i"}), "1 fits"),
        (json!({"role": "link"}), "2 fit link"),
        (json!({"role": "row", "find": "stone"}), "1 fits row \"stone\""),
        (json!({"role": "button", "find": "stone"}), "nothing fits button \"stone\""),
        (json!({"find": "edit", "region": "form"}), "nothing fits"),
    ] {
        let text = shown(&shop(), args.clone()).text;
        assert!(text.contains(has), "{args}: {text}");
    }
}

#[test]
fn a_long_text_shows_only_what_is_around_the_words() {
    let text = shown(&shop(), json!({"find": "needle"})).text;
    assert!(text.contains("before needle after") && text.len() < 600, "{text}");
}

#[test]
fn when_nothing_fits_the_nearest_names_are_told() {
    let text = shown(&shop(), json!({"find": "Imprnt"})).text;
    assert!(
        text.contains("nothing fits \"Imprnt\"; nearest: link \"Imprint\" [ref=e18]"),
        "{text}"
    );
    let text = shown(&shop(), json!({"role": "lnk"})).text;
    assert!(text.contains("there is no \"lnk\" here") && text.contains("link"), "{text}");
}

#[test]
fn many_matches_come_in_parts_and_all_are_counted() {
    let nodes: Vec<_> = (1..=3000).map(|n| json!([1, n, 0, "button", format!("Go {n}")])).collect();
    let page = page(json!(nodes));
    assert!(shown(&page, json!({"find": "go"})).text.contains("3000 fit"));
    assert_eq!(walk(&page, json!({"find": "go"}), 4000).len(), 3000);
}

#[test]
fn ways_to_look_that_do_not_go_together_are_refused() {
    for (args, part) in [
        (json!({"find": "x", "open": "e1"}), "`open` and `find`"),
        (json!({"find": "x", "format": "markdown"}), "`find` and `format markdown`"),
        (json!({"since": "v1", "role": "link"}), "`role` and `since`"),
        (json!({"since": "v1", "region": "main"}), "`since` does not go with `region`"),
    ] {
        let words = fault(&shop(), args.clone());
        assert!(words.contains(part), "{args}: {words}");
    }
}

#[test]
fn a_cursor_that_was_given_is_taken_whatever_was_looked_for() {
    let node = |n: u32| json!([1, n, 0, "button", "\"".repeat(400)]);
    let page = page(json!((1..=80).map(node).collect::<Vec<_>>()));
    let first = shown(
        &page,
        json!({"find": "\"".repeat(400), "role": "button", "selector": "\"".repeat(400)}),
    );
    let cursor = first.cursor.unwrap();
    assert!(cursor.len() > 4000, "{}", cursor.len());
    assert!(shown(&page, json!({"cursor": cursor})).lines > 0);
}
