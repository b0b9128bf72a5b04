//! Requests of a tab: listed, shown in full, awaited, told as events, and what went wrong. How they
//! are changed is in [`mocks`](crate::mocks).

use serde_json::{Value, json};
use testkit::eventually;

use crate::stage::{Driver, Stage, with};

/// Does something with the requests of a tab.
pub async fn network(client: &Driver, action: &str, more: Value) -> Value {
    client.call("browser_network", with(json!({"action": action}), more)).await
}

/// The same, as a model reads it.
pub async fn text(client: &Driver, action: &str, more: Value) -> String {
    client.text("browser_network", with(json!({"action": action}), more)).await
}

/// Lists the requests that fit.
pub async fn requests(client: &Driver, more: Value) -> Vec<Value> {
    network(client, "requests", more).await["requests"].as_array().unwrap().clone()
}

/// Has the page ask for something; returns what it got. What it asked for earlier may be told late.
pub async fn got(stage: &Stage, call: &str, more: Value) -> Value {
    stage.site.forget();
    let args = with(json!({"expression": format!("get({call})")}), more);
    stage.client.call("browser_execute", args).await;
    let path = call.split('\'').nth(1).unwrap();
    eventually(&format!("the page got {path}"), async || {
        stage.site.reports("got").into_iter().find(|told| told["path"] == path)
    })
    .await
}

/// Returns the number of the only request that fits, once it has ended.
pub async fn ended(client: &Driver, url: &str) -> String {
    let what = format!("{url} is in the log");
    let found = eventually(&what, async || {
        let list = requests(client, json!({"url": url})).await;
        list.into_iter().find(|request| request["ms"].is_u64())
    });
    found.await["id"].as_str().unwrap().to_owned()
}

