//! The tools that pages declare: what the hub was told, and what a browser has to be asked for.
//!
//! Most browsers tell them by themselves. Some only answer the question, tab by tab: those are
//! asked all at once, and a tab that keeps silent is named and costs the others nothing.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hub::{CallRequest, Session};
use model::{Effect, Fault, Reply, SessionId, Tab, TabId, ToolSpec, Work, json::shorten};

use crate::{Toolbox, commands::ask_all, definition::Client};

/// Tabs that are asked at once.
const TABS: usize = 32;
/// How long a page may take to tell its tools.
const PATIENCE: Duration = Duration::from_secs(2);

/// A tool with the page that declares it.
pub(crate) struct Found {
    pub session: Arc<Session>,
    pub tab: TabId,
    pub url: String,
    pub spec: ToolSpec,
}

/// What pages answered, by session and tab.
#[derive(Default)]
pub(crate) struct Heard {
    tools: HashMap<(SessionId, TabId), Vec<ToolSpec>>,
    /// Tabs that did not answer, with the reason.
    pub silent: Vec<(Arc<Session>, TabId, Fault)>,
    /// How many tabs were not even asked, because there are so many.
    pub unasked: usize,
}

/// Asks the pages of those browsers that have to be asked.
pub(crate) async fn ask(
    toolbox: &Toolbox,
    client: &Client,
    sessions: &[Arc<Session>],
    tab: Option<TabId>,
) -> Heard {
    let asked =
        sessions.iter().filter(|session| session.is_connected() && session.discovers_tools());
    let mut wanted: Vec<_> = asked
        .flat_map(|session| wanted(session, tab).into_iter().map(|tab| (session.clone(), tab.id)))
        .collect();
    let mut heard = Heard { unasked: wanted.len().saturating_sub(TABS), ..Heard::default() };
    wanted.truncate(TABS);
    let request = |(session, tab): &(Arc<Session>, TabId)| {
        let request = CallRequest {
            caller: client.caller.clone(),
            tab: Some(*tab),
            work: Work::DiscoverTools,
            effect: Effect::Read,
            timeout: Some(PATIENCE),
            progress: None,
        };
        (session.clone(), request)
    };
    let answers = ask_all(&toolbox.hub, wanted.iter().map(request).collect()).await;
    for ((session, tab), answer) in wanted.into_iter().zip(answers) {
        match answer {
            Ok(Reply::Tools(tools)) => {
                heard.tools.insert((session.id.clone(), tab), tools);
            }
            Ok(_) => {}
            Err(fault) => heard.silent.push((session, tab, fault)),
        }
    }
    heard
}

/// Returns the tools of all wanted pages: as just answered, else as the hub was told.
pub(crate) fn tools(sessions: &[Arc<Session>], tab: Option<TabId>, heard: &Heard) -> Vec<Found> {
    let mut found = Vec::new();
    for session in sessions {
        for Tab { id, url, .. } in wanted(session, tab) {
            let answered = heard.tools.get(&(session.id.clone(), id)).cloned();
            let tools = answered.unwrap_or_else(|| session.page_tools(id));
            let url = shorten(&url, 200);
            found.extend(tools.into_iter().map(|spec| Found {
                session: session.clone(),
                tab: id,
                url: url.clone(),
                spec,
            }));
        }
    }
    found
}

fn wanted(session: &Session, tab: Option<TabId>) -> Vec<Tab> {
    let mut tabs = session.info().tabs;
    tabs.retain(|known| tab.is_none_or(|wanted| wanted == known.id));
    tabs
}
