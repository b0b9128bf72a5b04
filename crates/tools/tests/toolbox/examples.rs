//! The examples of the documents: every action has one, its call is valid, and its reply is what
//! the tool writes. `UPDATE_GOLDEN=1` writes the replies anew.

use std::{fs, path::PathBuf};

use launch::{BrowserRecord, LaunchId, ProfileInfo};
use model::{Change, TabId};
use serde_json::{Value, json};
use tools::{
    CoreTool, TOOLS,
    examples::{self, Example},
    launching,
};

use crate::{
    fake::{Abilities, Peer, Stage, spec},
    uploads::Project,
};

/// A browser with our extension and one tab, which is the client's; and an app with a state.
struct Scene {
    stage: Stage,
    chrome: Peer,
    _viewer: Peer,
    _project: Project,
}

impl Scene {
    async fn set() -> Self {
        let mut stage = Stage::start();
        let project = Project::new(&[("photo.png", b"\x89PNG")]);
        stage.workplace = project.workplace();
        let abilities = Abilities { capabilities: &["tab_owners"], ..Abilities::default() };
        let chrome = stage.able("chrome", abilities).await;
        chrome.change(Change::TabCreated(model::Tab {
            id: TabId(7),
            title: "Shop".into(),
            url: "https://shop.example/".into(),
            active: true,
        }));
        chrome.answers("browser_tab_new", Ok(json!({"tab": 7})));
        stage.call("browser_tab", json!({"action": "new"})).await.unwrap();
        let tools = vec![spec("buy", false)];
        chrome.change(Change::ToolsChanged { tab: Some(TabId(7)), tools });
        chrome.answers("buy", Ok(json!({"bought": "red"})));
        chrome.event("console", json!({"tabId": 7, "level": "error", "text": "no cart"}));
        let viewer = stage.app("viewer").await;
        viewer.push_state(json!({"model": {"color": "#ff0000"}}));
        viewer.offer(&[spec("paint", false)]);
        Self { stage, chrome, _viewer: viewer, _project: project }
    }

    /// Has the browser answer as the example says.
    fn prepare(&self, tool: &CoreTool, example: &Example) {
        let answer = |command: &str, answer: &Value| {
            self.chrome.answers(command, Ok(expand(answer.clone())));
        };
        if example.browser.is_null() {
            return;
        }
        let action = examples::action(tool, example);
        match tool.actions().iter().find(|row| row.name == action) {
            Some(row) => answer(row.command, &example.browser),
            None => {
                for (command, result) in example.browser.as_object().unwrap() {
                    answer(command, result);
                }
            }
        }
    }

    async fn reply(&self, tool: &CoreTool, example: &Example) -> String {
        for call in example.before.as_array().into_iter().flatten() {
            let mut args = call.as_object().unwrap().clone();
            let name = args.remove("tool").unwrap();
            self.stage.call(name.as_str().unwrap(), json!(args)).await.unwrap();
        }
        let what = format!("{} {}", tool.name, example.call);
        let output = self.stage.call(tool.name, example.call.clone()).await;
        let output = output.unwrap_or_else(|fault| panic!("{what}: {fault}"));
        output
            .links
            .iter()
            .fold(output.text, |text, link| text.replace(&link.uri, "tabwire://result/…"))
    }
}

/// `@80000` becomes so many characters of a file.
fn expand(mut answer: Value) -> Value {
    for part in ["file", "image"] {
        let data = answer[part]["data"].as_str().and_then(|data| data.strip_prefix('@'));
        if let Some(length) = data.map(|length| length.parse().unwrap()) {
            answer[part]["data"] = json!("A".repeat(length));
        }
    }
    answer
}

/// What starting and closing say, without a browser to start.
fn reply_of_launching(action: &str) -> Option<String> {
    let record = BrowserRecord {
        launch: LaunchId::mint(),
        pid: 4711,
        start_time: 1,
        user_data_dir: PathBuf::from("/nowhere"),
        name: "chromium".to_owned(),
        browser: "chromium".to_owned(),
        profile: None,
        headless: true,
        throw_away: true,
        session: Some("chromium".to_owned()),
        started_at_ms: 1,
    };
    let profile = |name: &str, used_by: Option<&str>| ProfileInfo {
        name: name.to_owned(),
        used_by: used_by.map(str::to_owned),
    };
    match action {
        "new" => Some(launching::say_opened(&record, "chromium")),
        "close" => Some(launching::say_closed(&record)),
        "profiles" => Some(launching::say_profiles(&[
            profile("shopping", Some("chromium")),
            profile("work", None),
        ])),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn every_reply_shown_is_what_the_tool_writes() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    for tool in TOOLS {
        let mut all = examples::of(tool.name).unwrap();
        for example in &mut all {
            let action = examples::action(tool, example);
            let launching = match tool.name {
                "browser_instance" => reply_of_launching(&action),
                _ => None,
            };
            let reply = match launching {
                Some(reply) => reply,
                None => {
                    let scene = Scene::set().await;
                    scene.prepare(tool, example);
                    scene.reply(tool, example).await
                }
            };
            match update {
                true => example.reply = reply,
                false => assert_eq!(reply, example.reply.trim_end(), "{} {action}", tool.name),
            }
        }
        if update {
            write(tool.name, &all);
        }
    }
}

/// Writes a tool's examples with the replies that it gave.
fn write(tool: &str, all: &[Example]) {
    let path = format!("{}/examples/{tool}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(&path).unwrap();
    let mut parts = text.split("reply = '''\n");
    let mut written = parts.next().unwrap().to_owned();
    for (part, example) in parts.zip(all) {
        let (_, rest) = part.split_once("'''").unwrap();
        written += &format!("reply = '''\n{}\n'''{rest}", example.reply);
    }
    fs::write(path, written).unwrap();
}

#[test]
fn every_action_has_an_example() {
    let mut shown = Vec::new();
    for tool in TOOLS {
        for example in examples::of(tool.name).unwrap() {
            shown.push((tool.name, examples::action(tool, &example)));
        }
    }
    assert_eq!(shown, examples::wanted(), "each action once, in the order of the tools");
}

#[tokio::test(start_paused = true)]
async fn every_call_shown_passes_the_checks() {
    for tool in TOOLS {
        for example in examples::of(tool.name).unwrap() {
            let scene = Scene::set().await;
            let Err(fault) = scene.stage.call(tool.name, example.call.clone()).await else {
                continue;
            };
            let code = fault.code.as_str();
            let is_late = tool.name == "batch" && example.call["action"] == "stop";
            assert!(
                code != "invalid_argument" || is_late,
                "{} {}: {fault}",
                tool.name,
                example.call
            );
        }
    }
}
