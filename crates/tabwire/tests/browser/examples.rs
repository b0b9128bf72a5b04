//! The example apps on the SDK: what a client does is in the page, what a person does is in the
//! state, and mistakes are answered with what is valid.

use serde_json::{Value, json};
use testkit::{Site, eventually};

use crate::stage::{Driver, Stage, with};

/// The repository: the examples import the SDK from their neighbour folder.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SDK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/sdk/dist/index.js");

/// An example that is open in a browser and connected.
struct Example {
    stage: Stage,
    name: &'static str,
    /// Serves the page as long as it is needed.
    _site: Site,
}

impl Example {
    /// Opens an example and waits for one of its tools.
    async fn open(name: &'static str, tool: &str) -> Self {
        assert!(std::path::Path::new(SDK).exists(), "build the SDK first: npm run build in web/");
        // The hub remembers the sessions of apps.
        let stage = Stage::alone().await;
        let site = Site::start(REPOSITORY).await;
        let path = format!("/examples/{name}/index.html?port={}", stage.hub.port());
        stage.client.go(&site.url(&path)).await;
        let until = json!({"until": "connected", "session": name, "timeoutMs": 30000});
        let connected = stage.client.call("wait_for", until).await;
        assert_eq!(connected["happened"], true, "{connected}");
        // Its tools come with the next message.
        let listed = async || stage.client.tools().await.contains(&tool.to_owned()).then_some(());
        eventually(tool, listed).await;
        Self { stage, name, _site: site }
    }

    fn client(&self) -> &Driver {
        &self.stage.client
    }

    /// Returns a place in the state, from the cache.
    async fn state(&self, path: &str) -> Value {
        let asked = json!({"session": self.name, "path": path});
        self.client().call("app_state", asked).await["value"].clone()
    }

    /// Waits until a place in the state is this: that a person's change arrives is not awaited by
    /// whoever makes it.
    async fn becomes(&self, path: &str, value: Value) {
        let asked = json!({"until": "state", "session": self.name, "path": path, "equals": value});
        let found = self.client().call("wait_for", with(asked, json!({"timeoutMs": 20000}))).await;
        assert_eq!(found["happened"], true, "{path} is {}", self.state(path).await);
    }

    /// Calls a tool with wrong arguments; the answer has these words.
    async fn refuses(&self, tool: &str, args: Value, words: &str) {
        let said = self.client().fails(tool, args, "invalid_argument|NOT_FOUND|TOOL_FAILED").await;
        assert!(said.contains(words), "{words:?} is not in {said:?}");
    }
}

#[tokio::test]
async fn a_todo_list_is_shared_by_a_person_and_a_client() {
    let app = Example::open("todo", "add_todo").await;
    let client = app.client();
    let shown = async || client.evaluate("document.getElementById('list').innerText").await;

    client.works("add_todo", json!({"title": "Buy bread"})).await;
    assert!(shown().await.as_str().unwrap().contains("Buy bread"));
    assert_eq!(app.state("/todos/2").await, json!({"id": 3, "title": "Buy bread", "done": false}));

    client.works("check_todo", json!({"id": 3})).await;
    let ticked = "document.querySelectorAll('#list input')[2].checked";
    assert_eq!(client.evaluate(ticked).await, true);

    client.click("#list li:first-child input").await;
    app.becomes("/todos/0/done", json!(true)).await;
    client.works("show_todos", json!({"which": "open"})).await;
    assert_eq!(shown().await, "");

    client.works("remove_todo", json!({"id": 1})).await;
    assert_eq!(app.state("/todos/0/id").await, 2);
    app.refuses("show_todos", json!({"which": "some"}), "all").await;
    app.refuses("remove_todo", json!({"id": 77}), "there are 2, 3").await;
    app.refuses("add_todo", json!({}), "title").await;
}

