//! What a page costs: numbers that agree with the page's own, and a trace of what it did.

use serde_json::{Value, json};

use crate::{
    pictures::decode,
    processes,
    stage::{Stage, until_it_works, with},
};

async fn debug(stage: &Stage, action: &str, more: Value) -> Value {
    stage.client.call("browser_debug", with(json!({ "action": action }), more)).await
}

#[tokio::test]
async fn numbers_agree_with_the_pages_own() {
    let stage = &Stage::at("/timings.html").await;
    let wait = json!({"action": "wait", "expression": "measures().loaded > 0"});
    stage.client.call("browser_navigate", wait).await;
    // A page may be drawn after it has loaded.
    let drawn = "new Promise((done) => new PerformanceObserver(() => done(true))\
        .observe({ type: 'largest-contentful-paint', buffered: true }))";
    assert_eq!(stage.client.evaluate(drawn).await, true);
    let told = debug(stage, "performance", json!({})).await;
    stage.client.evaluate("report('measures', measures())").await;
    let own = stage.site.report("measures").await;
    let near = |told: &Value, own: &Value| {
        let (told, own) = (told.as_f64().unwrap_or(-1.0), own.as_f64().unwrap());
        assert!((told - own).abs() <= 0.1, "{told}, not {own}");
    };
    let timing = &told["timing"];
    near(&timing["domContentLoadedMs"], &own["ready"]);
    near(&timing["loadMs"], &own["loaded"]);
    assert!(timing["ttfbMs"].as_f64() <= timing["loadMs"].as_f64(), "{told}");
    for drawn in ["firstPaintMs", "firstContentfulPaintMs", "largestContentfulPaintMs"] {
        assert!(timing[drawn].as_f64() > Some(0.0), "{drawn}: {told}");
    }
    assert_eq!(timing["cumulativeLayoutShift"].as_f64(), Some(0.0), "{told}");
    let resources = &told["resources"];
    assert_eq!((&resources["count"], &resources["bytes"]), (&own["parts"], &own["bytes"]));
    assert!(told["metrics"]["nodes"].as_f64() >= own["nodes"].as_f64(), "{told}");
    // Work is counted from when it was first asked for.
    assert!(told["metrics"]["layouts"].is_null(), "{told}");
    stage.client.evaluate("work('a'), at('out').offsetHeight").await;
    let later = debug(stage, "performance", json!({})).await;
    assert!(later["metrics"]["layouts"].as_u64() >= Some(1), "{later}");
    assert!(later["metrics"]["countedMs"].as_f64() > Some(0.0), "{later}");
    assert!(told["metrics"]["heapUsedBytes"].as_f64() > Some(0.0), "{told}");
    let words = stage.client.text("browser_debug", json!({"action": "performance"})).await;
    assert!(words.starts_with("times since the start: first byte "), "{words}");
    assert!(words.contains(" ms, loaded ") && words.contains("resources: requests "), "{words}");
}

#[tokio::test]
async fn a_trace_has_what_the_page_did() {
    let stage = &Stage::at("/timings.html").await;
    let words = stage.client.fails("browser_debug", json!({"action": "trace_stop"}), "NO_TRACE");
    assert!(words.await.contains("trace_start"));
    let marks = json!({"categories": ["blink.user_timing"]});
    debug(stage, "trace_start", marks).await;
    let again = json!({"action": "trace_start"});
    let words = stage.client.fails("browser_debug", again, "TRACE_RUNNING").await;
    assert!(words.contains("one at a time") && words.contains("trace_stop"), "{words}");
    stage.client.evaluate("work('a mark of the page')").await;
    let told = debug(stage, "trace_stop", json!({})).await;
    let data = told["file"]["data"].as_str().unwrap_or_else(|| panic!("{told}"));
    let trace: Value = serde_json::from_slice(&decode(data)).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert_eq!(told["events"], events.len());
    assert!(events.iter().any(|event| event["name"] == "a mark of the page"), "{trace}");
    assert!(told["ms"].as_u64().is_some() && told["endedBecause"].is_null(), "{told}");
    // Again, with the usual categories, which have the page's own work.
    debug(stage, "trace_start", json!({})).await;
    stage.client.evaluate("work('another')").await;
    let told = debug(stage, "trace_stop", json!({})).await;
    assert!(told["events"].as_u64() > Some(20), "{told}");
    stage.client.fails("browser_debug", json!({"action": "trace_stop"}), "NO_TRACE").await;
}

#[tokio::test]
async fn a_trace_that_is_full_ends_by_itself_and_says_so() {
    let stage = &Stage::at("/timings.html").await;
    debug(stage, "trace_start", json!({"categories": ["blink.user_timing"]})).await;
    let many = "for (let n = 0; n < 50000; n++) performance.mark('m'.repeat(100) + n), \
        performance.clearMarks()";
    stage.client.evaluate(many).await;
    let told = debug(stage, "trace_stop", json!({})).await;
    assert_eq!(told["endedBecause"], "the buffer was full");
    assert!(told["file"]["bytes"].as_u64() <= Some(8 << 20), "{told}");
    assert!(told["events"].as_u64() > Some(1000), "{told}");
}

#[tokio::test]
async fn a_trace_ends_with_its_tab() {
    let stage = &Stage::at("/timings.html").await;
    let tab = stage.client.new_tab(&stage.site.url("/timings.html")).await;
    debug(stage, "trace_start", json!({ "tab": tab })).await;
    stage.client.tab("close", json!({ "tab": tab })).await;
    stage.open("/timings.html").await;
    let stop = json!({"action": "trace_stop"});
    let words = stage.client.fails("browser_debug", stop, "NO_TRACE").await;
    assert!(words.contains("closed") || words.contains("detached"), "{words}");
    debug(stage, "trace_start", json!({})).await;
    debug(stage, "trace_stop", json!({})).await;
}

#[tokio::test]
async fn a_trace_goes_on_when_the_worker_dies() {
    let stage = &Stage::alone().await;
    stage.open("/timings.html").await;
    debug(stage, "trace_start", json!({"categories": ["blink.user_timing"]})).await;
    processes::kill_worker(&stage.hub).await;
    let args = json!({"expression": "work('after the death')"});
    until_it_works(async || stage.client.result("browser_execute", args.clone()).await).await;
    let told = debug(stage, "trace_stop", json!({})).await;
    let trace = decode(told["file"]["data"].as_str().unwrap_or_else(|| panic!("{told}")));
    assert!(String::from_utf8_lossy(&trace).contains("after the death"), "{told}");
}

#[tokio::test]
async fn wrong_arguments_are_named_with_what_is_right() {
    let stage = &Stage::at("/timings.html").await;
    for (action, more, part) in [
        ("trace_start", json!({"categories": "all"}), "categories"),
        ("trace_start", json!({"categories": ["no such thing"]}), "devtools.timeline"),
        ("trace_stop", json!({"categories": []}), "trace_start"),
        ("performance", json!({"level": "all"}), "console"),
    ] {
        let args = with(json!({ "action": action }), more);
        let codes = "invalid_argument|INVALID_ARGUMENT";
        let words = stage.client.fails("browser_debug", args.clone(), codes).await;
        assert!(words.contains(part), "{args}: {part:?} not in {words}");
    }
}
