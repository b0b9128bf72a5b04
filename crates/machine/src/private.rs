//! The private socket: a Unix socket in a folder that only its owner may enter.
//!
//! The folder is the gate, and who is at the other end is asked of the kernel besides. Whoever
//! connects says one line, a hello or a question of the command line, and hears one line back:
//! which hub this is and what its term is. After a hello the client's own lines follow, and after a
//! question of the command line HTTP may. A socket file that a dead hub left behind is replaced; one
//! that answers belongs to a running hub.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
    pin::pin,
    time::Duration,
};

use processes::own_user;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinSet,
    time,
};

use crate::{
    folder::{self, FolderError, is_same_file},
    idle::IdleExit,
};

/// The socket's name in the hub's data folder.
pub const FILE: &str = "hub.sock";
/// Bytes of the first line, either way.
const HELLO_BYTES: u64 = 4096;
/// How long the first line may take, either way.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of a working folder, as JSON, that is told; the rest of the hello has to fit beside it.
const HELLO_FOLDER_BYTES: usize = 2048;
/// Unix socket paths have room for little more than this.
const PATH_BYTES: usize = 100;
/// After a failed accept, which is mostly a lack of file descriptors.
const BREATHER: Duration = Duration::from_millis(50);

/// Why the private socket cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The data folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A hub is running on it.
    #[error("another hub already uses the data folder {0}; stop it or choose another with --data")]
    InUse(String),
    /// The path is too long for a socket.
    #[error("the path {0} is too long for a socket; choose a shorter --data")]
    TooLong(String),
    /// The socket's file cannot be made or removed.
    #[error("the socket {path} cannot be opened: {source}")]
    Failed {
        /// The socket's file.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Why nobody could be talked to.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// Nobody listens on this folder's socket.
    #[error("no hub runs for the data folder {0}; start one with `tabwire serve`")]
    NoHub(String),
    /// Somebody listens and says nothing.
    #[error("the hub of the data folder {0} runs but does not answer")]
    Silent(String),
    /// Somebody listened and hung up: a hub that is just ending.
    #[error("the hub of the data folder {0} hung up")]
    HungUp(String),
    /// The hub is older than one that was seen before.
    #[error("the hub has term {found}, but term {seen} was seen already")]
    Outdated {
        /// The term of the hub that answers.
        found: u64,
        /// The newest term that is known.
        seen: u64,
    },
    /// The data folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It said nonsense, or is somebody else.
    #[error("the hub's socket failed: {0}")]
    Failed(#[from] io::Error),
}

/// How a relay introduces itself: one line of JSON before the client's own lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinHello {
    /// The newest term that the relay knows; 0 when it knows none.
    #[serde(default)]
    pub term: u64,
    /// Which client this is, over all of its connections.
    pub client_id: String,
    /// The session that the client is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
    /// The folder in which the client was started, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl JoinHello {
    /// Tells in which folder the client works; one that does not fit into a hello is not told.
    pub fn working_in(mut self, folder: &Path) -> Self {
        let fits = |text: &&str| {
            serde_json::to_string(text).is_ok_and(|json| json.len() <= HELLO_FOLDER_BYTES)
        };
        self.folder = folder.to_str().filter(fits).map(str::to_owned);
        self
    }
}

/// What a hub answers to whoever connects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinWelcome {
    /// Grows with every hub.
    pub term: u64,
    /// The version of the hub's program.
    pub version: String,
    /// The hub's process id.
    pub pid: u32,
    /// The port of its HTTP listener.
    pub port: u16,
    /// Since when it runs, as ISO 8601.
    pub since: String,
}

/// Both directions of a private connection, after its first lines.
pub type PrivateStream = tokio::io::Join<BufReader<OwnedReadHalf>, OwnedWriteHalf>;

/// What the command line asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Whether the hub answers.
    Status,
    /// That the hub ends.
    Stop,
    /// Let us go on in HTTP.
    Http,
}

/// The other end of an accepted connection.
pub struct Membership {
    /// What the hub said.
    pub welcome: JoinWelcome,
    /// The hub's lines after the welcome.
    pub reading: BufReader<OwnedReadHalf>,
    /// Takes the client's lines.
    pub writing: OwnedWriteHalf,
}

/// A client that has joined.
pub struct Joined {
    /// What it said.
    pub hello: JoinHello,
    /// Its lines.
    pub reading: BufReader<OwnedReadHalf>,
    /// Where answers go.
    pub writing: OwnedWriteHalf,
}

