//! `tabwire install`: tells browsers and AI clients of this program.

use std::{
    env,
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
};

use machine::install::{
    self, EXTENSION, Entry, Installation, Part, State, Surroundings, System, Wanted, browsers,
};
use serde_json::{Value, json};

use super::stdio::own_program;
use crate::{
    cli::setup::{How, Install},
    config::ProgramConfig,
    failure::Failure,
    terminal,
};

/// Unpacks the extension into a data folder and returns where it is.
type Unpack = fn(&Path) -> Result<PathBuf, Failure>;

/// Unpacks the extension that is built into this program.
pub const UNPACK: Option<Unpack> =
    Some(|data| crate::extension::unpack(data).map_err(Failure::failed));

pub fn run(options: &Install) -> Result<(), Failure> {
    let what = installation(&options.data.path())?;
    let wanted = Wanted {
        clients: options.clients.clone(),
        no_clients: options.no_clients,
        browsers: options.browsers.clone(),
        extension: UNPACK.is_some() && !options.no_extension,
    };
    let parts = install::plan(&what, &wanted);
    let next = match options.no_extension {
        true => Vec::new(),
        false => next_steps(&what, &options.browsers),
    };
    carry_out("install", &parts, &options.how, &next)
}

/// Says what is installed, and where this user's things lie.
pub fn installation(data: &Path) -> Result<Installation, Failure> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| Failure::usage("HOME is not set, so nothing can be found"))?;
    let named =
        |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let here = Surroundings {
        system: System::own(),
        config: named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        chrome: named("CHROME_CONFIG_HOME"),
        claude: named("CLAUDE_CONFIG_DIR"),
        codex: named("CODEX_HOME"),
        gemini: named("GEMINI_CLI_HOME"),
        programs: env::var_os("PATH")
            .map(|paths| env::split_paths(&paths).filter(|path| path.is_absolute()).collect())
            .unwrap_or_default(),
        home,
    };
    let usual = std::path::absolute(ProgramConfig::default().data)?;
    let data = std::path::absolute(data)?;
    let program = own_program()?;
    let text = |path: &Path| {
        let no_text = || Failure::failed(format!("{} is not valid text", path.display()));
        path.to_str().map(str::to_owned).ok_or_else(no_text)
    };
    let mut args = vec!["stdio".to_owned()];
    // A client must join the hub that browsers are told of, whatever its own environment says.
    if data != usual {
        args.extend(["--data".to_owned(), text(&data)?]);
    }
    let entry = Entry { command: text(&program)?, args };
    Ok(Installation { here, data, program, entry })
}

/// Shows a plan, asks, and does what is wanted.
pub fn carry_out(command: &str, parts: &[Part], how: &How, next: &[String]) -> Result<(), Failure> {
    let asks = parts.iter().any(|part| part.ask && !part.changes().is_empty());
    let silent = how.json || !std::io::stdin().is_terminal();
    if asks && silent && !how.yes && !how.dry_run {
        return Err(Failure::usage(format!(
            "nothing was changed: there is no terminal on which you could be asked\n  \
             look at `tabwire {command} --dry-run`, then run `tabwire {command} --yes`"
        )));
    }
    let mut told = Vec::new();
    let mut failed = false;
    for part in parts {
        let mut outcome = Outcome::new(part);
        if !how.json {
            show(part)?;
        }
        if !part.changes().is_empty() && !how.dry_run {
            if how.yes || !part.ask || ask()? {
                outcome.apply(part);
            } else {
                outcome.state = "declined";
            }
        }
        failed |= ["failed", "refused"].contains(&outcome.state);
        if !how.json {
            outcome.tell()?;
        }
        told.push(outcome.for_programs(part));
    }
    conclude(how, &told, next)?;
    match failed && !how.dry_run {
        true => Err(Failure::failed("not everything could be done; what is missing is said above")),
        false => Ok(()),
    }
}

fn conclude(how: &How, told: &[Value], next: &[String]) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    if how.json {
        let body = json!({"dryRun": how.dry_run, "parts": told, "next": next});
        return Ok(writeln!(out, "{body}")?);
    }
    if told.is_empty() {
        writeln!(out, "there is nothing to do")?;
    }
    if how.dry_run {
        writeln!(out, "\nNothing was changed.")?;
    }
    if !next.is_empty() {
        writeln!(out, "\nNext:")?;
    }
    for step in next {
        writeln!(out, "- {step}")?;
    }
    Ok(())
}

/// What became of a part.
struct Outcome {
    state: &'static str,
    notes: Vec<String>,
}

impl Outcome {
    fn new(part: &Part) -> Self {
        let state = match &part.state {
            State::Nothing(_) => "nothing",
            State::Planned { .. } => "planned",
            State::Refused { .. } => "refused",
        };
        Self { state, notes: Vec::new() }
    }

    fn apply(&mut self, part: &Part) {
        let unpack = |data: &Path| match UNPACK {
            Some(unpack) => unpack(data).map_err(|failure| failure.message().to_owned()),
            None => Err("there is none in this program".to_owned()),
        };
        self.state = "done";
        for step in part.changes() {
            match step.apply(Some(&unpack)) {
                Ok(note) => self.notes.extend(note),
                Err(error) => {
                    self.state = "failed";
                    self.notes.push(error.to_string());
                    return;
                }
            }
        }
    }

    fn tell(&self) -> Result<(), Failure> {
        let mut out = terminal::stdout();
        match self.state {
            "done" => writeln!(out, "  done")?,
            "declined" => writeln!(out, "  left as it is")?,
            _ => {}
        }
        for note in &self.notes {
            writeln!(out, "  {note}")?;
        }
        Ok(())
    }

    fn for_programs(&self, part: &Part) -> Value {
        let (message, paste) = match &part.state {
            State::Nothing(why) => (why.clone(), None),
            State::Planned { note, .. } => (note.clone(), None),
            State::Refused { why, paste } => (why.clone(), paste.clone()),
        };
        let paths: Vec<_> =
            part.changes().iter().map(|step| step.path().display().to_string()).collect();
        json!({
            "part": part.name, "title": part.title, "state": self.state, "message": message,
            "paths": paths, "notes": self.notes, "paste": paste,
        })
    }
}

fn show(part: &Part) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    match &part.state {
        State::Nothing(why) => writeln!(out, "{}: {why}", part.title)?,
        State::Planned { changes, note } => {
            writeln!(out, "{}:", part.title)?;
            for line in changes.iter().flat_map(install::Step::describe) {
                writeln!(out, "  {line}")?;
            }
            if !note.is_empty() {
                writeln!(out, "  {note}")?;
            }
        }
        State::Refused { why, paste } => {
            writeln!(out, "{}: {why}", part.title)?;
            if let Some(paste) = paste {
                writeln!(out, "  put this there yourself:\n")?;
                paste.lines().try_for_each(|line| writeln!(out, "    {line}"))?;
                writeln!(out)?;
            }
        }
    }
    Ok(())
}

fn ask() -> Result<bool, Failure> {
    let mut out = terminal::stdout();
    write!(out, "  Do it? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// What a browser lets only its user do.
fn next_steps(what: &Installation, names: &[String]) -> Vec<String> {
    let folder = what.data.join(EXTENSION);
    if UNPACK.is_none() && !folder.exists() {
        return Vec::new();
    }
    let load = |browser: &&browsers::Browser| {
        format!(
            "{}: open {}, switch on \"Developer mode\", press \"Load unpacked\" and choose {}",
            browser.title,
            browser.extensions,
            folder.display()
        )
    };
    browsers::chosen(&what.here, names).iter().map(load).collect()
}
