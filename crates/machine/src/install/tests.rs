//! Plans against a user's folders: what they would change, what they do, and what they refuse.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, PermissionsExt, symlink},
};

use super::*;
use crate::test_place::Place;

struct Scene {
    place: Place,
    what: Installation,
}

impl Scene {
    fn new() -> Self {
        let place = Place::private();
        let at = |name: &str| place.path().join(name);
        let here = Surroundings {
            system: System::Linux,
            home: at("home"),
            config: at("home/.config"),
            chrome: None,
            claude: None,
            codex: None,
            gemini: None,
            programs: vec![at("bin")],
        };
        let program = at("bin/tabwire");
        let command = program.to_str().unwrap().to_owned();
        let entry = Entry { command, args: vec!["stdio".to_owned()] };
        let what = Installation { here, data: at("data"), program, entry };
        Self { place, what }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.place.path().join(name)).unwrap()
    }

    fn plan(&self, wanted: &Wanted) -> Vec<Part> {
        plan(&self.what, wanted)
    }

    /// The part of one client.
    fn client(&self, name: &str) -> Part {
        let wanted = Wanted { clients: vec![name.to_owned()], ..Wanted::default() };
        self.plan(&wanted).into_iter().find(|part| part.name == name).unwrap()
    }

    fn install(&self, name: &str) {
        apply(&self.client(name));
    }

    fn uninstall(&self) -> Vec<Part> {
        let parts = undo(&self.what, &Unwanted::default());
        parts.iter().for_each(apply);
        parts
    }
}

#[track_caller]
fn apply(part: &Part) {
    for step in part.changes() {
        step.apply(None).unwrap();
    }
}

#[track_caller]
fn refusal(part: &Part) -> (&str, &str) {
    match &part.state {
        State::Refused { why, paste } => (why, paste.as_deref().unwrap_or_default()),
        other => panic!("{other:?}"),
    }
}

const FILES: &[(&str, &str)] = &[
    ("claude-code", "home/.claude.json"),
    ("claude-desktop", "home/.config/Claude/claude_desktop_config.json"),
    ("cursor", "home/.cursor/mcp.json"),
    ("vscode", "home/.config/Code/User/mcp.json"),
    ("codex", "home/.codex/config.toml"),
    ("gemini", "home/.gemini/settings.json"),
];

#[test]
fn every_client_has_its_file_and_its_form() {
    let scene = Scene::new();
    for (name, file) in FILES {
        scene.install(name);
        let text = scene.read(file);
        assert!(text.contains("bin/tabwire\"") && text.contains("[\"stdio\"]"), "{text}");
        let typed = ["claude-code", "vscode"].contains(name);
        assert_eq!(text.contains("\"type\": \"stdio\""), typed, "{name}");
        let servers = match *name {
            "vscode" => "\"servers\"",
            "codex" => "[mcp_servers.tabwire]",
            _ => "\"mcpServers\"",
        };
        assert!(text.contains(servers), "{name}: {text}");
        assert!(matches!(scene.client(name).state, State::Nothing(_)), "{name} has it already");
    }
    assert_eq!(CLIENTS.len(), FILES.len());
    assert_eq!(scene.uninstall().len(), FILES.len());
    for (_, file) in FILES {
        assert!(!scene.place.path().join(file).exists(), "{file} was made by us");
    }
}

#[test]
fn other_systems_and_variables_have_other_places() {
    let mut here = Scene::new().what.here;
    here.system = System::Mac;
    let file = |here: &Surroundings, name: &str| {
        let client = CLIENTS.iter().find(|client| client.name == name).unwrap();
        (client.file)(here).strip_prefix(&here.home).unwrap().display().to_string()
    };
    let desktop = "Library/Application Support/Claude/claude_desktop_config.json";
    assert_eq!(file(&here, "claude-desktop"), desktop);
    assert_eq!(file(&here, "vscode"), "Library/Application Support/Code/User/mcp.json");
    let (claude, codex) = (here.home.join("c1"), here.home.join("c2"));
    (here.claude, here.codex) = (Some(claude), Some(codex));
    here.gemini = Some(here.home.join("g"));
    assert_eq!(file(&here, "claude-code"), "c1/.claude.json");
    assert_eq!(file(&here, "codex"), "c2/config.toml");
    assert_eq!(file(&here, "gemini"), "g/.gemini/settings.json");
    let chrome = &BROWSERS[0].manifest_folders(&here)[0];
    assert!(chrome.ends_with("Library/Application Support/Google/Chrome/NativeMessagingHosts"));
}

