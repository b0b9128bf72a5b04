//! Browsers that are scripts: started, adopted, counted, ended, and cleaned up behind.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use super::*;
use crate::test_place::Place;

/// Says something and waits, with a helper in its group. The shell keeps its command line.
const WAITS: &str = "echo up; echo warning >&2; sleep 600 & wait";
/// Does not want to end.
const STUBBORN: &str = "trap '' TERM; echo up; while :; do sleep 600 & wait; done";

struct Scene {
    place: Place,
    browsers: Browsers,
}

impl Scene {
    fn new(script: &str) -> Self {
        Self::with(script, Config::default())
    }

    fn with(script: &str, config: Config) -> Self {
        let place = Place::new();
        let program = place.program("browser", script);
        let config = Config { browser: Some(program.to_str().unwrap().to_owned()), ..config };
        let browsers = Browsers::open(config, place.surroundings());
        Self { place, browsers }
    }

    fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    fn start(&self, profile: Option<&str>) -> Result<BrowserRecord, LaunchError> {
        let opening = self.browsers.start(&wish(profile))?;
        eventually(|| opening.last_words().contains("up"));
        Ok(opening.keep("its-session").unwrap())
    }

    /// A hub that dies and another one in its place.
    fn crash(&mut self) {
        self.browsers = Browsers::open(self.browsers.config(), self.place.surroundings());
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.browsers.end_all(Duration::ZERO);
    }
}

fn wish(profile: Option<&str>) -> Wish {
    let profile = profile.map(str::to_owned);
    Wish { profile, extension: "/nowhere/extension".into(), ..Wish::default() }
}

