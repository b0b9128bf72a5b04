//! How long audit lines are kept, whatever the clock does.

use super::*;
use crate::wall_clock_ms;

const DAY: u64 = 24 * 3600 * 1000;

/// Adds one line for each day, so many days ago.
fn lines_of(store: &EmbeddedStore, days_ago: impl Iterator<Item = u64>) {
    // Half a day off, so that the time the test takes is on no border.
    let now = wall_clock_ms() - DAY / 2;
    for days in days_ago {
        let at_ms = now - days * DAY;
        store.write(vec![StoreWrite::Audit(AuditRecord { at_ms, ..audit("click") })]).unwrap();
    }
    wait_for_sync(store);
}

#[track_caller]
fn check(folder: &Folder, numbers: impl Iterator<Item = u64>) {
    let store = folder.open();
    let kept: Vec<_> = store.audit(0, 100).unwrap().iter().map(|line| line.number).collect();
    assert_eq!(kept, numbers.collect::<Vec<_>>());
}

#[test]
fn lines_are_kept_for_thirty_days() {
    let folder = Folder::new();
    lines_of(&folder.open(), (0..40).rev());
    check(&folder, 11..=40);
}

#[test]
fn a_clock_that_jumps_ahead_costs_no_more_than_a_day() {
    let folder = Folder::new();
    // The clock now shows a month more than when the newest of these was written.
    lines_of(&folder.open(), (30..59).rev());
    check(&folder, 1..=29);
    // The same once a line with the new time stands behind them.
    lines_of(&folder.open(), std::iter::once(0));
    check(&folder, 1..=30);
}

#[test]
fn a_clock_that_goes_back_costs_nothing_and_keeps_nothing_for_ever() {
    let folder = Folder::new();
    lines_of(&folder.open(), (0..20).rev().chain((0..20).rev()));
    // 20 days, back to their start, and the same 20 days again.
    check(&folder, 10..=40);
}

#[test]
fn one_line_with_a_wrong_time_does_not_take_the_others_with_it() {
    for wrong in [0, u64::MAX] {
        let folder = Folder::new();
        let store = folder.open();
        lines_of(&store, (1..20).rev());
        store
            .write(vec![StoreWrite::Audit(AuditRecord { at_ms: wrong, ..audit("click") })])
            .unwrap();
        lines_of(&store, std::iter::once(0));
        drop(store);
        check(&folder, 1..=21);
    }
}
