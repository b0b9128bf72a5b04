//! `tabwire install` and `tabwire uninstall` in a home of their own: every byte before and after.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use serde_json::Value;
use testkit::{Commands, Place};

use crate::scene::PROGRAM;

/// A user's folders.
struct Scene {
    place: Place,
}

impl Scene {
    fn new() -> Self {
        Self { place: Place::create() }
    }

    /// A user with a browser and all clients, each with a configuration that somebody has written.
    fn furnished() -> Self {
        let scene = Self::new();
        fs::create_dir_all(scene.path("config/chromium")).unwrap();
        for (name, text) in CONFIGURED {
            scene.write(name, text);
        }
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the program with no browsers but those in the user's folders.
    fn commands(&self) -> Commands<'_> {
        Commands::new(PROGRAM, &self.place)
            .variable("PATH", self.path("bin").to_str().unwrap())
            .variable("TABWIRE_DATA", self.path("d").to_str().unwrap())
    }

    async fn must(&self, code: i32, args: &[&str]) -> testkit::command::Finished {
        self.commands().run(args).await.must_exit(code)
    }

    /// All files with their text, backups apart.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.place.path(), &mut files);
        files.retain(|path, _| !path.to_string_lossy().contains(".tabwire-backup-"));
        files
    }
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.path().is_dir() {
            true => collect(&entry.path(), files),
            false => drop(files.insert(entry.path(), fs::read(entry.path()).unwrap())),
        }
    }
}

const CONFIGURED: &[(&str, &str)] = &[
    ("home/.claude.json", "{\"numStartups\":3,\"projects\":{}}"),
    ("config/Claude/claude_desktop_config.json", "{ }\n"),
    ("home/.cursor/mcp.json", "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n"),
    ("config/Code/User/mcp.json", "// mine\n{\n  \"servers\": {}, // none\n  \"inputs\": [],\n}\n"),
    ("home/.codex/config.toml", "model = \"o\" # why\r\n\r\n[mcp_servers.a]\r\ncommand = 'x'\r\n"),
    ("home/.gemini/settings.json", ""),
];

const MANIFEST: &str = "config/chromium/NativeMessagingHosts/dev.tabwire.host.json";

#[tokio::test]
async fn installing_twice_is_installing_once_and_uninstalling_gives_every_byte_back() {
    let scene = Scene::furnished();
    let before = scene.files();
    let said = scene.must(0, &["install", "--yes"]).await.stdout;
    assert!(said.contains("+ ") && said.contains("Claude Code") && said.contains("Chromium"));
    let installed = scene.files();
    for (name, _) in CONFIGURED {
        let now = scene.read(name);
        assert!(now.contains("tabwire") && now.contains("stdio"), "{name}: {now}");
    }
    let code = scene.read("config/Code/User/mcp.json");
    assert!(code.starts_with("// mine\n{\n  \"servers\": {\n    \"tabwire\": {\n"), "{code}");
    assert!(code.ends_with("  }, // none\n  \"inputs\": [],\n}\n"), "{code}");
    let cursor = scene.read("home/.cursor/mcp.json");
    assert_eq!(cursor.matches('\n').count(), cursor.matches("\r\n\t").count() + 2, "{cursor:?}");
    assert!(scene.read("home/.codex/config.toml").starts_with(CONFIGURED[4].1));
    let again = scene.must(0, &["install"]).await.stdout;
    assert_eq!(again.matches("already there").count(), CONFIGURED.len() + 1, "{again}");
    assert_eq!(scene.files(), installed, "the second time changes nothing");
    scene.must(0, &["uninstall", "--yes"]).await;
    assert_eq!(scene.files(), before);
    let nothing = scene.must(0, &["uninstall"]).await.stdout;
    assert!(nothing.contains("nothing to do"), "{nothing}");
}