#[track_caller]
fn eventually(done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never happened");
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(record: &BrowserRecord) -> bool {
    start_time(record.pid) == Some(record.start_time)
}

/// Whether nobody is there any more who could be taken for it. A process that was killed is there
/// until it is its turn to end.
fn has_left(record: &BrowserRecord) -> bool {
    !is_alive(record) && process::find(record).is_none()
}

/// What is in the folder of records.
fn left(data: &Path) -> usize {
    fs::read_dir(data.join(record::FOLDER)).map_or(0, Iterator::count)
}

fn kill(record: &BrowserRecord) {
    let script = format!("kill -KILL -{}", record.pid);
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
}

#[test]
fn a_browser_is_started_recorded_listed_ended_and_leaves_nothing() {
    let scene = Scene::new(WAITS);
    let opening = scene.browsers.start(&wish(None)).unwrap();
    assert!(opening.is_alive());
    eventually(|| opening.last_words() == "up | warning");
    let record = opening.keep("chromium").unwrap();
    assert_eq!(record::read_all(&scene.data()), std::slice::from_ref(&record));
    assert_eq!((record.name.as_str(), record.session.as_deref()), ("chromium", Some("chromium")));
    assert!(record.throw_away && record.headless, "without a display");
    assert!(record.user_data_dir.join("NativeMessagingHosts/dev.tabwire.host.json").is_file());
    let arguments = fs::read(format!("/proc/{}/cmdline", record.pid)).unwrap();
    let arguments = String::from_utf8(arguments).unwrap().replace('\0', " ");
    assert!(arguments.contains("--load-extension=/nowhere/extension"), "{arguments}");
    let info = BrowserInfo { record: record.clone(), adopted: false };
    assert_eq!(scene.browsers.list(), [info]);
    // As `end`, with more time than the busiest machine needs.
    let (patience, begun) = (Duration::from_secs(60), Instant::now());
    let ended = scene.browsers.end_within(&record.launch, patience).unwrap();
    assert_eq!(ended, Ended(record.clone()));
    assert!(begun.elapsed() < patience, "it ends when it is asked");
    assert!(!is_alive(&record) && left(&scene.data()) == 0);
    assert!(scene.browsers.list().is_empty());
    assert!(matches!(scene.browsers.end(&record.launch), Err(Unproven::Gone)));
}

#[test]
fn one_that_does_not_want_to_is_ended_with_its_whole_group() {
    let scene = Scene::new(STUBBORN);
    let record = scene.start(None).unwrap();
    let browser = process::prove(&record).unwrap();
    eventually(|| process::group(&browser).len() == 2);
    let begun = Instant::now();
    scene.browsers.end(&record.launch).unwrap();
    assert!(begun.elapsed() >= ending::PATIENCE, "it was asked first");
    let script = format!("ps -o pid= -g {}", record.pid);
    assert!(!is_alive(&record));
    // The others were ended with it, and need a moment to be gone.
    eventually(|| Command::new("sh").args(["-c", &script]).output().unwrap().stdout.is_empty());
    assert_eq!(left(&scene.data()), 0);
}

#[test]
fn after_a_crash_living_ones_are_adopted_and_dead_ones_cleaned_up() {
    let mut scene = Scene::new(WAITS);
    let (alive, named, dead) = (
        scene.start(None).unwrap(),
        scene.start(Some("work")).unwrap(),
        scene.start(None).unwrap(),
    );
    // As if the hub had died before it could write the process down.
    BrowserRecord { pid: 0, start_time: 0, ..alive.clone() }.write(&scene.data()).unwrap();
    kill(&dead);
    eventually(|| has_left(&dead));
    scene.crash();
    let list = scene.browsers.list();
    let adopted = |record| BrowserInfo { record, adopted: true };
    assert_eq!(list, [adopted(alive.clone()), adopted(named.clone())]);
    assert!(!dead.user_data_dir.exists() && alive.user_data_dir.exists());
    let refused = scene.browsers.start(&wish(Some("work"))).err().unwrap().to_string();
    assert!(refused.contains("work") && refused.contains("its-session"), "{refused}");
    scene.browsers.end(&alive.launch).unwrap();
    kill(&named);
    eventually(|| scene.browsers.tidy() == [Ended(named.clone())]);
    assert!(named.user_data_dir.exists(), "a named profile is kept");
    assert_eq!(left(&scene.data()), 0);
}

#[test]
fn a_record_of_another_process_or_folder_harms_neither() {
    let mut scene = Scene::new(WAITS);
    let precious = scene.place.path().join("precious");
    folder::make(&precious).unwrap();
    let mut bystander = Command::new("sleep").arg("600").spawn().unwrap();
    let start_time = start_time(bystander.id()).unwrap();
    let sample = record::tests::sample(&scene.data());
    let foreign = BrowserRecord { pid: bystander.id(), start_time, ..sample };
    foreign.write(&scene.data()).unwrap();
    let sample = record::tests::sample(&scene.data());
    let elsewhere = BrowserRecord { user_data_dir: precious.clone(), ..sample };
    elsewhere.write(&scene.data()).unwrap();
    scene.crash();
    let refused = scene.browsers.end(&foreign.launch).unwrap_err().to_string();
    assert!(refused.contains("cannot be proven"), "{refused}");
    scene.browsers.end_all(Duration::ZERO);
    assert!(bystander.try_wait().unwrap().is_none(), "a process was ended that is not ours");
    assert!(precious.exists());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn there_is_a_limit_and_one_browser_per_profile() {
    let config = Config { browsers_max: 2, ..Config::default() };
    let scene = Scene::with(WAITS, config);
    let first = scene.start(Some("work")).unwrap();
    let refused = scene.start(Some("work")).unwrap_err();
    assert!(matches!(&refused, LaunchError::ProfileInUse { by, .. } if by == "its-session"));
    let profiles = scene.browsers.profiles().unwrap();
    let used_by = Some("its-session".to_owned());
    assert_eq!(profiles, [ProfileInfo { name: "work".to_owned(), used_by }]);
    scene.start(None).unwrap();
    let refused = scene.start(None).unwrap_err();
    assert!(matches!(refused, LaunchError::TooMany(2)), "{refused}");
    scene.browsers.end(&first.launch).unwrap();
    scene.start(Some("work")).unwrap();
    assert_eq!(crate::config::BROWSERS_MAX, 8);
}

#[test]
fn many_starts_at_once_stay_within_the_limit() {
    let scene = Scene::with(WAITS, Config { browsers_max: 3, ..Config::default() });
    let started: Vec<_> = thread::scope(|scope| {
        let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| scene.start(None))).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    assert_eq!(started.iter().filter(|done| done.is_ok()).count(), 3);
    assert_eq!(scene.browsers.list().len(), 3);
    assert_eq!(left(&scene.data()), 6, "three records and three profiles");
}

#[test]
fn a_profile_that_a_foreign_browser_has_is_not_touched() {
    let scene = Scene::new(WAITS);
    let folder = scene.data().join("profiles/work");
    folder::make(&folder).unwrap();
    let mut foreign = Command::new("/bin/sh")
        .args(["-c", "read line", "browser"])
        .arg(process::folder_argument(&folder))
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // A process that has just begun has no arguments yet for a moment.
    while !process::has_folder(foreign.id(), &folder) {
        thread::yield_now();
    }
    symlink(format!("my-machine-{}", foreign.id()), folder.join("SingletonLock")).unwrap();
    let refused = scene.start(Some("work")).unwrap_err();
    assert!(matches!(refused, LaunchError::ProfileForeign { pid, .. } if pid == foreign.id()));
    assert_eq!(left(&scene.data()), 0);
    foreign.kill().unwrap();
    foreign.wait().unwrap();
    scene.start(Some("work")).unwrap();
}

#[test]
fn whoever_has_ended_is_told_once_however_that_was_noticed() {
    let mut scene = Scene::new(WAITS);
    let told = |scene: &Scene| -> Vec<_> {
        scene.browsers.take_ended().into_iter().map(|Ended(record)| record.launch).collect()
    };
    let listed = scene.start(None).unwrap();
    kill(&listed);
    eventually(|| scene.browsers.list().is_empty());
    assert_eq!(told(&scene), [listed.launch]);
    let closed = scene.start(None).unwrap();
    scene.browsers.end(&closed.launch).unwrap();
    let failed = scene.browsers.start(&wish(None)).unwrap();
    let launch = failed.launch().clone();
    failed.end().unwrap();
    assert_eq!(told(&scene), [closed.launch, launch]);
    let before = scene.start(None).unwrap();
    kill(&before);
    eventually(|| has_left(&before));
    scene.crash();
    assert_eq!(told(&scene), [before.launch]);
    let last = scene.start(None).unwrap();
    scene.browsers.end_all(Duration::ZERO);
    assert_eq!(told(&scene), [last.launch]);
    assert!(told(&scene).is_empty());
}

#[test]
fn one_that_nobody_waits_for_is_ended() {
    let scene = Scene::new(WAITS);
    let opening = scene.browsers.start(&wish(None)).unwrap();
    let record = opening.look().unwrap();
    assert!(scene.browsers.tidy().is_empty(), "it is waited for");
    drop(opening);
    assert_eq!(scene.browsers.tidy(), [Ended(record.clone())]);
    assert!(!is_alive(&record) && left(&scene.data()) == 0);
}

#[test]
fn one_that_ends_at_once_keeps_its_last_words_for_who_waits() {
    let scene = Scene::new("echo 'no protocol specified' >&2; exit 1");
    let opening = scene.browsers.start(&wish(None)).unwrap();
    eventually(|| !opening.is_alive());
    scene.browsers.tidy();
    assert_eq!(opening.last_words(), "no protocol specified");
    opening.end().unwrap();
    assert_eq!((left(&scene.data()), scene.browsers.launches()), (0, Vec::new()));
}

#[test]
fn a_program_that_starts_the_browser_and_ends_is_followed() {
    // It is up when its command line is there, which the program does not wait for.
    let inner = "echo up; sleep 600 & wait";
    let scene = Scene::new(&format!("/bin/sh -c '{inner}' chrome \"$@\" & exit 0"));
    let record = scene.start(None).unwrap();
    eventually(|| !is_alive(&record));
    assert!(scene.browsers.tidy().is_empty());
    let followed = scene.browsers.list().remove(0).record;
    assert!(followed.pid != record.pid && is_alive(&followed));
    assert_eq!(record::read_all(&scene.data()), std::slice::from_ref(&followed));
    scene.browsers.end(&followed.launch).unwrap();
    assert!(!is_alive(&followed) && left(&scene.data()) == 0);
    // It is not the leader of its group, so what it has started is not ended with it.
    let _ = Command::new("sh").args(["-c", &format!("kill -KILL -{}", record.pid)]).status();
}

#[test]
fn one_that_is_followed_and_does_not_want_to_end_is_ended_too() {
    let inner = "trap \"\" TERM; echo up; while :; do sleep 600 & wait; done";
    let scene = Scene::new(&format!("/bin/sh -c '{inner}' chrome \"$@\" & exit 0"));
    let record = scene.start(None).unwrap();
    eventually(|| !is_alive(&record));
    assert!(scene.browsers.tidy().is_empty());
    let followed = scene.browsers.list().remove(0).record;
    scene.browsers.end(&followed.launch).unwrap();
    assert!(!is_alive(&followed) && left(&scene.data()) == 0);
    let _ = Command::new("sh").args(["-c", &format!("kill -KILL -{}", record.pid)]).status();
}

#[test]
fn what_cannot_be_started_leaves_nothing() {
    let scene = Scene::new(WAITS);
    for (profile, name) in [(Some("../x"), None), (None, Some("My Browser"))] {
        let name: Option<&str> = name;
        let wish = Wish { name: name.map(str::to_owned), ..wish(profile) };
        let refused = scene.browsers.start(&wish).err().unwrap();
        assert!(matches!(refused, LaunchError::BadName { .. }), "{refused}");
    }
    let broken = scene.place.program("broken", "");
    fs::write(&broken, "#!/nowhere/shell\n").unwrap();
    scene.browsers.reconfigure(Config {
        browser: Some(broken.to_str().unwrap().to_owned()),
        ..Config::default()
    });
    let refused = scene.browsers.start(&wish(None)).err().unwrap();
    assert!(matches!(refused, LaunchError::NotStarted { .. }), "{refused}");
    assert_eq!((left(&scene.data()), scene.browsers.launches()), (0, Vec::new()));
    for number in 0..profile::PROFILES_MAX {
        folder::make(&scene.data().join(format!("profiles/p{number}"))).unwrap();
    }
    let refused = scene.browsers.start(&wish(Some("one-more"))).err().unwrap();
    assert!(matches!(refused, LaunchError::TooManyProfiles { .. }), "{refused}");
}

#[test]
fn all_are_ended_and_none_is_started_after_that() {
    let scene = Scene::new(WAITS);
    let records = [scene.start(None).unwrap(), scene.start(Some("work")).unwrap()];
    scene.browsers.end_all(ending::PATIENCE);
    assert!(!records.iter().any(is_alive) && left(&scene.data()) == 0);
    assert!(matches!(scene.start(None), Err(LaunchError::Stopping)));
}
