//! What is read from files about started browsers is not read where everybody else is served.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    thread::{self, ThreadId},
};

use launch::{BrowserRecord, Browsers, Config, Ended, LaunchId, Surroundings};
use model::InstanceId;
use tools::launching::{self, Launcher};

use crate::fake::Stage;

/// Knows of nobody, and on which threads it was asked.
struct Recorder {
    browsers: Browsers,
    asked: Mutex<Vec<ThreadId>>,
}

impl Recorder {
    fn note(&self) {
        self.asked.lock().unwrap().push(thread::current().id());
    }
}

impl Launcher for Recorder {
    fn browsers(&self) -> &Browsers {
        &self.browsers
    }

    fn extension(&self) -> Result<PathBuf, String> {
        Err("there is none".to_owned())
    }

    fn instance_of(&self, _: &LaunchId) -> Option<InstanceId> {
        self.note();
        None
    }

    fn unpair(&self, _: &LaunchId) {
        self.note();
    }
}

fn ended() -> Ended {
    Ended(BrowserRecord {
        launch: LaunchId::mint(),
        pid: 4711,
        start_time: 1,
        user_data_dir: PathBuf::from("/nowhere"),
        name: "chromium".to_owned(),
        browser: "chromium".to_owned(),
        profile: None,
        headless: true,
        throw_away: true,
        session: None,
        started_at_ms: 1,
    })
}

#[tokio::test]
async fn keys_are_read_and_forgotten_on_threads_that_may_wait() {
    let stage = Stage::start();
    let surroundings = Surroundings {
        data: PathBuf::from("/nowhere"),
        program: PathBuf::from("/nowhere/tabwire"),
        path: Vec::new(),
        home: None,
        program_folders: Vec::new(),
        display: false,
        hidden: Vec::new(),
        locale: true,
    };
    let browsers = Browsers::open(Config::default(), surroundings);
    let recorder = Arc::new(Recorder { browsers, asked: Mutex::default() });
    let launcher: Arc<dyn Launcher> = recorder.clone();
    launching::forget(&stage.toolbox, &launcher, &ended()).await;
    let asked = recorder.asked.lock().unwrap();
    assert_eq!(asked.len(), 2, "for its session, and to forget its key");
    // This test's runtime has one thread for everybody who is served: this one.
    assert!(!asked.contains(&thread::current().id()));
}
