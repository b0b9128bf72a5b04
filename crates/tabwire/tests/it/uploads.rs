//! Uploads from each kind of client: which folders count for it, over deaths of the hub too, and
//! that a browser gets bytes.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use testkit::{
    Era, FakeBrowser, HubOptions, HubProcess, Machine, McpStdio, Place, Signal, StdioOptions,
    eventually,
    mcp::{Reply, text},
};

use crate::{
    mcp_scene::{LEGACY, http},
    scene::{PROGRAM, hub},
    seed_moonsurf::{code, hub_and_extension},
};

const PART: &str = "browser_upload_part";
const UPLOAD: &str = "browser_upload_file";

fn args(files: &[&str]) -> Value {
    json!({"action": "upload", "selector": "#file", "files": files})
}

/// Writes a file that says which one it is; returns its path.
fn write(folder: &Path, name: &str) -> String {
    fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, format!("this is {name}")).unwrap();
    path.to_str().unwrap().to_owned()
}

async fn browser(port: u16) -> FakeBrowser {
    let mut browser = FakeBrowser::browser(port, "chrome");
    browser.connect().await;
    browser
}

/// Takes one small file as a browser does; fails the test unless it is the one with this name.
async fn take_upload(browser: &mut FakeBrowser, name: &str) {
    let part = browser.call().await;
    assert_eq!(part["toolName"], PART, "{part}");
    let expected = format!("this is {name}");
    assert_eq!(part["args"]["data"], STANDARD.encode(&expected), "{part}");
    browser.answer(&part, json!({})).await;
    let upload = browser.call().await;
    assert_eq!(upload["toolName"], UPLOAD, "{upload}");
    assert_eq!(upload["args"]["uploadId"], part["args"]["uploadId"]);
    let about = json!([{"name": name, "mimeType": "text/plain", "size": expected.len()}]);
    assert_eq!(upload["args"]["files"], about);
    browser.answer(&upload, json!({"url": "https://shop.example/"})).await;
}

/// Fails the test unless a client's upload reaches the browser.
async fn uploads(client: &mut McpStdio, browser: &mut FakeBrowser, path: &str, name: &str) {
    arrives(client.call("browser_interact", args(&[path])), browser, name).await;
}

/// Fails the test unless a call brings a file to the browser, and works.
async fn arrives(call: impl Future<Output = Reply>, browser: &mut FakeBrowser, name: &str) {
    tokio::pin!(call);
    // What is taken comes first: whoever has taken everything has sent the answer. Nothing is
    // lost by dropping an arm, for a call that ends too early fails the test.
    tokio::select! {
        biased;
        () = take_upload(browser, name) => {}
        reply = &mut call => panic!("{name}: {reply:?}"),
    }
    let (failed, said) = call.await.told();
    assert!(!failed, "{name}: {said}");
}

/// Fails the test unless a call was refused; returns the words.
#[track_caller]
fn refused(reply: Reply, expected: &str) -> String {
    let result = reply.result();
    assert_eq!((&result["isError"], code(&result)), (&json!(true), expected), "{result}");
    text(&result)
}

fn home(hub: &HubProcess) -> PathBuf {
    hub.place().path().join("home")
}

#[tokio::test]
async fn a_stdio_client_uploads_from_the_folder_it_was_started_in() {
    let hub = hub(&[]).await;
    let (place, elsewhere) = (Place::create(), Place::create());
    write(place.path(), "a.txt");
    let other = write(elsewhere.path(), "b.txt");
    let saved = write(&home(&hub).join("Downloads"), "c.txt");
    let mut browser = browser(hub.port()).await;
    for era in [Era::Modern, LEGACY] {
        let options = StdioOptions::of(PROGRAM, &hub).in_folder(place.path());
        let mut client = options.connect(era).await;
        uploads(&mut client, &mut browser, "a.txt", "a.txt").await;
        uploads(&mut client, &mut browser, &saved, "c.txt").await;
        for path in [other.as_str(), "/etc/passwd", "../../etc/passwd"] {
            let reply = client.call("browser_interact", args(&[path])).await;
            let said = refused(reply, "refused");
            assert!(said.contains(place.path().to_str().unwrap()), "{said}");
            assert!(said.contains("upload_roots"), "{said}");
        }
        let token = write(&hub.place().path().join("data/tabwire"), "tokens.txt");
        refused(client.call("browser_interact", args(&[&token])).await, "refused");
        refused(client.call("browser_interact", args(&["gone.txt"])).await, "not_found");
    }
}

