//! Which page a call goes to: the named one, the bound one, the client's own, the only one.
//!
//! A page that was opened through a client's link carries an id that only that client was told, so
//! it is that client's own, however many others there are.

use std::sync::Arc;

use hub::{Hub, Route, Session};
use model::{Code, Fault, InstanceId};

use super::Manifest;
use crate::{Toolbox, definition::Client};

impl Manifest {
    /// Chooses the page for a call of a tool.
    pub(super) fn route(
        &self,
        toolbox: &Toolbox,
        client: &Client,
        tool: &str,
        named: Option<String>,
    ) -> Result<Arc<Session>, Fault> {
        let hub = &toolbox.hub;
        let bound = client.binding.as_ref().is_some_and(|binding| hub.find(binding).is_ok());
        if named.is_none()
            && !bound
            && let Some(own) = self.own_page(hub, &toolbox.link_id(client))
        {
            return Ok(own);
        }
        let route = Route { session: named, binding: client.binding.clone() };
        let session = match hub.route(&route, tool, |session| self.serves(session)) {
            Err(fault) if fault.code == Code::UnknownTool => return Err(self.nobody()),
            Err(fault) if fault.code == Code::UnknownSession => return Err(self.with_link(fault)),
            found => found?,
        };
        match self.serves(&session) {
            true => Ok(session),
            false => {
                let message = format!("{} is no page of {}", session.name, self.title);
                let fault = Fault::new(Code::Unsupported, message);
                Err(self.with_link(fault.hint("name one as `session`")))
            }
        }
    }

    /// Returns whether a session is a page of this app.
    pub(super) fn serves(&self, session: &Session) -> bool {
        *session.dialect == *self.dialect || session.has_capability(&self.capability)
    }

    /// Adds to a fault how a page is connected.
    pub(super) fn with_link(&self, fault: Fault) -> Fault {
        let link = match self.link_tool() {
            Some(tool) => format!("{tool} tells the address that connects a page"),
            None => "open its page".to_owned(),
        };
        let hint = fault.hint.clone().map_or(link.clone(), |hint| format!("{hint}; {link}"));
        fault.hint(hint)
    }

    fn own_page(&self, hub: &Hub, link: &InstanceId) -> Option<Arc<Session>> {
        let own = hub.of_instance(link).filter(|session| self.serves(session))?;
        let other = |session: &Session| self.serves(session) && session.is_connected();
        // One that was closed does not stand in the way of one that is there.
        (own.is_connected() || hub.filtered(other).is_empty()).then_some(own)
    }

    fn nobody(&self) -> Fault {
        let message = format!("no page of {} is connected", self.title);
        self.with_link(Fault::new(Code::NotConnected, message))
    }
}
