//! A relay between a client that is played by hand and hubs that are tasks, or processes, behind
//! the real socket. Times are short; nothing sleeps to wait for something.

use std::{future::pending, net::Shutdown, os::fd::AsFd, path::Path};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, DuplexStream, duplex},
    task::JoinHandle,
};

use super::*;
use crate::{
    ReachError, control, fake_hub,
    join::StartHub,
    lock::Lease,
    private::{Arrival, JoinWelcome, Joined, PrivateSocket, welcome},
    test_place::Place,
};

/// How long anything may take before a test has failed.
const PATIENCE: Duration = Duration::from_secs(30);

mod clients;

async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    match time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("not within {PATIENCE:?}: {what}"),
    }
}

fn hello() -> JoinHello {
    let folder = Some("/home/ann/project".to_owned());
    JoinHello { term: 0, client_id: "test".to_owned(), binding: None, folder }
}

/// The client of a relay.
struct Client {
    input: Option<DuplexStream>,
    output: BufReader<DuplexStream>,
    relay: JoinHandle<Result<(), RelayError>>,
}

impl Client {
    /// Starts a relay that joins a hub that runs.
    fn start(place: &Place, limits: Limits) -> Self {
        Self::with(Joiner::new(place.path(), None), limits)
    }

    fn with(joiner: Joiner, limits: Limits) -> Self {
        let (input, stdin) = duplex(1 << 16);
        let (stdout, output) = duplex(1 << 16);
        let relay = tokio::spawn(relay(joiner, hello(), limits, (stdin, stdout), pending()));
        Self { input: Some(input), output: BufReader::new(output), relay }
    }

    async fn say_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        within("the relay reads", input.write_all(bytes)).await.unwrap();
    }

    async fn say(&mut self, message: &Value) {
        self.say_bytes(format!("{message}\n").as_bytes()).await;
    }

    async fn ask(&mut self, id: u64, method: &str) {
        self.say(&request(id, method)).await;
    }

    /// Returns the next line, or `None` at the end.
    async fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        within("the relay says something", self.output.read_line(&mut line)).await.unwrap();
        (!line.is_empty()).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Returns the next line, which answers a request.
    async fn answer(&mut self, id: u64) -> Value {
        let answer = self.hear().await.expect("an answer");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn close(&mut self) {
        self.input = None;
    }

    /// Returns everything that is still said, and how the relay ended.
    async fn end(mut self) -> (Vec<Value>, Result<(), RelayError>) {
        let mut rest = Vec::new();
        while let Some(message) = self.hear().await {
            rest.push(message);
        }
        (rest, within("the relay ends", self.relay).await.unwrap())
    }

    /// Fails the test unless the relay ends well and has nothing more to say.
    async fn finish(mut self) {
        self.close();
        let (rest, outcome) = self.end().await;
        assert!(rest.is_empty() && outcome.is_ok(), "{rest:?} {outcome:?}");
    }
}

/// A hub that is played by hand. It dies when it is dropped.
struct FakeHub {
    socket: PrivateSocket,
    us: JoinWelcome,
}

/// A hub's end of a relay's connection.
struct Guest(Joined);

impl FakeHub {
    async fn start(place: &Place, term: u64) -> Self {
        let socket = PrivateSocket::open(place.path()).await.unwrap();
        let (version, since) = ("1".to_owned(), String::new());
        Self { socket, us: JoinWelcome { term, version, pid: 1, port: 1, since } }
    }

    /// Waits for a relay.
    async fn guest(&self) -> Guest {
        within("a relay joins", async {
            loop {
                let stream = self.socket.accept().await.unwrap();
                if let Ok(Arrival::Relay(joined)) = welcome(stream, &self.us).await {
                    return Guest(joined);
                }
            }
        })
        .await
    }

    /// Waits for the relay of a client that is there, until that too knows that it has joined.
    ///
    /// For limits that are short: what is said before is a request that no hub has taken yet.
    async fn guest_of(&self, client: &mut Client) -> Guest {
        let mut guest = self.guest().await;
        guest.say(&json!({"method": "notifications/x"})).await;
        assert_eq!(client.hear().await.unwrap()["method"], "notifications/x");
        guest
    }

    /// Answers whoever wants to know whether it is awake.
    async fn stay_awake(&self) {
        loop {
            let _ = welcome(self.socket.accept().await.unwrap(), &self.us).await;
        }
    }
}

impl Guest {
    async fn hear_line(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        within("the relay sends", self.0.reading.read_until(b'\n', &mut line)).await.unwrap();
        line
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_slice(&self.hear_line().await).expect("a message")
    }

    /// Returns the next message, which is a request.
    async fn asked(&mut self, id: u64) -> Value {
        let message = self.hear().await;
        assert_eq!(message["id"], id, "{message}");
        message
    }

