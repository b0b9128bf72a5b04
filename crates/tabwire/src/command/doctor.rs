//! `tabwire doctor`: looks whether everything is in its place, and says how to fix it.

use std::{collections::BTreeMap, env, io::Write, path::PathBuf};

use machine::{
    JoinWelcome,
    doctor::{Finding, Health, InspectedSetup, browser, client, hub},
};
use store::embedded::operate;

use super::{
    install::{UNPACK, installation},
    version::VERSION,
};
use crate::{
    api::{self, Api},
    cli::setup::Doctor,
    config::{Layers, Settings},
    failure::Failure,
    terminal,
};

pub fn run(options: &Doctor) -> Result<(), Failure> {
    api::block_on(async {
        let findings = look(options).await?;
        let mut out = terminal::stdout();
        match options.json {
            true => {
                let body = serde_json::to_string(&findings).map_err(Failure::failed)?;
                writeln!(out, "{body}")?;
            }
            false => findings.iter().try_for_each(|finding| tell(&mut out, finding))?,
        }
        match findings.iter().filter(|finding| finding.state == Health::Problem).count() {
            0 => Ok(()),
            1 => Err(Failure::failed("there is one problem")),
            count => Err(Failure::failed(format!("there are {count} problems"))),
        }
    })
}

fn tell(out: &mut impl Write, finding: &Finding) -> Result<(), Failure> {
    let state = match finding.state {
        Health::Ok => "ok",
        Health::Warning => "warning",
        Health::Problem => "PROBLEM",
    };
    writeln!(out, "{state:<8} {:<22} {}", finding.check, finding.message)?;
    if let Some(fix) = &finding.fix {
        writeln!(out, "{:<8} {:<22} -> {fix}", "", "")?;
    }
    Ok(())
}

async fn look(options: &Doctor) -> Result<Vec<Finding>, Failure> {
    let what = installation(&options.data.path())?;
    let (finding, settings) = settings();
    let setup = InspectedSetup {
        what,
        version: VERSION.to_owned(),
        port: options.port.unwrap_or(settings.edge.port),
        has_extension: UNPACK.is_some(),
    };
    let data = &setup.what.data;
    let mut findings = vec![hub::data(data), finding];
    let (about_hub, running) = hub::hub(&setup).await;
    findings.extend(about_hub);
    findings.push(store(&settings, data.join("hub.sqlite")));
    findings.push(browser::browsers(&setup));
    findings.extend(browser::native_host(&setup).await);
    findings.push(browser::extension(&setup));
    findings.push(connected(options, running).await);
    findings.push(browser::paired(data));
    findings.extend(client::clients(&setup));
    Ok(findings)
}

/// Looks whether a hub could read its settings. Where it could not, the usual ones are gone on with.
fn settings() -> (Finding, Settings) {
    let file = env::var_os("TABWIRE_CONFIG").map(PathBuf::from);
    match Layers::new(file, BTreeMap::new()).load() {
        Ok(settings) => (Finding::ok("settings", "they can be read"), settings),
        Err(failure) => {
            let fix = "fix it; docs/config.md has every setting";
            (Finding::problem("settings", failure.message(), fix), Settings::default())
        }
    }
}

fn store(settings: &Settings, file: PathBuf) -> Finding {
    let check = "store";
    if settings.own.store == "memory" {
        return Finding::ok(check, "nothing is kept, as the settings want it");
    }
    if !file.exists() {
        return Finding::ok(check, "nothing is kept yet");
    }
    let fix = "tabwire store check says more; the hub repairs what it can when it starts";
    match operate::check(&file) {
        Ok(report) => {
            let bad: u64 = report.tables.iter().map(|table| table.bad).sum();
            let rows: u64 = report.tables.iter().map(|table| table.rows).sum();
            match bad > 0 || !report.findings.is_empty() {
                true => Finding::problem(check, format!("{} is damaged", file.display()), fix),
                false => Finding::ok(check, format!("{rows} rows in {}", file.display())),
            }
        }
        Err(error) => {
            Finding::problem(check, format!("{} cannot be read: {error}", file.display()), fix)
        }
    }
}

/// Asks the hub which browsers are there.
async fn connected(options: &Doctor, running: Option<JoinWelcome>) -> Finding {
    let check = "connected";
    if running.is_none() {
        let fix = "start one (tabwire serve, or an AI client), and look again";
        return Finding::warning(check, "cannot be told while no hub answers", fix);
    }
    let body = match Api::of(&options.data.path()).get("/api/sessions").await {
        Ok(body) => body,
        Err(failure) => {
            let fix = "look at hub.log in the data folder";
            return Finding::problem(check, failure.message(), fix);
        }
    };
    let sessions = body["sessions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let there = sessions.iter().filter(|one| one["kind"] == "browser" && one["connected"] == true);
    let names: Vec<_> = there.filter_map(|session| session["name"].as_str()).collect();
    match names.is_empty() {
        false => Finding::ok(check, names.join(", ")),
        true => Finding::warning(
            check,
            "no browser is connected",
            "open the browser and look at the extension; tabwire install says how to load it",
        ),
    }
}
