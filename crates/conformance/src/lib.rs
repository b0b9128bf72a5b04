//! The fixture that the official conformance suite is run against; never part of the program.
//!
//! A backend with the tools, resources and prompts that the suite asks for by name, one file per
//! concern: [`tools`] and what they return ([`content`]), [`inputs`] (questions of the newer
//! era), [`requests`] (of the older), how either is asked ([`question`]), [`resources`],
//! [`prompts`]. Drives no browser. `main.rs` serves it on the real edge.

mod content;
mod inputs;
mod prompts;
mod question;
mod requests;
mod resources;
mod tools;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use mcp::{Backend, Call, Change, Changes, backend::Answer};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompletionInfo, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, Prompt, ReadResourceRequestParams,
    ReadResourceResponse, Resource, ResourceTemplate, ServerCapabilities, ServerConfig, Tool,
};

use self::question::Seal;

/// The suite's counterpart.
pub struct Fixture {
    changes: Changes,
    seal: Seal,
    /// Whether the tool that comes and goes is listed.
    extra_tool: AtomicBool,
    /// Whether the prompt that comes and goes is listed.
    extra_prompt: AtomicBool,
    /// How many waiting calls were cancelled.
    cancelled: AtomicUsize,
}

impl Fixture {
    /// Makes a fixture that announces what its own tools change.
    pub fn new(changes: Changes) -> Result<Self, getrandom::Error> {
        let seal = Seal::random()?;
        Ok(Self {
            changes,
            seal,
            extra_tool: AtomicBool::default(),
            extra_prompt: AtomicBool::default(),
            cancelled: AtomicUsize::default(),
        })
    }

    fn toggle(&self, flag: &AtomicBool, change: &Change) {
        flag.fetch_xor(true, Ordering::AcqRel);
        self.changes.announce(change);
    }
}

impl Backend for Fixture {
    fn info(&self) -> ServerConfig {
        #[expect(deprecated, reason = "the suite tests logging of the older era")]
        let capabilities = ServerCapabilities::builder()
            .enable_logging()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let name = Implementation::new("tabwire-conformance", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(name)
    }

    fn tool(&self, name: &str) -> Option<Tool> {
        tools::find(name)
    }

    async fn tools(&self, _: &Call) -> Answer<Vec<Tool>> {
        Ok(self.list_tools())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        call: &Call,
    ) -> Answer<CallToolResponse> {
        if request.name.starts_with("test_input_required_result_") {
            return self.ask_for_input(&request, call).await;
        }
        self.run_tool(&request, call).await
    }

    async fn resources(&self, _: &Call) -> Answer<Vec<Resource>> {
        Ok(resources::list())
    }

    async fn templates(&self, _: &Call) -> Answer<Vec<ResourceTemplate>> {
        Ok(resources::templates())
    }

    async fn read(
        &self,
        request: ReadResourceRequestParams,
        _: &Call,
    ) -> Answer<ReadResourceResponse> {
        resources::read(&request.uri).map(Into::into)
    }

    async fn prompts(&self, _: &Call) -> Answer<Vec<Prompt>> {
        Ok(prompts::list(self.extra_prompt.load(Ordering::Acquire)))
    }

    async fn prompt(&self, request: GetPromptRequestParams, _: &Call) -> Answer<GetPromptResponse> {
        prompts::get(&request)
    }

    async fn complete(&self, _: CompleteRequestParams, _: &Call) -> Answer<CompletionInfo> {
        CompletionInfo::with_all_values(vec!["paris".into(), "park".into(), "party".into()])
            .map_err(|error| ErrorData::internal_error(error, None))
    }
}
