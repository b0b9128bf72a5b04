//! Tools that pages declare: listed, called, checked, announced, and gone with their document.

use serde_json::{Value, json};
use testkit::eventually;

use crate::stage::{Driver, Stage, with};

/// How often a page is loaded whose frame the browser has forgotten.
const TRIES: usize = 10;

async fn list(client: &Driver) -> Vec<String> {
    let listed = client.call("page_tools", json!({"action": "list"})).await;
    let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    let mut names: Vec<_> =
        tools.iter().map(|tool| tool["tool"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// Whether a tool is in the newest that the hub was told of the client's tab, without asking for
/// its tools.
async fn is_told(stage: &Stage, wanted: &str) -> bool {
    let own = stage.client.listed("the client's tab", |tab| tab["owner"] == "yours").await;
    let is_it =
        |entry: &Value| entry["kind"] == "toolsChanged" && entry["body"]["tabId"] == own["tab"];
    let (mut newest, mut since) = (None, 0);
    loop {
        let page = stage.hub.api().feed_page(&stage.session, since, 1000).await;
        let entries = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
        if entries.is_empty() {
            return newest.is_some_and(|entry: Value| entry.to_string().contains(wanted));
        }
        newest = entries.iter().rev().find(|entry| is_it(entry)).cloned().or(newest);
        since = page["next"].as_u64().unwrap();
    }
}

/// Opens a page and waits until the hub was told of one of its tools.
async fn open(path: &str, tool: &str) -> Stage {
    let stage = Stage::at(path).await;
    let what = format!("{tool} is told");
    eventually(&what, async || is_told(&stage, tool).await.then_some(())).await;
    stage
}

/// Opens a page anew until the browser tells the page itself what its frame declares. Chrome 156 never
/// does for some frames that load while the machine is busy.
async fn until_the_frame_is_answered(stage: &Stage, path: &str) {
    const ASKED: &str = "Promise.race([
        frames[0].document.modelContext.getTools().then(() => 'answered'),
        new Promise((resolve) => setTimeout(resolve, 2000, 'silent')),
    ])";
    for _ in 0..TRIES {
        let asked = stage.client.text("browser_execute", json!({"expression": ASKED})).await;
        if asked == "answered" {
            return;
        }
        stage.open(path).await;
    }
    panic!("{TRIES} times the browser did not say what a frame declares");
}

fn calling(tool: &str, args: Value) -> Value {
    json!({"action": "call", "tool": tool, "args": args})
}

const OWN: [&str; 6] =
    ["add_to_cart", "book_table", "fails", "never_ends", "search_shop", "tell_time"];

#[tokio::test]
async fn tools_of_a_page_its_forms_and_frames_are_listed_and_called() {
    let stage = open("/pagetools.html", "add_to_cart").await;
    until_the_frame_is_answered(&stage, "/pagetools.html").await;
    let Stage { client, .. } = &stage;
    eventually("all tools are declared", async || (list(client).await == OWN).then_some(())).await;
    let found = client.text("page_tools", json!({"action": "find", "query": "cart"})).await;
    assert!(found.contains("add_to_cart") && !found.contains("tell_time"), "{found}");
    assert!(found.contains(&stage.site.url("/pagetools.html")), "whose it is: {found}");

    let called = calling("add_to_cart", json!({"article": "lamp", "count": 2}));
    let answer = client.call("page_tools", called).await;
    assert_eq!(answer, json!({"cart": ["lamp"], "count": 2}));
    assert_eq!(stage.seen().await, ["added 2 lamp"]);
    let time = client.text("page_tools", calling("tell_time", json!({}))).await;
    assert!(time.contains("half past three"), "{time}");
}

#[tokio::test]
async fn what_does_not_fit_the_schema_never_reaches_the_page() {
    let stage = open("/pagetools.html", "add_to_cart").await;
    let Stage { client, .. } = &stage;
    for (args, part) in [
        (json!({}), "`article`"),
        (json!({"article": 7}), "`article`"),
        (json!({"article": "lamp", "count": 0}), "`count`"),
    ] {
        let said = client.fails("page_tools", calling("add_to_cart", args), "invalid_argument");
        let said = said.await;
        assert!(said.contains(part), "{said}");
    }
    let said = client.fails("page_tools", calling("fly", json!({})), "unknown_tool").await;
    assert!(said.contains("fly"), "{said}");
    let said = client.fails("page_tools", json!({"action": "call"}), "invalid_argument").await;
    assert!(said.contains("`tool`"), "{said}");
    assert!(stage.seen().await.is_empty());
    let said = client.fails("page_tools", calling("fails", json!({})), "PAGE_TOOL_FAILED").await;
    assert!(said.contains("fails"), "{said}");
}

#[tokio::test]
async fn a_form_is_filled_and_waits_for_the_user_to_submit_it() {
    let stage = open("/pagetools.html", "book_table").await;
    let Stage { client, .. } = &stage;
    let called = calling("book_table", json!({"guest": "Ada", "seats": 4}));
    let waiting = client.call("page_tools", called).await;
    let button = waiting["ref"].as_str().unwrap_or_else(|| panic!("{waiting}"));
    assert!(stage.seen().await.is_empty(), "submitting is the user's step");
    client.call("browser_interact", json!({"action": "click", "ref": button})).await;
    let booked = stage.seen().await;
    assert!(booked[0].starts_with("booked Ada 4"), "{booked:?}");
}

#[tokio::test]
async fn a_form_that_says_so_submits_itself() {
    let stage = open("/pagetools.html", "search_shop").await;
    let Stage { client, site, .. } = &stage;
    let called = calling("search_shop", json!({"q": "lamp"}));
    client.call("page_tools", called).await;
    let here = client.text("browser_execute", json!({"expression": "location.href"})).await;
    assert_eq!(here, format!("{}?q=lamp", site.url("/arrived.html")));
}

#[tokio::test]
async fn changes_are_announced_and_tools_end_with_their_document() {
    // Tools are told unasked.
    let stage = open("/pagetools.html", "add_to_cart").await;
    let Stage { client, .. } = &stage;
    let told = async |wanted: &str| is_told(&stage, wanted).await;
    client.click("#more").await;
    eventually("a new one is told", async || told("late_tool").await.then_some(())).await;
    let late = client.text("page_tools", calling("late_tool", json!({}))).await;
    assert!(late.contains("late"), "{late}");
    client.click("#less").await;
    eventually("its end is told", async || (!told("late_tool").await).then_some(())).await;
    stage.open("/start.html").await;
    eventually("they are gone", async || (!told("add_to_cart").await).then_some(())).await;
    assert!(list(client).await.is_empty());
    let called = calling("add_to_cart", json!({"article": "lamp"}));
    client.fails("page_tools", called, "unknown_tool").await;
}

#[tokio::test]
async fn pages_of_trusted_origins_have_their_tools_in_the_list() {
    let stage = Stage::with(&["--direct-page-tools", "*"]).await;
    let Stage { client, .. } = &stage;
    stage.open("/pagetools.html").await;
    let listed = eventually("the tool is listed", async || {
        let listed = client.definitions().await;
        listed.into_iter().find(|tool| tool["name"] == "page.add_to_cart")
    });
    let listed = listed.await;
    let description = listed["description"].as_str().unwrap();
    assert!(description.starts_with("(untrusted, declared by http://"), "{description}");
    let added = client.call("page.add_to_cart", json!({"article": "lamp"})).await;
    assert_eq!(added["cart"], json!(["lamp"]));
    assert_eq!(stage.seen().await, ["added 1 lamp"]);
    client.fails("page.add_to_cart", json!({"article": 7}), "invalid_argument").await;
    stage.open("/start.html").await;
    eventually("it is gone with its page", async || {
        let listed = client.definitions().await;
        (!listed.iter().any(|tool| tool["name"] == "page.add_to_cart")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn older_libraries_are_understood() {
    let stage = open("/pagetools-old.html", "greet").await;
    let Stage { client, .. } = &stage;
    eventually("it is listed", async || (list(client).await == ["greet"]).then_some(())).await;
    let said = client.text("page_tools", calling("greet", json!({"who": "Ada"}))).await;
    assert!(said.contains("hello Ada"), "{said}");
    assert_eq!(stage.seen().await, ["greet Ada"]);
    let called = calling("greet", json!({"who": "nobody"}));
    let said = client.fails("page_tools", called, "PAGE_TOOL_FAILED").await;
    assert!(said.contains("there is nobody"), "{said}");
    let called = with(calling("greet", json!({"who": "Bob"})), json!({"tab": 999_999}));
    client.fails("page_tools", called, "unknown_tab").await;
}
