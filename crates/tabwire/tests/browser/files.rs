//! Files: given to a page from the client's machine, and saved from a page.

use serde_json::json;
use testkit::Place;

use crate::stage::Stage;

#[tokio::test]
async fn files_reach_the_page_with_their_names_and_contents() {
    let stage = &Stage::at("/forms.html").await;
    let (site, client, place) = (&stage.site, &stage.client, Place::create());
    let write = |name: &str, text: &str| place.write(name, text).to_str().unwrap().to_owned();
    let (one, two) = (write("one.txt", "first\n"), write("zwei ü.csv", "a;b"));
    client.interact("upload", json!({"selector": "#file", "files": [one]})).await;
    site.reported("file", json!([["one.txt", 6, "first\n"]])).await;
    let files = client.reference("\"Files\"").await;
    client.interact("upload", json!({"ref": files, "files": [one, two]})).await;
    site.reported("files", json!([["one.txt", 6, "first\n"], ["zwei ü.csv", 3, "a;b"]])).await;

    let missing = place.path().join("missing.txt");
    for (args, codes, named) in [
        (
            json!({"selector": "#file", "files": [missing]}),
            "INVALID_ARGUMENT|invalid_argument",
            "missing.txt",
        ),
        (
            json!({"selector": "#file", "files": [one, two]}),
            "INVALID_ARGUMENT|WRONG_ELEMENT",
            "one file",
        ),
        (json!({"selector": "#send", "files": [one]}), "WRONG_ELEMENT", "file"),
    ] {
        let words = client.refused("upload", args, codes).await;
        assert!(words.contains(named), "{words}");
    }
    assert_eq!(site.reports("file").len(), 1);
    assert_eq!(client.evaluate("at('file').files[0].name").await, "one.txt");
}

#[tokio::test]
async fn a_download_that_a_click_starts_is_told() {
    let stage = &Stage::at("/signals.html").await;
    let saved = stage.client.click("#download").await;
    let name = saved["download"]["filename"].as_str().unwrap_or_else(|| panic!("{saved}"));
    assert!(name.contains("report") && name.ends_with(".txt"), "{name}");
    assert_eq!(saved["download"]["url"], stage.site.url("/download/report.txt"));
    assert_eq!(saved["url"], stage.site.url("/signals.html"), "the page is still there");
    assert_ne!(saved["navigated"], true);
    stage.site.until_asked("/download/report.txt").await;
    assert_eq!(stage.seen().await, ["click download"]);
}
