//! Finds, starts and ends browsers.
//!
//! In reading order:
//! - [`config`]: the settings, and what is known of the machine;
//! - [`find`]: which browsers there are; [`profile`]: the folders they keep their things in;
//! - [`start`]: the flags, and the process; [`native_manifest`]: how its extension finds us;
//!   [`log`]: what it has to say;
//! - [`record`]: what is written down about it; [`process`]: proof that a process is it;
//! - [`running`]: all of them together: started, adopted, counted, ended, cleaned up.
//!
//! It knows no sessions: who connects from a browser is for others to find out. Nothing is ended
//! that is not proven to have been started here.

pub mod config;
pub mod find;
mod folder;
pub mod log;
pub mod native_manifest;
pub mod process;
pub mod profile;
pub mod record;
pub mod running;
pub mod start;
#[cfg(test)]
mod test_place;

pub use config::{Config, Surroundings};
pub use find::Family;
pub use folder::remove as remove_folder;
pub use processes::Unproven;
pub use profile::ProfileInfo;
pub use record::{BrowserRecord, LaunchId};
pub use running::{BrowserInfo, Browsers, Ended, LaunchError, Opening, Wish};