/// Returns the addresses of requests.
#[track_caller]
pub fn addresses(list: &[Value]) -> Vec<&str> {
    list.iter().map(|request| request["url"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn requests_are_listed_with_filters_and_a_cursor() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    ended(client, "/data?start").await;
    let next = network(client, "requests", json!({})).await["next"].clone();
    got(stage, "'/data?one'", json!({})).await;
    got(stage, "'/echo', {method: 'POST', body: 'password=geheim&user=me'}", json!({})).await;
    got(stage, "'/status/404'", json!({})).await;
    got(stage, "'/redirect?to=/data?two'", json!({})).await;
    ended(client, "/data?two").await;

    let one = stage.site.url("/data?one");
    assert_eq!(addresses(&requests(client, json!({"url": "/data?one"})).await), [&one]);
    assert_eq!(addresses(&requests(client, json!({"url": "*/data?one"})).await), [&one]);
    assert_eq!(addresses(&requests(client, json!({"url": "/DATA.ONE$/i"})).await), [&one]);
    let posts = requests(client, json!({"method": "post", "url": "/echo"})).await;
    assert_eq!(posts[0]["status"], 200, "{posts:?}");
    let missing = requests(client, json!({"status": 404})).await;
    assert_eq!(addresses(&missing), [stage.site.url("/status/404")]);
    let documents = requests(client, json!({"resourceType": "document"})).await;
    assert_eq!(addresses(&documents), [stage.site.url("/network.html")]);
    let redirected = requests(client, json!({"status": 302})).await;
    assert_eq!(addresses(&redirected), [stage.site.url("/redirect?to=/data?two")]);

    let later = requests(client, json!({"since": next})).await;
    assert!(addresses(&later).contains(&one.as_str()), "{later:?}");
    assert!(!addresses(&later).iter().any(|url| url.ends_with("?start")), "{later:?}");
    let few = network(client, "requests", json!({"limit": 2})).await;
    assert_eq!(few["requests"].as_array().unwrap().len(), 2);
    assert!(few["older"].as_u64().unwrap() > 2, "{few}");
    let shown = text(client, "requests", json!({"url": "/data?one"})).await;
    let line = shown.lines().find(|line| line.ends_with(&one)).unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains(" GET 200 fetch "), "{shown}");
    assert!(shown.contains("next: since "), "{shown}");
}

#[tokio::test]
async fn one_request_is_shown_with_headers_and_bodies_and_without_secrets() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    client.evaluate("document.cookie = 'login=verysecret'").await;
    let options = "{method: 'POST', \
        headers: {Authorization: 'Bearer verysecret', 'X-Mine': 'yes'}, \
        body: 'user=me&password=verysecret'}";
    let echoed = got(stage, &format!("'/echo?full', {options}"), json!({})).await;
    assert!(echoed["body"].as_str().unwrap().contains("Bearer verysecret"), "{echoed}");
    let id = ended(client, "/echo?full").await;

    // As they were sent is told apart from the rest, perhaps after the end.
    let headers = eventually("the headers that were sent", async || {
        let headers = network(client, "request", json!({"id": id, "part": "headers"})).await;
        assert!(!headers.to_string().contains("verysecret"), "{headers}");
        let names: Vec<_> = headers["requestHeaders"].as_object().unwrap().keys().collect();
        let is_told = names.iter().any(|name| name.eq_ignore_ascii_case("cookie"));
        is_told.then_some(headers)
    })
    .await;
    let sent = headers["requestHeaders"].as_object().unwrap();
    let value = |wanted: &str| {
        let found = sent.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.unwrap_or_else(|| panic!("{wanted} in {headers}")).1.clone()
    };
    assert_eq!(value("authorization"), "•••");
    assert_eq!(value("cookie"), "•••");
    assert_eq!(value("x-mine"), "yes");
    assert!(headers["timing"]["wait"].is_number(), "{headers}");
    assert_eq!(headers.get("responseBody"), None);

    let body = network(client, "request", json!({"id": id, "part": "body"})).await;
    assert_eq!(body["requestBody"], "user=me&password=•••");
    let whole = network(client, "request", json!({"id": id})).await;
    assert!(whole["responseBody"].as_str().unwrap().contains("\"method\":\"POST\""), "{whole}");
    let cut =
        network(client, "request", json!({"id": id, "part": "response", "maxLength": 10})).await;
    assert_eq!(cut["responseBody"].as_str().unwrap().len(), 10, "{cut}");
    assert!(cut["responseBodyLeftOut"].as_u64().unwrap() > 10, "{cut}");
    assert_eq!(cut.get("requestBody"), None);
    let shown = text(client, "request", json!({"id": id})).await;
    assert!(shown.contains("request body:\n  user=me&password=•••"), "{shown}");
}

#[tokio::test]
async fn a_body_that_is_no_text_is_shown_as_a_file() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    client
        .evaluate("fetch('/paper.pdf').then((it) => it.arrayBuffer()).then(() => report('read'))")
        .await;
    stage.site.report("read").await;
    let id = ended(client, "/paper.pdf").await;
    let file = network(client, "request", json!({"id": id, "part": "response"})).await;
    assert_eq!(file["file"]["mimeType"], "application/pdf", "{file}");
}

#[tokio::test]
async fn a_redirect_is_shown_as_one() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    got(stage, "'/redirect?to=/data?three'", json!({})).await;
    let id = ended(client, "/redirect?to=/data?three").await;
    let told = text(client, "request", json!({"id": id})).await;
    assert!(told.contains("a redirect"), "{told}");
}

#[tokio::test]
async fn a_request_is_awaited() {
    let stage = &Stage::at("/network.html").await;
    let client = &stage.client;
    ended(client, "/data?start").await;
    let next = network(client, "requests", json!({})).await["next"].clone();
    let wait = network(client, "wait", json!({"url": "/hold/awaited"}));
    let begin = async {
        client.evaluate("void get('/hold/awaited')").await;
        stage.site.until_asked("/hold/awaited").await;
        stage.site.let_go("awaited");
    };
    let (found, ()) = tokio::join!(wait, begin);
    assert_eq!(found["status"], 200, "{found}");
    let again = network(client, "wait", json!({"url": "/hold/awaited", "since": next})).await;
    assert_eq!(again["id"], found["id"], "with a cursor, one that has ended counts");
    let late = json!({"action": "wait", "url": "/hold/awaited", "timeoutMs": 300});
    let words = client.fails("browser_network", late, "TIMEOUT").await;
    assert!(words.contains("/hold/awaited"), "{words}");
}

