//! Uploads as a client asks for them and as a browser gets them: bytes in parts, and no path.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use model::{Code, Fault, Target};
use serde_json::{Map, Value, json};
use tools::{
    Client, ToolboxSettings, UploadFolders, Workplace,
    uploads::{PART, UPLOAD},
};

use crate::fake::{Abilities, Peer, Stage, client};

/// Bytes of a part, as `tools::uploads` has it.
const PART_BYTES: usize = 256 << 10;

/// A working folder that goes away with the test.
pub struct Project(PathBuf);

impl Project {
    pub fn new(files: &[(&str, &[u8])]) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("tabwire-project-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        let project = Self(fs::canonicalize(path).unwrap());
        for (name, bytes) in files {
            fs::write(project.path().join(name), bytes).unwrap();
        }
        project
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The place of a client that works here.
    pub fn workplace(&self) -> Workplace {
        Workplace::Here { folder: Some(self.0.clone()), roots: Vec::new() }
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

async fn scene(project: &Project, commands: &[&str]) -> (Stage, Peer) {
    let mut stage = Stage::start();
    stage.workplace = project.workplace();
    let chrome = stage.able("chrome", Abilities { commands, ..Abilities::default() }).await;
    (stage, chrome)
}

async fn upload(stage: &Stage, more: Value) -> Result<(), Fault> {
    let mut args = json!({"action": "upload", "selector": "#file"});
    args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    stage.call("browser_interact", args).await.map(drop)
}

/// Puts the parts of a file together, and fails the test where they do not follow each other.
fn together(parts: &[Value], file: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts.iter().filter(|part| part["file"] == file) {
        assert_eq!(part["offset"], bytes.len(), "{}", part["uploadId"]);
        bytes.extend(STANDARD.decode(part["data"].as_str().unwrap()).unwrap());
    }
    bytes
}

#[tokio::test]
async fn a_browser_gets_names_types_and_bytes_and_no_path() {
    let large: Vec<_> = (0..PART_BYTES + 5).map(|place| (place % 251) as u8).collect();
    let project = Project::new(&[("a.txt", b"hello"), ("large.png", &large), ("empty", b"")]);
    let (stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    let whole = project.path().join("large.png");
    let content = json!({"name": "b.csv", "data": STANDARD.encode("x;y")});
    let wish = json!({"files": ["a.txt", whole, "empty"], "contents": [content]});
    upload(&stage, wish).await.unwrap();
    let parts = chrome.args_of(PART);
    assert_eq!(parts.len(), 4, "one, two, none, one");
    let id = parts[0]["uploadId"].as_str().unwrap();
    assert!(id.len() == 26 && parts.iter().all(|part| part["uploadId"] == id));
    assert_eq!(together(&parts, 0), b"hello");
    assert_eq!(together(&parts, 1), large);
    assert_eq!(together(&parts, 3), b"x;y");
    let files = json!([
        {"name": "a.txt", "mimeType": "text/plain", "size": 5},
        {"name": "large.png", "mimeType": "image/png", "size": PART_BYTES + 5},
        {"name": "empty", "mimeType": "application/octet-stream", "size": 0},
        {"name": "b.csv", "mimeType": "text/csv", "size": 3},
    ]);
    let expected = json!({"selector": "#file", "uploadId": id, "files": files});
    assert_eq!(chrome.args_of(UPLOAD), [expected]);
    let told = format!("{parts:?}{:?}", chrome.args_of(UPLOAD));
    assert!(!told.contains(project.path().to_str().unwrap()), "no path reaches the browser");
    upload(&stage, json!({"files": ["a.txt"]})).await.unwrap();
    assert_ne!(chrome.args_of(PART)[4]["uploadId"], id, "each upload has an id of its own");
}

#[tokio::test]
async fn nothing_is_sent_unless_every_file_may_be() {
    let project = Project::new(&[("a.txt", b"hello"), (".env", b"x")]);
    let (stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    let large = fs::File::create(project.path().join("large")).unwrap();
    large.set_len((50 << 20) + 1).unwrap();
    let many = vec!["a.txt"; 21];
    let base64 = json!({"name": "a", "data": "no base64"});
    for (more, code, part) in [
        (json!({"files": ["a.txt", "/etc/passwd"]}), Code::Refused, "\"/etc/passwd\" is outside"),
        (json!({"files": ["a.txt", ".env"]}), Code::Refused, "never uploaded"),
        (json!({"files": ["a.txt", "gone"]}), Code::NotFound, "there is no file \"gone\""),
        (json!({"files": ["a.txt", "."]}), Code::InvalidArgument, "is a folder"),
        (json!({"files": ["a.txt", "large"]}), Code::TooLarge, "\"large\" has 52428801 bytes"),
        (json!({"files": many}), Code::TooLarge, "21 files are too many"),
        (json!({"files": [{"name": "a"}]}), Code::InvalidArgument, "`files.0`"),
        (json!({"contents": ["a.txt"]}), Code::InvalidArgument, "`contents.0`"),
        (json!({"contents": [base64]}), Code::InvalidArgument, "not base64"),
        (json!({"contents": [{"data": ""}]}), Code::InvalidArgument, "`name` is missing"),
        (json!({"contents": [{"name": "a"}]}), Code::InvalidArgument, "`data` is missing"),
        (json!({}), Code::InvalidArgument, "`files` or `contents`"),
    ] {
        let fault = upload(&stage, more.clone()).await.unwrap_err();
        assert_eq!(fault.code, code, "{more}: {fault}");
        assert!(fault.to_string().contains(part), "{more}: {part:?} not in {fault}");
    }
    assert_eq!(chrome.calls(), 0);
}

#[tokio::test]
async fn the_folders_of_the_hub_count_and_can_change() {
    let (project, reports) = (Project::new(&[]), Project::new(&[("r.txt", b"x")]));
    let (stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    let wish = json!({"files": [reports.path().join("r.txt")]});
    assert_eq!(upload(&stage, wish.clone()).await.unwrap_err().code, Code::Refused);
    let roots = vec![reports.path().to_owned()];
    let upload_folders = UploadFolders { roots, ..UploadFolders::default() };
    stage.toolbox.reconfigure(ToolboxSettings { upload_folders, ..ToolboxSettings::default() });
    upload(&stage, wish.clone()).await.unwrap();
    stage.toolbox.reconfigure(ToolboxSettings::default());
    assert_eq!(upload(&stage, wish).await.unwrap_err().code, Code::Refused);
    assert_eq!(chrome.args_of(UPLOAD).len(), 1);
}

#[tokio::test]
async fn a_client_on_another_machine_sends_contents() {
    let project = Project::new(&[("a.txt", b"hello")]);
    let (mut stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    stage.workplace = Workplace::Elsewhere;
    let fault = upload(&stage, json!({"files": [project.path().join("a.txt")]})).await.unwrap_err();
    assert!(fault.to_string().contains("send the bytes: `contents"), "{fault}");
    let content = json!({"name": "a.txt", "mimeType": "a/b", "data": "aGVsbG8="});
    upload(&stage, json!({"contents": [content]})).await.unwrap();
    assert_eq!(together(&chrome.args_of(PART), 0), b"hello");
    assert_eq!(chrome.args_of(UPLOAD)[0]["files"][0]["mimeType"], "a/b");
}

#[tokio::test]
async fn a_browser_that_takes_paths_alone_gets_real_ones_that_were_checked() {
    let project = Project::new(&[("a.txt", b"hello")]);
    let (stage, chrome) = scene(&project, &[UPLOAD]).await;
    std::os::unix::fs::symlink("a.txt", project.path().join("link")).unwrap();
    upload(&stage, json!({"files": ["link"]})).await.unwrap();
    let path = project.path().join("a.txt");
    assert_eq!(chrome.args_of(UPLOAD), [json!({"selector": "#file", "files": [path]})]);
    for (more, code) in [
        (json!({"files": ["/etc/passwd"]}), Code::Refused),
        (json!({"contents": [{"name": "a", "data": ""}]}), Code::Unsupported),
    ] {
        assert_eq!(upload(&stage, more).await.unwrap_err().code, code);
    }
    assert_eq!((chrome.args_of(PART).len(), chrome.calls()), (0, 1));
}

#[tokio::test]
async fn nobody_gets_past_the_checks_by_the_commands_own_names() {
    let project = Project::new(&[]);
    let (stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    for name in [UPLOAD, PART] {
        let fault = stage.toolbox.check_offered(Target::Command, name, &Map::new()).unwrap_err();
        assert_eq!(fault.code, Code::Refused, "{name}");
        assert!(fault.to_string().contains("browser_interact"), "{fault}");
    }
    let args = json!({"selector": "#file", "files": ["/etc/passwd"]});
    assert_eq!(stage.call(UPLOAD, args.clone()).await.unwrap_err().code, Code::Refused);
    let step = json!({"tool": UPLOAD, "arguments": args});
    let batch = stage.call("batch", json!({"steps": [step]})).await.unwrap_err();
    assert_eq!(batch.code, Code::Refused, "{batch}");
    let part = json!({"uploadId": "a", "file": 0, "offset": 0, "data": ""});
    assert_eq!(stage.call(PART, part).await.unwrap_err().code, Code::UnknownTool);
    assert_eq!(chrome.calls(), 0);
}

#[tokio::test]
async fn a_part_that_fails_ends_the_upload() {
    let project = Project::new(&[("a.txt", b"hello")]);
    let (stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    chrome.answers(PART, Err(Fault::new(Code::Foreign("TOO_LARGE".to_owned()), "full")));
    let fault = upload(&stage, json!({"files": ["a.txt"]})).await.unwrap_err();
    assert_eq!(fault.code.as_str(), "TOO_LARGE");
    assert_eq!(chrome.args_of(UPLOAD).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_upload_has_one_time_for_all_its_parts() {
    let project = Project::new(&[("large", &[7; 5 * PART_BYTES])]);
    let (stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    chrome.takes(PART, Duration::from_secs(15));
    for (time, parts) in [(Value::Null, 4), (json!(20_000), 2)] {
        let began = (tokio::time::Instant::now(), chrome.args_of(PART).len());
        let mut wish = json!({"files": ["large"]});
        if time.is_number() {
            wish["timeoutMs"] = time.clone();
        }
        let fault = upload(&stage, wish).await.unwrap_err();
        assert_eq!(fault.code, Code::TimedOut, "{fault}");
        let limit = time.as_u64().unwrap_or(60_000);
        assert_eq!(began.0.elapsed().as_millis() as u64, limit);
        assert!(chrome.args_of(PART).len() - began.1 <= parts);
        // The part that was under way is answered before the next upload.
        tokio::time::sleep(Duration::from_secs(30)).await;
    }
    assert_eq!(chrome.args_of(UPLOAD).len(), 0);
    upload(&stage, json!({"files": ["large"], "timeoutMs": 80_000})).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_upload_that_is_withdrawn_is_cancelled_in_the_browser() {
    let project = Project::new(&[("a.txt", b"hello")]);
    let (stage, chrome) = scene(&project, &[UPLOAD, PART]).await;
    chrome.answers_never(PART);
    let client = Client { workplace: project.workplace(), ..client() };
    let args = json!({"action": "upload", "selector": "#file", "files": ["a.txt"]});
    let call = stage.toolbox.call(&client, "browser_interact", args);
    assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    chrome.cancelled().await;
    assert_eq!((chrome.args_of(PART).len(), chrome.args_of(UPLOAD).len()), (1, 0));
}
