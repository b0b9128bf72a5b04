//! The books without sockets: what goes where, and what is said when a hub is gone.

use serde_json::{Value, json};

use super::*;

const USUAL: Duration = Duration::from_secs(30);

/// A client and a hub around the books.
struct Desk {
    ledger: Ledger,
    now: Instant,
}

impl Desk {
    /// Opens the books and joins a first hub.
    fn joined() -> Self {
        let mut desk = Self::alone();
        desk.ledger.hub_joined();
        desk
    }

    fn alone() -> Self {
        Self { ledger: Ledger::new(USUAL), now: Instant::now() }
    }

    /// The client says something that is not answered at once.
    fn say(&mut self, message: &Value) {
        assert_eq!(self.ledger.said(line(message), self.now), None);
    }

    fn ask(&mut self, id: u64, method: &str) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}}));
    }

    /// Everything that waits is written to the hub.
    fn deliver(&mut self) -> Vec<Value> {
        let mut delivered = Vec::new();
        while let Some(parcel) = self.ledger.next_parcel() {
            delivered.push(read(&parcel.line));
            self.ledger.sent(parcel);
        }
        delivered
    }

    /// The hub says something; returns what the client hears.
    fn hear(&mut self, message: &Value) -> Option<Value> {
        self.ledger.heard(line(message)).map(|line| read(&line))
    }

    fn answer(&mut self, id: impl Into<Value>) -> Option<Value> {
        self.hear(&json!({"jsonrpc": "2.0", "id": id.into(), "result": {}}))
    }

    /// The hub dies; returns what the client hears.
    fn die(&mut self) -> Vec<Value> {
        self.ledger.hub_lost(self.now).iter().map(|line| read(line)).collect()
    }

    /// Time passes; returns what the client hears, and whether the hub is suspected.
    fn wait(&mut self, seconds: u64) -> (Vec<Value>, bool) {
        self.now += Duration::from_secs(seconds);
        let (lines, suspect) = self.ledger.due(self.now, None);
        (lines.iter().map(|line| read(line)).collect(), suspect)
    }

    /// A client of the older era that has shaken hands.
    fn greeted() -> Self {
        let mut desk = Self::joined();
        desk.ask(1, "initialize");
        desk.deliver();
        assert!(desk.answer(1).is_some());
        desk.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        desk.deliver();
        desk
    }
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

fn read(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

fn methods(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["method"].as_str().unwrap_or("-")).collect()
}

fn ids(messages: &[Value]) -> Vec<&Value> {
    messages.iter().map(|message| &message["id"]).collect()
}

/// The code of a fault, whichever way it is said.
fn code(answer: &Value) -> &str {
    let told = &answer["result"]["_meta"]["tabwire"]["error"]["code"];
    told.as_str().or(answer["error"]["data"]["code"].as_str()).unwrap_or("none")
}

#[test]
fn each_request_is_answered_once() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    assert_eq!(ids(&desk.deliver()), [1]);
    assert_eq!(desk.answer(1).unwrap()["id"], 1);
    assert_eq!(desk.answer(1), None, "the second time");
    assert_eq!(desk.answer(2), None, "never asked");
    assert_eq!(desk.answer("1"), None, "another id");
}

#[test]
fn an_id_in_use_is_refused_and_a_free_one_is_not() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    let again = line(&json!({"id": 1, "method": "tools/list"}));
    let refused = desk.ledger.said(again, desk.now).unwrap();
    assert_eq!(read(&refused)["error"]["code"], -32600);
    assert_eq!(methods(&desk.deliver()), ["tools/call"]);
    desk.answer(1).unwrap();
    desk.ask(1, "tools/list");
    assert_eq!(methods(&desk.deliver()), ["tools/list"]);
}

#[test]
fn a_tool_that_was_sent_ends_honestly_and_only_once() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    desk.deliver();
    let told = desk.die();
    assert_eq!((ids(&told), code(&told[0])), (vec![&json!(1)], "outcome_unknown"));
    assert_eq!(told[0]["result"]["isError"], true);
    desk.ledger.hub_joined();
    assert!(desk.deliver().is_empty(), "it is not sent again");
    assert_eq!(desk.answer(1), None);
    assert!(desk.die().is_empty());
}

