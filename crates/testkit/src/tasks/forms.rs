//! Forms: signing in, thirty fields at once, several steps with complaints, suggestions.

use serde_json::{Map, Value, json};

use super::{
    Proof, Task,
    playwright::Playwright,
    run::{Story, reference},
    tabwire::Tabwire,
};

/// The tasks.
pub const TASKS: [Task; 4] = [
    Task {
        name: "sign in and renew a plan",
        tabwire: |client| {
            let page = client.open("login")?;
            let fields = [
                ("\"User name\"", "ada"),
                ("\"Password\"", "lovelace 1815"),
                ("\"Keep me", "true"),
            ];
            let inside = client.fill(&page, &fields, true)?;
            client.click(&inside, "\"Renew plan\"")
        },
        playwright: |client| {
            let page = client.open("login")?;
            let fields = [
                ("\"User name\"", "textbox", "ada"),
                ("\"Password\"", "textbox", "lovelace 1815"),
                ("\"Keep me signed in\"", "checkbox", "true"),
            ];
            client.fill(&page, &fields)?;
            client.click(&page, "button \"Sign in\"")?;
            let found = client.find("Renew")?;
            client.click(&found, "\"Renew plan\"")
        },
        proof: Proof::State(|| json!({"renewed": true, "stay": true})),
    },
    Task {
        name: "fill and send a form of 30 fields",
        tabwire: apply,
        playwright: apply_with_playwright,
        proof: Proof::State(application),
    },
    Task {
        name: "go through a wizard that finds mistakes",
        tabwire: register,
        playwright: register_with_playwright,
        proof: Proof::State(|| {
            json!({"Name of the dog": "Rex", "Born": "2024-05-01", "Your name": "Ada",
                "Phone": "+43 316123", "Chip number": "123456", "wrong": 2})
        }),
    },
    Task {
        name: "choose a suggestion while typing",
        tabwire: |client| {
            let page = client.open("travel")?;
            let field = reference(&page, "\"Destination\"")?;
            let typed = client.act("type", json!({"ref": field, "text": "lis"}))?;
            let found = client.told_or_found(typed, "Lisbon")?;
            client.click(&found, "option \"Lisbon")?;
            client.click(&page, "button \"Search\"")
        },
        playwright: |client| {
            let page = client.open("travel")?;
            let field = reference(&page, "\"Destination\"")?;
            client.call("browser_type", json!({"target": field, "text": "lis"}))?;
            let found = client.find_late("Lisbon")?;
            client.click(&found, "option \"Lisbon")?;
            client.click(&page, "button \"Search\"")
        },
        proof: Proof::State(|| json!({"to": "Lisbon, Portugal"})),
    },
];

/// Name, kind and value of each field of the application.
const APPLICATION: [(&str, &str, &str); 30] = [
    ("First name", "textbox", "Ada"),
    ("Last name", "textbox", "Berger"),
    ("E-mail", "textbox", "ada@example.org"),
    ("Phone", "textbox", "0316 5550"),
    ("Date of birth", "textbox", "1990-12-10"),
    ("Street", "textbox", "Long Lane"),
    ("House number", "textbox", "12 b"),
    ("Postcode", "textbox", "8010"),
    ("Town", "textbox", "Graz"),
    ("Country", "combobox", "Austria"),
    ("Name of the stall", "textbox", "Crumbs"),
    ("What you sell", "combobox", "Bread"),
    ("Width in metres", "textbox", "3"),
    ("Depth in metres", "textbox", "2.5"),
    ("Power needed", "checkbox", "true"),
    ("Water needed", "checkbox", "false"),
    ("Number of helpers", "textbox", "2"),
    ("Vehicle plate", "textbox", "G 123 AB"),
    ("Day", "combobox", "Saturday"),
    ("Opening time", "textbox", "07:30"),
    ("Account holder", "textbox", "Ada Berger"),
    ("IBAN", "textbox", "AT61 1904 3002 3457 3201"),
    ("Bank", "textbox", "Town Bank"),
    ("Tax number", "textbox", "68 123/4567"),
    ("Invoice e-mail", "textbox", "money@example.org"),
    ("Payment", "combobox", "Transfer"),
    ("Website", "textbox", "https://crumbs.example"),
    ("Remarks", "textbox", "Near the fountain, please."),
    ("Insurance number", "textbox", "77-1234"),
    ("I accept the rules", "checkbox", "true"),
];

