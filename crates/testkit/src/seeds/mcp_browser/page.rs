//! The tab that the fake mcp-browser extension controls, and its commands there.
//!
//! Every selector finds an element whose text is the page's label and the selector, except those
//! that contain `missing`.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::seeds::enhanced::tabs::PIXEL;

/// A tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// Its number.
    pub id: i64,
    /// Its address.
    pub url: String,
    /// Whether the page is there.
    pub loading: bool,
    /// The user has closed it; the extension does not notice.
    pub closed: bool,
}

impl Tab {
    /// A tab whose page is there.
    pub fn new(id: i64, url: &str) -> Self {
        Self { id, url: url.to_owned(), loading: false, closed: false }
    }
}

/// What the extension sees of the browser.
pub struct Page {
    /// The one tab that it controls.
    pub tab: Option<Tab>,
    /// Pages take their time to load, until [`Page::finish_loading`].
    pub slow: bool,
    /// The next loads end up somewhere else.
    pub redirects: VecDeque<String>,
    /// What scripts answer, as text; by default the label and the script.
    pub evaluates: Option<Result<String, String>>,
    /// What scripts answer where that is an object: as text it is one only if they make it so.
    pub object: Option<Value>,
    /// What scripts write to the console before they answer.
    pub logs: Vec<(String, String)>,
    label: String,
    wanted: Option<String>,
}

impl Page {
    /// A page with a mark of its own.
    pub fn new(label: &str, tab: Option<Tab>) -> Self {
        Self {
            tab,
            slow: false,
            redirects: VecDeque::new(),
            evaluates: None,
            object: None,
            logs: Vec::new(),
            label: label.to_owned(),
            wanted: None,
        }
    }

    /// Lets a slow page arrive.
    pub fn finish_loading(&mut self) {
        self.slow = false;
        if let (Some(tab), Some(wanted)) = (&mut self.tab, self.wanted.take()) {
            tab.url = self.redirects.pop_front().unwrap_or(wanted);
            tab.loading = false;
        }
    }

    /// Writes a batch of console lines.
    pub fn batch(&self, lines: &[(&str, &str)]) -> Value {
        let url = self.tab.as_ref().map(|tab| tab.url.clone()).unwrap_or_default();
        let line = |(level, text): &(&str, &str)| {
            json!({
                "level": level, "message": text, "timestamp": "2026-01-02T03:04:05.678Z",
                "url": url, "args": [text],
            })
        };
        json!({
            "type": "batch", "messages": lines.iter().map(line).collect::<Vec<_>>(), "url": url,
            "timestamp": "2026-01-02T03:04:06.000Z", "frameId": 0,
        })
    }

    /// Carries out a message; returns what is said to that.
    pub fn hear(&mut self, message: &Value) -> Vec<Value> {
        let kind = message["type"].as_str().unwrap_or_default();
        let Some(tab) = &mut self.tab else {
            return vec![json!({
                "type": "error", "error": "no_registered_tab", "command": kind,
                "message": "No tab is registered for this connection",
            })];
        };
        if tab.closed {
            return Vec::new();
        }
        match kind {
            "navigate" => {
                self.load(message["url"].as_str().unwrap_or_default());
                Vec::new()
            }
            "get_tab_info" => vec![json!({
                "type": "tab_info_response", "tabId": tab.id, "url": tab.url,
                "title": format!("{} at {}", self.label, tab.url),
                "status": if tab.loading { "loading" } else { "complete" },
                "timestamp": "2026-01-02T03:04:05.678Z",
            })],
            "click" | "fill_field" => vec![self.flat(message)],
            "dom_command" => vec![json!({
                "type": "dom_command_response", "requestId": message["requestId"],
                "response": self.command(&message["command"]),
            })],
            "evaluate_js" => self.evaluate(message),
            "extract_content" => {
                let content = json!({
                    "title": self.label, "byline": null, "excerpt": "An excerpt.",
                    "content": format!("Text of {}", self.label),
                    "htmlContent": format!("<p>Text of {}</p>", self.label),
                    "length": 20, "siteName": null,
                });
                vec![self.extracted("content_extracted", message, "content", content)]
            }
            "extract_semantic_dom" => {
                let dom = json!({
                    "url": self.url(), "title": self.label,
                    "headings": [{"level": 1, "text": format!("Heading of {}", self.label), "id": ""}],
                    "landmarks": [], "links": [], "forms": [],
                });
                vec![self.extracted("semantic_dom_extracted", message, "dom", dom)]
            }
            "extract_ascii_layout" => {
                let layout = json!({
                    "viewport": {"width": 800, "height": 600}, "url": self.url(),
                    "title": self.label,
                    "elements": [{
                        "type": "button", "x": 10, "y": 20, "width": 100, "height": 30,
                        "text": format!("Button of {}", self.label), "tag": "button",
                    }],
                });
                vec![self.extracted("ascii_layout_extracted", message, "layout", layout)]
            }
            "capture_screenshot" => vec![json!({
                "type": "screenshot_captured", "requestId": message["requestId"],
                "success": true, "data": PIXEL, "mimeType": "image/png",
            })],
            // Known without an answer (scroll, get_page_content, query_logs), or not known.
            _ => Vec::new(),
        }
    }

