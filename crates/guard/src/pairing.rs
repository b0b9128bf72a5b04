//! Paired browsers: who has a key in common with the hub, and how a browser gets one.
//!
//! - [`terms`]: what is asked and answered; [`key`]: keys, codes and proofs;
//! - [`carried`]: pages that a paired browser connects on their behalf;
//! - [`file`]: what is kept, on disk only: every question reads it anew, so that a key that is
//!   forgotten is forgotten for everybody.
//!
//! A browser gets its key from the native messaging host ([`Pairings::enroll`]), or by a code that
//! its user carries over ([`Pairings::offer_code`]); then nothing secret travels and both sides
//! derive the key. Methods read or write a file and may wait for it: not for async threads.

pub mod carried;
pub mod file;
pub mod key;
pub mod terms;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use model::{
    Greeting, InstanceId,
    id::random_text,
    json::{cut, shorten},
};

pub use file::PairingError;
use file::{Code, Entry, PairingRecords, Used};
pub use key::Key;
use key::{Side, Talk, random_code, random_nonce};
pub use terms::{By, CodeState, Offer, Paired, Refusal, Which};

/// The id of our extension, which follows from the `key` in its manifest.
pub const EXTENSION_ID: &str = "flijodnkmdflbekoipgfjippcnecmdfi";
/// The file's name in the data folder.
pub const FILE: &str = "pairing.json";
/// Browsers that can be paired; one more is refused.
pub const INSTANCES_MAX: usize = 64;
/// How long a code can be used.
pub const CODE_LIFE: Duration = Duration::from_secs(120);
/// How often each browser may try a code.
pub const ATTEMPTS: u32 = 5;
/// Browsers whose attempts at a code are counted; for one more, another's count is forgotten. Codes
/// have 80 bits and two minutes: the limit is there for whoever mistypes, not against guessing.
const TRIED_BY_MAX: usize = 64;
/// Characters of a name that are kept.
const NAME: usize = 64;
/// Characters of an address that is told back.
const ADDRESS: usize = 100;

/// Writes an address of a proof as one that can be typed.
fn for_people(address: &str) -> String {
    match address.strip_prefix("loopback:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => address.to_owned(),
    }
}

/// Returns the web origin of our extension.
pub fn extension_origin() -> String {
    format!("chrome-extension://{EXTENSION_ID}")
}

/// A greeting that was answered: what the peer is told, and what its proof is checked with.
#[derive(Debug)]
pub struct Challenge {
    talk: Talk,
    key: Key,
    /// The code that the key stands for, where it is no lasting one.
    code: Option<String>,
}

impl Challenge {
    /// Returns what the peer's proof must be about.
    pub fn nonce(&self) -> &str {
        &self.talk.hub_nonce
    }

    /// Returns the hub's own proof.
    pub fn proof(&self) -> String {
        self.key.proof(Side::Hub, &self.talk)
    }
}

/// The pairings of one data folder, a handle to their file.
#[derive(Debug, Clone)]
pub struct Pairings {
    path: PathBuf,
}

impl Pairings {
    /// Takes the pairings from a file, which need not exist yet; its folder must be private.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Takes the pairings of a data folder.
    pub fn of(data: &Path) -> Self {
        Self::at(data.join(FILE))
    }

    /// Gives a browser its key, the one it has or a new one: for the native messaging host, which
    /// the browser starts for our extension only.
    pub fn enroll(
        &self,
        instance: &InstanceId,
        name: Option<&str>,
        launch: Option<&str>,
    ) -> Result<Key, Refusal> {
        let now = now();
        file::change(&self.path, |kept| {
            let full = kept.instances.len() >= INSTANCES_MAX;
            if let Some(entry) = kept.instances.get_mut(instance.as_str()) {
                entry.name = name.map(|name| cut(name, NAME)).or(entry.name.take());
                entry.launch = launch.map(|launch| cut(launch, NAME)).or(entry.launch.take());
                return Ok(entry.key.clone());
            }
            if !kept.native {
                return Err(Refusal::Off(kept.notice.clone()));
            }
            if full {
                return Err(Refusal::Full);
            }
            let entry = Entry {
                key: Key::random(),
                name: name.map(|name| cut(name, NAME)),
                launch: launch.map(|launch| cut(launch, NAME)),
                paired_at: now,
                by: By::Native,
            };
            let key = entry.key.clone();
            kept.instances.insert(instance.to_string(), entry);
            Ok(key)
        })?
    }

