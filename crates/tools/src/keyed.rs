//! Calls with an idempotency key: the answer of the first is the answer of all.
//!
//! What a tool gave back is written down as text and read again for whoever asks later. A call
//! that came to nothing is not: whoever asks again may try again.

use hub::once::{Done, Keyed};
use model::{Code, Fault, Retry};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    Toolbox,
    definition::{Client, Output},
};

impl Toolbox {
    /// Calls a tool once for a key; everybody else with that key gets its answer.
    pub(crate) async fn call_once(
        &self,
        client: &Client,
        key: &str,
        name: &str,
        args: Value,
    ) -> Result<Output, Fault> {
        let request = digest(name, &args);
        let (toolbox, own, name) = (self.clone(), client.clone(), name.to_owned());
        let work = async move {
            let output = toolbox.call_unkeyed(&own, &name, args).await?;
            Ok(json!(output))
        };
        let kept = self.once(&client.caller.principal, key, request, work).await?;
        serde_json::from_value(kept).map_err(|_| unreadable())
    }

    /// Does work once for a key of a principal; everybody else with that key gets its answer.
    pub async fn once(
        &self,
        principal: &str,
        key: &str,
        request: String,
        work: impl Future<Output = Result<Value, Fault>> + Send + 'static,
    ) -> Result<Value, Fault> {
        let keyed = Keyed::new(principal, key, request)?;
        let work = async move {
            match work.await {
                Ok(value) => Done { body: json!({ "ok": value }).to_string(), void: false },
                Err(fault) => {
                    let body = json!({"fault": write_fault(&fault)}).to_string();
                    Done { body, void: nothing_happened(&fault) }
                }
            }
        };
        let body = self.hub.once(&keyed, work).await?;
        let mut kept: Value = serde_json::from_str(&body).map_err(|_| unreadable())?;
        match kept.get("fault") {
            Some(fault) => Err(read_fault(fault).unwrap_or_else(unreadable)),
            None => Ok(kept["ok"].take()),
        }
    }
}

fn unreadable() -> Fault {
    Fault::new(Code::Internal, "the kept answer cannot be read")
}

/// Returns whether a fault says that the call was never made.
fn nothing_happened(fault: &Fault) -> bool {
    use Code::*;
    let refused = matches!(
        fault.code,
        InvalidArgument
            | UnknownSession
            | AmbiguousSession
            | UnknownTool
            | UnknownTab
            | TabOccupied
            | Unsupported
            | NotConnected
            | NotDelivered
            | Busy
            | Refused
    );
    refused || fault.retry == Retry::Now
}

/// Names a question, so that another one with the same key is noticed.
pub fn digest(name: &str, args: &Value) -> String {
    let text = format!("{name} {args}");
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_fault(fault: &Fault) -> Value {
    json!({
        "code": fault.code.as_str(),
        "retry": fault.retry.as_str(),
        "message": fault.message,
        "hint": fault.hint,
    })
}

fn read_fault(fault: &Value) -> Option<Fault> {
    let word = fault["code"].as_str()?;
    let known = Code::ALL.iter().find(|code| code.as_str() == word);
    let retries = [Retry::Now, Retry::Later, Retry::Never, Retry::Check];
    Some(Fault {
        code: known.cloned().unwrap_or_else(|| Code::Foreign(word.to_owned())),
        retry: retries.into_iter().find(|retry| fault["retry"] == retry.as_str())?,
        message: fault["message"].as_str()?.to_owned(),
        hint: fault["hint"].as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Image, Link, Source};

    #[test]
    fn an_answer_reads_back_as_it_was() {
        let output = Output {
            text: "done".into(),
            structured: json!({"a": [1]}),
            images: vec![Image { mime_type: "image/png".into(), data: "AA==".into() }],
            links: vec![Link {
                uri: "tabwire://result/abc".into(),
                name: "a.pdf".into(),
                mime_type: "application/pdf".into(),
                bytes: 7,
                content: None,
            }],
            failed: true,
            source: Some(Source { session: "viewer".into(), origin: Some("http://x".into()) }),
            ..Output::default()
        };
        let foreign = Fault::new(Code::Foreign("ELEMENT_NOT_FOUND".into()), "no").hint("look");
        let ours = Fault::new(Code::OutcomeUnknown, "who knows");
        let kept = json!({
            "text": "done",
            "structured": {"a": [1]},
            "images": [{"mimeType": "image/png", "data": "AA=="}],
            "links": [{
                "uri": "tabwire://result/abc", "name": "a.pdf",
                "mimeType": "application/pdf", "bytes": 7,
            }],
            "failed": true,
            "source": {"session": "viewer", "origin": "http://x"},
        });
        assert_eq!(json!(output), kept, "answers outlive the program that wrote them");
        assert_eq!(serde_json::from_value::<Output>(kept).unwrap(), output);
        for fault in [foreign, ours] {
            assert_eq!(read_fault(&write_fault(&fault)), Some(fault));
        }
    }

    #[test]
    fn only_what_never_happened_may_be_tried_again() {
        for (code, void) in [
            (Code::NotDelivered, true),
            (Code::Busy, true),
            (Code::TabOccupied, true),
            (Code::OutcomeUnknown, false),
            (Code::TimedOut, false),
            (Code::ToolFailed, false),
        ] {
            assert_eq!(nothing_happened(&Fault::new(code.clone(), "x")), void, "{code}");
        }
    }
}
