//! Whole tasks, done by scripts that see only what an AI client sees.
//!
//! The scripts are `testkit::tasks`; `cargo xtask bench tasks` measures the same beside another
//! server. A task is done when its page says so.

use serde_json::Value;
use testkit::tasks::{
    self, Server,
    run::{Driver, Said},
};
use tokio::runtime::Handle;

use crate::stage::Stage;

/// Tokens that all tasks together may cost.
const BUDGET: usize = 8_000;

/// An AI client that waits for each answer.
struct Client<'a> {
    stage: &'a Stage,
    runtime: Handle,
}

impl Driver for Client<'_> {
    fn call(&mut self, tool: &str, args: &Value) -> Result<Said, String> {
        let started = std::time::Instant::now();
        let result = self.runtime.block_on(self.stage.client.result(tool, args.clone()));
        let parts = result["content"].as_array().into_iter().flatten();
        let text = parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n");
        Ok(Said { text, failed: result["isError"] == true, time: started.elapsed() })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_task_is_done_with_few_tokens() {
    let stage = Stage::alone().await;
    let (mut failures, mut tokens) = (Vec::new(), 0);
    let mut client = Client { stage: &stage, runtime: Handle::current() };
    tokio::task::block_in_place(|| {
        for task in tasks::all() {
            // What is uploaded lies where a client over HTTP may upload from.
            let folder = stage.hub.place().folder("home/Downloads");
            let outcome = task.run(Server::Tabwire, &mut client, &stage.site, &folder);
            let bill = outcome.bill;
            eprintln!("{}: {} calls, {} tokens", task.name, bill.calls, bill.bytes / 4);
            tokens += bill.bytes / 4;
            failures.extend(outcome.done.err().map(|why| format!("{}: {why}", task.name)));
        }
    });
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(tokens < BUDGET, "all tasks together cost {tokens} tokens");
}
