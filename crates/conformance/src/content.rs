//! What the fixture's tools, resources and prompts return.
//!
//! The smallest picture and the smallest sound that are still valid, and shorthands for results.

#![expect(deprecated, reason = "the suite still tests sampling")]

use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, CreateMessageResult, ResourceContents,
};

/// A PNG of one red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/// A WAV without samples.
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

/// Returns a picture.
pub(crate) fn picture() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

/// Returns an embedded resource.
pub(crate) fn embedded(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime_type))
}

/// Returns the result of a tool that worked.
pub(crate) fn success(content: Vec<ContentBlock>) -> CallToolResponse {
    CallToolResult::success(content).into()
}

/// Returns one line of text as the result of a tool that worked.
pub(crate) fn text(text: impl Into<String>) -> CallToolResponse {
    success(vec![ContentBlock::text(text)])
}

/// Returns one line of text as the result of a tool that failed.
pub(crate) fn failure(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

/// Returns the first text of what the client's model said.
pub(crate) fn said(result: &CreateMessageResult) -> &str {
    let first = result.message.content.first().and_then(|block| block.as_text());
    first.map_or("", |content| &content.text)
}
