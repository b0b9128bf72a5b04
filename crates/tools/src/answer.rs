//! What a browser answered, made readable: text for a model, structure for a program, pictures
//! apart.
//!
//! Long answers are cut and say so, with how to ask for less; bytes never stand in the text. The
//! answer's words are the page's, so it carries where it comes from.

use hub::Session;
use model::{Effect, Json, json::cut};
use serde_json::{Map, Value, json};

use crate::{
    action::Action,
    definition::{Image, Output, Source},
    report,
};

/// Characters of text that one answer has at most.
pub const LONGEST: usize = 24_000;
/// Base64 characters of a file that are passed on.
const FILE: usize = 256 * 1024;
/// Arguments that make an answer smaller, for the remark on one that was cut.
const NARROWING: [&str; 8] =
    ["selector", "maxLength", "maxElements", "level", "key", "urls", "attribute", "expression"];

/// Shows a command's result.
pub(crate) fn show(session: &Session, action: &Action, result: &Json) -> Output {
    let value = result.to_value().unwrap_or_else(|_| json!(result.as_str()));
    output(session, action, value)
}

/// Makes an answer of our own as short as the others.
pub(crate) fn limited(
    action: &Action,
    text: String,
    structured: Value,
    source: Option<Source>,
) -> Output {
    let (text, left_out) = shorten(text, &advice(action));
    let structured = if left_out > 0 { truncated(left_out) } else { structured };
    Output { text, structured, images: Vec::new(), source }
}

fn output(session: &Session, action: &Action, mut value: Value) -> Output {
    let mut lines = Vec::new();
    let mut kept = Map::new();
    let mut images = Vec::new();
    if let Some(image) = take_image(&mut value) {
        let bytes = decoded(&image.data);
        lines.push(format!("{}, {}, {}", action.name, image.mime_type, size(bytes)));
        kept.insert("image".to_owned(), json!({"mimeType": image.mime_type, "bytes": bytes}));
        images.push(image);
    }
    if let Some((line, file)) = take_file(&mut value) {
        lines.push(format!("{}, {line}", action.name));
        kept.insert("file".to_owned(), file);
    }
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Null => format!("{} is done", action.name),
        Value::Object(fields) if fields.is_empty() && !lines.is_empty() => String::new(),
        value => match action.effect {
            Effect::Read => with_content(value).unwrap_or_else(|| value.to_string()),
            Effect::Act | Effect::Add => report::words(value).unwrap_or_else(|| value.to_string()),
        },
    };
    let (text, left_out) = shorten(text, &advice(action));
    if left_out > 0 {
        value = truncated(left_out);
    }
    if let Value::Object(fields) = &mut value {
        fields.extend(kept);
    }
    lines.extend(Some(text).filter(|text| !text.is_empty()));
    let source = Source { session: session.name.to_string(), origin: session.origin.clone() };
    Output { text: lines.join("\n"), structured: value, images, source: Some(source) }
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
    Some(format!("{}\n{content}", Value::Object(about)))
}

/// Cuts what an untrusted page answered, for a model and for a program.
pub(crate) fn of_page(output: Output) -> Output {
    let (text, left_out) = shorten(output.text, "ask the page for less");
    let structured = if left_out > 0 { truncated(left_out) } else { output.structured };
    Output { text, structured, ..output }
}

/// What a program gets instead of what would be too long.
fn truncated(left_out: usize) -> Value {
    json!({"truncated": true, "leftOut": left_out})
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
fn take_file(value: &mut Value) -> Option<(String, Value)> {
    let (mime_type, data) = bytes_of(value, "file")?;
    let bytes = decoded(data);
    let about = format!("{mime_type}, {}", size(bytes));
    let taken = match data.len() > FILE {
        true => {
            let most = size(FILE / 4 * 3);
            let line = format!("{about}: left out, because more than {most} are not passed on");
            (line, json!({"mimeType": mime_type, "bytes": bytes, "truncated": true}))
        }
        false => {
            let file = json!({"mimeType": mime_type, "bytes": bytes, "data": data});
            (format!("{about} (the bytes are in the structured result)"), file)
        }
    };
    value.as_object_mut()?.remove("file");
    Some(taken)
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

/// Cuts a text that is too long; returns how many characters are missing.
fn shorten(text: String, advice: &str) -> (String, usize) {
    // Bytes are never fewer than characters, and cheaper to count.
    let total = if text.len() <= LONGEST { 0 } else { text.chars().count() };
    if total <= LONGEST {
        return (text, 0);
    }
    let left_out = total - LONGEST;
    let kept = cut(&text, LONGEST);
    (format!("{kept}\n… {left_out} of {total} characters are left out; {advice}"), left_out)
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
