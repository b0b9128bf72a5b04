//! `snapshot.v1` as the extension sends it.

use model::{Code, Fault, Json};
use serde::{Deserialize, Deserializer, de};

/// What says that a result is one.
const FORMAT: &str = "snapshot.v1";
/// How our extension begins one.
const BEGINNING: &str = "{\"format\":\"snapshot.v1\",";

/// A page.
#[derive(Debug, Default, Deserialize)]
pub struct Page {
    /// The address of its first document.
    pub url: String,
    /// Its title.
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
        serde_json::from_str(text).map(Some).map_err(|error| {
            Fault::new(
                Code::MalformedReply,
                format!("the browser's snapshot is malformed: {error}"),
            )
        })
    }
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