    async fn say(&mut self, message: &Value) {
        self.0.writing.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn answer(&mut self, id: impl Into<Value>, text: &str) {
        self.say(&json!({"jsonrpc": "2.0", "id": id.into(), "result": {"text": text}})).await;
    }

    /// Fails the test unless the relay has closed its side and nothing is left.
    async fn ended(&mut self) {
        assert_eq!(self.hear_line().await, b"", "nothing more was to come");
    }
}

impl Drop for Guest {
    /// Hangs up for good: closing is not enough while another test starts a program, whose process
    /// has the socket too for a moment.
    fn drop(&mut self) {
        let stream: &tokio::net::UnixStream = self.0.reading.get_ref().as_ref();
        if let Ok(stream) = stream.as_fd().try_clone_to_owned() {
            let _ = std::os::unix::net::UnixStream::from(stream).shutdown(Shutdown::Both);
        }
    }
}

fn request(id: u64, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}})
}

fn code(answer: &Value) -> &str {
    let told = &answer["result"]["_meta"]["tabwire"]["error"]["code"];
    told.as_str().or(answer["error"]["data"]["code"].as_str()).unwrap_or("none")
}

fn short(request: u64) -> Limits {
    let millis = Duration::from_millis;
    Limits { request: millis(request), grace: millis(50), ..Limits::default() }
}

#[tokio::test]
async fn lines_pass_both_ways_and_the_end_is_clean() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 3).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = hub.guest().await;
    assert_eq!(guest.0.hello, hello());
    client.ask(1, "tools/list").await;
    guest.asked(1).await;
    guest.answer(1, "one").await;
    guest.say(&json!({"method": "notifications/tools/list_changed"})).await;
    assert_eq!(client.answer(1).await["result"]["text"], "one");
    assert_eq!(client.hear().await.unwrap()["method"], "notifications/tools/list_changed");
    client.ask(2, "tools/call").await;
    client.close();
    guest.asked(2).await;
    guest.ended().await;
    guest.answer(2, "two").await;
    drop(guest);
    let (rest, outcome) = client.end().await;
    assert_eq!((rest.len(), &rest[0]["result"]["text"]), (1, &json!("two")));
    outcome.unwrap();
}

#[tokio::test]
async fn a_takeover_in_the_middle_of_a_call_answers_it_once_and_honestly() {
    let place = Place::absent();
    let first = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = first.guest().await;
    client.ask(1, "tools/call").await;
    client.ask(2, "tools/list").await;
    guest.asked(1).await;
    guest.asked(2).await;
    drop((first, guest));
    let told = client.answer(1).await;
    assert_eq!((code(&told), &told["result"]["isError"]), ("outcome_unknown", &json!(true)));
    let second = FakeHub::start(&place, 2).await;
    let mut guest = second.guest().await;
    assert_eq!(guest.0.hello.term, 1, "it tells what it has seen");
    guest.asked(2).await;
    guest.answer(1, "too late").await;
    guest.answer(2, "again").await;
    assert_eq!(client.answer(2).await["result"]["text"], "again");
    client.ask(1, "tools/call").await;
    guest.asked(1).await;
    guest.answer(1, "a new one").await;
    assert_eq!(client.answer(1).await["result"]["text"], "a new one");
    drop(guest);
    drop(second);
    client.finish().await;
}

#[tokio::test]
async fn an_older_client_is_introduced_to_the_next_hub() {
    let place = Place::absent();
    let first = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = first.guest().await;
    client.ask(1, "initialize").await;
    guest.asked(1).await;
    guest.answer(1, "hello").await;
    client.answer(1).await;
    client.say(&json!({"method": "notifications/initialized"})).await;
    guest.hear().await;
    drop((first, guest));
    for term in 2..5 {
        let hub = FakeHub::start(&place, term).await;
        let mut guest = hub.guest().await;
        assert_eq!(guest.0.hello.folder, hello().folder, "each hub is told where it works");
        let initialize = guest.hear().await;
        assert_eq!(initialize["method"], "initialize");
        assert_eq!(guest.hear().await["method"], "notifications/initialized");
        guest.answer(initialize["id"].clone(), "not for the client").await;
        client.ask(term, "tools/list").await;
        guest.asked(term).await;
        guest.answer(term, "yes").await;
        client.answer(term).await;
    }
    client.finish().await;
}

