//! `tabwire unpair`: forgets browsers, through the hub where one runs, so that it puts them out.

use std::{io::Write, path::Path};

use guard::{
    Pairings,
    pairing::{Paired, Which},
};
use model::InstanceId;
use serde_json::{Value, json};

use super::pair;
use crate::{
    api::{self, Api},
    cli::Unpair,
    failure::Failure,
    terminal,
};

pub fn run(options: &Unpair) -> Result<(), Failure> {
    let data = options.data.path();
    let pairings = pair::open(&data)?;
    api::block_on(async {
        let wanted = match &options.browser {
            None => None,
            Some(text) => Some(find(&pairings, text)?),
        };
        let (gone, cut) = match machine::status(&data).await.map_err(Failure::failed)? {
            machine::Status::Running(_) => through_hub(&data, wanted.as_ref()).await?,
            machine::Status::Unresponsive(_) => {
                forget(&pairings, wanted)?;
                return Err(Failure::failed(
                    "the keys are forgotten, but the hub does not answer: end it with \
                     `tabwire stop --force` to end what is connected",
                ));
            }
            machine::Status::Stale(_) | machine::Status::NotRunning => {
                (forget(&pairings, wanted)?, 0)
            }
        };
        report(options.json, &gone, cut)
    })
}

/// Finds a browser by its instance id or its name.
fn find(pairings: &Pairings, text: &str) -> Result<InstanceId, Failure> {
    let list = pairings.list().map_err(Failure::failed)?;
    if let Some(one) = list.iter().find(|one| one.instance.as_str() == text) {
        return Ok(one.instance.clone());
    }
    let named: Vec<_> = list.iter().filter(|one| one.name.as_deref() == Some(text)).collect();
    match named[..] {
        [one] => Ok(one.instance.clone()),
        [] => Err(Failure::failed(format!(
            "no paired browser is called {text:?}; `tabwire pair --list` shows all"
        ))),
        _ => {
            let ids: Vec<_> = named.iter().map(|one| one.instance.as_str()).collect();
            Err(Failure::usage(format!(
                "several browsers are called {text:?}; name one by its instance id: {}",
                ids.join(", ")
            )))
        }
    }
}

/// Returns who was forgotten and how many connections were closed.
async fn through_hub(
    data: &Path,
    wanted: Option<&InstanceId>,
) -> Result<(Vec<Value>, u64), Failure> {
    let body = match wanted {
        Some(instance) => json!({"instances": [instance.as_str()]}),
        None => json!({"all": true}),
    };
    let answer = Api::of(data).post("/api/unpair", &body).await?;
    let gone = answer["unpaired"].as_array().cloned().unwrap_or_default();
    Ok((gone, answer["cut"].as_u64().unwrap_or_default()))
}

fn forget(pairings: &Pairings, wanted: Option<InstanceId>) -> Result<Vec<Value>, Failure> {
    let which = wanted.map_or(Which::All, |instance| Which::Instances(vec![instance]));
    let gone = pairings.forget(&which).map_err(Failure::failed)?;
    let shown = |one: &Paired| json!({"instance": one.instance.as_str(), "name": one.name});
    Ok(gone.iter().map(shown).collect())
}

fn report(as_json: bool, gone: &[Value], cut: u64) -> Result<(), Failure> {
    let mut out = terminal::stdout();
    if as_json {
        return Ok(writeln!(out, "{}", json!({"unpaired": gone, "cut": cut}))?);
    }
    for one in gone {
        let instance = one["instance"].as_str().unwrap_or_default();
        match one["name"].as_str() {
            Some(name) => writeln!(out, "unpaired {} ({instance})", terminal::one_line(name))?,
            None => writeln!(out, "unpaired {instance}")?,
        }
    }
    if gone.is_empty() {
        writeln!(out, "no browser was paired")?;
    }
    Ok(writeln!(
        out,
        "{cut} connections ended; no browser pairs by itself until `tabwire pair` is run"
    )?)
}
