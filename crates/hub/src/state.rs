//! What is known of an app's state: the newest value, its version, its age.
//!
//! Within one life of the page (`stateEpoch`) an older version never replaces a newer one; no
//! wall clock decides. A patch applies only to the version right before it; otherwise the whole
//! state must be asked for. Asking is the hub's business, not done here. [`patching`] bounds what a
//! patch may do.

mod patching;

use std::{collections::VecDeque, time::Duration};

use model::{Epoch, Json, StateBody, StateUpdate, record::StateRecord};
use tokio::time::Instant;

use crate::config::limits;
pub use patching::StateLimit;
use patching::{StateTree, Unpatched};

/// Lives of the page that have ended and must not come back.
const ENDED_EPOCHS: usize = 4;

/// The newest known state of one session.
#[derive(Default)]
pub struct StateCache {
    known: Option<Known>,
    ended: VecDeque<Epoch>,
}

struct Known {
    value: Cached,
    epoch: Option<Epoch>,
    version: u64,
    /// The value is what the page had at `version`, so that the next patch fits it.
    exact: bool,
    at: Instant,
    /// The page may have been reloaded since.
    doubtful: bool,
}

/// Text until a patch needs the tree, tree until somebody wants the text.
enum Cached {
    Text(Json),
    Tree(Box<StateTree>),
}

/// What became of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It is the newest state now.
    Accepted,
    /// Something newer is known: ignored.
    Older,
    /// It builds on something that is not known: the whole state is needed.
    NeedsWhole,
    /// The state would go beyond this limit: the one before it stays.
    OverLimit(StateLimit),
}

/// A state with what must be known to trust it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// All of it.
    pub state: Json,
    /// The life of the page that counts the versions.
    pub epoch: Option<Epoch>,
    /// Its version; counted by the hub where the page does not.
    pub version: u64,
    /// How long ago it was told.
    pub age: Duration,
    /// The page may have been reloaded since: it has to be asked.
    pub doubtful: bool,
}

impl StateCache {
    /// Brings a state back as it was written down; its age goes on.
    pub fn restore(record: StateRecord, now_ms: u64) -> Self {
        let Ok(state) = Json::parse(record.state) else { return Self::default() };
        let age = Duration::from_millis(now_ms.saturating_sub(record.at_ms));
        let now = Instant::now();
        let known = Known {
            value: Cached::Text(state),
            epoch: record.epoch.and_then(|epoch| Epoch::parse(&epoch).ok()),
            version: record.version,
            exact: record.exact,
            at: now.checked_sub(age).unwrap_or(now),
            // The page may have gone on without us.
            doubtful: true,
        };
        Self { known: Some(known), ended: VecDeque::new() }
    }

    /// Writes down what is known.
    pub fn record(&mut self, now_ms: u64) -> Option<StateRecord> {
        let Snapshot { state, epoch, version, age, .. } = self.snapshot()?;
        Some(StateRecord {
            epoch: epoch.map(|epoch| epoch.as_str().to_owned()),
            version,
            exact: self.known.as_ref().is_some_and(|known| known.exact),
            state: state.as_str().to_owned(),
            at_ms: now_ms.saturating_sub(age.as_millis() as u64),
        })
    }

    /// Takes in an update or a response.
    pub fn apply(&mut self, update: StateUpdate) -> Applied {
        if update.epoch.as_ref().is_some_and(|epoch| self.ended.contains(epoch)) {
            return Applied::Older;
        }
        if update.epoch.is_none() && self.known.as_ref().is_some_and(|known| known.epoch.is_some())
        {
            return self.told_without_version(update.body);
        }
        let same_life = self.known.as_ref().filter(|known| known.epoch == update.epoch);
        let last = same_life.map(|known| known.version);
        let exact = same_life.is_some_and(|known| known.exact);
        // Where the page does not count, order of arrival does.
        let version =
            update.version.unwrap_or_else(|| last.map_or(1, |last| last.saturating_add(1)));
        match update.body {
            StateBody::Whole(_) if last.is_some_and(|last| version < last) => Applied::Older,
            StateBody::Whole(json) => self.replace(json, update.epoch, version),
            StateBody::Patch(_) if last.is_some_and(|last| version <= last) => Applied::Older,
            StateBody::Patch(patch)
                if exact && last.and_then(|last| last.checked_add(1)) == Some(version) =>
            {
                self.patch(&patch, version)
            }
            StateBody::Patch(_) => Applied::NeedsWhole,
        }
    }

