//! What a browser answered, made readable: text for a model, structure for a program, pictures
//! apart.
//!
//! Long answers are cut and say so, with how to ask for less and a link to the whole; bytes never
//! stand in the text. The answer's words are the page's, so it carries where it comes from; content of
//! several lines is indented, and our own lines beside it are not.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use hub::Session;
use model::{Effect, Json, json::cut, page_text};
use serde_json::{Map, Value, json};

use crate::{
    action::Action,
    definition::{Image, Link, Output, Source},
    shelf,
};

/// Characters of text that one answer has at most.
pub const LONGEST: usize = 24_000;
/// Base64 characters of a file that stand in the answer.
const FILE: usize = 8 * 1024;
/// Bytes of a picture that stands in the answer.
const PICTURE: usize = 500_000;
/// How to get less from an app.
const LESS_OF_APP: &str = "ask the app for less";
/// Arguments that make an answer smaller, for the remark on one that was cut.
const NARROWING: [&str; 10] = [
    "selector",
    "maxLength",
    "maxElements",
    "level",
    "key",
    "name",
    "limit",
    "urls",
    "attribute",
    "expression",
];

/// Shows a command's result.
pub(crate) fn show(session: &Session, action: &Action, result: &Json) -> Output {
    let value = result.to_value().unwrap_or_else(|_| json!(result.as_str()));
    match action.gives_value {
        true => of_script(session, action, value),
        false => output(session, action, value),
    }
}

/// Shows a script's value. Whatever it looks like, it is no report, picture or file of ours.
fn of_script(session: &Session, action: &Action, value: Value) -> Output {
    let output = Output { text: of_value(&value), structured: value, ..Output::default() };
    Output { source: Some(Source::of(session)), ..shorten(output, action.name, &advice(action)) }
}

/// Makes an answer of our own as short as the others.
pub(crate) fn limited(
    action: &Action,
    text: String,
    structured: Value,
    source: Option<Source>,
) -> Output {
    let output = Output { text, structured, source, ..Output::default() };
    shorten(output, action.name, &advice(action))
}

fn output(session: &Session, action: &Action, mut value: Value) -> Output {
    let mut lines = Vec::new();
    let mut kept = Map::new();
    let mut output = Output::default();
    if let Some(image) = take_image(&mut value) {
        let shown = picture(action.name, image, &advice(action), &mut output);
        lines.push(shown.line);
        kept.insert("image".to_owned(), shown.about);
    }
    if let Some((line, file)) = take_file(action, &mut value, &mut output.links) {
        lines.push(line);
        kept.insert("file".to_owned(), file);
    }
    output.text = match &value {
        Value::Null => format!("{} is done", action.name),
        Value::Object(fields) if fields.is_empty() && !lines.is_empty() => String::new(),
        value => match action.effect {
            _ if let Some(words) = action.words(value) => words,
            Effect::Read => with_content(value).unwrap_or_else(|| of_value(value)),
            Effect::Act | Effect::Add => of_value(value),
        },
    };
    output.structured = value;
    let mut output = shorten(output, action.name, &advice(action));
    if let Value::Object(fields) = &mut output.structured {
        fields.extend(kept);
    }
    let is_bare = output.is_bare && lines.is_empty();
    lines.extend(Some(output.text).filter(|text| !text.is_empty()));
    Output { text: lines.join("\n"), is_bare, source: Some(Source::of(session)), ..output }
}

/// Takes the picture out of what an app's tool answered, and cuts the rest, as it is done with what
/// browsers answer.
pub(crate) fn of_app(tool: &str, mut output: Output) -> Output {
    let Some(image) = take_image(&mut output.structured) else {
        return shorten(output, tool, LESS_OF_APP);
    };
    let shown = picture(tool, image, LESS_OF_APP, &mut output);
    output.text = match output.structured.as_object().is_some_and(|rest| !rest.is_empty()) {
        true => of_value(&output.structured),
        false => String::new(),
    };
    let mut output = shorten(output, tool, LESS_OF_APP);
    output.structured["image"] = shown.about;
    output.text = [shown.line, output.text].join("\n").trim_end().to_owned();
    output.is_bare = false;
    output
}

/// A picture, as it is told of.
struct Shown {
    /// The line that a model reads.
    line: String,
    /// The same for a program: type, size, and where it is.
    about: Value,
}

