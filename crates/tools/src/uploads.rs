//! Uploads: files of a client's machine, read here and sent to the browser as bytes.
//!
//! - this file: one upload from its arguments to its end;
//! - [`folders`]: which folders may be uploaded from; [`secrets`]: what never is;
//! - [`opening`]: a path becomes an open file; [`parts`]: what is sent, part by part;
//!   [`kinds`]: MIME types.
//!
//! A browser learns names, types and bytes, and no path. Only browsers of other projects, which
//! take nothing but paths, are told one, after the same checks. Nothing is sent before every file
//! of the call has been checked and opened.

pub mod folders;
mod kinds;
mod opening;
mod parts;
mod secrets;

use std::{sync::Arc, time::Duration};

use hub::Session;
use model::{Code, Fault, TabId, page_text};
use serde_json::{Map, Value, json};

use crate::{
    action::{Action, act, invalid},
    command_arguments::{Argument, text, whole},
    commands::CommandCall,
    definition::{Output, Workplace},
};
pub use folders::UploadFolders;
use opening::CheckedFile;
use parts::OutgoingFile;

/// What puts files into an input.
pub const UPLOAD: &str = "browser_upload_file";
/// What brings a part of a file to the browser before that.
pub const PART: &str = "browser_upload_part";

/// The arguments of [`PART_ROW`].
pub const PART_ARGUMENTS: &[Argument] = &[
    text("uploadId", "of which upload").from_hub(),
    whole("file", "which of its files").from_hub(),
    whole("offset", "where the part begins").from_hub(),
    text("data", "base64").from_hub(),
];

/// A command that no tool has.
pub static PART_ROW: Action =
    act("", PART, "uploadId file:0..19 offset:0.. data", "").tells_nothing();

/// Files of one call.
pub const UPLOAD_FILES: usize = 20;
/// Bytes of all files of one call.
pub const UPLOAD_BYTES: u64 = 50 << 20;
/// Bytes of one part. Its base64 fits into a browser's outbox (`outbox_bytes`) beside other
/// messages; a larger one could crowd them out.
const PART_BYTES: usize = 256 << 10;
/// How long an upload may take when nothing else is said.
const UPLOAD_TIME: Duration = Duration::from_secs(60);

/// Does the action `upload`.
pub(crate) async fn run(order: CommandCall<'_>) -> Result<Output, Fault> {
    let limit = order.client.timeout.unwrap_or(UPLOAD_TIME);
    let order = order.patient(limit);
    let limit = order.limit().unwrap_or(limit);
    // Dropped when its time is over, which withdraws the part that is under way.
    tokio::time::timeout(limit, upload(order)).await.unwrap_or_else(|_| Err(too_slow(limit)))
}

/// The error of a command that must not be called past the tool.
pub(crate) fn only_by_tool(command: &str) -> Option<Fault> {
    let message = format!("{command} is not called directly: its files have to be checked");
    [UPLOAD, PART].contains(&command).then(|| {
        Fault::new(Code::Refused, message)
            .hint("call the tool browser_interact with the action upload")
    })
}

async fn upload(mut order: CommandCall<'_>) -> Result<Output, Fault> {
    let session = order.find_session()?;
    let tab = order.choose_tab(&session)?;
    let paths = paths(order.args.remove("files"))?;
    let contents = contents(order.args.remove("contents"))?;
    check_count(paths.len() + contents.len())?;
    let checked = check(&order, paths).await?;
    let sizes = checked.iter().map(|file| (&file.name, file.size));
    check_size(sizes.chain(contents.iter().map(|file| (&file.name, file.size))))?;
    match session.can(PART) {
        true => send_parts(&mut order, &session, tab, checked, contents).await?,
        false => name_paths(&mut order, &session, &checked, &contents)?,
    }
    order.run_in_tab(&session, tab).await
}

fn paths(given: Option<Value>) -> Result<Vec<String>, Fault> {
    let Some(given) = given else { return Ok(Vec::new()) };
    serde_json::from_value(given).map_err(|_| invalid("`files` are paths".to_owned()))
}

/// Reads what a client sends by itself: `{name, mimeType, data}`.
fn contents(given: Option<Value>) -> Result<Vec<OutgoingFile>, Fault> {
    let Some(Value::Array(given)) = given else { return Ok(Vec::new()) };
    given.iter().enumerate().map(|(place, content)| content_of(place, content)).collect()
}

