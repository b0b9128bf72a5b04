//! A server with one tool that does nothing, and nothing between it and `rmcp`: the floor for MCP.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use hyper::{Request, Response, body::Incoming};
use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, object,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::local::LocalSessionManager,
    },
};

/// The floor's service. Clones share it.
#[derive(Clone)]
pub struct BareMcp(Arc<StreamableHttpService<Bare, LocalSessionManager>>);

#[derive(Clone)]
struct Bare;

impl BareMcp {
    /// Makes the service.
    pub fn new() -> Self {
        let config = StreamableHttpServerConfig::default().with_json_response(true);
        let sessions = Arc::new(LocalSessionManager::default());
        Self(Arc::new(StreamableHttpService::new(|| Ok(Bare), sessions, config)))
    }

    /// Answers one request.
    pub async fn answer(
        self,
        request: Request<Incoming>,
    ) -> Result<Response<BoxBody<Bytes, Infallible>>, Infallible> {
        Ok(self.0.handle(request).await)
    }
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = object(serde_json::json!({"type": "object"}));
        Ok(ListToolsResult::with_all_items(vec![Tool::new("noop", "Does nothing", schema)]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text("ok")]).into())
    }
}
