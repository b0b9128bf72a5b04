//! The program's commands, run to their end or watched while they run.

use std::{
    io::Write,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::{
    Place, eventually,
    hub_process::{Captured, Signal, collect, isolate, send_signal},
    within,
};

/// How to run commands: which program, whose home, which variables.
pub struct Commands<'a> {
    program: String,
    place: &'a Place,
    environment: Vec<(String, String)>,
}

/// What became of a command.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

/// A command that runs. Killed at the latest when this is dropped.
pub struct Running {
    child: Child,
    stdout: Captured,
    stderr: Captured,
}

impl<'a> Commands<'a> {
    /// Runs the program with an empty environment and its home in a folder.
    pub fn new(program: &str, place: &'a Place) -> Self {
        Self { program: program.to_owned(), place, environment: Vec::new() }
    }

    /// Sets a variable of the environment.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs a command to its end.
    pub async fn run(&self, args: &[&str]) -> Finished {
        self.run_with(args, "").await
    }

    /// Runs a command to its end, with something on its standard input.
    pub async fn run_with(&self, args: &[&str], input: &str) -> Finished {
        let mut running = self.spawn(args);
        // An error means that the command does not read its input.
        let _ = running.child.stdin.take().unwrap().write_all(input.as_bytes());
        running.finished().await
    }

    /// Starts a command and leaves it running.
    pub fn spawn(&self, args: &[&str]) -> Running {
        let mut command = Command::new(&self.program);
        isolate(&mut command, self.place);
        command.args(args).envs(self.environment.iter().cloned());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        Running { child, stdout, stderr }
    }
}

impl Running {
    /// Returns what it has printed so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Waits until it has printed something, for one that takes longer than most. One that ends
    /// before fails the test with all that it has said.
    pub async fn until_said(&mut self, words: &str, limit: Duration) {
        let said = async {
            loop {
                // Asked first: what it prints at its very end counts.
                let ended = self.child.try_wait().unwrap();
                if self.stdout().contains(words) {
                    return;
                }
                if let Some(status) = ended {
                    let told = self.collected(status).await;
                    panic!("it ended without saying {words:?}: {told:?}");
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        if tokio::time::timeout(limit, said).await.is_err() {
            let (out, errors) = (self.stdout(), self.stderr.text());
            panic!("{words:?} was not said within {limit:?}; stdout: {out}\nstderr: {errors}");
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        send_signal(self.child.id(), signal);
    }

    /// Waits for its end.
    pub async fn finished(mut self) -> Finished {
        let status = eventually("the command ends", async || self.child.try_wait().unwrap()).await;
        self.collected(status).await
    }

    /// Waits for the end of one that takes longer than most.
    pub async fn finished_within(mut self, limit: Duration) -> Finished {
        let ended = async {
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let status = within(limit, "the command ends", ended).await;
        self.collected(status).await
    }

    async fn collected(&self, status: ExitStatus) -> Finished {
        let stdout = eventually("its output ends", async || self.stdout.finished()).await;
        let stderr = eventually("its errors end", async || self.stderr.finished()).await;
        Finished { code: status.code().unwrap_or(-1), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Finished {
    /// Fails the test unless the command ended with this code.
    #[track_caller]
    pub fn must_exit(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Reads what it printed as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
