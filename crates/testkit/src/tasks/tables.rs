//! Tables and lists: filtering, reading one value, and a list of which only a part is there.

use serde_json::json;

use super::{
    Proof, Task,
    playwright::{Playwright, is_nothing},
    run::{Story, between, reference},
    tabwire::Tabwire,
};

/// How often a list is scrolled at most.
const SCROLLS: usize = 30;

/// What is chosen, and where.
const FILTERS: [(&str, &str); 2] = [("combobox \"City\"", "Turku"), ("combobox \"State\"", "late")];

/// The tasks.
pub const TASKS: [Task; 3] = [
    Task {
        name: "filter 240 customers and remind one",
        tabwire: |client| {
            client.go("customers")?;
            let fields = client.snapshot(json!({"find": "/^(City|State)/", "role": "combobox"}))?;
            let mut filtered = String::new();
            for (field, value) in FILTERS {
                let field = reference(&fields, field)?;
                filtered = client.act("select", json!({"ref": field, "values": [value]}))?;
            }
            let opened = client.click(&filtered, "late|link \"Open\"")?;
            client.click(&opened, "\"Send a reminder\"")
        },
        playwright: |client| {
            client.go("customers")?;
            let regex = "combobox \"(City|State)\"";
            let fields = client.call("browser_find", json!({"regex": regex}))?;
            for (field, value) in FILTERS {
                let target = reference(&fields, field)?;
                let args = json!({"target": target, "values": [value]});
                client.call("browser_select_option", args)?;
            }
            let found = client.find("link \"Open\"")?;
            client.click(&found, "link \"Open\"")?;
            let found = client.find("reminder")?;
            client.click(&found, "\"Send a reminder\"")
        },
        proof: Proof::State(|| json!({"reminded": 5174})),
    },
    Task {
        name: "read one value of a table of 300 rows",
        tabwire: |client| {
            client.go("readings")?;
            let found = client.find("Station 217")?;
            level(&found)
        },
        playwright: |client| {
            client.go("readings")?;
            let found = client.find("Station 217")?;
            level(&found)
        },
        proof: Proof::Answer,
    },
    Task {
        name: "open item 90 of a list that loads as it is scrolled",
        tabwire: scroll,
        playwright: scroll_with_playwright,
        proof: Proof::State(|| json!({"opened": 90})),
    },
];

/// The level of station 217, from a row or from its cells: the first number after the river.
fn level(found: &str) -> Story {
    let row = between(found, "Station 217", "Station 218")?;
    let river = row.find("Douro").ok_or_else(|| format!("no river in\n{found}"))?;
    // References have digits too.
    let rest = row[river..].split(['"', '|', ':', ' ', '\n', ',']);
    let mut numbers = rest.filter(|part| part.len() == 3 && part.parse::<u32>().is_ok());
    Ok(numbers.next().ok_or_else(|| format!("no level in\n{found}"))?.to_owned())
}

fn scroll(client: &mut Tabwire<'_, '_>) -> Story {
    let page = client.open("parcels")?;
    let list = reference(&page, "list \"Parcels\"")?;
    for _ in 0..SCROLLS {
        let scrolled = client.act("scroll", json!({"ref": list, "direction": "down"}))?;
        if scrolled.contains("Loading…") {
            let more = json!({"text": "Loading…", "state": "hidden"});
            client.call("browser_navigate", "wait", more)?;
        }
        if !may_have(&scrolled, 90) {
            continue;
        }
        let found = client.find("Open parcel 90")?;
        if found.contains("button \"Open parcel 90\"") {
            return client.click(&found, "\"Open parcel 90\"");
        }
    }
    Err(format!("parcel 90 is not there after scrolling {SCROLLS} times"))
}

/// Whether a parcel may be among those that an answer tells the first and the last of.
fn may_have(answer: &str, wanted: u32) -> bool {
    let parts = answer.split("\"Open parcel ").skip(1);
    let numbers = parts.filter_map(|part| part.split('"').next()?.parse::<u32>().ok());
    let numbers: Vec<_> = numbers.collect();
    match (numbers.iter().min(), numbers.iter().max()) {
        (Some(least), Some(most)) => (*least..=*most).contains(&wanted),
        // What an answer does not tell must be looked for.
        _ => true,
    }
}

/// It has no tool that scrolls; a script that does is what is left, besides keys.
fn scroll_with_playwright(client: &mut Playwright<'_, '_>) -> Story {
    let page = client.open("parcels")?;
    let list = reference(&page, "list \"Parcels\"")?;
    let function = "(it) => { it.scrollTop += it.clientHeight; \
        return it.scrollTop + it.clientHeight >= it.scrollHeight }";
    for _ in 0..SCROLLS {
        let args = json!({"target": list, "function": function});
        if between(&client.call("browser_evaluate", args)?, "### Result\n", "\n")? == "true" {
            client.call("browser_wait_for", json!({"textGone": "Loading…"}))?;
        }
        let found = client.find("Open parcel 90")?;
        if !is_nothing(&found) {
            return client.click(&found, "\"Open parcel 90\"");
        }
    }
    Err(format!("parcel 90 is not there after scrolling {SCROLLS} times"))
}
