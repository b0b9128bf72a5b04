//! Pages that a paired browser connects on their behalf: by what the hub knows them.
//!
//! A page chooses its instance id, so the same one may come from two origins or two browsers, and
//! may be somebody else's. The hub therefore makes another of it, with carrier and origin in it, in
//! a range that nobody else may use. Who may carry is not decided here.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use model::{Carriage, InstanceId};
use sha2::{Digest, Sha256};

/// How the instance ids of carried pages begin.
const PREFIX: &str = "carried:";

/// Returns the instance id of a carried page in the hub.
pub fn instance(Carriage { carrier, origin }: &Carriage, page: &InstanceId) -> InstanceId {
    // None of the three has a line feed in it.
    let digest = Sha256::digest(format!("{carrier}\n{origin}\n{page}"));
    InstanceId::parse(&format!("{PREFIX}{}", BASE64.encode(digest)))
        .expect("base64url is made of what ids are made of")
}

/// Returns whether an instance id is one that only carried pages have.
pub fn is_reserved(instance: &InstanceId) -> bool {
    instance.as_str().starts_with(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(carrier: &str, origin: &str, page: &str) -> InstanceId {
        let id = |text: &str| InstanceId::parse(text).unwrap();
        instance(&Carriage { carrier: id(carrier), origin: origin.to_owned() }, &id(page))
    }

    #[test]
    fn each_carrier_origin_and_page_has_its_own_id_and_keeps_it() {
        let one = of("chrome-1", "https://app.example", "page");
        assert!(is_reserved(&one), "{one}");
        assert_eq!(one, of("chrome-1", "https://app.example", "page"));
        for other in [
            of("chrome-2", "https://app.example", "page"),
            of("chrome-1", "http://app.example", "page"),
            of("chrome-1", "https://app.example:8443", "page"),
            of("chrome-1", "https://app.example", "page-2"),
        ] {
            assert_ne!(one, other);
        }
        assert!(!is_reserved(&InstanceId::parse("carried").unwrap()));
    }
}
