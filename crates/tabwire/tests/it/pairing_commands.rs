//! Pairing from the command line and through the native messaging host.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{Ask, EXTENSION, HubProcess};

use crate::scene::{PROGRAM, hub};

/// Where the hub keeps its pairings.
pub fn pairing_file(hub: &HubProcess) -> PathBuf {
    hub.place().path().join("data/tabwire/pairing.json")
}

/// Asks the native messaging host as a browser does.
pub async fn ask_host(hub: &HubProcess, flags: &[&str], requests: &[&str]) -> Vec<Value> {
    let origin = format!("{EXTENSION}/");
    let args: Vec<_> = ["native-host"].iter().chain(flags).copied().chain([&*origin]).collect();
    // Lengths below 128 are text too.
    let frame = |text: &&str| {
        let length = u32::try_from(text.len()).unwrap().to_ne_bytes();
        String::from_utf8(length.to_vec()).unwrap() + text
    };
    let input: String = requests.iter().map(frame).collect();
    let done = hub.commands(PROGRAM).run_with(&args, &input).await.must_exit(0);
    let mut answers = Vec::new();
    let mut rest = done.stdout.as_str();
    while let Some(start) = rest.find('{') {
        let mut stream = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<Value>();
        answers.push(stream.next().unwrap().unwrap());
        rest = &rest[start + stream.byte_offset()..];
    }
    answers
}

/// Pairs an instance through the native messaging host; returns its key.
pub async fn enroll(hub: &HubProcess, instance: &str) -> String {
    let hello = json!({"type": "hello", "instanceId": instance}).to_string();
    let answer = ask_host(hub, &[], &[&hello]).await.remove(0);
    assert_eq!(answer["type"], "hub", "{answer}");
    answer["key"].as_str().unwrap().to_owned()
}

