//! Journeys in a real browser with the extension, through MCP: what an AI client does, and what the
//! page says happened.
//!
//! Each test has a hub and a browser for itself, which the hub has started ([`stage`],
//! [`processes`]); most borrow them from tests before ([`pool`]).
//! The pages are in `pages/`; those with `kit.js` keep a log of what they see.
//!
//! - getting around: [`tabs`], [`navigation`], [`loading`], [`waiting`];
//! - doing: [`mouse`], [`dragging`], [`keyboard`], [`forms`], [`filling`], [`files`], [`batches`];
//! - reading: [`snapshots`], [`fitting`], [`frames`], [`contents`], [`pictures`], [`labels`],
//!   [`scripts`], [`console`];
//! - requests and what pages keep: [`network`], [`mocks`], [`cookies`];
//! - pages as they are elsewhere, and what they cost: [`emulation`], [`emulation_scope`], [`printing`],
//!   [`timings`];
//! - what comes of it: [`signals`], [`effects`], [`openings`], [`dialogs`], [`downloads`];
//! - what must not happen: [`references`], [`refusals`], [`restricted`], [`heavy`], [`hostile`],
//!   [`read_only`], [`denied`];
//! - many at once, and deaths: [`crowd`], [`deaths`];
//! - the example apps on the SDK, and tools that pages declare: [`examples`], [`page_tools`];
//! - the 3D viewer: [`viewer`], [`viewer_tools`] with [`viewer_cases`], [`viewer_pixels`],
//!   [`viewer_crowd`], [`viewer_rest`], with its pictures read by [`painting`];
//! - `tabwire demo`: [`demo`];
//! - all together: [`tasks`].

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod batches;
mod console;
mod contents;
mod cookies;
mod crowd;
mod deaths;
mod demo;
mod denied;
mod dialogs;
mod downloads;
mod dragging;
mod effects;
mod emulation;
mod emulation_scope;
mod examples;
mod files;
mod filling;
mod fitting;
mod forms;
mod frames;
mod heavy;
mod hostile;
mod keyboard;
mod labels;
mod loading;
mod mocks;
mod mouse;
mod navigation;
mod network;
mod openings;
mod page_tools;
mod painting;
mod pictures;
mod pool;
mod printing;
mod processes;
mod read_only;
mod references;
mod refusals;
mod restricted;
mod scripts;
mod signals;
mod snapshots;
mod stage;
mod tabs;
mod tasks;
mod timings;
mod viewer;
mod viewer_cases;
mod viewer_crowd;
mod viewer_pixels;
mod viewer_rest;
mod viewer_tools;
mod waiting;