#[test]
fn what_only_asks_is_asked_again_in_its_order() {
    let mut desk = Desk::joined();
    for (id, method) in [(5, "tools/list"), (4, "resources/read"), (3, "ping"), (2, "prompts/get")]
    {
        desk.ask(id, method);
    }
    desk.deliver();
    desk.answer(4).unwrap();
    desk.ask(9, "tools/call");
    assert!(desk.die().is_empty());
    desk.ledger.hub_joined();
    assert_eq!(ids(&desk.deliver()), [5, 3, 2, 9], "older ones first");
    for id in [2, 3, 5, 9] {
        assert!(desk.answer(id).is_some());
    }
}

#[test]
fn a_method_that_is_not_known_is_taken_for_an_act() {
    let mut desk = Desk::joined();
    desk.ask(1, "tasks/cancel");
    desk.deliver();
    let told = desk.die();
    assert_eq!(code(&told[0]), "outcome_unknown");
    assert!(told[0]["error"].is_object());
}

#[test]
fn a_line_that_was_not_finished_goes_to_the_next_hub() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    desk.ask(2, "tools/call");
    let parcel = desk.ledger.next_parcel().unwrap();
    desk.ledger.unsent(parcel);
    assert!(desk.die().is_empty());
    desk.ledger.hub_joined();
    assert_eq!(ids(&desk.deliver()), [1, 2]);
}

#[test]
fn a_line_that_was_not_finished_and_is_not_wanted_any_more_goes_nowhere() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    let parcel = desk.ledger.next_parcel().unwrap();
    desk.say(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    desk.ledger.unsent(parcel);
    assert!(desk.die().is_empty(), "nobody waits for it");
    desk.ledger.hub_joined();
    assert!(desk.deliver().is_empty(), "the next hub would carry it out");
    assert!(desk.ledger.open.is_empty());
}

#[test]
fn an_unfinished_line_is_not_taken_for_the_next_one_with_its_id() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    let parcel = desk.ledger.next_parcel().unwrap();
    desk.say(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    desk.ask(1, "tools/list");
    desk.ledger.unsent(parcel);
    assert!(desk.die().is_empty());
    desk.ledger.hub_joined();
    assert_eq!(methods(&desk.deliver()), ["tools/list"]);
}

#[test]
fn a_new_hub_hears_the_handshake_and_its_answer_stays_here() {
    let mut desk = Desk::greeted();
    for deaths in 1..=3 {
        assert!(desk.die().is_empty());
        desk.ask(10 + deaths, "tools/list");
        desk.ledger.hub_joined();
        let heard = desk.deliver();
        let expected = ["initialize", "notifications/initialized", "tools/list"];
        assert_eq!(methods(&heard), expected);
        assert_ne!(heard[0]["id"], 1, "an id of its own");
        assert_eq!(desk.answer(heard[0]["id"].clone()), None);
        assert!(desk.answer(10 + deaths).is_some());
    }
}

#[test]
fn a_handshake_that_was_not_answered_is_made_again_by_the_client() {
    let mut desk = Desk::joined();
    desk.ask(1, "initialize");
    desk.say(&json!({"method": "notifications/initialized"}));
    desk.ask(2, "tools/list");
    desk.deliver();
    desk.die();
    desk.ledger.hub_joined();
    let heard = desk.deliver();
    assert_eq!(methods(&heard), ["initialize", "notifications/initialized", "tools/list"]);
    assert_eq!(heard[0]["id"], 1);
    assert!(desk.answer(1).is_some(), "the client hears it for the first time");
}

#[test]
fn a_handshake_that_failed_is_not_repeated() {
    let mut desk = Desk::joined();
    desk.ask(1, "initialize");
    desk.deliver();
    desk.hear(&json!({"id": 1, "error": {"code": -32602, "message": "no"}})).unwrap();
    desk.die();
    desk.ledger.hub_joined();
    assert!(desk.deliver().is_empty());
}

