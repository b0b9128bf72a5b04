//! Versions and differences.

use proptest::prelude::*;

use super::*;

fn since(before: &Page, now: &Page) -> Shown {
    let view = view(json!({"since": "v1"}));
    write(&Subject { page: now, version: "v2", before: Some(before) }, &view).unwrap()
}

fn shop(nodes: Value) -> Page {
    page(nodes)
}

#[test]
fn a_difference_says_what_is_new_gone_and_otherwise() {
    let before = shop(json!([
        [1, 1, 0, "main", ""],
        [1, 2, 1, "textbox", "Email", "a@b.c"],
        [1, 3, 1, "button", "Save", null, ["disabled"]],
        [1, 0, 1, "text", "nothing saved"],
        [1, 4, 1, "link", "Old"],
        [1, 5, 2, "img", "icon"],
    ]));
    let now = shop(json!([
        [1, 1, 0, "main", ""],
        [1, 2, 1, "textbox", "Email", "x@y.z "],
        [1, 3, 1, "button", "Save"],
        [1, 0, 1, "text", "1 saved"],
        [1, 6, 1, "alert", ""],
        [1, 0, 2, "text", "Saved."],
        [1, 7, 2, "button", "Undo"],
    ]));
    let text = since(&before, &now).text;
    let expected = "page \"A page\" http://a.example/ [version=v2]\n\
        since v1: 3 changed, 1 added, 1 removed\n\
        ~ textbox \"Email\" [ref=e2]: x@y.z  (was value \"a@b.c\")\n\
        ~ button \"Save\" [ref=e3] (was disabled)\n\
        ~ text: 1 saved (was \"nothing saved\") in [ref=e1]\n\
        + below [ref=e1], after [ref=e3]:\n  \
          - alert [ref=e6]\n    \
            - text: Saved.\n    \
            - button \"Undo\" [ref=e7]\n\
        - gone: link \"Old\" [ref=e4] and 1 in it";
    assert_eq!(text, expected);
}

#[test]
fn what_has_moved_is_said() {
    let before = shop(json!([
        [1, 1, 0, "list", ""],
        [1, 2, 1, "listitem", "A"],
        [1, 3, 1, "listitem", "B"],
        [1, 4, 1, "listitem", "C"],
        [1, 5, 0, "group", ""],
    ]));
    let now = shop(json!([
        [1, 1, 0, "list", ""],
        [1, 4, 1, "listitem", "C"],
        [1, 2, 1, "listitem", "A"],
        [1, 5, 0, "group", ""],
        [1, 3, 1, "listitem", "B"],
    ]));
    let text = since(&before, &now).text;
    assert!(text.contains("> listitem \"C\" [ref=e4] is first now"), "{text}");
    assert!(text.contains("> listitem \"B\" [ref=e3] is below e5 now"), "{text}");
    assert!(!text.contains("\"A\""), "{text}");
}

#[test]
fn without_a_version_to_compare_with_the_whole_page_comes_and_says_why() {
    let now = shop(json!([[1, 1, 0, "button", "A"]]));
    let view = view(json!({"since": "v9999999"}));
    let text = write(&Subject { page: &now, version: "v2", before: None }, &view).unwrap().text;
    assert!(text.contains("not kept any more") && text.contains("[ref=e1]"), "{text}");
    let elsewhere = shop(json!([[2, 1, 0, "button", "A"]]));
    let text = since(&now, &elsewhere).text;
    assert!(text.contains("another document") && text.contains("[ref=d2e1]"), "{text}");
    let long: Vec<_> = (1..4000)
        .map(|n| json!([1, n, 0, "paragraph", format!("Words of some length {n}")]))
        .collect();
    let text = since(&shop(json!([[1, 9999, 0, "main", ""]])), &shop(json!(long))).text;
    assert!(text.contains("too much is different") && text.len() <= 24_000, "{}", text.len());
}

