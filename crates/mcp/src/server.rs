//! The handler that `rmcp` drives: translates requests of both eras into calls on the backend.
//!
//! `rmcp` checks metadata, versions and headers, and shapes results for the era. What it leaves
//! open is here: methods that an era does not have, broken parameters of known methods,
//! subscriptions of both kinds. Routing is the backend's.

#![expect(deprecated, reason = "older clients still subscribe and set log levels")]

use std::sync::Arc;

use rmcp::{
    Peer, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestParams,
        GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestParams,
        SubscriptionFilter, Tool, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tools::Workplace;

use crate::{
    Backend, Call, Caller, Change, Changes, Era,
    backend::Answer,
    connection::{Connection, notification},
};

/// The most resources that one listener may watch.
const MAX_WATCHED: usize = 256;

/// A server for any number of connections. Clones share everything.
pub struct Mcp<B> {
    shared: Arc<Shared<B>>,
}

struct Shared<B> {
    backend: B,
    changes: Changes,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// The handler of one connection; on HTTP, of one request or one older client's session.
pub struct Server<B> {
    shared: Arc<Shared<B>>,
    pub(crate) connection: Connection,
    caller: Caller,
}

impl<B> Clone for Mcp<B> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<B: Backend> Mcp<B> {
    /// Serves `backend`, telling clients of `changes`, until `stop` is cancelled.
    pub fn new(backend: B, changes: Changes, stop: CancellationToken) -> Self {
        let tasks = TaskTracker::new();
        Self { shared: Arc::new(Shared { backend, changes, stop, tasks }) }
    }

    /// Makes the handler of one connection.
    pub fn connection(&self, caller: Caller) -> Server<B> {
        Server { shared: self.shared.clone(), connection: Connection::default(), caller }
    }

    /// Returns the token that ends all connections.
    pub fn stop(&self) -> &CancellationToken {
        &self.shared.stop
    }

    /// Waits, after the end was asked for, until no task of ours is left.
    pub async fn finished(&self) {
        self.shared.tasks.close();
        self.shared.tasks.wait().await;
    }
}

impl<B: Backend> Server<B> {
    fn call(&self, context: RequestContext<RoleServer>) -> Call {
        Call::new(context, &self.caller, self.connection.level())
    }

    /// Asks a client on a stream for its folders, where it has said that it has some. Not waited
    /// for: `rmcp` would wait for it at the end of the stream.
    fn ask_for_roots(&self, peer: &Peer<RoleServer>) {
        if !matches!(self.caller.workplace, Workplace::Here { .. }) {
            return;
        }
        let (roots, peer) = (self.connection.roots.clone(), peer.clone());
        let asking = async move { roots.ask(&peer).await };
        let ended = self.connection.ended.clone();
        self.shared.tasks.spawn(ended.run_until_cancelled_owned(asking));
    }

    async fn deliver(&self, context: &SubscriptionContext) -> Answer<()> {
        let mailbox = self
            .connection
            .take(context.requested())
            .unwrap_or_else(|| self.shared.changes.open(wanted(context.accepted())));
        loop {
            for change in mailbox.next().await {
                if let Err(error) = context.sink().send(notification(change)).await {
                    tracing::debug!(%error, "listener is gone");
                    return Ok(());
                }
            }
        }
    }
}

impl<B: Backend> ServerHandler for Server<B> {
    fn get_info(&self) -> ServerConfig {
        self.shared.backend.info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.backend.tool(name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Answer<ListToolsResult> {
        // Whoever has a list hears of every change after it, however late `rmcp` tells us that the
        // client is ready.
        if Era::of(&context) == Era::Legacy {
            self.connection.feed(&self.shared.changes, &context.peer, &self.shared.tasks);
        }
        let tools = self.shared.backend.tools(&self.call(context)).await?;
        Ok(ListToolsResult::with_all_items(tools)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<CallToolResponse> {
        // Boxed: `rmcp` moves the future of a request several times, and that of a call is large.
        Box::pin(async {
            let mut call = self.call(context);
            call.announce_roots(self.connection.roots.folders().await);
            // Both arms are cancel-safe: dropping the work withdraws the call.
            tokio::select! {
                biased;
                answer = self.shared.backend.call_tool(request, &call) => answer,
                () = self.connection.gone.cancelled() => {
                    Err(ErrorData::internal_error("the client is gone", None))
                }
            }
        })
        .await
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Answer<ListResourcesResult> {
        let resources = self.shared.backend.resources(&self.call(context)).await?;
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Answer<ListResourceTemplatesResult> {
        let templates = self.shared.backend.templates(&self.call(context)).await?;
        Ok(ListResourceTemplatesResult::with_all_items(templates))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<ReadResourceResponse> {
        self.shared.backend.read(request, &self.call(context)).await
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Answer<ListPromptsResult> {
        let prompts = self.shared.backend.prompts(&self.call(context)).await?;
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<GetPromptResponse> {
        self.shared.backend.prompt(request, &self.call(context)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<CompleteResult> {
        let completion = self.shared.backend.complete(request, &self.call(context)).await?;
        Ok(CompleteResult::new(completion))
    }

    // `rmcp` offers this to newer clients too, where the method no longer exists.
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<()> {
        if Era::of(&context) == Era::Modern {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        self.connection.set_level(request.level.into());
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.connection.feed(&self.shared.changes, &context.peer, &self.shared.tasks);
        self.ask_for_roots(&context.peer);
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.ask_for_roots(&context.peer);
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<()> {
        let feed = self.connection.feed(&self.shared.changes, &context.peer, &self.shared.tasks);
        feed.add(Change::Resource(request.uri));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer<()> {
        let feed = self.connection.feed(&self.shared.changes, &context.peer, &self.shared.tasks);
        feed.remove(&Change::Resource(request.uri));
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(MAX_WATCHED);
        }
        self.connection.keep(requested, self.shared.changes.open(wanted(&accepted)));
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        // All arms are cancel-safe: the first three only wait, and what the last has taken out of
        // its mailbox is lost only together with its listener. The ends come first: a client that
        // has withdrawn hears nothing more.
        tokio::select! {
            biased;
            () = self.shared.stop.cancelled() => Ok(()),
            () = self.connection.ended.cancelled() => Ok(()),
            () = context.cancelled() => Ok(()),
            outcome = self.deliver(&context) => outcome,
        }
    }

    // `rmcp` treats a known method with broken parameters as an unknown one.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Answer<CustomResult> {
        if is_known(&request.method, Era::of(&context)) {
            let message = format!("the parameters do not fit {}", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None))
    }
}

fn wanted(filter: &SubscriptionFilter) -> Vec<Change> {
    let lists = [
        (filter.tools_list_changed, Change::Tools),
        (filter.prompts_list_changed, Change::Prompts),
        (filter.resources_list_changed, Change::Resources),
    ];
    let lists = lists.into_iter().filter(|(wanted, _)| *wanted == Some(true)).map(|(_, list)| list);
    let uris = filter.resource_subscriptions.iter().flatten().cloned().map(Change::Resource);
    lists.chain(uris).collect()
}

fn is_known(method: &str, era: Era) -> bool {
    match method {
        "tools/list"
        | "tools/call"
        | "resources/list"
        | "resources/read"
        | "resources/templates/list"
        | "prompts/list"
        | "prompts/get"
        | "completion/complete" => true,
        "server/discover" | "subscriptions/listen" => era == Era::Modern,
        "initialize"
        | "ping"
        | "logging/setLevel"
        | "resources/subscribe"
        | "resources/unsubscribe" => era == Era::Legacy,
        _ => false,
    }
}
