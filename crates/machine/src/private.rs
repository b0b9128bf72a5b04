//! The private socket: a Unix socket in a folder that only its owner may enter.
//!
//! The folder is the gate, and who is at the other end is asked of the kernel besides. A socket
//! file that a dead hub left behind is replaced; one that answers belongs to a running hub.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
};

/// The socket's name in the hub's data folder.
pub const FILE: &str = "hub.sock";
/// Bytes of a hello.
const HELLO_BYTES: u64 = 4096;
/// How long a hello may take.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);
/// Unix socket paths have room for little more than this.
const PATH_BYTES: usize = 100;

/// Why the private socket cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The folder cannot be made or looked at.
    #[error("the data folder {path} cannot be used: {source}")]
    Folder {
        /// Which.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// Others may enter the folder.
    #[error("the data folder {0} is open to others; make it private: chmod 700 {0}")]
    NotPrivate(String),
    /// Somebody else owns the folder.
    #[error("the data folder {0} belongs to another user")]
    NotOurs(String),
    /// A hub is running on it.
    #[error("another hub already uses the data folder {0}; stop it or choose another with --data")]
    InUse(String),
    /// The path is too long for a socket.
    #[error("the path {0} is too long for a socket; choose a shorter --data")]
    TooLong(String),
    /// Anything else.
    #[error("the socket {path} cannot be opened: {source}")]
    Failed {
        /// Which.
        path: String,
        /// Why not.
        source: io::Error,
    },
}

/// How a relay introduces itself: one line of JSON before the client's own lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JoinHello {
    /// The hub's term that the relay knows; 0 when it knows none.
    #[serde(default)]
    pub term: u64,
    /// Which client this is, over all of its connections.
    pub client_id: String,
    /// The session that the client is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<String>,
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

/// The hub's end. The file goes when this is dropped.
pub struct PrivateSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl PrivateSocket {
    /// Opens the socket in a folder, which is made private if it does not exist.
    pub async fn open(folder: &Path) -> Result<Self, SocketError> {
        let shown = folder.display().to_string();
        let failed = |source| SocketError::Folder { path: shown.clone(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        check_folder(folder, &shown)?;
        let path = folder.join(FILE);
        let shown = path.display().to_string();
        if shown.len() > PATH_BYTES {
            return Err(SocketError::TooLong(shown));
        }
        clear(&path, folder).await?;
        let failed = |source| SocketError::Failed { path: shown.clone(), source };
        let listener = UnixListener::bind(&path).map_err(failed)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Self { listener, path })
    }

    /// Waits for the next connection of our own user. Cancel-safe.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let ours = fs::metadata(&self.path)?.uid();
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == ours || peer.uid() == 0 => return Ok(stream),
                _ => tracing::warn!("a process of another user was turned away"),
            }
        }
    }
}

impl Drop for PrivateSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads the hello of a connection.
pub async fn welcome(stream: UnixStream) -> io::Result<Joined> {
    let (reading, writing) = stream.into_split();
    let mut reading = BufReader::new(reading);
    let mut line = Vec::new();
    let mut limited = (&mut reading).take(HELLO_BYTES);
    tokio::time::timeout(HELLO_TIMEOUT, limited.read_until(b'\n', &mut line))
        .await
        .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "no hello in time"))??;
    if line.pop() != Some(b'\n') {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the hello has no end"));
    }
    let hello = serde_json::from_slice(&line)?;
    Ok(Joined { hello, reading, writing })
}

fn check_folder(folder: &Path, shown: &str) -> Result<(), SocketError> {
    let failed = |source| SocketError::Folder { path: shown.to_owned(), source };
    let metadata = fs::metadata(folder).map_err(failed)?;
    // Our own user id, without unsafe code: a file that we have just made has it.
    let probe = folder.join(format!(".probe-{}", model::id::random_text(8)));
    fs::write(&probe, []).map_err(failed)?;
    let ours = fs::metadata(&probe).map(|probe| probe.uid());
    let _ = fs::remove_file(&probe);
    if ours.map_err(failed)? != metadata.uid() {
        return Err(SocketError::NotOurs(shown.to_owned()));
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(SocketError::NotPrivate(shown.to_owned()));
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    struct Place(PathBuf);

    impl Place {
        fn new() -> Self {
            Self(std::env::temp_dir().join(format!("tabwire-m-{}", model::id::random_text(8))))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn the_folder_is_private_and_the_file_goes_with_its_owner() {
        let place = Place::new();
        let socket = PrivateSocket::open(&place.0).await.unwrap();
        assert_eq!(fs::metadata(&place.0).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(place.0.join(FILE).exists());
        let second = PrivateSocket::open(&place.0).await;
        assert!(matches!(second, Err(SocketError::InUse(_))), "a running hub is not replaced");
        drop(socket);
        assert!(!place.0.join(FILE).exists());
    }

    #[tokio::test]
    async fn an_open_folder_is_refused_and_a_dead_socket_replaced() {
        let place = Place::new();
        drop(PrivateSocket::open(&place.0).await.unwrap());
        drop(std::os::unix::net::UnixListener::bind(place.0.join(FILE)).unwrap());
        assert!(place.0.join(FILE).exists(), "left behind");
        drop(PrivateSocket::open(&place.0).await.unwrap());
        fs::write(place.0.join(FILE), "x").unwrap();
        assert!(matches!(PrivateSocket::open(&place.0).await, Err(SocketError::Failed { .. })));
        fs::remove_file(place.0.join(FILE)).unwrap();
        fs::set_permissions(&place.0, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(PrivateSocket::open(&place.0).await, Err(SocketError::NotPrivate(_))));
    }

    #[tokio::test]
    async fn a_hello_is_one_short_line() {
        for (said, expected) in [
            ("{\"clientId\":\"a\",\"binding\":\"viewer\"}\nrest", Some("a")),
            ("{\"clientId\":\"a\"", None),
            ("not json\n", None),
            (&"x".repeat(5000), None),
        ] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            theirs.write_all(said.as_bytes()).await.unwrap();
            theirs.shutdown().await.unwrap();
            let joined = welcome(ours).await.ok().map(|joined| joined.hello.client_id);
            assert_eq!(joined.as_deref(), expected, "{}", &said[..said.len().min(40)]);
        }
    }
}
