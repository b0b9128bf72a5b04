//! Calls of a session from the caller's side: begin, wait, give up.
//!
//! A [`Ticket`] is a caller's place: waiting on it ends with the call's one end, and dropping it
//! withdraws the call, down to the page.

use std::{sync::Arc, time::Duration};

use model::{
    Call, CallId, ClientId, Code, Effect, Ending, Fault, Json, Level, Reply, Retry, TabId,
    ToBrowser, Work, record::AuditRecord,
};
use serde_json::json;
use store::StoreWrite;
use tokio::{sync::oneshot, time::Instant};

use super::{Core, Session};
use crate::{
    agenda::Due,
    call_request::{CallRequest, Caller},
    calls::{Lane, Ready},
    feed,
    outbox::Refusal,
    services::InFlight,
};

/// A caller's place. Dropping it withdraws the call.
pub struct Ticket {
    session: Arc<Session>,
    id: CallId,
    label: String,
    caller: Caller,
    outcome: oneshot::Receiver<Result<Reply, Fault>>,
    started: Instant,
    limit: Duration,
    /// Set once the end has been taken.
    ended: bool,
    _in_flight: InFlight,
}

impl Session {
    /// Begins a call: it is sent now or when its tab is free.
    pub(crate) fn begin(self: &Arc<Self>, request: CallRequest) -> Result<Ticket, Fault> {
        let config = self.services.config.load();
        let limit = match (&request.work, request.timeout) {
            (Work::State { .. }, None) => config.state_timeout,
            (_, None) => config.call_timeout,
            (_, Some(wanted)) => wanted,
        };
        let limit = limit.min(config.call_timeout_max);
        let label = label(&request.work);
        if config.read_only && request.effect != Effect::Read {
            return Err(Fault::new(Code::Refused, format!("the hub is read-only: {label} acts"))
                .hint("an operator can start the hub without --read-only"));
        }
        let mut in_flight = self.services.admit()?;
        let started = Instant::now();
        let id = self.services.next_call();
        let mut core = self.core.lock();
        // Under the lock: whoever ends all calls finds this one, or it is refused.
        self.services.requests.check_calls()?;
        if !core.presence.is_here() {
            return Err(self.not_connected(&core));
        }
        if core.calls.count() >= config.calls_per_session {
            return Err(Fault::new(
                Code::Busy,
                format!("{} calls are under way in {}", config.calls_per_session, self.name),
            )
            .hint("wait for some of them to end and try again"));
        }
        if let Some(tab) = request.tab {
            self.admit_to_tab(&mut core, &request.caller, tab, request.effect)?;
        }
        let lane = core.lane(request.tab, &request.caller.client);
        let caller = request.caller.clone();
        let (outcome, ready) = core.calls.enter(id, lane, started + limit, request);
        core.dispatch(ready);
        in_flight.show();
        drop(core);
        tracing::debug!(session = %self.id, call = %id, tool = label, "call begun");
        Ok(Ticket {
            session: self.clone(),
            id,
            label,
            caller,
            outcome,
            started,
            limit,
            ended: false,
            _in_flight: in_flight,
        })
    }

    /// Frees the tab of an abandoned call.
    pub(crate) fn release(&self, call: CallId) {
        let mut core = self.core.lock();
        let next = core.calls.release(call);
        core.dispatch(next);
    }

    fn not_connected(&self, core: &Core) -> Fault {
        let away = humantime_seconds(core.presence.unchanged_for());
        Fault::new(
            Code::NotConnected,
            format!("{} is not connected (for {away}); nothing was sent", self.name),
        )
        .hint("open its page or browser again, or name another session")
    }

    /// Takes a call back; `None` means that it has ended already, else whether it was sent.
    fn withdraw(self: &Arc<Self>, id: CallId, ending: Ending) -> Option<bool> {
        let grace = self.services.config.load().abandoned_grace;
        let mut core = self.core.lock();
        let withdrawn = core.calls.withdraw(id, ending)?;
        if withdrawn.cancel {
            core.tell(ToBrowser::Cancel(id));
        }
        drop(core);
        if withdrawn.reserved.is_some() {
            self.services.agenda.after(grace, Due::Release(Arc::downgrade(self), id));
        }
        Some(withdrawn.cancel)
    }
}

impl Core {
    /// The line in which an acting call waits.
    fn lane(&self, tab: Option<TabId>, client: &ClientId) -> Lane {
        match tab {
            _ if self.peer.traits.one_tab => Lane::Session,
            Some(tab) => Lane::Tab(tab),
            None if self.peer.traits.tab_per_client => Lane::Client(client.clone()),
            None => Lane::Session,
        }
    }

    /// Writes a call that may go; one that cannot be written ends, and the next one is tried.
    pub(super) fn dispatch(&mut self, mut ready: Option<Ready>) {
        while let Some(Ready { call, expired }) = ready {
            let id = call.id;
            if self.presence.keeps_calls() && !expired {
                return self.calls.unsend(id);
            }
            ready = match self.try_send(call, expired) {
                Ok(()) => return,
                Err(fault) => self.calls.end(id, Err(fault)).1,
            };
        }
    }

