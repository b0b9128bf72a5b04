//! The table driven by hand.

use std::time::Duration;

use model::{Json, Target, Work};
use proptest::prelude::*;

use super::*;
use crate::call_request::Caller;

fn id(number: u64) -> CallId {
    CallId { run: 1, number }
}

fn enter(
    table: &mut CallTable,
    number: u64,
    tab: u64,
    effect: Effect,
) -> (oneshot::Receiver<Result<Reply, Fault>>, Option<Ready>) {
    let request = CallRequest {
        caller: Caller::new(ClientId::parse("tests").unwrap(), "tests").named("claude"),
        tab: Some(TabId(tab)),
        work: Work::Tool { target: Target::App, name: "t".into(), args: Json::null() },
        effect,
        timeout: None,
        progress: None,
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    table.enter(id(number), Lane::Tab(TabId(tab)), deadline, request)
}

fn done() -> Result<Reply, Fault> {
    Ok(Reply::Result(Json::null()))
}

fn ready_id(ready: &Option<Ready>) -> Option<u64> {
    ready.as_ref().map(|ready| ready.call.id.number)
}

#[tokio::test]
async fn acting_calls_of_a_tab_go_one_at_a_time_in_order() {
    let mut table = CallTable::default();
    let (_first, ready) = enter(&mut table, 1, 7, Effect::Act);
    assert_eq!(ready_id(&ready), Some(1));
    let (_second, ready) = enter(&mut table, 2, 7, Effect::Act);
    assert_eq!(ready_id(&ready), None);
    let (_third, ready) = enter(&mut table, 3, 7, Effect::Act);
    assert_eq!(ready_id(&ready), None);
    assert_eq!(ready_id(&table.end(id(1), done()).1), Some(2));
    assert_eq!(ready_id(&table.end(id(2), done()).1), Some(3));
    assert_eq!(ready_id(&table.end(id(3), done()).1), None);
    assert_eq!((table.count(), table.lanes.len()), (0, 0));
}

#[tokio::test]
async fn reads_and_other_tabs_pass_by() {
    let mut table = CallTable::default();
    let _slow = enter(&mut table, 1, 7, Effect::Act);
    assert_eq!(ready_id(&enter(&mut table, 2, 7, Effect::Read).1), Some(2));
    assert_eq!(ready_id(&enter(&mut table, 3, 8, Effect::Act).1), Some(3));
}

#[tokio::test]
async fn a_given_up_call_keeps_its_tab_until_the_browser_answers() {
    let mut table = CallTable::default();
    let _first = enter(&mut table, 1, 7, Effect::Act);
    let _second = enter(&mut table, 2, 7, Effect::Act);
    let withdrawn = table.withdraw(id(1), Ending::TimedOut);
    let reserved = Some(Lane::Tab(TabId(7)));
    assert_eq!(withdrawn, Some(Withdrawn { cancel: true, reserved }));
    let (stray, next) = table.end(id(1), done());
    assert_eq!((stray, ready_id(&next)), (Err(Stray::Late), Some(2)));
}

#[tokio::test]
async fn a_given_up_call_frees_its_tab_when_the_grace_is_over() {
    let mut table = CallTable::default();
    let _first = enter(&mut table, 1, 7, Effect::Act);
    let _second = enter(&mut table, 2, 7, Effect::Act);
    table.withdraw(id(1), Ending::Cancelled);
    assert_eq!(ready_id(&table.release(id(1))), Some(2));
    assert_eq!(ready_id(&table.release(id(1))), None, "only once");
}

#[tokio::test]
async fn a_call_withdrawn_while_waiting_is_never_sent() {
    let mut table = CallTable::default();
    let _first = enter(&mut table, 1, 7, Effect::Act);
    let _second = enter(&mut table, 2, 7, Effect::Act);
    let withdrawn = table.withdraw(id(2), Ending::Cancelled);
    assert_eq!(withdrawn, Some(Withdrawn { cancel: false, reserved: None }));
    assert_eq!(ready_id(&table.end(id(1), done()).1), None);
    assert_eq!(table.withdraw(id(2), Ending::Cancelled), None, "it has one end");
}

#[tokio::test]
async fn answers_for_nobody_are_told_apart() {
    let mut table = CallTable::default();
    let _one = enter(&mut table, 1, 7, Effect::Read);
    let _two = enter(&mut table, 2, 7, Effect::Read);
    assert_eq!(table.end(id(1), done()).0, Ok(()));
    assert_eq!(table.end(id(1), done()).0, Err(Stray::Duplicate));
    table.withdraw(id(2), Ending::TimedOut);
    assert_eq!(table.end(id(2), done()).0, Err(Stray::Late));
    assert_eq!(table.end(id(99), done()).0, Err(Stray::Unknown));
}

#[tokio::test]
async fn a_browser_that_goes_away_ends_every_call_honestly() {
    let mut table = CallTable::default();
    let (sent, _) = enter(&mut table, 1, 7, Effect::Act);
    let (waiting, _) = enter(&mut table, 2, 7, Effect::Act);
    let (read, _) = enter(&mut table, 3, 7, Effect::Read);
    assert_eq!(table.end_all(Gone::Browser).len(), 3);
    assert_eq!(sent.await.unwrap().unwrap_err().code, Code::OutcomeUnknown);
    assert_eq!(waiting.await.unwrap().unwrap_err().code, Code::NotDelivered);
    assert_eq!(read.await.unwrap().unwrap_err().retry, Retry::Now);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_over_is_not_sent() {
    let mut table = CallTable::default();
    let _first = enter(&mut table, 1, 7, Effect::Act);
    let _second = enter(&mut table, 2, 7, Effect::Act);
    tokio::time::advance(Duration::from_secs(31)).await;
    let (_, next) = table.end(id(1), done());
    assert!(next.is_some_and(|ready| ready.expired));
}

#[derive(Debug, Clone)]
enum Step {
    Enter(u64, bool),
    Answer(usize),
    Withdraw(usize),
    Release(usize),
    Disconnect,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..3_u64, any::<bool>()).prop_map(|(tab, read)| Step::Enter(tab, read)),
        5 => (0..40_usize).prop_map(Step::Answer),
        2 => (0..40_usize).prop_map(Step::Withdraw),
        2 => (0..40_usize).prop_map(Step::Release),
        1 => Just(Step::Disconnect),
    ];
    proptest::collection::vec(step, 1..120)
}

