//! What went wrong in a page.

use model::page_text::{address, exact};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    CommandResult,
    network::{RequestReport, short},
};

/// What went wrong, each kind with how many earlier ones are left out.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PageErrors {
    pub page_errors: Vec<PageError>,
    pub page_errors_left_out: Option<u64>,
    /// What the page wrote to the console as errors.
    pub errors: Vec<PageError>,
    pub errors_left_out: Option<u64>,
    pub failed_requests: Vec<RequestReport>,
    pub failed_requests_left_out: Option<u64>,
}

/// An error of a page, told once.
#[derive(Deserialize, JsonSchema)]
pub struct PageError {
    pub text: String,
    #[serde(default)]
    pub count: u64,
    pub url: Option<String>,
    pub line: Option<u64>,
}

impl CommandResult for PageErrors {
    fn words(&self) -> Option<String> {
        let mut lines = Vec::new();
        for (errors, title, name, more) in [
            (&self.page_errors, "uncaught", "pageErrors", self.page_errors_left_out),
            (&self.errors, "console", "errors", self.errors_left_out),
        ] {
            lines.extend(errors.iter().map(|error| format!("{title}: {}", error.words())));
            lines.extend(left_out(name, more));
        }
        let failed = self.failed_requests.iter();
        lines.extend(failed.map(|request| format!("request: {}", request.line())));
        lines.extend(left_out("failedRequests", self.failed_requests_left_out));
        if lines.is_empty() {
            lines.push("nothing went wrong that was seen".to_owned());
        }
        Some(lines.join("\n"))
    }
}

impl PageError {
    fn words(&self) -> String {
        let mut text = exact(&self.text).into_owned();
        if self.count > 1 {
            text.push_str(&format!(" ({} times)", self.count));
        }
        if let Some(url) = &self.url {
            let place = self.line.map(|line| format!(":{line}")).unwrap_or_default();
            text.push_str(&format!(" at {}{place}", short(&address(url))));
        }
        text
    }
}

fn left_out(name: &str, more: Option<u64>) -> Option<String> {
    let more = more.filter(|more| *more > 0)?;
    Some(format!("({more} earlier {name} are left out)"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::command_results::said;

    use super::*;

    #[test]
    fn errors_are_readable() {
        let errors = json!({"pageErrors": [{"text": "Error: x", "count": 2, "url": "u", "line": 3}],
            "errors": [], "errorsLeftOut": 4, "failedRequests": []});
        let lines = "uncaught: Error: x (2 times) at u:3\n(4 earlier errors are left out)";
        assert_eq!(said::<PageErrors>(errors).as_deref(), Some(lines));
    }
}
