//! Which sessions there are, and how they are found: by id, by instance, by name.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use model::{InstanceId, SessionId};

use crate::session::Session;

/// All kept sessions.
#[derive(Default)]
pub(crate) struct Registry {
    by_id: HashMap<SessionId, Arc<Session>>,
    by_instance: HashMap<InstanceId, SessionId>,
    by_name: HashMap<String, SessionId>,
    /// How often all of them were looked through.
    scans: AtomicU64,
}

impl Registry {
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn scans(&self) -> u64 {
        self.scans.load(Ordering::Relaxed)
    }

    pub fn insert(&mut self, session: Arc<Session>) {
        session.offer();
        self.by_instance.insert(session.instance.clone(), session.id.clone());
        self.by_name.insert(session.name.to_string(), session.id.clone());
        self.by_id.insert(session.id.clone(), session);
    }

    /// Puts a session back if it has been taken out.
    pub fn keep(&mut self, session: &Arc<Session>) {
        if !self.by_id.contains_key(&session.id) {
            self.insert(session.clone());
        }
    }

    pub fn remove(&mut self, session: &Session) {
        session.withdraw_offer();
        self.by_id.remove(&session.id);
        self.by_instance.remove(&session.instance);
        self.by_name.remove(&*session.name);
    }

    pub fn by_instance(&self, instance: &InstanceId) -> Option<Arc<Session>> {
        self.by_instance.get(instance).and_then(|id| self.by_id.get(id)).cloned()
    }

    pub fn by_id(&self, id: &SessionId) -> Option<&Arc<Session>> {
        self.by_id.get(id)
    }

    pub fn names(&self) -> &HashMap<String, SessionId> {
        &self.by_name
    }

    /// All sessions, by name.
    pub fn all(&self) -> Vec<Arc<Session>> {
        self.filtered(|_| true)
    }

    /// The sessions that something is true of, by name.
    pub fn filtered(&self, wanted: impl Fn(&Session) -> bool) -> Vec<Arc<Session>> {
        self.scans.fetch_add(1, Ordering::Relaxed);
        let mut all: Vec<_> =
            self.by_id.values().filter(|session| wanted(session)).cloned().collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    /// Returns what a reference fits: one by id, name or instance, or all by a prefix
    /// of the id or by what they are called at present.
    pub fn matching(&self, reference: &str) -> Vec<Arc<Session>> {
        let named = self.by_name.get(reference).and_then(|id| self.by_id.get(id));
        let exact =
            named.or_else(|| self.by_id.get(&SessionId::parse(reference).ok()?)).or_else(|| {
                let id = self.by_instance.get(&InstanceId::parse(reference).ok()?)?;
                self.by_id.get(id)
            });
        if let Some(session) = exact {
            return vec![session.clone()];
        }
        // Two characters are the same in all ids, so that a prefix has at least one of its own.
        if reference.len() < 3 {
            return Vec::new();
        }
        self.filtered(|session| {
            session.id.as_str().starts_with(reference) || session.is_called(reference)
        })
    }
}
