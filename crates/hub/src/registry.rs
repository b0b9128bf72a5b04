//! Which sessions there are, and how they are found: by id, by instance, by name.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use model::{InstanceId, SessionId};

use crate::{names::Numbers, session::Session};

/// All kept sessions.
#[derive(Default)]
pub(crate) struct Registry {
    by_id: HashMap<SessionId, Arc<Session>>,
    by_instance: HashMap<InstanceId, SessionId>,
    by_name: HashMap<String, SessionId>,
    numbers: Numbers,
    /// Apps by their web origin; `origin_sessions` limits each list.
    by_origin: HashMap<String, Vec<SessionId>>,
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
        if let Some(origin) = session.app_origin() {
            self.by_origin.entry(origin.to_owned()).or_default().push(session.id.clone());
        }
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
        self.numbers.give_back(&session.name, self.by_id.len());
        if let Some(origin) = session.app_origin()
            && let Some(apps) = self.by_origin.get_mut(origin)
        {
            apps.retain(|id| *id != session.id);
            if apps.is_empty() {
                self.by_origin.remove(origin);
            }
        }
    }

    pub fn by_instance(&self, instance: &InstanceId) -> Option<Arc<Session>> {
        self.by_instance.get(instance).and_then(|id| self.by_id.get(id)).cloned()
    }

    pub fn by_id(&self, id: &SessionId) -> Option<&Arc<Session>> {
        self.by_id.get(id)
    }

    /// Returns a name that nobody has: what is wanted, or that with a number. It is nobody else's id
    /// either, or who is called like another would be taken for it.
    pub fn free_name(&mut self, wanted: &str, instance: &InstanceId) -> String {
        let Self { by_instance, by_name, numbers, .. } = self;
        let is_id_of_another = |name: &str| {
            let known = InstanceId::parse(name).ok();
            known.is_some_and(|id| id != *instance && by_instance.contains_key(&id))
        };
        let is_taken = |name: &str| by_name.contains_key(name) || is_id_of_another(name);
        match is_taken(wanted) {
            true => numbers.name(wanted, is_taken),
            false => wanted.to_owned(),
        }
    }

    /// The apps of a web origin.
    pub fn apps_of(&self, origin: &str) -> Vec<Arc<Session>> {
        let apps = self.by_origin.get(origin).into_iter().flatten();
        apps.filter_map(|id| self.by_id.get(id).cloned()).collect()
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

    /// Returns what a reference fits: by id; by instance or name, which are two where one peer has
    /// taken for its id what another is called; or all by a prefix of the id or by what they are
    /// called at present.
    pub fn matching(&self, reference: &str) -> Vec<Arc<Session>> {
        if let Some(session) = SessionId::parse(reference).ok().and_then(|id| self.by_id.get(&id)) {
            return vec![session.clone()];
        }
        let instance = InstanceId::parse(reference).ok();
        let instance = instance.and_then(|instance| self.by_instance.get(&instance));
        let named = self.by_name.get(reference).filter(|id| Some(*id) != instance);
        let exact = instance.into_iter().chain(named).filter_map(|id| self.by_id.get(id));
        let exact: Vec<_> = exact.cloned().collect();
        if !exact.is_empty() {
            return exact;
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
