//! How fast a page was, in lines for a model: from what a browser measured.
//!
//! The structured result keeps every number; the text has them in an order in which they are read.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::CommandResult;

/// What a browser measured of a page; what was not measured is left out.
#[derive(Deserialize, JsonSchema)]
pub struct Measurements {
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
    pub timing: BTreeMap<String, f64>,
    /// What it has loaded: how many, and how many bytes over the network.
    #[serde(default)]
    pub resources: BTreeMap<String, f64>,
}

/// Numbers of a line: the browser's name for each, ours, and the unit.
type Line = &'static [(&'static str, &'static str, &'static str)];

const TIMING: Line = &[
    ("ttfbMs", "first byte", " ms"),
    ("firstPaintMs", "first paint", " ms"),
    ("firstContentfulPaintMs", "first content", " ms"),
    ("largestContentfulPaintMs", "largest content", " ms"),
    ("domContentLoadedMs", "document ready", " ms"),
    ("loadMs", "loaded", " ms"),
    ("cumulativeLayoutShift", "layout shift", ""),
];
const WORK: Line = &[
    ("scriptMs", "scripts", " ms"),
    ("layoutMs", "layout", " ms"),
    ("styleMs", "styles", " ms"),
    ("taskMs", "all tasks", " ms"),
    ("countedMs", "counted for", " ms"),
    ("layouts", "layouts", ""),
    ("styleRecalculations", "style recalculations", ""),
];
const SIZE: Line = &[
    ("nodes", "nodes", ""),
    ("eventListeners", "listeners", ""),
    ("documents", "documents", ""),
    ("frames", "frames", ""),
    ("heapUsedBytes", "heap used", " bytes"),
    ("heapTotalBytes", "heap", " bytes"),
];
const RESOURCES: Line = &[("count", "requests", ""), ("bytes", "over the network", " bytes")];

impl CommandResult for Measurements {
    fn words(&self) -> Option<String> {
        let lines: Vec<_> = [
            ("times since the start", &self.timing, TIMING),
            ("work", &self.metrics, WORK),
            ("in its process", &self.metrics, SIZE),
            ("resources", &self.resources, RESOURCES),
        ]
        .into_iter()
        .filter_map(|(title, numbers, line)| Some(format!("{title}: {}", show(numbers, line)?)))
        .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

fn show(numbers: &BTreeMap<String, f64>, line: Line) -> Option<String> {
    let known = line.iter().filter_map(|(name, ours, unit)| {
        let number = numbers.get(*name)?;
        Some(format!("{ours} {number}{unit}"))
    });
    let parts: Vec<_> = known.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::command_results::said;

    use super::*;

    #[test]
    fn numbers_are_said_in_lines_and_what_was_not_measured_is_left_out() {
        let told = json!({
            "timing": {"ttfbMs": 12.5, "loadMs": 80},
            "metrics": {"nodes": 30, "scriptMs": 4.1},
            "resources": {"count": 2, "bytes": 900},
        });
        let expected = "times since the start: first byte 12.5 ms, loaded 80 ms\n\
            work: scripts 4.1 ms\nin its process: nodes 30\n\
            resources: requests 2, over the network 900 bytes";
        assert_eq!(said::<Measurements>(told).as_deref(), Some(expected));
    }

    #[test]
    fn what_another_browser_says_has_no_words() {
        assert_eq!(said::<Measurements>(json!({"metrics": [1]})), None);
    }
}
