//! Files that are cut, flipped and overwritten: the store always opens, and what it serves is
//! what was written, wholly or not at all.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::Sequence;
use store::{EmbeddedStore, NewEntry, Store, conformance};

use crate::{
    Dice, Folder, open, scale,
    traffic::{self, Witness},
    wait_for_sync,
};

/// The files of a store after a crash, and what must be in them.
struct Sample {
    files: Vec<(&'static str, Vec<u8>)>,
    witness: Witness,
    audit: Vec<store::AuditLine>,
}

impl Sample {
    fn make(dice: &mut Dice) -> Self {
        let folder = Folder::new();
        let mut witness = Witness::default();
        let store = open(&folder.file());
        traffic::run(&store, dice, 400, &mut |line| witness.hear(&line));
        wait_for_sync(&store);
        witness.hear("synced");
        for ((session, kind), expected) in &mut witness.logs {
            let oldest = traffic::open_log(&store, session, kind).oldest();
            expected.trimmed = oldest.0 - 1;
        }
        let audit = store.audit(0, usize::MAX).unwrap();
        store.abandon();
        let read = |ending| (ending, fs::read(beside(&folder.file(), ending)).unwrap());
        let files: Vec<_> = ["", "-wal", "-mark"].into_iter().map(read).collect();
        assert!(files.iter().all(|(_, bytes)| !bytes.is_empty()), "both files hold something");
        Self { files, witness, audit }
    }

    fn size(&self, ending: &str) -> u64 {
        let file = self.files.iter().find(|(name, _)| *name == ending);
        file.map_or(0, |(_, bytes)| bytes.len() as u64)
    }

    /// Puts the files somewhere, harms one of them, opens, and compares.
    fn check(&self, what: &str, ending: &str, harm: impl Fn(&mut Vec<u8>)) -> Outcome {
        let folder = Folder::new();
        for (name, bytes) in &self.files {
            let mut bytes = bytes.clone();
            if *name == ending {
                harm(&mut bytes);
            }
            fs::write(beside(&folder.file(), name), bytes).unwrap();
        }
        let outcome = std::panic::catch_unwind(|| self.compare(&folder.file()));
        outcome.unwrap_or_else(|_| panic!("{what} of {ending:?}"))
    }

    fn compare(&self, path: &Path) -> Outcome {
        let store = open(path);
        let mut outcome = Outcome { whole: 0, new: 0, noticed: !store.notices().is_empty() };
        for ((session, kind), expected) in &self.witness.logs {
            let log = traffic::open_log(&store, session, kind);
            let held = log.read(Sequence(0), usize::MAX);
            if log.epoch().as_str() == expected.epoch {
                let told = expected.bodies.range(expected.trimmed + 1..);
                let told = told.map(|(number, body)| (*number, body.as_str()));
                let held = held.iter().map(|entry| (entry.sequence, entry.body.as_str()));
                assert!(told.eq(held), "{session} {kind} is not what was written");
                assert_eq!(log.newest().0, expected.synced, "{session} {kind}: numbers come back");
                outcome.whole += 1;
            } else {
                assert!(held.is_empty() && log.newest().0 == 0, "a new log is empty");
                outcome.new += 1;
            }
            let entry = NewEntry { kind: "k".into(), name: "n".into(), level: 0, body: "1".into() };
            let newest = log.newest();
            assert_eq!(conformance::append(&store, &log, entry), Ok(newest.next()));
        }
        assert!(outcome.new == 0 || outcome.noticed, "a loss is told");
        self.compare_rest(&store, outcome.noticed);
        store.close().unwrap();
        if outcome.noticed {
            assert_eq!(open(path).notices(), [] as [&str; 0], "opening has repaired it");
        }
        outcome
    }

