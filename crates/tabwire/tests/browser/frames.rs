//! Frames and shadow roots: what is in them is seen and driven like everything else.

use serde_json::json;

use crate::stage::{Stage, reference_in};

#[tokio::test]
async fn frames_of_other_origins_within_each_other_are_read_and_driven() {
    let Stage { site, client, .. } = &Stage::at("/frame-outer.html").await;
    site.report("inner loaded").await;
    let shown = client.snapshot().await;
    let mut references = Vec::new();
    for (name, id) in [("Inner", "inner"), ("Middle", "middle"), ("Outer", "outer")] {
        let reference = reference_in(&shown, &format!("button \"{name}\""));
        let clicked = client.interact("click", json!({"ref": reference})).await;
        assert_eq!(clicked["element"]["name"], name, "{clicked}");
        site.reported("clicked", json!(id)).await;
        references.push(reference);
    }
    assert_eq!(site.reports("clicked").len(), 3, "{:?}", site.reports("clicked"));
    let documents: Vec<_> = references.iter().map(|it| it.split('e').next()).collect();
    let [inner, middle, outer] = documents[..] else { panic!("{documents:?}") };
    assert!(inner != middle && middle != outer && outer != inner, "{references:?}");
    for name in ["Inner text", "Middle text"] {
        let reference = reference_in(&shown, &format!("textbox \"{name}\""));
        let text = format!("into {name}");
        client.interact("type", json!({"ref": reference, "text": text})).await;
        site.reported("typed", json!(text)).await;
    }
}

#[tokio::test]
async fn shadow_roots_open_and_closed_are_read_and_driven() {
    let stage = &Stage::at("/shadow.html").await;
    let shown = stage.client.snapshot().await;
    for name in ["Open", "Nested", "Closed", "Declared"] {
        let reference = reference_in(&shown, &format!("button \"{name}\""));
        stage.client.interact("click", json!({"ref": reference})).await;
        assert_eq!(stage.seen().await, [format!("click {name}")], "{shown}");
    }
    for name in ["Open", "Nested", "Closed"] {
        let reference = reference_in(&shown, &format!("textbox \"{name} text\""));
        stage.client.interact("type", json!({"ref": reference, "text": "x"})).await;
        let seen = stage.seen().await;
        assert_eq!(seen.last().unwrap(), &format!("{name} text x"), "{seen:?}");
    }
}
