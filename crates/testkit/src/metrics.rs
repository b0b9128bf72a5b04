//! Counters as `/metrics` publishes them: the text format, read strictly.

use std::collections::BTreeMap;

/// All samples of one answer, by name and labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    samples: BTreeMap<String, f64>,
    /// Kind of each family, as its `# TYPE` line says.
    pub kinds: BTreeMap<String, String>,
}

impl Metrics {
    /// Reads the text; fails the test on a line that is not what the format allows.
    pub fn parse(text: &str) -> Self {
        let mut metrics = Self { samples: BTreeMap::new(), kinds: BTreeMap::new() };
        let body = text.strip_suffix("# EOF\n").expect("the text ends with # EOF");
        for line in body.lines() {
            match line.strip_prefix("# ") {
                Some(comment) => metrics.read_comment(comment),
                None => metrics.read_sample(line),
            }
        }
        metrics
    }

    /// Returns one sample, such as `tabwire_calls_total{outcome="done"}`; 0 where there is none.
    /// Labels are given in any order, and all of them.
    pub fn get(&self, sample: &str) -> f64 {
        self.samples.get(&normal(sample)).copied().unwrap_or(0.0)
    }

    /// Returns the sum of all samples of one name, whatever their labels.
    pub fn sum(&self, name: &str) -> f64 {
        let of_name = |sample: &str| sample.split('{').next() == Some(name);
        self.samples.iter().filter(|(sample, _)| of_name(sample)).map(|(_, value)| value).sum()
    }

    /// Returns the names of all samples, with their labels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.samples.keys().map(String::as_str)
    }

    fn read_comment(&mut self, comment: &str) {
        let mut words = comment.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some("TYPE"), Some(name), Some(kind)) => {
                let known = ["counter", "gauge", "histogram", "unknown", "info"].contains(&kind);
                assert!(known, "{comment}");
                assert!(self.kinds.insert(name.into(), kind.into()).is_none(), "twice: {comment}");
            }
            (Some("HELP" | "UNIT"), Some(_), Some(_)) => {}
            _ => panic!("not a comment of the format: {comment}"),
        }
    }

    fn read_sample(&mut self, line: &str) {
        let (sample, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        let value: f64 = value.parse().unwrap_or_else(|error| panic!("{line:?}: {error}"));
        let name = sample.split('{').next().unwrap_or_default();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        assert!(!name.is_empty() && name.bytes().all(plain), "{line:?}");
        if let Some(labels) = sample.strip_prefix(name).filter(|labels| !labels.is_empty()) {
            assert!(labels.starts_with('{') && labels.ends_with('}'), "{line:?}");
        }
        let family = self.kinds.keys().any(|family| name.starts_with(family.as_str()));
        assert!(family, "a sample without a TYPE: {line}");
        assert!(self.samples.insert(normal(sample), value).is_none(), "twice: {line}");
    }
}

/// Puts labels into one order. Values with commas in them are not expected here.
fn normal(sample: &str) -> String {
    let Some((name, labels)) = sample.split_once('{') else { return sample.to_owned() };
    let mut labels: Vec<_> = labels.trim_end_matches('}').split(',').collect();
    labels.sort_unstable();
    format!("{name}{{{}}}", labels.join(","))
}
