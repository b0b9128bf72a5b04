//! What web apps of one origin may take: sessions, memory, disk and room in the list of tools; and
//! how what they leave behind is forgotten.

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::{Era, FakeBrowser, HubOptions, HubProcess, eventually};

use crate::{
    mcp_scene::http,
    scene::{PROGRAM, Scene, hub},
};

const HOSTILE: &str = "http://localhost:6666";
/// Bytes of everything that an origin may hold, as the settings have it by default.
const ORIGIN_BYTES: u64 = 32 << 20;

fn page(hub: &HubProcess, instance: &str, origin: &str) -> FakeBrowser {
    FakeBrowser::app(hub.port(), instance).dialled(|dial| dial.origin(origin))
}

/// Tells as much as one session may: a state, and tools with long descriptions.
async fn tell_much(page: &mut FakeBrowser) {
    let state = json!({"text": "x".repeat(4_000_000)});
    page.publish_state("p", 1, state).await;
    let tool = |number: usize| {
        let schema = json!({"type": "object", "description": "s".repeat(60_000)});
        json!({"name": format!("tool_{number}"), "description": "d".repeat(4000), "inputSchema": schema})
    };
    let tools: Vec<_> = (0..60).map(tool).collect();
    page.publish(json!({"type": "toolsChanged", "tools": tools})).await;
    for _ in 0..4 {
        page.publish_event("noise", json!("n".repeat(900_000))).await;
    }
}

