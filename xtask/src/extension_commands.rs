//! Renders our extension's side of the command tables in `crates/tools`, two files in
//! `web/extension/src/commands`: what each command takes and is about (`generated/contracts.ts`), and the
//! list of all commands (`index.ts`).
//!
//! An argument becomes a reader of `command.ts`, or one that it names in `argument-readers.ts`.
//! Both files are written as biome formats them. It writes no file.

use std::{collections::BTreeMap, collections::BTreeSet, fmt::Write};

use model::Effect;
use tools::{
    action::{Action, CommandScope},
    command_arguments::{Argument, Parameter, Values, Way},
};

/// Lines that would be longer are not as biome writes them.
const WIDTH: usize = 100;

/// Returns the text of `commands/generated/contracts.ts`.
pub fn contracts() -> String {
    let mut readers = Readers::default();
    let commands: String = by_name().values().map(|rows| contract(rows, &mut readers)).collect();
    let text = format!(
        "\
/**
 * What each command takes and is about, generated from the tables in `crates/tools`.
 *
 * Do not edit: `cargo xtask gen` writes this file.
 */

{}
export const CONTRACTS = {{
{commands}}} as const;
",
        readers.imports()
    );
    let long = text.lines().find(|line| line.chars().count() > WIDTH);
    assert_eq!(long, None, "biome would break this line");
    text
}

/// Returns the text of `commands/index.ts`.
pub fn index() -> String {
    let (mut imports, mut list) = (String::new(), String::new());
    for command in by_name().keys() {
        let variable = camel_case(command);
        let _ = writeln!(imports, "import {variable} from './{command}';");
        let _ = writeln!(list, "  {variable},");
    }
    format!(
        "\
/**
 * All commands of a browser, generated from the tables in `crates/tools`.
 *
 * Do not edit: `cargo xtask gen` writes this file.
 */

import type {{ Command }} from '../command';
{imports}
/** In the order of their names. */
export const COMMANDS: readonly Command[] = [
{list}];
"
    )
}

/// An action of a tool and the arguments that its tool declares.
pub(crate) type Row = (&'static [Argument], &'static Action);

/// The commands of our extension, each with the actions that use it.
pub(crate) fn by_name() -> BTreeMap<&'static str, Vec<Row>> {
    let mut commands = BTreeMap::<_, Vec<_>>::new();
    for row in tools::commands().filter(|(_, action)| !action.is_of_hub()) {
        commands.entry(row.1.command).or_default().push(row);
    }
    commands
}

fn contract(rows: &[Row], readers: &mut Readers) -> String {
    let action = rows[0].1;
    let about = |action: &Action| (action.effect, action.scope, action.answers_dialog);
    for (_, other) in rows {
        assert_eq!(about(other), about(action), "{} is about one thing", action.command);
    }
    let mut text = format!("  {}: {{\n", action.command);
    let effect = match action.effect {
        Effect::Read => "read",
        Effect::Act => "act",
        Effect::Add => "add",
    };
    let on = match action.scope {
        CommandScope::Page => "page",
        CommandScope::Site => "site",
        CommandScope::Tab => "tab",
        CommandScope::Browser => "browser",
        CommandScope::Hub | CommandScope::HubAlone => unreachable!("only ours are rendered"),
    };
    let _ = writeln!(text, "    effect: '{effect}',\n    on: '{on}',");
    let _ = writeln!(text, "    answersDialog: {},", action.answers_dialog);
    let mut lines = String::new();
    for (parameter, reader, is_needed) in merged(rows, readers) {
        let reader = match (is_needed, parameter.usual) {
            (true, _) => reader,
            (false, None) => readers.named("optional", &reader),
            (false, Some(usual)) => readers.named("optional", &format!("{reader}, {usual}")),
        };
        let _ = writeln!(lines, "      {}: {reader},", parameter.sent_name);
    }
    match lines.is_empty() {
        true => text += "    args: {},\n",
        false => text += &format!("    args: {{\n{lines}    }},\n"),
    }
    text + "  },\n"
}

/// Lists what the extension is sent by any of the actions: what not all of them need may be absent.
fn merged(rows: &[Row], readers: &mut Readers) -> Vec<(Parameter, String, bool)> {
    let mut all: Vec<(Parameter, String, bool)> = Vec::new();
    for (row, (arguments, action)) in rows.iter().enumerate() {
        let own = parameters(arguments, action);
        for (known, _, is_needed) in &mut all {
            *is_needed &= own.iter().any(|(it, needed)| it.sent_name == known.sent_name && *needed);
        }
        for (parameter, is_needed) in own {
            let reader = readers.reader(argument_of(arguments, &parameter), &parameter);
            let known = all.iter_mut().find(|(it, ..)| it.sent_name == parameter.sent_name);
            let Some((known, known_reader, _)) = known else {
                all.push((parameter, reader, is_needed && row == 0));
                continue;
            };
            assert_eq!(*known_reader, reader, "{} is read in one way", parameter.sent_name);
            let usual = known.usual.or(parameter.usual);
            let is_same =
                [known.usual, parameter.usual].iter().all(|it| it.is_none() || *it == usual);
            assert!(is_same, "{} means one thing when it is left out", parameter.sent_name);
            known.usual = usual;
        }
    }
    all
}

