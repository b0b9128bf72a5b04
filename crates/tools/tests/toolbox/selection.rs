//! Tools that a hub does not offer.

use model::{Change, Code, TabId};
use serde_json::json;
use tools::{ToolboxSettings, direct_pages::Origins, selection::Selection};

use crate::fake::{Abilities, Stage, spec};

fn only(words: &str) -> ToolboxSettings {
    let words: Vec<_> = words.split(',').map(str::to_owned).collect();
    ToolboxSettings { selection: Selection::parse(&words).unwrap(), ..ToolboxSettings::default() }
}

#[tokio::test]
async fn what_is_not_selected_is_neither_listed_nor_callable() {
    let stage = Stage::start();
    let chrome = stage.browser("chrome").await;
    let app = stage.app("viewer").await;
    app.offer(&[spec("paint", false)]);
    stage.toolbox.reconfigure(only("wait,browser_tab,batch"));
    let names: Vec<_> = stage.toolbox.list().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["batch", "browser_tab", "sleep", "wait_for"]);
    for (name, args) in [
        ("browser_interact", json!({"action": "click", "ref": "e1"})),
        ("browser_click", json!({"ref": "e1"})),
        ("app_state", json!({})),
        ("paint", json!({"color": "red"})),
        ("batch", json!({"steps": [{"tool": "browser_evaluate", "expression": "1"}]})),
    ] {
        let fault = stage.call(name, args).await.unwrap_err();
        assert_eq!(fault.code, Code::UnknownTool, "{name}");
        let words = fault.to_string();
        assert!(words.contains("setting `tools`") && words.contains("batch"), "{words}");
        assert!(stage.toolbox.definition(name).is_none() || name == "batch", "{name}");
    }
    assert_eq!((chrome.calls(), app.calls()), (0, 0));
    stage.call("browser_tab_new", json!({})).await.unwrap();
    stage.toolbox.reconfigure(only("apps"));
    stage.call("paint", json!({"color": "red"})).await.unwrap();
    let names: Vec<_> = stage.toolbox.list().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["app_state", "paint"]);
}

#[tokio::test]
async fn what_is_hidden_is_not_done_past_the_list_either() {
    use model::Target;
    let stage = Stage::start();
    let nothing = serde_json::Map::new();
    let check = |target, name| stage.toolbox.check_offered(target, name, &nothing).is_ok();
    assert!(check(Target::Command, "anybodys") && check(Target::App, "paint"));
    stage.toolbox.reconfigure(only("browse"));
    assert!(check(Target::Command, "browser_mouse_click"));
    assert!(!check(Target::Command, "browser_evaluate"));
    assert!(!check(Target::Command, "anybodys"));
    assert!(!check(Target::Page, "buy") && !check(Target::App, "paint"));
}

#[tokio::test]
async fn another_selection_is_announced() {
    let stage = Stage::start();
    let mut changes = stage.toolbox.changes();
    changes.mark_unchanged();
    stage.toolbox.reconfigure(only("wait"));
    changes.changed().await.unwrap();
}

#[tokio::test]
async fn listed_tools_of_pages_go_with_the_group_of_pages() {
    let stage = Stage::start();
    let chrome = stage.able("chrome", Abilities { tabs: &[7], ..Abilities::default() }).await;
    let tools = vec![spec("buy", false)];
    chrome.change(Change::ToolsChanged { tab: Some(TabId(7)), tools });
    let direct_pages = Origins::parse(&["*".to_owned()]).unwrap();
    for (words, is_there) in [("pages,browse", true), ("apps", false)] {
        let direct_pages = direct_pages.clone();
        stage.toolbox.reconfigure(ToolboxSettings { direct_pages, ..only(words) });
        let listed = stage.toolbox.list().into_iter().any(|tool| tool.name == "page.buy");
        assert_eq!(listed, is_there, "{words}");
        assert_eq!(stage.toolbox.definition("page.buy").is_some(), is_there, "{words}");
        let called = stage.call("page.buy", json!({"color": "red"})).await;
        assert_eq!(called.is_ok(), is_there, "{words}: {called:?}");
    }
}
