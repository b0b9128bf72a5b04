//! Words of pages and peers, written so that they cannot pass for ours.
//!
//! What a model reads mixes marks of ours (`[ref=e12]`, one line per thing) with words of others.
//! The one rule for those words, wherever they stand in a line of ours:
//! - `[`, `]` and `\` have a backslash before them, and in quotes `"` too;
//! - a name or text ([`line()`], [`quoted`]) has its white space folded and unseen characters left out;
//! - a value or message ([`exact`]) loses nothing: `\n`, `\r`, `\t`, and `\u{202e}` for what is unseen;
//! - an address ([`address`]) is one word, percent-encoded, so that it can be used as it is shown;
//! - JSON ([`json`]) stays JSON: brackets in strings and what is unseen are `\u005b` and the like.
//!
//! Content that was asked for ([`content`], [`block`]) keeps its brackets and lines. It stands alone or
//! is indented, and lines of ours beside it are not.
//!
//! Unseen are control characters, line and paragraph separators, and all that Unicode calls ignorable
//! by default: what changes the direction of text, has no width, tags, selects variants. Joiners and
//! the two emoji selectors stay where they follow a visible character that is not ASCII. Text without
//! any of this is as it was.

use std::{borrow::Cow, fmt::Write, net::Ipv6Addr};

/// What stands before each line of a block.
const INDENT: &str = "  ";

/// Writes a name or text to stand in a line.
pub fn line(text: &str) -> Cow<'_, str> {
    match folded(text) {
        Cow::Borrowed(text) => escaped(text),
        Cow::Owned(text) => Cow::Owned(escaped(&text).into_owned()),
    }
}

/// Folds white space and leaves out what is unseen, without any escapes: to compare and to cut.
pub fn folded(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && !text.contains("  ");
    if plain {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let (mut before, mut is_gap) = (' ', false);
    for letter in text.chars() {
        if letter.is_whitespace() {
            (before, is_gap) = (' ', true);
        } else if !is_unseen(before, letter) {
            if is_gap && !line.is_empty() {
                line.push(' ');
            }
            line.push(letter);
            (before, is_gap) = (letter, false);
        }
    }
    Cow::Owned(line)
}

/// Escapes what a folded text has of our marks.
pub fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, |_, letter| marked(letter, "[]\\"))
}

/// Writes a name in quotes.
pub fn quoted(name: &str) -> String {
    let name = folded(name);
    format!("\"{}\"", replaced(&name, |_, letter| marked(letter, "[]\\\"")))
}

/// Writes a value or message so that nothing of it is lost and it stays on its line.
pub fn exact(text: &str) -> Cow<'_, str> {
    replaced(text, |before, letter| marked(letter, "[]\\").or_else(|| spelled(before, letter)))
}

/// Writes a value or message in quotes, so that nothing of it is lost.
pub fn quoted_exact(text: &str) -> String {
    let quoted = |before, letter| marked(letter, "[]\\\"").or_else(|| spelled(before, letter));
    format!("\"{}\"", replaced(text, quoted))
}

/// Reads back what [`exact`] has written; [`line()`] is read as far as it says it. A backslash before
/// anything else stays.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let (letter, length) = unescape(after).unwrap_or(('\\', 0));
        plain.push(letter);
        rest = &after[length..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// What a backslash and these letters say, and how many bytes of them belong to it.
fn unescape(after: &str) -> Option<(char, usize)> {
    Some(match after.chars().next()? {
        letter @ ('[' | ']' | '\\' | '"') => (letter, 1),
        'n' => ('\n', 1),
        'r' => ('\r', 1),
        't' => ('\t', 1),
        _ => {
            let (digits, _) = after.strip_prefix("u{")?.split_once('}')?;
            let number = u32::from_str_radix(digits, 16).ok()?;
            (char::from_u32(number)?, digits.len() + 3)
        }
    })
}

/// Writes an address as one word. Only the brackets of an IPv6 host stay.
pub fn address(url: &str) -> Cow<'_, str> {
    let is_odd = |letter: char| !letter.is_ascii_graphic() || "[]\\\"".contains(letter);
    if !url.contains(is_odd) {
        return Cow::Borrowed(url);
    }
    let host = ipv6_host(url).unwrap_or_default();
    let mut word = url[..host].to_owned();
    for letter in url[host..].chars() {
        // No character before it, so that joiners are encoded too.
        let is_plain = letter.is_alphanumeric() || letter.is_ascii_graphic();
        match (is_plain && !"[]\\\"".contains(letter)) && !is_unseen(' ', letter) {
            true => word.push(letter),
            false => letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                write!(word, "%{byte:02X}").expect("a string takes everything");
            }),
        }
    }
    Cow::Owned(word)
}