proptest! {
    /// Whatever happens: one end each, one acting call per tab, nothing left over.
    #[test]
    fn every_call_has_one_end_and_tabs_never_overlap(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _guard = runtime.enter();
        let mut table = CallTable::default();
        let mut outcomes = Vec::new();
        // The model: which acting call the browser is at, per tab, from what it was sent.
        let mut at_work: HashMap<Lane, CallId> = HashMap::new();
        let mut acting: HashMap<CallId, Lane> = HashMap::new();
        let mut withdrawn = Vec::new();
        let start = |ready: Option<Ready>, at_work: &mut HashMap<Lane, CallId>,
                         acting: &HashMap<CallId, Lane>| {
            if let Some(ready) = ready
                && let Some(lane) = acting.get(&ready.call.id)
            {
                assert_eq!(at_work.insert(lane.clone(), ready.call.id), None, "two at once in a tab");
            }
        };
        for step in steps {
            match step {
                Step::Enter(tab, read) => {
                    let effect = if read { Effect::Read } else { Effect::Act };
                    let number = outcomes.len() as u64;
                    if !read { acting.insert(id(number), Lane::Tab(TabId(tab))); }
                    let (outcome, ready) = enter(&mut table, number, tab, effect);
                    outcomes.push(outcome);
                    start(ready, &mut at_work, &acting);
                }
                Step::Answer(number) | Step::Release(number) => {
                    let call = id(number as u64);
                    // A browser answers what it was sent; grace runs out for what was withdrawn.
                    let lane = acting.get(&call).cloned();
                    let working = lane.as_ref().is_some_and(|lane| at_work.get(lane) == Some(&call));
                    if matches!(step, Step::Release(_)) {
                        if !(withdrawn.contains(&call) && working) { continue; }
                        at_work.remove(&lane.unwrap());
                        start(table.release(call), &mut at_work, &acting);
                    } else {
                        if lane.is_some() && !working { continue; }
                        if let Some(lane) = lane { at_work.remove(&lane); }
                        start(table.end(call, done()).1, &mut at_work, &acting);
                    }
                }
                Step::Withdraw(number) => {
                    if table.withdraw(id(number as u64), Ending::Cancelled).is_some() {
                        withdrawn.push(id(number as u64));
                    }
                }
                Step::Disconnect => {
                    table.end_all(Gone::Browser);
                    at_work.clear();
                }
            }
        }
        table.end_all(Gone::Browser);
        prop_assert_eq!((table.count(), table.lanes.len()), (0, 0));
        for (number, mut outcome) in outcomes.into_iter().enumerate() {
            let ended = outcome.try_recv().is_ok();
            prop_assert!(ended != withdrawn.contains(&id(number as u64)), "one end for {number}");
        }
    }
}

