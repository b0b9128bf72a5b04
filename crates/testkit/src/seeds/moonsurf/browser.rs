//! What Moonsurf's extension drives: tabs, one page with three elements, cookies, storage.
//!
//! The project's documents describe two shapes for some results. The real extension is closed, so
//! both are played ([`Shapes`]).

use serde_json::{Map, Value, json};

/// The smallest picture there is, a PNG of one pixel.
pub const PICTURE: &str = concat!(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
);

/// The elements of every page.
const ELEMENTS: [&str; 3] = ["#button", "#email", "#country"];

/// Which of the project's documents the results follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shapes {
    /// The description of the tools.
    Tools,
    /// The examples of the REST interface.
    Rest,
    /// Results of MCP, for pictures.
    Mcp,
}

/// How a command failed: its code and message.
pub type Failure = (&'static str, String);

/// A browser behind the extension.
#[derive(Debug)]
pub struct Browser {
    /// Which results it gives.
    pub shapes: Shapes,
    /// What was clicked and typed, in order.
    pub deeds: Vec<String>,
    tabs: Vec<(u64, String)>,
    active: u64,
    cookies: Vec<Value>,
    storage: Map<String, Value>,
}

impl Default for Browser {
    fn default() -> Self {
        Self {
            shapes: Shapes::Tools,
            deeds: Vec::new(),
            tabs: vec![(101, "https://start.example/".to_owned())],
            active: 101,
            cookies: Vec::new(),
            storage: Map::new(),
        }
    }
}

impl Browser {
    /// Does a command under its original name.
    pub fn run(&mut self, name: &str, args: &Value) -> Result<Value, Failure> {
        let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
        let tab = args["tabId"].as_u64().unwrap_or(self.active);
        if !self.tabs.iter().any(|(id, _)| *id == tab) {
            return Err(("TAB_NOT_FOUND", format!("Tab not found: {tab}")));
        }
        Ok(match name {
            "browser_tab_list"
            | "browser_tab_new"
            | "browser_tab_close"
            | "browser_tab_close_others"
            | "browser_tab_activate" => self.tab(name, tab, args),
            "browser_navigate" => self.go(tab, &text("url")),
            "browser_reload" | "browser_go_back" | "browser_go_forward" => {
                let url = self.url(tab);
                self.go(tab, &url)
            }
            "browser_wait_for" => {
                find(args)?;
                json!({"success": true, "waited": 5, "selector": args["selector"]})
            }
            "browser_screenshot" => self.picture(tab),
            "browser_pdf" => json!({"pdf": "JVBERi0xLjQK", "pageCount": 1}),
            "browser_get_content" => self.content(tab, args),
            "browser_query_selector" => {
                find(args)?;
                let element = json!({
                    "tagName": "BUTTON", "id": text("selector").trim_start_matches('#'),
                    "textContent": "Go", "attributes": {},
                    "boundingBox": {"x": 1, "y": 2, "width": 30, "height": 10},
                });
                json!({"elements": [element], "count": 1})
            }
            "browser_get_attribute" => {
                find(args)?;
                let (selector, attribute) = (&args["selector"], &args["attribute"]);
                json!({"selector": selector, "attribute": attribute, "value": "value"})
            }
            "browser_get_viewport_dom" => json!({
                "viewport": {"width": 800, "height": 600, "scrollX": 0, "scrollY": 0},
                "elements": [{"tag": "button", "text": "Go", "selector": "#button"}],
                "elementCount": 1,
            }),
            "browser_mouse_click" => {
                find(args)?;
                self.deeds.push(format!("click {}", text("selector")));
                match self.shapes {
                    Shapes::Tools => json!({"clicked": true, "selector": args["selector"]}),
                    _ => json!({"clicked": true}),
                }
            }
            "browser_type" => {
                find(args)?;
                self.deeds.push(format!("type {}", text("text")));
                json!({"typed": true, "text": args["text"]})
            }
            "browser_mouse_move"
            | "browser_keyboard_press"
            | "browser_mouse_scroll"
            | "browser_hover"
            | "browser_select"
            | "browser_upload_file" => {
                find(args)?;
                self.deeds.push(name.to_owned());
                json!({"success": true})
            }
            "browser_evaluate" => match self.shapes {
                Shapes::Rest => json!({"value": text("expression"), "tabId": tab}),
                _ => json!({"result": text("expression")}),
            },
            _ => return self.run_elsewhere(name, args),
        })
    }

    /// Does what concerns the browser and not its page.
    fn run_elsewhere(&mut self, name: &str, args: &Value) -> Result<Value, Failure> {
        let text = |name: &str| args[name].as_str().unwrap_or_default().to_owned();
        Ok(match name {
            "browser_get_cookies" => json!({"cookies": self.cookies}),
            "browser_set_cookie" => {
                self.cookies.push(args.clone());
                json!({"success": true, "cookie": {"name": args["name"], "value": args["value"]}})
            }
            "browser_clear_cookies" => {
                self.cookies.clear();
                json!({"success": true})
            }
            "browser_get_local_storage" => {
                json!({"storage": self.storage, "storageType": "localStorage"})
            }
            "browser_set_local_storage" => {
                self.storage.insert(text("key"), args["value"].clone());
                json!({"success": true})
            }
            "browser_clear_storage" => {
                self.storage.clear();
                json!({"success": true})
            }
            "browser_set_viewport" => {
                let viewport = json!({"width": args["width"], "height": args["height"]});
                json!({"success": true, "viewport": viewport})
            }
            "browser_set_headers"
            | "browser_intercept_requests"
            | "browser_set_user_agent"
            | "browser_set_geolocation"
            | "browser_set_timezone"
            | "browser_emulate_device"
            | "browser_set_offline"
            | "browser_throttle_network" => json!({"success": true}),
            "browser_handle_dialog" => json!({
                "handled": true, "dialogType": "alert", "message": "Hi", "action": args["action"],
            }),
            "browser_get_console_logs" => {
                let log =
                    json!({"level": "log", "text": "hello", "timestamp": 1, "source": "page"});
                json!({"logs": [log], "count": 1})
            }
            "browser_get_performance_metrics" => json!({"metrics": {"Nodes": 3}, "timing": {}}),
            "browser_start_tracing" => json!({"tracing": true, "message": "Tracing started"}),
            "browser_stop_tracing" => json!({"tracing": false, "trace": "e30="}),
            _ => return Err(("UNKNOWN_TOOL", format!("Unknown tool: {name}"))),
        })
    }

    fn tab(&mut self, name: &str, tab: u64, args: &Value) -> Value {
        match name {
            "browser_tab_list" => {
                let tabs = self.tabs.iter().enumerate().map(|(index, (id, url))| {
                    json!({
                        "id": id, "url": url, "title": title(url), "active": *id == self.active,
                        "index": index,
                    })
                });
                let tabs: Vec<_> = tabs.collect();
                json!({"tabs": tabs, "activeTabId": self.active, "count": tabs.len()})
            }
            "browser_tab_new" => {
                let id = self.tabs.iter().map(|(id, _)| id + 1).max().unwrap_or(101);
                let url = args["url"].as_str().unwrap_or("about:blank").to_owned();
                self.active = id;
                self.tabs.push((id, url.clone()));
                json!({"tabId": id, "url": url, "title": title(&url)})
            }
            "browser_tab_close" => {
                self.tabs.retain(|(id, _)| *id != tab);
                self.active = self.tabs.first().map_or(0, |(id, _)| *id);
                json!({"success": true, "closedTabId": tab})
            }
            "browser_tab_close_others" => {
                let kept = args["keepTabId"].as_u64().unwrap_or(tab);
                let before = self.tabs.len();
                self.tabs.retain(|(id, _)| *id == kept);
                self.active = kept;
                let closed = before - self.tabs.len();
                json!({"success": true, "closedCount": closed, "remainingTabId": kept})
            }
            _ => {
                self.active = tab;
                json!({"success": true, "activeTabId": tab})
            }
        }
    }

    fn go(&mut self, tab: u64, url: &str) -> Value {
        if let Some((_, known)) = self.tabs.iter_mut().find(|(id, _)| *id == tab) {
            *known = url.to_owned();
        }
        match self.shapes {
            Shapes::Rest => json!({"success": true, "tabId": tab, "url": url}),
            _ => json!({"success": true, "url": url, "title": title(url)}),
        }
    }

    fn url(&self, tab: u64) -> String {
        let found = self.tabs.iter().find(|(id, _)| *id == tab);
        found.map(|(_, url)| url.clone()).unwrap_or_default()
    }

    fn picture(&self, tab: u64) -> Value {
        let image = json!({"type": "image", "mimeType": "image/png", "data": PICTURE});
        match self.shapes {
            Shapes::Tools => {
                json!({"screenshot": PICTURE, "format": "png", "width": 1, "height": 1})
            }
            Shapes::Rest => json!({"data": PICTURE, "mimeType": "image/png", "tabId": tab}),
            Shapes::Mcp => json!({"content": [image]}),
        }
    }

    fn content(&self, tab: u64, args: &Value) -> Value {
        match self.shapes {
            Shapes::Rest => {
                json!({"content": "Hello there", "selector": args["selector"], "tabId": tab})
            }
            _ => json!({"content": "Hello there", "format": "text", "url": self.url(tab)}),
        }
    }
}

/// Fails where an element is named that is not there.
fn find(args: &Value) -> Result<(), Failure> {
    match args["selector"].as_str() {
        Some(selector) if !ELEMENTS.contains(&selector) => {
            Err(("ELEMENT_NOT_FOUND", format!("No element matches selector: {selector}")))
        }
        _ => Ok(()),
    }
}

/// Returns a page's title: its host.
fn title(url: &str) -> String {
    url.split('/').nth(2).unwrap_or_default().to_owned()
}