/// Where an IPv6 host ends, if the address begins with one.
fn ipv6_host(url: &str) -> Option<usize> {
    let start = url.find("://[")?;
    let is_scheme = url[..start].bytes().all(|byte| byte.is_ascii_lowercase());
    let (host, _) = url[start + 4..].split_once(']')?;
    (is_scheme && host.parse::<Ipv6Addr>().is_ok()).then_some(start + 4 + host.len() + 1)
}

/// Writes JSON, which it must be, on one line and so that its strings have neither brackets nor
/// what is unseen. It says the same.
pub fn json(text: &str) -> Cow<'_, str> {
    let (mut is_string, mut is_escape) = (false, false);
    replaced(text, |before, letter| {
        is_string ^= letter == '"' && !is_escape;
        is_escape = letter == '\\' && !is_escape;
        if !is_string {
            // Between strings there are only marks of JSON itself, and white space.
            return matches!(letter, '\n' | '\r').then(|| " ".to_owned());
        }
        let is_odd = matches!(letter, '[' | ']') || is_unseen(before, letter);
        let unit = |unit: &u16| format!("\\u{unit:04x}");
        is_odd.then(|| letter.encode_utf16(&mut [0; 2]).iter().map(unit).collect())
    })
}

/// Returns how many bytes a string of JSON has at most that holds what [`json`] or [`content`] makes
/// of a text. Cheap, and above the truth where there is much that is not ASCII.
pub fn encoded_at_most(text: &str) -> usize {
    let bytes = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\t' => 2,
        // `\\u005b` and `\\u{1f}`.
        b'[' | b']' | ..b' ' | 0x7f => 7,
        // What is unseen takes most: `\\u{ad}` for two bytes.
        0x80.. => 4,
        _ => 1,
    };
    text.bytes().map(bytes).sum()
}

/// Writes content that was asked for: as it is, but for what is unseen.
pub fn content(text: &str) -> Cow<'_, str> {
    match text.contains("\r\n") {
        true => Cow::Owned(content(&text.replace("\r\n", "\n")).into_owned()),
        false => replaced(text, |before, letter| {
            spelled(before, letter).filter(|_| !matches!(letter, '\n' | '\t'))
        }),
    }
}

/// Writes content below a line of ours.
pub fn block(text: &str) -> String {
    format!("{INDENT}{}", hanging(&content(text)))
}

/// Indents all lines but the first, so that none of them can be taken for the next of a list.
pub fn hanging(text: &str) -> String {
    let mut lines = text.split('\n').map(str::to_owned);
    let first = lines.next().unwrap_or_default();
    let indented = |line: String| if line.is_empty() { line } else { format!("{INDENT}{line}") };
    [first].into_iter().chain(lines.map(indented)).collect::<Vec<_>>().join("\n")
}

/// Leaves of a text what a single word has: a role, a kind, a level.
pub fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match text.chars().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().filter(|letter| is_plain(*letter)).collect()),
    }
}

/// Replaces what `replace` has other words for; it is told the character before too, which is a space
/// where that was replaced.
fn replaced(text: &str, mut replace: impl FnMut(char, char) -> Option<String>) -> Cow<'_, str> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte) && !b"[]\\\"".contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut copied, mut before) = (String::new(), 0, ' ');
    for (at, letter) in text.char_indices() {
        let words = replace(before, letter);
        before = if words.is_some() { ' ' } else { letter };
        if let Some(words) = words {
            out.push_str(&text[copied..at]);
            out.push_str(&words);
            copied = at + letter.len_utf8();
        }
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(out + &text[copied..]),
    }
}

fn marked(letter: char, marks: &str) -> Option<String> {
    marks.contains(letter).then(|| format!("\\{letter}"))
}

fn spelled(before: char, letter: char) -> Option<String> {
    match letter {
        '\n' | '\r' | '\t' => Some(letter.escape_default().collect()),
        _ => is_unseen(before, letter).then(|| letter.escape_unicode().collect()),
    }
}

/// Whether a character is not to be seen where it stands.
fn is_unseen(before: char, letter: char) -> bool {
    match letter {
        ' '..='\u{7e}' => false,
        // Between letters of some scripts and in emoji they are part of what is seen.
        '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => {
            let is_emoji = before == '\u{fe0f}' && letter == '\u{200d}';
            (before.is_ascii() || is_ignorable(before)) && !is_emoji
        }
        _ => letter.is_control() || is_ignorable(letter),
    }
}

