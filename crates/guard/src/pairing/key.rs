//! Keys, codes, and what is proven with them.
//!
//! A proof is an HMAC over the words that both sides have said; its first line says whose proof it
//! is, so that none can be sent back as the other's. Nothing here shows a key by accident.

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use model::{Carriage, InstanceId};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

/// The letters of a code: none that looks like another.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a code, 5 bits each.
const CODE_LENGTH: usize = 16;

/// A secret that one browser and the hub have in common.
#[derive(Clone)]
pub struct Key([u8; 32]);

/// Whose proof it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The hub proves that it knows the key.
    Hub,
    /// The browser, or who carries a page, proves it.
    Browser,
}

/// What both sides have said: what a proof is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Talk {
    /// Where the browser dialled, which is what the hub knows to be its own: a program between the
    /// two has another.
    pub address: String,
    /// The browser or page that wants in.
    pub instance: InstanceId,
    /// The browser's random word.
    pub browser_nonce: String,
    /// The hub's random word.
    pub hub_nonce: String,
    /// Whose page it is, where the one who proves carries it.
    pub carried: Option<Carriage>,
}

impl Talk {
    /// Returns whose key the proofs are made with.
    pub fn key_owner(&self) -> &InstanceId {
        self.carried.as_ref().map_or(&self.instance, |carried| &carried.carrier)
    }
}

impl Side {
    fn label(self) -> &'static str {
        match self {
            Self::Hub => "tabwire.v2 hub",
            Self::Browser => "tabwire.v2 browser",
        }
    }
}

impl Key {
    /// Makes one that nobody else has.
    pub fn random() -> Self {
        Self(random_bytes())
    }

    /// Returns the key that a code stands for; `None` where the text is no code.
    ///
    /// Dashes, spaces and case do not matter, and letters that people take for digits are those.
    pub fn of_code(text: &str) -> Option<Self> {
        let plain: String = text.chars().filter(|sign| !"- \t".contains(*sign)).collect();
        let plain = plain.to_ascii_uppercase().replace(['I', 'L'], "1").replace('O', "0");
        let known = plain.bytes().all(|byte| ALPHABET.contains(&byte));
        let digest = || Self(Sha256::digest(format!("tabwire.v1 code\n{plain}")).into());
        (known && plain.len() == CODE_LENGTH).then(digest)
    }

    /// Reads one; `None` where the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        BASE64.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns it in base64url. Only for whoever may have it.
    pub fn reveal(&self) -> String {
        BASE64.encode(self.0)
    }

    /// Returns a side's proof, in base64url.
    pub fn proof(&self, side: Side, talk: &Talk) -> String {
        BASE64.encode(self.sign(side.label(), talk).finalize().into_bytes())
    }

    /// Checks a side's proof, in the same time whatever is wrong with it.
    pub fn is_proven(&self, side: Side, talk: &Talk, proof: &str) -> bool {
        let Ok(proof) = BASE64.decode(proof) else { return false };
        self.sign(side.label(), talk).verify_slice(&proof).is_ok()
    }

    /// Returns the lasting key that follows from a code's key and what was said.
    pub fn lasting(&self, talk: &Talk) -> Self {
        Self(self.sign("tabwire.v2 key", talk).finalize().into_bytes().into())
    }

    /// Returns whether both are one key.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |differs, (one, two)| differs | (one ^ two)) == 0
    }

    fn sign(&self, label: &str, talk: &Talk) -> Hmac<Sha256> {
        let Talk { address, instance, browser_nonce, hub_nonce, carried } = talk;
        let mut mac = Hmac::new_from_slice(&self.0).expect("a key of any length will do");
        let words = format!("{label}\n{address}\n{instance}\n{browser_nonce}\n{hub_nonce}");
        mac.update(words.as_bytes());
        if let Some(Carriage { carrier, origin }) = carried {
            mac.update(format!("\n{carrier}\n{origin}").as_bytes());
        }
        mac
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Key(…)")
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.reveal())
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        // The text is not repeated: it may be most of a key.
        Self::parse(&text).ok_or_else(|| de::Error::custom("a key is 32 bytes in base64url"))
    }
}

/// Makes a code of 80 bits, as people read it.
pub fn random_code() -> String {
    let letters = random_bytes::<CODE_LENGTH>().map(|byte| ALPHABET[usize::from(byte) % 32]);
    let groups: Vec<_> = letters.chunks(4).map(String::from_utf8_lossy).collect();
    groups.join("-")
}

