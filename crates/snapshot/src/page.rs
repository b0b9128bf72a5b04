//! `snapshot.v1` as the extension sends it.

use std::collections::HashMap;

use model::{Fault, Json};
use serde::{Deserialize, Deserializer, de};

/// What says that a result is one.
const FORMAT: &str = "snapshot.v1";
/// How the flag begins that tells a link's target.
const TARGET: &str = "url=";
/// How our extension begins one.
const BEGINNING: &str = "{\"format\":\"snapshot.v1\",";

/// A page as our extension tells it.
#[derive(Debug, Default, Deserialize)]
pub struct Page {
    /// The address of its first document.
    pub url: String,
    /// The title of its first document.
    #[serde(default)]
    pub title: String,
    /// Its documents: the page's own and those of its frames.
    #[serde(default)]
    pub documents: Vec<Document>,
    /// Everything in it, each before what is in it.
    pub nodes: Vec<Node>,
    /// There is more than what was looked at.
    #[serde(default)]
    pub truncated: bool,
    /// Its first document was still being parsed.
    #[serde(default)]
    pub loading: bool,
}

/// One document of a page.
#[derive(Debug, Deserialize)]
pub struct Document {
    /// Its number in the tab, never used again.
    pub n: u32,
    /// The document it is a frame of.
    #[serde(default)]
    pub parent: Option<u32>,
    /// Its address.
    #[serde(default)]
    pub url: String,
}

/// One thing in a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The number of its document.
    pub doc: u32,
    /// Its number in the document; 0 means that it cannot be referred to.
    pub reference: u32,
    /// How deep it is.
    pub depth: u32,
    /// Its role; `text` for text.
    pub role: String,
    /// Its name.
    pub name: String,
    /// What is in it, for fields.
    pub value: Option<String>,
    /// What else there is to say, in words.
    pub flags: Vec<String>,
}

impl Page {
    /// Reads a result; `None` means that it is something else.
    pub fn read(result: &Json) -> Result<Option<Self>, Fault> {
        #[derive(Deserialize)]
        struct Head {
            format: Option<String>,
        }
        let text = result.as_str();
        // The extension says it first, so that a large page is not read twice.
        if !text.starts_with(BEGINNING) {
            let head = serde_json::from_str::<Head>(text).ok();
            if head.and_then(|head| head.format).as_deref() != Some(FORMAT) {
                return Ok(None);
            }
        }
        let mut page: Self = serde_json::from_str(text)
            .map_err(|error| Fault::malformed("the browser's snapshot", error))?;
        page.shorten_targets();
        Ok(Some(page))
    }

    /// Says link targets as seen from their document: what they have in common is known.
    fn shorten_targets(&mut self) {
        let Self { documents, nodes, url, .. } = self;
        let homes: HashMap<u32, &str> =
            documents.iter().map(|document| (document.n, document.url.as_str())).collect();
        for node in nodes {
            let home = homes.get(&node.doc).copied().unwrap_or(url);
            for flag in node.flags.iter_mut().filter(|flag| flag.starts_with(TARGET)) {
                let short = as_seen_from(home, &flag[TARGET.len()..]).to_owned();
                flag.replace_range(TARGET.len().., &short);
            }
        }
    }
}

/// Leaves out of an address what the document's own has too: all before `#`, or the origin.
fn as_seen_from<'a>(home: &str, target: &'a str) -> &'a str {
    let page = home.split('#').next().unwrap_or_default();
    if let Some(rest) = target.strip_prefix(page).filter(|rest| rest.starts_with('#')) {
        return rest;
    }
    let path = home.find("://").and_then(|at| home[at + 3..].find('/').map(|end| at + 3 + end));
    let rest = path.and_then(|path| target.strip_prefix(&home[..path]));
    rest.filter(|rest| rest.starts_with('/') && !rest.starts_with("//")).unwrap_or(target)
}

impl Node {
    /// Returns how a client refers to it; `None` where it cannot.
    pub fn reference(&self) -> Option<String> {
        match (self.doc, self.reference) {
            (_, 0) => None,
            (1, reference) => Some(format!("e{reference}")),
            (doc, reference) => Some(format!("d{doc}e{reference}")),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> de::Visitor<'de> for Fields {
            type Value = Node;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("[doc, ref, depth, role, name, value?, flags?]")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut all: A) -> Result<Node, A::Error> {
                fn need<'de, T: Deserialize<'de>, A: de::SeqAccess<'de>>(
                    all: &mut A,
                    what: &'static str,
                ) -> Result<T, A::Error> {
                    all.next_element()?.ok_or_else(|| de::Error::missing_field(what))
                }
                let node = Node {
                    doc: need(&mut all, "doc")?,
                    reference: need(&mut all, "ref")?,
                    depth: need(&mut all, "depth")?,
                    role: need(&mut all, "role")?,
                    name: need(&mut all, "name")?,
                    value: all.next_element::<Option<String>>()?.flatten(),
                    flags: all.next_element::<Option<Vec<String>>>()?.flatten().unwrap_or_default(),
                };
                while all.next_element::<de::IgnoredAny>()?.is_some() {}
                Ok(node)
            }
        }
        from.deserialize_seq(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_told_as_seen_from_their_document() {
        let home = "https://a.example/docs/page?x=1#top";
        for (target, seen) in [
            ("https://a.example/docs/page?x=1#end", "#end"),
            ("https://a.example/cart", "/cart"),
            ("https://a.example//odd", "https://a.example//odd"),
            ("https://a.example.evil/", "https://a.example.evil/"),
            ("https://b.example/", "https://b.example/"),
            ("mailto:a@b.example", "mailto:a@b.example"),
        ] {
            assert_eq!(as_seen_from(home, target), seen, "{target}");
        }
        assert_eq!(as_seen_from("about:blank", "https://a.example/"), "https://a.example/");
    }
}
