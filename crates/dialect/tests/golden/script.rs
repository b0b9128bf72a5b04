//! The words of recorded conversations: messages of the hub, and what a machine gives.

use std::time::Duration;

use dialect::Output;
use model::{
    Call, Change, CloseReason, Closing, Epoch, Fault, FromBrowser, Hello, Json, Level,
    NumberedChange, Position, RefusedResume, ReplayPage, Reply, Sequence, SessionId, StateBody,
    TabId, Target, ToBrowser, Welcome, Work,
};
use serde_json::{Value, json};

/// Reads a message of the hub: one field that names it, with what it says.
pub fn message(told: &Value) -> ToBrowser {
    if told == "ping" {
        return ToBrowser::Ping;
    }
    let (kind, body) = told.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "welcome" => ToBrowser::Welcome(Box::new(welcome(body))),
        "call" => ToBrowser::Call(Box::new(call(body))),
        "cancel" => ToBrowser::Cancel(body.as_str().unwrap().parse().unwrap()),
        "event" => ToBrowser::Changed(event(body)),
        "mention" => ToBrowser::Mention {
            name: body["name"].as_str().unwrap().to_owned(),
            data: Json::of(&body["data"]),
        },
        "replayPage" => ToBrowser::ReplayPage(page(body)),
        "bye" => {
            let reason = CloseReason::ALL.iter().find(|reason| reason.as_str() == body["reason"]);
            ToBrowser::Bye(Closing::new(*reason.unwrap(), body["message"].as_str().unwrap()))
        }
        other => panic!("no such message: {other}"),
    }
}

fn welcome(body: &Value) -> Welcome {
    Welcome {
        session: SessionId::parse("s_golden").unwrap(),
        name: body["name"].as_str().unwrap_or("golden").to_owned(),
        server_version: "0.0.0".to_owned(),
        current: position(body["currentSequence"].as_u64().unwrap_or_default()),
        received: None,
        replay: page(&body["replay"]),
        resume_token: "secret".to_owned(),
    }
}

fn page(body: &Value) -> ReplayPage {
    let messages = body["messages"].as_array().into_iter().flatten().map(event);
    ReplayPage {
        upto: position(body["upto"].as_u64().unwrap_or_default()),
        messages: messages.collect(),
        more: body["more"] == true,
        partial: false,
        refused: RefusedResume::ALL.into_iter().find(|reason| body["refused"] == reason.as_str()),
    }
}

fn position(sequence: u64) -> Position {
    Position { epoch: Epoch::parse("e-golden").unwrap(), sequence: Sequence(sequence) }
}

fn event(body: &Value) -> NumberedChange {
    NumberedChange {
        sequence: body["sequence"].as_u64().map(Sequence),
        change: Change::Event {
            name: body["name"].as_str().unwrap().to_owned(),
            level: Level::Info,
            data: Json::of(&body["data"]),
        },
    }
}

fn call(body: &Value) -> Call {
    let tool = |target, name: &Value| Work::Tool {
        target,
        name: name.as_str().unwrap().to_owned(),
        args: Json::of(body.get("args").unwrap_or(&json!({}))),
    };
    let work = match body.as_object().unwrap() {
        fields if fields.contains_key("command") => tool(Target::Command, &body["command"]),
        fields if fields.contains_key("app") => tool(Target::App, &body["app"]),
        fields if fields.contains_key("page") => tool(Target::Page, &body["page"]),
        fields if fields.contains_key("state") => {
            Work::State { force_refresh: body["state"]["forceRefresh"] == true }
        }
        fields if fields.contains_key("openTab") => Work::OpenTab {
            url: body["openTab"]["url"].as_str().unwrap().to_owned(),
            focus: body["openTab"]["focus"] == true,
        },
        fields if fields.contains_key("closeTab") => Work::CloseTab,
        fields if fields.contains_key("focusTab") => Work::FocusTab,
        fields if fields.contains_key("discoverTools") => Work::DiscoverTools,
        _ => panic!("what is asked? {body}"),
    };
    Call {
        id: body["id"].as_str().unwrap().parse().unwrap(),
        tab: body["tab"].as_u64().map(TabId),
        client: body["client"].as_str().unwrap_or("ai-1").parse().unwrap(),
        client_name: "claude".to_owned(),
        work,
        deadline: Duration::from_secs(30),
    }
}

