//! Recordings: what a client does in browsers, noted so that `batch` can do it again.
//!
//! Only what acts or waits is noted, and only what succeeded. A reference means an element of one
//! document, so it is replaced by a selector where the browser's report has one. What was typed
//! into password fields is not kept. Nothing here calls anything.

use std::{collections::HashMap, sync::Arc, time::Duration};

use model::{ClientId, Effect};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::{browser_interact::is_reference, definition::CoreTool};

/// Steps of one recording.
pub(crate) const STEPS: usize = 200;
/// Bytes of one recording.
pub(crate) const BYTES: usize = 1 << 20;
/// How long a recording is kept after it began.
const TIME: Duration = Duration::from_secs(60 * 60);
/// Clients that record at once; the one that began first makes room.
const CLIENTS: usize = 64;
/// What stands for what is not kept.
pub(crate) const MASK: &str = "•••";

/// What is being recorded, by client. Clones share it.
#[derive(Clone, Default)]
pub struct Recorder {
    // A blocking mutex: held for one map operation, never across an await.
    by_client: Arc<Mutex<HashMap<ClientId, Recording>>>,
}

/// What one client has done since it began.
pub(crate) struct Recording {
    began: Instant,
    /// The calls in order, as `batch` takes them.
    pub steps: Vec<Value>,
    bytes: usize,
    /// Calls that did not fit any more.
    pub left_out: usize,
    /// Steps, from 1, that have a secret masked.
    pub masked: Vec<usize>,
    /// Steps, from 1, that name an element that only this recording's page has.
    pub stuck: Vec<usize>,
}

impl Recorder {
    /// Begins; returns how many steps of an earlier recording were dropped, if there was one.
    pub(crate) fn begin(&self, client: &ClientId) -> Option<usize> {
        let mut all = self.by_client.lock();
        forget_old(&mut all);
        if all.len() >= CLIENTS && !all.contains_key(client) {
            let oldest = all.iter().min_by_key(|(_, recording)| recording.began);
            if let Some(id) = oldest.map(|(id, _)| id.clone()) {
                all.remove(&id);
            }
        }
        all.insert(client.clone(), Recording::new()).map(|before| before.steps.len())
    }

    /// Ends; `None` means that nothing was being recorded.
    pub(crate) fn end(&self, client: &ClientId) -> Option<Recording> {
        let mut all = self.by_client.lock();
        forget_old(&mut all);
        all.remove(client).map(Recording::finish)
    }

    /// Returns whether a call is to be noted once it has succeeded.
    pub(crate) fn wants(&self, client: &ClientId, tool: &CoreTool, args: &Value) -> bool {
        self.by_client.lock().contains_key(client) && is_act(tool, args)
    }

    /// Notes a call that succeeded, with what the browser reported.
    pub(crate) fn note(&self, client: &ClientId, tool: &str, args: Value, report: &Value) {
        let mut all = self.by_client.lock();
        forget_old(&mut all);
        if let (Some(recording), Value::Object(args)) = (all.get_mut(client), args) {
            recording.add(tool, args, report);
        }
    }
}

fn forget_old(all: &mut HashMap<ClientId, Recording>) {
    all.retain(|_, recording| recording.began.elapsed() < TIME);
}

/// Whether doing it again is part of doing the same: what acts, what waits; not what reads.
fn is_act(tool: &CoreTool, args: &Value) -> bool {
    let action = args["action"].as_str().unwrap_or_default();
    let row = tool.actions().iter().find(|row| row.name == action);
    let acts = row.is_some_and(|row| row.effect != Effect::Read);
    match tool.name {
        "sleep" | "wait_for" => true,
        "page_tools" => action == "call",
        "browser_debug" => action == "dialog",
        "browser_navigate" | "browser_network" => acts || action.ends_with("wait"),
        "browser_interact" | "browser_tab" | "browser_emulate" | "browser_execute" => acts,
        _ => false,
    }
}

impl Recording {
    fn new() -> Self {
        Self {
            began: Instant::now(),
            steps: Vec::new(),
            bytes: 0,
            left_out: 0,
            masked: Vec::new(),
            stuck: Vec::new(),
        }
    }

    fn add(&mut self, tool: &str, mut args: Map<String, Value>, report: &Value) {
        // A cursor belongs to what happened then.
        args.remove("since");
        let masked = mask(&mut args, report);
        let stuck = !free_of_references(&mut args, report);
        let step = write(tool, args);
        let bytes = step.to_string().len();
        if self.steps.len() >= STEPS || self.bytes + bytes > BYTES || self.left_out > 0 {
            self.left_out += 1;
            return;
        }
        self.bytes += bytes;
        self.steps.push(step);
        let number = self.steps.len();
        self.masked.extend(masked.then_some(number));
        self.stuck.extend(stuck.then_some(number));
    }

    /// Takes out what is the same in all steps and belongs to this time only.
    fn finish(mut self) -> Self {
        for name in ["session", "tab"] {
            let mut seen: Vec<_> =
                self.steps.iter().filter_map(|step| arguments(step).get(name)).collect();
            seen.dedup();
            if seen.len() == 1 {
                for step in &mut self.steps {
                    take_out(step, name);
                }
            }
        }
        self
    }

