//! Bad input for every action of every tool: the error names the argument and what is valid.

use model::{Code, Fault};
use serde_json::{Map, Value, json};
use tools::{CoreTool, Output, TOOLS, schema};

use crate::{
    fake::Stage,
    originals::{needed, value},
};

/// Tools whose arguments have a table: `(tool, action's argument, action, what it needs)`.
const OTHERS: &[(&str, &str, &str, &str)] = &[
    ("app_state", "", "", ""),
    ("batch", "action", "run", "steps"),
    ("batch", "action", "record", ""),
    ("batch", "action", "stop", ""),
    ("browser_instance", "action", "list", ""),
    ("browser_instance", "action", "new", ""),
    ("browser_instance", "action", "close", ""),
    ("browser_instance", "action", "profiles", ""),
    ("page_tools", "action", "list", ""),
    ("page_tools", "action", "find", "query"),
    ("page_tools", "action", "call", "tool"),
    ("sleep", "", "", "durationMs"),
    ("wait_for", "until", "state", ""),
    ("wait_for", "until", "event", ""),
    ("wait_for", "until", "connected", ""),
];

#[track_caller]
fn check(what: &str, outcome: Result<Output, Fault>, parts: &[&str]) {
    let fault = outcome.map(|output| output.text).expect_err(what);
    assert_eq!(fault.code, Code::InvalidArgument, "{what}: {fault}");
    for part in parts {
        assert!(fault.to_string().contains(part), "{what}: {part:?} not in {fault}");
    }
}

fn accepted(tool: &CoreTool) -> Value {
    schema::accepted(&tool.define().input_schema)
}

/// A value of another type than the argument has.
fn wrong(property: &Value) -> (Value, &'static str) {
    match property["type"].as_str() {
        Some("string") => (json!(7), "string"),
        Some("array") => (json!("x"), "array"),
        Some("object") => (json!("x"), "object"),
        Some("boolean") => (json!("x"), "boolean"),
        Some("number") => (json!("x"), "number"),
        Some("integer") => (json!("x"), "integer"),
        _ => (json!("no such value"), "one of"),
    }
}

#[tokio::test]
async fn every_action_refuses_what_is_wrong_and_says_what_is_right() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    for tool in TOOLS.iter().filter(|tool| !tool.actions().is_empty()) {
        let schema = accepted(tool);
        for action in tool.actions() {
            let what = format!("{} {}", tool.name, action.name);
            let mut good = needed(&schema, action);
            if !action.name.is_empty() {
                good.insert("action".to_owned(), json!(action.name));
            }
            let call = async |args: Map<String, Value>| stage.call(tool.name, json!(args)).await;
            let mut odd = good.clone();
            odd.insert("nonsense".to_owned(), json!(1));
            let name = if action.name.is_empty() { tool.name } else { action.name };
            check(&what, call(odd).await, &["`nonsense`", name, "it takes", "`timeoutMs`"]);
            for group in action.needed() {
                let mut lacking = good.clone();
                lacking.retain(|name, _| !group.iter().flatten().any(|word| word.name == name));
                let first = format!("`{}`", group[0][0].name);
                check(&what, call(lacking).await, &[name, "needs", &first]);
            }
            for parameter in action.parameters() {
                let word = parameter.name;
                let (bad, right) = wrong(&schema["properties"][word]);
                let mut args = good.clone();
                args.insert(word.to_owned(), bad);
                check(&what, call(args).await, &[&format!("`{word}`"), right]);
            }
            for parameter in action.parameters() {
                let word = parameter.name;
                let Some(first) = parameter.words().first().copied() else { continue };
                let mut args = good.clone();
                args.insert(word.to_owned(), json!("nonsense"));
                check(&what, call(args).await, &[&format!("`{word}`"), first]);
            }
        }
    }
    assert_eq!(chrome.calls(), 0, "nothing reached the browser");
}

#[tokio::test]
async fn every_unknown_action_is_answered_with_the_known_ones() {
    let stage = Stage::start();
    for tool in TOOLS {
        let schema = accepted(tool);
        let argument = if tool.name == "wait_for" { "until" } else { "action" };
        let Some(known) = schema["properties"][argument]["enum"].as_array() else { continue };
        for bad in [json!("fly"), json!(7), Value::Null] {
            let outcome = stage.call(tool.name, json!({argument: bad})).await;
            let argument = format!("`{argument}`");
            let known: Vec<_> = known.iter().map(Value::to_string).collect();
            let parts = [argument.as_str()].into_iter().chain(known.iter().map(String::as_str));
            check(tool.name, outcome, &parts.collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn tools_without_commands_refuse_as_well() {
    let stage = Stage::start();
    let known: Vec<_> = OTHERS.iter().map(|(tool, ..)| *tool).collect();
    for tool in TOOLS.iter().filter(|tool| tool.actions().is_empty()) {
        assert!(known.contains(&tool.name), "{} is not tried", tool.name);
    }
    for (name, argument, action, needs) in OTHERS {
        let what = format!("{name} {action}");
        let tool = TOOLS.iter().find(|tool| tool.name == *name).unwrap();
        let schema = accepted(tool);
        let mut good = Map::new();
        if !argument.is_empty() {
            good.insert((*argument).to_owned(), json!(action));
        }
        let call = async |args: Map<String, Value>| stage.call(name, json!(args)).await;
        if !needs.is_empty() {
            check(&what, call(good.clone()).await, &[&format!("`{needs}`")]);
            good.insert((*needs).to_owned(), value(&schema, needs));
        }
        let mut odd = good.clone();
        odd.insert("nonsense".to_owned(), json!(1));
        check(&what, call(odd).await, &["`nonsense`", "it takes"]);
        for (word, property) in schema["properties"].as_object().unwrap() {
            if word == argument || property.get("type").or(property.get("enum")).is_none() {
                continue;
            }
            let (bad, right) = wrong(property);
            let mut args = good.clone();
            args.insert(word.clone(), bad);
            check(&what, call(args).await, &[&format!("`{word}`"), right]);
        }
    }
    let foreign =
        stage.call("browser_instance", json!({"action": "list", "url": "https://a.example"}));
    check("browser_instance", foreign.await, &["list does not take `url`", "for new"]);
}