#[tokio::test]
async fn ended_requests_are_told_as_events() {
    let stage = Stage::at("/network.html").await;
    let client = &stage.client;
    ended(client, "/data?start").await;
    got(&stage, "'/status/503?told'", json!({})).await;
    let wait = json!({"until": "event", "event": "network", "contains": "503?told", "since": 0});
    let event = client.call("wait_for", wait).await;
    let told = event.to_string();
    assert!(told.contains("/status/503?told") && told.contains("fetch"), "{event}");
}

#[tokio::test]
async fn what_went_wrong_is_told_in_short() {
    let stage = Stage::at("/errors.html").await;
    let client = &stage.client;
    client.call("browser_debug", json!({"action": "errors"})).await;
    client.click("#break").await;
    stage.site.report("broken").await;
    let errors = eventually("the exception is told", async || {
        let errors = client.call("browser_debug", json!({"action": "errors"})).await;
        (errors["pageErrors"] != json!([])).then_some(errors)
    })
    .await;
    assert_eq!(errors["errors"][0]["text"], "the same again", "{errors}");
    assert_eq!(errors["errors"][0]["count"], 3, "{errors}");
    assert!(errors["pageErrors"][0]["text"].as_str().unwrap().contains("nobody caught this"));
    assert_eq!(errors["failedRequests"][0]["status"], 500, "{errors}");
    assert_eq!(errors["errors"].as_array().unwrap().len(), 1, "nothing is told twice: {errors}");
    let shown = client.text("browser_debug", json!({"action": "errors"})).await;
    assert!(shown.contains("console: the same again (3 times)"), "{shown}");
}

#[tokio::test]
async fn bad_arguments_are_named_with_what_is_right() {
    let stage = Stage::at("/network.html").await;
    let codes = "INVALID_ARGUMENT|invalid_argument|NO_SUCH_REQUEST";
    for (action, args, named) in [
        ("requests", json!({"resourceType": "picture"}), "image"),
        ("requests", json!({"url": "/(/"}), "url"),
        ("requests", json!({"method": "no method"}), "method"),
        ("requests", json!({"status": 7}), "status"),
        ("requests", json!({"limit": 501}), "500"),
        ("requests", json!({"since": -1}), "since"),
        ("request", json!({}), "id"),
        ("request", json!({"id": "nine"}), "nine"),
        ("request", json!({"id": "1", "part": "tail"}), "headers"),
        ("wait", json!({}), "url"),
        ("wait", json!({"url": ""}), "url"),
        ("mock", json!({"url": "/x", "status": 99}), "status"),
        ("mock", json!({"url": "/x", "times": 0}), "times"),
        ("mock", json!({"url": "/x", "headers": {"a b": "c"}}), "a b"),
        ("mock", json!({"url": "/x", "headers": {"a": 1}}), "headers"),
        ("mock", json!({"url": "/x", "body": "x".repeat(1024 * 1024 + 1)}), "body"),
        ("mock", json!({"body": "x"}), "url"),
        ("unmock", json!({"url": "/never"}), "/never"),
        ("intercept", json!({"patterns": []}), "enabled"),
        ("intercept", json!({"enabled": true, "patterns": [{"url": "x"}]}), "urlPattern"),
        ("set_headers", json!({}), "headers"),
        ("set_headers", json!({"headers": {"Host": "x"}}), "Host"),
        ("set_headers", json!({"headers": {"Content-Length": "1"}}), "Content-Length"),
        ("set_headers", json!({"headers": {"X": "a\nb"}}), "X"),
    ] {
        let args = with(json!({"action": action}), args);
        let words = stage.client.fails("browser_network", args, codes).await;
        assert!(words.contains(named), "{action}: {named} in {words}");
    }
    assert_eq!(got(&stage, "'/echo'", json!({})).await["status"], 200, "nothing is mocked");
}