/// Two acting calls of one tab and a read, suspended after the first and the read were sent.
fn suspended() -> (CallTable, Vec<oneshot::Receiver<Result<Reply, Fault>>>) {
    let mut table = CallTable::default();
    let mut outcomes = Vec::new();
    for (number, effect) in [(1, Effect::Act), (2, Effect::Act), (3, Effect::Read)] {
        outcomes.push(enter(&mut table, number, 7, effect).0);
    }
    table.suspend();
    (table, outcomes)
}

fn ids(ready: &[Ready]) -> Vec<u64> {
    ready.iter().map(|ready| ready.call.id.number).collect()
}

#[tokio::test]
async fn what_acts_is_asked_after_and_what_reads_is_sent_again() {
    let (mut table, mut outcomes) = suspended();
    let resumed = table.resume(true);
    assert_eq!((resumed.ask, ids(&resumed.send)), (vec![id(1)], vec![3]));
    assert!(outcomes.iter_mut().all(|outcome| outcome.try_recv().is_err()), "nobody was told");
    assert_eq!(table.told(id(1), ExecutorStatus::Running), CallFate::Wait);
    assert_eq!(ready_id(&table.end(id(1), done()).1), Some(2), "the next of the tab follows");
}

#[tokio::test]
async fn what_the_browser_remembers_is_the_end() {
    for outcome in [Ok(Json::null()), Err(Fault::new(Code::ToolFailed, "no"))] {
        let (mut table, _outcomes) = suspended();
        table.resume(true);
        let told = table.told(id(1), ExecutorStatus::Ended(outcome.clone()));
        assert_eq!(told, CallFate::End(outcome.map(Reply::Result)));
    }
}

#[tokio::test]
async fn a_call_that_never_arrived_is_sent_under_the_same_id_and_only_to_who_would_know() {
    let (mut table, _outcomes) = suspended();
    table.resume(true);
    let CallFate::Send(ready) = table.told(id(1), ExecutorStatus::Unknown) else {
        panic!("it is sent")
    };
    assert_eq!(ready.call.id, id(1));
    let (mut table, _outcomes) = suspended();
    table.resume(false);
    // The one who does not know is lost too before it can say so, and comes back.
    table.suspend();
    table.resume(true);
    let CallFate::End(Err(fault)) = table.told(id(1), ExecutorStatus::Unknown) else {
        panic!("it ends")
    };
    assert_eq!(fault.code, Code::OutcomeUnknown);
}

#[tokio::test]
async fn nobody_is_asked_after_twice_nor_what_nobody_waits_for() {
    let (mut table, _outcomes) = suspended();
    assert!(table.withdraw(id(1), Ending::TimedOut).is_some());
    assert_eq!(table.resume(true).ask, []);
    let told = table.told(id(1), ExecutorStatus::Running);
    assert_eq!(told, CallFate::Stray(Stray::Late));
    assert_eq!(ready_id(&table.release(id(1))), Some(2), "the tab is free after its grace");
    let told = table.told(id(9), ExecutorStatus::Unknown);
    assert_eq!(told, CallFate::Stray(Stray::Unknown));
}

#[tokio::test]
async fn a_call_that_was_not_sent_waits_for_the_browser() {
    let mut table = CallTable::default();
    let (_outcome, ready) = enter(&mut table, 1, 7, Effect::Act);
    table.suspend();
    table.unsend(ready.unwrap().call.id);
    // It was never written, so there is nothing to ask after.
    let resumed = table.resume(true);
    assert_eq!((resumed.ask, ids(&resumed.send)), (vec![], vec![1]));
}
