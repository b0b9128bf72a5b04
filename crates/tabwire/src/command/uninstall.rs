//! `tabwire uninstall`: takes away what `tabwire install` has put there, and nothing else.

use machine::install::{self, Unwanted};

use super::install::{carry_out, installation};
use crate::{api, cli::setup::Uninstall, failure::Failure};

pub fn run(options: &Uninstall) -> Result<(), Failure> {
    let what = installation(&options.data.path())?;
    if options.data_too && !options.how.dry_run {
        api::must_not_run(&what.data)?;
    }
    let unwanted = Unwanted { clients: options.clients.clone(), data: options.data_too };
    let parts = install::undo(&what, &unwanted);
    let extension = parts.iter().any(|part| part.name == "extension");
    let next = "remove the extension on the browser's page of extensions as well".to_owned();
    let next = if extension { vec![next] } else { Vec::new() };
    carry_out("uninstall", &parts, &options.how, &next)
}
