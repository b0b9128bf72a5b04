//! Ending browsers, and cleaning up behind those that ended by themselves.
//!
//! A browser is asked first, because it has things to write; whatever is left of its process group
//! after a while is ended at once. The record goes last, so that a crash in between is made good
//! by the next hub.

use std::{
    process::Child,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use processes::{Unproven, start_time};

use super::{Browsers, Claim, Ended, Entry, Stage, expected_folder, locate};
use crate::{BrowserRecord, LaunchId, Surroundings, folder, log, process};

/// How long a browser may take to end after it was asked to.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long the kernel may take to end a process.
const KERNEL: Duration = Duration::from_secs(3);
/// How often it is looked whether it has.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Browsers {
    /// Ends a browser and removes what is thrown away with it. Waits until that is done.
    pub fn end(&self, launch: &LaunchId) -> Result<Ended, Unproven> {
        self.end_within(launch, PATIENCE)
    }

    /// Ends all of them and lets no other be started; with patience zero without asking first.
    pub fn end_all(&self, patience: Duration) {
        self.inner.stopping.store(true, Ordering::SeqCst);
        let deadline = Instant::now() + patience + KERNEL;
        loop {
            let launches: Vec<_> = {
                let table = self.inner.table.lock();
                let up = table.iter().filter(|(_, entry)| entry.stage != Stage::Starting);
                up.map(|(launch, _)| launch.clone()).collect()
            };
            thread::scope(|scope| {
                for launch in &launches {
                    scope.spawn(move || {
                        if let Err(error) = self.end_within(launch, patience) {
                            tracing::warn!(%launch, %error, "browser not ended");
                        }
                    });
                }
            });
            // Whoever was being started in this moment is ended in the next round.
            let waiting =
                self.inner.table.lock().values().any(|entry| entry.stage == Stage::Starting);
            if !waiting || Instant::now() >= deadline {
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Looks after them: cleans up behind those that ended by themselves, and ends those that
    /// nobody waits for. Returns who has ended.
    pub fn tidy(&self) -> Vec<Ended> {
        let mut ended = self.sweep();
        let unwanted: Vec<_> = {
            let table = self.inner.table.lock();
            let unwanted = table.iter().filter(|(_, entry)| entry.claim == Claim::Abandoned);
            unwanted.map(|(launch, _)| launch.clone()).collect()
        };
        for launch in unwanted {
            match self.end(&launch) {
                Ok(done) => ended.push(done),
                Err(error) => tracing::warn!(%launch, %error, "browser not ended"),
            }
        }
        ended
    }

    /// Cleans up behind those that ended by themselves, and keeps the logs of the others short.
    pub(super) fn sweep(&self) -> Vec<Ended> {
        let mut gone = Vec::new();
        for entry in self.inner.table.lock().values_mut() {
            // Whoever waits for one wants to read what it said.
            if entry.stage != Stage::Running || entry.claim != Claim::Kept {
                continue;
            }
            if entry.is_alive() {
                let _ = log::shorten(&entry.record.user_data_dir);
            } else {
                entry.stage = Stage::Ending;
                gone.push(entry.record.clone());
            }
        }
        let mut ended = Vec::new();
        for record in gone {
            // A program may have started the browser and ended: that one is it from now on.
            if let Some(found) = process::find(&record) {
                self.follow(&record.launch, found);
                continue;
            }
            tracing::info!(launch = %record.launch, name = record.name, "browser ended by itself");
            self.remove(&record);
            ended.push(Ended(record));
        }
        ended
    }

    pub(super) fn end_within(
        &self,
        launch: &LaunchId,
        patience: Duration,
    ) -> Result<Ended, Unproven> {
        let (record, mut child) = loop {
            let mut table = self.inner.table.lock();
            let entry = table.get_mut(launch).ok_or(Unproven::Gone)?;
            if entry.stage != Stage::Ending {
                entry.stage = Stage::Ending;
                break (entry.record.clone(), entry.child.take());
            }
            // Somebody else is at it: wait until that is done.
            drop(table);
            thread::sleep(LOOK_AGAIN);
        };
        if let Err(error) = end_process(&record, child.as_ref(), patience) {
            if let Some(entry) = self.inner.table.lock().get_mut(launch) {
                entry.stage = Stage::Running;
                entry.child = child;
                entry.claim = Claim::Kept;
            }
            return Err(error);
        }
        if let Some(child) = &mut child {
            let _ = child.wait();
        }
        tracing::info!(%launch, name = record.name, "browser ended");
        self.remove(&record);
        Ok(Ended(record))
    }

    /// Goes on with the process that a browser has become.
    fn follow(&self, launch: &LaunchId, (pid, start_time): (u32, u64)) {
        let mut table = self.inner.table.lock();
        let Some(entry) = table.get_mut(launch) else { return };
        entry.record.pid = pid;
        entry.record.start_time = start_time;
        entry.child = None;
        entry.stage = Stage::Running;
        let _ = entry.record.write(&self.inner.surroundings.data);
    }

    fn remove(&self, record: &BrowserRecord) {
        clean(&self.inner.surroundings, record);
        self.inner.table.lock().remove(&record.launch);
        self.inner.ended.lock().push(Ended(record.clone()));
    }
}

impl Entry {
    fn is_alive(&mut self) -> bool {
        match &mut self.child {
            // Its end is taken note of here, so that it does not stay a zombie.
            Some(child) => matches!(child.try_wait(), Ok(None)),
            None if cfg!(target_os = "linux") => {
                start_time(self.record.pid) == Some(self.record.start_time)
            }
            None => locate(&self.record).is_some(),
        }
    }
}

/// Ends the process of a record, if it is there and proven.
fn end_process(
    record: &BrowserRecord,
    child: Option<&Child>,
    patience: Duration,
) -> Result<(), Unproven> {
    let proven = match locate(record) {
        None => return Ok(()),
        Some(record) => process::prove(&record),
    };
    let browser = match (proven, child) {
        (Ok(browser), _) => browser,
        (Err(Unproven::Gone), _) => return Ok(()),
        (Err(_), Some(child)) => return end_child(child),
        (Err(error), None) => return Err(error),
    };
    let mut members = process::group(&browser);
    if !patience.is_zero() {
        browser.terminate()?;
        wait(patience, || !browser.is_alive());
    }
    if browser.is_alive() {
        members = process::group(&browser);
    }
    process::kill(&members);
    wait(KERNEL, || !browser.is_alive());
    match browser.is_alive() {
        // Its profile must stay, and so must what is known of it.
        true => Err(Unproven::Failed(std::io::Error::other("it does not end"))),
        false => Ok(()),
    }
}

/// Ends a child of ours that changed its command line. Nobody has missed it yet, so its id and the
/// number of its group are its own.
fn end_child(child: &Child) -> Result<(), Unproven> {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        match rustix::process::kill_process_group(group, rustix::process::Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(Unproven::Failed(error.into())),
        }
    }
    let _ = child;
    Ok(())
}

fn wait(limit: Duration, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() && begun.elapsed() < limit {
        thread::sleep(LOOK_AGAIN);
    }
}

/// Removes what a browser that has ended leaves: a profile that is thrown away, then the record.
pub fn clean(surroundings: &Surroundings, record: &BrowserRecord) {
    let is_own = record.user_data_dir == expected_folder(surroundings, record);
    let throw_away = record.throw_away && record.profile.is_none() && is_own;
    let removed = match throw_away {
        true => folder::remove(&record.user_data_dir),
        false => Ok(()),
    };
    // With the record still there, the next hub tries again.
    if let Err(error) = removed.and_then(|()| record.remove(&surroundings.data)) {
        tracing::warn!(launch = %record.launch, %error, "not everything of a browser was removed");
    }
}