    fn load(&mut self, url: &str) {
        let slow = self.slow;
        if let Some(tab) = &mut self.tab {
            self.wanted = Some(url.to_owned());
            tab.loading = true;
        }
        if !slow {
            self.finish_loading();
        }
    }

    fn url(&self) -> &str {
        self.tab.as_ref().map_or("", |tab| tab.url.as_str())
    }

    fn flat(&self, message: &Value) -> Value {
        let mut answer = json!({
            "type": "dom_command_response", "requestId": message["requestId"],
            "success": true, "selector": message["selector"],
        });
        if is_missing(&message["selector"]) {
            answer["success"] = json!(false);
            answer["error"] = json!("Element not found");
        }
        answer
    }

    /// Answers a command to the page's own script.
    fn command(&mut self, command: &Value) -> Value {
        let (kind, params) = (command["type"].as_str().unwrap_or_default(), &command["params"]);
        if !params.is_object() && !["get_skeletal_dom", "navigate"].contains(&kind) {
            let error = "Cannot destructure property 'selector' of 'params' as it is undefined.";
            return json!({"success": false, "error": error});
        }
        let element = &params["selector"];
        if is_missing(element) {
            let error = match kind {
                "wait_for_element" => format!("Element not found: {}", element.as_str().unwrap()),
                _ => "Element not found".to_owned(),
            };
            return json!({"success": false, "error": error});
        }
        match kind {
            "navigate" => {
                self.load(params["url"].as_str().unwrap_or_default());
                json!({"success": true})
            }
            "click" | "fill" | "wait_for_element" => {
                json!({"success": true, "elementInfo": self.element(params)})
            }
            "get_element" => {
                json!({"success": true, "elementInfo": self.element(params), "error": null})
            }
            "get_elements" => {
                json!({"success": true, "elements": [self.element(params)], "count": 1})
            }
            "submit" => json!({
                "success": true, "method": "button_click", "buttonText": "Send",
                "willNavigate": true,
            }),
            "select_option" => json!({
                "success": true, "selectedValue": params["optionValue"],
                "selectedText": params["optionText"],
            }),
            "check_checkbox" => {
                json!({"success": true, "checked": params["checked"].as_bool().unwrap_or(true)})
            }
            "scroll_to" => json!({"success": true}),
            "get_skeletal_dom" => json!({
                "success": true,
                "skeletal_dom": {
                    "url": self.url(), "title": self.label, "links": [], "buttons": [],
                    "inputs": [], "headings": [{"level": "h1", "text": self.label}],
                },
            }),
            _ => json!({"success": false, "error": "Unknown command type"}),
        }
    }

    fn evaluate(&self, message: &Value) -> Vec<Value> {
        let mut answers = Vec::new();
        if !self.logs.is_empty() {
            let lines: Vec<_> =
                self.logs.iter().map(|(level, text)| (level.as_str(), text.as_str())).collect();
            let mut batch = self.batch(&lines);
            batch["url"] = json!(format!("eval:{}", self.tab.as_ref().map_or(0, |tab| tab.id)));
            answers.push(batch);
        }
        let code = message["code"].as_str().unwrap_or_default();
        let outcome = match (&self.evaluates, &self.object) {
            (Some(outcome), _) => outcome.clone(),
            (None, Some(object)) if code.contains("JSON.stringify") => Ok(object.to_string()),
            (None, Some(_)) => Ok("[object Object]".to_owned()),
            (None, None) => Ok(format!("{} ran {code}", self.label)),
        };
        let mut answer = json!({
            "type": "evaluate_js_response", "requestId": message["requestId"],
            "success": outcome.is_ok(), "logsCaptures": self.logs.len(),
        });
        match outcome {
            Ok(result) => answer["result"] = json!(result),
            Err(error) => answer["error"] = json!(error),
        }
        answers.push(answer);
        answers
    }

    fn extracted(&self, kind: &str, to: &Value, key: &str, body: Value) -> Value {
        let response = json!({
            "success": true, key: body, "url": self.url(),
            "timestamp": "2026-01-02T03:04:05.678Z",
        });
        json!({"type": kind, "requestId": to["requestId"], "response": response})
    }

    fn element(&self, params: &Value) -> Value {
        json!({
            "tagName": "DIV", "id": null, "className": null,
            "text": format!("{} {}", self.label, params["selector"].as_str().unwrap_or("?")),
            "value": params["value"], "href": null, "src": null, "isVisible": true,
            "isEnabled": true, "position": {"top": 1, "left": 2, "width": 3, "height": 4},
            "attributes": {"class": "found"},
        })
    }
}

fn is_missing(selector: &Value) -> bool {
    selector.as_str().is_some_and(|selector| selector.contains("missing"))
}
