//! Files that are cut, bent or of another time, and a disk that is full: the hub always starts and
//! goes on, and never serves a wrong message or a hole as whole.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use testkit::{
    FakeApp, FakeBrowser, HubOptions, HubProcess, Incoming, PATIENCE, Place, Position, Rng,
    eventually, rounds, within,
};

use crate::scene::{PROGRAM, hub};

/// Messages in each direction.
const MESSAGES: u64 = 30;
/// The store's files that outlive the process.
const FILES: [&str; 3] = ["hub.sqlite", "hub.sqlite-wal", "hub.sqlite-mark"];

/// Runs a hub whose files can be limited: without the signal, a file over its limit is an error of the
/// write, as with a full disk.
pub const FULL_DISK: [&str; 3] = ["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""];

fn data_of(place: &Place) -> PathBuf {
    place.folder("data").join("tabwire")
}

/// What a hub had promised, and the files that it left.
struct Original {
    files: Vec<(&'static str, Vec<u8>)>,
    token: Option<String>,
    hub_epoch: String,
    browser_epoch: String,
    session: Value,
    audit: Vec<Value>,
    answer: Value,
    state: Value,
}

fn event_data(number: u64) -> Value {
    json!({"to": "browser", "n": number, "pad": "p".repeat(number as usize * 7)})
}

fn keyed() -> Value {
    json!({"session": "viewer", "tool": "paint", "args": {"color": "red"}, "idempotencyKey": "k"})
}

impl Original {
    /// Has a hub promise something of everything, and ends it.
    async fn make(killed: bool) -> Self {
        let mut hub = hub(&[]).await;
        let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
        let api = hub.api();
        let (answer, ()) = tokio::join!(api.call(keyed()), async {
            let call = app.call().await;
            app.answer(&call, json!({"painted": "red"})).await;
        });
        app.publish_state("p1", 5, json!({"color": "red"})).await;
        for number in 1..=MESSAGES {
            app.publish_event("tock", json!(number)).await;
        }
        app.until_acked().await;
        for number in 1..=MESSAGES {
            let body = json!({"session": "viewer", "name": "tick", "data": event_data(number)});
            assert_eq!(api.post("/api/events", &body).await.must_be(200).json()["kept"], true);
        }
        let audit = api.get("/api/audit").await.json()["lines"].as_array().unwrap().clone();
        let state = api.state("viewer", "").await.json()["value"].clone();
        app.vanish();
        if killed {
            hub.kill();
        } else {
            hub.terminate().await;
        }
        let folder = data_of(hub.place());
        let read = |name| fs::read(folder.join(name)).ok().map(|bytes| (name, bytes));
        Self {
            files: FILES.into_iter().filter_map(read).collect(),
            hub_epoch: app.welcome["epoch"].as_str().unwrap().to_owned(),
            browser_epoch: app.log.epoch.clone(),
            session: app.welcome["sessionId"].clone(),
            token: app.token,
            audit,
            answer: answer.must_be(200).json(),
            state,
        }
    }

    /// Puts the files into a folder, one of them changed, starts a hub there and looks at it.
    /// Returns whether its logs go on.
    async fn check_with(&self, file: &str, bytes: &[u8]) -> bool {
        let options = HubOptions::new(PROGRAM);
        let folder = data_of(options.place());
        put_folder(&folder);
        for (name, original) in &self.files {
            put(&folder.join(name), if *name == file { bytes } else { original });
        }
        let mut hub = options.start().await;
        let went_on = self.check(&hub).await;
        // It works, and what it promises now survives too.
        let body = json!({"session": "viewer", "name": "tick", "data": "after"});
        let after = hub.api().post("/api/events", &body).await.must_be(200).json();
        assert_eq!(after["kept"], true, "{after}");
        hub.kill();
        went_on
    }

    async fn check(&self, hub: &HubProcess) -> bool {
        let api = hub.api();
        let known = !api.sessions().await.is_empty();
        if known {
            let feed = api.feed_page("viewer", 0, 1000).await;
            let tocks = feed["items"].as_array().unwrap().iter();
            let tocks: Vec<_> = tocks.filter(|item| item["name"] == "tock").collect();
            let numbers: Vec<_> = tocks.iter().map(|item| item["body"].clone()).collect();
            let whole: Vec<_> = (1..=MESSAGES).map(|number| json!(number)).collect();
            assert!(numbers.is_empty() || numbers == whole, "a hole in the feed: {numbers:?}");
            let state = api.state("viewer", "").await;
            if state.status == 200 {
                assert_eq!(state.json()["value"], self.state, "a wrong state");
            }
        }
        for line in api.get("/api/audit").await.must_be(200).json()["lines"].as_array().unwrap() {
            assert!(self.audit.contains(line), "a wrong line: {line}");
        }
        // Nobody is there to do it: either the answer was kept, or nothing is known.
        let answer = api.call(keyed()).await;
        if answer.status == 200 {
            assert_eq!(answer.json(), self.answer, "a wrong answer");
        }
        let mut app = FakeBrowser::app(hub.port(), "viewer");
        app.token = self.token.clone();
        app.seen.position = Some(Position::new(&self.hub_epoch, 0));
        app.log.epoch = self.browser_epoch.clone();
        let mut socket = testkit::Dial::session(hub.port(), "viewer").connect().await;
        socket.send(&app.hello()).await;
        let welcome = socket.until("welcome").await;
        let received = welcome["received"]["sequence"].as_u64().unwrap_or(0);
        // Tools, state and events, or nothing at all.
        assert!([0, MESSAGES + 2].contains(&received), "received up to {received}");
        let replay = welcome["replay"].as_array().unwrap();
        if welcome["recovered"] == true {
            assert_eq!(welcome["epoch"], self.hub_epoch.as_str());
            assert_eq!(welcome["sessionId"], self.session);
            let numbers: Vec<_> =
                replay.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
            assert_eq!(numbers, (1..=MESSAGES).collect::<Vec<_>>(), "a hole served as whole");
            for event in replay {
                let expected = event_data(event["sequence"].as_u64().unwrap());
                assert_eq!(event["data"], expected, "a wrong message");
            }
            assert_eq!(welcome["currentSequence"], MESSAGES);
        } else {
            assert_eq!((replay.len(), &welcome["reason"]), (0, &json!("epoch_changed")));
            assert_ne!(welcome["epoch"], self.hub_epoch.as_str(), "a new log has a new name");
        }
        welcome["recovered"] == true
    }
}

fn put_folder(path: &Path) {
    fs::create_dir_all(path).unwrap();
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
}

fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

#[tokio::test]
async fn untouched_files_go_on() {
    for killed in [false, true] {
        let original = Original::make(killed).await;
        assert!(original.check_with("", &[]).await, "killed: {killed}");
    }
}

#[tokio::test]
async fn cut_files_never_hide_a_hole() {
    let mut rng = Rng::seeded(20_260_701);
    for killed in [false, true] {
        let original = Original::make(killed).await;
        for (name, bytes) in &original.files {
            let length = bytes.len() as u64;
            let mut lengths = vec![0, length / 2, length.saturating_sub(1)];
            lengths.extend((0..rounds(0, 60)).map(|_| rng.between(0, length)));
            for length in lengths {
                original.check_with(name, &bytes[..length as usize]).await;
            }
        }
    }
}

#[tokio::test]
async fn missing_files_never_hide_a_hole() {
    for killed in [false, true] {
        for missing in FILES {
            let mut original = Original::make(killed).await;
            if original.files.iter().any(|(name, _)| *name == missing) {
                original.files.retain(|(name, _)| *name != missing);
                original.check_with("", &[]).await;
            }
        }
    }
}

#[tokio::test]
async fn bent_files_never_serve_a_wrong_message() {
    let mut rng = Rng::seeded(20_260_702);
    let originals = [Original::make(false).await, Original::make(true).await];
    let mut went_on = 0;
    let flips = rounds(10, 2000);
    for flip in 0..flips {
        let original = &originals[flip as usize % 2];
        let (name, bytes) = &original.files[rng.between(0, original.files.len() as u64) as usize];
        if bytes.is_empty() {
            continue;
        }
        let mut bytes = bytes.clone();
        let place = rng.between(0, bytes.len() as u64) as usize;
        bytes[place] ^= 1 << rng.between(0, 8);
        went_on += u64::from(original.check_with(name, &bytes).await);
    }
    println!("{flips} flips, after {went_on} of them the logs went on");
}

/// Writes the number of a format into the head of an SQLite file.
fn set_format(bytes: &mut [u8], format: u32) {
    bytes[60..64].copy_from_slice(&format.to_be_bytes());
}

#[tokio::test]
async fn a_newer_format_is_refused_and_left_as_it_is() {
    let mut hub = hub(&[]).await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    app.publish_event("tock", json!(1)).await;
    app.until_acked().await;
    hub.terminate().await;
    let file = data_of(hub.place()).join("hub.sqlite");
    let original = fs::read(&file).unwrap();
    let format = u32::from_be_bytes(original[60..64].try_into().unwrap());
    assert!(format > 0, "the file says its format");
    // The head has no checksum: it counts where the store's own word on its format, which has
    // one, cannot be read, as in a file of a program that does not write it any more.
    let mut newer = original.clone();
    set_format(&mut newer, format + 1);
    let (head, own_word) = (100, b"format");
    for place in head..newer.len() - own_word.len() {
        if newer[place..].starts_with(own_word) {
            newer[place] = b'F';
        }
    }
    put(&file, &newer);
    let (status, said) = hub.try_restart().await.unwrap_err();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("newer") && said.contains("hub.sqlite"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), newer, "nothing was touched");
    let check = hub.commands(PROGRAM).run(&["store", "check"]).await;
    assert_eq!(check.code, 1, "{check:?}");
    assert!((check.stdout + &check.stderr).contains("newer"));
    assert_eq!(fs::read(&file).unwrap(), newer);
    // The head alone may be a flipped bit.
    let mut bent = original.clone();
    set_format(&mut bent, format + 1);
    put(&file, &bent);
    hub.restart().await;
    app.follow(hub.port());
    assert_eq!(app.connect().await["recovered"], true, "all is there");
}

/// Limits the size of files that a running hub may write; none lets it go on.
pub fn limit_files(hub: &HubProcess, bytes: Option<u64>) {
    let limit = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let pid = hub.pid().to_string();
    let command = ["--pid", &pid, &format!("--fsize={limit}:")];
    assert!(Command::new("prlimit").args(command).status().unwrap().success());
}

/// Sends `viewer` an event; returns whether it is on disk.
pub async fn is_kept(hub: &HubProcess, data: Value) -> bool {
    let body = json!({"session": "viewer", "name": "tick", "data": data});
    hub.api().post("/api/events", &body).await.must_be(200).json()["kept"] == true
}

#[tokio::test]
async fn a_full_disk_is_told_and_heals() {
    // Who is silent is asked before long, and not given up.
    let flags = ["--ping-after", "1s", "--dead-after", "10m"];
    let mut hub = HubOptions::new(PROGRAM).flags(&flags).under(&FULL_DISK).start().await;
    let mut app = FakeBrowser::with_tools(hub.port(), "viewer", &["paint"]).await;
    app.until_acked().await;
    assert!(is_kept(&hub, json!("before")).await);
    limit_files(&hub, Some(0));
    assert!(!is_kept(&hub, json!("meanwhile")).await, "no promise");
    let health = eventually("it says so", async || {
        let health = hub.api().get("/health").await.must_be(200).json();
        (health["status"] == "degraded").then_some(health)
    })
    .await;
    assert!(health["reasons"][0].as_str().unwrap().contains("disk"), "{health}");
    // Calls go on.
    let api = hub.api();
    let (answer, ()) = tokio::join!(api.call_tool("viewer", "paint", json!({})), async {
        let call = app.call().await;
        app.answer(&call, json!("painted")).await;
    });
    assert_eq!(answer.must_be(200).json()["result"], "painted");
    // What the browser publishes is taken in and not acked.
    let acked = app.log.acked;
    app.publish_event("tock", json!(1)).await;
    app.settle().await;
    // An ack is due long before the hub asks who has been silent since.
    loop {
        match app.socket().recv().await {
            Incoming::Message(message) if message["type"] == "ping" => break,
            Incoming::Message(message) => {
                assert_ne!(message["type"], "ack", "no ack while nothing is on disk");
            }
            end => panic!("{end:?}"),
        }
    }
    app.settle().await;
    assert_eq!(app.log.acked, acked, "no ack while nothing is on disk");
    limit_files(&hub, None);
    eventually("it heals", async || {
        let health = hub.api().get("/health").await.must_be(200).json();
        (health["status"] == "ok").then_some(())
    })
    .await;
    app.until_acked().await;
    assert!(is_kept(&hub, json!("after")).await);
    assert!(app.until_delivered(3).await, "in order, with what waited");
    hub.kill();
    hub.restart().await;
    app.seen.position.as_mut().unwrap().sequence = 0;
    app.follow(hub.port());
    let welcome = app.connect().await;
    let data: Vec<_> =
        welcome["replay"].as_array().unwrap().iter().map(|event| event["data"].clone()).collect();
    assert_eq!(data, ["before", "meanwhile", "after"], "all of it is on disk now");
    assert_eq!(welcome["received"]["sequence"], app.log.newest());
}

#[tokio::test]
async fn a_keyed_call_is_answered_in_its_time_while_the_disk_is_full() {
    let hub = HubOptions::new(PROGRAM).under(&FULL_DISK).start().await;
    let painter = FakeApp::echo(hub.port(), "viewer", &["paint"]).await;
    limit_files(&hub, Some(0));
    assert!(!is_kept(&hub, json!("meanwhile")).await);
    let body = json!({"session": "viewer", "tool": "paint", "timeoutMs": 1000,
        "idempotencyKey": "k"});
    let api = hub.api();
    // Done without a promise, or refused with a reason; but not left without an answer.
    let answer = within(PATIENCE, "an answer in its time", api.call(body)).await;
    assert!(answer.status == 200 || !answer.fault().is_empty(), "{}", answer.text());
    assert!(painter.received("callTool").len() <= 1);
}

#[tokio::test]
async fn a_hub_killed_while_the_disk_is_full_told_nobody_what_is_lost() {
    let mut hub = HubOptions::new(PROGRAM).under(&FULL_DISK).start().await;
    let mut app = FakeBrowser::connected(hub.port(), "viewer").await;
    assert!(is_kept(&hub, json!("before")).await);
    assert!(app.until_delivered(1).await);
    limit_files(&hub, Some(0));
    for number in 0..3 {
        assert!(!is_kept(&hub, json!(number)).await);
    }
    app.publish_event("tock", json!("not acked")).await;
    app.settle().await;
    hub.kill();
    app.follow(hub.port());
    hub.restart().await;
    app.follow(hub.port());
    // Numbers that nobody was told are given again, in the same log, with other content.
    let welcome = app.connect().await;
    assert_eq!(welcome["recovered"], true, "the browser saw no number that is gone: {welcome}");
    app.send_again().await;
    app.until_acked().await;
    assert!(is_kept(&hub, json!("after")).await);
    assert!(app.until_delivered(2).await);
    assert_eq!(app.seen.delivered[1]["data"], "after");
    assert_eq!(app.seen.duplicates, 0);
}
