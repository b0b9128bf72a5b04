//! The fixture's resources: text, a picture, one that is watched, and a template.

use mcp::backend::Answer;
use rmcp::model::{ErrorData, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use super::content::PNG;

/// Returns all resources.
pub(crate) fn list() -> Vec<Resource> {
    [
        ("test://static-text", "text", "Always the same text", "text/plain"),
        ("test://static-binary", "picture", "Always the same picture", "image/png"),
        ("test://watched-resource", "watched", "Changes now and then", "text/plain"),
    ]
    .map(|(uri, name, about, mime_type)| {
        Resource::new(uri, name).with_description(about).with_mime_type(mime_type)
    })
    .into()
}

/// Returns all templates.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "template")
        .with_description("Data for any id")
        .with_mime_type("application/json");
    vec![template]
}

/// Reads one resource.
pub(crate) fn read(uri: &str) -> Answer<ReadResourceResult> {
    let content = match uri {
        "test://static-text" => plain(uri, "This is the content of the static text resource."),
        "test://static-binary" => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        "test://watched-resource" => plain(uri, "This resource is watched."),
        _ => from_template(uri).ok_or_else(|| missing(uri))?,
    };
    Ok(ReadResourceResult::new(vec![content]))
}

fn plain(uri: &str, text: &str) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type("text/plain")
}

fn from_template(uri: &str) -> Option<ResourceContents> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
    Some(ResourceContents::text(data.to_string(), uri).with_mime_type("application/json"))
}

fn missing(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("resource not found", Some(json!({"uri": uri})))
}