#[test]
fn subscriptions_and_log_levels_are_repeated() {
    let mut desk = Desk::greeted();
    for (id, method, uri) in [
        (2, "resources/subscribe", "a"),
        (3, "resources/subscribe", "b"),
        (4, "resources/unsubscribe", "a"),
        (5, "logging/setLevel", ""),
        (6, "resources/subscribe", "refused"),
    ] {
        desk.say(&json!({"id": id, "method": method, "params": {"uri": uri, "level": "info"}}));
    }
    desk.deliver();
    for id in 2..=5 {
        assert!(desk.answer(id).is_some());
    }
    desk.hear(&json!({"id": 6, "error": {}})).unwrap();
    desk.die();
    desk.ledger.hub_joined();
    let heard = desk.deliver();
    let expected =
        ["initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe"];
    assert_eq!(methods(&heard), expected);
    assert_eq!(heard[3]["params"]["uri"], "b");
    for message in [&heard[0], &heard[2], &heard[3]] {
        assert_eq!(desk.answer(message["id"].clone()), None);
    }
}

#[test]
fn a_hub_that_dies_during_the_handshake_leaves_no_trace() {
    let mut desk = Desk::greeted();
    desk.die();
    desk.ledger.hub_joined();
    let parcel = desk.ledger.next_parcel().unwrap();
    let first = read(&parcel.line);
    desk.ledger.sent(parcel);
    assert!(desk.die().is_empty());
    desk.ledger.hub_joined();
    let heard = desk.deliver();
    assert_eq!(methods(&heard), ["initialize", "notifications/initialized"]);
    assert_ne!(heard[0]["id"], first["id"]);
    assert_eq!(desk.answer(first["id"].clone()), None);
}

#[test]
fn a_listener_goes_on_with_the_next_hub() {
    let mut desk = Desk::joined();
    desk.ask(1, "subscriptions/listen");
    desk.deliver();
    assert_eq!(desk.ledger.next_due(), None, "it may take for ever");
    assert!(desk.die().is_empty());
    desk.ledger.hub_joined();
    assert_eq!(methods(&desk.deliver()), ["subscriptions/listen"]);
    assert!(desk.ledger.close(None).is_empty(), "its end is no loss");
}

#[test]
fn cancelling_what_waits_is_silent_and_what_was_sent_is_told() {
    let mut desk = Desk::alone();
    let cancel =
        |id: u64| json!({"method": "notifications/cancelled", "params": {"requestId": id}});
    desk.ask(1, "tools/call");
    desk.ask(2, "tools/call");
    desk.say(&cancel(1));
    desk.ledger.hub_joined();
    assert_eq!(ids(&desk.deliver()), [2], "neither the request nor its cancellation");
    desk.say(&cancel(2));
    assert_eq!(methods(&desk.deliver()), ["notifications/cancelled"]);
    assert!(desk.die().is_empty(), "nobody waits for it");
    desk.ask(3, "tools/list");
    desk.ledger.hub_joined();
    desk.deliver();
    desk.say(&cancel(3));
    assert!(desk.die().is_empty());
    desk.ledger.hub_joined();
    assert!(desk.deliver().is_empty(), "neither is asked again");
    desk.say(&cancel(99));
    assert!(desk.deliver().is_empty());
    let broken = json!({"method": "notifications/cancelled", "params": {"requestId": {}}});
    desk.say(&broken);
    assert_eq!(desk.deliver(), [broken], "nonsense is the hub's");
}

#[test]
fn a_cancelled_id_may_be_used_again() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    desk.deliver();
    desk.say(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    desk.ask(1, "tools/call");
    desk.deliver();
    let told = desk.die();
    assert_eq!((told.len(), code(&told[0])), (1, "outcome_unknown"));
}

#[test]
fn what_waits_too_long_was_not_delivered() {
    let mut desk = Desk::alone();
    desk.ask(1, "tools/call");
    desk.say(
        &json!({"id": 2, "method": "tools/call", "params": {"arguments": {"timeoutMs": 40000}}}),
    );
    assert_eq!(desk.wait(29), (vec![], false));
    let (told, suspect) = desk.wait(1);
    assert_eq!((ids(&told), code(&told[0]), suspect), (vec![&json!(1)], "not_delivered", false));
    let (told, _) = desk.wait(10);
    assert_eq!((ids(&told), code(&told[0])), (vec![&json!(2)], "not_delivered"));
    desk.ledger.hub_joined();
    assert!(desk.deliver().is_empty());
}

#[test]
fn a_slow_answer_of_a_hub_that_is_awake_is_waited_for() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    desk.deliver();
    for _ in 0..5 {
        assert_eq!(desk.wait(30), (vec![], true));
        assert_eq!(desk.ledger.next_due(), None, "it is being asked");
        desk.ledger.hub_is_awake(desk.now);
    }
    assert!(desk.answer(1).is_some());
    assert_eq!(desk.ledger.next_due(), None);
}