fn folder_bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).unwrap().flatten();
    let size = |file: fs::DirEntry| match file.metadata() {
        Ok(found) if found.is_dir() => folder_bytes(&file.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    files.map(size).sum()
}

#[tokio::test]
async fn apps_of_one_origin_cannot_fill_the_hub_its_disk_or_the_list() {
    // So that freed memory is given back at once, and what is seen is what is held.
    let options = HubOptions::new(PROGRAM).variable("MALLOC_MMAP_THRESHOLD_", "65536");
    let scene = Scene::in_hub(options.start().await).await;
    let before = scene.hub.memory_kib();
    let mut pages = Vec::new();
    let mut refused = 0;
    for number in 0..30 {
        let mut page = page(&scene.hub, &format!("hostile-{number}"), HOSTILE);
        match page.try_connect().await {
            Ok(_) => {
                tell_much(&mut page).await;
                pages.push(page);
            }
            Err(ending) => {
                assert_eq!(ending.bye().unwrap()["code"], "too_many");
                refused += 1;
            }
        }
    }
    let sessions = scene.api().sessions().await;
    let of_origin = sessions.iter().filter(|session| session["origin"] == HOSTILE).count();
    assert!(of_origin <= 16, "{of_origin} sessions of one origin");
    assert!(refused > 0 || of_origin == 16, "{refused} refused, {of_origin} kept");
    // Sockets have buffers too, and the disk takes its time.
    let settled = async || {
        let grown = scene.hub.memory_kib().saturating_sub(before);
        (grown < 2 * (ORIGIN_BYTES >> 10)).then_some(())
    };
    eventually("the hub holds no more than it may", settled).await;
    let client = http(&scene.hub, Era::Modern).await;
    let list = client.request("tools/list", json!({})).await.result();
    let bytes = list["tools"].to_string().len();
    assert!(bytes <= 256 << 10, "the list has {bytes} bytes");
    let tools = list["tools"].as_array().unwrap();
    let greet = tools.iter().find(|tool| tool["name"] == "greet");
    assert!(greet.is_some(), "the tool of somebody else is still listed");
    let told = tools.iter().find(|tool| tool["name"] == "app_state").unwrap();
    let told = told["description"].as_str().unwrap();
    assert!(told.contains("The list is full") && told.contains(HOSTILE), "{told}");
    scene.bystander_answers().await;
    drop(pages);
    scene.hub.api().until_metric("tabwire_sessions_connected", 1.0).await;
    let disk = folder_bytes(scene.hub.place().path());
    assert!(disk < 64 << 20, "{disk} bytes on disk");
}

#[tokio::test]
async fn who_holds_too_much_is_told_and_others_are_not_disturbed() {
    let hub = hub(&["--origin-bytes", "2000000"]).await;
    let mut first = page(&hub, "first", HOSTILE);
    first.connect().await;
    first.publish_state("p", 1, json!({"text": "x".repeat(900_000)})).await;
    first.settle().await;
    let mut second = page(&hub, "second", HOSTILE);
    second.connect().await;
    second.publish_state("p", 1, json!({"text": "x".repeat(200_000)})).await;
    let bye = second.take_socket().must_close(4513).await;
    let message = bye.bye().unwrap()["message"].to_string();
    assert!(message.contains(HOSTILE) && message.contains("2000000"), "{message}");
    let mut other = page(&hub, "other", "http://localhost:7777");
    other.connect().await;
    other.publish_state("p", 1, json!({"text": "x".repeat(200_000)})).await;
    other.settle().await;
    // The first one's own state may change as before, and its events go before it is refused.
    for version in 2..5 {
        first.publish_event("noise", json!("n".repeat(50_000))).await;
        first.publish_state("p", version, json!({"text": "y".repeat(900_000)})).await;
        first.settle().await;
    }
    let state = hub.api().state("first", "").await.must_be(200).json();
    assert_eq!(state["version"], 4);
}

#[tokio::test]
async fn one_session_more_takes_the_place_of_one_that_is_away() {
    let hub = hub(&["--origin-sessions", "2"]).await;
    let mut one = page(&hub, "one", HOSTILE);
    let mut two = page(&hub, "two", HOSTILE);
    one.connect().await;
    two.connect().await;
    let mut three = page(&hub, "three", HOSTILE);
    let ending = three.try_connect().await.unwrap_err();
    assert_eq!(ending.bye().unwrap()["code"], "too_many");
    one.vanish();
    hub.api().until_connected("one", false).await;
    three.connect().await;
    hub.api().get("/api/sessions/one").await.must_be(404);
    // Browsers and other origins are not counted.
    page(&hub, "four", "http://localhost:7777").connect().await;
    FakeBrowser::browser(hub.port(), "chrome").connect().await;
}

#[tokio::test]
async fn tools_say_whose_they_are_and_go_from_the_list_before_their_session_does() {
    let hub = hub(&["--app-tools-kept", "1s"]).await;
    let mut app = page(&hub, "painter", HOSTILE);
    app.connect().await;
    app.offer_tools(&["paint"]).await;
    app.settle().await;
    let client = http(&hub, Era::Modern).await;
    let listed = async || -> Option<Value> {
        let list = client.request("tools/list", json!({})).await.result();
        let tools = list["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == "paint").cloned()
    };
    let description = listed().await.unwrap()["description"].to_string();
    assert!(description.starts_with(&format!("\"(app of {HOSTILE}) ")), "{description}");
    app.vanish();
    eventually("the tool is listed no more", async || listed().await.is_none().then_some(())).await;
    assert_eq!(hub.api().session("painter").await["connected"], false, "the session is kept");
    let called = client.call("paint", json!({})).await.result();
    assert!(called["content"][0]["text"].to_string().contains("painter"), "{called}");
    app.connect().await;
    eventually("the tool is listed again", listed).await;
}

#[tokio::test]
async fn what_is_away_is_forgotten_by_name_or_all_of_it() {
    let hub = hub(&[]).await;
    let mut gone = Vec::new();
    for instance in ["one", "two", "three"] {
        let mut app = page(&hub, instance, HOSTILE);
        app.connect().await;
        gone.push(app);
    }
    let mut here = gone.pop().unwrap();
    let commands = hub.commands(PROGRAM);
    let busy = commands.run(&["sessions", "forget", "one"]).await.must_exit(1);
    assert!(busy.stderr.contains("connected"), "{}", busy.stderr);
    for app in &mut gone {
        app.vanish();
    }
    hub.api().until_metric("tabwire_sessions_connected", 1.0).await;
    let done = commands.run(&["sessions", "forget", "one"]).await.must_exit(0);
    assert_eq!(done.stdout.trim(), "forgotten: one");
    let done = commands.run(&["sessions", "forget", "--away", "--json"]).await.must_exit(0);
    assert_eq!(done.json()["forgotten"], json!(["two"]));
    let names: Vec<_> = hub.api().sessions().await.iter().map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["three"]);
    here.settle().await;
    commands.run(&["sessions", "forget"]).await.must_exit(2);
    commands.run(&["sessions", "forget", "nobody"]).await.must_exit(1);
}
