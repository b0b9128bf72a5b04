//! How fast a page was, in lines for a model: from what a browser measured.
//!
//! The structured result keeps every number; the text has them in an order in which they are read.

use serde_json::Value;

use crate::definition::Output;

/// What the browser executes.
pub const COMMAND: &str = "browser_get_performance_metrics";

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

/// Says the numbers in lines; another browser's answer stays as it is.
pub(crate) fn in_words(output: Output) -> Output {
    let told = &output.structured;
    let lines: Vec<_> = [
        ("times since the start", &told["timing"], TIMING),
        ("work", &told["metrics"], WORK),
        ("in its process", &told["metrics"], SIZE),
        ("resources", &told["resources"], RESOURCES),
    ]
    .into_iter()
    .filter_map(|(title, numbers, line)| Some(format!("{title}: {}", show(numbers, line)?)))
    .collect();
    match told["timing"].is_object() && !lines.is_empty() {
        true => Output { text: lines.join("\n"), ..output },
        false => output,
    }
}

fn show(numbers: &Value, line: Line) -> Option<String> {
    let known = line.iter().filter_map(|(name, ours, unit)| {
        let number = numbers.get(name).filter(|number| number.is_number())?;
        Some(format!("{ours} {number}{unit}"))
    });
    let parts: Vec<_> = known.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(structured: Value) -> String {
        let text = structured.to_string();
        in_words(Output { text, structured, ..Output::default() }).text
    }

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
        assert_eq!(said(told), expected);
    }

    #[test]
    fn what_another_browser_says_stays_as_it_is() {
        assert_eq!(said(json!({"metrics": [1]})), "{\"metrics\":[1]}");
    }
}
