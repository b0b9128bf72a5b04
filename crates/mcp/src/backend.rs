//! What an MCP server serves, without how it is spoken.
//!
//! The hub's tools implement [`Backend`], and so does the conformance fixture; thus the official
//! suite exercises the very code that real clients meet. Pagination, eras, subscriptions and
//! transports are not a backend's business.

use std::future::Future;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompletionInfo, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Prompt, ReadResourceRequestParams,
    ReadResourceResponse, Resource, ResourceTemplate, ServerConfig, Tool,
};

use crate::Call;

/// A result that fails as a JSON-RPC error; a tool that ran and failed is not one of those.
pub type Answer<T> = Result<T, ErrorData>;

/// The things a client can list, read and call.
pub trait Backend: Send + Sync + 'static {
    /// Returns name, version, instructions and capabilities.
    fn info(&self) -> ServerConfig;

    /// Returns one tool; needed before a call, to compare its `Mcp-Param-*` headers.
    fn tool(&self, name: &str) -> Option<Tool>;

    /// Returns all tools in a stable order.
    fn tools(&self, call: &Call) -> impl Future<Output = Answer<Vec<Tool>>> + Send;

    /// Runs a tool, or asks for input first.
    fn call_tool(
        &self,
        request: CallToolRequestParams,
        call: &Call,
    ) -> impl Future<Output = Answer<CallToolResponse>> + Send;

    /// Returns all resources in a stable order.
    fn resources(&self, call: &Call) -> impl Future<Output = Answer<Vec<Resource>>> + Send;

    /// Returns all resource templates in a stable order.
    fn templates(&self, call: &Call) -> impl Future<Output = Answer<Vec<ResourceTemplate>>> + Send;

    /// Reads a resource, or asks for input first.
    fn read(
        &self,
        request: ReadResourceRequestParams,
        call: &Call,
    ) -> impl Future<Output = Answer<ReadResourceResponse>> + Send;

    /// Returns all prompts in a stable order.
    fn prompts(&self, call: &Call) -> impl Future<Output = Answer<Vec<Prompt>>> + Send;

    /// Fills in a prompt, or asks for input first.
    fn prompt(
        &self,
        request: GetPromptRequestParams,
        call: &Call,
    ) -> impl Future<Output = Answer<GetPromptResponse>> + Send;

    /// Suggests values for an argument.
    fn complete(
        &self,
        request: CompleteRequestParams,
        call: &Call,
    ) -> impl Future<Output = Answer<CompletionInfo>> + Send;
}
