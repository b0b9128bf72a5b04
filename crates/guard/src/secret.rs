//! A secret of the hub, from which words are made that nobody else can guess.
//!
//! It follows from the token of the hub's own user: who has that may do everything anyway. So a word
//! is the same after a restart, and another one once the token is another. Nothing is kept.

use hmac::{Hmac, KeyInit, Mac};
use model::id::random_text;
use sha2::Sha256;

/// Bytes of a word before it is written in letters: 128 bits.
const WORD_BYTES: usize = 16;

/// What words are made from; it has no `Debug`, so that no log shows it.
#[derive(Clone)]
pub struct HubSecret(String);

impl HubSecret {
    /// Returns the secret that follows from a token.
    pub fn of(token: &str) -> Self {
        Self(token.to_owned())
    }

    /// Returns the word that belongs to a text, for one purpose.
    pub fn word(&self, purpose: &str, text: &str) -> String {
        let mut mac = self.mac();
        mac.update(format!("{purpose}\n{text}").as_bytes());
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(WORD_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    fn mac(&self) -> Hmac<Sha256> {
        Hmac::new_from_slice(self.0.as_bytes()).expect("a key of any length will do")
    }
}

/// A secret that ends with this value.
impl Default for HubSecret {
    fn default() -> Self {
        Self(random_text(52))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_belongs_to_one_secret_one_purpose_and_one_text() {
        let secret = HubSecret::of("a-token-of-sixteen");
        let word = secret.word("link", "ann");
        assert_eq!(word, HubSecret::of("a-token-of-sixteen").word("link", "ann"));
        assert_eq!(word.len(), 2 * WORD_BYTES);
        for other in [
            secret.word("key", "ann"),
            secret.word("link", "bob"),
            HubSecret::of("another-token-of-it").word("link", "ann"),
            HubSecret::default().word("link", "ann"),
        ] {
            assert_ne!(word, other);
        }
    }
}
