//! Cookies and storage of a site.

use std::collections::BTreeMap;

use model::page_text::{self, exact, word};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{CommandResult, counted};

/// A cookie.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    pub name: String,
    /// Its value, or a mask.
    pub value: String,
    /// Where it goes; with a dot for what is below, too.
    pub domain: String,
    pub path: String,
    #[serde(default)]
    pub secure: bool,
    /// Not for scripts.
    #[serde(default)]
    pub http_only: bool,
    /// From which sites it goes along; `unspecified` if it does not say.
    pub same_site: Option<String>,
    /// Unix seconds; none for one that ends with the browser.
    pub expires: Option<f64>,
}

impl Cookie {
    /// Writes it much as a server would.
    fn line(&self) -> String {
        let Self { name, value, domain, path, secure, http_only, same_site, expires } = self;
        let mut parts = vec![format!("{}={}", exact(name), exact(value))];
        parts.push(format!("{}{}", exact(domain), exact(path)));
        parts.extend(secure.then(|| "Secure".to_owned()));
        parts.extend(http_only.then(|| "HttpOnly".to_owned()));
        let same_site = same_site.as_ref().filter(|same_site| *same_site != "unspecified");
        parts.extend(same_site.map(|same_site| format!("SameSite={}", exact(same_site))));
        parts.extend(expires.map(|expires| format!("expires {expires:.0}")));
        parts.join("; ")
    }
}

/// Cookies that were asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CookieList {
    pub cookies: Vec<Cookie>,
    pub left_out: Option<u64>,
}

impl CommandResult for CookieList {
    fn words(&self) -> Option<String> {
        let mut lines: Vec<_> = self.cookies.iter().map(Cookie::line).collect();
        if lines.is_empty() {
            lines.push("no cookie fits".to_owned());
        }
        if let Some(more @ 1..) = self.left_out {
            lines.push(format!("[{more} more are left out; ask for less with name or domain]"));
        }
        Some(lines.join("\n"))
    }
}

/// A cookie that was set.
#[derive(Deserialize, JsonSchema)]
pub struct CookieSet {
    pub cookie: Cookie,
}

impl CommandResult for CookieSet {
    fn words(&self) -> Option<String> {
        Some(format!("set {}", self.cookie.line()))
    }
}

/// Cookies that are gone.
#[derive(Deserialize, JsonSchema)]
pub struct CookiesCleared {
    pub cleared: u64,
    /// What they were called, as many as fit.
    pub names: Vec<String>,
}

impl CommandResult for CookiesCleared {
    fn words(&self) -> Option<String> {
        let Self { cleared, names } = self;
        let colon = if names.is_empty() { "" } else { ": " };
        let names: Vec<_> = names.iter().map(|name| exact(name)).collect();
        Some(format!("{} cleared{colon}{}", counted(*cleared, "cookie"), names.join(", ")))
    }
}

/// What a page keeps in its browser.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Storage {
    pub storage_type: String,
    pub keys: u64,
    pub storage: BTreeMap<String, Value>,
    /// Keys that were too many to be told.
    pub left_out_keys: Option<u64>,
    /// Characters that were too many to be told.
    pub left_out_characters: Option<u64>,
}

impl CommandResult for Storage {
    fn words(&self) -> Option<String> {
        let Self { storage_type, keys, storage, .. } = self;
        let kind = word(storage_type);
        let mut lines = vec![match (storage.is_empty(), keys) {
            (true, 0) => format!("{kind} is empty"),
            (true, keys) => format!("{kind} has no such key; it has {}", counted(*keys, "key")),
            (false, keys) => {
                format!("{kind}, {} of {}:", storage.len(), counted(*keys, "key"))
            }
        }];
        lines.extend(storage.iter().map(|(name, value)| entry(name, value)));
        let keys = self.left_out_keys.unwrap_or_default();
        let characters = self.left_out_characters.unwrap_or_default();
        if keys + characters > 0 {
            lines.push(format!(
                "[{} and {characters} characters are left out; ask for one with name]",
                counted(keys, "key")
            ));
        }
        Some(lines.join("\n"))
    }
}

/// `name: value`, whatever the value is.
pub(super) fn entry(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{}: {}", exact(name), exact(text)),
        other => format!("{}: {}", exact(name), page_text::json(&other.to_string())),
    }
}

/// A key that was set.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageSet {
    pub storage_type: String,
    pub key: String,
    pub keys: u64,
}

impl CommandResult for StorageSet {
    fn words(&self) -> Option<String> {
        let Self { storage_type, key, keys } = self;
        let (key, kind) = (exact(key), word(storage_type));
        Some(format!("{key} is set in {kind}, which has {} now", counted(*keys, "key")))
    }
}

/// A storage that was emptied.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageCleared {
    /// Which, or `all`.
    pub storage_type: String,
    pub cleared: u64,
}

impl CommandResult for StorageCleared {
    fn words(&self) -> Option<String> {
        let kind = match self.storage_type.as_str() {
            "all" => "localStorage and sessionStorage".into(),
            kind => word(kind),
        };
        Some(format!("{} removed from {kind}", counted(self.cleared, "key")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::command_results::said;

    use super::*;

    #[test]
    fn cookies_and_storage_are_readable() {
        let cookie = json!({"name": "a", "value": "b", "domain": "x.example", "path": "/",
            "secure": true, "httpOnly": true, "sameSite": "Lax", "expires": 99});
        let line = "a=b; x.example/; Secure; HttpOnly; SameSite=Lax; expires 99";
        assert_eq!(said::<CookieList>(json!({"cookies": [cookie]})).as_deref(), Some(line));
        assert_eq!(said::<CookieList>(json!([])), None);
        let storage = json!({"storageType": "localStorage", "keys": 2, "storage": {"k": "v"}});
        let lines = "localStorage, 1 of 2 keys:\nk: v";
        assert_eq!(said::<Storage>(storage).as_deref(), Some(lines));
    }
}
