//! What lingers, what does not, and that both keep their order. No clock runs here: the time of a
//! decision is given, and a queue that would wait an hour where it must not never answers.

use model::{
    Epoch, Sequence,
    record::{LogEntry, LogKind},
};

use super::{
    super::changes::{Head, LogId, Placed},
    *,
};
use crate::conformance::{audit, id, position, record};

const HOUR: Duration = Duration::from_secs(3600);

fn queue() -> Queue {
    Queue::new(1 << 20, HOUR, PlaceId(0))
}

fn line(number: u64) -> Change {
    Change::Audit(Arc::new(AuditLine { number, record: audit("click") }))
}

fn seen(sequence: u64) -> Change {
    Change::Received(id("s_1"), position("b_1", sequence))
}

fn head(kind: LogKind) -> Head {
    let epoch = Epoch::parse("e_1").unwrap();
    let (newest, oldest) = (Sequence(1), Sequence(1));
    Head { id: LogId(1), session: id("s_1"), kind, epoch, newest, oldest }
}

fn message(kind: LogKind) -> Change {
    let entry = LogEntry {
        sequence: 1,
        at_ms: 1,
        kind: "event".into(),
        name: "tick".into(),
        level: 0,
        body: "{}".into(),
    };
    Change::Append(head(kind), Placed { place: PlaceId(1), entry: Arc::new(entry) })
}

/// Returns what the queue would do now, and after the time that anything may linger.
fn decisions(queue: &Queue) -> [Next; 2] {
    let (waiting, now) = (queue.waiting.lock(), Instant::now());
    [waiting.next(now), waiting.next(now + HOUR)]
}

#[track_caller]
fn check_lingers(queue: &Queue) {
    let [now, later] = decisions(queue);
    assert!(matches!(now, Next::Wait(Some(_))), "{now:?}");
    assert_eq!(later, Next::Take, "not for longer than its time");
}

#[track_caller]
fn check_taken(queue: &Queue, lines: &[u64], upto: u64) -> Changes {
    assert_eq!(decisions(queue), [Next::Take, Next::Take]);
    let Turn::Write(changes) = queue.take(None) else { panic!("not taken") };
    let numbers: Vec<_> = changes.audit.iter().map(|line| line.number).collect();
    assert_eq!((numbers.as_slice(), changes.upto), (lines, upto));
    assert_eq!(decisions(queue), [Next::Wait(None), Next::Wait(None)], "nothing is left");
    *changes
}

#[test]
fn what_nobody_waits_for_lingers() {
    for change in [line(1), message(LogKind::Feed), Change::Trim(head(LogKind::Feed), vec![])] {
        let queue = queue();
        queue.push(change).unwrap();
        check_lingers(&queue);
        queue.push(line(2)).unwrap();
        check_lingers(&queue);
    }
}

#[test]
fn more_of_it_makes_nothing_wait_longer() {
    let queue = queue();
    queue.push(line(1)).unwrap();
    let until = queue.waiting.lock().linger_until;
    queue.push(line(2)).unwrap();
    assert_eq!(queue.waiting.lock().linger_until, until);
}

#[test]
fn what_somebody_waits_for_is_taken_at_once_with_all_before_it() {
    let urgent = [
        seen(1),
        message(LogKind::ToBrowser),
        Change::Session(Box::new(record("s_1", "viewer"))),
        Change::Open(head(LogKind::Feed)),
    ];
    for change in urgent {
        let queue = queue();
        queue.push(line(1)).unwrap();
        queue.push(change).unwrap();
        queue.push(line(2)).unwrap();
        check_taken(&queue, &[1, 2], 3);
        queue.push(line(3)).unwrap();
        check_lingers(&queue);
    }
}

#[test]
fn who_asks_for_the_number_waits_for_no_time() {
    let queue = queue();
    queue.push(line(1)).unwrap();
    assert_eq!(queue.written(), 1);
    check_taken(&queue, &[1], 1);
}

#[test]
fn a_writer_that_sleeps_is_woken_by_whoever_waits() {
    let queue = Arc::new(queue());
    let writer = std::thread::spawn({
        let queue = queue.clone();
        move || matches!(queue.take(None), Turn::Write(changes) if changes.upto == 2)
    });
    queue.push(line(1)).unwrap();
    queue.push(seen(1)).unwrap();
    assert!(writer.join().unwrap(), "both, in one commit or it would wait an hour");
}

#[test]
fn what_could_not_be_written_lingers_no_more_and_keeps_its_order() {
    let queue = queue();
    queue.push(line(1)).unwrap();
    queue.written();
    let first = check_taken(&queue, &[1], 1);
    queue.push(line(2)).unwrap();
    queue.put_back(first, "full".into(), Duration::ZERO);
    queue.push(line(3)).unwrap();
    check_taken(&queue, &[1, 2, 3], 3);
}

#[test]
fn nobody_shortens_the_pause_after_a_failure() {
    let queue = queue();
    queue.push(seen(1)).unwrap();
    let first = check_taken(&queue, &[], 1);
    queue.put_back(first, "full".into(), HOUR);
    queue.push(seen(2)).unwrap();
    queue.written();
    check_lingers(&queue);
}

#[test]
fn closing_takes_what_lingers() {
    let queue = queue();
    queue.push(line(1)).unwrap();
    assert!(!queue.close(false, Duration::ZERO), "there is no writer that could end");
    let Turn::Write(changes) = queue.take(None) else { panic!("not taken") };
    assert_eq!(changes.upto, 1);
    assert!(matches!(queue.take(None), Turn::End { crash: false }));
}

#[test]
fn a_queue_that_fills_up_does_not_linger() {
    let queue = Queue::new(2 * line(1).weight(), HOUR, PlaceId(0));
    queue.push(line(1)).unwrap();
    check_lingers(&queue);
    queue.push(line(2)).unwrap();
    check_taken(&queue, &[1, 2], 2);
}
