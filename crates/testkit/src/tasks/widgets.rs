//! Things that pages make themselves: a calendar, a board, dialogs, a widget, a banner in the way.

use serde_json::json;

use super::{
    Proof, Task,
    run::{between, reference},
};

/// The tasks.
pub const TASKS: [Task; 5] = [
    Task {
        name: "choose a day in a calendar and book",
        tabwire: |client| {
            let page = client.open("dates")?;
            let calendar = client.click(&page, "\"Choose a date\"")?;
            for _ in 0..2 {
                client.click(&calendar, "\"Next month\"")?;
            }
            let found = client.find("17 March 2027")?;
            client.click(&found, "button \"17 March 2027\"")?;
            let nights = reference(&page, "combobox \"Nights\"")?;
            client.act("select", json!({"ref": nights, "values": ["2"]}))?;
            client.click(&page, "button \"Book\"")
        },
        playwright: |client| {
            let page = client.open("dates")?;
            client.click(&page, "\"Choose a date\"")?;
            let calendar = client.find("Next month")?;
            for _ in 0..2 {
                client.click(&calendar, "\"Next month\"")?;
            }
            let found = client.find("17 March 2027")?;
            client.click(&found, "button \"17 March 2027\"")?;
            let target = reference(&page, "combobox \"Nights\"")?;
            client.call("browser_select_option", json!({"target": target, "values": ["2"]}))?;
            client.click(&page, "button \"Book\"")
        },
        proof: Proof::State(|| json!({"arrival": "2027-03-17", "nights": "2"})),
    },
    Task {
        name: "drag a card to another column",
        tabwire: |client| {
            let page = client.open("board")?;
            let card = reference(&page, "Write the report")?;
            let column = reference(&page, "region \"Done\"")?;
            client.act("drag", json!({"ref": card, "to": column}))
        },
        playwright: |client| {
            let page = client.open("board")?;
            let card = reference(&page, "Write the report")?;
            let column = reference(&page, "region \"Done\"")?;
            client.call("browser_drag", json!({"startTarget": card, "endTarget": column}))
        },
        proof: Proof::State(|| json!({"card": "Write the report", "column": "Done"})),
    },
    Task {
        name: "confirm a dialog and answer another",
        tabwire: |client| {
            let page = client.open("dialogs")?;
            client.click(&page, "\"Delete project\"")?;
            let accept = json!({"dialogAction": "accept"});
            client.call("browser_debug", "dialog", accept)?;
            let answer = json!({"dialogAction": "accept", "promptText": "Heron"});
            client.call("browser_debug", "dialog", answer)
        },
        playwright: |client| {
            let page = client.open("dialogs")?;
            client.click(&page, "\"Delete project\"")?;
            client.call("browser_handle_dialog", json!({"accept": true}))?;
            client.call("browser_handle_dialog", json!({"accept": true, "promptText": "Heron"}))
        },
        proof: Proof::State(|| json!({"deleted": "Heron"})),
    },
    Task {
        name: "use a widget inside two shadow roots",
        tabwire: |client| {
            let page = client.open("widget")?;
            for _ in 0..2 {
                client.click(&page, "button \"More\"")?;
            }
            client.act("check", json!({"ref": reference(&page, "\"Wrap as a gift\"")?}))?;
            client.click(&page, "\"Add to basket\"")
        },
        playwright: |client| {
            let page = client.open("widget")?;
            for _ in 0..2 {
                client.click(&page, "button \"More\"")?;
            }
            client.click(&page, "checkbox \"Wrap as a gift\"")?;
            client.click(&page, "\"Add to basket\"")
        },
        proof: Proof::State(|| json!({"quantity": 3, "gift": true})),
    },
    Task {
        name: "get past a cookie banner and buy",
        tabwire: |client| {
            let page = client.open("banner")?;
            let closed = client.click(&page, "\"Only what is needed\"")?;
            // The banner was all that lay over what has been seen.
            between(&closed, "gone: dialog \"", "\"")?;
            client.click(&page, "\"Buy for Saturday\"")
        },
        playwright: |client| {
            let page = client.open("banner")?;
            client.click(&page, "\"Only what is needed\"")?;
            let found = client.find("Buy for Saturday")?;
            client.click(&found, "\"Buy for Saturday\"")
        },
        proof: Proof::State(|| json!({"day": "Saturday", "cookies": "needed"})),
    },
];
