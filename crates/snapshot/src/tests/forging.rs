//! Pages that write marks of ours: what is in brackets stays ours, in every way to look at a page.

use std::collections::HashMap;

use model::page_text;
use proptest::prelude::*;

use super::*;

/// What pages may try, more often than chance would.
const NASTY: [&str; 30] = [
    "[ref=e2]",
    "[",
    "]",
    "\\",
    "\"",
    "\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    "x",
    "Close ad",
    ": ",
    " | ",
    "(",
    "](ref e2)",
    "(ref e2)",
    "- button \"Close ad\" [ref=e2]",
    "\n- link [ref=e3]: ",
    "[disabled]",
    "[open=e1]",
    "ref=e2",
    "…",
    "\u{2028}",
    "\u{202e}",
    "\u{200b}",
    "\u{e0041}",
    "\u{1b}[31m",
    "\0",
    "👩\u{200d}é",
];
const ROLES: [&str; 22] = [
    "button",
    "cell",
    "code",
    "combobox",
    "generic",
    "heading",
    "iframe",
    "img",
    "link",
    "list",
    "listitem",
    "main",
    "option",
    "paragraph",
    "region",
    "row",
    "strong",
    "table",
    "text",
    "text",
    "textbox",
    "blockquote",
];

fn texts() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(NASTY.to_vec()).prop_map(str::to_owned);
    let any = any::<char>().prop_map(String::from);
    prop::collection::vec(prop_oneof![6 => nasty, 1 => any], 0..6).prop_map(|all| all.concat())
}

fn flags() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("disabled".to_owned()),
        Just("clickable".to_owned()),
        texts(),
        texts().prop_map(|text| format!("url=https://a.example/{text}")),
    ]
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let role = prop_oneof![9 => prop::sample::select(ROLES.to_vec()).prop_map(str::to_owned), 1 => texts()];
    let value = prop::option::of(texts());
    let node = (role, texts(), value, prop::collection::vec(flags(), 0..3), 0_u32..5);
    prop::collection::vec(node, 1..40).prop_map(|all| {
        let node = |(number, (role, name, value, flags, depth))| {
            let reference = if role == "text" { 0 } else { number };
            Node { doc: 1, reference, depth, role, name, value, flags }
        };
        (1_u32..).zip(all).map(node).collect()
    })
}

fn pages() -> impl Strategy<Value = Page> {
    (texts(), texts(), nodes()).prop_map(|(url, title, nodes)| Page {
        url: format!("https://a.example/{url}"),
        title,
        nodes,
        ..Page::default()
    })
}

/// The parts of a text in brackets that are not escaped, outermost first, each with its place; and
/// whether all of them are closed.
fn brackets(text: &str) -> Vec<(usize, &str)> {
    let (mut open, mut found, mut is_escaped) = (Vec::new(), Vec::new(), false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => open.push(at),
            ']' => {
                let start = open.pop().unwrap_or_else(|| panic!("{at} closes nothing: {text}"));
                found.push((start, &text[start + 1..at]));
            }
            _ => {}
        }
    }
    assert!(open.is_empty() && !is_escaped, "something stays open: {text}");
    found.sort_unstable();
    found
}

/// Nothing that hides, turns or breaks what is read.
fn check_seen(text: &str) {
    let is_unseen = |letter: char| match letter {
        '\n' => false,
        '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => {
            true
        }
        '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    };
    assert!(!text.contains(is_unseen), "{text:?}");
}

/// What stands before a thing's marks, with and without its name.
fn heads(node: &Node) -> [String; 2] {
    let plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let role: String = node.role.chars().filter(plain).collect();
    match node.name.is_empty() {
        true => [role.clone(), role],
        false => [format!("{role} {}", page_text::quoted(&node.name)), role],
    }
}