    /// The steps, from 1, that name a tab by a number, where there are several.
    pub(crate) fn tabs(&self) -> Vec<usize> {
        let named = |step: &&Value| arguments(step).get("tab").is_some();
        let steps = self.steps.iter().zip(1..).filter(|(step, _)| named(step));
        steps.map(|(_, number)| number).collect()
    }
}

/// A step as `batch` takes it.
fn write(tool: &str, args: Map<String, Value>) -> Value {
    // An argument that is called `tool` itself, as `page_tools` has one.
    if args.contains_key("tool") {
        return json!({"tool": tool, "arguments": args});
    }
    let mut step = Map::from_iter([("tool".to_owned(), json!(tool))]);
    step.extend(args);
    Value::Object(step)
}

/// Where the arguments of a step are.
fn arguments(step: &Value) -> &Value {
    step.get("arguments").unwrap_or(step)
}

/// Takes an argument out of a step.
fn take_out(step: &mut Value, name: &str) {
    let Some(step) = step.as_object_mut() else { return };
    match step.get_mut("arguments").and_then(Value::as_object_mut) {
        Some(arguments) => drop(arguments.remove(name)),
        None => drop(step.remove(name)),
    }
}

/// Masks what was typed into password fields; returns whether there was any.
fn mask(args: &mut Map<String, Value>, report: &Value) -> bool {
    let mut masked = false;
    let given = args.get("selector").cloned().unwrap_or_default();
    if args.get("action").and_then(Value::as_str) == Some("type")
        && (is_secret(&report["element"]) || is_masked(&report["value"]) || sounds_secret(&given))
    {
        args.insert("text".to_owned(), json!(MASK));
        masked = true;
    }
    let fields = args.get_mut("fields").and_then(Value::as_array_mut);
    for (place, field) in fields.into_iter().flatten().enumerate() {
        let names = ["field", "label", "selector"].map(|name| sounds_secret(&field[name]));
        if is_secret(&report["filled"][place]) || names.contains(&true) {
            field["value"] = json!(MASK);
            masked = true;
        }
    }
    masked
}

/// Whether a reported element is a password field.
fn is_secret(element: &Value) -> bool {
    is_masked(&element["value"])
        || element["type"] == "password"
        || ["name", "label", "selector"].into_iter().any(|name| sounds_secret(&element[name]))
}

/// Whether a reported value is one that our extension does not tell.
fn is_masked(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty() && text.chars().all(|letter| letter == '•'))
}

/// Words of fields that hold secrets, for browsers that do not say what kind of field it is.
fn sounds_secret(name: &Value) -> bool {
    let name = name.as_str().unwrap_or_default().to_lowercase();
    ["password", "passwort", "passphrase", "passwd"].iter().any(|word| name.contains(word))
}

/// Replaces references by what finds the same element in another document; returns whether none
/// is left.
fn free_of_references(args: &mut Map<String, Value>, report: &Value) -> bool {
    let action = args.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut free = true;
    if args.contains_key("ref") {
        let element = &report["element"];
        let selector = text(&element["selector"]);
        let name = text(&element["name"]).filter(|_| action == "click");
        match (selector, name) {
            (Some(selector), _) => replace(args, "ref", "selector", selector),
            (None, Some(name)) => replace(args, "ref", "text", name),
            (None, None) => free = false,
        }
    }
    for name in ["to", "toRef"] {
        let is_named = args.get(name).and_then(Value::as_str).is_some_and(is_reference);
        match text(&report["target"]["selector"]) {
            Some(selector) if is_named => replace(args, name, "to", selector),
            None if is_named && action == "drag" => free = false,
            _ => {}
        }
    }
    let fields = args.get_mut("fields").and_then(Value::as_array_mut);
    for (place, field) in fields.into_iter().flatten().enumerate() {
        let Some(field) = field.as_object_mut() else { continue };
        for name in ["field", "ref"] {
            if field.get(name).and_then(Value::as_str).is_some_and(is_reference) {
                let filled = &report["filled"][place];
                // Its label finds a field as well.
                match text(&filled["selector"]).or_else(|| text(&filled["name"])) {
                    Some(found) => replace(field, name, "field", found),
                    None => free = false,
                }
            }
        }
    }
    free
}

fn text(value: &Value) -> Option<Value> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| json!(text))
}

