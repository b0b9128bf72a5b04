//! What the hub keeps things in, by the settings.

use std::{sync::Arc, time::Duration};

use store::{BACKENDS, Health, Store, StoreBackend, StorePlace};

use crate::{command::version::VERSION, config::ProgramConfig};

/// How often it is looked whether another hub has taken the store over.
const LOOK: Duration = Duration::from_millis(500);

/// Returns the back-end of the settings; one that nobody knows was refused when they were read.
pub fn backend(own: &ProgramConfig) -> Arc<dyn StoreBackend> {
    let place = StorePlace { file: own.store_file(), program: VERSION.to_owned() };
    let named = BACKENDS.iter().find(|(name, _)| *name == own.store);
    named.unwrap_or(&BACKENDS[0]).1(&place)
}

/// Waits until another hub has the store. Cancel-safe.
pub async fn taken_over(store: &dyn Store) {
    while store.health() != Health::Fenced {
        tokio::time::sleep(LOOK).await;
    }
}

/// Writes what waits and closes the store.
pub async fn close(store: Arc<dyn Store>) {
    // It waits for the disk, which an async thread must not.
    let closed = tokio::task::spawn_blocking(move || store.close()).await;
    if let Ok(Err(error)) = closed {
        tracing::error!(%error, "not everything is on disk");
    }
}
