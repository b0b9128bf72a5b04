//! Pictures down to their pixels: PNGs as Chromium writes them, and what can be said of colours.
//!
//! Reads 8 bits per channel, not interlaced, with or without transparency; nothing else is
//! written by a canvas or a screenshot.

use std::io::Read;

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::ZlibDecoder;
use serde_json::Value;

/// Red, green and blue, 0 to 255.
pub type Colour = [f64; 3];

/// A picture in memory, row by row.
pub struct Painting {
    pub width: usize,
    pub height: usize,
    pixels: Vec<Colour>,
}

impl Painting {
    /// Takes the picture out of the result of a tool.
    #[track_caller]
    pub fn of(result: &Value) -> Self {
        let parts = result["content"].as_array().unwrap();
        let image = parts.iter().find(|part| part["type"] == "image");
        let image = image.unwrap_or_else(|| panic!("no picture in {result}"));
        assert_eq!(image["mimeType"], "image/png");
        Self::read(&STANDARD.decode(image["data"].as_str().unwrap()).unwrap())
    }

    /// Reads a PNG.
    #[track_caller]
    pub fn read(bytes: &[u8]) -> Self {
        assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"), "no PNG");
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (width, height) = (number(16), number(20));
        let channels = match bytes[24..29] {
            [8, 2, 0, 0, 0] => 3,
            [8, 6, 0, 0, 0] => 4,
            ref other => panic!("a PNG of another kind: {other:?}"),
        };
        let (mut at, mut packed) = (8, Vec::new());
        while at < bytes.len() {
            let length = number(at);
            if &bytes[at + 4..at + 8] == b"IDAT" {
                packed.extend_from_slice(&bytes[at + 8..at + 8 + length]);
            }
            at += 12 + length;
        }
        let mut raw = Vec::new();
        ZlibDecoder::new(&packed[..]).read_to_end(&mut raw).unwrap();
        let rows = unfilter(&raw, width * channels, channels);
        assert_eq!(rows.len(), width * height * channels);
        let pixels = rows.chunks(channels).map(|it| [it[0], it[1], it[2]].map(f64::from)).collect();
        Self { width, height, pixels }
    }

    /// Returns one pixel.
    pub fn at(&self, x: usize, y: usize) -> Colour {
        self.pixels[y * self.width + x]
    }

    /// Returns the average of the pixels that are wanted.
    #[track_caller]
    pub fn average(&self, mask: &[bool]) -> Colour {
        let wanted = self.pixels.iter().zip(mask).filter(|(_, wanted)| **wanted);
        let wanted: Vec<_> = wanted.map(|(pixel, _)| *pixel).collect();
        assert!(!wanted.is_empty(), "no pixels to look at");
        let sum = |channel: usize| wanted.iter().map(|pixel| pixel[channel]).sum::<f64>();
        [0, 1, 2].map(|channel| sum(channel) / wanted.len() as f64)
    }

    /// Says where two pictures differ: what was painted in another colour.
    pub fn difference(&self, other: &Self) -> Vec<bool> {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let pairs = self.pixels.iter().zip(&other.pixels);
        pairs.map(|(one, other)| distance(*one, *other) > 30.0).collect()
    }
}

/// Takes the prediction out of each row.
fn unfilter(raw: &[u8], row: usize, step: usize) -> Vec<u8> {
    let mut rows: Vec<u8> = Vec::with_capacity(raw.len());
    for line in raw.chunks(row + 1) {
        let begin = rows.len();
        for (index, byte) in line[1..].iter().enumerate() {
            let before = |back: usize| match index >= step && rows.len() >= back {
                true => i32::from(rows[rows.len() - back]),
                false => 0,
            };
            let above = if begin == 0 { 0 } else { i32::from(rows[rows.len() - row]) };
            let left = before(step);
            let corner = if begin == 0 { 0 } else { before(row + step) };
            let guess = match line[0] {
                0 => 0,
                1 => left,
                2 => above,
                3 => (left + above) / 2,
                4 => nearest(left, above, corner),
                other => panic!("a filter {other}"),
            };
            rows.push(byte.wrapping_add(guess as u8));
        }
    }
    rows
}

fn nearest(left: i32, above: i32, corner: i32) -> i32 {
    let guess = left + above - corner;
    let far = |value: i32| (guess - value).abs();
    match (far(left), far(above), far(corner)) {
        (left_far, above_far, far) if left_far <= above_far && left_far <= far => left,
        (_, above_far, far) if above_far <= far => above,
        _ => corner,
    }
}

/// How far apart two colours are.
pub fn distance(one: Colour, other: Colour) -> f64 {
    one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
}

/// How bright a colour is, 0 to 255.
pub fn brightness([red, green, blue]: Colour) -> f64 {
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// The hue of a colour, in degrees.
pub fn hue([red, green, blue]: Colour) -> f64 {
    let angle = (3f64.sqrt() * (green - blue)).atan2(2.0 * red - green - blue).to_degrees();
    angle.rem_euclid(360.0)
}

/// How far two hues are apart, in degrees.
pub fn between(one: f64, other: f64) -> f64 {
    let apart = (one - other).rem_euclid(360.0);
    apart.min(360.0 - apart)
}

/// Reads `#rrggbb`.
pub fn colour(text: &str) -> Colour {
    let number = u32::from_str_radix(text.strip_prefix('#').unwrap(), 16).unwrap();
    [16, 8, 0].map(|shift| f64::from(number >> shift & 0xff))
}

#[test]
fn hues_are_those_of_the_wheel() {
    for (text, expected) in [("#ff0000", 0.0), ("#00ff00", 120.0), ("#0000ff", 240.0)] {
        assert!(between(hue(colour(text)), expected) < 1e-9, "{text}");
    }
    assert!(between(350.0, 10.0) - 20.0 < 1e-9);
}
