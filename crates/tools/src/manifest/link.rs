//! The address under which a page connects as the one that a client means.

use hub::{Hub, Session};
use model::{Code, Fault, InstanceId, json::shorten};
use serde_json::json;

use super::{Manifest, template::Template};
use crate::{
    Toolbox,
    definition::{Client, Output},
};

/// Who a page will be.
struct PageId {
    id: String,
    /// Calls reach it without naming it.
    implied: bool,
}

impl Manifest {
    /// Tells the address. Nothing is sent to anybody.
    pub(super) fn link(
        &self,
        toolbox: &Toolbox,
        client: &Client,
        named: Option<String>,
    ) -> Result<Output, Fault> {
        let hub = &toolbox.hub;
        let PageId { id, implied } = match named {
            Some(named) => self.named_page(hub, &named)?,
            None => self.implied_page(toolbox, client),
        };
        let url = self.address(toolbox, &id).ok_or_else(|| {
            Fault::new(Code::Internal, format!("{} has no address for its page", self.title))
        })?;
        let is_there = |session: &Session| {
            session.instance.as_str() == id && self.serves(session) && session.is_connected()
        };
        let connected = !hub.filtered(is_there).is_empty();
        let next = match (connected, implied) {
            (true, _) => "A page is connected as this one now.".to_owned(),
            (false, true) => "Tools called from here then go to that page.".to_owned(),
            (false, false) => format!("Then call the tools with session {id:?}."),
        };
        let next = match &self.closed {
            Some(remark) if self.own_page.is_none() => format!("{next}\n{remark}"),
            _ => next,
        };
        let begin = format!("Open this address in a browser to connect {}:", self.title);
        Ok(Output {
            text: format!("{begin}\n\n{url}\n\n{next}"),
            structured: json!({"url": url, "instance": id, "connected": connected}),
            ..Output::default()
        })
    }

    /// Writes the address: of the app's page, or of ours where the app's cannot connect.
    fn address(&self, toolbox: &Toolbox, id: &str) -> Option<String> {
        let fill = |page: &Template| page.fill(|_| Some(encode(id)));
        match (&self.own_page, &self.closed, &self.page) {
            (Some(own), Some(_), _) | (Some(own), None, None) => {
                Some(format!("http://{}{}", toolbox.settings.load().own_hosts.first()?, fill(own)?))
            }
            (_, _, page) => fill(page.as_ref()?),
        }
    }

    /// The page that `session` names: one that exists, or a new one.
    fn named_page(&self, hub: &Hub, named: &str) -> Result<PageId, Fault> {
        let id = match hub.find(named) {
            Ok(session) if self.serves(&session) => session.instance.to_string(),
            Ok(session) => {
                let message = format!("{} is no page of {}", session.name, self.title);
                return Err(Fault::new(Code::Unsupported, message).hint("leave `session` out"));
            }
            Err(fault) if fault.code == Code::AmbiguousSession => return Err(fault),
            Err(_) if InstanceId::parse(named).is_ok() => named.to_owned(),
            Err(_) => {
                let message = format!("a page cannot be called {:?}", shorten(named, 80));
                let fault = Fault::new(Code::InvalidArgument, message);
                return Err(fault.hint("use letters, digits and . _ : @ -"));
            }
        };
        Ok(PageId { id, implied: false })
    }

    /// The page that a client means without saying so: what it is bound to, or its own.
    fn implied_page(&self, toolbox: &Toolbox, client: &Client) -> PageId {
        let own = |implied| PageId { id: toolbox.link_id(client).to_string(), implied };
        let Some(binding) = &client.binding else { return own(true) };
        match toolbox.hub.find(binding) {
            Ok(session) if self.serves(&session) => {
                PageId { id: session.instance.to_string(), implied: true }
            }
            // Bound to something else, whose name a page must not take.
            Ok(_) => own(false),
            Err(_) if InstanceId::parse(binding).is_ok() => {
                PageId { id: binding.clone(), implied: true }
            }
            Err(_) => own(true),
        }
    }
}

/// Writes an id for an address; of what ids are made of, only `:` and `@` need it.
fn encode(id: &str) -> String {
    id.replace(':', "%3A").replace('@', "%40")
}
