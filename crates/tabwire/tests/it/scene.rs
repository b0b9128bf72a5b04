//! What most tests begin with: a hub of their own, and a bystander that must not be disturbed.

use serde_json::json;
use testkit::{Api, Dial, FakeApp, FakeBrowser, HubOptions, HubProcess, Socket};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_tabwire");

/// Starts a hub. Unless the flags say otherwise its peers have long to say hello: the tests say it,
/// between other things and on a machine that does much else too.
pub async fn hub(flags: &[&str]) -> HubProcess {
    let options = HubOptions::new(PROGRAM).flags(flags);
    let options = match flags.contains(&"--hello-timeout") {
        true => options,
        false => options.flags(&["--hello-timeout", "60s"]),
    };
    options.start().await
}

/// A hub with an app that minds its own business.
pub struct Scene {
    pub hub: HubProcess,
    bystander: FakeApp,
}

impl Scene {
    pub async fn new(flags: &[&str]) -> Self {
        Self::in_hub(hub(flags).await).await
    }

    pub async fn in_hub(hub: HubProcess) -> Self {
        let bystander = FakeApp::echo(hub.port(), "bystander", &["greet"]).await;
        Self { hub, bystander }
    }

    pub fn port(&self) -> u16 {
        self.hub.port()
    }

    pub fn api(&self) -> Api {
        self.hub.api()
    }

    /// Opens a socket that has not said anything.
    pub async fn stranger(&self) -> Socket {
        Dial::root(self.port()).connect().await
    }

    /// Opens a socket that has been welcomed as an app.
    pub async fn guest(&self) -> Socket {
        FakeBrowser::connected(self.port(), "guest").await.take_socket()
    }

    /// Fails the test unless the bystander is still connected the first time and answers.
    pub async fn bystander_answers(&self) {
        let args = json!({"to": "you"});
        let answer = self.api().call_tool(&self.bystander.name, "greet", args.clone()).await;
        assert_eq!(answer.must_be(200).json()["result"], args);
        assert_eq!(self.api().session(&self.bystander.name).await["connections"], 1);
    }
}