    /// A page that counts its versions answered without one: the value is newer than what was
    /// known, but nobody knows which version the next patch builds on.
    fn told_without_version(&mut self, body: StateBody) -> Applied {
        let (Some(known), StateBody::Whole(json)) = (&mut self.known, body) else {
            return Applied::NeedsWhole;
        };
        if json.size() > limits::STATE {
            return Applied::OverLimit(StateLimit::Bytes);
        }
        known.value = Cached::Text(json);
        known.exact = false;
        known.doubtful = false;
        known.at = Instant::now();
        Applied::Accepted
    }

    /// Returns the newest known state.
    pub fn snapshot(&mut self) -> Option<Snapshot> {
        let known = self.known.as_mut()?;
        let state = match &known.value {
            Cached::Text(text) => text.clone(),
            Cached::Tree(tree) => {
                let text = tree.to_json();
                known.value = Cached::Text(text.clone());
                text
            }
        };
        Some(Snapshot {
            state,
            epoch: known.epoch.clone(),
            version: known.version,
            age: known.at.elapsed(),
            doubtful: known.doubtful,
        })
    }

    /// Takes note that the page may be another one now.
    pub fn doubt(&mut self) {
        if let Some(known) = &mut self.known {
            known.doubtful = true;
        }
    }

    /// Returns the version that is known, without the state.
    pub fn version(&self) -> Option<u64> {
        self.known.as_ref().map(|known| known.version)
    }

    /// Returns about how many bytes it takes.
    pub fn weight(&self) -> usize {
        self.known.as_ref().map_or(0, |known| match &known.value {
            Cached::Text(text) => text.size(),
            Cached::Tree(tree) => tree.weight(),
        })
    }

    fn replace(&mut self, json: Json, epoch: Option<Epoch>, version: u64) -> Applied {
        if json.size() > limits::STATE {
            return Applied::OverLimit(StateLimit::Bytes);
        }
        if let Some(Known { epoch: Some(old), .. }) = &self.known
            && epoch.as_ref() != Some(old)
        {
            self.ended.push_back(old.clone());
            if self.ended.len() > ENDED_EPOCHS {
                self.ended.pop_front();
            }
        }
        let value = Cached::Text(json);
        self.known =
            Some(Known { value, epoch, version, exact: true, at: Instant::now(), doubtful: false });
        Applied::Accepted
    }