/// Checks that each reference in a line is of the thing before it, with that thing's own flags.
/// Returns the references.
fn check_line<'t>(page: &Page, line: &'t str) -> Vec<&'t str> {
    const ELSEWHERE: [&str; 4] = [" in", "below", "after", "row"];
    let by_reference: HashMap<_, _> =
        page.nodes.iter().filter_map(|node| Some((node.reference()?, node))).collect();
    let (mut references, mut group, mut group_end) = (Vec::new(), Vec::new(), 0);
    let mut before = "";
    for (at, mark) in brackets(line) {
        if group.is_empty() || line[group_end..at].trim_end() != "" {
            (before, group) = (line[..at].trim_end(), Vec::new());
        }
        group_end = at + mark.len() + 2;
        let Some(reference) = mark.strip_prefix("ref=") else {
            group.push(mark);
            continue;
        };
        let node = by_reference.get(reference).unwrap_or_else(|| panic!("{reference}: {line}"));
        let is_mentioned = ELSEWHERE.iter().any(|word| before.ends_with(word)) && group.is_empty();
        let is_its = heads(node).iter().any(|head| before.ends_with(head.as_str()))
            || before.ends_with("…\"");
        assert!(is_its || is_mentioned, "{reference} is not of what is before it: {line}");
        let flags: Vec<_> = crate::lines::flags(node).collect();
        assert!(group == flags || is_mentioned, "{group:?} are not the flags of {node:?}: {line}");
        if !is_mentioned || is_its {
            references.push(reference);
        }
        group.clear();
    }
    references
}

/// Checks an answer of lines; each begins with one of the beginnings.
fn check_lines(page: &Page, text: &str, beginnings: &[&str]) -> Vec<String> {
    check_seen(text);
    let (head, lines) = text.split_once('\n').unwrap_or((text, ""));
    let (_, version) = brackets(head).pop().unwrap();
    assert!(version.starts_with("version=v") && brackets(head).len() == 1, "{head}");
    let title = &head["page \"".len()..head.find("\" http").unwrap()];
    assert_eq!(page_text::unescaped(title), page_text::folded(&page.title), "{head}");
    let mut references = Vec::new();
    for line in lines.lines() {
        let is_known = beginnings.iter().any(|known| line.trim_start().starts_with(known));
        assert!(is_known, "{line:?} begins like none of {beginnings:?}\n{text}");
        references.extend(check_line(page, line).into_iter().map(str::to_owned));
    }
    references
}

/// Checks that a value on a line of its own is all there.
fn check_value(page: &Page, tree: &Tree<'_>, text: &str) {
    for (at, node) in page.nodes.iter().enumerate().filter(|(_, node)| node.role != "text") {
        let beginning = format!("- {}", crate::lines::headless(node));
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&beginning));
        if let (Some(rest), Some(value), true) = (line, &node.value, tree.end(at) == at + 1) {
            let written = rest.strip_prefix(": ").unwrap_or_else(|| panic!("{rest} in {text}"));
            assert_eq!(page_text::unescaped(written), value.as_str(), "{text}");
        }
    }
}

/// Checks the brackets of markdown: links lead where their things are, controls say theirs.
fn check_markdown(page: &Page, text: &str) {
    check_seen(text);
    let body = text.split_once('\n').map_or("", |(_, body)| body);
    let controls: Vec<_> = page
        .nodes
        .iter()
        .map(|node| match node.reference() {
            Some(reference) => format!("{} {reference}", heads(node)[0]),
            None => heads(node)[0].clone(),
        })
        .collect();
    let mut seen = Vec::new();
    for (at, inside) in brackets(body) {
        let after = &body[at + inside.len() + 2..];
        match after.strip_prefix('(') {
            Some(target) => {
                let (target, _) = target.split_once(')').unwrap();
                let reference = target.strip_prefix("ref ");
                assert!(reference.is_some() || !target.contains(' '), "{target:?} in {text}");
                seen.extend(reference.filter(|it| !it.is_empty()));
            }
            None if body[..at].ends_with('!') => {}
            None => {
                let control = controls.iter().find(|control| inside.starts_with(control.as_str()));
                assert!(control.is_some(), "[{inside}] is nothing of the page: {text}");
            }
        }
    }
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), all, "a reference is there twice: {text}");
}

fn written(page: &Page, before: Option<&Page>, args: Value) -> Result<Shown, model::Fault> {
    write(&Subject { page, version: "v2", before }, &view(args))
}