#[test]
fn a_frozen_hub_is_answered_for_and_its_late_answer_dropped() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    desk.ask(2, "tools/list");
    desk.deliver();
    assert_eq!(desk.wait(30), (vec![], true));
    let told: Vec<_> = desk.ledger.hub_is_frozen().iter().map(|line| read(line)).collect();
    assert_eq!(ids(&told), [1, 2]);
    assert!(told.iter().all(|answer| code(answer) == "hub_unresponsive"));
    let cancelled = desk.deliver();
    assert_eq!(methods(&cancelled), ["notifications/cancelled"; 2]);
    let again = line(&json!({"id": 1, "method": "tools/call"}));
    assert!(desk.ledger.said(again, desk.now).is_some(), "the hub still has this id");
    assert_eq!(desk.answer(1), None);
    assert_eq!(desk.answer(2), None);
    desk.ask(1, "tools/call");
    desk.deliver();
    assert!(desk.answer(1).is_some(), "a new request with an old id");
    assert!(desk.die().is_empty());
}

#[test]
fn a_frozen_hub_that_dies_is_told_apart_by_request() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    desk.deliver();
    desk.wait(20);
    desk.ask(2, "tools/call");
    desk.ask(3, "tools/list");
    desk.deliver();
    assert_eq!(desk.wait(10), (vec![], true));
    assert_eq!(desk.ledger.hub_is_frozen().len(), 1, "only what is due");
    let told = desk.die();
    assert_eq!((ids(&told), code(&told[0])), (vec![&json!(2)], "outcome_unknown"));
    desk.ledger.hub_joined();
    assert_eq!(ids(&desk.deliver()), [3]);
}

#[test]
fn a_question_of_a_dead_hub_is_withdrawn_and_its_answer_goes_nowhere() {
    let mut desk = Desk::greeted();
    let question = json!({"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": {}});
    let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept"}});
    assert_eq!(desk.hear(&question), Some(question.clone()));
    let told = desk.die();
    assert_eq!(methods(&told), ["notifications/cancelled"]);
    assert_eq!(told[0]["params"]["requestId"], 0);
    desk.say(&answer(&json!(0)));
    desk.ledger.hub_joined();
    desk.deliver();
    let renamed = desk.hear(&question).unwrap();
    assert_ne!(renamed["id"], 0, "the late answer must not fit");
    desk.say(&answer(&json!(0)));
    assert!(desk.deliver().is_empty());
    desk.say(&answer(&renamed["id"]));
    assert_eq!(desk.deliver(), [answer(&json!(0))], "the hub hears the id that it gave");
    desk.say(&answer(&renamed["id"]));
    assert!(desk.deliver().is_empty(), "once");
}

#[test]
fn a_hub_withdraws_its_question_by_the_id_that_the_client_knows() {
    let mut desk = Desk::greeted();
    desk.die();
    desk.ledger.hub_joined();
    desk.deliver();
    let renamed = desk.hear(&json!({"id": 7, "method": "roots/list"})).unwrap();
    let withdraw = json!({"method": "notifications/cancelled", "params": {"requestId": 7}});
    let withdrawn = desk.hear(&withdraw).unwrap();
    assert_eq!(withdrawn["params"]["requestId"], renamed["id"]);
    assert_eq!(desk.hear(&withdraw), None, "nothing is asked any more");
}

#[test]
fn nonsense_passes_to_the_hub_as_it_is_and_its_answer_comes_back() {
    let mut desk = Desk::joined();
    let nonsense: [&[u8]; 4] = [b"hello\n", b"\xff\xfe\n", b"\r\n", b"[1,\n"];
    for line in nonsense {
        assert_eq!(desk.ledger.said(line.to_vec(), desk.now), None);
        assert_eq!(desk.ledger.next_parcel().unwrap().line, line);
    }
    assert!(desk.hear(&json!({"id": null, "error": {"code": -32700}})).is_some());
    assert!(desk.hear(&json!({"error": {"code": -32700}})).is_some());
    desk.say(&json!({"id": 77, "params": {}}));
    assert_eq!(ids(&desk.deliver()), [77]);
    assert!(desk.hear(&json!({"id": 77, "error": {"code": -32600}})).is_some());
    assert_eq!(desk.ledger.heard(b"not a message\n".to_vec()), None);
}