#[tokio::test]
async fn what_is_said_while_there_is_no_hub_waits_for_one() {
    let place = Place::absent();
    let first = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let guest = first.guest().await;
    drop((first, guest));
    client.ask(1, "tools/call").await;
    client.ask(2, "tools/call").await;
    client.say(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    client.ask(3, "tools/list").await;
    // The answer shows that everything before it was read.
    client.ask(3, "tools/list").await;
    assert_eq!(client.answer(3).await["error"]["message"], "the id is in use");
    let second = FakeHub::start(&place, 2).await;
    let mut guest = second.guest().await;
    guest.asked(2).await;
    guest.asked(3).await;
    guest.answer(2, "done").await;
    assert_eq!(client.answer(2).await["result"]["text"], "done");
    client.close();
    guest.ended().await;
    guest.answer(3, "done").await;
    drop(guest);
    assert_eq!(client.end().await.0.len(), 1);
}

#[tokio::test]
async fn two_hubs_may_die_in_a_row() {
    let place = Place::absent();
    let first = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = first.guest().await;
    client.ask(1, "tools/list").await;
    client.ask(2, "tools/call").await;
    guest.asked(1).await;
    guest.asked(2).await;
    drop((first, guest));
    assert_eq!(code(&client.answer(2).await), "outcome_unknown");
    let second = FakeHub::start(&place, 2).await;
    // It takes the relay in and dies before it reads a line.
    let guest = second.guest().await;
    drop((second, guest));
    let third = FakeHub::start(&place, 3).await;
    let mut guest = third.guest().await;
    guest.asked(1).await;
    guest.answer(1, "at last").await;
    assert_eq!(client.answer(1).await["result"]["text"], "at last");
    drop((third, guest));
    client.finish().await;
}

#[tokio::test]
async fn a_request_that_no_hub_takes_in_time_was_not_delivered() {
    let place = Place::absent();
    let first = FakeHub::start(&place, 1).await;
    // Time enough to find out that there is none.
    let mut client = Client::start(&place, short(1000));
    let guest = first.guest().await;
    drop((first, guest));
    client.ask(1, "tools/call").await;
    let told = client.answer(1).await;
    assert_eq!(code(&told), "not_delivered");
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("no hub runs"), "{text}");
    client.finish().await;
}

#[tokio::test]
async fn a_frozen_hub_is_answered_for_at_the_deadline() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, short(1000));
    let mut guest = hub.guest_of(&mut client).await;
    client.ask(1, "tools/call").await;
    client.ask(2, "resources/read").await;
    for id in [1, 2] {
        assert_eq!(code(&client.answer(id).await), "hub_unresponsive");
    }
    guest.asked(1).await;
    guest.asked(2).await;
    // Awake again: it is told that nobody waits, and its answers go nowhere.
    for id in [1, 2] {
        let told = guest.hear().await;
        assert_eq!(told["method"], "notifications/cancelled");
        assert_eq!(told["params"]["requestId"], id);
        guest.answer(id, "late").await;
    }
    let mut patient = request(3, "tools/call");
    patient["params"]["arguments"] = json!({"timeoutMs": 60_000});
    client.say(&patient).await;
    guest.asked(3).await;
    guest.answer(3, "in time").await;
    assert_eq!(client.answer(3).await["result"]["text"], "in time");
    drop((hub, guest));
    client.finish().await;
}

#[tokio::test]
async fn a_frozen_hub_that_takes_no_more_bytes_stops_nobody() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, short(200));
    let _guest = hub.guest_of(&mut client).await;
    // More than a socket holds.
    let mut long = request(1, "tools/call");
    long["params"]["text"] = json!("x".repeat(1 << 20));
    client.say(&long).await;
    client.ask(2, "tools/call").await;
    let mut codes = Vec::new();
    for _ in 0..2 {
        let told = client.hear().await.unwrap();
        codes.push((told["id"].clone(), code(&told).to_owned()));
    }
    codes.sort_by_key(|(id, _)| id.as_u64());
    let expected = [(json!(1), "hub_unresponsive"), (json!(2), "not_delivered")];
    assert_eq!(codes, expected.map(|(id, code)| (id, code.to_owned())));
}

#[tokio::test]
async fn a_hub_that_is_slow_but_awake_is_waited_for() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    // Long enough for the busiest machine: that it shows its being awake is what counts.
    let (request, grace) = (Duration::from_millis(20), Duration::from_secs(60));
    let mut client = Client::start(&place, Limits { request, grace, ..Limits::default() });
    let mut guest = hub.guest_of(&mut client).await;
    client.ask(1, "tools/call").await;
    guest.asked(1).await;
    let slow = async {
        time::sleep(Duration::from_millis(300)).await;
        guest.answer(1, "slow").await;
        client.answer(1).await
    };
    // To the end: a question that is left in the middle looks like a hub that is gone.
    let told = tokio::select! {
        () = hub.stay_awake() => unreachable!("it goes on for ever"),
        told = slow => told,
    };
    assert_eq!(told["result"]["text"], "slow", "{told}");
    drop((hub, guest));
    client.finish().await;
}