/// Puts a picture into an answer, or behind a link of it when it is too large.
fn picture(name: &str, image: Image, advice: &str, output: &mut Output) -> Shown {
    let bytes = decoded(&image.data);
    let mut line = format!("{name}, {}, {}", image.mime_type, size(bytes));
    let mut about = json!({"mimeType": image.mime_type, "bytes": bytes});
    if bytes <= PICTURE {
        output.images.push(image);
        return Shown { line, about };
    }
    let apart = Apart { name: None, mime_type: &image.mime_type, data: &image.data };
    let words = apart.put(name, advice, &mut about, &mut output.links);
    line += &format!(": more than the {} that are shown; {words}", size(PICTURE));
    Shown { line, about }
}

/// Writes a value: a text as it is, everything else as JSON.
pub(crate) fn of_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => page_text::json(&value.to_string()).into_owned(),
    }
}

/// Writes a page's content as it is, below what is said about it: quoting it would double it.
fn with_content(value: &Value) -> Option<String> {
    let fields = value.as_object()?;
    let content = fields.get("content")?.as_str()?;
    let about: Map<_, _> = fields
        .iter()
        .filter(|(name, _)| *name != "content")
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    Some(match about.is_empty() {
        true => content.to_owned(),
        false => format!("{}\n{content}", of_value(&Value::Object(about))),
    })
}

/// Shows an app's state, or its beginning.
pub(crate) fn of_state(state: &Json) -> Output {
    let structured = state.to_value().unwrap_or_default();
    let text = page_text::json(state.as_str()).into_owned();
    let output = Output { text, structured, ..Output::default() };
    shorten(output, "state", "ask for a part with `path`")
}

/// Cuts what an untrusted page answered, for a model and for a program.
pub(crate) fn of_page(output: Output) -> Output {
    shorten(output, "page", "ask the page for less")
}

/// Takes the picture out, if there is one and it is what it says.
fn take_image(value: &mut Value) -> Option<Image> {
    let (mime_type, data) = bytes_of(value, "image")?;
    let image = Image { mime_type: mime_type.to_owned(), data: data.to_owned() };
    if !image.mime_type.starts_with("image/") {
        return None;
    }
    value.as_object_mut()?.remove("image");
    Some(image)
}

/// Takes a file out; returns words on it and what a program gets.
fn take_file(action: &Action, value: &mut Value, links: &mut Vec<Link>) -> Option<(String, Value)> {
    let (mime_type, data) = bytes_of(value, "file")?;
    let name = value["file"]["name"].as_str().map(file_name).filter(|name| !name.is_empty());
    let bytes = decoded(data);
    let mut about = json!({"mimeType": mime_type, "bytes": bytes});
    if let Some(name) = &name {
        about["name"] = json!(name);
    }
    let called =
        name.as_ref().map(|name| format!("{}, ", page_text::quoted(name))).unwrap_or_default();
    let line = format!("{}, {called}{mime_type}, {}", action.name, size(bytes));
    let words = match data.len() > FILE {
        true => {
            Apart { name, mime_type, data }.put(action.name, &advice(action), &mut about, links)
        }
        false => {
            about["data"] = json!(data);
            "the bytes are in the structured result".to_owned()
        }
    };
    value.as_object_mut()?.remove("file");
    Some((format!("{line}: {words}"), about))
}

/// Bytes that do not stand in the answer.
struct Apart<'a> {
    name: Option<String>,
    mime_type: &'a str,
    data: &'a str,
}

impl Apart<'_> {
    /// Puts them behind a link, and where that is into what a program gets; returns words on it.
    fn put(self, what: &str, advice: &str, about: &mut Value, links: &mut Vec<Link>) -> String {
        let content = STANDARD.decode(self.data).unwrap_or_default();
        let usual = || format!("{what}.{}", ending(self.mime_type));
        let name = self.name.clone().unwrap_or_else(usual);
        match shelf::link(name, self.mime_type, content).filter(|link| link.bytes > 0) {
            Some(link) => {
                about["uri"] = json!(link.uri);
                let words = format!("read it as the resource {}", link.uri);
                links.push(link);
                words
            }
            None => {
                about["truncated"] = json!(true);
                let most = size(shelf::LARGEST);
                format!("left out, because it is broken or more than {most}; {advice}")
            }
        }
    }
}

