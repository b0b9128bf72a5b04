//! What a peer with the capability `results` remembers: which calls it has run, and their ends.
//!
//! It runs each call id at most once and answers questions after it. Running is counting: the
//! result of a call says how often its arguments have been run.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// An executor's memory.
#[derive(Debug, Default)]
pub struct Executor {
    ends: BTreeMap<String, Value>,
    runs: BTreeMap<String, u64>,
}

impl Executor {
    /// Runs a call unless it has been run; returns its `toolResult`.
    pub fn run(&mut self, call: &Value) -> Value {
        let id = call["callId"].as_str().unwrap();
        if !self.ends.contains_key(id) {
            let runs = self.runs.entry(call["args"].to_string()).or_default();
            *runs += 1;
            let end = json!({"args": call["args"], "runs": *runs});
            self.ends.insert(id.to_owned(), end);
        }
        json!({"type": "toolResult", "callId": id, "result": self.ends[id]})
    }

    /// Answers a `callQuery`.
    pub fn status(&self, query: &Value) -> Value {
        let id = query["callId"].as_str().unwrap();
        match self.ends.get(id) {
            Some(end) => {
                json!({"type": "callStatus", "callId": id, "state": "ended", "result": end})
            }
            None => json!({"type": "callStatus", "callId": id, "state": "unknown"}),
        }
    }

    /// Returns how often calls with these arguments have been run.
    pub fn runs(&self, args: &Value) -> u64 {
        self.runs.get(&args.to_string()).copied().unwrap_or(0)
    }

    /// Returns how many calls have been run.
    pub fn total(&self) -> u64 {
        self.runs.values().sum()
    }
}