    fn try_send(&mut self, call: Call, expired: bool) -> Result<(), Fault> {
        if expired {
            return Err(Fault {
                retry: Retry::Now,
                ..Fault::new(Code::TimedOut, "its time was over before it could be sent")
            });
        }
        let refusal = match self.presence.link() {
            Some(link) => link.outbox.push(ToBrowser::Call(Box::new(call))).err(),
            None => Some(Refusal::Closed),
        };
        match refusal {
            None => Ok(()),
            Some(Refusal::Full) => Err(Fault::new(
                Code::Busy,
                "the browser does not read fast enough; nothing was sent",
            )
            .hint("wait a moment and try again")),
            Some(Refusal::Closed) => Err(Fault::new(
                Code::NotDelivered,
                "the browser is disconnecting; nothing was sent",
            )),
        }
    }
}

impl Ticket {
    /// Waits for the call's end, at most until its deadline.
    pub async fn wait(mut self) -> Result<Reply, Fault> {
        let deadline = self.started + self.limit;
        let outcome = match tokio::time::timeout_at(deadline, &mut self.outcome).await {
            Ok(answered) => answered.unwrap_or_else(|_| Err(lost())),
            Err(_) => self.give_up(),
        };
        self.note_end(&outcome);
        outcome
    }

    fn give_up(&mut self) -> Result<Reply, Fault> {
        let limit = humantime_seconds(self.limit);
        match self.session.withdraw(self.id, Ending::TimedOut) {
            // The answer came at the last moment.
            None => self.outcome.try_recv().unwrap_or_else(|_| Err(lost())),
            Some(true) => Err(Fault::new(Code::TimedOut, format!("no reply within {limit}"))
                .hint("the tab may be busy or asleep; look at it before repeating the call")),
            Some(false) => Err(Fault {
                retry: Retry::Now,
                ..Fault::new(
                    Code::TimedOut,
                    format!("waited {limit} behind other calls of the same tab; it was not sent"),
                )
            }),
        }
    }

    /// Counts the end and writes it into the session's feed.
    fn note_end(&mut self, outcome: &Result<Reply, Fault>) {
        self.ended = true;
        let (ending, took) = (Ending::of(outcome), self.started.elapsed());
        self.session.services.metrics.call_ended(&self.label, ending, took);
        let level = if outcome.is_ok() { Level::Info } else { Level::Warning };
        let mut body = json!({
            "call": self.id.to_string(),
            "client": self.caller.client.as_str(),
            "principal": self.caller.principal,
            "outcome": ending.as_str(),
            "ms": (took.as_secs_f64() * 1000.0 * 1000.0).round() / 1000.0,
        });
        if let Some(trace) = &self.caller.trace {
            body["traceparent"] = json!(trace);
        }
        let audit = AuditRecord {
            at_ms: store::wall_clock_ms(),
            client: self.caller.client.to_string(),
            principal: Some(self.caller.principal.clone()),
            session: Some(self.session.name.to_string()),
            tool: self.label.clone(),
            outcome: ending.as_str().to_owned(),
            ms: took.as_millis() as u64,
            call: Some(self.id.to_string()),
            trace: self.caller.trace.clone(),
        };
        let entry = feed::entry("call", &self.label, level, Json::of(&body));
        let mut core = self.session.core.lock();
        self.session.record(&mut core, entry, [StoreWrite::Audit(audit)]);
    }
}

/// A caller that gives up, for whatever reason, withdraws its call.
impl Drop for Ticket {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let outcome = match self.session.withdraw(self.id, Ending::Cancelled) {
            Some(_) => Err(Fault::new(Code::Cancelled, "the client withdrew the call")),
            None => self.outcome.try_recv().unwrap_or_else(|_| Err(lost())),
        };
        self.note_end(&outcome);
    }
}

fn lost() -> Fault {
    Fault::new(Code::Internal, "the call's end was lost; this is a fault in Tabwire")
}

/// The name under which a call is counted.
fn label(work: &Work) -> String {
    match work {
        Work::Tool { name, .. } => name.clone(),
        Work::State { .. } => "state".to_owned(),
        Work::OpenTab { .. } => "open_tab".to_owned(),
        Work::CloseTab => "close_tab".to_owned(),
        Work::FocusTab => "focus_tab".to_owned(),
        Work::DiscoverTools => "discover_tools".to_owned(),
    }
}

/// Times for people: `0.3s`, `30s`, `5m`.
pub(crate) fn humantime_seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 10.0 => format!("{seconds:.1}s"),
        seconds if seconds < 120.0 => format!("{seconds:.0}s"),
        seconds if seconds < 7200.0 => format!("{:.0}m", seconds / 60.0),
        seconds => format!("{:.0}h", seconds / 3600.0),
    }
}