#[tokio::test]
async fn backups_stay_and_hold_what_was() {
    let scene = Scene::furnished();
    scene.must(0, &["install", "--yes", "--client", "cursor"]).await;
    scene.must(0, &["uninstall", "--yes"]).await;
    let folder = fs::read_dir(scene.path("home/.cursor")).unwrap().flatten();
    let backups: Vec<_> = folder
        .filter(|entry| entry.file_name().to_string_lossy().contains(".tabwire-backup-"))
        .map(|entry| fs::read_to_string(entry.path()).unwrap())
        .collect();
    assert!(backups.iter().any(|text| text == CONFIGURED[2].1), "{backups:?}");
}

#[tokio::test]
async fn a_dry_run_shows_everything_and_changes_nothing() {
    let scene = Scene::furnished();
    let before = scene.files();
    let said = scene.must(0, &["install", "--dry-run"]).await.stdout;
    assert!(said.contains("Nothing was changed") && said.contains("dev.tabwire.host"), "{said}");
    let json = scene.must(0, &["install", "--dry-run", "--json"]).await.json();
    assert_eq!(json["dryRun"], true);
    let parts = json["parts"].as_array().unwrap();
    assert!(parts.iter().all(|part| part["state"] == "planned"), "{json}");
    assert_eq!(scene.files(), before);
    assert!(!scene.path("d").exists());
    scene.must(0, &["install", "--yes"]).await;
    let installed = scene.files();
    scene.must(0, &["uninstall", "--dry-run"]).await;
    assert_eq!(scene.files(), installed);
}

#[tokio::test]
async fn without_a_terminal_nothing_is_done_unasked() {
    let scene = Scene::furnished();
    let before = scene.files();
    for args in [&["install"][..], &["install", "--json"], &["install", "--client", "cursor"]] {
        let refused = scene.must(2, args).await;
        assert!(refused.stderr.contains("--yes") && refused.stdout.is_empty(), "{refused:?}");
    }
    assert_eq!(scene.files(), before);
    scene.must(0, &["install", "--yes"]).await;
    let installed = scene.files();
    scene.must(2, &["uninstall"]).await;
    assert_eq!(scene.files(), installed);
}

#[tokio::test]
async fn only_what_is_here_or_named_is_touched() {
    let scene = Scene::new();
    let said = scene.must(0, &["install", "--yes", "--no-extension"]).await.stdout;
    assert!(said.contains("no browser was found"), "{said}");
    assert!(!scene.path("home/.cursor").exists() && !scene.path("d").exists());
    let named = ["install", "--yes", "--client", "cursor", "--browser", "chrome"];
    scene.must(0, &named).await;
    assert!(scene.path("home/.cursor/mcp.json").exists());
    assert!(scene.path("config/google-chrome/NativeMessagingHosts/dev.tabwire.host.json").exists());
    assert!(!scene.path("home/.claude.json").exists() && !scene.path("config/chromium").exists());
    scene.must(2, &["install", "--client", "abacus"]).await;
    scene.must(2, &["install", "--browser", "lynx"]).await;
    scene.must(2, &["install", "--client", "cursor", "--no-clients"]).await;
    let other = Scene::furnished();
    other.must(0, &["install", "--yes", "--no-clients"]).await;
    assert_eq!(other.read("home/.claude.json"), CONFIGURED[0].1);
    assert!(other.path(MANIFEST).exists());
}

#[tokio::test]
async fn entries_start_this_program_for_this_data_folder() {
    let scene = Scene::furnished();
    scene.must(0, &["install", "--yes"]).await;
    let config: Value = serde_json::from_str(&scene.read("home/.claude.json")).unwrap();
    let entry = &config["mcpServers"]["tabwire"];
    let program = fs::canonicalize(PROGRAM).unwrap();
    assert_eq!(Path::new(entry["command"].as_str().unwrap()), program);
    let data = scene.path("d");
    assert_eq!(entry["args"], serde_json::json!(["stdio", "--data", data]));
    let script = scene.read("d/native-host");
    let line =
        format!("exec '{}' native-host --data '{}' \"$@\"", program.display(), data.display());
    assert_eq!(script.lines().last(), Some(line.as_str()));
    assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
    let manifest: Value = serde_json::from_str(&scene.read(MANIFEST)).unwrap();
    assert_eq!(manifest["path"], serde_json::json!(data.join("native-host")));
    // The usual folder needs no mention.
    let usual = Scene::furnished();
    let commands = Commands::new(PROGRAM, &usual.place);
    commands.run(&["install", "--yes", "--client", "cursor"]).await.must_exit(0);
    let text = usual.read("home/.cursor/mcp.json");
    assert!(text.contains("\"args\": [\"stdio\"]"), "{text}");
}