fn content_of(place: usize, content: &Value) -> Result<OutgoingFile, Fault> {
    let text = |name: &str| content[name].as_str();
    let wrong = |what: &str| invalid(format!("`contents.{place}`: {what}"));
    let name = text("name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| wrong("`name` is missing; it is the file's name"))?;
    let data = text("data").ok_or_else(|| wrong("`data` is missing; it is the file in base64"))?;
    OutgoingFile::of_base64(name, text("mimeType"), data)
        .ok_or_else(|| wrong("`data` is not base64"))
}

fn check_count(count: usize) -> Result<(), Fault> {
    if count <= UPLOAD_FILES {
        return Ok(());
    }
    let message = format!("{count} files are too many; one call uploads at most {UPLOAD_FILES}");
    Err(Fault::new(Code::TooLarge, message).hint("upload them in several calls"))
}

/// Checks and opens all files, where waiting for a disk disturbs nobody.
async fn check(order: &CommandCall<'_>, paths: Vec<String>) -> Result<Vec<CheckedFile>, Fault> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let folders = order.toolbox.settings.load().upload_folders.clone();
    let workplace = order.client.workplace.clone();
    let checking = tokio::task::spawn_blocking(move || check_all(&folders, &workplace, &paths));
    checking.await.map_err(|error| Fault::new(Code::Internal, error.to_string()))?
}

/// Checks and opens all files. May block.
fn check_all(
    folders: &UploadFolders,
    workplace: &Workplace,
    paths: &[String],
) -> Result<Vec<CheckedFile>, Fault> {
    let roots = folders.roots_for(workplace)?;
    paths.iter().map(|path| opening::open(&roots, path)).collect()
}

/// Sends all files and names them in the order's arguments.
async fn send_parts(
    order: &mut CommandCall<'_>,
    session: &Arc<Session>,
    tab: Option<TabId>,
    checked: Vec<CheckedFile>,
    contents: Vec<OutgoingFile>,
) -> Result<(), Fault> {
    let files = checked.into_iter().map(OutgoingFile::of_file).chain(contents);
    let mut files: Vec<_> = files.collect();
    let about: Vec<_> = files.iter().map(OutgoingFile::describe).collect();
    order.args.insert("files".to_owned(), json!(about));
    if files.is_empty() {
        return Ok(());
    }
    let upload = model::id::random_text(26);
    for (index, file) in files.iter_mut().enumerate() {
        while let Some((offset, data)) = file.next_part(PART_BYTES).await? {
            let part = json!({"uploadId": upload, "file": index, "offset": offset, "data": data});
            order.send(session, tab, PART, &object(part)).await?;
        }
    }
    order.args.insert("uploadId".to_owned(), json!(upload));
    Ok(())
}

fn check_size<'a>(files: impl Iterator<Item = (&'a String, u64)>) -> Result<(), Fault> {
    let mut total = 0_u64;
    for (name, size) in files {
        total = total.saturating_add(size);
        if total > UPLOAD_BYTES {
            let name = page_text::quoted_exact(name);
            let message = format!(
                "{name} has {size} bytes, which makes {total}; one call uploads at most \
                 {UPLOAD_BYTES} bytes in all"
            );
            return Err(Fault::new(Code::TooLarge, message).hint("upload fewer or smaller files"));
        }
    }
    Ok(())
}

/// Names checked files to a browser that takes nothing else.
fn name_paths(
    order: &mut CommandCall<'_>,
    session: &Session,
    checked: &[CheckedFile],
    contents: &[OutgoingFile],
) -> Result<(), Fault> {
    if !contents.is_empty() {
        let message = format!("{} takes files by path only, no contents", session.name);
        return Err(Fault::new(Code::Unsupported, message).hint("give `files`"));
    }
    let path = |file: &CheckedFile| {
        let unwritable =
            || invalid(format!("the path of {} is not text", page_text::quoted_exact(&file.name)));
        file.path.to_str().map(Value::from).ok_or_else(unwritable)
    };
    let paths: Vec<_> = checked.iter().map(path).collect::<Result<_, _>>()?;
    order.args.insert("files".to_owned(), Value::Array(paths));
    Ok(())
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn too_slow(limit: Duration) -> Fault {
    let message = format!("the upload was not done within {limit:?}");
    Fault::new(Code::TimedOut, message)
        .hint("look at the page before repeating it; `timeoutMs` allows more")
}

#[cfg(test)]
mod tests;
