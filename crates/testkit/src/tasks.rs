//! Tasks that a person gives to an AI client, scripted: what each costs in calls, tokens and time.
//!
//! - [`run`]: who is asked, what it costs, and how references are read out of what was said;
//! - [`tabwire`] and [`playwright`]: what a client can do with each server;
//! - the tasks, each with a script per server: [`forms`], [`tables`], [`widgets`], [`places`],
//!   [`files`].
//!
//! A script sees only what a client sees: it looks before it acts, and takes references from what
//! it has read. Whether a task is done is told by its page (`pages/tasks`), never by a server.

pub mod files;
pub mod forms;
pub mod places;
pub mod playwright;
pub mod run;
pub mod tables;
pub mod tabwire;
pub mod widgets;

use std::{path::Path, thread, time::Duration, time::Instant};

use serde_json::Value;

use crate::Site;
use playwright::Playwright;
use run::{Bill, Driver, Run, Story};
use tabwire::Tabwire;

/// How long the page may take to tell that a task is done, after the last call.
const TELLING: Duration = Duration::from_secs(30);

/// Something to be done.
pub struct Task {
    /// What it is called.
    pub name: &'static str,
    /// With Tabwire.
    pub tabwire: fn(&mut Tabwire<'_, '_>) -> Story,
    /// With the server of Playwright.
    pub playwright: fn(&mut Playwright<'_, '_>) -> Story,
    /// When it is done.
    pub proof: Proof,
}

/// What shows that a task is done.
pub enum Proof {
    /// The page has told exactly this about itself.
    State(fn() -> Value),
    /// The script's answer is what the page has told to be right.
    Answer,
}

/// Whose script is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// Ours.
    Tabwire,
    /// The other one.
    Playwright,
}

/// What came of a task.
pub struct Outcome {
    /// What it cost, also when it failed.
    pub bill: Bill,
    /// Whether it is done; if not, why.
    pub done: Result<(), String>,
}

/// Returns all tasks, in the order in which they are shown.
pub fn all() -> Vec<&'static Task> {
    let rooms: [&[Task]; 5] =
        [&forms::TASKS, &tables::TASKS, &widgets::TASKS, &places::TASKS, &files::TASKS];
    rooms.into_iter().flatten().collect()
}

impl Task {
    /// Runs the script of a server. Files are made in a folder that the server may read.
    pub fn run(
        &self,
        server: Server,
        driver: &mut dyn Driver,
        site: &Site,
        folder: &Path,
    ) -> Outcome {
        site.forget();
        let mut run = Run::new(driver, site, folder);
        let answer = match server {
            Server::Tabwire => (self.tabwire)(&mut Tabwire::new(&mut run)),
            Server::Playwright => (self.playwright)(&mut Playwright::new(&mut run)),
        };
        let bill = run.bill();
        Outcome { bill, done: answer.and_then(|answer| self.prove(site, &answer)) }
    }

    fn prove(&self, site: &Site, answer: &str) -> Result<(), String> {
        let (name, told) = match self.proof {
            Proof::State(state) => ("done", state()),
            Proof::Answer => ("expected", Value::from(answer)),
        };
        let deadline = Instant::now() + TELLING;
        loop {
            let reports = site.reports(name);
            if reports.last() == Some(&told) {
                return Ok(());
            }
            if Instant::now() > deadline {
                let newest = reports.last().map_or("nothing".to_owned(), Value::to_string);
                return Err(format!("the page has told {newest}, not {told}"));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}
