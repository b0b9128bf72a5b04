//! How a hub ends without leaving a request unanswered.
//!
//! Three steps, each later than the one before: no new requests ([`Hub::close_requests`]), no calls
//! any more ([`Hub::end_calls`]), and an answer in the place of whatever still runs
//! ([`Hub::cut_requests`]). When each comes is up to who ends the hub; nothing here keeps time.

use model::{Code, Fault};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use crate::hub::Hub;

/// The requests of clients that are under way, and how far the hub's end is.
#[derive(Default)]
pub(crate) struct Requests {
    under_way: TaskTracker,
    /// No new requests; a browser that goes now is not waited for.
    closed: CancellationToken,
    /// No calls any more.
    ended: CancellationToken,
    /// What still runs is answered for.
    cut: CancellationToken,
}

impl Requests {
    pub fn are_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// Refuses a call that comes after all calls were ended.
    pub fn check_calls(&self) -> Result<(), Fault> {
        if self.ended.is_cancelled() { Err(shutting_down()) } else { Ok(()) }
    }

    fn enter(&self) -> Result<TaskTrackerToken, Fault> {
        // Counted first: who closes and then looks finds it.
        let token = self.under_way.token();
        if self.are_closed() { Err(shutting_down()) } else { Ok(token) }
    }
}

impl Hub {
    /// Answers a client's request. A hub that ends takes no new ones, and waits for this one or
    /// answers in its place.
    pub async fn request<T>(
        &self,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let requests = &self.services.requests;
        let _under_way = requests.enter()?;
        // Both arms are cancel-safe: dropping the work withdraws its calls, the other only waits.
        tokio::select! {
            biased;
            outcome = work => outcome,
            () = requests.cut.cancelled() => Err(Fault::new(
                Code::OutcomeUnknown,
                "the hub stopped before this had ended; it may or may not have happened",
            )
            .hint("look at the page or its state before repeating the call")),
        }
    }

    /// Takes no new requests. Calls whose browser is away end now: it could not come back.
    pub fn close_requests(&self) {
        self.services.requests.closed.cancel();
        self.services.requests.under_way.close();
        for session in self.sessions() {
            session.end_suspended();
        }
    }

    /// Waits until every request has its answer, once no new ones are taken.
    pub async fn requests_answered(&self) {
        self.services.requests.under_way.wait().await;
    }

    /// Ends every call that has no end yet: what was sent may have happened, the rest has not.
    pub fn end_calls(&self) {
        self.services.requests.ended.cancel();
        for session in self.sessions() {
            session.end_calls();
        }
    }

    /// Answers in the place of every request that still runs.
    pub fn cut_requests(&self) {
        self.services.requests.cut.cancel();
    }
}

fn shutting_down() -> Fault {
    Fault::new(Code::ShuttingDown, "the hub is shutting down")
        .hint("nothing was done; repeat the call in a moment, when a hub runs again")
}
