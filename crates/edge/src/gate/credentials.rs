//! Third gate: a client that must show a token shows a known one.
//!
//! Tokens travel in the `Authorization` header, or with a WebSocket, which lets no page set one, as
//! the subprotocol `bearer.<token>`, percent-encoded; never in an address. A wrong token is refused even where none
//! is needed, so that a typo is noticed.

use std::borrow::Cow;

use axum::http::{HeaderMap, header};
use guard::{Principal, Tokens};
use model::{Code, Fault};
use percent_encoding::percent_decode_str;

use super::{Refused, single};
use crate::naming;

/// Returns whom a token proves; `None` where there is none and none is needed.
pub fn check(
    tokens: &Tokens,
    is_needed: bool,
    token: Option<&str>,
) -> Result<Option<Principal>, Refused> {
    match token {
        Some(token) => {
            let unknown = || Refused { is_guess: true, ..refused("the token is not known") };
            tokens.principal(token).map(Some).ok_or_else(unknown)
        }
        None if is_needed => Err(refused("a token is required")),
        None => Ok(None),
    }
}

/// Returns the token that a request shows.
pub fn shown(headers: &HeaderMap) -> Result<Option<Cow<'_, str>>, Refused> {
    let mut offered = naming::offered(headers).filter_map(|name| name.strip_prefix(naming::BEARER));
    let header = single(headers, &header::AUTHORIZATION)?;
    let token = match (header, offered.next(), offered.next()) {
        (None, None, _) => return Ok(None),
        (Some(value), None, _) => match value.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                Cow::Borrowed(token.trim())
            }
            _ => return Err(refused("only bearer tokens are understood")),
        },
        (None, Some(encoded), None) => match percent_decode_str(encoded).decode_utf8() {
            Ok(token) => token,
            Err(_) => return Err(refused("the token among the subprotocols is no text")),
        },
        _ => return Err(refused("more than one token is shown")),
    };
    Ok(Some(token))
}

fn refused(message: &str) -> Refused {
    let hint = "send `Authorization: Bearer` with the token that `tabwire token` prints";
    Refused::new("credentials", Fault::new(Code::Unauthorized, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "a-token/of=sixteen,letters";

    #[track_caller]
    fn check_shown(headers: &[(&'static str, &str)], expected: Result<Option<&str>, &str>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let found = shown(&map).map_err(|refused| refused.fault.message);
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.as_deref(), expected, "{headers:?}"),
            (Err(found), Err(part)) => assert!(found.contains(part), "{found}"),
            (found, _) => panic!("{headers:?}: {found:?}"),
        }
    }

    #[test]
    fn a_token_is_a_header_or_one_of_the_offered_subprotocols() {
        let protocol = "sec-websocket-protocol";
        let encoded = "tabwire.v1, bearer.a-token%2Fof%3Dsixteen%2Cletters";
        check_shown(&[], Ok(None));
        check_shown(&[("authorization", &format!("Bearer {TOKEN}"))], Ok(Some(TOKEN)));
        check_shown(&[(protocol, encoded)], Ok(Some(TOKEN)));
        check_shown(&[(protocol, "tabwire.v1")], Ok(None));
        check_shown(&[(protocol, "bearer.%FF")], Err("no text"));
        check_shown(&[("authorization", "Basic abc")], Err("bearer"));
        let twice = format!("{encoded}, bearer.abcd");
        check_shown(&[(protocol, &twice)], Err("more than one"));
        check_shown(&[(protocol, encoded), ("authorization", "Bearer x")], Err("more than one"));
    }
}