#[test]
fn what_is_the_same_takes_one_line() {
    let now = shop(json!([[1, 1, 0, "button", "A"]]));
    for args in [json!({"since": "v2"}), json!({"onlyIfChanged": "v2"})] {
        let view = view(args);
        let text = write(&Subject { page: &now, version: "v2", before: None }, &view).unwrap().text;
        assert_eq!(text.lines().nth(1), Some("nothing changed since v2"), "{text}");
        assert_eq!(text.lines().count(), 2);
    }
    let text = shown(&now, json!({"onlyIfChanged": "v0"})).text;
    assert!(text.contains("[ref=e1]"), "{text}");
}

#[test]
fn a_new_row_among_a_thousand_is_shown_and_the_others_are_not() {
    let rows = |count: u32| {
        let row = |n: u32| json!([1, n, 0, "listitem", format!("A row with the number {n}")]);
        shop(json!((1..=count).map(row).collect::<Vec<_>>()))
    };
    let text = since(&rows(1000), &rows(1001)).text;
    assert!(text.contains("[ref=e1001]") && text.len() < 400, "{text}");
}

/// A page of random things: numbers are unique, as a browser gives them.
fn pages() -> impl Strategy<Value = Page> {
    let roles = ["button", "link", "list", "listitem", "row", "cell", "text", "heading", "textbox"];
    let node = (0_usize..roles.len(), 0_u32..6, 0_u32..4, any::<bool>());
    prop::collection::vec(node, 1..200).prop_map(move |all| {
        let node = |(n, (role, depth, name, flagged)): (u32, (usize, u32, u32, bool))| {
            let number = if roles[role] == "text" { 0 } else { n };
            let flags = if flagged { json!(["checked"]) } else { json!([]) };
            let name = format!("A name that is somewhat long {name}");
            json!([1, number, depth, roles[role], name, null, flags])
        };
        page(json!((1_u32..).zip(all).map(node).collect::<Vec<_>>()))
    })
}

proptest! {
    // Nothing is written beside the sources: a failure shows the smallest page by itself.
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_reference_is_reached_by_paging_and_opening(page in pages(), cap in 400_usize..6000) {
        let mut seen = walk(&page, json!({}), cap);
        let mut to_open = vec![json!({})];
        let mut opened = std::collections::HashSet::new();
        while let Some(args) = to_open.pop() {
            let (mut args, mut guard) = (args, 0);
            loop {
                let part = shown(&page, args);
                for name in part.text.split("[open=").skip(1) {
                    let name = name.split(']').next().unwrap().to_owned();
                    if opened.insert(name.clone()) {
                        seen.extend(walk(&page, json!({"open": name}), cap));
                        to_open.push(json!({"open": name}));
                    }
                }
                guard += 1;
                prop_assert!(guard < 500);
                match part.cursor {
                    Some(cursor) => args = json!({"cursor": cursor}),
                    None => break,
                }
            }
        }
        // A plain cell of a row has only its text; the row stands for it.
        for node in page.nodes.iter().filter(|node| node.role != "cell") {
            if let Some(reference) = node.reference() {
                prop_assert!(seen.contains(&reference), "{reference}");
            }
        }
    }

    #[test]
    fn a_difference_covers_every_change(before in pages(), now in pages()) {
        let difference = since(&before, &now).text;
        let is_whole = difference.contains("the whole page");
        for node in now.nodes.iter().filter(|node| node.reference != 0) {
            let old = before.nodes.iter().find(|old| old.reference == node.reference);
            let own = |node: &Node| Node { depth: 0, ..node.clone() };
            let reference = node.reference().unwrap();
            let is_changed = old.is_none_or(|old| own(old) != own(node));
            if is_changed && !is_whole && node.role != "cell" {
                prop_assert!(difference.contains(&format!("[ref={reference}]")), "{reference}: {difference}");
            }
        }
        for old in before.nodes.iter().filter(|old| old.reference != 0) {
            let is_gone = !now.nodes.iter().any(|node| node.reference == old.reference);
            let is_told = is_whole || difference.contains("- gone: ");
            prop_assert!(!is_gone || is_told, "{difference}");
        }
    }

    #[test]
    fn no_answer_is_over_its_cap(page in pages(), cap in 400_usize..4000) {
        for args in [json!({"find": "name"}), json!({"role": "row"}), json!({"format": "markdown"})] {
            if shown(&page, args.clone()).lines > 0 {
                walk(&page, args, cap);
            }
        }
    }
}
