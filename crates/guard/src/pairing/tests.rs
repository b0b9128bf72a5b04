//! Pairings from the outside: a file in a folder of its own, browsers that prove.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt, symlink},
    thread,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use model::{CloseReason, Kind};
use sha2::{Digest, Sha256};

use super::*;

struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("tabwire-g-{}", random_text(8)));
        fs::DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join(FILE)
    }

    fn pairings(&self) -> Pairings {
        Pairings::of(&self.0)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap();
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn id(text: &str) -> InstanceId {
    InstanceId::parse(text).unwrap()
}

/// Where the hub is.
const OWN: &str = "loopback:8765";

fn greeting(instance: &str, pairing: bool) -> Greeting {
    let nonce = random_nonce();
    let address = Some(OWN.to_owned());
    Greeting { instance: id(instance), kind: Kind::Browser, nonce, address, pairing, carried: None }
}

/// Greets and proves as a browser does that has this key.
fn come_in(pairings: &Pairings, instance: &str, key: &Key) -> Result<Paired, Refusal> {
    let challenge = pairings.challenge(&greeting(instance, false), OWN)?;
    let proof = key.proof(Side::Browser, &challenge.talk);
    pairings.check(challenge, &proof, None)
}

/// Pairs by a code; returns the key that the browser derives.
fn pair(pairings: &Pairings, instance: &str, code: &str) -> Result<Key, Refusal> {
    let key = Key::of_code(code).unwrap();
    let challenge = pairings.challenge(&greeting(instance, true), OWN)?;
    let (talk, proof) = (challenge.talk.clone(), key.proof(Side::Browser, &challenge.talk));
    assert!(key.is_proven(Side::Hub, &talk, &challenge.proof()), "the hub knows the code");
    pairings.check(challenge, &proof, Some("Chrome work"))?;
    Ok(key.lasting(&talk))
}

#[test]
fn the_extension_id_follows_from_the_manifest() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/extension/manifest.json");
    let text = fs::read_to_string(manifest).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let key = STANDARD.decode(manifest["key"].as_str().unwrap()).unwrap();
    let digest = Sha256::digest(key);
    let letter = |half: u8| char::from(b'a' + half);
    let id: String =
        digest[..16].iter().flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect();
    assert_eq!(id, EXTENSION_ID);
}

#[test]
fn an_enrolled_browser_comes_in_and_keeps_its_key() {
    let place = Place::new();
    let pairings = place.pairings();
    assert!(matches!(come_in(&pairings, "a", &Key::random()), Err(Refusal::Unknown)));
    let key = pairings.enroll(&id("a"), Some("work"), Some("l1")).unwrap();
    let challenge = pairings.challenge(&greeting("a", false), OWN).unwrap();
    assert!(key.is_proven(Side::Hub, &challenge.talk, &challenge.proof()), "the hub knows the key");
    let paired = come_in(&pairings, "a", &key).unwrap();
    assert_eq!((paired.name.as_deref(), paired.by), (Some("work"), By::Native));
    assert!(pairings.enroll(&id("a"), None, None).unwrap().is_same(&key), "asked again");
    assert_eq!(pairings.list().unwrap()[0].name.as_deref(), Some("work"));
    let other = pairings.enroll(&id("b"), None, None).unwrap();
    assert!(!other.is_same(&key), "one key for each");
    assert!(matches!(come_in(&pairings, "a", &other), Err(Refusal::BadProof)));
}

#[test]
fn the_hubs_proof_is_not_the_browsers() {
    let place = Place::new();
    let pairings = place.pairings();
    pairings.enroll(&id("a"), None, None).unwrap();
    let challenge = pairings.challenge(&greeting("a", false), OWN).unwrap();
    let reflected = challenge.proof();
    assert!(matches!(pairings.check(challenge, &reflected, None), Err(Refusal::BadProof)));
}

#[test]
fn a_proof_for_an_older_challenge_is_wrong() {
    let place = Place::new();
    let pairings = place.pairings();
    let key = pairings.enroll(&id("a"), None, None).unwrap();
    let greeting = greeting("a", false);
    let (old, new) = (pairings.challenge(&greeting, OWN), pairings.challenge(&greeting, OWN));
    let proof = key.proof(Side::Browser, &old.unwrap().talk);
    assert!(matches!(pairings.check(new.unwrap(), &proof, None), Err(Refusal::BadProof)));
}