    /// Makes a code, which takes the place of one that waits, and lets the native messaging host
    /// pair again.
    pub fn offer_code(&self) -> Result<Offer, PairingError> {
        self.offer_code_at(now())
    }

    fn offer_code_at(&self, now: u64) -> Result<Offer, PairingError> {
        let code = random_code();
        let key = Key::of_code(&code).expect("what was made as a code is one");
        let offer = Offer { code, id: random_text(12), expires_at: now + life() };
        let id = offer.id.clone();
        file::change(&self.path, |kept| {
            kept.code =
                Some(Code { id, key, expires_at: offer.expires_at, tried_by: BTreeMap::new() });
            kept.native = true;
            kept.notice = None;
        })?;
        Ok(offer)
    }

    /// Tells what has become of a code.
    pub fn code_state(&self, id: &str) -> Result<CodeState, PairingError> {
        self.code_state_at(id, now())
    }

    fn code_state_at(&self, id: &str, now: u64) -> Result<CodeState, PairingError> {
        let kept = file::read(&self.path)?;
        if let Some(used) = kept.used.as_ref().filter(|used| used.id == id)
            && let Some(entry) = kept.instances.get(&used.instance)
            && let Some(paired) = paired(&used.instance, entry)
        {
            return Ok(CodeState::Used(paired));
        }
        Ok(match &kept.code {
            Some(code) if code.id == id && is_valid(code, now) => CodeState::Waiting,
            _ => CodeState::Over,
        })
    }

    /// Withdraws a code that nobody has used.
    pub fn withdraw_code(&self, id: &str) -> Result<(), PairingError> {
        file::change(&self.path, |kept| kept.code = kept.code.take().filter(|code| code.id != id))
    }

    /// Answers a greeting with a challenge that proves the hub, which was reached at this address.
    pub fn challenge(&self, greeting: &Greeting, address: &str) -> Result<Challenge, Refusal> {
        self.challenge_at(greeting, address, now())
    }

    fn challenge_at(
        &self,
        greeting: &Greeting,
        address: &str,
        now: u64,
    ) -> Result<Challenge, Refusal> {
        match &greeting.address {
            None => return Err(Refusal::Outdated),
            // The proofs would not fit; this says why.
            Some(dialled) if dialled != address => {
                let dialled = shorten(&for_people(dialled), ADDRESS);
                return Err(Refusal::Elsewhere { dialled, own: for_people(address) });
            }
            Some(_) => {}
        }
        let mut kept = file::read(&self.path)?;
        let owner = greeting.carried.as_ref().map_or(&greeting.instance, |by| &by.carrier);
        let instance = owner.as_str();
        let (key, code) = if greeting.pairing {
            has_room(&kept, instance)?;
            let code = kept.code.take().filter(|code| is_valid(code, now));
            let code = code.ok_or(Refusal::NoCode)?;
            (code.key, Some(code.id))
        } else {
            (kept.instances.remove(instance).ok_or(Refusal::Unknown)?.key, None)
        };
        let talk = Talk {
            address: address.to_owned(),
            instance: greeting.instance.clone(),
            browser_nonce: greeting.nonce.clone(),
            hub_nonce: random_nonce(),
            carried: greeting.carried.clone(),
        };
        Ok(Challenge { talk, key, code })
    }

    /// Checks a proof. After a pairing by code the browser is known from now on, by the given name.
    pub fn check(
        &self,
        challenge: Challenge,
        proof: &str,
        name: Option<&str>,
    ) -> Result<Paired, Refusal> {
        self.check_at(challenge, proof, name, now())
    }

    fn check_at(
        &self,
        challenge: Challenge,
        proof: &str,
        name: Option<&str>,
        now: u64,
    ) -> Result<Paired, Refusal> {
        match &challenge.code {
            Some(id) => file::change(&self.path, |kept| {
                Self::check_code(kept, &challenge, id, proof, name, now)
            })?,
            None => self.check_key(&challenge, proof),
        }
    }

