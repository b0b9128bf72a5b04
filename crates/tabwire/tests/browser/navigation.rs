//! Going to addresses, back, forth and again: what the answer says, and what the page says.

use serde_json::{Value, json};
use testkit::Site;
use tokio::net::TcpSocket;

use crate::stage::{Driver, Stage, with};

async fn navigate(client: &Driver, action: &str, more: Value) -> Value {
    client.call("browser_navigate", with(json!({"action": action}), more)).await
}

fn count(site: &Site, path: &str) -> usize {
    site.asked().iter().filter(|asked| *asked == path).count()
}

/// Returns an address at which nobody listens, nor will while the socket is kept.
fn nobody() -> (TcpSocket, String) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/", socket.local_addr().unwrap());
    (socket, url)
}

#[tokio::test]
async fn an_address_opens_a_tab_for_a_client_without_one_and_the_answer_says_where_it_led() {
    let Stage { site, client, .. } = &Stage::start().await;
    let to = site.url("/start.html");
    let words = client.text("browser_navigate", json!({"url": to})).await;
    assert!(words.starts_with("opened tab ") && words.contains(&to), "{words}");
    site.reported("start", json!("/start.html")).await;
    let list = client.tab("list", json!({})).await;
    let own: Vec<_> =
        list["tabs"].as_array().unwrap().iter().filter(|it| it["url"] == to).collect();
    assert_eq!((own.len(), &own[0]["owner"]), (1, &json!("yours")));

    let led = client.go(&site.url("/redirect?to=/arrived.html")).await;
    site.reported("arrived", json!("/arrived.html")).await;
    assert_eq!((&led["url"], &led["navigated"]), (&json!(site.url("/arrived.html")), &json!(true)));
    assert_eq!((&led["title"], &led["status"]), (&json!("Arrived"), &json!(200)));
    let list = client.tab("list", json!({})).await;
    let same = list["tabs"].as_array().unwrap().iter().filter(|it| it["tab"] == own[0]["tab"]);
    assert_eq!(same.map(|it| &it["url"]).collect::<Vec<_>>(), [&led["url"]]);
}

#[tokio::test]
async fn the_status_of_what_was_loaded_is_told() {
    let Stage { site, client, .. } = &Stage::at("/start.html").await;
    let missing = client.go(&site.url("/status/404")).await;
    assert_eq!((&missing["status"], &missing["title"]), (&json!(404), &json!("404")));
    let words = client.text("browser_navigate", json!({"url": site.url("/status/503")})).await;
    assert!(words.contains("status: 503"), "{words}");
}

#[tokio::test]
async fn an_address_that_fails_is_told_with_the_browsers_reason_and_the_tab_goes_on_working() {
    let Stage { site, client, .. } = &Stage::at("/start.html").await;
    let (_kept, refused) = nobody();
    for (url, reason) in [
        (refused, "ERR_CONNECTION_REFUSED"),
        ("http://nowhere.invalid/".into(), "ERR_NAME_NOT_RESOLVED"),
    ] {
        let words =
            client.fails("browser_navigate", json!({"url": url}), "NAVIGATION_FAILED").await;
        assert!(words.contains(reason), "{words}");
    }
    client.go(&site.url("/arrived.html")).await;
    assert_eq!(client.evaluate("document.title").await, "Arrived");
}

#[tokio::test]
async fn a_load_is_awaited_as_far_as_the_client_wants() {
    let Stage { site, client, .. } = &Stage::start().await;
    let image = site.url("/late.html?image-never");
    // The image is never answered before this returns.
    let args = json!({"url": image, "waitUntil": "domcontentloaded"});
    assert_eq!(client.call("browser_navigate", args).await["url"], image);
    assert_eq!(client.seen(site, json!({})).await, [""; 0]);
    assert_eq!(client.evaluate("document.readyState").await, "interactive");

    let image = site.url("/late.html?image");
    let wanted = client.call("browser_navigate", json!({"url": image, "waitUntil": "load"}));
    let (loaded, ()) = tokio::join!(wanted, async {
        site.until_asked("/hold/image").await;
        site.let_go("image");
    });
    assert_eq!(loaded["url"], image);
    assert_eq!(client.seen(site, json!({})).await, ["load"]);

    let fetch = site.url("/late.html?fetch");
    let wanted = client.call("browser_navigate", json!({"url": fetch, "waitUntil": "networkidle"}));
    let ((), _) = tokio::join!(
        async {
            site.until_asked("/hold/fetch").await;
            site.let_go("fetch");
        },
        wanted
    );
    assert_eq!(client.seen(site, json!({})).await, ["load", "fetched"]);
}

#[tokio::test]
async fn a_load_that_takes_too_long_is_told_within_its_time() {
    let Stage { site, client, .. } = &Stage::at("/start.html").await;
    let args = json!({"url": site.url("/hold/never"), "timeoutMs": 500});
    let words = client.fails("browser_navigate", args, "TIMEOUT").await;
    assert!(words.contains("500"), "{words}");
    client.go(&site.url("/arrived.html")).await;
    site.reported("arrived", json!("/arrived.html")).await;
}

#[tokio::test]
async fn back_and_forward_lead_where_they_say() {
    let Stage { site, client, .. } = &Stage::start().await;
    client.go(&site.url("/start.html?1")).await;
    client.go(&site.url("/arrived.html")).await;
    site.forget();
    let back = navigate(client, "back", json!({})).await;
    assert_eq!(back["url"], site.url("/start.html?1"));
    site.reported("start", json!("/start.html?1")).await;
    let forward = navigate(client, "forward", json!({})).await;
    assert_eq!(forward["url"], site.url("/arrived.html"));
    site.reported("arrived", json!("/arrived.html")).await;
    let args = json!({"action": "forward"});
    let words = client.fails("browser_navigate", args, "NAVIGATION_FAILED").await;
    assert!(words.contains("forward"), "{words}");
}

#[tokio::test]
async fn a_reload_loads_again_and_uses_the_cache_unless_told_otherwise() {
    let Stage { site, client, .. } = &Stage::at("/start.html?1").await;
    client.go(&site.url("/start.html?2")).await;
    let parts = count(site, "/cached/part.js");
    assert_eq!(navigate(client, "reload", json!({})).await["url"], site.url("/start.html?2"));
    assert_eq!((count(site, "/start.html?2"), count(site, "/cached/part.js")), (2, parts));
    navigate(client, "reload", json!({"ignoreCache": true})).await;
    assert_eq!((count(site, "/start.html?2"), count(site, "/cached/part.js")), (3, parts + 1));
}
