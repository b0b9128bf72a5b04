//! What the hub keeps, by the settings: in a file of the data folder, or in memory.

use std::{sync::Arc, time::Duration};

use store::{EmbeddedStore, Health, MemoryStore, Options, Store};

use crate::{command::version::VERSION, config::Own, failure::Failure};

/// How often it is looked whether another hub has taken the file over.
const LOOK: Duration = Duration::from_millis(500);

/// The store of this hub.
pub enum Kept {
    /// Gone with the process.
    Memory(Arc<MemoryStore>),
    /// In a file.
    Embedded(Arc<EmbeddedStore>),
}

impl Kept {
    /// Opens the store of the settings; its term will be greater than the given one.
    pub fn open(own: &Own, term: u64) -> Result<Self, Failure> {
        if own.store == "memory" {
            return Ok(Self::Memory(Arc::default()));
        }
        let options = Options {
            program: VERSION.to_owned(),
            term_floor: term,
            ..Options::new(own.store_file())
        };
        let store = EmbeddedStore::open(options).map_err(Failure::failed)?;
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