/// Returns a code that can be used now.
pub async fn code(hub: &HubProcess) -> String {
    let shown = hub.commands(PROGRAM).run(&["pair", "--no-wait", "--json"]).await.must_exit(0);
    shown.json()["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_native_host_tells_port_and_key_to_our_extension_only() {
    let mut hub = hub(&[]).await;
    let one = r#"{"type":"hello","instanceId":"chrome-1","browser":"Chrome"}"#;
    let two = r#"{"type":"hello","instanceId":"chrome-2"}"#;
    let answers = ask_host(&hub, &[], &[one, two, one, "{}"]).await;
    assert_eq!(answers.len(), 4);
    assert_eq!((&answers[0]["port"], &answers[0]["running"]), (&json!(hub.port()), &json!(true)));
    assert_eq!(answers[0], answers[2], "asked again");
    assert_ne!(answers[0]["key"], answers[1]["key"]);
    assert_eq!(answers[0].get("name"), None, "only a name that was given is told");
    assert_eq!(answers[3]["type"], "refused");
    let bad = r#"{"type":"hello","instanceId":"a b"}"#;
    assert_eq!(ask_host(&hub, &[], &[bad]).await[0]["type"], "refused");
    for other in ["chrome-extension://abcdefghijklmnopabcdefghijklmnop/", "https://evil.example/"] {
        let done = hub.commands(PROGRAM).run(&["native-host", other]).await.must_exit(4);
        assert_eq!(done.stdout, "", "nothing but the protocol");
    }
    let port = hub.port();
    hub.terminate().await;
    let answer = &ask_host(&hub, &[], &[one]).await[0];
    assert_eq!((&answer["port"], &answer["running"]), (&json!(port), &json!(false)));
}

#[tokio::test]
async fn after_unpair_the_native_host_refuses_until_pair() {
    let hub = hub(&[]).await;
    enroll(&hub, "chrome-1").await;
    enroll(&hub, "chrome-2").await;
    let commands = hub.commands(PROGRAM);
    commands.run(&["unpair", "chrome-1"]).await.must_exit(0);
    let hello = |name: &str| json!({"type": "hello", "instanceId": name}).to_string();
    let refused = ask_host(&hub, &[], &[&hello("chrome-1"), &hello("chrome-3")]).await;
    for answer in refused {
        assert_eq!(answer["type"], "refused", "{answer}");
        assert!(answer["message"].as_str().unwrap().contains("tabwire pair"), "{answer}");
    }
    enroll(&hub, "chrome-2").await;
    code(&hub).await;
    enroll(&hub, "chrome-1").await;
}

#[tokio::test]
async fn the_list_shows_who_is_paired_and_no_key() {
    let hub = hub(&[]).await;
    let hello = r#"{"type":"hello","instanceId":"chrome-1"}"#;
    let flags = ["--name", "work", "--launch", "l1"];
    let key = ask_host(&hub, &flags, &[hello]).await[0]["key"].as_str().unwrap().to_owned();
    let commands = hub.commands(PROGRAM);
    let listed = commands.run(&["pair", "--list", "--json"]).await.must_exit(0);
    let one = &listed.json()[0];
    assert_eq!(one["instance"], "chrome-1");
    assert_eq!(
        (&one["name"], &one["launch"], &one["by"]),
        (&json!("work"), &json!("l1"), &json!("native"))
    );
    let for_people = commands.run(&["pair", "--list"]).await.must_exit(0);
    assert!(for_people.stdout.contains("work"), "{}", for_people.stdout);
    assert!(!listed.stdout.contains(&key) && !for_people.stdout.contains(&key));
    commands.run(&["unpair", "work"]).await.must_exit(0);
    assert_eq!(commands.run(&["pair", "--list", "--json"]).await.json(), json!([]));
}

#[tokio::test]
async fn without_a_hub_the_file_alone_is_changed() {
    let mut hub = hub(&[]).await;
    enroll(&hub, "chrome-1").await;
    hub.terminate().await;
    let commands = hub.commands(PROGRAM);
    let waiting = commands.run(&["pair"]).await.must_exit(3);
    assert!(waiting.stderr.contains("tabwire serve"), "{}", waiting.stderr);
    commands.run(&["unpair"]).await.must_exit(2);
    commands.run(&["unpair", "nobody"]).await.must_exit(1);
    let done = commands.run(&["unpair", "--all", "--json"]).await.must_exit(0).json();
    assert_eq!(done["unpaired"][0]["instance"], "chrome-1");
    assert_eq!(commands.run(&["pair", "--list", "--json"]).await.json(), json!([]));
}

#[tokio::test]
async fn a_damaged_file_is_set_aside_and_said() {
    let hub = hub(&[]).await;
    enroll(&hub, "chrome-1").await;
    std::fs::write(pairing_file(&hub), "{").unwrap();
    let commands = hub.commands(PROGRAM);
    let listed = commands.run(&["pair", "--list", "--json"]).await.must_exit(0);
    assert_eq!(listed.json(), json!([]));
    assert!(listed.stderr.contains("damaged"), "{}", listed.stderr);
    let hello = r#"{"type":"hello","instanceId":"chrome-1"}"#;
    let refused = &ask_host(&hub, &[], &[hello]).await[0];
    assert!(refused["message"].as_str().unwrap().contains("tabwire pair"), "{refused}");
    code(&hub).await;
    enroll(&hub, "chrome-1").await;
}

#[tokio::test]
async fn unpairing_is_for_who_controls() {
    let hub = hub(&[]).await;
    enroll(&hub, "chrome-1").await;
    let all = json!({"all": true});
    for origin in [EXTENSION, "http://localhost:5173", "https://evil.example"] {
        let ask = Ask::own_post("/api/unpair", &all).header("Origin", origin);
        ask.send(hub.port()).await.must_be(403);
    }
    let plain = Ask::own("POST", "/api/unpair")
        .header("Content-Type", "text/plain")
        .body(all.to_string().into_bytes());
    plain.send(hub.port()).await.must_be(400);
    for wrong in
        [json!({}), json!({"all": true, "instances": ["x"]}), json!({"instances": ["a b"]})]
    {
        hub.api().post("/api/unpair", &wrong).await.must_be(400);
    }
    hub.api().post("/api/unpair", &json!({"instances": ["nobody"]})).await.must_be(200);
    enroll(&hub, "chrome-1").await;
}
