//! Ids as types of their own, so that no bare string or number crosses a function boundary.
//!
//! Ids from outside are checked here, once: what exists as a type is well formed. An id is a
//! name and never a proof; whoever needs a proof asks `guard`.

use std::{fmt, str::FromStr, sync::Arc};

/// A text from outside that cannot be an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidId(String);

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $noun:literal, $longest:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Longest accepted text.
            pub const LONGEST: usize = $longest;

            /// Checks a text from outside: 1 to `LONGEST` of letters, digits and `. _ : @ -`.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                check_text(text, $noun, Self::LONGEST)?;
                Ok(Self(text.into()))
            }

            /// Returns the id as it was given.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "{}({})", stringify!($name), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Self::parse(text)
            }
        }
    };
}

text_id!(
    /// One browser's or app's presence in the hub; minted by the hub, survives reconnects.
    SessionId, "session id", 64
);
text_id!(
    /// What a browser or app calls itself; chosen by the peer, so a name and not a proof.
    InstanceId, "instance id", 128
);
text_id!(
    /// One AI client (or command line) over all of its requests.
    ClientId, "client id", 128
);

fn check_text(text: &str, noun: &str, longest: usize) -> Result<(), InvalidId> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@-".contains(&byte);
    if text.is_empty() || text.len() > longest {
        return Err(InvalidId(format!(
            "a {noun} has 1 to {longest} characters, this one has {}",
            text.len()
        )));
    }
    if !text.bytes().all(known) {
        return Err(InvalidId(format!("a {noun} is made of letters, digits and . _ : @ -")));
    }
    Ok(())
}

impl SessionId {
    /// Mints a new id: `s_` and 60 random bits. The underscore keeps it apart from session names.
    pub fn mint() -> Self {
        Self(format!("s_{}", random_text(12)).into())
    }
}

/// One call. Unique over restarts: `run` is random per hub process, `number` counts within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId {
    /// Random per hub process, so that an answer from before a restart matches nothing.
    pub run: u64,
    /// Counts up within the process.
    pub number: u64,
}

impl fmt::Display for CallId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "c{:x}-{}", self.run, self.number)
    }
}

impl FromStr for CallId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let parse = || {
            let (run, number) = text.strip_prefix('c')?.split_once('-')?;
            let id = Self { run: u64::from_str_radix(run, 16).ok()?, number: number.parse().ok()? };
            (id.to_string() == text).then_some(id)
        };
        parse().ok_or_else(|| InvalidId("not a call id of this hub".to_owned()))
    }
}

/// A tab inside a browser; the browser's own number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TabId(pub u64);

impl fmt::Display for TabId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.0)
    }
}

/// Returns `length` random characters of the lower-case base 32 alphabet, 5 bits each.
pub fn random_text(length: usize) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).expect("the operating system's random source is available");
    bytes.into_iter().map(|byte| char::from(ALPHABET[usize::from(byte) % 32])).collect()
}

/// Returns a random number, for ids that only have to differ.
pub fn random_number() -> u64 {
    getrandom::u64().expect("the operating system's random source is available")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, accepted: bool) {
        assert_eq!(InstanceId::parse(text).is_ok(), accepted, "{text:?}");
    }

    #[test]
    fn instance_ids_are_checked_at_the_door() {
        check("a", true);
        check("3f2c9a1e-55d4-4f6e-9c1a-000000000000", true);
        check(&"x".repeat(128), true);
        check(&"x".repeat(129), false);
        for bad in ["", "a b", "a/b", "ü", "a\n", "a\"b", "<script>"] {
            check(bad, false);
        }
    }

    #[test]
    fn call_ids_read_back_and_have_one_spelling() {
        let id = CallId { run: 0xabc, number: 17 };
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "c", "c-1", "abc-1", "cabc-", "cABC-17", "cabc-017", "cabc-1-2"] {
            assert!(bad.parse::<CallId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn minted_session_ids_differ_and_are_valid() {
        let (first, second) = (SessionId::mint(), SessionId::mint());
        assert_ne!(first, second);
        assert_eq!(SessionId::parse(first.as_str()), Ok(first));
    }
}