#[tokio::test]
async fn a_table_is_sorted_filtered_and_edited_by_both() {
    let app = Example::open("table", "sort_rows").await;
    let client = app.client();
    let first = async || client.evaluate("document.querySelector('#body td').textContent").await;

    assert_eq!(first().await, "Everest");
    client.works("sort_rows", json!({"column": "name"})).await;
    assert_eq!(first().await, "Aconcagua");
    assert_eq!(app.state("/sort/direction").await, "ascending");

    client.click("th:nth-child(3)").await;
    app.becomes("/sort/column", json!("height")).await;
    assert_eq!(first().await, "Matterhorn");

    client.works("filter_rows", json!({"text": "alps"})).await;
    assert_eq!(client.evaluate("document.querySelectorAll('#body tr').length").await, 2);
    let found = client.text("find_rows", json!({"text": "himalaya"})).await;
    assert!(found.contains("8849"), "{found}");
    assert_eq!(app.state("/filter").await, "alps", "finding changes nothing");

    client.works("set_cell", json!({"id": 5, "column": "height", "value": 4900})).await;
    assert_eq!(first().await, "Mont Blanc");
    let row = json!({"name": "Eiger", "range": "Alps", "height": 3967, "climbed": 1858});
    client.works("add_row", row.clone()).await;
    assert_eq!(first().await, "Eiger");
    assert_eq!(app.state("/total").await, 7);

    app.refuses("sort_rows", json!({"column": "depth"}), "climbed").await;
    app.refuses("add_row", with(row, json!({"height": 12000})), "9000").await;
    let words = "height must be a number";
    app.refuses("set_cell", json!({"id": 1, "column": "height", "value": "tall"}), words).await;
}

#[tokio::test]
async fn a_drawing_is_made_with_tools_and_by_hand() {
    let app = Example::open("canvas", "draw_shape").await;
    let client = app.client();
    let red = json!({
        "kind": "rectangle", "x": 0, "y": 0, "width": 100, "height": 80, "color": "#cc0000",
    });
    client.works("draw_shape", red.clone()).await;
    let pixel =
        "[...document.getElementById('canvas').getContext('2d').getImageData(50, 40, 1, 1).data]";
    assert_eq!(client.evaluate(pixel).await, json!([204, 0, 0, 255]));
    let picked = client.text("pick_color", json!({"x": 50, "y": 40})).await;
    assert!(picked.contains("#cc0000"), "{picked}");

    let corner = "(() => { const { left, top } = document.getElementById('canvas')\
                  .getBoundingClientRect(); return { left, top }; })()";
    let corner = client.evaluate(corner).await;
    let (x, y) =
        (corner["left"].as_f64().unwrap() + 200.0, corner["top"].as_f64().unwrap() + 200.0);
    client.interact("drag", json!({"x": x, "y": y, "toX": x + 100.0, "toY": y})).await;
    app.becomes("/shapes/1/kind", json!("line")).await;
    let points = app.state("/shapes/1/points").await;
    assert!(points.as_array().unwrap().len() >= 2, "{points}");

    client.works("undo_drawing", json!({})).await;
    assert_eq!(app.state("/shapes").await.as_array().unwrap().len(), 1);
    client.works("draw_line", json!({"points": [[0, 0], [9, 9]], "color": "#000000"})).await;
    client.works("clear_canvas", json!({})).await;
    assert_eq!(client.evaluate(pixel).await, json!([0, 0, 0, 0]));

    app.refuses("draw_shape", with(red, json!({"color": "red"})), "color").await;
    app.refuses("draw_line", json!({"points": [[1]], "color": "#000000"}), "two points").await;
    app.refuses("pick_color", json!({"x": 640, "y": 1}), "639").await;
}

#[tokio::test]
async fn a_page_that_is_loaded_again_is_the_same_session() {
    let app = Example::open("todo", "add_todo").await;
    let client = app.client();
    client.works("add_todo", json!({"title": "Buy bread"})).await;
    client.call("browser_navigate", json!({"action": "reload"})).await;
    // The page forgets its list; the session is the same, and there is no second one.
    app.becomes("/todos/2", Value::Null).await;
    let listed = client.call("browser_instance", json!({"action": "list"})).await.to_string();
    assert!(!listed.contains("todo-2"), "{listed}");
}