#[tokio::test]
async fn a_client_that_was_started_in_the_home_folder_has_no_working_folder() {
    let hub = hub(&[]).await;
    let path = write(&home(&hub), "a.txt");
    let options = StdioOptions::of(PROGRAM, &hub).in_folder(&home(&hub));
    let mut client = options.connect(Era::Modern).await;
    let _browser = browser(hub.port()).await;
    for path in [path.as_str(), "a.txt"] {
        let said = refused(client.call("browser_interact", args(&[path])).await, "refused");
        assert!(said.contains("is none: it is the home folder"), "{said}");
    }
}

#[tokio::test]
async fn the_working_folder_is_told_to_the_next_hub_too() {
    let machine = Machine::new(PROGRAM);
    let place = Place::create();
    write(place.path(), "a.txt");
    let mut client = machine.relay().in_folder(place.path()).connect(Era::Modern).await;
    client.request("tools/list", json!({})).await.result();
    let mut chrome = browser(machine.port()).await;
    uploads(&mut client, &mut chrome, "a.txt", "a.txt").await;
    machine.kill_hub().await;
    machine.running().await;
    client.request("tools/list", json!({})).await.result();
    let mut chrome = browser(machine.port()).await;
    uploads(&mut client, &mut chrome, "a.txt", "a.txt").await;
}

#[tokio::test]
async fn the_roots_that_an_older_client_announces_count_and_can_change() {
    let hub = hub(&[]).await;
    let (first, second, own) = (Place::create(), Place::create(), Place::create());
    let (one, two) = (write(first.path(), "one.txt"), write(second.path(), "two.txt"));
    let mut browser = browser(hub.port()).await;
    let options = StdioOptions::of(PROGRAM, &hub).in_folder(own.path());
    let mut client = options.start().able(json!({"roots": {"listChanged": true}}));
    client.open(LEGACY).await;
    answer_roots(&mut client, &[first.path(), Path::new("/")]).await;
    uploads(&mut client, &mut browser, &one, "one.txt").await;
    let said = refused(client.call("browser_interact", args(&[&two])).await, "refused");
    assert!(said.contains("\"/\" is none: it is the whole file system"), "{said}");
    client.notify("notifications/roots/list_changed", json!({})).await;
    answer_roots(&mut client, &[second.path()]).await;
    uploads(&mut client, &mut browser, &two, "two.txt").await;
    refused(client.call("browser_interact", args(&[&one])).await, "refused");
}

/// Waits for the question and answers it.
async fn answer_roots(client: &mut McpStdio, folders: &[&Path]) {
    let asked = client.notification("roots/list").await;
    let uri = |folder: &&Path| json!({"uri": format!("file://{}", folder.display())});
    let roots: Vec<_> = folders.iter().map(uri).collect();
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})).await;
}

#[tokio::test]
async fn clients_over_http_have_no_working_folder() {
    let hub = hub(&[]).await;
    // The hub was started there, which is nobody's working folder.
    let near = write(hub.place().path(), "near.txt");
    let saved = write(&home(&hub).join("Downloads"), "saved.txt");
    let mut browser = browser(hub.port()).await;
    for era in [Era::Modern, LEGACY] {
        let client =
            http(&hub, era).await.header("Tabwire-Folder", hub.place().path().to_str().unwrap());
        for (path, code) in [(near.as_str(), "refused"), ("near.txt", "invalid_argument")] {
            let said = refused(client.call("browser_interact", args(&[path])).await, code);
            assert!(said.contains("a client over HTTP has no working folder"), "{said}");
        }
        let call = client.call("browser_interact", args(&[&saved]));
        arrives(call, &mut browser, "saved.txt").await;
        let content = json!({"name": "x.txt", "data": STANDARD.encode("this is x.txt")});
        let wish = json!({"action": "upload", "selector": "#file", "contents": [content]});
        arrives(client.call("browser_interact", wish), &mut browser, "x.txt").await;
    }
    let passed_on = http(&hub, Era::Modern).await.header("X-Forwarded-For", "192.0.2.7");
    let said = refused(passed_on.call("browser_interact", args(&[&saved])).await, "refused");
    assert!(said.contains("another machine"), "a path there is not a path here: {said}");
}