/// Lists what the extension is sent, and whether it must be. A group whose ways the hub reads but
/// for one needs that one.
fn parameters(arguments: &[Argument], action: &Action) -> Vec<(Parameter, bool)> {
    let is_sent = |it: &Parameter| argument_of(arguments, it).way != Way::ToHub;
    let mut all = Vec::new();
    for group in action.needed() {
        let ways = group.into_iter().filter(|way| way.iter().all(is_sent));
        let ways: Vec<_> = ways.collect();
        let is_needed = ways.len() == 1;
        all.extend(ways.into_iter().flatten().map(|parameter| (parameter, is_needed)));
    }
    let others = action.optional().chain(action.added()).filter(is_sent);
    all.extend(others.map(|parameter| (parameter, false)));
    all
}

fn argument_of<'a>(arguments: &'a [Argument], parameter: &Parameter) -> &'a Argument {
    let known = arguments.iter().find(|argument| argument.name == parameter.name);
    known.unwrap_or_else(|| panic!("no argument {} is declared", parameter.name))
}

/// The readers that the text uses.
#[derive(Default)]
struct Readers {
    by_type: BTreeSet<&'static str>,
    own: BTreeSet<&'static str>,
}

impl Readers {
    fn named(&mut self, name: &'static str, arguments: &str) -> String {
        self.by_type.insert(name);
        format!("{name}({arguments})")
    }

    fn reader(&mut self, argument: &Argument, parameter: &Parameter) -> String {
        if let Some(own) = argument.reader {
            self.own.insert(own);
            return format!("{own}()");
        }
        let words = match parameter.sent_words() {
            words if words.is_empty() => argument.words(),
            words => words,
        };
        if !words.is_empty() {
            let words: Vec<_> = words.iter().map(|word| format!("'{word}'")).collect();
            return self.named("oneOf", &words.join(", "));
        }
        match argument.values {
            Values::Text => self.named("string", ""),
            Values::Flag => self.named("boolean", ""),
            Values::Number => self.named("number", &range(parameter)),
            Values::Whole => self.named("integer", &range(parameter)),
            Values::Texts => self.named("stringList", ""),
            Values::TextMap => self.named("stringMap", ""),
            Values::Word(..) | Values::Records(_) => {
                panic!("{} has no words and names no reader", argument.name)
            }
        }
    }

    fn imports(&self) -> String {
        import(&self.by_type, "../../command") + &import(&self.own, "../argument-readers")
    }
}

fn import(names: &BTreeSet<&str>, from: &str) -> String {
    let names: Vec<_> = names.iter().copied().collect();
    let line = format!("import {{ {} }} from '{from}';\n", names.join(", "));
    match line.len() > WIDTH {
        true => format!("import {{\n  {},\n}} from '{from}';\n", names.join(",\n  ")),
        false => line,
    }
}

fn range(parameter: &Parameter) -> String {
    let Some((least, most)) = parameter.range() else { return String::new() };
    let limits = [("least", least), ("most", most)];
    let limits = limits.iter().filter(|(_, limit)| !limit.is_empty());
    let limits: Vec<_> = limits.map(|(name, limit)| format!("{name}: {limit}")).collect();
    format!("{{ {} }}", limits.join(", "))
}

/// `browser_tab_new` as `browserTabNew`.
fn camel_case(command: &str) -> String {
    let mut words = command.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(1);
        name + &head.to_uppercase() + tail
    })
}

#[cfg(test)]
mod tests {
    use tools::command_arguments::text;

    use super::*;

    #[track_caller]
    fn check(expected: &str) {
        let text = contracts();
        assert!(text.contains(expected), "{expected:?} is not in:\n{text}");
    }

    #[test]
    fn an_argument_has_its_type_limits_words_and_usual_value() {
        check("      quality: optional(integer({ least: 1, most: 100 }), 80),\n");
        check("      format: optional(oneOf('png', 'jpeg', 'webp'), 'jpeg'),\n");
        check("      fields: formFields(),\n      submit: optional(boolean(), false),\n");
        check("  browser_go_back: {\n    effect: 'act',\n    on: 'tab',\n");
    }

    #[test]
    fn short_forms_stay_in_the_hub_and_what_is_left_of_a_group_must_be_there() {
        check("      width: integer({ least: 1, most: 10000 }),\n");
        check("      colorScheme: optional(oneOf('light', 'dark')),\n");
        check("      key: string(),\n      value: string(),\n");
        check("oneOf('localStorage', 'sessionStorage'), 'localStorage')");
        assert!(!contracts().contains("modifiers:") && !contracts().contains("contents:"));
    }

    #[test]
    fn actions_of_one_command_share_its_contract() {
        const ARGUMENTS: &[Argument] = &[text("selector", "CSS"), text("ref", "of an element")];
        const FIRST: Action = tools::action::read("first", "browser_find", "selector", "");
        const ANY: Action = tools::action::read("any", "browser_find", "", "selector ref='e1'");
        let contract = contract(&[(ARGUMENTS, &FIRST), (ARGUMENTS, &ANY)], &mut Readers::default());
        let args = "      selector: optional(string()),\n      ref: optional(string(), 'e1'),\n";
        assert!(contract.contains(args), "{contract}");
    }

    #[test]
    fn what_the_hub_does_itself_is_no_command_of_the_extension() {
        assert!(
            !index().contains("browser_tab_release") && !contracts().contains("browser_tab_list")
        );
        assert!(index().contains("import browserUploadPart from './browser_upload_part';\n"));
    }
}