/// Makes a word that is used once.
pub fn random_nonce() -> String {
    BASE64.encode(random_bytes::<32>())
}

fn random_bytes<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).expect("the operating system's random source is available");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk() -> Talk {
        Talk {
            address: "loopback:8765".to_owned(),
            instance: InstanceId::parse("4f6e").unwrap(),
            browser_nonce: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8".to_owned(),
            hub_nonce: "HyAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4".to_owned(),
            carried: None,
        }
    }

    fn carried(carrier: &str, origin: &str) -> Talk {
        let carrier = InstanceId::parse(carrier).unwrap();
        Talk { carried: Some(Carriage { carrier, origin: origin.to_owned() }), ..talk() }
    }

    /// The same numbers stand in `web/shared/test/proof.test.ts`; Node made them, which has OpenSSL's.
    #[test]
    fn proofs_and_keys_are_what_other_programs_compute() {
        let key = Key([7; 32]);
        assert_eq!(key.proof(Side::Hub, &talk()), "W9jw2NHS1jli3KBWLG_MJNF79U6g74q0ZoqSsMN7rTM");
        assert_eq!(
            key.proof(Side::Browser, &talk()),
            "gexyU0SnJXOLn5H3kCwVSRFFhROVG2qmRyaSvk8EfdI"
        );
        let page = carried("chrome-1", "https://app.example");
        assert_eq!(key.proof(Side::Hub, &page), "Vo_gmFg8e8BNSo8_MhzDGpbQcXokjltTGO5ynTnhn7E");
        assert_eq!(key.proof(Side::Browser, &page), "bzzoaBKh7uhVLW2c0-lS9Qw1FEHavECBdhMyS8Mz__E");
        let code = Key::of_code("0123-4567-89AB-CDEF").unwrap();
        assert_eq!(code.reveal(), "5c6iRnyMkmJvijCtH7Ms50aO4VPyrjBZ6KLCdX2xcKU");
        assert_eq!(code.lasting(&talk()).reveal(), "1-J4qRyo3Ao3U19VsrViLYribvYM-O5bgVHGi4r-O_4");
    }

    #[test]
    fn a_proof_counts_for_its_side_its_key_and_its_words_only() {
        let key = Key::random();
        let proof = key.proof(Side::Browser, &talk());
        assert!(key.is_proven(Side::Browser, &talk(), &proof));
        assert!(!key.is_proven(Side::Hub, &talk(), &proof), "sent back");
        assert!(
            !key.is_proven(Side::Browser, &talk(), &key.proof(Side::Hub, &talk())),
            "reflected"
        );
        assert!(!Key::random().is_proven(Side::Browser, &talk(), &proof), "another key");
        for other in [
            Talk { hub_nonce: random_nonce(), ..talk() },
            Talk { browser_nonce: random_nonce(), ..talk() },
            Talk { address: "loopback:8766".to_owned(), ..talk() },
            Talk { instance: InstanceId::parse("4f6f").unwrap(), ..talk() },
            carried("4f6e", "https://app.example"),
        ] {
            assert!(!key.is_proven(Side::Browser, &other, &proof), "{other:?}");
        }
        for wrong in ["", "AAAA", "not base64!", &proof[1..], &format!("{proof}=")] {
            assert!(!key.is_proven(Side::Browser, &talk(), wrong), "{wrong}");
        }
    }

    #[test]
    fn codes_are_read_as_people_write_them() {
        let code = random_code();
        assert_eq!(code.len(), 19);
        assert_ne!(code, random_code());
        let key = Key::of_code(&code).unwrap();
        for written in [code.to_lowercase(), code.replace('-', ""), code.replace('-', " ")] {
            assert!(Key::of_code(&written).unwrap().is_same(&key), "{written}");
        }
        let digits = Key::of_code("0011-1ABC-DEFG-HJKM").unwrap();
        assert!(Key::of_code("oO1i-lABC-DEFG-HJKM").unwrap().is_same(&digits));
        for wrong in
            ["", "0123", "0123-4567-89AB-CDE", "0123-4567-89AB-CDEFG", "0123-4567-89AB-CDEU"]
        {
            assert!(Key::of_code(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn nothing_shows_a_key() {
        let key = Key::random();
        assert_eq!(format!("{key:?}"), "Key(…)");
        let part = &key.reveal()[..40];
        let error = serde_json::from_str::<Key>(&format!("{part:?}")).unwrap_err().to_string();
        assert!(!error.contains(part), "{error}");
    }
}
