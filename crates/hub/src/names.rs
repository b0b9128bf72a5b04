//! Readable names for sessions: `chrome-work`, `viewer`, `viewer-2`.

use std::collections::{BTreeSet, HashMap};

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

/// Writes a number behind a name, which is cut where both are too long.
pub fn numbered(name: &str, number: usize) -> String {
    let suffix = format!("-{number}");
    let stem = &name[..name.len().min(LONGEST - suffix.len())];
    format!("{}{suffix}", stem.trim_end_matches('-'))
}

/// Numbers that stand behind equal names. Finding a free one looks at few, however many are taken.
#[derive(Default)]
pub struct Numbers(HashMap<String, Given>);

/// The numbers of one name.
struct Given {
    /// All from here on were not given yet.
    next: usize,
    /// What was given and came back.
    returned: BTreeSet<usize>,
}

impl Numbers {
    /// Returns the name with the first number behind it that nobody has.
    pub fn name(&mut self, wanted: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let fresh = || Given { next: 2, returned: BTreeSet::new() };
        let given = self.0.entry(key(wanted).to_owned()).or_insert_with(fresh);
        loop {
            let number = given.returned.pop_first().unwrap_or_else(|| {
                given.next += 1;
                given.next - 1
            });
            let name = numbered(wanted, number);
            if !is_taken(&name) {
                return name;
            }
        }
    }

    /// Takes back the number of a name that is gone; with `names` left, it remembers no more than
    /// as many need.
    pub fn give_back(&mut self, name: &str, names: usize) {
        // What is forgotten is found again by looking from the beginning.
        if self.0.len() > names + FORGOTTEN_LATER {
            self.0.clear();
        }
        let Some((stem, number)) = name.rsplit_once('-') else { return };
        if let Ok(number) = number.parse()
            && let Some(given) = self.0.get_mut(key(stem))
            && (2..given.next).contains(&number)
        {
            given.returned.insert(number);
        }
    }
}

/// Names that are remembered beyond those in use, so that forgetting is rare.
const FORGOTTEN_LATER: usize = 64;

/// Returns what a name and the same name with a number, which may be cut, have in common.
fn key(name: &str) -> &str {
    name[..name.len().min(LONGEST - "-99999".len())].trim_end_matches('-')
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::HashSet};

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

    /// Names, the numbers behind them, and how many names were looked at.
    #[derive(Default)]
    struct Taken {
        names: HashSet<String>,
        numbers: Numbers,
        looks: Cell<usize>,
    }

    impl Taken {
        fn add(&mut self, wanted: &str) -> String {
            let is_taken = |name: &str| {
                self.looks.set(self.looks.get() + 1);
                self.names.contains(name)
            };
            let name = match is_taken(wanted) {
                false => wanted.to_owned(),
                true => self.numbers.name(wanted, is_taken),
            };
            assert!(name.len() <= LONGEST && self.names.insert(name.clone()), "{name}");
            name
        }

        fn remove(&mut self, name: &str) {
            assert!(self.names.remove(name));
            self.numbers.give_back(name, self.names.len());
        }
    }

    #[test]
    fn collisions_get_the_first_free_number() {
        let mut taken = Taken::default();
        for expected in ["viewer", "viewer-2", "viewer-3", "viewer-4"] {
            assert_eq!(taken.add("viewer"), expected);
        }
        taken.remove("viewer-3");
        taken.remove("viewer-2");
        for expected in ["viewer-2", "viewer-3", "viewer-5"] {
            assert_eq!(taken.add("viewer"), expected);
        }
        let long = "a".repeat(LONGEST);
        taken.add(&long);
        assert_eq!(taken.add(&long), format!("{}-2", "a".repeat(30)));
        taken.remove(&format!("{}-2", "a".repeat(30)));
        assert_eq!(taken.add(&long), format!("{}-2", "a".repeat(30)), "a cut name comes back too");
    }

    #[test]
    fn many_names_are_few_looks_whatever_they_are() {
        const MANY: usize = 10_000;
        let long = "long-name-".repeat(4)[..LONGEST].to_owned();
        let ways: [&dyn Fn(usize) -> String; 4] = [
            &|_| "viewer".to_owned(),
            &|_| long.clone(),
            &|number| format!("{}{}", &long[..28], number % 10),
            &|number| if number % 2 == 0 { "peer".to_owned() } else { format!("peer-{number}") },
        ];
        for way in ways {
            let mut taken = Taken::default();
            let names: Vec<_> = (0..MANY).map(|number| taken.add(&way(number))).collect();
            assert!(taken.looks.get() <= 4 * MANY, "{} for {}", taken.looks.get(), way(1));
            // Those that come and go cost no more.
            taken.looks.set(0);
            for (number, name) in names.iter().enumerate() {
                taken.remove(name);
                taken.add(&way(number));
            }
            assert!(taken.looks.get() <= 4 * MANY, "{} for {}", taken.looks.get(), way(1));
        }
    }

    #[test]
    fn names_that_nobody_has_any_more_are_forgotten() {
        let mut taken = Taken::default();
        for number in 0..1000 {
            let wanted = format!("peer{number}x");
            let names = [taken.add(&wanted), taken.add(&wanted)];
            names.iter().for_each(|name| taken.remove(name));
        }
        assert!(taken.numbers.0.len() <= FORGOTTEN_LATER + 2, "{}", taken.numbers.0.len());
    }
}
