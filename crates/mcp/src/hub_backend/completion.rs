//! Completion: names of sessions, numbers of tabs, paths into a state.

use hub::Hub;
use rmcp::model::{CompleteRequestParams, CompletionInfo, ErrorData};
use serde_json::Value;

use crate::backend::Answer;

/// How deep paths into a state are suggested.
const DEPTH: usize = 3;

/// Suggests values for an argument of a prompt or of an address.
pub fn complete(hub: &Hub, request: &CompleteRequestParams) -> Answer<CompletionInfo> {
    let typed = request.argument.value.as_str();
    let session = || {
        let known = request.context.as_ref()?.arguments.as_ref()?;
        hub.find(known.get("session")?).ok()
    };
    let mut values = match request.argument.name.as_str() {
        "session" => hub.sessions().iter().map(|session| session.name.to_string()).collect(),
        "tab" => session().map_or_else(Vec::new, |session| {
            session.info().tabs.iter().map(|tab| tab.id.to_string()).collect()
        }),
        "path" => session().and_then(|session| session.snapshot()).map_or_else(Vec::new, |found| {
            let mut paths = Vec::new();
            if let Ok(tree) = found.state.to_value() {
                collect(&tree, "", DEPTH, &mut paths);
            }
            paths
        }),
        _ => Vec::new(),
    };
    values.retain(|value| value.starts_with(typed));
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let more = total > values.len();
    CompletionInfo::with_pagination(values, Some(total as u32), more)
        .map_err(|error| ErrorData::internal_error(error, None))
}

fn collect(tree: &Value, path: &str, depth: usize, paths: &mut Vec<String>) {
    let Value::Object(fields) = tree else { return };
    for (key, value) in fields {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        paths.push(path.clone());
        if depth > 1 {
            collect(value, &path, depth - 1, paths);
        }
    }
}