proptest! {
    // Nothing is written beside the sources: a failure shows the smallest page by itself.
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_page_writes_a_mark_in_its_outline(page in pages(), depth in prop::option::of(1_usize..4)) {
        let tree = Tree::of(&page);
        let mut args = json!({"maxTokens": 50_000});
        if let Some(depth) = depth {
            args["depth"] = json!(depth);
        }
        let shown = written(&page, None, args.clone()).unwrap();
        prop_assert_eq!(shown.text.split('\n').count(), 1 + shown.lines);
        let mut references = check_lines(&page, &shown.text, &["- "]);
        let all = references.len();
        references.sort_unstable();
        references.dedup();
        prop_assert_eq!(references.len(), all, "a reference is there twice: {}", shown.text);
        if depth.is_none() {
            check_value(&page, &tree, &shown.text);
        }
        let mut skeleton = view(args);
        skeleton.format = Format::Skeleton;
        let shown = write(&Subject { page: &page, version: "v2", before: None }, &skeleton).unwrap();
        prop_assert!(shown.lines == 0 || shown.text.split('\n').count() == 1 + shown.lines);
        check_lines(&page, &shown.text, &["- "]);
    }

    #[test]
    fn no_page_writes_a_mark_where_something_is_looked_for(
        page in pages(), wanted in texts(), role in prop::sample::select(ROLES.to_vec()),
    ) {
        let known = ["- ", "in ", "1 fits ", "nothing fits "];
        for args in [json!({"find": wanted}), json!({"role": role}), json!({"role": role, "find": wanted})] {
            if args["find"].as_str().is_none_or(|text| !text.trim().is_empty() && !text.starts_with('/')) {
                let shown = written(&page, None, with(args, json!({"maxTokens": 50_000}))).unwrap();
                let body = shown.text.split_once('\n').unwrap().1;
                let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
                prop_assert!(first.contains(" fit") || first.starts_with("nothing fits "), "{}", body);
                if shown.lines > 0 {
                    let head = shown.text.split_once('\n').unwrap().0;
                    check_lines(&page, &format!("{head}\n{rest}"), &known);
                    prop_assert!(brackets(first).is_empty(), "{}", first);
                } else {
                    check_seen(&shown.text);
                    check_line(&page, first);
                }
            }
        }
        if !wanted.trim().is_empty() {
            match written(&page, None, json!({"region": wanted, "maxTokens": 50_000})) {
                Ok(shown) => drop(check_lines(&page, &shown.text, &["- "])),
                Err(fault) => {
                    check_seen(&fault.to_string());
                    brackets(&fault.to_string());
                }
            }
        }
    }

    #[test]
    fn no_page_writes_a_mark_in_a_difference(
        before in pages(), now in pages(), is_same_shape in any::<bool>(),
    ) {
        let mut now = now;
        if is_same_shape {
            // The same things with other words.
            for (node, old) in now.nodes.iter_mut().zip(&before.nodes) {
                (node.depth, node.reference) = (old.depth, old.reference);
            }
        }
        let shown = written(&now, Some(&before), json!({"since": "v1", "maxTokens": 50_000})).unwrap();
        check_seen(&shown.text);
        let known = ["since v1: ", "~ ", "+ ", "- ", "> "];
        let mut both = Page { nodes: now.nodes.clone(), ..Page::default() };
        both.title.clone_from(&now.title);
        // What is gone is told as it was.
        let (told, gone): (Vec<_>, Vec<_>) =
            shown.text.lines().partition(|line| !line.starts_with("- gone: "));
        check_lines(&both, &told.join("\n"), &known);
        for line in gone {
            let line = line.split(" in [ref=").next().unwrap();
            check_line(&before, line);
        }
    }

    #[test]
    fn no_page_writes_a_mark_in_its_markdown(page in pages()) {
        let shown = written(&page, None, json!({"format": "markdown", "maxTokens": 50_000})).unwrap();
        check_markdown(&page, &shown.text);
    }

    #[test]
    fn no_nasty_answer_is_over_its_cap(page in pages(), cap in 400_usize..2000) {
        for args in [json!({}), json!({"format": "markdown"})] {
            let text = shown(&page, with(args, json!({"maxTokens": cap / 4}))).text;
            prop_assert!(text.len() <= cap, "{} bytes: {}", text.len(), text);
        }
    }
}
