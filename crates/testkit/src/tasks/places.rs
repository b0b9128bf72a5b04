//! Other places: a second tab, a frame of another origin, a page that loads late, a phone.

use serde_json::json;

use super::{
    Proof, Task,
    playwright::Playwright,
    run::{between, reference},
};

/// How often a new tab is looked for in a list.
const LISTS: usize = 20;

/// The tasks.
pub const TASKS: [Task; 4] = [
    Task {
        name: "carry a code from one tab to another",
        tabwire: |client| {
            let page = client.open("code")?;
            let code = code(&page)?;
            let opened = client.click(&page, "\"Open the vault\"")?;
            let tab = between(&opened, "a new tab ", " ")?;
            let tab: u64 = tab.parse().map_err(|_| format!("no tab in {opened}"))?;
            let vault = client.snapshot(json!({"tab": tab}))?;
            let field = reference(&vault, "\"Code\"")?;
            let more = json!({"tab": tab, "ref": field, "text": code, "submit": true});
            client.act("type", more)
        },
        playwright: |client| {
            let page = client.open("code")?;
            let code = code(&page)?;
            let clicked = client.click(&page, "\"Open the vault\"")?;
            let index = tab_of(client, clicked, "/vault.html")?;
            client.call("browser_tabs", json!({"action": "select", "index": index}))?;
            let vault = client.look()?;
            client.submit(&vault, "\"Code\"", &code)?;
            client.run().tidy("browser_tabs", &json!({"action": "close"}))
        },
        proof: Proof::State(|| json!({"unlocked": true})),
    },
    Task {
        name: "pay in a frame of another origin",
        tabwire: |client| {
            let page = client.open("checkout")?;
            let card = [
                ("\"Card number\"", "4000123412341234"),
                ("\"Expires\"", "04/29"),
                ("\"Security code\"", "737"),
            ];
            client.fill(&page, &card, true)?;
            client.click(&page, "\"Place order\"")
        },
        playwright: |client| {
            let page = client.open("checkout")?;
            let card = [
                ("\"Card number\"", "textbox", "4000123412341234"),
                ("\"Expires\"", "textbox", "04/29"),
                ("\"Security code\"", "textbox", "737"),
            ];
            client.fill(&page, &card)?;
            client.click(&page, "button \"Pay\"")?;
            client.click(&page, "\"Place order\"")
        },
        proof: Proof::State(
            || json!({"card": "4000123412341234", "expires": "04/29", "check": "737"}),
        ),
    },
    Task {
        name: "find an order in an app that loads late",
        tabwire: |client| {
            let page = client.open("shop")?;
            let orders = client.click(&page, "link \"Orders\"")?;
            let orders = client.told_or_found(orders, "1043")?;
            let order = client.click(&orders, "link \"1043")?;
            let order = client.told_or_found(order, "Mark as paid")?;
            client.click(&order, "\"Mark as paid\"")
        },
        playwright: |client| {
            let page = client.open("shop")?;
            client.click(&page, "link \"Orders\"")?;
            let found = client.find_late("1043")?;
            client.click(&found, "link \"1043")?;
            let found = client.find_late("Mark as paid")?;
            client.click(&found, "\"Mark as paid\"")
        },
        proof: Proof::State(|| json!({"paid": "1043"})),
    },
    Task {
        name: "use the menu of a page as a phone shows it",
        tabwire: |client| {
            client.go("phone")?;
            client.call("browser_emulate", "device", json!({"value": "iPhone 14"}))?;
            let page = client.look()?;
            let menu = client.click(&page, "button \"Menu\"")?;
            client.click(&menu, "\"Large print\"")?;
            client.run().tidy("browser_emulate", &json!({"action": "reset"}))
        },
        playwright: |client| {
            client.go("phone")?;
            client.call("browser_resize", json!({"width": 390, "height": 844}))?;
            let page = client.look()?;
            client.click(&page, "button \"Menu\"")?;
            let found = client.find("Large print")?;
            client.click(&found, "\"Large print\"")?;
            client.run().tidy("browser_resize", &json!({"width": 1280, "height": 720}))
        },
        proof: Proof::State(|| json!({"large": true, "width": 390})),
    },
];

/// The number of a tab in what was said, or in a list of tabs where it was not there yet.
fn tab_of(client: &mut Playwright<'_, '_>, mut said: String, url: &str) -> Result<u64, String> {
    for _ in 0..LISTS {
        let line = said.lines().find(|line| line.starts_with("- ") && line.contains(url));
        let number = line.and_then(|line| line[2..].split(':').next()?.parse().ok());
        if let Some(number) = number {
            return Ok(number);
        }
        said = client.call("browser_tabs", json!({"action": "list"}))?;
    }
    Err(format!("no tab has {url} in\n{said}"))
}

/// The code that the page shows: six letters or digits after its label.
fn code(page: &str) -> Result<String, String> {
    let rest = between(page, "Code:", "vault")?;
    let letters =
        |part: &&str| part.len() == 6 && part.bytes().all(|it| it.is_ascii_alphanumeric());
    let mut parts = rest.split(|sign: char| !sign.is_ascii_alphanumeric());
    let capital = |part: &&str| !part.bytes().any(|it| it.is_ascii_lowercase());
    let found = parts.find(|part| letters(part) && capital(part));
    Ok(found.ok_or_else(|| format!("no code in\n{page}"))?.to_owned())
}