#[test]
fn a_code_pairs_once_and_the_derived_key_lasts() {
    let place = Place::new();
    let pairings = place.pairings();
    let offer = pairings.offer_code().unwrap();
    assert_eq!(pairings.code_state(&offer.id).unwrap(), CodeState::Waiting);
    let key = pair(&pairings, "a", &offer.code).unwrap();
    let paired = come_in(&pairings, "a", &key).unwrap();
    assert_eq!((paired.name.as_deref(), paired.by), (Some("Chrome work"), By::Code));
    assert_eq!(pairings.code_state(&offer.id).unwrap(), CodeState::Used(paired));
    assert!(matches!(pair(&pairings, "b", &offer.code), Err(Refusal::NoCode)));
    let text = fs::read_to_string(place.file()).unwrap();
    assert!(!text.contains(&offer.code) && !text.contains(&offer.code.replace('-', "")));
}

#[test]
fn of_two_pairings_at_once_one_succeeds() {
    let place = Place::new();
    let pairings = place.pairings();
    for round in 0..10 {
        let offer = pairings.offer_code().unwrap();
        let results: Vec<_> = thread::scope(|scope| {
            let all: Vec<_> = (0..4)
                .map(|number| {
                    let name = format!("r{round}-{number}");
                    let (pairings, code) = (&pairings, &offer.code);
                    scope.spawn(move || pair(pairings, &name, code))
                })
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "{results:?}");
        assert_eq!(pairings.list().unwrap().len(), round + 1);
    }
}

#[test]
fn a_code_is_over_after_two_minutes_and_not_longer_when_the_clock_is_set_back() {
    let place = Place::new();
    let pairings = place.pairings();
    let start = 1_000_000_000;
    let offer = pairings.offer_code_at(start).unwrap();
    let greeting = greeting("a", true);
    let key = Key::of_code(&offer.code).unwrap();
    let late = pairings.challenge_at(&greeting, OWN, start + 119_999).unwrap();
    for moment in [start + 120_000, start - 1] {
        assert!(matches!(pairings.challenge_at(&greeting, OWN, moment), Err(Refusal::NoCode)));
        assert_eq!(pairings.code_state_at(&offer.id, moment).unwrap(), CodeState::Over);
    }
    let proof = key.proof(Side::Browser, &late.talk);
    let checked = pairings.check_at(late, &proof, None, start + 120_000);
    assert!(matches!(checked, Err(Refusal::NoCode)), "{checked:?}");
}

#[test]
fn the_sixth_attempt_of_one_is_refused_even_if_it_is_right_and_others_are_not_concerned() {
    let place = Place::new();
    let pairings = place.pairings();
    let offer = pairings.offer_code().unwrap();
    // Greeted before, as somebody who tries many at once would.
    let held = pairings.challenge(&greeting("a", true), OWN).unwrap();
    for attempt in 1..=ATTEMPTS {
        let challenge = pairings.challenge(&greeting("a", true), OWN).unwrap();
        let refused = pairings.check(challenge, &random_nonce(), None);
        assert!(matches!(refused, Err(Refusal::BadProof)), "{attempt}");
    }
    assert!(matches!(pair(&pairings, "a", &offer.code), Err(Refusal::TriedTooOften)));
    let proof = held.key.proof(Side::Browser, &held.talk);
    assert!(matches!(pairings.check(held, &proof, None), Err(Refusal::TriedTooOften)));
    assert_eq!(pairings.list().unwrap(), []);
    assert_eq!(pairings.code_state(&offer.id).unwrap(), CodeState::Waiting);
    assert!(pair(&pairings, "b", &offer.code).is_ok());
}

#[test]
fn a_program_of_many_names_uses_up_nothing_and_is_not_remembered_for_ever() {
    let place = Place::new();
    let pairings = place.pairings();
    let offer = pairings.offer_code().unwrap();
    for number in 0..2 * TRIED_BY_MAX {
        let challenge =
            pairings.challenge(&greeting(&format!("guess-{number}"), true), OWN).unwrap();
        let refused = pairings.check(challenge, &random_nonce(), None);
        assert!(matches!(refused, Err(Refusal::BadProof)), "{number}");
    }
    let kept = file::read(&pairings.path).unwrap().code.unwrap();
    assert_eq!(kept.tried_by.len(), TRIED_BY_MAX);
    assert!(pair(&pairings, "b", &offer.code).is_ok());
}

#[test]
fn a_newer_code_takes_the_place_of_an_older_one() {
    let place = Place::new();
    let pairings = place.pairings();
    let old = pairings.offer_code().unwrap();
    let held = pairings.challenge(&greeting("a", true), OWN).unwrap();
    let new = pairings.offer_code().unwrap();
    let proof = held.key.proof(Side::Browser, &held.talk);
    assert!(matches!(pairings.check(held, &proof, None), Err(Refusal::NoCode)));
    assert_eq!(pairings.code_state(&old.id).unwrap(), CodeState::Over);
    pairings.withdraw_code(&old.id).unwrap();
    assert!(pair(&pairings, "a", &new.code).is_ok());
}

#[test]
fn a_forgotten_key_is_over_even_for_who_was_greeted_before() {
    let place = Place::new();
    let pairings = place.pairings();
    let key = pairings.enroll(&id("a"), None, None).unwrap();
    let stays = pairings.enroll(&id("b"), None, None).unwrap();
    let held = pairings.challenge(&greeting("a", false), OWN).unwrap();
    let proof = key.proof(Side::Browser, &held.talk);
    let gone = pairings.forget(&Which::Instances(vec![id("a")])).unwrap();
    assert_eq!(gone.iter().map(|one| one.instance.as_str()).collect::<Vec<_>>(), ["a"]);
    assert!(matches!(pairings.check(held, &proof, None), Err(Refusal::Unknown)));
    assert!(matches!(come_in(&pairings, "a", &key), Err(Refusal::Unknown)));
    assert!(come_in(&pairings, "b", &stays).is_ok());
    // The native host must not bring it back unasked; who is still paired is answered.
    assert!(matches!(pairings.enroll(&id("a"), None, None), Err(Refusal::Off(None))));
    assert!(pairings.enroll(&id("b"), None, None).is_ok());
    pairings.offer_code().unwrap();
    let again = pairings.enroll(&id("a"), None, None).unwrap();
    assert!(matches!(come_in(&pairings, "a", &key), Err(Refusal::BadProof)), "the old key");
    assert!(come_in(&pairings, "a", &again).is_ok());
}

#[test]
fn all_or_those_of_a_launch_are_forgotten() {
    let place = Place::new();
    let pairings = place.pairings();
    for (name, launch) in [("a", Some("l1")), ("b", Some("l2")), ("c", None)] {
        pairings.enroll(&id(name), None, launch).unwrap();
    }
    assert_eq!(pairings.forget(&Which::Launch("l1".into())).unwrap().len(), 1);
    assert!(pairings.enroll(&id("a"), None, Some("l3")).is_ok(), "native pairing stays on");
    let offer = pairings.offer_code().unwrap();
    assert_eq!(pairings.forget(&Which::All).unwrap().len(), 3);
    assert_eq!(pairings.list().unwrap(), []);
    assert!(matches!(pair(&pairings, "a", &offer.code), Err(Refusal::NoCode)));
}

#[test]
fn one_more_than_the_limit_is_refused_and_the_code_is_not_lost() {
    let place = Place::new();
    let pairings = place.pairings();
    for number in 0..INSTANCES_MAX {
        pairings.enroll(&id(&format!("b{number}")), None, None).unwrap();
    }
    let refused = pairings.enroll(&id("more"), None, None);
    assert!(matches!(refused, Err(Refusal::Full)));
    assert!(refused.unwrap_err().to_string().contains("tabwire unpair"));
    let offer = pairings.offer_code().unwrap();
    assert!(matches!(pair(&pairings, "more", &offer.code), Err(Refusal::Full)));
    assert!(pairings.enroll(&id("b7"), None, None).is_ok(), "who is paired stays so");
    assert!(pair(&pairings, "b7", &offer.code).is_ok(), "and can be paired anew");
}

#[test]
fn the_file_is_private_and_nothing_else_is_left_behind() {
    let place = Place::new();
    place.pairings().enroll(&id("a"), None, None).unwrap();
    for name in place.names() {
        let mode = fs::metadata(place.0.join(&name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let mut names = place.names();
    names.sort();
    assert_eq!(names, [FILE.to_owned(), format!("{FILE}.lock")]);
}

#[test]
fn who_asks_for_its_key_again_costs_no_write() {
    use std::os::unix::fs::MetadataExt;
    let place = Place::new();
    let pairings = place.pairings();
    let file = || fs::metadata(place.file()).unwrap().ino();
    pairings.enroll(&id("a"), Some("work"), None).unwrap();
    let before = file();
    pairings.enroll(&id("a"), Some("work"), None).unwrap();
    pairings.enroll(&id("a"), None, None).unwrap();
    assert_eq!(file(), before);
    pairings.enroll(&id("a"), Some("home"), None).unwrap();
    assert_ne!(file(), before);
}

#[test]
fn a_file_that_others_could_have_written_is_refused() {
    let place = Place::new();
    let pairings = place.pairings();
    let key = pairings.enroll(&id("a"), None, None).unwrap();
    fs::set_permissions(place.file(), fs::Permissions::from_mode(0o644)).unwrap();
    let refused = come_in(&pairings, "a", &key).unwrap_err();
    assert!(matches!(refused, Refusal::Trouble(PairingError::NotPrivate(_))));
    assert_eq!(refused.closing().reason, CloseReason::Internal);
    assert!(!refused.closing().message.contains(FILE), "the peer is not told where");
    fs::set_permissions(place.file(), fs::Permissions::from_mode(0o600)).unwrap();
    let elsewhere = place.0.join("elsewhere");
    fs::rename(place.file(), &elsewhere).unwrap();
    symlink(&elsewhere, place.file()).unwrap();
    assert!(matches!(pairings.list(), Err(PairingError::NotPrivate(_))));
}

#[test]
fn a_damaged_file_is_set_aside_and_said() {
    for damage in ["", "{", "{}", r#"{"format":1,"native":true,"instances":{"a b":{}}}"#] {
        let place = Place::new();
        let pairings = place.pairings();
        fs::write(place.file(), damage).unwrap();
        fs::set_permissions(place.file(), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(pairings.list().unwrap(), [], "{damage}");
        let aside = place.names().into_iter().find(|name| name.contains("damaged")).unwrap();
        assert_eq!(fs::read_to_string(place.0.join(&aside)).unwrap(), damage);
        let notice = pairings.notice().unwrap().unwrap();
        assert!(notice.contains(&aside) && notice.contains("tabwire pair"), "{notice}");
        let refused = pairings.enroll(&id("a"), None, None).unwrap_err();
        assert_eq!(refused.to_string(), notice, "nobody comes back unasked");
        pairings.offer_code().unwrap();
        assert_eq!(pairings.notice().unwrap(), None);
        assert!(pairings.enroll(&id("a"), None, None).is_ok());
    }
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let place = Place::new();
    let text = r#"{"format":2,"other":[]}"#;
    fs::write(place.file(), text).unwrap();
    fs::set_permissions(place.file(), fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(place.pairings().list(), Err(PairingError::Newer(_))));
    assert!(matches!(place.pairings().offer_code(), Err(PairingError::Newer(_))));
    assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
}

#[test]
fn many_who_write_at_once_lose_nothing() {
    let place = Place::new();
    thread::scope(|scope| {
        for number in 0..16 {
            let pairings = place.pairings();
            scope.spawn(move || pairings.enroll(&id(&format!("b{number}")), None, None).unwrap());
        }
    });
    assert_eq!(place.pairings().list().unwrap().len(), 16);
}

#[test]
fn nothing_shows_a_secret() {
    let place = Place::new();
    let pairings = place.pairings();
    let key = pairings.enroll(&id("a"), None, None).unwrap().reveal();
    let challenge = pairings.challenge(&greeting("a", false), OWN).unwrap();
    let text = format!("{challenge:?} {:?} {pairings:?}", pairings.list().unwrap());
    assert!(!text.contains(&key), "{text}");
}

#[test]
fn whoever_dialled_another_address_or_does_not_say_is_refused_with_the_reason() {
    let place = Place::new();
    let pairings = place.pairings();
    pairings.enroll(&id("a"), None, None).unwrap();
    let elsewhere = Greeting { address: Some("loopback:8766".to_owned()), ..greeting("a", false) };
    let refused = pairings.challenge(&elsewhere, OWN).unwrap_err();
    assert!(matches!(refused, Refusal::Elsewhere { .. }), "{refused}");
    let said = refused.to_string();
    let own = OWN.replace("loopback", "127.0.0.1");
    for part in [own.as_str(), "Host header", "--allow-host 127.0.0.1:8766"] {
        assert!(said.contains(part), "{said}");
    }
    let old = Greeting { address: None, ..greeting("a", false) };
    let refused = pairings.challenge(&old, OWN).unwrap_err();
    assert!(matches!(refused, Refusal::Outdated), "{refused}");
    assert!(refused.closing().message.contains("update"), "{refused}");
}
