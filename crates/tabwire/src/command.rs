//! One file per command.

pub mod audit;
pub mod browser;
pub mod call;
pub mod demo;
pub mod dialects;
pub mod doctor;
pub mod install;
pub mod native_host;
pub mod open;
pub mod pair;
pub mod serve;
pub mod sessions;
pub mod status;
pub mod stdio;
pub mod stop;
pub mod store;
pub mod tail;
pub mod token;
pub mod uninstall;
pub mod unpair;
pub mod version;