    fn patch(&mut self, patch: &Json, version: u64) -> Applied {
        let Some(known) = &mut self.known else { return Applied::NeedsWhole };
        if let Cached::Text(text) = &known.value {
            let Some(tree) = StateTree::parse(text) else { return Applied::NeedsWhole };
            known.value = Cached::Tree(Box::new(tree));
        }
        let Cached::Tree(tree) = &mut known.value else { return Applied::NeedsWhole };
        match tree.patch(patch) {
            Ok(()) => {
                known.version = version;
                known.at = Instant::now();
                Applied::Accepted
            }
            Err(Unpatched::NeedsWhole) => Applied::NeedsWhole,
            Err(Unpatched::OverLimit(limit)) => Applied::OverLimit(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn whole(epoch: &str, version: u64, state: Value) -> StateUpdate {
        StateUpdate {
            body: StateBody::Whole(Json::of(&state)),
            epoch: Some(Epoch::parse(epoch).unwrap()),
            version: Some(version),
        }
    }

    fn patch(epoch: &str, version: u64, operations: Value) -> StateUpdate {
        StateUpdate {
            body: StateBody::Patch(Json::of(&operations)),
            ..whole(epoch, version, json!(null))
        }
    }

    fn set(color: &str) -> Value {
        json!([{"op": "replace", "path": "/color", "value": color}])
    }

    #[track_caller]
    fn check(cache: &mut StateCache, version: u64, state: Value) {
        let snapshot = cache.snapshot().unwrap();
        assert_eq!((snapshot.version, snapshot.state.to_value().unwrap()), (version, state));
    }

    #[tokio::test]
    async fn older_versions_never_replace_newer_ones() {
        let mut cache = StateCache::default();
        assert_eq!(cache.apply(whole("p1", 5, json!({"color": "red"}))), Applied::Accepted);
        assert_eq!(cache.apply(whole("p1", 4, json!({"color": "old"}))), Applied::Older);
        assert_eq!(cache.apply(patch("p1", 5, set("old"))), Applied::Older);
        check(&mut cache, 5, json!({"color": "red"}));
    }

    #[tokio::test]
    async fn a_reloaded_page_counts_anew_and_its_former_life_is_over() {
        let mut cache = StateCache::default();
        cache.apply(whole("p1", 50, json!({"color": "red"})));
        assert_eq!(cache.apply(patch("p2", 1, set("blue"))), Applied::NeedsWhole);
        assert_eq!(cache.apply(whole("p2", 1, json!({"color": "blue"}))), Applied::Accepted);
        assert_eq!(cache.apply(whole("p1", 51, json!({"color": "ghost"}))), Applied::Older);
        check(&mut cache, 1, json!({"color": "blue"}));
    }

    #[tokio::test]
    async fn patches_build_on_the_version_before() {
        let mut cache = StateCache::default();
        assert_eq!(cache.apply(patch("p1", 1, set("x"))), Applied::NeedsWhole, "on nothing");
        cache.apply(whole("p1", 1, json!({"color": "red", "n": 1})));
        assert_eq!(cache.apply(patch("p1", 2, set("green"))), Applied::Accepted);
        assert_eq!(cache.apply(patch("p1", 4, set("lost one"))), Applied::NeedsWhole);
        check(&mut cache, 2, json!({"color": "green", "n": 1}));
    }

    #[tokio::test]
    async fn a_patch_that_does_not_fit_changes_nothing() {
        let mut cache = StateCache::default();
        cache.apply(whole("p1", 1, json!({"color": "red"})));
        let half = json!([
            {"op": "replace", "path": "/color", "value": "green"},
            {"op": "remove", "path": "/missing"}
        ]);
        for bad in [half, json!({"op": "x"}), json!([{"op": "fly"}]), json!(7)] {
            assert_eq!(cache.apply(patch("p1", 2, bad)), Applied::NeedsWhole);
        }
        check(&mut cache, 1, json!({"color": "red"}));
    }

    #[tokio::test]
    async fn without_versions_order_of_arrival_counts() {
        let mut cache = StateCache::default();
        for color in ["red", "green"] {
            let body = StateBody::Whole(Json::of(&json!({ "color": color })));
            assert_eq!(
                cache.apply(StateUpdate { body, epoch: None, version: None }),
                Applied::Accepted
            );
        }
        check(&mut cache, 2, json!({"color": "green"}));
    }

    #[tokio::test]
    async fn after_the_last_version_there_is_order_of_arrival() {
        let mut cache = StateCache::default();
        assert_eq!(cache.apply(whole("p1", u64::MAX, json!({"color": "red"}))), Applied::Accepted);
        let told = StateUpdate { version: None, ..whole("p1", 0, json!({"color": "green"})) };
        assert_eq!(cache.apply(told), Applied::Accepted);
        assert_eq!(cache.apply(patch("p1", 0, set("blue"))), Applied::Older);
        check(&mut cache, u64::MAX, json!({"color": "green"}));
    }

    #[tokio::test]
    async fn an_answer_without_a_version_is_newer_and_no_base_for_patches() {
        let mut cache = StateCache::default();
        cache.apply(whole("p1", 3, json!({"color": "red"})));
        let body = StateBody::Whole(Json::of(&json!({"color": "green"})));
        let told = StateUpdate { body, epoch: None, version: None };
        assert_eq!(cache.apply(told), Applied::Accepted);
        check(&mut cache, 3, json!({"color": "green"}));
        assert_eq!(cache.apply(patch("p1", 4, set("blue"))), Applied::NeedsWhole);
        assert_eq!(cache.apply(whole("p1", 4, json!({"color": "blue"}))), Applied::Accepted);
        assert_eq!(cache.apply(patch("p1", 5, set("teal"))), Applied::Accepted);
    }

    #[tokio::test]
    async fn what_would_pass_the_limit_is_refused_and_the_old_state_stays() {
        let mut cache = StateCache::default();
        let over = Applied::OverLimit(StateLimit::Bytes);
        let large = json!({ "text": "x".repeat(limits::STATE) });
        assert_eq!(cache.apply(whole("p1", 1, large.clone())), over);
        cache.apply(whole("p1", 1, json!({"n": 1})));
        let growth = json!([{"op": "add", "path": "/t", "value": "x".repeat(limits::STATE)}]);
        assert_eq!(cache.apply(patch("p1", 2, growth)), over);
        assert_eq!(cache.apply(whole("p1", 2, large)), over);
        check(&mut cache, 1, json!({"n": 1}));
        let next = json!([{"op": "replace", "path": "/n", "value": 2}]);
        assert_eq!(cache.apply(patch("p1", 2, next)), Applied::Accepted);
    }
}