#[test]
fn only_clients_that_are_here_are_planned_for() {
    let scene = Scene::new();
    assert!(scene.plan(&Wanted::default()).iter().all(|part| part.name == "native-host"));
    fs::create_dir_all(scene.what.here.home.join(".cursor")).unwrap();
    scene.write("home/.claude.json", "{}");
    let names: Vec<_> = scene.plan(&Wanted::default()).iter().map(|part| part.name).collect();
    assert_eq!(names, ["native-host", "claude-code", "cursor"]);
    let none = Wanted { no_clients: true, ..Wanted::default() };
    assert_eq!(scene.plan(&none).len(), 1);
}

#[test]
fn uninstalling_gives_back_every_byte() {
    let odd: &[(&str, &str)] = &[
        ("cursor", ""),
        ("cursor", "{ }"),
        ("cursor", "{\n}\n"),
        ("cursor", "\u{feff}{\r\n\t\"mcpServers\" : { }\r\n}"),
        ("vscode", "// mine\n{\n   \"servers\": {\n      \"a\": {}, // x\n   }\n}\n"),
        ("gemini", "{\"theme\":\"x\"}"),
        ("codex", "model = \"x\" # c\r\n\r\n"),
        ("codex", "a = 1"),
    ];
    for (name, before) in odd {
        let scene = Scene::new();
        let file = FILES.iter().find(|(client, _)| client == name).unwrap().1;
        scene.write(file, before);
        scene.install(name);
        assert_ne!(scene.read(file), *before);
        scene.uninstall();
        assert_eq!(scene.read(file), *before);
    }
}

#[test]
fn a_file_that_changed_since_loses_the_entry_only() {
    let scene = Scene::new();
    scene.write("home/.claude.json", "{\n  \"starts\": 1\n}\n");
    scene.install("claude-code");
    let text = scene.read("home/.claude.json").replace("\"starts\": 1", "\"starts\": 2");
    scene.write("home/.claude.json", &text);
    scene.uninstall();
    let left = "{\n  \"starts\": 2,\n  \"mcpServers\": {}\n}\n";
    assert_eq!(scene.read("home/.claude.json"), left);
}

#[test]
fn another_entry_is_shown_and_keeps_its_other_settings() {
    let scene = Scene::new();
    let before =
        "{\"mcpServers\": {\"tabwire\": {\"command\": \"/old/tabwire\", \"env\": {\"A\": \"b\"}}}}";
    scene.write("home/.cursor/mcp.json", before);
    let part = scene.client("cursor");
    let State::Planned { note, changes } = &part.state else { panic!("{part:?}") };
    assert!(note.contains("replaced"), "{note}");
    assert!(changes[0].describe().iter().any(|line| line.contains("/old/tabwire")));
    apply(&part);
    let after = scene.read("home/.cursor/mcp.json");
    assert!(after.contains("\"env\": {\"A\": \"b\"}") && !after.contains("/old/"), "{after}");
}

#[test]
fn what_is_not_ours_stays() {
    let scene = Scene::new();
    let foreign = "{\"mcpServers\": {\"tabwire\": {\"command\": \"npx\", \"args\": [\"other\"]}}}";
    scene.write("home/.cursor/mcp.json", foreign);
    let manifest = native_host::manifest(Path::new("/elsewhere/native-host")).unwrap();
    let place = "home/.config/chromium/NativeMessagingHosts/dev.tabwire.host.json";
    scene.write(place, &manifest);
    let parts = scene.uninstall();
    assert!(parts.iter().all(|part| matches!(part.state, State::Nothing(_))), "{parts:?}");
    assert_eq!(scene.read("home/.cursor/mcp.json"), foreign);
    assert_eq!(scene.read(place), manifest);
}

#[test]
fn files_that_cannot_be_edited_are_refused_with_what_to_paste() {
    let scene = Scene::new();
    for (name, text) in [
        ("cursor", "{\"mcpServers\": "),
        ("cursor", "[]"),
        ("cursor", "{\"mcpServers\": [1]}"),
        ("vscode", "{\"servers\": 7}"),
        ("codex", "x = "),
        ("codex", "mcp_servers = {}"),
    ] {
        let file = FILES.iter().find(|(client, _)| *client == name).unwrap().1;
        scene.write(file, text);
        let part = scene.client(name);
        let (why, paste) = refusal(&part);
        assert!(why.contains("left as it is"), "{why}");
        assert!(paste.contains("bin/tabwire\"") && paste.contains("stdio"), "{paste}");
        assert_eq!(scene.read(file), text);
    }
}

