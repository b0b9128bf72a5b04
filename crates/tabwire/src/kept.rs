//! What the hub keeps, by the settings: in a file of the data folder, or in memory.

use std::{sync::Arc, time::Duration};

use store::{EmbeddedStore, Health, MemoryStore, Options, Store, StoreError, embedded::operate};

use crate::{command::version::VERSION, config::Own};

/// How often it is looked whether another hub has taken the file over.
const LOOK: Duration = Duration::from_millis(500);

/// The store of this hub.
pub enum Kept {
    /// Gone with the process.
    Memory(Arc<MemoryStore>),
    /// In a file.
    Embedded(Arc<EmbeddedStore>),
}

/// Returns the last term that the store of the settings has seen, so that the next is greater.
pub fn last_term(own: &Own) -> u64 {
    match own.store.as_str() {
        "memory" => 0,
        _ => operate::term(&own.store_file()),
    }
}

impl Kept {
    /// Opens the store of the settings with the lease's term, and with no other: a store that
    /// knows a later one belongs to another hub.
    pub fn open(own: &Own, term: u64) -> Result<Self, StoreError> {
        if own.store == "memory" {
            return Ok(Self::Memory(Arc::default()));
        }
        let program = VERSION.to_owned();
        let options = Options { program, term: Some(term), ..Options::new(own.store_file()) };
        let store = EmbeddedStore::open(options)?;
        tracing::info!(term = store.term(), file = %own.store_file().display(), "store opened");
        Ok(Self::Embedded(Arc::new(store)))
    }

    /// Returns the store.
    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => store.clone(),
            Self::Embedded(store) => store.clone(),
        }
    }

    /// Waits until another hub has the file. Cancel-safe.
    pub async fn taken_over(&self) {
        while self.store().health() != Health::Fenced {
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Writes what waits and closes the file.
    pub async fn close(&self) {
        let Self::Embedded(store) = self else { return };
        let store = store.clone();
        // It waits for the disk, which an async thread must not.
        let closed = tokio::task::spawn_blocking(move || store.close()).await;
        if let Ok(Err(error)) = closed {
            tracing::error!(%error, "not everything is on disk");
        }
    }
}
