//! What lingers, what does not, and that both keep their order. No clock runs here: the time of a
//! decision is given, and a queue that would wait an hour where it must not never answers.

use super::*;
use crate::{
    Log,
    conformance::{audit, entry, id, position, save},
};

const HOUR: Duration = Duration::from_secs(3600);

/// A queue and the memory that its writes are entered into.
struct Scene {
    queue: Arc<Queue>,
    kept: Kept,
}

impl Scene {
    fn with_room_for(bytes: usize) -> Self {
        Self {
            queue: Arc::new(Queue::new(bytes, HOUR)),
            kept: Kept { is_written_down: true, ..Kept::default() },
        }
    }

    fn new() -> Self {
        Self::with_room_for(1 << 20)
    }

    fn push(&mut self, write: StoreWrite) -> WriteTicket {
        self.queue.push(&mut self.kept, vec![write]).unwrap()
    }

    /// Returns a log with a message in it, all of which is on disk.
    fn log(&mut self, kind: LogKind) -> Log {
        self.push(StoreWrite::Open(id("s_1")));
        let log = self.kept.session(&id("s_1")).log(kind).clone().unwrap();
        self.push(StoreWrite::Append(log.clone(), entry("first")));
        self.clear();
        log
    }

    /// Takes all that is there.
    fn clear(&mut self) {
        self.queue.push(&mut self.kept, Vec::new()).unwrap();
        self.queue.take(None);
    }

    /// Returns what the queue would do now, and after the time that anything may linger.
    fn decisions(&self) -> [Next; 2] {
        let (waiting, now) = (self.queue.waiting.lock(), Instant::now());
        [waiting.next(now), waiting.next(now + HOUR)]
    }

    #[track_caller]
    fn check_lingers(&self) {
        let [now, later] = self.decisions();
        assert!(matches!(now, Next::Wait(Some(_))), "{now:?}");
        assert_eq!(later, Next::Take, "not for longer than its time");
    }

    #[track_caller]
    fn check_taken(&self, lines: &[u64]) -> Changes {
        assert_eq!(self.decisions(), [Next::Take, Next::Take]);
        let Turn::Write(changes) = self.queue.take(None) else { panic!("not taken") };
        let numbers: Vec<_> = changes.audit.iter().map(|line| line.number).collect();
        assert_eq!(numbers.as_slice(), lines);
        assert_eq!(changes.upto, self.queue.waiting.lock().written);
        assert_eq!(self.decisions(), [Next::Wait(None), Next::Wait(None)], "nothing is left");
        *changes
    }
}

fn line() -> StoreWrite {
    StoreWrite::Audit(audit("click"))
}

fn seen(sequence: u64) -> StoreWrite {
    StoreWrite::Received(id("s_1"), position("b_1", sequence))
}

#[test]
fn what_nobody_waits_for_lingers() {
    let mut scene = Scene::new();
    let feed = scene.log(LogKind::Feed);
    let trim = StoreWrite::Trim(feed.clone(), feed.newest());
    for write in [line(), StoreWrite::Append(feed, entry("tick")), trim] {
        scene.push(write);
        scene.check_lingers();
        scene.push(line());
        scene.check_lingers();
        scene.clear();
    }
}

#[test]
fn more_of_it_makes_nothing_wait_longer() {
    let mut scene = Scene::new();
    scene.push(line());
    let until = scene.queue.waiting.lock().linger_until;
    scene.push(line());
    assert_eq!(scene.queue.waiting.lock().linger_until, until);
}

#[test]
fn what_somebody_waits_for_is_taken_at_once_with_all_before_it() {
    let mut scene = Scene::new();
    let log = scene.log(LogKind::ToBrowser);
    let urgent = [
        seen(1),
        StoreWrite::Append(log, entry("tick")),
        save("s_1", "viewer"),
        StoreWrite::Open(id("s_2")),
    ];
    for (write, round) in urgent.into_iter().zip(0..) {
        scene.push(line());
        scene.push(write);
        scene.push(line());
        scene.check_taken(&[3 * round + 1, 3 * round + 2]);
        scene.push(line());
        scene.check_lingers();
        scene.clear();
    }
}

#[test]
fn a_batch_lingers_only_if_nobody_waits_for_any_of_it() {
    let mut scene = Scene::new();
    scene.queue.push(&mut scene.kept, vec![line(), line()]).unwrap();
    scene.check_lingers();
    scene.queue.push(&mut scene.kept, vec![line(), seen(1), line()]).unwrap();
    scene.check_taken(&[1, 2, 3, 4]);
}

#[test]
fn a_batch_that_is_refused_is_nowhere() {
    let mut scene = Scene::with_room_for(line().weight());
    let refused = scene.queue.push(&mut scene.kept, vec![line(), line()]);
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    assert_eq!(scene.kept.audit_newest, 0);
    assert_eq!(scene.decisions(), [Next::Wait(None), Next::Wait(None)]);
}

#[test]
fn an_empty_batch_ends_the_lingering() {
    let mut scene = Scene::new();
    scene.push(line());
    let ticket = scene.queue.push(&mut scene.kept, Vec::new()).unwrap();
    let changes = scene.check_taken(&[1]);
    assert!(!ticket.is_done());
    scene.queue.committed(changes.upto);
    assert!(ticket.is_done());
}

#[test]
fn a_writer_that_sleeps_is_woken_by_whoever_waits() {
    let mut scene = Scene::new();
    let writer = std::thread::spawn({
        let queue = scene.queue.clone();
        move || matches!(queue.take(None), Turn::Write(changes) if changes.upto == 2)
    });
    scene.push(line());
    scene.push(seen(1));
    assert!(writer.join().unwrap(), "both, in one commit or it would wait an hour");
}

#[test]
fn what_could_not_be_written_lingers_no_more_and_keeps_its_order() {
    let mut scene = Scene::new();
    scene.push(line());
    scene.queue.push(&mut scene.kept, Vec::new()).unwrap();
    let first = scene.check_taken(&[1]);
    scene.push(line());
    scene.queue.put_back(first, "full".into(), Duration::ZERO);
    scene.push(line());
    scene.check_taken(&[1, 2, 3]);
}

#[test]
fn nobody_shortens_the_pause_after_a_failure() {
    let mut scene = Scene::new();
    scene.push(seen(1));
    let first = scene.check_taken(&[]);
    scene.queue.put_back(first, "full".into(), HOUR);
    scene.push(seen(2));
    scene.queue.push(&mut scene.kept, Vec::new()).unwrap();
    scene.check_lingers();
}

#[test]
fn closing_takes_what_lingers() {
    let mut scene = Scene::new();
    scene.push(line());
    assert!(!scene.queue.close(false, Duration::ZERO), "there is no writer that could end");
    let Turn::Write(changes) = scene.queue.take(None) else { panic!("not taken") };
    assert_eq!(changes.upto, 1);
    assert!(matches!(scene.queue.take(None), Turn::End { crash: false }));
}

#[test]
fn a_queue_that_fills_up_does_not_linger() {
    let mut scene = Scene::with_room_for(2 * line().weight());
    scene.push(line());
    scene.check_lingers();
    scene.push(line());
    scene.check_taken(&[1, 2]);
}
