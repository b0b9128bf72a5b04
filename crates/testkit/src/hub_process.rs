//! The real program as a child process: on a port of its own, with folders of its own.
//!
//! What it prints is collected, and shown when the test fails. It is killed at the latest when
//! the handle is dropped.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{Api, Commands, Place, eventually, keyring, within};

/// How long the program may take to end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A signal that the hub understands.
#[derive(Debug, Clone, Copy)]
pub enum Signal {
    /// Read the settings again.
    Hangup,
    /// Drain and stop.
    Terminate,
    /// What Ctrl-C sends.
    Interrupt,
    /// Stand still, as a machine that sleeps.
    Stop,
    /// Go on.
    Continue,
    /// Die at once.
    Kill,
}

/// How a hub is to be started.
pub struct HubOptions {
    recipe: Recipe,
    place: Place,
}

/// What is started; the same again after a restart.
struct Recipe {
    program: String,
    /// A command that runs the program, with its own first arguments.
    under: Vec<String>,
    args: Vec<String>,
    environment: Vec<(String, String)>,
}

impl HubOptions {
    /// Starts with the program's own defaults, on any free port.
    pub fn new(program: &str) -> Self {
        let recipe = Recipe {
            program: program.to_owned(),
            under: Vec::new(),
            args: Vec::new(),
            environment: Vec::new(),
        };
        Self { recipe, place: Place::create() }
    }

    /// Runs the program through another command, which must become it: `sh -c 'exec "$@"'`.
    pub fn under(mut self, command: &[&str]) -> Self {
        self.recipe.under = command.iter().map(|part| (*part).to_owned()).collect();
        self
    }

    /// Adds flags; with `--port` among them the port is that one.
    pub fn flags(mut self, flags: &[&str]) -> Self {
        self.recipe.args.extend(flags.iter().map(|flag| (*flag).to_owned()));
        self
    }

    /// Sets a variable of the environment, which is empty otherwise.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.recipe.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets several variables.
    pub fn variables(self, variables: &[(&str, String)]) -> Self {
        variables.iter().fold(self, |options, (name, value)| options.variable(name, value))
    }

    /// Returns the folder of this hub, for files that the flags name.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Starts the hub and waits until it listens.
    pub async fn start(self) -> HubProcess {
        match self.try_start().await {
            Ok(hub) => hub,
            Err((status, stderr)) => panic!("the hub ended with {status}:\n{stderr}"),
        }
    }

    /// Starts the hub; an error is how it ended instead of listening, and what it said.
    pub async fn try_start(self) -> Result<HubProcess, (ExitStatus, String)> {
        let (child, stdout, stderr) = self.recipe.spawn(&self.place);
        let Self { recipe, place } = self;
        let mut hub = HubProcess { child, port: 0, recipe, place, stdout, stderr };
        hub.until_listening().await.map(|()| hub)
    }
}

impl Recipe {
    /// Returns the folder of the hub's data: the one that was named, or the usual one.
    fn data(&self, place: &Place) -> PathBuf {
        let mut flags = self.args.iter().skip_while(|flag| *flag != "--data").skip(1);
        let variable =
            |(name, value): &(String, String)| (name == "TABWIRE_DATA").then(|| value.clone());
        let named = flags.next().cloned().or_else(|| self.environment.iter().find_map(variable));
        named.map_or_else(|| place.path().join("data/tabwire"), PathBuf::from)
    }

