//! The whole hub from the outside: a real process, peers that speak the protocol, nothing else.
//!
//! - calls: [`load`], [`soak`], [`routing`], [`endings`], [`lanes`], [`tab_owners`];
//! - state: [`state`], [`versions`];
//! - recovery: [`replay`], [`inbox`], [`cuts`], [`takeover`], [`compressed`];
//! - what survives: [`durable_restart`], [`durable_kills`], [`durable_store`], [`recovered_calls`],
//!   [`keyed_calls`], [`crossings`]; and who does not read: [`slow_readers`];
//! - who gets in: [`gates`], [`naming`], [`tokens`], [`pairing`], [`pairing_commands`], [`carried`],
//!   [`app_asking`], [`app_caps`], [`script_rights`], [`viewer_link`];
//! - what nobody should send: [`frames`], [`framing`], [`messages`], [`greed`], [`silence`], [`limits`];
//! - operators: [`commands`], [`terminals`], [`log_secrets`], [`serving`], [`stopping`], [`metrics`],
//!   [`openapi`], [`pages`]; [`install`], [`doctor`];
//! - AI clients, from [`mcp_scene`]: [`mcp_eras`], [`mcp_apps`], [`mcp_changes`], [`mcp_resources`],
//!   [`mcp_results`], [`mcp_prompts`], [`mcp_waiting`], [`mcp_pages`], [`mcp_progress`],
//!   [`mcp_cancelling`], [`mcp_crowd`], [`mcp_binding`], [`mcp_lines`], [`mcp_bodies`], [`mcp_greed`],
//!   [`mcp_unread`], [`mcp_gates`], [`mcp_relay`]; files that they put into pages: [`uploads`];
//! - one hub per machine: [`machine_starts`], [`machine_deaths`], [`machine_frozen`],
//!   [`machine_sleep`], [`machine_status`], [`machine_terms`];
//! - clients of other projects: [`seed_hello3d`], [`seed_hello3d_tools`], [`seed_hello3d_pages`],
//!   [`seed_hello3d_losses`], [`seed_moonsurf`], [`seed_moonsurf_doors`], [`seed_moonsurf_losses`];
//! - extensions of other projects, from [`seed_browsers`]: [`seed_enhanced`], [`seed_enhanced_calls`],
//!   [`seed_enhanced_ends`], [`seed_enhanced_odd`]; [`seed_mcp_browser`], [`seed_mcp_browser_calls`],
//!   [`seed_mcp_browser_console`], [`seed_mcp_browser_replay`], [`seed_mcp_browser_odd`];
//!   [`seed_webmcp`], [`seed_webmcp_tabs`], [`seed_webmcp_crowd`]; all five in [`seed_all`], and the
//!   file by which hubs are found in [`seed_discovery`];
//! - browsers that the hub starts: [`browsers`], [`browser_crossings`];
//! - apps that cannot be changed: [`manifests`];
//! - the house itself: [`rooms`], [`security_doc`].
//!
//! Limits are set short through flags, and conditions are looked at until they hold.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod app_asking;
mod app_caps;
mod browser_crossings;
mod browsers;
mod carried;
mod commands;
mod compressed;
mod crossings;
mod cuts;
mod doctor;
mod durable_kills;
mod durable_restart;
mod durable_store;
mod endings;
mod frames;
mod framing;
mod gates;
mod greed;
mod inbox;
mod install;
mod keyed_calls;
mod lanes;
mod limits;
mod load;
mod log_secrets;
mod machine_deaths;
mod machine_frozen;
mod machine_sleep;
mod machine_starts;
mod machine_status;
mod machine_terms;
mod manifests;
mod mcp_apps;
mod mcp_binding;
mod mcp_bodies;
mod mcp_cancelling;
mod mcp_changes;
mod mcp_crowd;
mod mcp_eras;
mod mcp_gates;
mod mcp_greed;
mod mcp_lines;
mod mcp_pages;
mod mcp_progress;
mod mcp_prompts;
mod mcp_relay;
mod mcp_resources;
mod mcp_results;
mod mcp_scene;
mod mcp_unread;
mod mcp_waiting;
mod messages;
mod metrics;
mod naming;
mod openapi;
mod pages;
mod pairing;
mod pairing_commands;
mod recovered_calls;
mod replay;
mod rooms;
mod routing;
mod scene;
mod script_rights;
mod security_doc;
mod seed_all;
mod seed_browsers;
mod seed_discovery;
mod seed_enhanced;
mod seed_enhanced_calls;
mod seed_enhanced_ends;
mod seed_enhanced_odd;
mod seed_hello3d;
mod seed_hello3d_losses;
mod seed_hello3d_pages;
mod seed_hello3d_tools;
mod seed_mcp_browser;
mod seed_mcp_browser_calls;
mod seed_mcp_browser_console;
mod seed_mcp_browser_odd;
mod seed_mcp_browser_replay;
mod seed_moonsurf;
mod seed_moonsurf_doors;
mod seed_moonsurf_losses;
mod seed_webmcp;
mod seed_webmcp_crowd;
mod seed_webmcp_tabs;
mod serving;
mod silence;
mod slow_readers;
mod soak;
mod state;
mod stopping;
mod tab_owners;
mod takeover;
mod terminals;
mod tokens;
mod uploads;
mod versions;
mod viewer_link;