fn replace(args: &mut Map<String, Value>, old: &str, new: &str, value: Value) {
    args.remove(old);
    args.insert(new.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str) -> ClientId {
        ClientId::parse(name).unwrap()
    }

    #[track_caller]
    fn check(
        tool: &str,
        args: Value,
        report: Value,
        expected: Value,
        (masked, stuck): (bool, bool),
    ) {
        let recorder = Recorder::default();
        recorder.begin(&client("a"));
        recorder.note(&client("a"), tool, args, &report);
        let recording = recorder.end(&client("a")).unwrap();
        assert_eq!(recording.steps, [expected]);
        assert_eq!((!recording.masked.is_empty(), !recording.stuck.is_empty()), (masked, stuck));
    }

    #[test]
    fn a_reference_becomes_a_selector_or_words() {
        let tool = "browser_interact";
        check(
            tool,
            json!({"action": "click", "ref": "e3"}),
            json!({"element": {"ref": "e3", "selector": "#buy", "name": "Buy"}}),
            json!({"tool": tool, "action": "click", "selector": "#buy"}),
            (false, false),
        );
        check(
            tool,
            json!({"action": "click", "ref": "e3"}),
            json!({"element": {"ref": "e3", "name": "Buy"}}),
            json!({"tool": tool, "action": "click", "text": "Buy"}),
            (false, false),
        );
        check(
            tool,
            json!({"action": "hover", "ref": "e3"}),
            json!({"element": {"ref": "e3", "name": "Buy"}}),
            json!({"tool": tool, "action": "hover", "ref": "e3"}),
            (false, true),
        );
        check(
            tool,
            json!({"action": "drag", "selector": "#a", "to": "e9"}),
            json!({"target": {"selector": "#bin"}}),
            json!({"tool": tool, "action": "drag", "selector": "#a", "to": "#bin"}),
            (false, false),
        );
        check(
            tool,
            json!({"action": "fill", "fields": [{"field": "e1", "value": "a"}]}),
            json!({"filled": [{"selector": "#mail"}]}),
            json!({"tool": tool, "action": "fill", "fields": [{"field": "#mail", "value": "a"}]}),
            (false, false),
        );
    }

    #[test]
    fn passwords_are_not_kept() {
        let tool = "browser_interact";
        for report in [
            json!({"value": "••••••••"}),
            json!({"element": {"type": "password"}}),
            json!({"element": {"name": "Your Password"}}),
        ] {
            check(
                tool,
                json!({"action": "type", "selector": "#p", "text": "hunter2"}),
                report,
                json!({"tool": tool, "action": "type", "selector": "#p", "text": MASK}),
                (true, false),
            );
        }
        check(
            tool,
            json!({"action": "fill", "fields": [{"field": "Passwort", "value": "hunter2"}]}),
            json!({}),
            json!({"tool": tool, "action": "fill", "fields": [{"field": "Passwort", "value": MASK}]}),
            (true, false),
        );
    }

    #[test]
    fn an_argument_called_tool_is_written_apart() {
        check(
            "page_tools",
            json!({"action": "call", "tool": "buy", "args": {}}),
            Value::Null,
            json!({"tool": "page_tools", "arguments": {"action": "call", "tool": "buy", "args": {}}}),
            (false, false),
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_recording_is_bounded_and_forgotten_after_an_hour() {
        let recorder = Recorder::default();
        let (ann, bob) = (client("ann"), client("bob"));
        recorder.begin(&ann);
        for _ in 0..STEPS + 3 {
            recorder.note(&ann, "sleep", json!({"durationMs": 1}), &Value::Null);
        }
        recorder.note(&bob, "sleep", json!({"durationMs": 1}), &Value::Null);
        assert!(recorder.end(&bob).is_none(), "bob has not begun");
        let recording = recorder.end(&ann).unwrap();
        assert_eq!((recording.steps.len(), recording.left_out), (STEPS, 3));
        recorder.begin(&ann);
        let long = "x".repeat(BYTES / 2);
        for _ in 0..3 {
            let args = json!({"expression": long});
            recorder.note(&ann, "browser_execute", args, &Value::Null);
        }
        assert_eq!(recorder.begin(&ann), Some(1), "two did not fit");
        tokio::time::advance(TIME).await;
        assert!(recorder.end(&ann).is_none());
    }

    #[test]
    fn arguments_that_are_written_apart_count_as_well() {
        let recorder = Recorder::default();
        let ann = client("ann");
        for (tab, expected) in [(7, vec![]), (8, vec![1, 2])] {
            recorder.begin(&ann);
            let buy = json!({"action": "call", "tool": "buy", "tab": tab, "args": {}});
            recorder.note(&ann, "page_tools", buy, &Value::Null);
            recorder.note(
                &ann,
                "browser_navigate",
                json!({"action": "back", "tab": 7}),
                &Value::Null,
            );
            assert_eq!(recorder.end(&ann).unwrap().tabs(), expected);
        }
    }

    #[test]
    fn one_tab_is_left_out_and_several_are_told() {
        let recorder = Recorder::default();
        let ann = client("ann");
        for (tabs, expected) in [([7, 7], vec![]), ([7, 8], vec![1, 3])] {
            recorder.begin(&ann);
            let act = |tab| json!({"action": "back", "tab": tab, "session": "chrome"});
            recorder.note(&ann, "browser_navigate", act(tabs[0]), &Value::Null);
            recorder.note(&ann, "sleep", json!({"durationMs": 1}), &Value::Null);
            recorder.note(&ann, "browser_navigate", act(tabs[1]), &Value::Null);
            let recording = recorder.end(&ann).unwrap();
            assert_eq!(recording.tabs(), expected);
            assert!(recording.steps.iter().all(|step| step.get("session").is_none()));
        }
    }
}