/// A name without folders, that can stand in a header and on a line.
fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    page_text::folded(last).chars().filter(|letter| *letter != '"').take(100).collect()
}

/// How the name of a file of some type ends.
fn ending(mime_type: &str) -> &str {
    match mime_type {
        "text/plain" => "txt",
        "application/octet-stream" => "bin",
        other => {
            let kind = other.rsplit(['/', '+']).next().unwrap_or("bin");
            if kind.len() <= 8 { kind } else { "bin" }
        }
    }
}

/// Media type and base64 text of a field that has both.
fn bytes_of<'a>(value: &'a Value, field: &str) -> Option<(&'a str, &'a str)> {
    let field = value.as_object()?.get(field)?;
    let (mime_type, data) = (field["mimeType"].as_str()?, field["data"].as_str()?);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/.+-".contains(&byte);
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let fits = mime_type.len() <= 100 && mime_type.bytes().all(plain) && !data.is_empty();
    (fits && data.bytes().all(base64)).then_some((mime_type, data))
}

fn decoded(data: &str) -> usize {
    data.trim_end_matches('=').len() * 3 / 4
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{} KB", bytes.div_ceil(1024)),
        _ => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
    }
}

/// Cuts a text that is too long and puts the whole behind a link; a program gets that too.
fn shorten(mut output: Output, name: &str, advice: &str) -> Output {
    output.is_bare = is_bare(&output.structured);
    let shown = framed(&output).into_owned();
    // Bytes are never fewer than characters, and cheaper to count.
    let total = if shown.len() <= LONGEST { 0 } else { shown.chars().count() };
    if total <= LONGEST {
        return Output { text: shown, ..output };
    }
    let left_out = total - LONGEST;
    let mut structured = json!({"truncated": true, "leftOut": left_out});
    let mut remark = format!("… {left_out} of {total} characters are left out; {advice}");
    let mime_type = if is_json(&output) { "application/json" } else { "text/plain" };
    let short = cut(&shown, LONGEST);
    let name = format!("{}.{}", if name.is_empty() { "result" } else { name }, ending(mime_type));
    if let Some(link) = shelf::link(name, mime_type, output.text.into_bytes()) {
        remark += &format!(", or read it all as the resource {}", link.uri);
        structured["uri"] = json!(link.uri);
        output.links.push(link);
    }
    Output { text: format!("{short}\n{remark}"), structured, ..output }
}

/// Indents content that has several lines or stands below ours; a text that we wrote stays.
fn framed(output: &Output) -> Cow<'_, str> {
    let Output { text, structured, is_bare, .. } = output;
    match text.split_once('\n') {
        None => page_text::content(text),
        Some(_) if *is_bare => page_text::block(text).into(),
        Some((head, content)) if structured.get("content").is_some_and(Value::is_string) => {
            format!("{head}\n{}", page_text::block(content)).into()
        }
        Some(_) => text.into(),
    }
}

/// Whether an answer is a text, or content with nothing about it.
fn is_bare(structured: &Value) -> bool {
    let content = |(name, value): (&String, &Value)| name == "content" && value.is_string();
    match structured {
        Value::Object(fields) => fields.len() == 1 && fields.iter().all(content),
        structured => structured.is_string(),
    }
}

/// Whether the text is what the structure says, as JSON.
fn is_json(output: &Output) -> bool {
    output.text.starts_with(['{', '[']) && !output.structured.is_string()
}

/// How to ask for less.
fn advice(action: &Action) -> String {
    let ways = NARROWING.iter().filter(|word| action.takes(word));
    let ways: Vec<_> = ways.map(|word| format!("`{word}`")).collect();
    match ways.is_empty() {
        true => "ask for less".to_owned(),
        false => format!("ask for less with {}", ways.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_written_as_it_is() {
        let value = json!({"content": "say \"hi\"\n", "format": "text", "length": 9});
        let text = "{\"format\":\"text\",\"length\":9}\nsay \"hi\"\n";
        assert_eq!(with_content(&value).as_deref(), Some(text));
        for other in [json!({"content": 5}), json!({"text": "x"}), json!("x"), Value::Null] {
            assert_eq!(with_content(&other), None, "{other}");
        }
    }
}
