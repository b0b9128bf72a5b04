//! Keys for pages of the hub that are opened on another machine.
//!
//! A one-time code travels in the fragment of a link, where no server and no log sees it; the page
//! trades it for a key of its tab. A key lets a page be an app and nothing else. It follows from the
//! hub's secret, so that nothing is kept and a restart ends none; another token ends all of them.

use std::time::{Duration, Instant};

use model::id::random_text;
use parking_lot::Mutex;

use crate::HubSecret;

/// What every key begins with.
const PREFIX: &str = "page.";
/// What the secret's words are for.
const PURPOSE: &str = "page key";
/// Characters of a code: 100 bits.
const CODE_LENGTH: usize = 20;
/// How long a code is good.
pub const PAGE_CODE_LIFE: Duration = Duration::from_secs(120);
/// Codes that are good at the same time; one more ends the oldest.
const CODES_MOST: usize = 16;

/// Makes codes and keys, and knows them again.
#[derive(Default)]
pub struct PageKeys {
    secret: HubSecret,
    // A blocking mutex: held for one look or change.
    codes: Mutex<Vec<(String, Instant)>>,
}

impl PageKeys {
    /// Makes keys that follow from a secret.
    pub fn new(secret: HubSecret) -> Self {
        Self { secret, codes: Mutex::default() }
    }

    /// Makes a code, good once and for a short time.
    pub fn make_code(&self) -> String {
        let code = random_text(CODE_LENGTH);
        let mut codes = self.codes.lock();
        codes.retain(|(_, made)| made.elapsed() < PAGE_CODE_LIFE);
        if codes.len() == CODES_MOST {
            codes.remove(0);
        }
        codes.push((code.clone(), Instant::now()));
        code
    }

    /// Trades a code for a key; `None` means that the code is not good, or not any more.
    pub fn trade(&self, code: &str) -> Option<String> {
        let mut codes = self.codes.lock();
        codes.retain(|(_, made)| made.elapsed() < PAGE_CODE_LIFE);
        let place = codes.iter().position(|(known, _)| known == code)?;
        codes.remove(place);
        let id = random_text(16);
        Some(format!("{PREFIX}{id}.{}", self.secret.word(PURPOSE, &id)))
    }

    /// Returns whether a text is a key.
    pub fn is_key(&self, text: &str) -> bool {
        let parts = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('.'));
        // The word is 128 bits of an HMAC, so comparing it in plain steps tells nobody enough of it:
        // each guess costs a connection.
        parts.is_some_and(|(id, word)| self.secret.word(PURPOSE, id) == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_traded_once_for_a_key_that_outlives_the_hub() {
        let keys = PageKeys::new(HubSecret::of("a-token-of-sixteen"));
        let code = keys.make_code();
        let key = keys.trade(&code).unwrap();
        assert_eq!(keys.trade(&code), None);
        assert!(keys.is_key(&key));
        assert!(PageKeys::new(HubSecret::of("a-token-of-sixteen")).is_key(&key));
        assert!(!PageKeys::new(HubSecret::of("another-token-here")).is_key(&key));
        assert_ne!(key, keys.trade(&keys.make_code()).unwrap(), "each page has its own");
        for other in ["", "page.", "page.x.y", &code, &key[..key.len() - 1], &format!("{key}0")] {
            assert!(!keys.is_key(other), "{other}");
        }
    }

    #[test]
    fn codes_are_few() {
        let keys = PageKeys::default();
        let codes: Vec<_> = (0..=CODES_MOST).map(|_| keys.make_code()).collect();
        assert_eq!(keys.trade(&codes[0]), None);
        assert!(codes[1..].iter().all(|code| keys.trade(code).is_some()));
    }
}