    /// Whatever else is served was written at some time; without a notice, it is the newest.
    fn compare_rest(&self, store: &EmbeddedStore, noticed: bool) {
        for id in store.sessions().unwrap() {
            let mut kept = store.load(&id).unwrap().record.unwrap();
            assert!(noticed || kept.resume_digest.is_some());
            kept.resume_digest = Some("digest".into());
            assert_eq!(kept, traffic::record(&kept.id));
        }
        for session in traffic::SESSIONS {
            let newest = self.witness.logs[&(session.into(), "feed".into())].synced;
            let loaded = store.load(&traffic::id(session)).unwrap();
            if let Some(state) = &loaded.state {
                assert_eq!(*state, traffic::state(state.version));
            }
            assert!(loaded.received.is_none_or(|seen| seen == traffic::position(newest)));
            assert!(noticed || loaded.state == Some(traffic::state(newest)));
        }
        let lines = store.audit(0, usize::MAX).unwrap();
        assert!(lines.iter().all(|line| self.audit.contains(line)), "an audit line is not true");
    }
}

/// What became of the logs.
struct Outcome {
    whole: u64,
    new: u64,
    noticed: bool,
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[test]
fn untouched_files_lose_nothing() {
    let sample = Sample::make(&mut Dice::new("untouched"));
    let outcome = sample.check("nothing", "", |_| {});
    assert_eq!((outcome.new, outcome.noticed), (0, false));
}

#[test]
fn cut_files_always_open() {
    let mut dice = Dice::new("cut");
    let sample = Sample::make(&mut dice);
    for ending in ["", "-wal", "-mark"] {
        let size = sample.size(ending);
        // Around every page or frame boundary something else is the last thing that is there.
        let edges = [0, 1, 15, 16, 31, 32, 56, 99, 100, 4095, 4096, 4097, size - 1];
        let random = (0..25 * scale()).map(|_| dice.roll(size)).collect::<Vec<_>>();
        for length in edges.into_iter().chain(random).filter(|length| *length < size) {
            let what = format!("the first {length} of {size} bytes");
            sample.check(&what, ending, |bytes| bytes.truncate(length as usize));
        }
    }
}

#[test]
fn flipped_bits_are_never_served() {
    let mut dice = Dice::new("flip");
    let sample = Sample::make(&mut dice);
    let (mut harmless, mut partly, mut new) = (0, 0, 0);
    for _ in 0..200 * scale() {
        let ending = ["", "", "-wal", "-wal", "-wal", "-mark"][dice.roll(6) as usize];
        let (at, bit) = (dice.roll(sample.size(ending)) as usize, dice.roll(8));
        let what = format!("bit {bit} of byte {at}");
        let outcome = sample.check(&what, ending, |bytes| bytes[at] ^= 1 << bit);
        match outcome {
            Outcome { new: 0, .. } => harmless += 1,
            Outcome { whole: 0, .. } => new += 1,
            _ => partly += 1,
        }
    }
    println!("harmless {harmless}, some logs start over {partly}, all start over {new}");
}

#[test]
fn the_header_may_have_any_bit_flipped() {
    let mut dice = Dice::new("header");
    let sample = Sample::make(&mut dice);
    for at in 0..100 {
        let bits = if scale() > 1 { 0..8 } else { at % 8..at % 8 + 1 };
        for bit in bits {
            let what = format!("bit {bit} of byte {at}");
            sample.check(&what, "", |bytes| bytes[at] ^= 1 << bit);
        }
    }
}

#[test]
fn overwritten_blocks_are_never_served() {
    let mut dice = Dice::new("block");
    let sample = Sample::make(&mut dice);
    for _ in 0..40 * scale() {
        let ending = ["", "-wal"][dice.roll(2) as usize];
        let size = sample.size(ending);
        let (from, to) =
            (dice.roll(size / 512) as usize * 512, dice.roll(size / 512) as usize * 512);
        let zero = dice.roll(2) == 0;
        let what = format!("block at {to} from {from}, zero: {zero}");
        sample.check(&what, ending, |bytes| {
            let block = if zero { vec![0; 512] } else { bytes[from..from + 512].to_vec() };
            bytes[to..to + 512].copy_from_slice(&block);
        });
    }
}
