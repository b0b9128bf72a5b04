//! Recorded conversations, one file each in `golden/<dialect>/`: what comes in, what goes out.
//!
//! A step is a frame from the client (`from`), a message of the hub (`to`), the beginning (`open`)
//! or a timer (`wake`), with what the machine `gives`. `UPDATE_GOLDEN=1` rewrites the `gives`;
//! read the difference before you keep it.

#![allow(clippy::unwrap_used, reason = "a test")]

mod script;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use dialect::{DIALECTS, Dialect, Frame, Output, Start};
use model::CloseReason;
use serde_json::{Value, json};

#[test]
fn every_recorded_conversation_goes_as_recorded() {
    let mut failures = Vec::new();
    for path in files() {
        if let Err(difference) = play(&path) {
            failures.push(format!("{}:\n{difference}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_foreign_dialect_has_recordings_and_every_folder_a_dialect() {
    let folders: BTreeSet<_> = files()
        .iter()
        .filter_map(|path| Some(path.parent()?.file_name()?.to_str()?.to_owned()))
        .collect();
    let known: BTreeSet<_> =
        DIALECTS.iter().map(|info| info.name.to_owned()).filter(|name| name != "native").collect();
    assert_eq!(folders, known);
}

fn files() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden");
    let list = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = list(root).flat_map(list).collect();
    files.sort();
    files
}

fn play(path: &PathBuf) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut script: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut machine = start(path, &script);
    let update = updating();
    let mut differences = Vec::new();
    for (number, step) in script["steps"].as_array_mut().ok_or("no steps")?.iter_mut().enumerate() {
        let outputs = take(&mut *machine, step)
            .ok_or_else(|| format!("step {number} has none of from, to, wake, open"))?;
        let given: Value = outputs.iter().map(script::show).collect::<Vec<_>>().into();
        if update {
            step["gives"] = given;
        } else if step["gives"] != given {
            differences.push(format!("step {number}: {step:#}\ngave {given:#}"));
        }
    }
    if update {
        let text = serde_json::to_string_pretty(&script).unwrap() + "\n";
        fs::write(path, text).map_err(|error| error.to_string())?;
    }
    match differences.is_empty() {
        true => Ok(()),
        false => Err(differences.join("\n")),
    }
}

fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn start(path: &Path, script: &Value) -> Box<dyn Dialect> {
    let name = path.parent().and_then(|folder| folder.file_name()).unwrap().to_str().unwrap();
    let info = dialect::find(name).expect("a folder is named like its dialect");
    let instance = script["instance"].as_str().map(|text| text.parse().unwrap());
    (info.start)(&Start { instance, version: "0.0.0", liveness: info.liveness })
}

fn take(machine: &mut dyn Dialect, step: &Value) -> Option<Vec<Output>> {
    Some(if let Some(frame) = step.get("from") {
        let text = frame["text"].as_str().map_or_else(|| frame.to_string(), str::to_owned);
        machine.receive(Frame::Text(&text))
    } else if let Some(message) = step.get("to") {
        machine.send(script::message(message))
    } else if step.get("wake").is_some() {
        machine.wake()
    } else if step.get("open").is_some() {
        machine.open()
    } else {
        return None;
    })
}

#[test]
fn an_odd_field_in_a_recorded_frame_costs_nobody_the_connection() {
    if updating() {
        // The recordings are being written at the same time.
        return;
    }
    let odd = [json!(null), json!(-7), json!("x"), json!([1]), json!({"a": 1})];
    for path in files() {
        let script: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let steps = script["steps"].as_array().unwrap();
        for (number, step) in steps.iter().enumerate() {
            let Some(frame) = step["from"].as_object() else { continue };
            for (field, value) in frame.keys().flat_map(|field| odd.iter().map(move |v| (field, v)))
            {
                let mut frame = frame.clone();
                frame.insert(field.clone(), value.clone());
                let mut machine = start(&path, &script);
                for before in &steps[..number] {
                    take(&mut *machine, before);
                }
                let outputs = machine.receive(Frame::Text(&Value::from(frame).to_string()));
                // Who does not say which registered instance it is has nothing to stay for.
                let closes = |output: &Output| {
                    matches!(output, Output::Close(closing)
                        if closing.reason != CloseReason::UnknownInstance)
                };
                assert!(
                    !outputs.iter().any(closes),
                    "{path:?} step {number}, {field}: {outputs:?}"
                );
            }
        }
    }
}

#[test]
fn broken_frames_never_end_a_foreign_connection_in_silence() {
    for info in DIALECTS.iter().filter(|info| info.name != "native") {
        for text in ["", "not json", "[]", "7", "null", r#"{"type":7}"#, r#"{"type":"telepathy"}"#]
        {
            let instance = Some("abc".parse().unwrap());
            let mut machine =
                (info.start)(&Start { instance, version: "0.0.0", liveness: info.liveness });
            machine.open();
            let outputs = machine.receive(Frame::Text(text));
            let closes = |output: &Output| matches!(output, Output::Close(_));
            assert!(!outputs.iter().any(closes), "{} {text}: {outputs:?}", info.name);
            let outputs = machine.receive(Frame::Binary(&[1, 2, 3]));
            assert!(!outputs.iter().any(closes), "{} binary: {outputs:?}", info.name);
        }
    }
}
