//! JavaScript of the client in the page's own world: values, promises, exceptions, limits.

use serde_json::{Value, json};

use crate::stage::Stage;

#[tokio::test]
async fn a_value_comes_back_as_it_is_and_what_the_script_did_is_done() {
    let Stage { site, client, .. } = &Stage::at("/start.html").await;
    for (expression, expected) in [
        ("1 + 1", json!(2)),
        ("'a' + \"b\\n\"", json!("ab\n")),
        ("({a: [1, null, {b: true}]})", json!({"a": [1, null, {"b": true}]})),
        ("undefined", json!(null)),
        ("document.querySelector('.nothing')", json!(null)),
        ("Promise.resolve(7)", json!(7)),
        ("new Promise((done) => setTimeout(() => done('late'), 50))", json!("late")),
        ("(async () => { await 0; return location.pathname })()", json!("/start.html")),
        ("const once = 3; once * 2", json!(6)),
        ("const once = 4; once * 2", json!(8)),
    ] {
        assert_eq!(client.evaluate(expression).await, expected, "{expression}");
    }
    client.evaluate("document.body").await;
    client.evaluate("at('on').textContent = 'Off'; note('ran'); report('ran', 1)").await;
    site.reported("ran", json!(1)).await;
    assert_eq!(client.seen(site, json!({})).await, ["ran"]);
    let waiting = json!({"expression": "new Promise(() => {})", "awaitPromise": false});
    client.call("browser_execute", waiting).await;
}

#[tokio::test]
async fn what_a_script_throws_is_told_in_its_own_words() {
    let Stage { client, .. } = &Stage::at("/start.html").await;
    for (expression, words) in [
        ("throw new Error('kaboom')", "kaboom"),
        ("throw 'just text'", "just text"),
        ("nobody.knows", "nobody is not defined"),
        ("Promise.reject(new TypeError('not today'))", "not today"),
        ("this is no script", "SyntaxError"),
    ] {
        let args = json!({"expression": expression});
        let told = client.fails("browser_execute", args, "EVALUATION_FAILED").await;
        assert!(told.contains(words), "{expression}: {told}");
    }
    let args = json!({"expression": "new Promise(() => {})", "timeoutMs": 500});
    client.fails("browser_execute", args, "TIMEOUT|PAGE_UNRESPONSIVE|timed_out").await;
    assert_eq!(client.evaluate("2 + 2").await, 4);
}

#[tokio::test]
async fn a_page_with_a_strict_policy_is_driven_like_any_other() {
    let Stage { site, client, .. } = &Stage::at("/strict.csp.html").await;
    let out = client.evaluate("at('out').textContent = 'by script'; at('out').textContent").await;
    assert_eq!(out, "by script");
    assert_eq!(client.evaluate("eval('6 * 7')").await, 42);
    let mark = client.reference("button \"Mark\"").await;
    client.interact("click", json!({"ref": mark})).await;
    let found = json!({"action": "wait", "text": "by script"});
    assert_eq!(client.call("browser_navigate", found).await["found"], true);
    assert_eq!(client.seen(site, json!({})).await, ["click mark"]);
}

#[tokio::test]
async fn a_large_value_is_cut_and_says_so() {
    let Stage { client, .. } = &Stage::at("/start.html").await;
    for expression in ["'x'.repeat(100000)", "Array.from({length: 30000}, (_, n) => n)"] {
        let result = client.works("browser_execute", json!({"expression": expression})).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.len() < 26_000, "{} bytes", text.len());
        assert!(text.contains("characters are left out"), "{}", &text[text.len() - 200..]);
        assert_eq!(result["structuredContent"]["truncated"], true);
    }
    // Too large for the way to the hub: an error that says so, or the same cut.
    let args = json!({"expression": "'x'.repeat(80000000)"});
    let result: Value = client.result("browser_execute", args).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() < 26_000, "{} bytes", text.len());
    assert_eq!(client.evaluate("5 * 5").await, 25);
}
