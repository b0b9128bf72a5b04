//! A change of a text as a few lines that people can judge.
//!
//! Edits are made in one place, so what both texts begin and end with is left out but for two
//! lines. It is for showing only; nothing reads it.

/// How many lines are shown on each side of a change.
const AROUND: usize = 2;
/// A longer line is shown in part.
const WIDEST: usize = 140;
/// How much of a long line is shown on each side of a change.
const BESIDE: usize = 30;

/// Returns the lines that differ, marked with `-` and `+`, and two on each side.
pub fn lines(before: &str, after: &str) -> Vec<String> {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let head = common(old.iter(), new.iter()).min(old.len()).min(new.len());
    let tail = common(old[head..].iter().rev(), new[head..].iter().rev());
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut shown: Vec<_> = old[head.saturating_sub(AROUND)..head]
        .iter()
        .map(|line| format!("  {}", clip(line)))
        .collect();
    match (&old[head..old_end], &new[head..new_end]) {
        ([one], [other]) if one.len().max(other.len()) > WIDEST => {
            let (one, other) = parts(one, other);
            shown.extend([format!("- {one}"), format!("+ {other}")]);
        }
        (gone, come) => {
            shown.extend(gone.iter().map(|line| format!("- {}", clip(line))));
            shown.extend(come.iter().map(|line| format!("+ {}", clip(line))));
        }
    }
    let rest = &old[old_end..(old_end + AROUND).min(old.len())];
    shown.extend(rest.iter().map(|line| format!("  {}", clip(line))));
    shown
}

fn common<T: PartialEq>(one: impl Iterator<Item = T>, other: impl Iterator<Item = T>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

fn clip(line: &str) -> String {
    match line.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Cuts two long lines down to where they differ.
fn parts(one: &str, other: &str) -> (String, String) {
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let head = common(one.iter(), other.iter());
    let tail = common(one[head..].iter().rev(), other[head..].iter().rev());
    let part = |line: &[char]| {
        let (start, end) =
            (head.saturating_sub(BESIDE), (line.len() - tail + BESIDE).min(line.len()));
        let text: String = line[start..end].iter().collect();
        let (before, after) =
            (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
        format!("{before}{text}{after}")
    };
    (part(&one), part(&other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown_with_what_is_around() {
        let shown = lines("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nX\nY\ne\nf\n");
        assert_eq!(shown, ["  b", "  c", "- d", "+ X", "+ Y", "  e", "  f"]);
        assert_eq!(lines("", "a\n"), ["+ a"]);
        assert_eq!(lines("a\nb\n", "a\n"), ["  a", "- b"]);
        assert_eq!(lines("a\na\n", "a\na\na\n"), ["  a", "  a", "+ a"]);
    }

    #[test]
    fn a_long_line_is_shown_where_it_differs() {
        let (before, after) =
            ("x".repeat(500), format!("{}NEW{}", "x".repeat(200), "x".repeat(300)));
        let shown = lines(&before, &after);
        assert_eq!(shown.len(), 2);
        assert!(shown[1].contains("NEW") && shown[1].chars().count() < 90, "{shown:?}");
    }
}