/// Shows what a machine gives.
pub fn show(output: &Output) -> Value {
    match output {
        Output::Write(text) => json!({"write": value(text)}),
        Output::WriteBytes(bytes) => json!({"writeBytes": bytes.len()}),
        Output::Ping => json!("ping"),
        Output::WakeAfter(time) => json!({"wakeAfterMs": time.as_millis() as u64}),
        Output::Close(closing) => json!({"close": closing.reason.as_str()}),
        Output::Deliver(message) => json!({"deliver": deliver(message)}),
    }
}

fn deliver(message: &FromBrowser) -> Value {
    match message {
        FromBrowser::Hello(said) => json!({"hello": hello(said)}),
        FromBrowser::Ended { call, outcome } => match outcome {
            Ok(reply) => json!({"ended": call.to_string(), "ok": show_reply(reply)}),
            Err(fault) => json!({"ended": call.to_string(), "fault": show_fault(fault)}),
        },
        FromBrowser::Changed(numbered) => json!({"changed": change(&numbered.change)}),
        FromBrowser::ReplayRequest(request) => json!({"replayAfter": request.from.sequence.0}),
        FromBrowser::Alive => json!("alive"),
        FromBrowser::Stray => json!("stray"),
        FromBrowser::Bye { message } => json!({ "bye": message }),
        other => panic!("no golden form for {other:?}"),
    }
}

fn hello(said: &Hello) -> Value {
    let traits = &said.traits;
    json!({
        "instance": said.instance.as_str(), "kind": said.kind.as_str(), "name": said.name,
        "version": said.version, "capabilities": said.capabilities,
        "tabs": said.tabs.iter().map(tab).collect::<Vec<_>>(), "commands": traits.commands.len(),
        "nameless": traits.nameless, "mayDouble": traits.may_double,
        "tabPerClient": traits.tab_per_client, "lastSequence": traits.last_sequence.map(|last| last.0),
    })
}

fn show_reply(reply: &Reply) -> Value {
    match reply {
        Reply::Result(json) => value(json.as_str()),
        Reply::State(update) => match &update.body {
            StateBody::Whole(state) => json!({"state": value(state.as_str())}),
            StateBody::Patch(patch) => json!({"patch": value(patch.as_str())}),
        },
        Reply::Tools(tools) => json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()}),
    }
}

fn show_fault(fault: &Fault) -> Value {
    json!({"code": fault.code.as_str(), "says": fault.to_string()})
}

fn change(change: &Change) -> Value {
    match change {
        Change::State(update) => {
            json!({"state": show_reply(&Reply::State(update.clone()))["state"]})
        }
        Change::TabCreated(created) => json!({"tabCreated": tab(created)}),
        Change::TabUpdated(updated) => json!({"tabUpdated": tab(updated)}),
        Change::TabClosed(id) => json!({"tabClosed": id.0}),
        Change::TabFocused(id) => json!({"tabFocused": id.0}),
        Change::ToolsChanged { tab, tools } => json!({
            "toolsChanged": tools.iter().map(tool).collect::<Vec<_>>(), "tab": tab.map(|tab| tab.0),
        }),
        Change::Event { name, level, data } => {
            json!({"event": name, "level": format!("{level:?}"), "data": value(data.as_str())})
        }
    }
}

fn tab(tab: &model::Tab) -> Value {
    json!({"id": tab.id.0, "title": tab.title, "url": tab.url, "active": tab.active})
}

fn tool(tool: &model::ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "inputSchema": value(tool.input_schema.as_str())})
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!({ "text": text }))
}
