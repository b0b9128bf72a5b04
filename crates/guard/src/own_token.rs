//! The token of the hub's own user, which the hub makes at its first start.
//!
//! It stands alone in the file `token` of the data folder, readable by its owner only. Whoever can
//! read it is that user: it proves the same principal as the private socket does.

use std::path::{Path, PathBuf};

use model::id::random_text;

use crate::{
    private_file::{self, Unusable},
    tokens::{self, TokenError},
};

/// The file's name in the data folder.
pub const FILE: &str = "token";
/// A longer file is not ours.
const LONGEST: u64 = 1024;
/// Characters of a token that is made: 260 bits.
const LENGTH: usize = 52;

/// Returns where the token of a data folder is.
pub fn path(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Reads the token of a data folder; where there is none, makes one. The folder must be private.
pub fn ensure(data: &Path) -> Result<String, TokenError> {
    if let Some(token) = read(data)? {
        return Ok(token);
    }
    let path = path(data);
    let unreadable = |source| TokenError::Unreadable { path: path.display().to_string(), source };
    // Somebody else may be faster; then that one counts.
    private_file::create(&path, format!("{}\n", random_text(LENGTH)).as_bytes())
        .map_err(unreadable)?;
    read(data)?.ok_or_else(|| unreadable(std::io::ErrorKind::NotFound.into()))
}

fn read(data: &Path) -> Result<Option<String>, TokenError> {
    let path = path(data);
    let shown = path.display().to_string();
    let text = private_file::read(&path, LONGEST).map_err(|error| match error {
        Unusable::NotPrivate => TokenError::NotPrivate(shown.clone()),
        Unusable::Failed(source) => TokenError::Unreadable { path: shown.clone(), source },
    })?;
    let Some(text) = text else { return Ok(None) };
    let token = String::from_utf8_lossy(&text).trim().to_owned();
    match tokens::problem_of(&token) {
        None => Ok(Some(token)),
        Some(problem) => Err(TokenError::BadLine { path: shown, line: 1, problem }),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("tabwire-own-token-{}", random_text(12)));
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn it_is_made_once_and_private() {
        let folder = folder();
        let token = ensure(&folder).unwrap();
        assert_eq!(token.len(), LENGTH);
        assert_eq!(ensure(&folder).unwrap(), token);
        assert_eq!(fs::read_to_string(path(&folder)).unwrap(), format!("{token}\n"));
        assert_eq!(fs::metadata(path(&folder)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn many_that_make_it_at_once_have_the_same() {
        let folder = folder();
        let makers: Vec<_> = (0..8)
            .map(|_| {
                let folder = folder.clone();
                std::thread::spawn(move || ensure(&folder).unwrap())
            })
            .collect();
        let made: Vec<_> = makers.into_iter().map(|maker| maker.join().unwrap()).collect();
        assert!(made.iter().all(|token| *token == made[0]), "{} tokens", made.len());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_is_open_to_others_or_is_no_token_is_refused() {
        let folder = folder();
        ensure(&folder).unwrap();
        fs::set_permissions(path(&folder), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(ensure(&folder), Err(TokenError::NotPrivate(_))));
        fs::set_permissions(path(&folder), fs::Permissions::from_mode(0o600)).unwrap();
        for bad in ["", "short", "two lines that\nare no token", "with spaces in between it"] {
            fs::write(path(&folder), bad).unwrap();
            let refused = ensure(&folder);
            assert!(matches!(refused, Err(TokenError::BadLine { .. })), "{bad:?}: {refused:?}");
        }
        fs::remove_file(path(&folder)).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", path(&folder)).unwrap();
        assert!(matches!(ensure(&folder), Err(TokenError::NotPrivate(_))));
        fs::remove_dir_all(&folder).unwrap();
    }
}