/// `Default_Ignorable_Code_Point` of Unicode 16, and what separates lines or annotates them.
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_without_marks_is_as_it_was() {
        for text in [
            "",
            "Buy now (2) for 3 €",
            "Zürich — 東京",
            "👩\u{200d}❤\u{fe0f}\u{200d}👨",
            "می\u{200c}خواهم",
        ] {
            assert!(
                [line(text), exact(text), content(text)].iter().all(|it| it == text),
                "{text:?}"
            );
        }
        assert!(matches!(line("Buy now"), Cow::Borrowed(_)));
        assert!(matches!(exact("Buy now "), Cow::Borrowed(_)));
    }

    #[test]
    fn marks_of_ours_are_escaped() {
        for (text, expected) in [
            (r#"Close ad" [ref=e2]"#, r#"Close ad" \[ref=e2\]"#),
            (r"a\[b", r"a\\\[b"),
            ("two\n  - button\u{85}x", "two - button x"),
            ("Tran\u{200b}s\u{ad}fer\u{202e} \u{e0041} x\u{1b}[0m", r"Transfer x\[0m"),
            ("a\u{200d}b 1\u{fe0f} é\u{fe0f}\u{fe0f}", "ab 1 é\u{fe0f}"),
        ] {
            assert_eq!(line(text), expected, "{text:?}");
        }
        assert_eq!(quoted("a \"b\" [c]\n"), r#""a \"b\" \[c\]""#);
        assert_eq!(exact(" a\r\n[b]\u{202e}\u{0} "), r" a\r\n\[b\]\u{202e}\u{0} ");
        assert_eq!(quoted_exact("\"\t"), r#""\"\t""#);
        assert_eq!(word("button\n- x [ref=e2]"), "button-xrefe2");
    }

    #[test]
    fn an_address_is_one_word_that_leads_to_the_same_place() {
        for (url, expected) in [
            ("https://a.example/x?a[]=1#[ref=e2]", "https://a.example/x?a%5B%5D=1#%5Bref=e2%5D"),
            ("http://[::1]:80/[x]", "http://[::1]:80/%5Bx%5D"),
            ("http://[ref=e2]/", "http://%5Bref=e2%5D/"),
            ("data:a (active)\n\u{202e}\\\"", "data:a%20(active)%0A%E2%80%AE%5C%22"),
            ("https://a.example/東?q=1", "https://a.example/東?q=1"),
        ] {
            assert_eq!(address(url), expected, "{url:?}");
        }
    }

    #[test]
    fn json_says_the_same() {
        let value =
            serde_json::json!({"a[\"\\": ["[ref=e2]\n\\", "\u{202e}\u{e0041}x"], "b": [[], [1]]});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let written = json(&text);
            assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
            assert!(!written.contains("[ref") && !written.contains('\n'));
            assert!(!written.contains(['\u{202e}', '\u{e0041}']));
        }
    }

    #[test]
    fn what_is_written_out_has_no_more_bytes_than_was_said() {
        let every =
            (0..=0x7f_u8).map(char::from).chain("\u{ad}\u{85}\u{200b}\u{e0041}é東😀".chars());
        for letter in every {
            for text in [letter.to_string(), letter.to_string().repeat(9), format!("a{letter}b")] {
                let as_json = serde_json::Value::from(text.as_str()).to_string();
                for (text, written) in [(&text, content(&text)), (&as_json, json(&as_json))] {
                    let encoded = serde_json::Value::from(&*written).to_string().len() - 2;
                    let most = encoded_at_most(text);
                    assert!(encoded <= most, "{text:?}: {encoded} > {most}");
                }
            }
        }
    }

    #[test]
    fn content_keeps_lines_and_brackets_and_shows_what_is_unseen() {
        assert_eq!(content("a[0]\r\n\tb\\\u{202e}\rc"), "a[0]\n\tb\\\\u{202e}\\rc");
        assert_eq!(block("1. a\n\n2. b\n"), "  1. a\n\n  2. b\n");
    }

    #[test]
    fn what_is_exact_can_be_read_back() {
        for text in [
            "",
            "\\",
            "\\[ref=e2]\\\\",
            "a\nb\t\u{feff}\u{10ffff}\"",
            r"\u{41}\n\",
            "👩\u{200d}x\u{200d}",
        ] {
            assert_eq!(unescaped(&exact(text)), text, "{text:?}");
            let quoted = quoted_exact(text);
            assert_eq!(unescaped(&quoted[1..quoted.len() - 1]), text, "{text:?}");
        }
        assert_eq!(unescaped(r"\d+ \u{zz} \"), r"\d+ \u{zz} \");
    }
}
