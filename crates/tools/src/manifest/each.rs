//! `each`: one `[[tool]]` that stands for several, with words put into its texts.

use super::{
    source::{Entry, ManifestError, Section},
    tool::{TOOLS_MOST, is_name},
};

/// Returns the section once for every combination of the words in its `each`.
pub(super) fn variants<'a>(section: &Section<'a>) -> Result<Vec<Section<'a>>, ManifestError> {
    let Some(each) = section.section("each")? else { return Ok(vec![section.clone()]) };
    let mut fills = vec![Vec::new()];
    for item in each.items() {
        if !item.key.starts_with(|letter: char| letter.is_ascii_lowercase()) || !is_name(item.key) {
            let message = format!("`{}` must begin with a lower-case letter", item.key);
            return Err(each.error_at(item.at, message));
        }
        let words = each.texts_of(item)?;
        if words.is_empty() || words.len() * fills.len() > TOOLS_MOST {
            let message = format!("`each` must make 1 to {TOOLS_MOST} tools");
            return Err(each.error_at(item.at, message));
        }
        let with = |fill: &Vec<(String, String)>, word: &Entry<String>| {
            let both =
                [(item.key.to_owned(), word.value.clone()), (raise(item.key), raise(&word.value))];
            fill.iter().cloned().chain(both).collect::<Vec<_>>()
        };
        fills =
            fills.iter().flat_map(|fill| words.iter().map(move |word| with(fill, word))).collect();
    }
    Ok(fills.into_iter().map(|fill| section.filled(fill)).collect())
}

/// Gives a word a capital.
fn raise(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
