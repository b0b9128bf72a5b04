//! Clients that say odd things, do not read, or go away.

use super::*;

#[tokio::test]
async fn a_huge_line_passes_and_a_longer_one_is_refused() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = hub.guest().await;
    let mut huge = request(1, "tools/call");
    huge["params"]["text"] = json!("");
    let padding = Limits::default().line - huge.to_string().len();
    huge["params"]["text"] = json!("x".repeat(padding));
    let line = format!("{huge}\n").into_bytes();
    assert_eq!(line.len(), (16 << 20) + 1);
    let ((), heard) = tokio::join!(client.say_bytes(&line), guest.hear_line());
    assert!(heard == line, "{} bytes", heard.len());
    huge["id"] = json!(22);
    client.say(&huge).await;
    let refused = client.answer(22).await;
    assert_eq!(refused["error"]["code"], -32600);
    assert_eq!(refused["error"]["message"], "the line is longer than 16777216 bytes");
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"text": "y".repeat(20 << 20)}});
    let (heard, ()) = tokio::join!(client.answer(1), guest.say(&answer));
    assert!(heard == answer);
    client.close();
    guest.ended().await;
    drop(guest);
    client.finish().await;
}

#[tokio::test]
async fn nonsense_reaches_the_hub_byte_for_byte() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = hub.guest().await;
    let lines: [&[u8]; 9] = [
        b"hello\n",
        b"\n",
        b"\r\n",
        b"\xff\xfe\0\n",
        b"{\"id\":1,\n",
        b"[]\n",
        b"{}\n",
        b"  {\"jsonrpc\":\"2.0\" , \"id\":5,\"method\":\"ping\"}  \r\n",
        b"\xef\xbb\xbfnull\n",
    ];
    for line in lines {
        client.say_bytes(line).await;
        assert_eq!(guest.hear_line().await, line);
    }
    guest.say(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700}})).await;
    assert_eq!(client.hear().await.unwrap()["error"]["code"], -32700);
    client.say_bytes(b"half").await;
    client.close();
    assert_eq!(guest.hear_line().await, b"half\n");
    guest.ended().await;
}

mod the_end_of_the_input {
    use super::*;

    fn hurried() -> Limits {
        Limits { last_words: Duration::from_secs(1), ..Limits::default() }
    }

    #[tokio::test]
    async fn without_a_hub_says_so() {
        let place = Place::absent();
        let mut client = Client::start(&place, Limits::default());
        client.close();
        let (rest, outcome) = client.end().await;
        let no_hub =
            matches!(outcome, Err(RelayError::Join(JoinError::Reach(ReachError::NoHub(_)))));
        assert!(rest.is_empty() && no_hub, "{rest:?} {outcome:?}");
    }

    #[tokio::test]
    async fn at_once_ends_at_once() {
        let place = Place::absent();
        let hub = FakeHub::start(&place, 1).await;
        let mut client = Client::start(&place, Limits::default());
        client.close();
        let mut guest = hub.guest().await;
        guest.ended().await;
        drop(guest);
        client.finish().await;
    }

    #[tokio::test]
    async fn after_the_hub_has_died_leaves_nothing_to_do() {
        let place = Place::absent();
        let hub = FakeHub::start(&place, 1).await;
        let client = Client::start(&place, Limits::default());
        drop((hub.guest().await, hub));
        client.finish().await;
    }

    #[tokio::test]
    async fn with_something_waiting_still_finds_the_next_hub() {
        let place = Place::absent();
        let first = FakeHub::start(&place, 1).await;
        let mut client = Client::start(&place, Limits::default());
        drop((first.guest().await, first));
        client.ask(1, "tools/call").await;
        client.close();
        let second = FakeHub::start(&place, 2).await;
        let mut guest = second.guest().await;
        guest.asked(1).await;
        guest.ended().await;
        guest.answer(1, "done").await;
        drop(guest);
        let (rest, outcome) = client.end().await;
        assert_eq!(rest[0]["result"]["text"], "done");
        outcome.unwrap();
    }

    #[tokio::test]
    async fn with_something_waiting_and_no_hub_ends_honestly() {
        let place = Place::absent();
        let hub = FakeHub::start(&place, 1).await;
        let mut client = Client::start(&place, hurried());
        drop((hub.guest().await, hub));
        client.ask(1, "tools/call").await;
        client.close();
        let (rest, outcome) = client.end().await;
        assert_eq!((rest.len(), code(&rest[0])), (1, "not_delivered"));
        outcome.unwrap();
    }

