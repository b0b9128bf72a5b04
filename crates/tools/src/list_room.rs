//! Which tools of apps and pages stand in the list, when not all of them can.
//!
//! A client pays for the list on every step, so it has a largest size. Each web origin may have so
//! many tools, and the origins share the room that our own tools leave: who declares little is
//! listed whole, and who declares much cannot push the others out. A tool that is left out can be
//! called all the same. The order of the list is not decided here.

use std::collections::BTreeMap;

use serde_json::json;

use crate::definition::Definition;

/// Bytes of the whole list, as JSON.
pub const LIST_BYTES: usize = 256 << 10;
/// Tools of one origin that are listed.
pub const ORIGIN_TOOLS: usize = 128;
/// What the list has besides its tools, and what is said of those that are left out.
const ENVELOPE: usize = 2048;
/// Origins of whom it is said by name that something is left out.
const NAMED: usize = 3;

/// A tool with the origin that declares it.
pub(crate) struct Offered {
    pub whose: String,
    pub definition: Definition,
}

/// How many tools are left out, by origin.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut(BTreeMap<String, usize>);

impl LeftOut {
    /// Says it in words; `None` where nothing is left out.
    pub fn describe(&self) -> Option<String> {
        let line = |(whose, count): (&String, &usize)| format!("{count} of {whose}");
        let mut lines: Vec<_> = self.0.iter().take(NAMED).map(line).collect();
        if self.0.len() > NAMED {
            lines.push(format!("some of {} others", self.0.len() - NAMED));
        }
        (!lines.is_empty())
            .then(|| format!("The list is full. Tools that are not in it: {}.", lines.join(", ")))
    }
}

/// Keeps what fits beside the tools that are always listed.
pub(crate) fn fit(always: &[Definition], offered: Vec<Offered>) -> (Vec<Definition>, LeftOut) {
    let taken: usize = always.iter().map(size).sum();
    let mut room = LIST_BYTES.saturating_sub(taken + ENVELOPE);
    let mut groups: BTreeMap<String, Vec<(usize, Definition)>> = BTreeMap::new();
    let mut left_out = LeftOut::default();
    for Offered { whose, definition } in offered {
        let group = groups.entry(whose.clone()).or_default();
        match group.len() < ORIGIN_TOOLS {
            true => group.push((size(&definition), definition)),
            false => *left_out.0.entry(whose).or_default() += 1,
        }
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // The smallest first: what they do not need is there for the others.
    groups.sort_by_key(|(_, tools)| tools.iter().map(|(size, _)| size).sum::<usize>());
    let mut listed = Vec::new();
    let mut waiting = groups.len();
    for (whose, tools) in groups {
        let mut share = room / waiting;
        waiting -= 1;
        for (size, definition) in tools {
            if size > share {
                *left_out.0.entry(whose.clone()).or_default() += 1;
                continue;
            }
            (share, room) = (share - size, room - size);
            listed.push(definition);
        }
    }
    (listed, left_out)
}

/// How many bytes a tool takes in the list, or a little more.
fn size(tool: &Definition) -> usize {
    /// Names of fields, and hints.
    const FIELDS: usize = 180;
    let Definition { name, title, description, input_schema, output_schema, .. } = tool;
    let written = json!([name, title, description, input_schema, output_schema]);
    written.to_string().len() + FIELDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Annotations;

    fn tool(whose: &str, number: usize, bytes: usize) -> Offered {
        let definition = Definition {
            name: format!("{whose}-{number:03}"),
            title: String::new(),
            description: "x".repeat(bytes),
            input_schema: json!({"type": "object"}),
            output_schema: None,
            annotations: Annotations::default(),
        };
        Offered { whose: whose.to_owned(), definition }
    }

    fn tools(whose: &str, count: usize, bytes: usize) -> impl Iterator<Item = Offered> {
        (0..count).map(move |number| tool(whose, number, bytes))
    }

    fn count(listed: &[Definition], whose: &str) -> usize {
        listed.iter().filter(|tool| tool.name.starts_with(whose)).count()
    }

    #[test]
    fn who_declares_much_does_not_push_out_who_declares_little() {
        let offered = tools("greedy", 100, 60_000).chain(tools("modest", 20, 500)).collect();
        let (listed, left_out) = fit(&[], offered);
        assert_eq!(count(&listed, "modest"), 20);
        assert_eq!(count(&listed, "greedy"), 4);
        let said = left_out.describe().unwrap();
        assert_eq!(said, "The list is full. Tools that are not in it: 96 of greedy.");
        let bytes: usize = listed.iter().map(size).sum();
        assert!(bytes + ENVELOPE <= LIST_BYTES, "{bytes}");
    }

    #[test]
    fn an_origin_has_so_many_tools_and_a_large_one_leaves_room_for_the_next() {
        let (listed, left_out) = fit(&[], tools("many", 130, 10).collect());
        assert_eq!((listed.len(), left_out.0["many"]), (ORIGIN_TOOLS, 2));
        let offered = [tool("one", 0, LIST_BYTES), tool("one", 1, 10)].into_iter().collect();
        let (listed, left_out) = fit(&[], offered);
        assert_eq!((listed[0].name.as_str(), left_out.0["one"]), ("one-001", 1));
        assert_eq!(fit(&[], tools("few", 3, 10).collect()).1.describe(), None);
    }

    #[test]
    fn many_origins_are_said_in_few_words() {
        let offered = (0..9).flat_map(|number| {
            let whose = format!("origin-{number}");
            (0..2).map(move |_| tool(&whose, 0, LIST_BYTES))
        });
        let said = fit(&[], offered.collect()).1.describe().unwrap();
        assert!(said.contains("2 of origin-0") && said.contains("some of 6 others"), "{said}");
    }
}