/// What the page tells when all of it has arrived.
fn application() -> Value {
    let fields = APPLICATION.map(|(name, kind, value)| {
        let value = if kind == "checkbox" { json!(value == "true") } else { json!(value) };
        (name.to_owned(), value)
    });
    Value::Object(Map::from_iter(fields))
}

fn apply(client: &mut Tabwire<'_, '_>) -> Story {
    let page = client.open("application")?;
    let quoted = APPLICATION.map(|(name, _, value)| (format!("\"{name}\""), value));
    let fields: Vec<_> = quoted.iter().map(|(words, value)| (words.as_str(), *value)).collect();
    client.fill(&page, &fields, false)?;
    client.click(&page, "\"Send application\"")
}

fn apply_with_playwright(client: &mut Playwright<'_, '_>) -> Story {
    let page = client.open("application")?;
    let quoted = APPLICATION.map(|(name, kind, value)| (format!("\"{name}\""), kind, value));
    let fields = quoted.iter().map(|(words, kind, value)| (words.as_str(), *kind, *value));
    let fields: Vec<_> = fields.collect();
    client.fill(&page, &fields)?;
    client.click(&page, "\"Send application\"")
}

/// The date and the number are first written as the person said them; the page says how it wants
/// them.
fn register(client: &mut Tabwire<'_, '_>) -> Story {
    let page = client.open("wizard")?;
    let dog = [("\"Name of the dog\"", "Rex"), ("\"Born\"", "1 May 2024")];
    let complaint = client.fill(&page, &dog, true)?;
    expect(&complaint, "YYYY-MM-DD")?;
    let step = client.fill(&complaint, &[("textbox \"Born\"", "2024-05-01")], true)?;
    let person = [("textbox \"Your name\"", "Ada"), ("textbox \"Phone\"", "0316 123")];
    let complaint = client.fill(&step, &person, true)?;
    expect(&complaint, "+NN")?;
    let step = client.fill(&complaint, &[("textbox \"Phone\"", "+43 316123")], true)?;
    client.fill(&step, &[("textbox \"Chip number\"", "123456")], true)
}

fn register_with_playwright(client: &mut Playwright<'_, '_>) -> Story {
    let page = client.open("wizard")?;
    let field = |words| (words, "textbox");
    let fill = |(words, kind), value| (words, kind, value);
    let dog = field("\"Name of the dog\"");
    client.fill(&page, &[fill(dog, "Rex"), fill(field("\"Born\""), "1 May 2024")])?;
    client.click(&page, "button \"Next\"")?;
    let complaint = client.look()?;
    expect(&complaint, "YYYY-MM-DD")?;
    client.submit(&complaint, "\"Born\"", "2024-05-01")?;
    let step = client.look()?;
    let name = field("\"Your name\"");
    client.fill(&step, &[fill(name, "Ada"), fill(field("\"Phone\""), "0316 123")])?;
    client.click(&step, "button \"Next\"")?;
    let complaint = client.look()?;
    expect(&complaint, "+NN")?;
    client.submit(&complaint, "\"Phone\"", "+43 316123")?;
    let step = client.look()?;
    client.submit(&step, "\"Chip number\"", "123456")
}

fn expect(text: &str, words: &str) -> Result<(), String> {
    match text.contains(words) {
        true => Ok(()),
        false => Err(format!("{words:?} is not in\n{text}")),
    }
}
