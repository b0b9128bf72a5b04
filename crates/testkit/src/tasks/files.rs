//! Files: one to the page, and one from it.

use serde_json::json;

use super::{
    Proof, Task,
    run::{between, reference},
};

const LIST: &str = "name,count\nchairs,12\ntables,3\n";

/// The tasks.
pub const TASKS: [Task; 2] = [
    Task {
        name: "upload a file and send it",
        tabwire: |client| {
            let file = client.run().file("list.csv", LIST)?;
            let page = client.open("upload")?;
            let field = reference(&page, "\"Your list\"")?;
            client.act("upload", json!({"ref": field, "files": [file]}))?;
            client.click(&page, "button \"Send\"")
        },
        playwright: |client| {
            let file = client.run().file("list.csv", LIST)?;
            let page = client.open("upload")?;
            client.click(&page, "\"Your list\"")?;
            client.call("browser_file_upload", json!({"paths": [file]}))?;
            client.click(&page, "button \"Send\"")
        },
        proof: Proof::State(|| json!({"name": "list.csv", "text": LIST})),
    },
    Task {
        name: "download a file and read a value in it",
        tabwire: |client| {
            let page = client.open("download")?;
            client.click(&page, "invoice for April")?;
            let saved = client.call("browser_network", "download_wait", json!({}))?;
            let id = saved.split_whitespace().next().unwrap_or_default().to_owned();
            let text = client.call("browser_network", "download_read", json!({"id": id}))?;
            between(&text, "Payment reference: ", "\n").map(str::to_owned)
        },
        playwright: |client| {
            let page = client.open("download")?;
            let clicked = client.click(&page, "invoice for April")?;
            // It tells where it has put the file; reading it is left to the client.
            let path = match between(&clicked, "to \"", "\"") {
                Ok(path) => path.to_owned(),
                Err(_) => {
                    let waited = client.call("browser_wait_for", json!({"time": 1}))?;
                    between(&waited, "to \"", "\"")?.to_owned()
                }
            };
            let path = client.run().folder().join(path);
            let text = client.run().read_file(&path)?;
            between(&text, "Payment reference: ", "\n").map(str::to_owned)
        },
        proof: Proof::Answer,
    },
];
