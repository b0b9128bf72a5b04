//! Requests of a tab: listed, shown in full, awaited, answered by mocks, with headers that go along.

use serde_json::{Value, json};
use testkit::eventually;

use crate::{
    processes,
    stage::{Driver, Stage, until_it_works, with},
};

async fn network(client: &Driver, action: &str, more: Value) -> Value {
    client.call("browser_network", with(json!({"action": action}), more)).await
}

async fn text(client: &Driver, action: &str, more: Value) -> String {
    client.text("browser_network", with(json!({"action": action}), more)).await
}

async fn requests(client: &Driver, more: Value) -> Vec<Value> {
    network(client, "requests", more).await["requests"].as_array().unwrap().clone()
}

/// Has the page ask for something; returns what it got. What it asked for earlier may be told late.
async fn got(stage: &Stage, call: &str, more: Value) -> Value {
    stage.site.forget();
    let args = with(json!({"expression": format!("get({call})")}), more);
    stage.client.call("browser_execute", args).await;
    let path = call.split('\'').nth(1).unwrap();
    eventually(&format!("the page got {path}"), async || {
        stage.site.reports("got").into_iter().find(|told| told["path"] == path)
    })
    .await
}

/// Waits until the log has a request that fits; returns all that do.
async fn logged(client: &Driver, wanted: Value) -> Vec<Value> {
    eventually(&format!("{wanted} is in the log"), async || {
        Some(requests(client, wanted.clone()).await).filter(|list| !list.is_empty())
    })
    .await
}

