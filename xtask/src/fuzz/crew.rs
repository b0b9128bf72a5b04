//! Several targets, as many at a time as there are cores, until all are done or somebody interrupts.
//!
//! Ctrl-C ends the processes. Nothing is noted for those, and no scratch files stay.

use std::{
    collections::{HashMap, VecDeque},
    env, fs,
    path::{Path, PathBuf},
    process::{self, Child},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
    },
    thread,
};

use anyhow::{Context, Result, bail};
use tokio::{runtime, signal, sync::oneshot};

use super::run::{Finished, Plan};

/// Runs all plans; `note` gets what came of each, in the order in which they end.
pub fn run(plans: Vec<Plan>, mut note: impl FnMut(&Plan, &Finished) -> Result<()>) -> Result<()> {
    let scratch = Scratch::new()?;
    let crew = Crew { waiting: Mutex::new(plans.into()), ..Crew::default() };
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let (over, is_over) = oneshot::channel();
    let outcome = thread::scope(|scope| {
        scope.spawn(|| crew.watch_for_interrupt(is_over));
        let (sender, done) = mpsc::channel();
        for _ in 0..cores {
            let sender = sender.clone();
            let (crew, scratch) = (&crew, scratch.0.as_path());
            scope.spawn(move || crew.work(scratch, &sender));
        }
        drop(sender);
        let outcome = done.iter().try_for_each(|run| run.and_then(|(plan, it)| note(&plan, &it)));
        if outcome.is_err() {
            crew.stop();
        }
        // The watcher may have ended already.
        let _ = over.send(());
        outcome
    });
    match crew.is_stopped.load(Ordering::Relaxed) && outcome.is_ok() {
        true => bail!("interrupted"),
        false => outcome,
    }
}

/// What the threads share.
#[derive(Default)]
struct Crew {
    // Held to take one.
    waiting: Mutex<VecDeque<Plan>>,
    // Held to put one in, to take one out, or to end all of them.
    running: Mutex<HashMap<u32, Child>>,
    is_stopped: AtomicBool,
}

impl Crew {
    /// Runs one plan after the other.
    fn work(&self, scratch: &Path, done: &Sender<Result<(Plan, Finished)>>) {
        while !self.is_stopped.load(Ordering::Relaxed) {
            let Some(plan) = lock(&self.waiting).pop_front() else { return };
            let finished = self.run_one(&plan, scratch);
            // What was interrupted says nothing of its target.
            if !self.is_stopped.load(Ordering::Relaxed) {
                let _ = done.send(finished.map(|finished| (plan, finished)));
            }
        }
    }

    fn run_one(&self, plan: &Plan, scratch: &Path) -> Result<Finished> {
        let mut child = plan.start(scratch)?;
        let said = child.stderr.take().context("its words are piped")?;
        let id = child.id();
        lock(&self.running).insert(id, child);
        let finished = plan.listen(said);
        let child = lock(&self.running).remove(&id);
        let status = child.context("only its own thread takes it out")?.wait()?;
        Ok(Finished { passed: status.success(), ..finished? })
    }

    /// Stops on Ctrl-C, until the work is over.
    fn watch_for_interrupt(&self, is_over: oneshot::Receiver<()>) {
        let Ok(runtime) = runtime::Builder::new_current_thread().enable_all().build() else {
            return;
        };
        // Both arms are cancel-safe: each is asked once only.
        let interrupted = runtime.block_on(async {
            tokio::select! {
                signal = signal::ctrl_c() => signal.is_ok(),
                _ = is_over => false,
            }
        });
        if interrupted {
            self.stop();
        }
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        for child in lock(&self.running).values_mut() {
            let _ = child.kill();
        }
    }
}

/// A folder that goes when it is dropped, in memory where the machine has such a place.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self> {
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { env::temp_dir() };
        let folder = parent.join(format!("tabwire-fuzz-{}", process::id()));
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A thread that panicked has left nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
