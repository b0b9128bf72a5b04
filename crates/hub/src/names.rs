//! Readable names for sessions: `chrome-work`, `viewer`, `viewer-2`.

/// Longest name.
pub const LONGEST: usize = 32;

/// Reduces what a peer calls itself to `[a-z0-9-]{1,32}`; `fallback` where nothing is left.
pub fn reduce(wanted: Option<&str>, fallback: &str) -> String {
    let mut name = String::new();
    for letter in wanted.unwrap_or_default().chars() {
        match letter.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9') => name.push(letter),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
        if name.len() == LONGEST {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { fallback.to_owned() } else { name.to_owned() }
}

/// Returns the name, or the name with the first free number behind it.
pub fn free(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let numbered = |number: usize| {
        let suffix = format!("-{number}");
        let stem = &name[..name.len().min(LONGEST - suffix.len())];
        format!("{}{suffix}", stem.trim_end_matches('-'))
    };
    (2..).map(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wanted: &str, expected: &str) {
        assert_eq!(reduce(Some(wanted), "app"), expected, "{wanted:?}");
    }

    #[test]
    fn names_are_reduced_to_plain_letters() {
        check("Viewer", "viewer");
        check("Chrome — Work (2)", "chrome-work-2");
        check("  --x--  ", "x");
        check("日本語", "app");
        check("", "app");
        check(&"long name ".repeat(9), "long-name-long-name-long-name-lo");
        assert_eq!(reduce(None, "browser"), "browser");
    }

    #[test]
    fn collisions_get_a_number() {
        let mut taken = std::collections::HashSet::new();
        for expected in ["viewer", "viewer-2", "viewer-3"] {
            let name = free("viewer", |name| taken.contains(name));
            assert_eq!(name, expected);
            taken.insert(name);
        }
        let long = "a".repeat(LONGEST);
        taken.insert(long.clone());
        assert_eq!(free(&long, |name| taken.contains(name)), format!("{}-2", "a".repeat(30)));
    }
}
