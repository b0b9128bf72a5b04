//! The words of a type: names that stand for numbers, colours or choices, in any spelling.

use serde_json::Number;

use super::{
    source::{ManifestError, Section},
    types::Range,
};

/// Words with what they stand for, in the order of the file.
pub(super) struct Words<T>(Vec<Word<T>>);

struct Word<T> {
    written: String,
    folded: String,
    value: T,
}

impl<T> Words<T> {
    pub fn none() -> Self {
        Self(Vec::new())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, written: &str, value: T) -> Result<(), String> {
        let folded = fold(written);
        if folded.is_empty() {
            return Err(format!("{written:?} is no word"));
        }
        if let Some(known) = self.0.iter().find(|word| word.folded == folded) {
            return Err(format!("{written:?} and {:?} are the same word", known.written));
        }
        self.0.push(Word { written: written.to_owned(), folded, value });
        Ok(())
    }

    /// Returns what a word stands for.
    pub fn find(&self, text: &str) -> Option<&T> {
        let folded = fold(text);
        self.0.iter().find(|word| word.folded == folded).map(|word| &word.value)
    }

    /// Returns the words as they are written.
    pub fn list(&self) -> Vec<&str> {
        self.0.iter().map(|word| word.written.as_str()).collect()
    }
}

impl Words<Number> {
    /// Reads `words`, which stand for numbers of a range.
    pub fn numbers(section: &Section<'_>, range: &Range) -> Result<Self, ManifestError> {
        let mut words = Self::none();
        let Some(table) = section.section("words")? else { return Ok(words) };
        for item in table.items() {
            let number = table.number_of(item)?;
            if !range.holds(&number.value) {
                let message = format!("`{}` must stand for a number{range}", item.key);
                return Err(table.error_at(number.at, message));
            }
            words.add(item.key, number.value).map_err(|why| table.error_at(item.at, why))?;
        }
        Ok(words)
    }
}

impl Words<String> {
    /// Reads `names`, which stand for colours.
    pub fn colours(section: &Section<'_>) -> Result<Self, ManifestError> {
        let mut names = Self::none();
        let Some(table) = section.section("names")? else { return Ok(names) };
        for item in table.items() {
            let hex = table.text_of(item)?;
            if !is_hex(&hex.value) {
                let message =
                    format!("`{}` must be a colour as #rrggbb, not {:?}", item.key, hex.value);
                return Err(table.error_at(hex.at, message));
            }
            let hex = hex.value.to_ascii_lowercase();
            names.add(item.key, hex).map_err(|why| table.error_at(item.at, why))?;
        }
        Ok(names)
    }

    /// Reads `choices`, which stand for themselves.
    pub fn choices(section: &Section<'_>, what: &str) -> Result<Self, ManifestError> {
        let mut choices = Self::none();
        for choice in section.texts("choices")?.unwrap_or_default() {
            let value = choice.value.clone();
            choices.add(&choice.value, value).map_err(|why| section.error_at(choice.at, why))?;
        }
        match choices.is_empty() {
            true => Err(section.error(format!("{what} needs `choices`"))),
            false => Ok(choices),
        }
    }
}

/// Makes spellings equal: "Sea_Foam", "sea-foam" and "seafoam"; "N.W.", "n w" and "nw".
fn fold(text: &str) -> String {
    let kept = |letter: &char| !letter.is_whitespace() && !['-', '_', '.'].contains(letter);
    text.chars().filter(kept).flat_map(char::to_lowercase).collect()
}

/// Returns whether a text is a colour as `#rrggbb`.
pub(super) fn is_hex(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}