#[tokio::test]
async fn a_hub_of_an_older_term_is_not_joined() {
    let place = Place::absent();
    let first = FakeHub::start(&place, 7).await;
    let mut client = Client::start(&place, Limits::default());
    let guest = first.guest().await;
    drop((first, guest));
    client.ask(1, "tools/call").await;
    let older = FakeHub::start(&place, 6).await;
    let stream = within("the relay looks", older.socket.accept()).await.unwrap();
    let refused = welcome(stream, &older.us).await;
    assert!(refused.is_err(), "it says that it knows a newer one");
    drop(older);
    let newer = FakeHub::start(&place, 8).await;
    let mut guest = newer.guest().await;
    guest.asked(1).await;
    guest.answer(1, "new").await;
    client.answer(1).await;
    drop((newer, guest));
    client.finish().await;
}

#[tokio::test]
async fn a_hub_that_hangs_up_and_lives_on_has_had_enough() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = hub.guest().await;
    client.ask(1, "tools/list").await;
    guest.asked(1).await;
    drop(guest);
    let _again = hub.guest().await;
    let (rest, outcome) = client.end().await;
    assert_eq!((rest.len(), code(&rest[0])), (1, "not_delivered"));
    assert!(matches!(outcome, Err(RelayError::HubGone)), "{outcome:?}");
}

fn marking(place: &Place) -> (Joiner, impl Fn() -> bool + use<>) {
    let mark = place.path().join("mark");
    let script = format!("echo >> {}; exit 1", mark.display());
    let args = ["-c", &script].map(Into::into).to_vec();
    let start = StartHub { program: "/bin/sh".into(), args };
    (Joiner::new(place.path(), Some(start)), move || mark.exists())
}

#[tokio::test]
async fn a_hub_that_was_told_to_end_is_not_replaced_before_it_is_needed() {
    let place = Place::private();
    let (joiner, was_started) = marking(&place);
    let mut lease = Lease::take(place.path(), || 0).unwrap();
    let hub = FakeHub::start(&place, lease.term()).await;
    let last_words = Duration::from_millis(150);
    let mut client = Client::with(joiner, Limits { last_words, ..Limits::default() });
    let guest = hub.guest().await;
    lease.retire();
    drop((hub, guest));
    // It does come to look, but starts nothing.
    let second = FakeHub::start(&place, lease.term() + 1).await;
    let guest = second.guest().await;
    assert!(!was_started());
    drop((second, guest, lease));
    // This one was not told to end.
    within("a hub is started", async {
        while !was_started() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    client.ask(1, "tools/call").await;
    client.close();
    let (rest, _) = client.end().await;
    assert_eq!(code(&rest[0]), "not_delivered");
}

#[tokio::test]
async fn a_hub_that_cannot_be_started_at_first_is_the_end() {
    let place = Place::absent();
    let args = ["-c", "echo 'tabwire: port 8765 is in use' >&2; exit 1"].map(Into::into).to_vec();
    let start = StartHub { program: "/bin/sh".into(), args };
    let mut client = Client::with(Joiner::new(place.path(), Some(start)), Limits::default());
    client.ask(1, "initialize").await;
    let (rest, outcome) = client.end().await;
    let text = outcome.unwrap_err().to_string();
    assert_eq!(text, "no hub could be started: port 8765 is in use");
    assert!(rest.iter().all(|answer| code(answer) == "not_delivered"), "{rest:?}");
}

/// Asks through a relay which process is the hub.
async fn hub_of(client: &mut Client, id: u64) -> u64 {
    client.ask(id, "tools/list").await;
    client.answer(id).await["result"]["pid"].as_u64().unwrap()
}

fn kill(pid: u64) {
    use rustix::process::{Pid, Signal, kill_process};
    kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
}

async fn check_one_hub(clients: &mut [Client], id: u64, folder: &Path) -> u64 {
    let mut pids = Vec::new();
    for client in clients {
        pids.push(hub_of(client, id).await);
    }
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    let hub = within("the hub answers", async {
        loop {
            match control::status(folder).await.unwrap() {
                control::Status::Running(hub) => return hub,
                // A busy machine may take longer than an answer is waited for.
                control::Status::Unresponsive(_) => {}
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    assert_eq!(u64::from(hub.pid), pids[0]);
    pids[0]
}

#[tokio::test]
async fn relays_whose_hub_is_killed_start_one_together() {
    let place = Place::absent();
    let joiner = Joiner::new(place.path(), Some(fake_hub::program(place.path())));
    let mut clients: Vec<_> =
        (0..6).map(|_| Client::with(joiner.clone(), Limits::default())).collect();
    let mut last = 0;
    for round in 1..=5 {
        let pid = check_one_hub(&mut clients, round, place.path()).await;
        assert_ne!(pid, last);
        last = pid;
        kill(pid);
    }
    check_one_hub(&mut clients, 100, place.path()).await;
    for mut client in clients {
        client.close();
        let (rest, outcome) = client.end().await;
        assert!(rest.is_empty() && outcome.is_ok());
    }
    fake_hub::end(place.path()).await;
}