/// Returns the number of the only request that fits, once it has ended.
async fn ended(client: &Driver, url: &str) -> String {
    let what = format!("{url} is in the log");
    let found = eventually(&what, async || {
        let list = requests(client, json!({"url": url})).await;
        list.into_iter().find(|request| request["ms"].is_u64())
    });
    found.await["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn addresses(list: &[Value]) -> Vec<&str> {
    list.iter().map(|request| request["url"].as_str().unwrap()).collect()
}

async fn requests_are_listed_with_filters_and_a_cursor(stage: &Stage) {
    stage.open("/network.html").await;
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

async fn one_request_is_shown_with_headers_and_bodies_and_without_secrets(stage: &Stage) {
    stage.open("/network.html").await;
    let client = &stage.client;
    client.evaluate("document.cookie = 'login=verysecret'").await;
    let options = "{method: 'POST', headers: {Authorization: 'Bearer verysecret', 'X-Mine': 'yes'}, \
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
    assert!(shown.contains("request body:\nuser=me&password=•••"), "{shown}");

    client
        .evaluate("fetch('/paper.pdf').then((it) => it.arrayBuffer()).then(() => report('read'))")
        .await;
    stage.site.report("read").await;
    let id = ended(client, "/paper.pdf").await;
    let file = network(client, "request", json!({"id": id, "part": "response"})).await;
    assert_eq!(file["file"]["mimeType"], "application/pdf", "{file}");
    got(stage, "'/redirect?to=/data?three'", json!({})).await;
    let id = ended(client, "/redirect?to=/data?three").await;
    let told = text(client, "request", json!({"id": id})).await;
    assert!(told.contains("a redirect"), "{told}");
}

async fn a_request_is_awaited(stage: &Stage) {
    stage.open("/network.html").await;
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
async fn requests_are_listed_shown_and_awaited() {
    let stage = Stage::start().await;
    requests_are_listed_with_filters_and_a_cursor(&stage).await;
    one_request_is_shown_with_headers_and_bodies_and_without_secrets(&stage).await;
    a_request_is_awaited(&stage).await;
}

async fn a_mock_answers_instead_of_the_site_also_after_a_reload(stage: &Stage) {
    stage.open("/network.html").await;
    let client = &stage.client;
    // What the first page got is told before what the next one gets.
    stage.site.report("got").await;
    let mock = json!({"url": "/data?start", "status": 201, "body": "{\"mocked\":true}"});
    let mocked = text(client, "mock", mock).await;
    assert!(mocked.contains("/data?start gets 201"), "{mocked}");
    stage.site.forget();
    let asked = stage.site.asked().len();
    client.call("browser_navigate", json!({"action": "reload"})).await;
    let told = stage.site.report("got").await;
    assert_eq!(told["status"], 201, "{told}");
    assert_eq!(told["body"], "{\"mocked\":true}");
    assert_eq!(told["kind"], "application/json");
    network(client, "mock", json!({"url": "/data?loaded", "body": "loaded"})).await;
    let clicked = client.click("#load").await;
    assert_eq!(clicked.get("busy"), None, "a mocked request has an end: {clicked}");
    stage.site.reported("got", json!({
        "path": "/data?loaded", "status": 200, "kind": "text/plain; charset=utf-8", "body": "loaded",
    }))
    .await;
    let asked = stage.site.asked().split_off(asked);
    assert!(!asked.iter().any(|path| path == "/data?start"), "{asked:?}");

    // Another tab of the same client goes to the site itself.
    stage.site.forget();
    let other = client.new_tab(&stage.site.url("/network.html")).await;
    let told = stage.site.report("got").await;
    assert_eq!(told["status"], 200, "{told}");
    client.tab("close", json!({"tab": other})).await;
}

async fn mocks_have_methods_ends_and_failures(stage: &Stage) {
    let client = &stage.client;
    let tab = client.new_tab(&stage.site.url("/network.html")).await;
    let here = json!({"tab": tab});
    let on = |more: Value| with(json!({"tab": tab}), more);
    let headers = json!({"X-Mock": "yes", "Content-Type": "text/csv"});
    let mock = json!({"url": "/data?m", "method": "POST", "body": "a,b", "headers": headers});
    network(client, "mock", on(mock)).await;
    network(client, "mock", on(json!({"url": "*/data?twice", "times": 1, "body": "once"}))).await;
    network(client, "mock", on(json!({"url": "/data.f/", "fail": true}))).await;
    let posted = got(stage, "'/data?m', {method: 'POST'}", here.clone()).await;
    assert_eq!((&posted["body"], &posted["kind"]), (&json!("a,b"), &json!("text/csv")));
    let gotten = got(stage, "'/data?m'", here.clone()).await;
    assert_eq!(gotten["kind"], "application/json", "another method is not mocked: {gotten}");
    assert_eq!(got(stage, "'/data?twice'", here.clone()).await["body"], "once");
    assert_ne!(got(stage, "'/data?twice'", here.clone()).await["body"], "once");
    assert_eq!(got(stage, "'/data?f'", here.clone()).await["failed"], true);
    let failed = eventually("the failure is in the log", async || {
        let list = requests(client, on(json!({"url": "/data?f"}))).await;
        list.into_iter().find(|request| request["error"].is_string())
    })
    .await;
    assert!(failed["error"].as_str().unwrap().contains("BLOCKED_BY_CLIENT"), "{failed}");

    let words = client
        .fails(
            "browser_network",
            on(json!({"action": "unmock", "url": "/nothing"})),
            "INVALID_ARGUMENT",
        )
        .await;
    assert!(words.contains("/nothing") && words.contains("/data?m"), "{words}");
    network(client, "unmock", on(json!({"url": "/data?m"}))).await;
    let posted = got(stage, "'/data?m', {method: 'POST'}", here.clone()).await;
    assert_eq!(posted["kind"], "application/json", "{posted}");
    let left = network(client, "unmock", here.clone()).await;
    assert_eq!(left["mocks"], json!([]));
    assert_eq!(got(stage, "'/data?f'", here).await["status"], 200);
    client.tab("close", json!({"tab": tab})).await;
}

async fn what_is_intercepted_is_blocked_until_it_is_let_through(stage: &Stage) {
    stage.open("/network.html").await;
    let client = &stage.client;
    let patterns =
        json!([{"urlPattern": "*/data?b*"}, {"urlPattern": "*", "resourceType": "image"}]);
    network(client, "intercept", json!({"enabled": true, "patterns": patterns})).await;
    assert_eq!(got(stage, "'/data?blocked'", json!({})).await["failed"], true);
    assert_eq!(got(stage, "'/data?open'", json!({})).await["status"], 200);
    network(client, "intercept", json!({"enabled": false})).await;
    assert_eq!(got(stage, "'/data?blocked'", json!({})).await["status"], 200);
}

async fn a_frame_of_another_site_is_mocked_and_listed_too(stage: &Stage) {
    let client = &stage.client;
    let tab = client.new_tab(&stage.site.url("/tab.html")).await;
    let on = |more: Value| with(json!({"tab": tab}), more);
    network(client, "mock", on(json!({"url": "/data?start-framed", "body": "mocked"}))).await;
    stage.site.forget();
    let go = json!({"url": stage.site.url("/network-frame.html"), "tab": tab});
    client.call("browser_navigate", go).await;
    let told = stage.site.report("got").await;
    assert_eq!(told["body"], "mocked", "{told}");
    let list = logged(client, on(json!({"url": "start-framed"}))).await;
    assert_eq!(addresses(&list), [stage.site.elsewhere("/data?start-framed")]);
    client.tab("close", json!({"tab": tab})).await;
}

async fn workers_of_a_page_go_on_and_are_mocked_too(stage: &Stage) {
    stage.open("/network.html").await;
    let client = &stage.client;
    network(client, "mock", json!({"url": "/data?worker", "body": "mocked"})).await;
    for (start, expected) in [
        ("worker('Worker')", "mocked"),
        ("worker('SharedWorker')", "up"),
        ("navigator.serviceWorker.register('/worker.js').then((it) => it.scope && 'up')", "up"),
    ] {
        stage.site.forget();
        let expression = format!("void {start}.then((it) => report('worker', it))");
        client.evaluate(&expression).await;
        assert_eq!(stage.site.report("worker").await, expected, "{start}");
    }
    // The worker's request is in the log.
    logged(client, json!({"url": "/data?worker", "status": 200})).await;
    network(client, "unmock", json!({})).await;
}

#[tokio::test]
async fn requests_are_mocked_in_their_own_tab_and_blocked() {
    let stage = Stage::start().await;
    a_mock_answers_instead_of_the_site_also_after_a_reload(&stage).await;
    mocks_have_methods_ends_and_failures(&stage).await;
    what_is_intercepted_is_blocked_until_it_is_let_through(&stage).await;
    a_frame_of_another_site_is_mocked_and_listed_too(&stage).await;
    workers_of_a_page_go_on_and_are_mocked_too(&stage).await;
}

#[tokio::test]
async fn mocks_survive_the_worker_and_end_with_their_client() {
    let stage = Stage::at("/network.html").await;
    let (site, client) = (&stage.site, &stage.client);
    let tabs = client.tab("list", json!({})).await;
    let own = tabs["tabs"].as_array().unwrap().iter().find(|tab| tab["owner"] == "yours").unwrap();
    let tab = own["tab"].clone();
    network(client, "mock", json!({"url": "/data?loaded", "body": "mocked"})).await;
    let before = ended(client, "/data?start").await;
    processes::kill_worker(&stage.hub).await;
    let load = json!({"action": "click", "selector": "#load"});
    until_it_works(async || client.result("browser_interact", load.clone()).await).await;
    site.reported("got", json!({
        "path": "/data?loaded", "status": 200, "kind": "text/plain; charset=utf-8", "body": "mocked",
    }))
    .await;
    let list = requests(client, json!({})).await;
    let ids: Vec<_> = list.iter().map(|request| request["id"].as_str().unwrap()).collect();
    assert!(ids.contains(&before.as_str()), "the log is still there: {ids:?}");
    let mut apart = ids.clone();
    apart.sort_unstable();
    apart.dedup();
    assert_eq!(apart.len(), ids.len(), "no number is given twice: {ids:?}");

    client.tab("release", json!({"tab": tab})).await;
    let other = stage.another_client("another");
    eventually("the mock is gone", async || {
        site.forget();
        other.interact("click", json!({"selector": "#load", "tab": tab})).await;
        (site.report("got").await["body"] != "mocked").then_some(())
    })
    .await;
}

#[tokio::test]
async fn headers_go_along_and_ended_requests_are_told_as_events() {
    let stage = Stage::at("/network.html").await;
    let client = &stage.client;
    ended(client, "/data?start").await;
    let headers = json!({"X-Tabwire": "there", "Accept-Language": "eo"});
    let told = text(client, "set_headers", json!({"headers": headers})).await;
    assert!(told.contains("X-Tabwire"), "{told}");
    let echoed = got(&stage, "'/echo'", json!({})).await;
    let echoed: Value = serde_json::from_str(echoed["body"].as_str().unwrap()).unwrap();
    assert_eq!(echoed["headers"]["x-tabwire"], "there", "{echoed}");
    assert_eq!(echoed["headers"]["accept-language"], "eo", "{echoed}");
    network(client, "set_headers", json!({"headers": {}})).await;
    let echoed = got(&stage, "'/echo'", json!({})).await;
    assert!(!echoed["body"].as_str().unwrap().contains("x-tabwire"), "{echoed}");

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

#[tokio::test]
async fn a_tab_has_so_many_mocks_and_no_more() {
    let stage = Stage::at("/network.html").await;
    for number in 0..50 {
        network(&stage.client, "mock", json!({"url": format!("/mock/{number}")})).await;
    }
    let more = json!({"action": "mock", "url": "/one/more"});
    let words = stage.client.fails("browser_network", more, "TOO_LARGE").await;
    assert!(words.contains("50"), "{words}");
}
