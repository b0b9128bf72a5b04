//! `tabwire native-host`: tells our extension where the hub is, and its key.
//!
//! The browser starts it, for the extensions that the host's manifest names, and says which one
//! asks. Standard output carries the protocol and nothing else.

use std::{io, path::Path};

use guard::{
    Pairings,
    pairing::{Refusal, extension_origin},
};
use machine::native_host::{Answer, Request};
use model::InstanceId;

use crate::{api, cli::NativeHost, failure::Failure};

pub fn run(options: &NativeHost) -> Result<(), Failure> {
    if options.origin.trim_end_matches('/') != extension_origin() {
        return Err(Failure::refused(format!(
            "{} is not our extension; only {}/ is answered",
            options.origin,
            extension_origin()
        )));
    }
    let data = options.data.path();
    let (reading, writing) = (io::stdin().lock(), io::stdout().lock());
    machine::native_host::serve(reading, writing, |request| {
        answer(&data, options, request).unwrap_or_else(Answer::refused)
    })?;
    Ok(())
}

fn answer(data: &Path, options: &NativeHost, request: Request) -> Result<Answer, String> {
    let Request::Hello { instance_id, browser } = request;
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let instance = InstanceId::parse(&instance_id).map_err(|error| text(&error))?;
    machine::folder::open(data).map_err(|error| text(&error))?;
    let name = options.name.as_deref().or(browser.as_deref());
    let enrolled = Pairings::of(data).enroll(&instance, name, options.launch.as_deref());
    let key = enrolled.map_err(|refusal: Refusal| text(&refusal))?;
    let (port, running) = api::find_hub(data);
    let launched = options.launch.is_some();
    Ok(Answer::Hub { port, key: key.reveal(), name: options.name.clone(), running, launched })
}