#[test]
fn read_only_files_and_dangling_links_are_refused() {
    let scene = Scene::new();
    let path = scene.write("home/.cursor/mcp.json", "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert!(refusal(&scene.client("cursor")).0.contains("read-only"));
    let link = scene.what.here.home.join(".claude.json");
    symlink(scene.place.path().join("nowhere"), link).unwrap();
    refusal(&scene.client("claude-code"));
}

#[test]
fn browsers_get_a_manifest_in_every_root_and_a_script() {
    let scene = Scene::new();
    for root in ["chromium", "google-chrome-beta", "BraveSoftware/Brave-Browser"] {
        fs::create_dir_all(scene.what.here.config.join(root)).unwrap();
    }
    let edge = scene.write("bin/microsoft-edge", "");
    fs::set_permissions(&edge, fs::Permissions::from_mode(0o755)).unwrap();
    let part = &scene.plan(&Wanted::default())[0];
    apply(part);
    let script = scene.what.data.join("native-host");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::metadata(&scene.what.data).unwrap().permissions().mode() & 0o777, 0o700);
    let roots = ["chromium", "google-chrome-beta", "BraveSoftware/Brave-Browser", "microsoft-edge"];
    let manifest = |root: &str| {
        scene.what.here.config.join(root).join("NativeMessagingHosts/dev.tabwire.host.json")
    };
    for root in roots {
        let text = fs::read_to_string(manifest(root)).unwrap();
        assert_eq!(native_host::read_manifest(&text), Ok(script.clone()), "{root}");
    }
    assert!(!manifest("google-chrome").exists(), "it is not here");
    assert!(matches!(scene.plan(&Wanted::default())[0].state, State::Nothing(_)));
    scene.uninstall();
    assert!(roots.iter().all(|root| !manifest(root).exists()) && !script.exists());
}

#[test]
fn a_data_folder_that_is_open_to_others_is_refused() {
    let scene = Scene::new();
    fs::create_dir_all(scene.what.here.config.join("chromium")).unwrap();
    fs::DirBuilder::new().mode(0o755).create(&scene.what.data).unwrap();
    fs::set_permissions(&scene.what.data, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(refusal(&scene.plan(&Wanted::default())[0]).0.contains("open to others"));
}

#[test]
fn windows_is_told_what_is_missing() {
    let mut scene = Scene::new();
    scene.what.here.system = System::Windows;
    let part = &scene.plan(&Wanted::default())[0];
    let (why, paste) = refusal(part);
    assert!(why.contains("registry"), "{why}");
    assert!(paste.contains(r"Software\Google\Chrome\NativeMessagingHosts\dev.tabwire.host"));
}

#[test]
fn the_extension_is_unpacked_by_who_has_it_and_removed_again() {
    let scene = Scene::new();
    let wanted = Wanted { extension: true, no_clients: true, ..Wanted::default() };
    let part = scene.plan(&wanted).into_iter().find(|part| part.name == "extension").unwrap();
    assert!(!part.ask, "it goes into our own folder");
    let unpack = |data: &Path| {
        let folder = data.join(EXTENSION);
        fs::create_dir(&folder)
            .and_then(|()| fs::write(folder.join("manifest.json"), "{}"))
            .unwrap();
        Ok(folder)
    };
    for step in part.changes() {
        step.apply(Some(&unpack)).unwrap();
    }
    assert!(scene.what.data.join("extension/manifest.json").exists());
    let broken = part.changes().last().unwrap().apply(Some(&|_| Err("no room".to_owned())));
    assert!(broken.unwrap_err().to_string().contains("no room"));
    scene.uninstall();
    assert!(!scene.what.data.join("extension").exists());
}

#[test]
fn data_goes_only_when_asked_and_only_ours() {
    let scene = Scene::new();
    for name in ["hub.sqlite", "hub.sqlite-wal", "hub.log", "pairing.json", "tokens"] {
        scene.write(&format!("data/{name}"), "x");
    }
    scene.uninstall();
    assert!(scene.what.data.join("hub.sqlite").exists(), "kept unless asked");
    scene.write("data/holiday.jpg", "x");
    let all = Unwanted { data: true, ..Unwanted::default() };
    let parts = undo(&scene.what, &all);
    let said = parts.last().unwrap().changes()[0].apply(None).unwrap().unwrap();
    assert!(said.contains("holiday.jpg"), "{said}");
    let left: Vec<_> = fs::read_dir(&scene.what.data).unwrap().flatten().collect();
    assert_eq!(left.len(), 1);
    fs::remove_file(scene.what.data.join("holiday.jpg")).unwrap();
    parts.last().unwrap().changes()[0].apply(None).unwrap();
    assert!(!scene.what.data.exists());
}
