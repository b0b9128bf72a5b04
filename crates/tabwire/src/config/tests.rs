//! Layers, kinds and errors of the settings.

mod reference;

use std::time::Duration;

use super::*;

struct Place(PathBuf);

impl Place {
    fn with(text: &str) -> Self {
        let name = format!("tabwire-config-{}-{}", std::process::id(), model::id::random_text(8));
        let path = env::temp_dir().join(name);
        fs::write(&path, text).unwrap();
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn load(
    file: &str,
    environment: &[(&str, &str)],
    flags: &[(&str, &[&str])],
) -> Result<Settings, String> {
    let place = Place::with(file);
    let own = |text: &&str| (*text).to_owned();
    let layers = Layers {
        file: Some(place.0.clone()),
        environment: environment.iter().map(|(name, value)| (own(name), own(value))).collect(),
        flags: flags
            .iter()
            .map(|(name, values)| (own(name), values.iter().map(own).collect()))
            .collect(),
    };
    layers.load().map_err(|failure| format!("{failure:?}"))
}

#[track_caller]
fn check_refused(file: &str, environment: &[(&str, &str)], parts: &[&str]) {
    let message = load(file, environment, &[]).expect_err("must be refused");
    for part in parts {
        assert!(message.contains(part), "{part:?} not in {message}");
    }
}

#[test]
fn flags_go_over_environment_over_file() {
    let file = "port = 1111\ncalls_total = 5\ncall_timeout = \"7s\"\nallow_origin = [\"https://a.example\"]";
    let settings = load(
        file,
        &[("TABWIRE_PORT", "2222"), ("TABWIRE_CALLS_TOTAL", "6"), ("HOME", "/nowhere")],
        &[("port", &["3333"])],
    )
    .unwrap();
    assert_eq!(settings.edge.port, 3333);
    assert_eq!(settings.hub.calls_total, 6);
    assert_eq!(settings.hub.call_timeout, Duration::from_secs(7));
    assert_eq!(settings.edge.allow_origin, ["https://a.example"]);
    assert_eq!(settings.hub.replay_messages, 1000, "the rest is as it was");
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    check_refused("prot = 1", &[], &["prot", "did you mean port?"]);
    check_refused("", &[("TABWIRE_ALLOW_ORIGINS", "x")], &["did you mean allow_origin?"]);
    assert!(load("", &[("TABWIRE_CONFIG", "x"), ("TABWIRE_TOKEN", "y")], &[]).is_ok());
}

#[test]
fn wrong_values_are_refused_by_name() {
    check_refused("port = \"many\"", &[], &["port", "a whole number"]);
    check_refused("port = 70000", &[], &["port", "70000"]);
    check_refused("require_token = 1", &[], &["require_token", "true or false"]);
    check_refused("call_timeout = \"soon\"", &[], &["call_timeout", "soon"]);
    check_refused("bind = [\"somewhere\"]", &[], &["bind", "somewhere"]);
    check_refused("bind = []", &[], &["at least one address"]);
    check_refused("allow_origin = [\"*\"]", &[], &["is not an origin"]);
    check_refused("log_level = \"loud\"", &[], &["log_level", "loud"]);
    for calls in ["0", "1025"] {
        let written = format!("calls_per_session = {calls}");
        check_refused(&written, &[], &["calls_per_session", calls, "1 to 1024"]);
    }
    assert!(load("calls_per_session = 1024", &[], &[]).is_ok());
    check_refused("port = ", &[], &["not valid TOML"]);
    check_refused("", &[("TABWIRE_PORT", "x")], &["TABWIRE_PORT", "a whole number"]);
}

#[test]
fn tools_are_selected_by_group_and_name() {
    check_refused("tools = [\"browze\"]", &[], &["tools", "browze", "did you mean browse?"]);
    check_refused("", &[("TABWIRE_TOOLS", "")], &["tools", "names no tools"]);
    let settings =
        load("tools = [\"all\"]", &[("TABWIRE_TOOLS", "wait, browser_tab")], &[]).unwrap();
    let selection = settings.own.tools();
    assert!(selection.has("sleep") && selection.has("browser_tab") && !selection.has("batch"));
}

#[test]
fn log_level_has_two_variables() {
    let level = |environment: &[(&str, &str)]| load("", environment, &[]).unwrap().own.log_level;
    assert_eq!(level(&[("LOG_LEVEL", "DEBUG")]), "debug");
    assert_eq!(level(&[("LOG_LEVEL", "debug"), ("TABWIRE_LOG_LEVEL", "warn")]), "warn");
}

#[test]
fn every_setting_has_words_and_a_default() {
    let table = table::settings();
    assert!(table.len() > 20, "{}", table.len());
    for setting in table {
        assert!(setting.doc.ends_with('.'), "{}: {:?}", setting.name, setting.doc);
        let optional = [
            "token_file",
            "ping_after",
            "dead_after",
            "browser",
            "browser_headless",
            "browser_extension",
        ];
        let has_default = !setting.default.is_null();
        assert!(has_default || optional.contains(&setting.name.as_str()), "{}", setting.name);
    }
}
