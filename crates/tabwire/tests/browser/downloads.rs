//! Downloads: what a page saves is listed, waited for and read; what fails says why.

use std::fs;

use serde_json::{Value, json};
use testkit::eventually;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{
    pictures::decode,
    stage::{Driver, Stage, with},
};

/// A file that is removed at the end, as it lies in the user's folder.
struct Saved(String);

impl Drop for Saved {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Saved {
    fn of(download: &Value) -> Self {
        Self(download["path"].as_str().unwrap_or_else(|| panic!("{download}")).to_owned())
    }
}

async fn network(client: &Driver, action: &str, more: Value) -> Value {
    client.call("browser_network", with(json!({ "action": action }), more)).await
}

/// Clicks on what begins a download; returns its number once it is listed: what a click has begun
/// and what there is are told by two sources.
async fn begin(stage: &Stage, selector: &str) -> u64 {
    let newest = async || listed(&stage.client, "all").await.first()?["id"].as_u64();
    let before = newest().await;
    let clicked = stage.client.click(selector).await;
    let id = eventually("the download is listed", async || {
        newest().await.filter(|id| Some(*id) != before)
    })
    .await;
    let told = clicked["download"]["id"].as_u64();
    // What needs no answer of a server may begin when the click is over.
    let may_be_late = told.is_none() && selector == "#bytes";
    assert!(told == Some(id) || may_be_late, "{clicked}");
    id
}

/// The downloads in a state, newest first.
async fn listed(client: &Driver, state: &str) -> Vec<Value> {
    let list = network(client, "downloads", json!({ "state": state })).await;
    list["downloads"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_a_click_saves_is_waited_for_and_read() {
    let stage = &Stage::at("/downloads.html").await;
    let client = &stage.client;
    assert_eq!(listed(client, "all").await, [] as [Value; 0]);
    let id = begin(stage, "#text").await;
    // It may be over already: then it is still the one that is meant.
    let done = network(client, "download_wait", json!({})).await;
    let _saved = Saved::of(&done);
    assert_eq!((&done["id"], &done["state"]), (&json!(id), &json!("complete")), "{done}");
    assert_eq!(done["url"], stage.site.url("/download/words.txt"));
    let content = fs::read_to_string(done["path"].as_str().unwrap()).unwrap();
    assert_eq!((content.as_str(), &done["bytes"]), ("the content of the file\n", &json!(24)));
    assert_eq!(network(client, "download_wait", json!({"id": id.to_string()})).await, done);

    let read = network(client, "download_read", json!({"id": id.to_string()})).await;
    assert_eq!((&read["text"], &read["bytes"]), (&json!(content), &json!(24)), "{read}");
    let part = json!({"action": "download_read", "id": id.to_string(), "maxLength": 11});
    let words = client.text("browser_network", part).await;
    assert!(words.contains("  the content\n… 13 of 24 characters are left out"), "{words}");

    let id = begin(stage, "#bytes").await;
    let done = network(client, "download_wait", json!({"id": id.to_string()})).await;
    let saved = Saved::of(&done);
    let read = network(client, "download_read", json!({"id": id.to_string()})).await;
    assert_eq!(decode(read["file"]["data"].as_str().unwrap()), [0, 255, 1, 254], "{read}");

    let all = listed(client, "all").await;
    let names: Vec<_> = all.iter().map(|it| it["filename"].as_str().unwrap()).collect();
    assert!(names[0].starts_with("bytes") && names[1].starts_with("words"), "{names:?}");
    assert_eq!(listed(client, "in_progress").await, [] as [Value; 0]);
    // A file that is not what was downloaded is not read.
    for (change, code) in [("more than there was", "refused"), ("", "not_found")] {
        match change {
            "" => fs::remove_file(&saved.0).unwrap(),
            more => fs::write(&saved.0, more).unwrap(),
        }
        let read = json!({"action": "download_read", "id": id.to_string()});
        client.fails("browser_network", read, code).await;
    }
    assert_eq!(stage.seen().await, ["click text", "click bytes"]);
}

#[tokio::test]
async fn a_wait_is_for_the_next_one_where_none_is_under_way() {
    let stage = &Stage::at("/downloads.html").await;
    let client = &stage.client;
    // One that is over and was waited for is not the next one.
    begin(stage, "#text").await;
    let _earlier = Saved::of(&network(client, "download_wait", json!({})).await);
    let late = async {
        client.click("#late").await;
        stage.site.until_asked("/hold/late").await;
        stage.site.let_go("late");
    };
    let (done, ()) = tokio::join!(network(client, "download_wait", json!({})), late);
    let _saved = Saved::of(&done);
    assert!(done["filename"].as_str().unwrap().starts_with("late"), "{done}");
    assert_eq!(fs::read_to_string(done["path"].as_str().unwrap()).unwrap(), "late");
    let wait = json!({"action": "download_wait", "timeoutMs": 300});
    let words = client.fails("browser_network", wait, "TIMEOUT").await;
    assert!(words.contains("no download began") && words.contains("timeoutMs"), "{words}");
}

/// Opens a server that promises more than it sends, and ends when told.
async fn broken(end: tokio::sync::oneshot::Receiver<()>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = [0; 4096];
        assert!(stream.read(&mut head).await.unwrap() > 0, "it asks");
        let answer = "HTTP/1.1 200 -\r\nContent-Type: application/zip\r\n\
            Content-Disposition: attachment; filename=half.zip\r\nContent-Length: 1000\r\n\r\nhalf";
        stream.write_all(answer.as_bytes()).await.unwrap();
        let _ = end.await;
    });
    port
}

#[tokio::test]
async fn one_that_breaks_off_says_why() {
    let stage = &Stage::at("/downloads.html").await;
    let client = &stage.client;
    let (end, ending) = tokio::sync::oneshot::channel();
    let port = broken(ending).await;
    let link = format!("at('text').href = 'http://127.0.0.1:{port}/half.zip'");
    client.evaluate(&link).await;
    let id = begin(stage, "#text").await.to_string();
    let running = listed(client, "in_progress").await;
    assert_eq!((running.len(), &running[0]["totalBytes"]), (1, &json!(1000)), "{running:?}");
    let read = json!({"action": "download_read", "id": id});
    let words = client.fails("browser_network", read.clone(), "busy").await;
    assert!(words.contains("download_wait"), "{words}");
    let wait = json!({"action": "download_wait", "id": id, "timeoutMs": 300});
    let words = client.fails("browser_network", wait, "TIMEOUT").await;
    assert!(words.contains("not complete"), "{words}");
    end.send(()).unwrap();
    let wait = json!({"action": "download_wait", "id": id});
    let words = client.fails("browser_network", wait, "DOWNLOAD_FAILED").await;
    assert!(words.contains("half") && words.contains("interrupted: "), "{words}");
    client.fails("browser_network", read, "tool_failed").await;
    assert_eq!(listed(client, "interrupted").await[0]["id"].to_string(), id);
}

#[tokio::test]
async fn wrong_arguments_are_named_with_what_is_right() {
    let stage = &Stage::at("/downloads.html").await;
    for (action, more, code, part) in [
        ("downloads", json!({"state": "lost"}), "invalid_argument", "in_progress"),
        ("downloads", json!({"tab": 1}), "invalid_argument", "`tab`"),
        ("download_wait", json!({"id": "words.txt"}), "INVALID_ARGUMENT", "number of a download"),
        ("download_wait", json!({"id": "987654"}), "DOWNLOAD_NOT_FOUND", "action downloads"),
        ("download_wait", json!({"timeoutMs": 0}), "invalid_argument", "timeoutMs"),
        ("download_read", json!({}), "invalid_argument", "`id`"),
        ("download_read", json!({"id": "/etc/passwd"}), "invalid_argument", "number of a download"),
        ("download_read", json!({"id": "987654"}), "not_found", "browser_network downloads"),
        ("download_read", json!({"id": "1", "maxLength": 0}), "invalid_argument", "maxLength"),
        ("download_read", json!({"id": "1", "path": "/etc/passwd"}), "invalid_argument", "`path`"),
    ] {
        let args = with(json!({ "action": action }), more);
        let words = stage.client.fails("browser_network", args.clone(), code).await;
        assert!(words.contains(part), "{args}: {part:?} not in {words}");
    }
}
