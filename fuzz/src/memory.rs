//! What inputs may take of memory: counted by the allocator, so no input is blamed for the engine's
//! own corpus.
//!
//! Beyond [`MOST`] an allocation fails, which ends the process with that input at hand. What stays
//! allocated after an input is compared with what stayed after the first ones.

use std::{
    alloc::System,
    sync::atomic::{AtomicUsize, Ordering},
};

use cap::Cap;

/// Bytes that may be allocated at one time: a few times the largest message.
pub const MOST: usize = 256 << 20;
/// Bytes that may stay allocated beyond what the first inputs have left.
pub const KEPT: usize = 32 << 20;
/// Inputs after which all that is made once has been made.
const FIRST: usize = 1000;

#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, MOST);

/// Checks, after an input, that memory does not grow from input to input.
pub fn check() {
    static INPUTS: AtomicUsize = AtomicUsize::new(0);
    static BEFORE: AtomicUsize = AtomicUsize::new(0);
    let kept = MEMORY.allocated();
    if INPUTS.fetch_add(1, Ordering::Relaxed) < FIRST {
        BEFORE.fetch_max(kept, Ordering::Relaxed);
    } else {
        let before = BEFORE.load(Ordering::Relaxed);
        assert!(kept <= before + KEPT, "inputs keep memory: {before} bytes became {kept}");
    }
}