    fn check_key(&self, challenge: &Challenge, proof: &str) -> Result<Paired, Refusal> {
        let Challenge { talk, key, .. } = challenge;
        let kept = file::read(&self.path)?;
        let instance = talk.key_owner().as_str();
        // It may have been forgotten since it was greeted.
        let entry = kept.instances.get(instance).filter(|entry| entry.key.is_same(key));
        let paired = entry.and_then(|entry| paired(instance, entry)).ok_or(Refusal::Unknown)?;
        match key.is_proven(Side::Browser, talk, proof) {
            true => Ok(paired),
            false => Err(Refusal::BadProof),
        }
    }

    /// Every attempt counts before it is judged, and all of them under the file's lock: two at
    /// once have no more than two one after the other.
    fn check_code(
        kept: &mut PairingRecords,
        challenge: &Challenge,
        id: &str,
        proof: &str,
        name: Option<&str>,
        now: u64,
    ) -> Result<Paired, Refusal> {
        let talk = &challenge.talk;
        has_room(kept, talk.instance.as_str())?;
        let code = kept.code.as_mut().filter(|code| code.id == id && is_valid(code, now));
        let code = code.ok_or(Refusal::NoCode)?;
        count_attempt(code, talk.instance.as_str())?;
        if !challenge.key.is_proven(Side::Browser, talk, proof) {
            return Err(Refusal::BadProof);
        }
        let entry = Entry {
            key: challenge.key.lasting(talk),
            name: name.map(|name| cut(name, NAME)),
            launch: None,
            paired_at: now,
            by: By::Code,
        };
        let paired = paired(talk.instance.as_str(), &entry).ok_or(Refusal::Unknown)?;
        kept.code = None;
        kept.used = Some(Used { id: id.to_owned(), instance: talk.instance.to_string() });
        kept.instances.insert(talk.instance.to_string(), entry);
        Ok(paired)
    }

    /// Lists who is paired, by instance id.
    pub fn list(&self) -> Result<Vec<Paired>, PairingError> {
        let kept = file::read(&self.path)?;
        Ok(kept.instances.iter().filter_map(|(name, entry)| paired(name, entry)).collect())
    }

    /// Returns what people must know before they go on, such as that the file was damaged.
    pub fn notice(&self) -> Result<Option<String>, PairingError> {
        Ok(file::read(&self.path)?.notice)
    }

    /// Forgets browsers, with any code that waits, and returns them. They must be paired anew, and
    /// the native messaging host pairs nobody until the next [`Pairings::offer_code`].
    pub fn forget(&self, which: &Which) -> Result<Vec<Paired>, PairingError> {
        file::change(&self.path, |kept| {
            // A launch ends by itself; everything else is somebody's wish.
            if !matches!(which, Which::Launch(_)) {
                kept.native = false;
                kept.code = None;
            }
            let (gone, stay) =
                std::mem::take(&mut kept.instances).into_iter().partition(|(name, entry)| {
                    match which {
                        Which::All => true,
                        Which::Instances(list) => list.iter().any(|one| one.as_str() == name),
                        Which::Launch(launch) => entry.launch.as_ref() == Some(launch),
                    }
                });
            kept.instances = stay;
            gone.iter().filter_map(|(name, entry): (&String, &Entry)| paired(name, entry)).collect()
        })
    }
}

fn has_room(kept: &PairingRecords, instance: &str) -> Result<(), Refusal> {
    match kept.instances.len() < INSTANCES_MAX || kept.instances.contains_key(instance) {
        true => Ok(()),
        false => Err(Refusal::Full),
    }
}

/// Counts an attempt of a browser. Only its own: no program can use up those of others.
fn count_attempt(code: &mut Code, instance: &str) -> Result<(), Refusal> {
    if !code.tried_by.contains_key(instance) && code.tried_by.len() >= TRIED_BY_MAX {
        code.tried_by.pop_first();
    }
    let tries = code.tried_by.entry(instance.to_owned()).or_default();
    *tries += 1;
    if *tries > ATTEMPTS { Err(Refusal::TriedTooOften) } else { Ok(()) }
}

/// A clock that was set back must not make a code live longer.
fn is_valid(code: &Code, now: u64) -> bool {
    now < code.expires_at && code.expires_at - now <= life()
}

fn paired(instance: &str, entry: &Entry) -> Option<Paired> {
    Some(Paired {
        instance: InstanceId::parse(instance).ok()?,
        name: entry.name.clone(),
        launch: entry.launch.clone(),
        paired_at: entry.paired_at,
        by: entry.by,
    })
}

fn life() -> u64 {
    CODE_LIFE.as_millis() as u64
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
