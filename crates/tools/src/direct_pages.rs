//! Tools of pages that stand in the list themselves, where the operator trusts their origin.
//!
//! Each is called `page.<tool>`, so that no page takes a name of ours or of an app, and its
//! description begins with whose word it is. Only what pages have told of themselves is listed:
//! nobody is asked. The call goes the way of [`page_tools`].

use std::sync::Arc;

use hub::{Hub, Route, Session};
use model::{Code, Fault, Kind, TabId, ToolSpec, page_text};
use serde_json::{Map, Value, json};

use crate::{
    Toolbox,
    apps::take_session,
    definition::{Annotations, Client, Definition, Output},
    list_room::Offered,
    page_tools, schema,
};

/// What the names of these tools begin with.
const PREFIX: &str = "page.";
/// Tools that are listed at most.
const MOST: usize = 64;
/// What an operator writes to trust every page.
pub const ANY: &str = "*";

/// The origins whose tools are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins(Vec<String>);

impl Origins {
    /// Reads origins such as `https://shop.example`, or `*`.
    pub fn parse(texts: &[String]) -> Result<Self, String> {
        let is_origin = |text: &str| origin(text).is_some_and(|origin| origin == text);
        match texts.iter().find(|text| *text != ANY && !is_origin(text)) {
            Some(odd) => Err(format!("{odd:?} is not an origin such as https://shop.example")),
            None => Ok(Self(texts.to_vec())),
        }
    }

    fn has(&self, url: &str) -> bool {
        let found = origin(url);
        self.0.iter().any(|known| known == ANY || Some(known.as_str()) == found)
    }
}

/// Returns whether a name can only be one of a page's tool.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// A tool with the page that told it.
struct Offer {
    session: Arc<Session>,
    tab: TabId,
    origin: String,
    spec: ToolSpec,
}

/// Lists the tools, by name; of two with one name and different schemas only the first is there.
pub(crate) fn list(hub: &Hub, origins: &Origins) -> Vec<Offered> {
    let mut listed: Vec<Offered> = Vec::new();
    for Offer { origin, spec, .. } in offers(hub, origins) {
        let name = format!("{PREFIX}{}", spec.name);
        if listed.len() < MOST && !listed.iter().any(|known| known.definition.name == name) {
            let definition = define(name, &origin, &spec);
            listed.push(Offered { whose: origin, definition });
        }
    }
    listed
}

/// Calls such a tool; `None` means that it is none.
pub(crate) async fn call(
    toolbox: &Toolbox,
    client: &Client,
    name: &str,
    args: Value,
) -> Option<Result<Output, Fault>> {
    let tool = name.strip_prefix(PREFIX)?;
    let mut offers = offers(&toolbox.hub, &toolbox.settings.load().direct_pages);
    offers.retain(|offer| offer.spec.name == tool);
    if offers.is_empty() {
        return None;
    }
    let Value::Object(mut args) = args else {
        let message = "the arguments must be an object";
        return Some(Err(Fault::new(Code::InvalidArgument, message)));
    };
    let (session, tab) = match choose(toolbox, client, tool, &offers, &mut args) {
        Ok(chosen) => chosen,
        Err(fault) => return Some(Err(fault)),
    };
    let wish = json!({
        "action": "call", "tool": tool, "session": session, "tab": tab.0, "args": args,
    });
    Some((page_tools::TOOL.run)(toolbox, client, wish).await)
}

/// Chooses the page: only one that is trusted, whoever else declares a tool of that name.
fn choose(
    toolbox: &Toolbox,
    client: &Client,
    tool: &str,
    offers: &[Offer],
    args: &mut Map<String, Value>,
) -> Result<(String, TabId), Fault> {
    let named = args.remove("tab").map(|tab| {
        let odd = || Fault::new(Code::InvalidArgument, "`tab` must be a whole number");
        tab.as_u64().map(TabId).ok_or_else(odd)
    });
    let named = named.transpose()?;
    let route = Route { session: take_session(args)?, binding: client.binding.clone() };
    let what = format!("a trusted page with the tool {tool}");
    let session = toolbox.hub.route(&route, &what, |session| {
        offers.iter().any(|offer| offer.session.id == session.id)
    })?;
    let here: Vec<_> = offers.iter().filter(|offer| offer.session.id == session.id).collect();
    let tab = match (named, here.as_slice()) {
        (None, [only]) => only.tab,
        (named, _) => session.known_tab(&client.caller.client, named)?,
    };
    match here.iter().any(|offer| offer.tab == tab) {
        true => Ok((session.id.to_string(), tab)),
        false => {
            let message = format!("the page in tab {tab} is not one whose {tool} is listed");
            Err(Fault::new(Code::UnknownTool, message)
                .hint("name the tab of one that is; page_tools list shows where they are"))
        }
    }
}

fn offers(hub: &Hub, origins: &Origins) -> Vec<Offer> {
    let mut offers = Vec::new();
    if *origins == Origins::default() {
        return offers;
    }
    for session in hub.filtered(|session| session.kind == Kind::Browser && session.is_connected()) {
        for tab in session.info().tabs.into_iter().filter(|tab| origins.has(&tab.url)) {
            let own = origin(&tab.url).unwrap_or_default();
            for spec in session.page_tools(tab.id) {
                let origin = spec.origin.clone().unwrap_or_else(|| own.to_owned());
                // A page's frames may be anybody's.
                if origins.has(&origin) {
                    offers.push(Offer { session: session.clone(), tab: tab.id, origin, spec });
                }
            }
        }
    }
    offers
}

fn define(name: String, origin: &str, spec: &ToolSpec) -> Definition {
    Definition {
        name,
        title: String::new(),
        description: format!(
            "(untrusted, declared by {}) {}",
            page_text::address(origin),
            page_text::line(&spec.description)
        ),
        input_schema: schema::declared(
            &spec.input_schema,
            &[("session", "string"), ("tab", "integer")],
        ),
        output_schema: None,
        annotations: Annotations::reaching_pages(false),
    }
}

/// Scheme, host and port of a web address.
fn origin(url: &str) -> Option<&str> {
    let scheme = ["https://", "http://"].into_iter().find(|scheme| url.starts_with(scheme))?;
    let host = &url[scheme.len()..];
    let end = host.find(['/', '?', '#']).unwrap_or(host.len());
    (end > 0 && !host[..end].contains('@')).then(|| &url[..scheme.len() + end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_exact_or_all() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let shop = Origins::parse(&texts(&["https://shop.example"])).unwrap();
        assert!(shop.has("https://shop.example/cart?x=1"));
        for other in
            ["http://shop.example/", "https://shop.example.evil/", "https://a@shop.example/"]
        {
            assert!(!shop.has(other), "{other}");
        }
        assert!(Origins::parse(&texts(&["*"])).unwrap().has("http://a.example:81/"));
        for odd in ["shop.example", "https://shop.example/", "ftp://a", ""] {
            let problem = Origins::parse(&texts(&[odd])).unwrap_err();
            assert!(problem.contains("https://shop.example"), "{problem}");
        }
    }
}
