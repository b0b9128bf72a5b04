//! Words of peers, pages and files on a terminal: no command and no line of the log passes on what
//! would steer it.

use std::{fs, path::Path};

use serde_json::{Value, json};
use testkit::{Answer, Ask, Commands, FakeApp, FakeBrowser, HubOptions, HubProcess, eventually};

use crate::{
    pairing_commands::ask_host,
    scene::{PROGRAM, hub},
};

/// Titles, colours, text that runs backwards, lines that are written over, and a forged line.
const HOSTILE: &str = "a\x1b]0;pwned\x07b\u{9b}31mc\u{202e}d\re\x08f\nforged";

/// Fails the test if something is in it that a terminal would act on.
#[track_caller]
fn check_tame(what: &str, text: &str) {
    let acts = |letter: char| {
        let is_direction = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        is_direction || letter.is_control() && letter != '\n'
    };
    assert!(!text.contains(acts), "{what}: {text:?}");
}

/// Runs a command for people and for programs. Whatever it is about must be told, in both.
async fn check(commands: &Commands<'_>, args: &[&str], told: &str) {
    check_once(commands, args, told).await;
    check_once(commands, &[args, &["--json"]].concat(), told).await;
}

async fn check_once(commands: &Commands<'_>, args: &[&str], told: &str) {
    let done = commands.run(args).await;
    let said = done.stdout.clone() + &done.stderr;
    check_tame(&format!("{args:?}"), &said);
    assert!(said.contains(told), "{args:?} does not tell {told}: {said}");
    if args.contains(&"--json") {
        for line in done.stdout.lines() {
            serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        }
    }
}

/// A hub with an app and a browser that say nothing nice.
async fn with_hostile_peers() -> (HubProcess, FakeApp, FakeApp) {
    let hub = hub(&[]).await;
    let mut peer = FakeBrowser::app(hub.port(), "viewer").named(Some(HOSTILE));
    peer.connect().await;
    peer.publish_state("p1", 1, json!({ HOSTILE: HOSTILE })).await;
    peer.publish_event(HOSTILE, json!(HOSTILE)).await;
    peer.until_acked().await;
    peer.vanish();
    let app = FakeApp::start(peer, &["paint"], |call| match call["args"]["how"].as_str() {
        Some("badly") => Answer::Error("OUT_OF_PAINT", HOSTILE),
        Some("as text") => Answer::Result(json!(HOSTILE)),
        _ => Answer::Result(json!({ HOSTILE: [HOSTILE] })),
    })
    .await;
    let mut peer = FakeBrowser::browser(hub.port(), "chrome").named(Some(HOSTILE));
    peer.connect().await;
    let tab = json!({"id": 1, "title": HOSTILE, "url": "https://a.example/"});
    peer.publish(json!({"type": "tabCreated", "tab": tab})).await;
    peer.until_acked().await;
    peer.vanish();
    let browser = FakeApp::start(peer, &[], |_| Answer::Error("NO_PAGE", HOSTILE)).await;
    (hub, app, browser)
}

