//! What pages keep: cookies, `localStorage` and `sessionStorage`, as the page itself sees them.

use serde_json::{Value, json};
use testkit::{HubOptions, mcp::stdio::data_of};

use crate::stage::{Driver, PROGRAM, Stage, until_it_works, with};

async fn network(client: &Driver, action: &str, more: Value) -> Value {
    client.call("browser_network", with(json!({"action": action}), more)).await
}

/// Returns what the page sees of what is kept.
async fn kept(stage: &Stage) -> Value {
    stage.site.forget();
    stage.client.evaluate("kept('kept')").await;
    stage.site.report("kept").await
}

fn names(cookies: &Value) -> Vec<&str> {
    let list = cookies["cookies"].as_array().unwrap_or_else(|| panic!("{cookies}"));
    let mut names: Vec<_> = list.iter().map(|cookie| cookie["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

#[tokio::test]
async fn cookies_are_set_read_and_cleared() {
    let stage = &Stage::alone().await;
    stage.open("/cookie?hidden=fromserver;%20HttpOnly;%20Path=/").await;
    stage.open("/storage.html").await;
    let client = &stage.client;
    let set =
        json!({"name": "mine", "value": "1", "expires": 4_000_000_000_u64, "sameSite": "Lax"});
    let told = network(client, "set_cookie", set).await;
    assert_eq!(told["cookie"]["name"], "mine", "{told}");
    assert_eq!(kept(stage).await["cookie"], "mine=1");
    network(client, "set_cookie", json!({"name": "deep", "value": "2", "path": "/deep"})).await;
    network(client, "set_cookie", json!({"name": "quiet", "value": "3", "httpOnly": true})).await;
    assert_eq!(kept(stage).await["cookie"], "mine=1", "neither of another path nor hidden");

    let cookies = network(client, "get_cookies", json!({})).await;
    assert_eq!(names(&cookies), ["hidden", "mine", "quiet"], "those of the page's address");
    let hidden = network(client, "get_cookies", json!({"name": "hidden"})).await;
    assert_eq!(hidden["cookies"][0]["value"], "fromserver", "{hidden}");
    assert_eq!(hidden["cookies"][0]["httpOnly"], true);
    let urls = json!({"urls": [stage.site.url("/deep/down"), stage.site.url("/")]});
    let cookies = network(client, "get_cookies", urls).await;
    assert_eq!(names(&cookies), ["deep", "hidden", "mine", "quiet"]);
    let shown = client.text("browser_network", json!({"action": "get_cookies"})).await;
    // Chrome lets no cookie live longer than 400 days.
    assert!(shown.contains("mine=1; 127.0.0.1/; SameSite=Lax; expires 1"), "{shown}");

    // Cookies of another site are there for whoever has a tab on it, and stay.
    let elsewhere = json!({"name": "other", "value": "4", "url": stage.site.elsewhere("/")});
    for (action, args) in [
        ("set_cookie", elsewhere.clone()),
        ("get_cookies", json!({"domain": "localhost"})),
        ("get_cookies", json!({"urls": [stage.site.elsewhere("/")]})),
        ("clear_cookies", json!({"domain": "localhost"})),
    ] {
        let args = with(json!({"action": action}), args);
        let words = client.fails("browser_network", args, "SITE_NOT_ALLOWED").await;
        assert!(words.contains("open a page of that site first"), "{words}");
    }
    let here =
        client.listed("the client's tab", |tab| tab["owner"] == "yours").await["tab"].clone();
    let there = client.new_tab(&stage.site.elsewhere("/storage.html")).await;
    network(client, "set_cookie", with(elsewhere, json!({"tab": there}))).await;
    let asked = json!({"domain": "localhost", "tab": here});
    let other = network(client, "get_cookies", asked).await;
    assert_eq!(names(&other), ["other"]);
    let cleared = network(client, "clear_cookies", json!({"name": "mine"})).await;
    assert_eq!(cleared["names"], json!(["mine"]));
    assert_eq!(kept(stage).await["cookie"], "");
    network(client, "clear_cookies", json!({})).await;
    assert_eq!(names(&network(client, "get_cookies", json!({})).await), [""; 0]);
    let deep = json!({"urls": [stage.site.url("/deep/down")]});
    assert_eq!(names(&network(client, "get_cookies", deep).await), ["deep"], "not of this address");
    network(client, "clear_cookies", json!({"domain": "127.0.0.1"})).await;
    let deep = json!({"urls": [stage.site.url("/deep/down")]});
    assert_eq!(names(&network(client, "get_cookies", deep).await), [""; 0]);
    let other = network(client, "get_cookies", json!({"domain": "localhost"})).await;
    assert_eq!(names(&other), ["other"]);
    client.tab("close", json!({"tab": there})).await;
    let args = json!({"action": "get_cookies", "domain": "localhost", "tab": here});
    client.fails("browser_network", args, "SITE_NOT_ALLOWED").await;
}

#[tokio::test]
async fn storage_is_set_read_and_cleared() {
    let stage = &Stage::at("/storage.html").await;
    let client = &stage.client;
    network(client, "set_storage", json!({"name": "theme", "value": "dark "})).await;
    let session = json!({"name": "step", "value": "2", "storageType": "session"});
    network(client, "set_storage", session).await;
    let seen = kept(stage).await;
    assert_eq!(seen["local"], json!({"theme": "dark "}));
    assert_eq!(seen["session"], json!({"step": "2"}));
    let read = network(client, "get_storage", json!({})).await;
    assert_eq!(read["storage"], json!({"theme": "dark "}));
    let one = json!({"name": "step", "storageType": "session"});
    assert_eq!(network(client, "get_storage", one).await["storage"], json!({"step": "2"}));
    let none = json!({"action": "get_storage", "name": "nothing"});
    let words = client.text("browser_network", none).await;
    assert!(words.contains("no such key; it has 1 key"), "{words}");

    client.evaluate("localStorage.setItem('big', 'x'.repeat(200000))").await;
    let big = network(client, "get_storage", json!({"name": "big"})).await;
    // The answer is shortened for the model; what is kept says how much there is.
    assert!(big["truncated"] == true || big["leftOutCharacters"].as_u64().unwrap() > 90_000);
    let full = json!({"action": "set_storage", "name": "huge", "value": "x".repeat(6_000_000)});
    let words = client.fails("browser_network", full, "TOO_LARGE|invalid_argument").await;
    assert!(words.contains("value") || words.contains("large"), "{words}");

    network(client, "clear_storage", json!({})).await;
    let seen = kept(stage).await;
    assert_eq!((&seen["local"], &seen["session"]), (&json!({}), &json!({"step": "2"})));
    network(client, "set_storage", json!({"name": "a", "value": "b"})).await;
    let cleared = network(client, "clear_storage", json!({"storageType": "all"})).await;
    assert_eq!(cleared["cleared"], 2, "{cleared}");
    let seen = kept(stage).await;
    assert_eq!((&seen["local"], &seen["session"]), (&json!({}), &json!({})));
}

#[tokio::test]
async fn bad_arguments_are_named_with_what_is_right() {
    let stage = &Stage::at("/storage.html").await;
    for (action, args, named) in [
        ("get_cookies", json!({"urls": ["nowhere"]}), "urls"),
        ("get_cookies", json!({"urls": []}), "urls"),
        ("get_cookies", json!({"domain": "com"}), "domain"),
        ("get_cookies", json!({"domain": "http://x.example/"}), "domain"),
        ("get_cookies", json!({"domain": "a.example", "urls": ["http://a.example"]}), "urls"),
        ("set_cookie", json!({"name": "a"}), "value"),
        ("set_cookie", json!({"name": "a b", "value": "c"}), "name"),
        ("set_cookie", json!({"name": "a", "value": "b;c"}), "value"),
        ("set_cookie", json!({"name": "a", "value": "b", "path": "x"}), "path"),
        ("set_cookie", json!({"name": "a", "value": "b", "expires": 5}), "expires"),
        ("set_cookie", json!({"name": "a", "value": "b", "sameSite": "None"}), "secure"),
        ("set_cookie", json!({"name": "a", "value": "b", "sameSite": "Some"}), "Strict"),
        ("set_cookie", json!({"name": "a", "value": "b", "url": "about:blank"}), "url"),
        ("set_cookie", json!({"name": "a", "value": "x".repeat(5000)}), "4096"),
        ("clear_cookies", json!({"domain": ""}), "domain"),
        ("get_storage", json!({"storageType": "all"}), "storageType"),
        ("set_storage", json!({"name": "a"}), "value"),
        ("clear_storage", json!({"storageType": "none"}), "storageType"),
    ] {
        let args = with(json!({"action": action}), args);
        let words =
            stage.client.fails("browser_network", args, "INVALID_ARGUMENT|invalid_argument").await;
        assert!(words.contains(named), "{action}: {named} in {words}");
    }
    let seen = kept(stage).await;
    assert_eq!((&seen["cookie"], &seen["local"]), (&json!(""), &json!({})));
}

#[tokio::test]
async fn a_hub_for_reading_changes_no_request_and_shows_no_hidden_cookie() {
    let mut stage = Stage::alone().await;
    stage.open("/cookie?hidden=fromserver;%20HttpOnly;%20Path=/").await;
    stage.open("/cookie?open=forall;%20Path=/").await;
    stage.open("/storage.html").await;
    let tabs = stage.client.tab("list", json!({})).await;
    let own = tabs["tabs"].as_array().unwrap().iter().find(|tab| tab["owner"] == "yours").unwrap();
    let tab = own["tab"].clone();
    stage.hub.kill();
    let data = data_of(&stage.hub);
    let flags = ["--read-only", "--data", data.to_str().unwrap()];
    let hub = HubOptions::new(PROGRAM).flags(&flags).start().await;
    let client = Driver::new(&hub, "claude");
    // The browser comes over.
    let args = json!({"action": "get_cookies", "tab": tab});
    let cookies =
        until_it_works(async || client.result("browser_network", args.clone()).await).await;
    let cookies = &cookies["structuredContent"];
    assert_eq!(names(cookies), ["hidden", "open"]);
    for cookie in cookies["cookies"].as_array().unwrap() {
        let value = if cookie["httpOnly"] == true { "•••" } else { "forall" };
        assert_eq!(cookie["value"], value, "{cookies}");
    }
    for (action, args) in [
        ("mock", json!({"url": "/x"})),
        ("unmock", json!({})),
        ("intercept", json!({"enabled": true})),
        ("set_headers", json!({"headers": {"X": "y"}})),
        ("set_cookie", json!({"name": "a", "value": "b"})),
        ("clear_cookies", json!({})),
        ("set_storage", json!({"name": "a", "value": "b"})),
        ("clear_storage", json!({})),
    ] {
        let args = with(json!({"action": action, "tab": tab}), args);
        client.fails("browser_network", args, "READ_ONLY|read_only|refused").await;
    }
    for action in ["requests", "get_cookies", "get_storage"] {
        network(&client, action, json!({"tab": tab})).await;
    }
    let cookies = network(&client, "get_cookies", json!({"tab": tab})).await;
    assert_eq!(names(&cookies), ["hidden", "open"], "nothing was set or cleared");
}
