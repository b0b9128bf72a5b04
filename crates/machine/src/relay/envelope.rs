//! What a relay reads of a line: id and method, and where they stand in it.
//!
//! Everything else is skipped without being kept. A line that is no JSON-RPC message is no
//! message here either; what is wrong with it is the hub's to say.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The id of a request. Others than these are not used in MCP.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Id {
    Number(i64),
    Text(String),
}

/// One line, as far as a relay looks at it.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// Asks for an answer. The method is missing if it is not a text; a hub refuses that by id.
    Request { id: Id, id_text: &'a RawValue, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Tells something.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Answers; without an id it is about a line that had none.
    Answer { id: Option<Id>, id_text: Option<&'a RawValue>, is_error: bool },
    /// Anything else.
    Other,
}

/// Reads a line of a client: strictly, so that what a hub takes for nonsense is none to us either.
pub(super) fn read(line: &[u8]) -> Message<'_> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let Ok(text) = std::str::from_utf8(line) else { return Message::Other };
    let mut head = Head::default();
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Look { head: &mut head, hurry: false }.deserialize(&mut json);
    match read.and_then(|()| json.end()) {
        Ok(()) => head.message(),
        Err(_) => Message::Other,
    }
}

/// Reads a line of a hub, which is ours: it is not looked at further than needed, because
/// answers can be long.
pub(super) fn read_trusted(line: &[u8]) -> Message<'_> {
    let mut head = Head::default();
    let mut json = serde_json::Deserializer::from_slice(line);
    let read = Look { head: &mut head, hurry: true }.deserialize(&mut json);
    if read.is_ok() || head.is_enough() { head.message() } else { Message::Other }
}

/// Returns the line with one part of it replaced.
pub(super) fn replace(line: &[u8], part: &RawValue, with: &str) -> Vec<u8> {
    let at = part.get().as_ptr().addr() - line.as_ptr().addr();
    [&line[..at], with.as_bytes(), &line[at + part.get().len()..]].concat()
}

impl Id {
    /// Returns how it is written.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts are JSON")
    }
}

/// The fields of a message that count. Of several with one name the last does, as for a hub.
#[derive(Default)]
struct Head<'a> {
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: bool,
    error: bool,
}

impl<'a> Head<'a> {
    fn is_enough(&self) -> bool {
        self.id.is_some() && (self.result || self.error)
    }

    fn message(self) -> Message<'a> {
        let id = self.id.and_then(|id| serde_json::from_str::<Id>(id.get()).ok());
        let method = self.method.map(|method| {
            serde_json::from_str::<Text>(method.get()).map(|text| text.0).unwrap_or_default()
        });
        match (method, id, self.id) {
            (Some(method), Some(id), Some(id_text)) => {
                Message::Request { id, id_text, method, params: self.params }
            }
            (Some(method), None, None) if !method.is_empty() => {
                Message::Notification { method, params: self.params }
            }
            (Some(_), _, _) => Message::Other,
            (None, id, id_text) if self.result || self.error => {
                Message::Answer { id, id_text, is_error: self.error }
            }
            // Neither fish nor fowl, but a hub answers it by its id.
            (None, Some(id), Some(id_text)) => {
                Message::Request { id, id_text, method: Cow::Borrowed(""), params: None }
            }
            (None, _, _) => Message::Other,
        }
    }
}

/// A text that is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Fills in a head.
struct Look<'h, 'a> {
    head: &'h mut Head<'a>,
    /// Whether to stop once it is known what is answered.
    hurry: bool,
}

impl<'a> DeserializeSeed<'a> for Look<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Look<'_, 'a> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a message")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<Text>()? {
            match key.0.as_ref() {
                "id" => self.head.id = Some(map.next_value()?),
                "method" => self.head.method = Some(map.next_value()?),
                "params" => self.head.params = Some(map.next_value()?),
                name => {
                    self.head.result |= name == "result";
                    self.head.error |= name == "error";
                    if self.hurry && self.head.is_enough() {
                        return Err(serde::de::Error::custom("enough"));
                    }
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(message: &Message) -> String {
        match message {
            Message::Request { id, method, params, .. } => {
                format!("ask {} {method} {}", id.json(), params.map_or("-", |params| params.get()))
            }
            Message::Notification { method, .. } => format!("tell {method}"),
            Message::Answer { id, is_error, .. } => {
                format!("answer {} {is_error}", id.as_ref().map_or("-".to_owned(), Id::json))
            }
            Message::Other => "other".to_owned(),
        }
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(shown(&read(line.as_bytes())), expected, "{line}");
    }

    #[test]
    fn messages_are_told_apart() {
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "ask 1 ping -");
        check(r#" {"method":"a\u002fb","params":{"id":2},"id":"x"} "#, r#"ask "x" a/b {"id":2}"#);
        check(r#"{"method":"notifications/initialized"}"#, "tell notifications/initialized");
        check(r#"{"id":0,"result":{}}"#, "answer 0 false");
        check(r#"{"id":"a","error":{}}"#, r#"answer "a" true"#);
        check(r#"{"id":null,"error":{}}"#, "answer - true");
        check("\u{feff}{\"id\":1,\"method\":\"ping\"}\r\n", "ask 1 ping -");
    }

    #[test]
    fn what_a_hub_refuses_by_its_id_is_a_request_and_other_nonsense_is_nothing() {
        check(r#"{"id":77}"#, "ask 77  -");
        check(r#"{"id":77,"method":5}"#, "ask 77  -");
        for line in [
            "hello",
            "12",
            "null",
            "[]",
            "{}",
            "",
            "\n",
            r#"{"id":1,"#,
            r#"{"id":1,"method":"x"}}"#,
            r#"{"id":[1],"method":"x"}"#,
            r#"{"id":null,"method":"x"}"#,
            r#"{"id":1.5,"method":"x"}"#,
            r#"{"id":99999999999999999999,"method":"x"}"#,
            r#"[{"id":1,"method":"x"}]"#,
        ] {
            check(line, "other");
        }
        assert!(matches!(read(b"{\"id\":1,\"method\":\"x\",\"params\":\"\xff\"}"), Message::Other));
    }

    #[test]
    fn of_two_with_one_name_the_last_counts() {
        check(r#"{"id":1,"method":"a","id":2,"method":"b"}"#, "ask 2 b -");
    }

    #[test]
    fn a_hubs_answer_is_not_read_to_its_end() {
        let answer = br#"{"jsonrpc":"2.0","id":7,"result":{"long": and so on"#;
        assert_eq!(shown(&read_trusted(answer)), "answer 7 false");
        assert_eq!(shown(&read_trusted(br#"{"result":{},"id":7}"#)), "answer 7 false");
        assert_eq!(
            shown(&read_trusted(br#"{"id":0,"method":"roots/list"}"#)),
            "ask 0 roots/list -"
        );
        assert_eq!(shown(&read_trusted(b"nonsense")), "other");
    }

    #[test]
    fn an_id_is_replaced_where_it_stands() {
        let line = br#"{"params":{"id":1}, "id" : "one" ,"method":"x"}"#;
        let Message::Request { id_text, .. } = read(line) else { panic!() };
        let replaced = replace(line, id_text, "2");
        assert_eq!(replaced, br#"{"params":{"id":1}, "id" : 2 ,"method":"x"}"#);
    }
}
