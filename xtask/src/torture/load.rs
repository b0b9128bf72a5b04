//! Something else that keeps all cores busy: as many shells that count as there are cores.

use std::{
    process::{Child, Command},
    thread,
};

use anyhow::{Context, Result};

/// Busy until it is dropped.
pub struct BusyCores(Vec<Child>);

impl BusyCores {
    pub fn start() -> Result<Self> {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let count = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        let shells = (0..cores).map(|_| count()).collect::<Result<_, _>>();
        Ok(Self(shells.context("sh cannot be started")?))
    }
}

impl Drop for BusyCores {
    fn drop(&mut self) {
        for shell in &mut self.0 {
            let _ = shell.kill();
            let _ = shell.wait();
        }
    }
}