    #[tokio::test]
    async fn with_a_frozen_hub_is_not_waited_for_long() {
        let place = Place::absent();
        let hub = FakeHub::start(&place, 1).await;
        let mut client = Client::start(&place, hurried());
        let _guest = hub.guest_of(&mut client).await;
        client.ask(1, "tools/call").await;
        client.ask(2, "subscriptions/listen").await;
        client.close();
        let (rest, outcome) = client.end().await;
        assert_eq!((rest.len(), code(&rest[0])), (1, "outcome_unknown"));
        outcome.unwrap();
    }

    #[tokio::test]
    async fn and_then_the_hub_dies_ends_honestly() {
        let place = Place::absent();
        let hub = FakeHub::start(&place, 1).await;
        let mut client = Client::start(&place, Limits::default());
        let mut guest = hub.guest().await;
        client.ask(1, "tools/call").await;
        client.close();
        guest.asked(1).await;
        guest.ended().await;
        drop((guest, hub));
        let (rest, outcome) = client.end().await;
        assert_eq!((rest.len(), code(&rest[0])), (1, "outcome_unknown"));
        outcome.unwrap();
    }

    #[tokio::test]
    async fn while_a_hub_is_being_started_is_waited_with() {
        let place = Place::absent();
        let joiner = Joiner::new(place.path(), Some(fake_hub::program(place.path())));
        // A process that starts may take its time.
        let limits = Limits { last_words: PATIENCE, ..Limits::default() };
        let mut client = Client::with(joiner, limits);
        client.ask(1, "tools/list").await;
        client.close();
        let (rest, outcome) = client.end().await;
        assert_eq!(rest[0]["id"], 1);
        outcome.unwrap();
        fake_hub::end(place.path()).await;
    }
}

#[tokio::test]
async fn a_client_that_is_gone_ends_its_relay() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    let Client { input, output, relay } = Client::start(&place, Limits::default());
    let mut guest = hub.guest().await;
    drop(output);
    guest.say(&json!({"method": "notifications/x"})).await;
    let outcome = within("the relay ends", relay).await.unwrap();
    assert!(matches!(outcome, Err(RelayError::Broken(_))), "{outcome:?}");
    drop(input);
}

#[tokio::test]
async fn a_client_that_does_not_read_stops_the_hub_and_nothing_is_lost() {
    let place = Place::absent();
    let hub = FakeHub::start(&place, 1).await;
    let mut client = Client::start(&place, Limits::default());
    let mut guest = hub.guest().await;
    let text = "z".repeat(1 << 16);
    let mut talking = tokio::spawn(async move {
        for number in 0..64 {
            guest.say(&json!({"method": "notifications/x", "params": [number, text]})).await;
        }
    });
    let stuck = time::timeout(Duration::from_millis(200), &mut talking).await;
    assert!(stuck.is_err(), "4 MiB do not fit");
    for number in 0..64 {
        assert_eq!(client.hear().await.unwrap()["params"][0], number);
    }
    talking.await.unwrap();
}

/// Starts a hub by a script that only leaves a mark.
/// An output that takes nothing, and counts how often it is asked to.
struct Stuck(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl AsyncWrite for Stuck {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        _: &[u8],
    ) -> std::task::Poll<io::Result<usize>> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::task::Poll::Pending
    }

    fn poll_flush(
        self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::task::Poll::Pending
    }

    fn poll_shutdown(
        self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<io::Result<()>> {
        std::task::Poll::Pending
    }
}

#[tokio::test]
async fn a_relay_whose_last_words_are_not_read_waits_without_work() {
    let place = Place::private();
    let hub = FakeHub::start(&place, 1).await;
    let (mut input, stdin) = duplex(1 << 16);
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let hello = hello();
    let joiner = Joiner::new(place.path(), None);
    let relay =
        tokio::spawn(relay(joiner, hello, short(5000), (stdin, Stuck(asked.clone())), pending()));
    let line = format!("{}\n", request(1, "tools/call"));
    within("the relay reads", input.write_all(line.as_bytes())).await.unwrap();
    let mut guest = hub.guest().await;
    guest.hear_line().await;
    // The hub dies, its answer is made up and not read, and the client goes.
    drop((guest, hub, input));
    within("the relay ends", relay).await.unwrap().unwrap();
    let asked = asked.load(std::sync::atomic::Ordering::Relaxed);
    assert!(asked < 100, "asked {asked} times within a second");
}