#[tokio::test]
async fn what_peers_say_steers_no_terminal() {
    let (hub, app, browser) = with_hostile_peers().await;
    let commands = hub.commands(PROGRAM);
    let shown = "\\u009b31mc\\u202e";
    check(&commands, &["sessions"], &app.session).await;
    check(&commands, &["sessions", &app.session], shown).await;
    // What an error quotes is escaped for models already.
    for (how, shown) in [("as text", shown), ("as data", shown), ("badly", r"\u{202e}")] {
        let args = json!({ "how": how }).to_string();
        check(&commands, &["call", "paint", &args], shown).await;
    }
    check(&commands, &["sessions", &browser.session], shown).await;
    check(&commands, &["call", "browser_tab", r#"{"action":"list"}"#], "pwned").await;
    check(&commands, &["call", HOSTILE], "no tool").await;
    check(&commands, &["browser", "list"], "browser").await;
    check(&commands, &["audit", "tail"], "paint").await;
    check(&commands, &["dialects"], "forged-2").await;
    check(&commands, &["status"], &hub.port().to_string()).await;
    for also in [&[][..], &["--json"]] {
        let tail = commands.spawn(&[&["tail"][..], also].concat());
        // It is there once it shows something; from then on it shows everything.
        eventually("the tail shows an event", async || {
            app.publish(json!({"type": "event", "name": HOSTILE, "data": HOSTILE}));
            tail.stdout().contains("pwned").then_some(())
        })
        .await;
        check_tame("tail", &tail.stdout());
        assert!(!tail.stdout().lines().any(|line| line.starts_with("forged")), "a line of its own");
        tail.signal(testkit::Signal::Kill);
        tail.finished().await;
    }
    drop((app, browser));
}

#[tokio::test]
async fn what_is_on_file_steers_no_terminal() {
    let mut hub = hub(&[]).await;
    // The native messaging host's frames have to be short here.
    let hello =
        |instance: &str| json!({"type": "hello", "instanceId": instance, "browser": HOSTILE});
    for instance in ["one", "two"] {
        let answer = ask_host(&hub, &[], &[&hello(instance).to_string()]).await.remove(0);
        assert_eq!(answer["type"], "hub", "{answer}");
    }
    hub.terminate().await;
    let data = hub.place().path().join("data/tabwire");
    let file = data.join("pairing.json");
    let mut pairing: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    rename_all(&mut pairing);
    fs::write(&file, pairing.to_string()).unwrap();
    let commands = hub.commands(PROGRAM);
    check(&commands, &["pair", "--list"], "\\u009b31m").await;
    check_once(&commands, &["unpair", "one"], "\\u009b31m").await;
    check_once(&commands, &["unpair", "two", "--json"], "\\u009b31m").await;
    let record = data.join("hub.json");
    let mut found: Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    found["version"] = json!(HOSTILE);
    fs::write(&record, found.to_string()).unwrap();
    check(&commands, &["status"], "").await;
    let settings = hub.place().write("\u{9b}31m\u{202e}.toml", "no_such_setting = 1\n");
    let doctor = hub.commands(PROGRAM).variable("TABWIRE_CONFIG", settings.to_str().unwrap());
    check(&doctor, &["doctor"], "\\u009b31m").await;
    let client = hub.place().path().join("home/.cursor/mcp.json");
    fs::create_dir_all(client.parent().unwrap()).unwrap();
    fs::write(&client, json!({"mcpServers": {HOSTILE: {"command": HOSTILE}}}).to_string()).unwrap();
    let install = ["install", "--dry-run", "--no-extension", "--client", "cursor"];
    check_once(&commands, &install, "\\u009b31m").await;
}

/// Gives every name in a file to somebody hostile.
fn rename_all(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match name.as_str() {
            "name" => *value = json!(HOSTILE),
            _ => rename_all(value),
        }),
        Value::Array(items) => items.iter_mut().for_each(rename_all),
        _ => {}
    }
}

#[tokio::test]
async fn a_line_of_the_log_is_one_line_whatever_a_file_or_a_peer_says() {
    let options = HubOptions::new(PROGRAM).flags(&["--log-level", "trace"]);
    let apps = options.place().folder("config").join("tabwire/apps");
    fs::create_dir_all(&apps).unwrap();
    fs::write(apps.join(format!("{HOSTILE}.toml")), "no_such_key = 1").unwrap();
    let hub = options.start().await;
    let mut guest = FakeBrowser::connected(hub.port(), "guest").await;
    guest.say(json!({"type": "bye", "code": "normal", "retry": false, "message": HOSTILE})).await;
    guest.vanish();
    Ask::get("/api/\u{9b}31m").header("origin", "https://evil.example").send(hub.port()).await;
    let log = eventually("both are in the log", async || {
        let told = ["manifest not used", "request refused", "goodbye"];
        Some(hub.stderr()).filter(|log| told.iter().all(|words| log.contains(words)))
    })
    .await;
    check_tame("the log", &log);
    assert!(!log.lines().any(|line| line.starts_with("forged")), "a line of its own: {log}");
}

/// Where standard output and standard error are written to directly, and why that is right.
const DIRECT: [&str; 6] = [
    "cli.rs",                 // completions, from our own words
    "command/native_host.rs", // a protocol
    "command/pair.rs",        // asks whether it is a terminal
    "command/serve.rs",       // one line of our own, and the settings in TOML
    "command/stdio.rs",       // a protocol
    "log.rs",                 // escapes fields by itself
];

#[test]
fn commands_print_through_what_escapes() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut direct = Vec::new();
    look_through(&source, &mut |file, text| {
        let name = file.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
        let prints = ["io::stdout()", "io::stderr()", "eprint"].iter().any(|by| text.contains(by));
        if prints && name != "terminal.rs" {
            direct.push(name);
        }
    });
    direct.sort();
    assert_eq!(direct, DIRECT);
}

fn look_through(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => look_through(&path, each),
            false => each(&path, &fs::read_to_string(&path).unwrap()),
        }
    }
}