#[test]
fn notifications_pass_both_ways() {
    let mut desk = Desk::joined();
    let changed = json!({"method": "notifications/roots/list_changed"});
    desk.say(&changed);
    assert_eq!(desk.deliver(), [changed]);
    let progress = json!({"method": "notifications/progress", "params": {"progress": 1}});
    assert_eq!(desk.hear(&progress), Some(progress));
}

#[test]
fn only_so_much_waits_and_only_so_much_is_kept() {
    let mut desk = Desk::alone();
    for id in 0..WAITING_LINES as u64 {
        assert!(desk.ledger.has_room());
        desk.ask(id, "tools/list");
    }
    assert!(!desk.ledger.has_room());
    let mut desk = Desk::joined();
    let long = "x".repeat(WAITING_BYTES);
    desk.say(&json!({"id": 1, "method": "prompts/get", "params": {"long": long}}));
    assert!(!desk.ledger.has_room());
    desk.deliver();
    assert!(desk.ledger.has_room());
    let told = desk.die();
    assert_eq!(code(&told[0]), "not_delivered", "too long to be kept, safe to repeat");
    assert_eq!((desk.ledger.waiting_bytes, desk.ledger.kept_bytes), (0, 0));
}

#[test]
fn the_end_answers_everything_that_is_open() {
    let mut desk = Desk::joined();
    desk.ask(1, "tools/call");
    desk.ask(2, "tools/list");
    desk.deliver();
    desk.ask(3, "tools/call");
    let told: Vec<_> = desk.ledger.close(None).iter().map(|line| read(line)).collect();
    let codes: Vec<_> = told.iter().map(code).collect();
    assert_eq!(ids(&told), [1, 2, 3]);
    assert_eq!(codes, ["outcome_unknown", "not_delivered", "not_delivered"]);
    assert!(desk.ledger.close(None).is_empty() && !desk.ledger.is_waiting());
    assert_eq!((desk.ledger.waiting_bytes, desk.ledger.kept_bytes), (0, 0));
}

/// Whatever happens in whatever order, each request is answered exactly once, and no call of a
/// tool reaches two hubs.
#[test]
fn any_order_of_events_gives_each_request_one_answer() {
    for seed in 0..2000_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let mut desk = Desk::alone();
        let (mut joined, mut asked) = (false, 0);
        let mut answers: HashMap<u64, usize> = HashMap::new();
        let mut at_hub: Vec<u64> = Vec::new();
        let mut tools_seen: HashSet<u64> = HashSet::new();
        let mut count = |lines: Vec<Value>| {
            for line in lines {
                if let Some(id) = line["id"].as_u64() {
                    *answers.entry(id).or_default() += 1;
                }
            }
        };
        for _ in 0..60 {
            match random(8) {
                0 | 1 => {
                    asked += 1;
                    desk.ask(asked, ["tools/call", "tools/list", "tasks/get"][random(3) as usize]);
                }
                2 if !joined => {
                    desk.ledger.hub_joined();
                    joined = true;
                }
                3 | 4 if joined => {
                    for message in desk.deliver() {
                        let Some(id) = message["id"].as_u64() else { continue };
                        at_hub.push(id);
                        if message["method"] == "tools/call" {
                            assert!(tools_seen.insert(id), "seed {seed}: {id} was sent twice");
                        }
                    }
                }
                5 if joined && !at_hub.is_empty() => {
                    let id = at_hub.swap_remove(random(at_hub.len() as u64) as usize);
                    count(desk.answer(id).into_iter().collect());
                }
                6 if joined && random(3) == 0 => {
                    count(desk.die());
                    at_hub.clear();
                    joined = false;
                }
                7 => {
                    let (lines, suspect) = desk.wait(random(20));
                    count(lines);
                    if suspect && random(2) == 0 {
                        let lines = desk.ledger.hub_is_frozen();
                        count(lines.iter().map(|line| read(line)).collect());
                    } else if suspect {
                        desk.ledger.hub_is_awake(desk.now);
                    }
                }
                _ => {}
            }
        }
        count(desk.ledger.close(None).iter().map(|line| read(line)).collect());
        for id in 1..=asked {
            assert_eq!(answers.get(&id), Some(&1), "seed {seed}: request {id}");
        }
    }
}
