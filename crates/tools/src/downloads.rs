//! What browsers have downloaded: listing, waiting, and reading a file.
//!
//! An extension cannot read files, so the hub does, where it may believe the browser: one that has
//! proven that it is paired and is on this machine. A client names a download and never a path;
//! the path is the browser's, and only a plain file of the size that the browser has counted is
//! read. Of browsers of other projects, which have a command for it, nothing is read here.

use std::{fs, io::Read, path::Path, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use hub::Session;
use model::{Code, Fault, Json, json::cut, page_text};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    action::invalid,
    answer,
    command_results::download_list::{DownloadList, DownloadReport},
    commands::CommandCall,
    definition::{Output, Source},
};

/// The command that lists downloads.
pub const LIST: &str = "browser_download_list";
/// What waits for one.
pub const WAIT: &str = "browser_download_wait";
/// What reads one, in browsers that can.
pub const READ: &str = "browser_download_read";

/// How long a wait lasts when nothing else is said.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a file that is read.
const LARGEST: u64 = 8 << 20;
/// Characters of a text when nothing else is said.
const USUAL_TEXT: usize = 20_000;

/// Returns whether the hub can read what a browser has downloaded, or can say why not.
pub(crate) fn can_be_read(session: &Session) -> bool {
    session.can(LIST)
}

/// Does one of the three.
pub(crate) async fn run(order: CommandCall<'_>) -> Result<Output, Fault> {
    let order = match order.action.command {
        LIST => return order.run().await,
        WAIT => return order.patient(PATIENCE).run().await,
        _ => order,
    };
    let session = order.find_session()?;
    match session.can(READ) {
        true => order.run_in(&session).await,
        false => read(&order, &session).await,
    }
}

/// A download, as the browser tells it.
struct Download {
    path: String,
    filename: String,
    mime_type: String,
    bytes: u64,
}

async fn read(order: &CommandCall<'_>, session: &Arc<Session>) -> Result<Output, Fault> {
    let most = most_text(order.args.get("maxLength"))?;
    let id = wanted_id(order.args.get("id"))?;
    if session.unproven || !session.is_at_home() {
        let message = "only files of a paired browser on this machine can be read";
        return Err(Fault::new(Code::Unsupported, message)
            .hint("read the address of the download in the page instead"));
    }
    let list = order.send(session, None, LIST, &Map::new()).await?;
    let list = list.to_value().unwrap_or_default();
    let download = find(&list, id)?;
    let path = download.path.clone();
    let bytes = tokio::task::spawn_blocking(move || read_file(Path::new(&path), download.bytes))
        .await
        .map_err(|error| Fault::new(Code::Internal, error.to_string()))??;
    let download = find(&list, id)?;
    Ok(match text_of(&bytes) {
        Some(text) => show_text(order, session, &download, text, most),
        None => show_file(order, session, &download, &bytes),
    })
}

fn most_text(given: Option<&Value>) -> Result<usize, Fault> {
    let Some(given) = given else { return Ok(USUAL_TEXT) };
    let most = given.as_u64().and_then(|most| usize::try_from(most).ok());
    most.filter(|most| (1..=answer::LONGEST).contains(most)).ok_or_else(|| {
        let longest = answer::LONGEST;
        invalid(format!("`maxLength` must be a whole number from 1 to {longest}, not {given}"))
    })
}

fn wanted_id(given: Option<&Value>) -> Result<u64, Fault> {
    let given = given.unwrap_or(&Value::Null);
    let id = given.as_u64().or_else(|| given.as_str()?.trim().parse().ok());
    id.ok_or_else(|| {
        invalid(format!(
            "`id` must be the number of a download, from browser_network downloads, not {given}"
        ))
    })
}

/// Finds a download that is complete in what the browser told.
fn find(told: &Value, id: u64) -> Result<Download, Fault> {
    let list = DownloadList::deserialize(told).map(|list| list.downloads).unwrap_or_default();
    let found = list.into_iter().find(|download| download.id == id);
    let found = found.ok_or_else(|| {
        Fault::new(Code::NotFound, format!("no driven tab has begun a download {id}"))
            .hint("browser_network downloads lists those that can be read")
    })?;
    let DownloadReport { path, filename, error, mime_type, .. } = found;
    match found.state.as_str() {
        "complete" => {}
        "interrupted" => {
            let why = page_text::line(&error.unwrap_or_default()).into_owned();
            let message = format!("download {id} was interrupted: {why}");
            return Err(Fault::new(Code::ToolFailed, message).hint("begin it again in the page"));
        }
        _ => {
            let message = format!("download {id} is not complete");
            return Err(Fault::new(Code::Busy, message)
                .hint("wait for it with browser_network download_wait"));
        }
    }
    let malformed = || Fault::new(Code::MalformedReply, "the browser did not tell the file's size");
    let bytes = found.bytes.ok_or_else(malformed)?;
    let mime_type = mime_type.filter(|mime_type| !mime_type.is_empty());
    let mime_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    Ok(Download { path, filename, mime_type, bytes })
}

