//! Processes that are killed, stores that are dropped without a flush.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use model::Sequence;
use store::{EmbeddedStore, Options, Store, StoreWrite};

use crate::{
    Dice, Folder, open, scale,
    traffic::{self, Witness},
    wait_for_sync, write,
};

/// Names the file for a process that is going to be killed.
const VICTIM: &str = "TABWIRE_TORTURE_VICTIM";

#[test]
fn a_killed_process_loses_nothing_that_was_synced() {
    let mut dice = Dice::new("kill");
    let folder = Folder::new();
    let mut witness = Witness::default();
    for round in 0..8 * scale() {
        let lines = run_victim(&folder, &mut dice);
        lines.iter().for_each(|line| witness.hear(line));
        let store = open(&folder.file());
        witness.check_after_crash(&store);
        println!("round {round}: term {}, {} lines", store.term(), lines.len());
        // What is there now was read by somebody, so it must stay.
        adopt(&mut witness, &store);
        if dice.roll(2) == 0 { store.abandon() } else { drop(store) }
    }
}

/// Starts a process that writes, kills it at some moment, and returns what it told.
fn run_victim(folder: &Folder, dice: &mut Dice) -> Vec<String> {
    let mut victim = start_victim(folder, dice);
    let output = BufReader::new(victim.stdout.take().unwrap());
    let reader = thread::spawn(move || {
        let lines = output.lines().map_while(Result::ok);
        let told = lines.filter_map(|line| line.strip_prefix("> ").map(str::to_owned));
        told.collect::<Vec<_>>()
    });
    // The moment of death is part of the dice.
    thread::sleep(Duration::from_micros(10_000 + dice.roll(150_000)));
    victim.kill().unwrap();
    victim.wait().unwrap();
    let lines = reader.join().unwrap();
    // The last line may have been cut by death.
    lines.iter().filter_map(|line| line.strip_suffix('.')).map(str::to_owned).collect()
}

fn start_victim(folder: &Folder, dice: &mut Dice) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "crash::victim", "--nocapture"])
        .env(VICTIM, folder.file())
        .env("TABWIRE_SEED", dice.roll(u64::MAX).to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn a_frozen_process_that_wakes_up_writes_nothing() {
    let mut dice = Dice::new("freeze");
    for _ in 0..2 * scale() {
        let folder = Folder::new();
        let mut victim = start_victim(&folder, &mut dice);
        let mut output = BufReader::new(victim.stdout.take().unwrap());
        // It runs once it has told something.
        output.by_ref().lines().map_while(Result::ok).find(|line| line.starts_with("> ")).unwrap();
        let drain = thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let store = loop {
            thread::sleep(Duration::from_micros(dice.roll(20_000)));
            signal(&victim, "-STOP");
            let (busy_wait, close_within) = (Duration::ZERO, Duration::from_secs(30));
            let options = Options { busy_wait, close_within, ..Options::new(folder.file()) };
            match EmbeddedStore::open(options) {
                Ok(store) => break store,
                // It was frozen in the middle of a commit.
                Err(error) => assert!(error.to_string().contains("locked"), "{error}"),
            }
            signal(&victim, "-CONT");
        };
        let before = held(&store);
        signal(&victim, "-CONT");
        assert!(!victim.wait().unwrap().success(), "it was told that it is fenced");
        drain.join().unwrap().unwrap();
        write(&store, StoreWrite::Audit(traffic::audit(&mut dice)));
        assert_eq!(store.close(), Ok(()));
        let store = open(&folder.file());
        assert_eq!(store.notices(), [] as [&str; 0]);
        assert_eq!(held(&store), before);
    }
}

#[cfg(unix)]
fn signal(process: &Child, signal: &str) {
    let kill = format!("kill {signal} {}", process.id());
    let sent = Command::new("sh").args(["-c", &kill]).status();
    assert!(sent.unwrap().success());
}

/// All that the logs hold.
fn held(store: &EmbeddedStore) -> Vec<String> {
    let logs = traffic::SESSIONS.iter().flat_map(|session| {
        traffic::KINDS.iter().map(|(kind, _)| traffic::open_log(store, session, kind))
    });
    logs.map(|log| format!("{} {:?}", log.epoch(), log.read(Sequence(0), usize::MAX))).collect()
}

/// Not a test of its own: what the killed process does.
#[test]
fn victim() {
    let Ok(path) = env::var(VICTIM) else { return };
    let mut dice = Dice::new("victim");
    let store = open(path.as_ref());
    let mut out = std::io::stdout().lock();
    traffic::run(&store, &mut dice, u64::MAX, &mut |line| {
        writeln!(out, "> {line}.").unwrap();
    });
}

#[test]
fn a_dropped_store_loses_nothing_that_was_synced() {
    let mut dice = Dice::new("drop");
    let folder = Folder::new();
    let mut witness = Witness::default();
    for _ in 0..20 * scale() {
        let store = open(&folder.file());
        witness.check_after_crash(&store);
        adopt(&mut witness, &store);
        let steps = dice.roll(200);
        traffic::run(&store, &mut dice, steps, &mut |line| witness.hear(&line));
        if dice.roll(4) == 0 {
            assert_eq!(store.close(), Ok(()));
            witness.hear("synced");
        } else {
            store.abandon();
        }
    }
}

#[test]
fn threads_do_not_disturb_each_other() {
    let mut dice = Dice::new("threads");
    let folder = Folder::new();
    let store = open(&folder.file());
    thread::scope(|scope| {
        for number in 0..6 {
            let (store, mut dice) = (&store, Dice(dice.roll(u64::MAX - 1) + 1));
            scope.spawn(move || {
                let session = traffic::id(&format!("s_thread_{number}"));
                for _ in 0..200 * scale() {
                    traffic::live(store, &session, &mut dice);
                }
            });
        }
        // Lines that are being committed are neither missing nor twice.
        for _ in 0..50 {
            let lines = store.audit(0, usize::MAX).unwrap();
            assert!(lines.iter().map(|line| line.number).eq(1..=lines.len() as u64));
        }
    });
    wait_for_sync(&store);
    let kept = |store: &EmbeddedStore| {
        let records = |id| store.load(&id).unwrap().record;
        store.sessions().unwrap().into_iter().map(records).collect::<Vec<_>>()
    };
    let sessions = kept(&store);
    store.abandon();
    let store = open(&folder.file());
    assert_eq!(store.notices(), [] as [&str; 0]);
    assert_eq!(kept(&store), sessions);
}

/// Takes what a reopened store holds as what must stay.
fn adopt(witness: &mut Witness, store: &EmbeddedStore) {
    for ((session, kind), expected) in &mut witness.logs {
        let log = traffic::open_log(store, session, kind);
        expected.epoch = log.epoch().to_string();
        expected.bodies.split_off(&log.newest().next().0);
        expected.synced = log.newest().0;
    }
}