/// Who came, once it has been answered.
pub enum Arrival {
    /// A relay with its client.
    Relay(Joined),
    /// Somebody who only wanted to know whether the hub answers.
    Visitor,
    /// Somebody who wants the hub to end, and waits for that.
    Stop(Parting),
    /// The command line, which goes on in HTTP.
    Http(PrivateStream),
}

/// Keeps whoever asked for the end waiting; to be dropped when the hub has ended.
pub struct Parting {
    _reading: BufReader<OwnedReadHalf>,
    _writing: OwnedWriteHalf,
}

/// The hub's end. The file goes when this is dropped.
pub struct PrivateSocket {
    listener: UnixListener,
    path: PathBuf,
    /// The file as we made it.
    made: fs::Metadata,
}

impl PrivateSocket {
    /// Opens the socket in a folder, which is made private if it does not exist.
    pub async fn open(folder: &Path) -> Result<Self, SocketError> {
        folder::open(folder)?;
        let path = folder.join(FILE);
        let shown = path.display().to_string();
        if shown.len() > PATH_BYTES {
            return Err(SocketError::TooLong(shown));
        }
        clear(&path, folder).await?;
        let failed = |source| SocketError::Failed { path: shown.clone(), source };
        let listener = UnixListener::bind(&path).map_err(failed)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        let made = fs::symlink_metadata(&path).map_err(failed)?;
        Ok(Self { listener, path, made })
    }

    /// Waits for the next connection of our own user. Cancel-safe.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == own_user() || peer.uid() == 0 => return Ok(stream),
                _ => tracing::warn!("a process of another user was turned away"),
            }
        }
    }

    /// Serves who comes, one task each, until `stop`; then waits until they have left.
    ///
    /// They are answered here, and given to `serve` if they want more; a client counts as a guest for
    /// as long as it is served.
    pub async fn serve<Serving: Future<Output = ()> + Send + 'static>(
        self,
        us: JoinWelcome,
        idle: Option<IdleExit>,
        stop: impl Future<Output = ()>,
        serve: impl Fn(Arrival) -> Serving + Clone + Send + 'static,
    ) {
        let mut stop = pin!(stop);
        let mut connections = JoinSet::new();
        loop {
            // Cancel-safe: an accepted connection is returned or stays with the kernel. The end comes
            // first: a relay that is taken in now would think that it was thrown out.
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = connections.join_next() => continue,
                accepted = self.accept() => accepted,
            };
            let stream = match accepted {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a relay could not join");
                    time::sleep(BREATHER).await;
                    continue;
                }
            };
            let (us, idle, serve) = (us.clone(), idle.clone(), serve.clone());
            connections.spawn(async move {
                match welcome(stream, &us).await {
                    Ok(Arrival::Visitor) => {}
                    Ok(arrival @ Arrival::Relay(_)) => {
                        let _guest = idle.as_ref().map(IdleExit::enter);
                        serve(arrival).await;
                    }
                    Ok(arrival) => serve(arrival).await,
                    Err(error) => tracing::warn!(%error, "a relay did not introduce itself"),
                }
            });
        }
        // Nobody finds it from here on.
        drop(self);
        while connections.join_next().await.is_some() {}
    }
}

impl Drop for PrivateSocket {
    fn drop(&mut self) {
        // Somebody may have removed it, and another hub have made its own.
        if fs::symlink_metadata(&self.path).is_ok_and(|found| is_same_file(&found, &self.made)) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The first line as it may come; which fields are there tells what is wanted.
#[derive(Deserialize)]
struct Opening {
    #[serde(default)]
    status: bool,
    #[serde(default)]
    stop: bool,
    #[serde(default)]
    http: bool,
    #[serde(flatten)]
    hello: Option<JoinHello>,
}

/// Reads the first line of a connection and answers it. A relay that knows a newer hub than us is
/// answered, so that it knows, and turned away.
pub async fn welcome(stream: UnixStream, us: &JoinWelcome) -> io::Result<Arrival> {
    let (reading, mut writing) = stream.into_split();
    let mut reading = BufReader::new(reading);
    let Opening { status, stop, http, hello } = read_line(&mut reading).await?;
    if !(status || stop || http || hello.is_some()) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the hello names no client"));
    }
    write_line(&mut writing, us).await?;
    Ok(match hello {
        _ if stop => Arrival::Stop(Parting { _reading: reading, _writing: writing }),
        _ if status => Arrival::Visitor,
        Some(hello) if !http => {
            if hello.term > us.term {
                let text = format!("it has seen term {}, we have {}", hello.term, us.term);
                return Err(io::Error::other(text));
            }
            Arrival::Relay(Joined { hello, reading, writing })
        }
        _ => Arrival::Http(tokio::io::join(reading, writing)),
    })
}

/// Removes what a dead hub left behind; a socket that answers stays.
async fn clear(path: &Path, folder: &Path) -> Result<(), SocketError> {
    let shown = path.display().to_string();
    match fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(found) if !found.file_type().is_socket() => {
            let source = io::Error::other("something that is not a socket is in its place");
            return Err(SocketError::Failed { path: shown, source });
        }
        Ok(_) => {}
    }
    if UnixStream::connect(path).await.is_ok() {
        return Err(SocketError::InUse(folder.display().to_string()));
    }
    fs::remove_file(path).map_err(|source| SocketError::Failed { path: shown, source })
}