#[tokio::test]
async fn what_cannot_be_edited_is_left_with_something_to_paste() {
    let scene = Scene::furnished();
    scene.write("home/.cursor/mcp.json", "{\"mcpServers\": {");
    let read_only = scene.path("home/.gemini/settings.json");
    fs::set_permissions(&read_only, fs::Permissions::from_mode(0o444)).unwrap();
    let ended = scene.must(1, &["install", "--yes"]).await;
    assert!(ended.stdout.contains("put this there yourself"), "{ended:?}");
    assert!(ended.stdout.contains("read-only"), "{ended:?}");
    assert_eq!(scene.read("home/.cursor/mcp.json"), "{\"mcpServers\": {");
    assert_eq!(scene.read("home/.gemini/settings.json"), "");
    assert!(scene.read("home/.claude.json").contains("tabwire"), "the others are done");
    let json = scene.must(1, &["install", "--yes", "--json"]).await.json();
    let cursor = json["parts"].as_array().unwrap().iter().find(|part| part["part"] == "cursor");
    let cursor = cursor.unwrap();
    assert_eq!(cursor["state"], "refused");
    assert!(cursor["paste"].as_str().unwrap().contains("\"tabwire\""), "{cursor}");
}

#[tokio::test]
async fn links_and_modes_stay_as_they_are() {
    let scene = Scene::new();
    scene.write("dotfiles/claude.json", "{}");
    let real = scene.path("dotfiles/claude.json");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(scene.path("home")).unwrap();
    symlink(&real, scene.path("home/.claude.json")).unwrap();
    scene.must(0, &["install", "--yes"]).await;
    assert!(scene.path("home/.claude.json").is_symlink());
    assert!(scene.read("dotfiles/claude.json").contains("tabwire"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[tokio::test]
async fn entries_of_others_are_shown_and_replaced_but_not_removed() {
    let scene = Scene::new();
    let foreign = "{\"mcpServers\": {\"tabwire\": {\"command\": \"npx\", \"args\": [\"x\"]}}}";
    scene.write("home/.cursor/mcp.json", foreign);
    let kept = scene.must(0, &["uninstall", "--yes"]).await.stdout;
    assert!(kept.contains("does not start Tabwire"), "{kept}");
    assert_eq!(scene.read("home/.cursor/mcp.json"), foreign);
    let shown = scene.must(0, &["install", "--dry-run"]).await.stdout;
    assert!(shown.contains("npx") && shown.contains("would be replaced"), "{shown}");
    scene.must(0, &["install", "--yes"]).await;
    assert!(!scene.read("home/.cursor/mcp.json").contains("npx"));
}

#[tokio::test]
async fn data_is_removed_only_when_asked_and_when_no_hub_runs() {
    let hub = crate::scene::hub(&[]).await;
    let commands = hub.commands(PROGRAM);
    let refused = commands.run(&["uninstall", "--yes", "--data-too"]).await.must_exit(4);
    assert!(refused.stderr.contains("tabwire stop"), "{refused:?}");
    let scene = Scene::furnished();
    scene.must(0, &["install", "--yes"]).await;
    scene.write("d/hub.log", "x");
    scene.must(0, &["uninstall", "--yes", "--client", "cursor"]).await;
    assert!(scene.path(MANIFEST).exists(), "only the named client");
    scene.must(0, &["uninstall", "--yes"]).await;
    assert!(scene.path("d/hub.log").exists());
    scene.must(0, &["uninstall", "--yes", "--data-too"]).await;
    assert!(!scene.path("d").exists());
}
