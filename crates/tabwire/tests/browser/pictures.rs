//! Screenshots: of what is seen, of everything, of an element; as small as wanted, and of tabs in
//! the background as often as wanted. Sizes are read out of the pictures themselves.

use serde_json::{Value, json};

use crate::stage::{Driver, Stage, with};

/// A picture as it arrived.
pub struct Picture {
    pub mime: String,
    pub bytes: Vec<u8>,
    pub size: (u32, u32),
    /// What was said about it.
    pub told: Value,
}

/// Takes a screenshot, and checks that what is said about it is so.
pub async fn take(client: &Driver, how: Value) -> Picture {
    let args = with(json!({"action": "screenshot"}), how);
    let result = client.works("browser_content", args.clone()).await;
    let content = result["content"].as_array().unwrap();
    let image = content.iter().find(|part| part["type"] == "image");
    let image = image.unwrap_or_else(|| panic!("{args}: no picture in {result}"));
    let bytes = decode(image["data"].as_str().unwrap());
    let mime = image["mimeType"].as_str().unwrap().to_owned();
    let size = size(&mime, &bytes).unwrap_or_else(|| panic!("{args}: no {mime}"));
    let told = result["structuredContent"].clone();
    let said = (told["width"].as_u64(), told["height"].as_u64());
    assert_eq!(said, (Some(size.0.into()), Some(size.1.into())), "{args}: {told}");
    assert_eq!(told["image"]["bytes"], bytes.len(), "{args}");
    Picture { mime, bytes, size, told }
}

/// Reads base64.
pub fn decode(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for digit in text.bytes().filter(|digit| *digit != b'=') {
        let value = DIGITS.iter().position(|known| *known == digit).unwrap();
        bits = (bits << 6 | value as u32) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}

/// Reads width and height out of a picture; `None` where it is not what it says.
fn size(mime: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    let big = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?).into());
    let little = |at: usize| {
        Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)) & 0x3fff)
    };
    match mime {
        "image/png" if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => Some((big(18)?, big(22)?)),
        "image/jpeg" if bytes.starts_with(&[0xff, 0xd8]) => {
            let mut at = 2;
            while !matches!(bytes.get(at + 1)?, 0xc0..=0xc3) {
                at += 2 + big(at + 2)? as usize;
            }
            Some((big(at + 7)?, big(at + 5)?))
        }
        "image/webp" if bytes.get(8..12)? == b"WEBP" => match bytes.get(12..16)? {
            b"VP8 " => Some((little(26)?, little(28)?)),
            b"VP8L" => {
                let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            b"VP8X" => {
                let part = |at: usize| {
                    let three = bytes.get(at..at + 3)?;
                    Some(u32::from_le_bytes([three[0], three[1], three[2], 0]) + 1)
                };
                Some((part(24)?, part(27)?))
            }
            _ => None,
        },
        _ => None,
    }
}

#[track_caller]
fn near(found: u32, expected: f64) {
    assert!((f64::from(found) - expected).abs() <= 2.0, "{found}, not about {expected}");
}

#[tokio::test]
async fn a_picture_shows_what_is_seen_everything_or_an_element_in_each_format() {
    let stage = &Stage::at("/picture.html").await;
    let client = &stage.client;
    let measured = "((it) => [it.clientWidth, it.clientHeight, it.scrollHeight])\
        (document.documentElement)";
    let page = client.evaluate(measured).await;
    let page: Vec<f64> = page.as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
    let [width, height, whole] = page[..] else { panic!("{page:?}") };
    let loose = json!({"maxBytes": 10_000_000, "maxWidth": 4000});
    assert_eq!(take(client, json!({})).await.mime, "image/jpeg");
    for format in ["png", "jpeg", "webp"] {
        let how = with(loose.clone(), json!({"format": format}));
        let view = take(client, how.clone()).await;
        assert_eq!(view.mime, format!("image/{format}"));
        near(view.size.0, width);
        near(view.size.1, height);
        let full = take(client, with(how.clone(), json!({"fullPage": true}))).await;
        near(full.size.0, width);
        near(full.size.1, whole);
        let element = take(client, with(how, json!({"selector": "#box"}))).await;
        near(element.size.0, 200.0);
        near(element.size.1, 100.0);
    }
    let scrolled = client.evaluate("scrollY").await;
    assert_eq!(scrolled, 0, "taking a picture leaves the page where it was");
}

#[tokio::test]
async fn a_picture_is_as_small_as_it_was_wanted() {
    let stage = &Stage::at("/picture.html").await;
    for format in ["png", "jpeg", "webp"] {
        let small = take(&stage.client, json!({"format": format, "maxWidth": 100})).await;
        assert!(small.size.0 <= 100 && small.size.1 > 10, "{:?}", small.size);
        assert!(small.told["scale"].as_f64().unwrap() < 1.0, "{}", small.told);
        let how = json!({"format": format, "fullPage": true, "maxBytes": 30_000});
        let light = take(&stage.client, how).await;
        assert!(light.bytes.len() <= 30_000, "{format}: {} bytes", light.bytes.len());
    }
    let usual = take(&stage.client, json!({"fullPage": true, "format": "png"})).await;
    assert!(usual.bytes.len() <= 500_000 && usual.size.0 <= 1280, "{:?}", usual.size);
    let rough = take(&stage.client, json!({"format": "jpeg", "quality": 5})).await;
    let fine = take(&stage.client, json!({"format": "jpeg", "quality": 60})).await;
    assert!(rough.bytes.len() < fine.bytes.len());
    let nothing = json!({"action": "screenshot", "selector": "#nothing"});
    stage.client.fails("browser_content", nothing, "ELEMENT_NOT_FOUND").await;
}

#[tokio::test]
async fn a_tab_in_the_background_has_its_picture_taken_again_and_again() {
    let Stage { site, client, .. } = &Stage::start().await;
    let tab = client.new_tab(&site.url("/picture.html")).await;
    client.tab("new", json!({"url": site.url("/tab.html?front"), "active": true})).await;
    let mut before = Vec::new();
    for colour in ["red", "green", "blue", "black", "white", "pink"] {
        let paint = format!("scrollTo(0, 1400); at('box').style.background = '{colour}'");
        client.call("browser_execute", json!({"tab": tab, "expression": paint})).await;
        let how = json!({"tab": tab, "format": "png", "selector": "#box"});
        let picture = take(client, how).await;
        assert_ne!(picture.bytes, before, "the picture is of now: {colour}");
        let view = take(client, json!({"tab": tab, "format": "jpeg"})).await;
        assert!(view.size.0 > 200, "{:?}", view.size);
        before = picture.bytes;
    }
    let list = client.tab("list", json!({})).await;
    let entry = list["tabs"].as_array().unwrap().iter().find(|entry| entry["tab"] == tab).unwrap();
    assert_eq!(entry["active"], false, "it is still in the background");
}
