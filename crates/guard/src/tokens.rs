//! Bearer tokens from a private file.
//!
//! One token per line, `name = token` or a token alone; `#` starts a comment. The name is the
//! principal that the token proves. Only digests are kept in memory, so that no error, log or
//! dump can show a token, and comparing takes the same time for every wrong one.

use std::{collections::HashMap, fs, path::Path};

use sha2::{Digest, Sha256};

/// Shortest token that is accepted: 16 characters are 80 bits in base 32.
pub const SHORTEST: usize = 16;

/// Whom a client's credentials prove it to be.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

impl Principal {
    /// Whoever runs the hub.
    pub fn local() -> Self {
        Self("local".to_owned())
    }
}

/// Why a token file cannot be used. Never shows its content.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It cannot be read.
    #[error("cannot read the token file {path}: {source}")]
    Unreadable {
        /// Where it should be.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Others can read it.
    #[error("the token file {0} can be read by others; make it private: chmod 600 {0}")]
    NotPrivate(String),
    /// A line is no token.
    #[error("the token file {path} is wrong in line {line}: {problem}")]
    BadLine {
        /// The token file.
        path: String,
        /// Which line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file has no line with a token.
    #[error("the token file {0} has no token in it")]
    Empty(String),
}

/// The tokens that are known.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    by_digest: HashMap<[u8; 32], Principal>,
}

impl Tokens {
    /// Reads a token file, which must be private to its owner.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        let shown = path.display().to_string();
        let unreadable = |source| TokenError::Unreadable { path: shown.clone(), source };
        let text = fs::read_to_string(path).map_err(unreadable)?;
        if !is_private(&fs::metadata(path).map_err(unreadable)?) {
            return Err(TokenError::NotPrivate(shown));
        }
        Self::parse(&text, &shown)
    }

    /// Returns whom a token proves; `None` means that it is not known.
    pub fn principal(&self, token: &str) -> Option<Principal> {
        self.by_digest.get(&digest(token)).cloned()
    }

    /// Adds a token that proves what the private socket does: whoever runs the hub.
    pub fn with_own(mut self, token: &str) -> Self {
        self.by_digest.insert(digest(token), Principal::local());
        self
    }

    fn is_empty(&self) -> bool {
        self.by_digest.is_empty()
    }

    fn parse(text: &str, path: &str) -> Result<Self, TokenError> {
        let mut tokens = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let bad =
                |problem| TokenError::BadLine { path: path.to_owned(), line: index + 1, problem };
            let (name, token) = match line.split_once('=') {
                Some((name, token)) => (name.trim(), token.trim()),
                None => ("token", line),
            };
            if let Some(problem) = problem_of(token) {
                return Err(bad(problem));
            }
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
            if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
                return Err(bad("a name has 1 to 64 letters, digits and . _ @ -"));
            }
            tokens.by_digest.insert(digest(token), Principal(name.to_owned()));
        }
        if tokens.is_empty() {
            return Err(TokenError::Empty(path.to_owned()));
        }
        Ok(tokens)
    }
}

/// Says what is wrong with a text as a token.
pub(crate) fn problem_of(token: &str) -> Option<&'static str> {
    if token.len() < SHORTEST {
        return Some("a token has at least 16 characters");
    }
    let plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    (!plain).then_some("a token is made of printable characters without spaces")
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(unix)]
fn is_private(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o077 == 0
}

#[cfg(not(unix))]
fn is_private(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALICE: &str = "alices-secret-token-1";
    const PLAIN: &str = "a-token-without-a-name";

    fn sample() -> Tokens {
        let text = format!("# who may come in\n\nalice = {ALICE} # laptop\n{PLAIN}\n");
        Tokens::parse(&text, "tokens").unwrap()
    }

    #[test]
    fn a_token_proves_its_principal() {
        let tokens = sample();
        assert_eq!(tokens.principal(ALICE), Some(Principal("alice".into())));
        assert_eq!(tokens.principal(PLAIN), Some(Principal("token".into())));
        for wrong in ["", "alice", "alices-secret-token-2", "alices-secret-token-1 "] {
            assert_eq!(tokens.principal(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn bad_lines_are_named_without_showing_the_secret() {
        for (text, line) in [
            ("alice = short", 1),
            ("\nbo b = long-enough-token-x", 2),
            ("= long-enough-token-x", 1),
            ("alice = long enough but with spaces", 1),
        ] {
            match Tokens::parse(text, "tokens") {
                Err(error @ TokenError::BadLine { line: found, .. }) => {
                    assert_eq!(found, line, "{text:?}");
                    assert!(!error.to_string().contains("long"), "{error}");
                }
                other => panic!("{text:?}: {other:?}"),
            }
        }
        assert!(matches!(Tokens::parse("# nothing\n", "tokens"), Err(TokenError::Empty(_))));
    }

    #[test]
    fn nothing_shows_a_token() {
        assert!(!format!("{:?}", sample()).contains("secret"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("tabwire-tokens-{}", std::process::id()));
        fs::write(&path, ALICE).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Tokens::load(&path), Err(TokenError::NotPrivate(_))));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Tokens::load(&path).is_ok());
        fs::remove_file(&path).unwrap();
        assert!(matches!(Tokens::load(&path), Err(TokenError::Unreadable { .. })));
    }
}