#[tokio::test]
async fn the_admin_api_checks_files_as_well_and_has_no_way_around() {
    let hub = hub(&[]).await;
    let near = write(hub.place().path(), "near.txt");
    let mut browser = browser(hub.port()).await;
    let post = async |tool: &str, args: Value, target: Option<&str>| {
        let mut body = json!({"tool": tool, "args": args});
        if let Some(target) = target {
            body["target"] = json!(target);
        }
        hub.api().post("/api/call", &body).await.must_be(403).json().to_string()
    };
    let said = post("browser_interact", args(&[&near]), None).await;
    assert!(said.contains("a client over HTTP has no working folder"), "{said}");
    let plain = json!({"selector": "#file", "files": [near]});
    assert!(post(UPLOAD, plain.clone(), None).await.contains("is outside the folders"));
    let part = json!({"uploadId": "a", "file": 0, "offset": 0, "data": ""});
    for (tool, args) in [(UPLOAD, plain), (PART, part)] {
        let said = post(tool, args, Some("command")).await;
        assert!(said.contains("is not called directly"), "{said}");
    }
    // Nothing of all that has reached the browser: the first call it sees is the next one.
    let saved = write(&home(&hub).join("Downloads"), "saved.txt");
    let body = json!({"tool": "browser_interact", "args": args(&[&saved])});
    let api = hub.api();
    let (answer, ()) =
        tokio::join!(api.post("/api/call", &body), take_upload(&mut browser, "saved.txt"));
    answer.must_be(200);
}

#[tokio::test]
async fn the_setting_adds_folders_and_can_change_while_the_hub_runs() {
    let (reports, others) = (Place::create(), Place::create());
    let one = write(reports.path(), "one.txt");
    let two = write(others.path(), "two.txt");
    let options = HubOptions::new(PROGRAM);
    let setting = |folder: &Path| format!("upload_roots = [{:?}]\n", folder.to_str().unwrap());
    let file = options.place().write("config.toml", &setting(reports.path()));
    let hub = options.flags(&["--config", file.to_str().unwrap()]).start().await;
    let mut browser = browser(hub.port()).await;
    let client = http(&hub, Era::Modern).await;
    let call = client.call("browser_interact", args(&[&one]));
    arrives(call, &mut browser, "one.txt").await;
    refused(client.call("browser_interact", args(&[&two])).await, "refused");
    fs::write(&file, setting(others.path())).unwrap();
    hub.signal(Signal::Hangup);
    eventually("the settings are read again", async || {
        let reply = client.call("browser_interact", args(&["/etc/passwd"])).await.result();
        text(&reply).contains(others.path().to_str().unwrap()).then_some(())
    })
    .await;
    let call = client.call("browser_interact", args(&[&two]));
    arrives(call, &mut browser, "two.txt").await;
    refused(client.call("browser_interact", args(&[&one])).await, "refused");
}

#[tokio::test]
async fn a_setting_that_would_allow_nearly_everything_is_refused_at_the_start() {
    for (root, part) in [
        ("/", "upload_roots: \"/\" is too much to upload from"),
        ("reports", "upload_roots: \"reports\" is not a whole path"),
    ] {
        let options = HubOptions::new(PROGRAM).flags(&["--upload-roots", root]);
        let (status, said) = options.try_start().await.err().unwrap();
        assert_eq!(status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
    let options = HubOptions::new(PROGRAM);
    let home = options.place().folder("home").to_str().unwrap().to_owned();
    let (_, said) = options.flags(&["--upload-roots", &home]).try_start().await.err().unwrap();
    assert!(said.contains("it is the home folder"), "{said}");
}

#[tokio::test]
async fn moonsurfs_extension_is_told_real_paths_that_were_checked() {
    let (hub, extension) = hub_and_extension(&[]).await;
    let place = Place::create();
    let path = write(place.path(), "a.txt");
    let options = StdioOptions::of(PROGRAM, &hub).in_folder(place.path());
    let mut client = options.connect(Era::Modern).await;
    let wish = |file: &str| json!({"action": "upload", "selector": "#button", "files": [file]});
    let reply = client.call("browser_interact", wish("a.txt")).await;
    assert!(!reply.told().0);
    refused(client.call("browser_interact", wish("/etc/passwd")).await, "refused");
    let body = json!({"tool": UPLOAD, "target": "command", "args": {"files": ["/etc/passwd"]}});
    hub.api().post("/api/call", &body).await.must_be(403);
    let real = fs::canonicalize(path).unwrap();
    let told = (UPLOAD.to_owned(), json!({"selector": "#button", "files": [real]}));
    assert_eq!(extension.calls(), [told]);
}