/// Joins the hub of a folder. A hub that is older than `hello.term` is refused.
pub async fn join(folder: &Path, hello: &JoinHello) -> Result<Membership, ReachError> {
    let member = reach(folder, hello).await?;
    let found = member.welcome.term;
    if found < hello.term {
        return Err(ReachError::Outdated { found, seen: hello.term });
    }
    Ok(member)
}

/// Asks the hub of a folder something.
pub(crate) async fn ask(folder: &Path, question: Question) -> Result<Membership, ReachError> {
    let line = match question {
        Question::Status => serde_json::json!({ "status": true }),
        Question::Stop => serde_json::json!({ "stop": true }),
        Question::Http => serde_json::json!({ "http": true }),
    };
    reach(folder, &line).await
}

/// Opens a connection for HTTP to the hub of a folder.
pub async fn open_http(folder: &Path) -> Result<(JoinWelcome, PrivateStream), ReachError> {
    let Membership { welcome, reading, writing } = ask(folder, Question::Http).await?;
    Ok((welcome, tokio::io::join(reading, writing)))
}

/// Returns whether the hub of a folder answers, within the given time.
pub async fn is_awake(folder: &Path, patience: Duration) -> bool {
    time::timeout(patience, ask(folder, Question::Status)).await.is_ok_and(|asked| asked.is_ok())
}

async fn reach(folder: &Path, line: &impl Serialize) -> Result<Membership, ReachError> {
    let shown = || folder.display().to_string();
    match folder::check(folder) {
        Err(FolderError::Failed { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Err(ReachError::NoHub(shown()));
        }
        checked => checked?,
    }
    let stream = match UnixStream::connect(folder.join(FILE)).await {
        Ok(stream) => stream,
        Err(error) => {
            return Err(match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    ReachError::NoHub(shown())
                }
                // So many wait already that the kernel takes no more.
                io::ErrorKind::WouldBlock => ReachError::Silent(shown()),
                _ => ReachError::Failed(error),
            });
        }
    };
    if stream.peer_cred()?.uid() != own_user() {
        return Err(ReachError::Failed(io::Error::other("another user answers on it")));
    }
    let (reading, mut writing) = stream.into_split();
    let mut reading = BufReader::new(reading);
    let answered = match write_line(&mut writing, line).await {
        Ok(()) => read_line(&mut reading).await,
        Err(error) => Err(error),
    };
    answered.map(|welcome| Membership { welcome, reading, writing }).map_err(|error| {
        match error.kind() {
            io::ErrorKind::TimedOut => ReachError::Silent(shown()),
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => ReachError::HungUp(shown()),
            _ => ReachError::Failed(error),
        }
    })
}

async fn read_line<T: DeserializeOwned>(reading: &mut BufReader<OwnedReadHalf>) -> io::Result<T> {
    let mut line = Vec::new();
    let mut limited = reading.take(HELLO_BYTES);
    time::timeout(HELLO_TIMEOUT, limited.read_until(b'\n', &mut line))
        .await
        .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no hello in time"))??;
    if line.is_empty() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if line.pop() != Some(b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the hello has no end"));
    }
    Ok(serde_json::from_slice(&line)?)
}

async fn write_line(writing: &mut OwnedWriteHalf, line: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    writing.write_all(&line).await
}

#[cfg(test)]
mod tests;
