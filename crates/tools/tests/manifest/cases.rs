//! The shipped manifest against its cases: every tool, what it sends and what it says.

use std::{collections::BTreeSet, fs, path::PathBuf};

use model::Code;
use serde_json::{Value, json};
use tools::manifest::{self, SHIPPED};

use crate::page::{Stage, client};

/// What the list of one app may take from every client's context, as MCP writes it.
const BUDGET_BYTES: usize = 12_288;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../apps")
}

pub fn cases() -> Value {
    let text = fs::read_to_string(folder().join("hello3d.cases.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn list(cases: &Value, key: &str) -> Vec<Value> {
    cases[key].as_array().unwrap().clone()
}

#[test]
fn every_manifest_of_the_folder_is_shipped_and_has_cases() {
    let files: BTreeSet<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let manifests: Vec<_> = files.iter().filter(|file| file.ends_with(".toml")).collect();
    assert_eq!(manifests, SHIPPED.iter().map(|(file, _)| *file).collect::<Vec<_>>());
    for file in manifests {
        let cases = file.replace(".toml", ".cases.json");
        assert!(files.contains(&cases), "{cases} is missing");
    }
    assert_eq!(manifest::shipped().len(), SHIPPED.len());
}

#[tokio::test]
async fn every_tool_has_a_case_and_every_case_a_tool() {
    let stage = Stage::start();
    let listed: BTreeSet<_> =
        stage.apps.list(&stage.toolbox.hub).into_iter().map(|tool| tool.name).collect();
    assert_eq!(listed.len(), 61);
    let cases = cases();
    let known: BTreeSet<_> = ["commands", "getters", "links"]
        .into_iter()
        .flat_map(|key| list(&cases, key))
        .map(|case| case["tool"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, known);
}

#[tokio::test]
async fn commands_send_what_the_cases_say_and_say_what_the_cases_say() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    for (index, case) in list(&cases(), "commands").into_iter().enumerate() {
        let tool = case["tool"].as_str().unwrap();
        let output = stage.call(tool, case["args"].clone()).await;
        let output = output.unwrap_or_else(|fault| panic!("{case}: {fault}"));
        let wire = case["wire"].clone();
        let command = case["command"].as_str().unwrap().to_owned();
        assert_eq!(page.commands().last(), Some(&(command.clone(), wire.clone())), "{case}");
        assert_eq!(output.text, case["reply"].as_str().unwrap());
        let version = index + 2;
        assert_eq!(
            output.structured,
            json!({
                "session": "hello3d", "command": command, "args": wire,
                "confirmed": true, "version": version,
            })
        );
    }
}

#[tokio::test]
async fn getters_say_what_the_cases_say() {
    let stage = Stage::start();
    let _page = stage.page("page").await;
    for case in list(&cases(), "getters") {
        let output = stage.call(case["tool"].as_str().unwrap(), json!({})).await.unwrap();
        assert_eq!(output.text, case["reply"].as_str().unwrap(), "{case}");
    }
}

#[tokio::test]
async fn links_are_what_the_cases_say() {
    let stage = Stage::start();
    for case in list(&cases(), "links") {
        let output = stage.call(case["tool"].as_str().unwrap(), json!({})).await.unwrap();
        let id = stage.toolbox.link_id(&client("test"));
        let url = case["url"].as_str().unwrap().replace("{id}", id.as_str());
        assert_eq!(output.structured["url"], url, "{case}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_refused_with_what_is_valid_and_nothing_is_sent() {
    let stage = Stage::start();
    let page = stage.page("page").await;
    for case in list(&cases(), "refused") {
        let tool = case["tool"].as_str().unwrap();
        let fault = stage.call(tool, case["args"].clone()).await.expect_err(&case.to_string());
        assert_eq!(fault.code, Code::InvalidArgument, "{case}");
        let part = case["error"].as_str().unwrap();
        assert!(fault.message.contains(part), "{part:?} is not in {:?}", fault.message);
    }
    assert_eq!(page.commands(), []);
    assert_eq!(page.events(), []);
}

#[tokio::test]
async fn a_wrong_colour_gets_all_forty_eight_names() {
    let stage = Stage::start();
    let fault = stage.call("change_model_color", json!({"color": "mud"})).await.unwrap_err();
    assert_eq!(fault.message.matches(", ").count(), 48, "{fault}");
    assert!(fault.message.contains("licorice, ") && fault.message.contains("carnation"), "{fault}");
}

#[test]
fn the_list_fits_its_budget() {
    let mut bytes = 0;
    for manifest in manifest::shipped() {
        for tool in manifest.tools() {
            let mut shown = json!({
                "name": tool.name, "description": tool.description,
                "inputSchema": tool.input_schema,
            });
            if tool.annotations.read_only {
                shown["annotations"] = json!({"readOnlyHint": true});
            }
            assert!(tool.description.len() <= 45, "{} is wordy", tool.name);
            assert!(tool.title.is_empty() && tool.output_schema.is_none());
            bytes += shown.to_string().len() + 1;
        }
    }
    println!("manifest tool list: {bytes} bytes of {BUDGET_BYTES}");
    assert!(bytes < BUDGET_BYTES, "{bytes}");
}
