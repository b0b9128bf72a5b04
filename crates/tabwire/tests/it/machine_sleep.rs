//! A machine that sleeps, or parts of it that stand still: whoever is there before is there after,
//! and the first call succeeds.
//!
//! In the normal run the clocks of the frozen programs are set ten minutes on before they wake, so
//! that for them the time has passed. In the long form it does pass, and the wall clock jumps besides.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{
    Era, FakeApp, FakeBrowser, FakeClock, HubOptions, HubProcess, McpClient, StdioOptions,
    machine::{freeze, thaw},
    mcp::client::{Transport, WAYS},
    strict,
    torture::is_long,
};

use crate::{
    mcp_scene::every_way,
    scene::{PROGRAM, hub},
};

/// How long everything stands still.
const NIGHT: Duration = Duration::from_secs(600);
/// How long the first call may take after that.
const FIRST_CALL: Duration = Duration::from_secs(2);
/// Limits as they are by default, apart from what the tests themselves need to be there.
const FLAGS: &[&str] = &["--hello-timeout", "60s"];

/// Who sleeps.
#[derive(Clone, Copy, PartialEq)]
enum Sleeper {
    Hub,
    Relays,
    Everyone,
}

/// A hub with clients on all ways, and an app, all of which are there before anybody sleeps.
struct Bedroom {
    hub: HubProcess,
    clock: FakeClock,
    clients: Vec<((Transport, Era), McpClient)>,
    app: FakeApp,
}

impl Bedroom {
    async fn open() -> Self {
        let options = HubOptions::new(PROGRAM).flags(FLAGS);
        let place = options.place();
        let clock = match is_long() {
            true => FakeClock::of_wall(place),
            false => FakeClock::of_all(place),
        };
        let hub = options.variables(&clock.variables()).start().await;
        let mut clients = Vec::new();
        for way in WAYS {
            let relay = StdioOptions::of(PROGRAM, &hub).variables(&clock.variables());
            clients.push((way, McpClient::connect_by(relay, hub.port(), way).await));
        }
        let app = FakeApp::echo(hub.port(), "app", &["paint"]).await;
        let mut room = Self { hub, clock, clients, app };
        room.check_calls().await;
        room
    }

    fn pids(&self, who: Sleeper) -> Vec<u32> {
        let relays = self.clients.iter().filter_map(|(_, client)| client.relay());
        match who {
            Sleeper::Hub => vec![self.hub.pid()],
            Sleeper::Relays => relays.collect(),
            Sleeper::Everyone => relays.chain([self.hub.pid()]).collect(),
        }
    }

    /// Lets the night pass for who sleeps.
    async fn sleep(&self, who: Sleeper) {
        let pids = self.pids(who);
        for pid in &pids {
            freeze(*pid).await;
        }
        if is_long() {
            tokio::time::sleep(NIGHT).await;
        }
        self.clock.set(if is_long() { "+2h" } else { "+10m" });
        pids.iter().for_each(|pid| thaw(*pid));
    }

    /// Calls over every way; the first one is measured from here.
    async fn check_calls(&mut self) {
        let woken = Instant::now();
        for (number, (way, client)) in self.clients.iter_mut().enumerate() {
            let args = json!({ "number": number });
            let (failed, said) = client.call("paint", args).await.told();
            assert!(!failed, "{way:?}: {said}");
            strict(FIRST_CALL, woken.elapsed(), "a call after the night");
        }
    }

    /// Fails the test if anybody was put out meanwhile, and came back or not.
    async fn check_all_stayed(&self) {
        let session = self.hub.api().session(&self.app.name).await;
        assert_eq!((&session["connected"], &session["connections"]), (&json!(true), &json!(1)));
        let closed = self.hub.api().metrics().await.sum("tabwire_closes_total");
        assert_eq!(closed, 0.0, "the hub closes nobody");
    }
}

async fn check(who: Sleeper) {
    let mut room = Bedroom::open().await;
    room.sleep(who).await;
    room.check_calls().await;
    room.check_all_stayed().await;
}

#[tokio::test]
async fn after_a_night_of_the_hub_alone_the_first_call_succeeds() {
    check(Sleeper::Hub).await;
}

#[tokio::test]
async fn after_a_night_of_the_relays_alone_the_first_call_succeeds() {
    check(Sleeper::Relays).await;
}

#[tokio::test]
async fn after_a_night_of_the_whole_machine_the_first_call_succeeds() {
    check(Sleeper::Everyone).await;
}

/// A peer that sleeps too was asked before, and can answer only after the hub is awake: its time
/// begins then, whether the night was long or ended just after its time.
#[tokio::test]
async fn whoever_was_asked_before_a_night_has_its_time_after_it() {
    for night in ["+61s", "+10m"] {
        let options = HubOptions::new(PROGRAM).flags(FLAGS).flags(&[
            "--ping-after",
            "100ms",
            "--dead-after",
            "60s",
        ]);
        let clock = FakeClock::of_all(options.place());
        let hub = options.variables(&clock.variables()).start().await;
        let mut app = FakeBrowser::with_tools(hub.port(), "app", &["paint"]).await;
        let mut socket = app.take_socket();
        socket.until("ping").await;
        freeze(hub.pid()).await;
        clock.set(night);
        thaw(hub.pid());
        // Whoever is awake has looked after its peers: it answers, and its pulse has beaten.
        hub.api().until_connected("app", true).await;
        socket.send(&json!({"type": "pong"})).await;
        socket.send(&json!({"type": "ping"})).await;
        socket.until("pong").await;
        let closed = hub.api().metrics().await.sum("tabwire_closes_total");
        assert_eq!(closed, 0.0, "{night}: it is not given up unheard");
    }
}

#[tokio::test]
async fn a_browser_that_slept_is_called_as_soon_as_it_is_back() {
    let hub = hub(&["--ping-after", "1s", "--dead-after", "2s"]).await;
    let mut clients = every_way(&hub).await;
    let mut app = FakeBrowser::with_tools(hub.port(), "app", &["paint"]).await;
    // It reads nothing, so it is given up in the end; it notices when it wakes.
    hub.api().until_connected("app", false).await;
    app.vanish();
    app.connect().await;
    for (way, client) in &mut clients {
        let woken = Instant::now();
        let (answer, ()) = tokio::join!(client.call("paint", json!({})), async {
            let call = app.call().await;
            app.answer(&call, json!("painted")).await;
        });
        let (failed, said) = answer.told();
        assert!(!failed, "{way:?}: {said}");
        strict(FIRST_CALL, woken.elapsed(), "a call after the browser's night");
    }
}
