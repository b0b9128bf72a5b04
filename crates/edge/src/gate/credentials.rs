//! Third gate: a client that must show a token shows a known one.
//!
//! Tokens travel in the `Authorization` header only, never in an address. A wrong token is
//! refused even where none is needed, so that a typo is noticed.

use axum::http::{HeaderMap, header};
use guard::{Principal, Tokens};
use model::{Code, Fault};

use super::{Refused, single};

/// Returns whom a request's credentials prove.
pub fn check(tokens: &Tokens, needed: bool, headers: &HeaderMap) -> Result<Principal, Refused> {
    let Some(value) = single(headers, &header::AUTHORIZATION)? else {
        return match needed {
            true => Err(refused("a token is required")),
            false => Ok(Principal::local()),
        };
    };
    let token = match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => return Err(refused("only bearer tokens are understood")),
    };
    tokens.principal(token).ok_or_else(|| refused("the token is not known"))
}

fn refused(message: &str) -> Refused {
    let hint = "send `Authorization: Bearer` with a token from the hub's token file";
    Refused::new("credentials", Fault::new(Code::Unauthorized, message).hint(hint))
}
