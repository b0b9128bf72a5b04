//! The console: what a page says there, also before anybody asked.

use serde_json::{Value, json};
use testkit::eventually;

use crate::stage::{Driver, Stage, with};

async fn console(client: &Driver, more: Value) -> Vec<(String, String)> {
    let told = client.call("browser_debug", with(json!({"action": "console"}), more)).await;
    let logs = told["logs"].as_array().unwrap_or_else(|| panic!("{told}"));
    assert_eq!(told["count"], logs.len(), "{told}");
    let text = |log: &Value, name: &str| log[name].as_str().unwrap_or_default().to_owned();
    logs.iter().map(|log| (text(log, "level"), text(log, "text"))).collect()
}

#[track_caller]
fn check(logs: &[(String, String)], expected: &[(&str, &str)]) {
    let fits = |((level, text), (wanted, words)): (&(String, String), &(&str, &str))| {
        level == wanted && text.contains(words)
    };
    assert_eq!(logs.len(), expected.len(), "{logs:?}");
    assert!(logs.iter().zip(expected).all(fits), "{logs:?}, not {expected:?}");
}

#[tokio::test]
async fn the_console_is_read_from_the_beginning_by_level_and_cleared() {
    let Stage { site, client, .. } = &Stage::at("/console.html").await;
    let all = [
        ("log", "early 1"),
        ("info", "for your information"),
        ("warning", "careful"),
        ("error", "it broke"),
    ];
    check(&console(client, json!({})).await, &all);
    for (level, words) in all {
        check(&console(client, json!({"level": level})).await, &[(level, words)]);
    }
    check(&console(client, json!({"level": "all", "clear": true})).await, &all);
    check(&console(client, json!({})).await, &[]);

    client.click("#more").await;
    site.report("thrown").await;
    let logs = eventually("the exception is in the console", async || {
        Some(console(client, json!({})).await).filter(|logs| logs.len() >= 2)
    });
    check(&logs.await, &[("log", "clicked"), ("error", "uncaught thing")]);
}