/// Reads a plain file of the size that the browser has counted.
fn read_file(path: &Path, expected: u64) -> Result<Vec<u8>, Fault> {
    let gone = |why: String| {
        Fault::new(Code::NotFound, format!("the file of the download cannot be read: {why}"))
            .hint("it was moved, deleted or is not ours to read; download it again")
    };
    let odd = |why: &str| Fault::new(Code::Refused, why.to_owned()).hint("download it again");
    if !path.is_absolute() {
        return Err(odd("the browser named no whole path for the download"));
    }
    // Not followed: a link may lead anywhere.
    let named = fs::symlink_metadata(path).map_err(|error| gone(error.to_string()))?;
    if !named.is_file() {
        return Err(odd("what is where the download was is not a plain file"));
    }
    let mut file = fs::File::open(path).map_err(|error| gone(error.to_string()))?;
    let opened = file.metadata().map_err(|error| gone(error.to_string()))?;
    if !opened.is_file() || !is_same(&named, &opened) {
        return Err(odd("the file of the download was replaced while it was opened"));
    }
    if opened.len() != expected {
        let size = opened.len();
        return Err(odd(&format!(
            "the file has {size} bytes and the download had {expected}: it was changed since"
        )));
    }
    if expected > LARGEST {
        let message = format!("the file has {expected} bytes; at most {LARGEST} are read");
        return Err(
            Fault::new(Code::TooLarge, message).hint("download less, or open the file in a page")
        );
    }
    let mut bytes = Vec::new();
    // One byte more than counted: what the kernel makes up as it is read has a size of 0.
    let read = file.by_ref().take(expected + 1).read_to_end(&mut bytes);
    read.map_err(|error| gone(error.to_string()))?;
    match bytes.len() as u64 == expected {
        true => Ok(bytes),
        false => Err(odd("the file of the download does not have the bytes that it says it has")),
    }
}

/// Whether what was opened is what was looked at: a name can be given to another file in between.
#[cfg(unix)]
fn is_same(named: &fs::Metadata, opened: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (named.dev(), named.ino()) == (opened.dev(), opened.ino())
}

#[cfg(not(unix))]
fn is_same(named: &fs::Metadata, opened: &fs::Metadata) -> bool {
    named.len() == opened.len() && named.modified().ok() == opened.modified().ok()
}

/// Returns the text of a file that is one.
fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_odd = |it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\t' | '\u{c}');
    (!text.contains(is_odd)).then_some(text)
}

fn show_text(
    order: &CommandCall<'_>,
    session: &Session,
    download: &Download,
    text: &str,
    most: usize,
) -> Output {
    let total = text.chars().count();
    let mut kept = cut(text, most);
    // What is shown for it may be longer: its lines are indented.
    while page_text::block(&kept).chars().count() > answer::LONGEST {
        kept = cut(&kept, kept.chars().count() / 4 * 3);
    }
    let left_out = total - kept.chars().count();
    let Download { filename, mime_type, bytes, .. } = download;
    let mut structured = json!({
        "filename": filename, "mimeType": mime_type, "bytes": bytes, "text": kept,
    });
    let name = page_text::quoted_exact(filename);
    let mut shown = format!("{name}, {bytes} bytes:\n{}", page_text::block(&kept));
    if left_out > 0 {
        structured["leftOut"] = json!(left_out);
        shown = format!(
            "{shown}\n… {left_out} of {total} characters are left out; `maxLength` can be up to {}",
            answer::LONGEST
        );
    }
    // What it may have is counted above; the words around it are few.
    let mut output =
        answer::limited(order.action, String::new(), structured, Some(Source::of(session)));
    output.text = shown;
    output
}

fn show_file(
    order: &CommandCall<'_>,
    session: &Session,
    download: &Download,
    bytes: &[u8],
) -> Output {
    let Download { filename, mime_type, .. } = download;
    let data = STANDARD.encode(bytes);
    let file = json!({"mimeType": mime_type, "data": data, "name": filename});
    let result = json!({"file": file, "filename": filename, "bytes": bytes.len()});
    answer::show(session, order.action, &Json::of(&result))
}

#[cfg(test)]
mod tests;