    fn spawn(&self, place: &Place) -> (Child, Captured, Captured) {
        let mut parts = self.under.iter().chain([&self.program]);
        let mut command = Command::new(parts.next().unwrap());
        isolate(&mut command, place);
        command.args(parts).arg("serve").args(&self.args).envs(self.environment.iter().cloned());
        if !self.args.iter().any(|flag| flag == "--port") {
            command.args(["--port", "0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        (child, stdout, stderr)
    }
}

/// A running hub.
pub struct HubProcess {
    child: Child,
    port: u16,
    recipe: Recipe,
    place: Place,
    stdout: Captured,
    stderr: Captured,
}

impl HubProcess {
    /// Returns the port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the port that it has opened for clients of this dialect.
    pub fn compat(&self, dialect: &str) -> u16 {
        let event = self.announced().unwrap();
        match event["compat"][dialect].as_u64() {
            Some(port) => port as u16,
            None => panic!("no port for {dialect}: {event}\n{}", self.stderr()),
        }
    }

    /// Returns the folder that holds its home.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Returns its admin API.
    pub fn api(&self) -> Api {
        Api::new(self.port)
    }

    /// Returns the commands of the same program, told where this hub is.
    pub fn commands(&self, program: &str) -> Commands<'_> {
        Commands::new(program, &self.place).variable("TABWIRE_PORT", &self.port.to_string())
    }

    /// Returns everything it has written to standard error.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Returns everything it has written to standard output.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// Returns the token of its own user.
    pub fn token(&self) -> String {
        keyring::token_of(self.port).expect("a hub makes a token before it listens")
    }

    /// Returns the most memory that it has held so far, in KiB.
    pub fn peak_memory_kib(&self) -> u64 {
        crate::kernel::memory_kib(self.pid(), "VmHWM:")
    }

    /// Returns how much memory it holds, in KiB.
    pub fn memory_kib(&self) -> u64 {
        crate::kernel::memory_kib(self.pid(), "VmRSS:")
    }

    /// Returns how many files it has open.
    pub fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        send_signal(self.child.id(), signal);
    }

    /// Tells it to stop and waits for that.
    pub async fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::Terminate);
        self.exited().await
    }

    /// Ends it without a warning, as a crash does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again after its end: same flags, same folder, another port.
    pub async fn restart(&mut self) {
        if let Err((status, stderr)) = self.try_restart().await {
            panic!("the hub ended with {status}:\n{stderr}");
        }
    }

    /// Starts it again after its end; an error is how it ended instead of listening.
    pub async fn try_restart(&mut self) -> Result<(), (ExitStatus, String)> {
        assert!(self.child.try_wait().unwrap().is_some(), "it still runs");
        (self.child, self.stdout, self.stderr) = self.recipe.spawn(&self.place);
        self.until_listening().await
    }

    async fn until_listening(&mut self) -> Result<(), (ExitStatus, String)> {
        let started = eventually("the hub starts", async || match self.listening() {
            Some(port) => Some(Ok(port)),
            None => self.child.try_wait().unwrap().map(Err),
        });
        match started.await {
            Ok(port) => {
                self.port = port;
                let data = self.recipe.data(&self.place);
                keyring::note(port, &data);
                let event = self.announced().unwrap();
                let doors = event["compat"].as_object().into_iter().flatten();
                for door in doors.filter_map(|(_, door)| door.as_u64()) {
                    keyring::note(door as u16, &data);
                }
                Ok(())
            }
            Err(status) => {
                let said = eventually("its last words", async || self.stderr.finished()).await;
                Err((status, said))
            }
        }
    }

    /// Returns the number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended.
    pub async fn exited(&mut self) -> ExitStatus {
        let child = &mut self.child;
        within(PATIENCE, "the hub ends", async {
            loop {
                if let Some(status) = child.try_wait().unwrap() {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
    }

    fn listening(&self) -> Option<u16> {
        Some(self.announced()?["port"].as_u64().unwrap() as u16)
    }

    /// Reads the line that says where it listens.
    fn announced(&self) -> Option<Value> {
        let text = self.stdout.text();
        let (line, _) = text.split_once('\n')?;
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["event"], "listening", "{line}");
        Some(event)
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("--- the hub on port {} said:\n{}---", self.port, self.stderr.text());
        }
    }
}

/// Sends a process a signal.
pub(crate) fn send_signal(pid: u32, signal: Signal) {
    let name = match signal {
        Signal::Hangup => "HUP",
        Signal::Terminate => "TERM",
        Signal::Interrupt => "INT",
        Signal::Stop => "STOP",
        Signal::Continue => "CONT",
        Signal::Kill => "KILL",
    };
    // The shell's own kill: the one way without unsafe code that is on every machine.
    let script = format!("kill -{name} {pid}");
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
}

/// Gives a command an empty environment with a home of its own.
pub(crate) fn isolate(command: &mut Command, place: &Place) {
    command.env_clear().current_dir(place.path()).env("HOME", place.folder("home"));
    for (variable, folder) in [
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_RUNTIME_DIR", "run"),
    ] {
        command.env(variable, place.folder(folder));
    }
    // The usual folder is shared by all hubs of a machine.
    command.env("TABWIRE_DISCOVERY", place.folder("found"));
    // What tools that watch the program need.
    for kept in ["PATH", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
}

/// What a child has written so far.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<(Vec<u8>, bool)>>);

impl Captured {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap().0).into_owned()
    }

    /// Returns everything once there is no more to come.
    pub(crate) fn finished(&self) -> Option<String> {
        let ended = self.0.lock().unwrap().1;
        ended.then(|| self.text())
    }
}

/// Collects what comes out of a pipe, in a thread that ends with the pipe.
pub(crate) fn collect(pipe: impl Read + Send + 'static) -> Captured {
    let captured = Captured::default();
    let into = captured.clone();
    thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            into.0.lock().unwrap().0.append(&mut line);
        }
        into.0.lock().unwrap().1 = true;
    });
    captured
}
