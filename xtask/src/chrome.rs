//! A headless Chromium for the demo: started on one page, photographed, ended.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{client_async, tungstenite::Message};

use crate::http::Http;

/// A browser with a profile of its own; both go when this is dropped.
pub struct Chrome {
    process: Child,
    profile: PathBuf,
    port: u16,
}

impl Chrome {
    /// Starts the browser on a page.
    pub async fn open(url: &str) -> Result<Self> {
        let profile = std::env::temp_dir().join(format!("tabwire-demo-{}", std::process::id()));
        std::fs::create_dir_all(&profile)?;
        let process = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--hide-scrollbars", "--window-size=900,600"])
            .args(["--remote-debugging-port=0", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("chromium cannot be started; install the package chromium")?;
        let mut chrome = Self { process, profile, port: 0 };
        chrome.port = chrome.find_port().await?;
        Ok(chrome)
    }

    /// Saves a picture of the page as PNG.
    pub async fn photograph(&self, file: &Path) -> Result<()> {
        let limit = Duration::from_secs(30);
        tokio::time::timeout(limit, self.take_picture(file)).await.context("no picture in 30 s")?
    }

    async fn take_picture(&self, file: &Path) -> Result<()> {
        let target = self.page_target().await?;
        let stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let (mut socket, _) = client_async(&target, stream).await?;
        let ask = json!({"id": 1, "method": "Page.captureScreenshot", "params": {"format": "png"}});
        socket.send(Message::text(ask.to_string())).await?;
        while let Some(message) = socket.next().await {
            let Message::Text(text) = message? else { continue };
            let answer: Value = serde_json::from_str(&text)?;
            if answer["id"] == 1 {
                let data = answer["result"]["data"].as_str().context("no picture was made")?;
                std::fs::write(file, BASE64_STANDARD.decode(data)?)?;
                return Ok(());
            }
        }
        bail!("the browser ended before it made a picture")
    }

    /// The browser writes its port into its profile once it listens.
    async fn find_port(&mut self) -> Result<u16> {
        let file = self.profile.join("DevToolsActivePort");
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline {
            if let Ok(text) = std::fs::read_to_string(&file)
                && let Some(port) = text.lines().next().and_then(|line| line.parse().ok())
            {
                return Ok(port);
            }
            if let Some(status) = self.process.try_wait()? {
                bail!("chromium ended at once ({status})");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("chromium did not start within 30 s")
    }

    async fn page_target(&self) -> Result<String> {
        let list = Http::connect(self.port).await?.get("/json/list").await?;
        let targets: Value = serde_json::from_slice(&list)?;
        let pages = targets.as_array().context("no list of pages")?;
        let page = pages.iter().find(|target| target["type"] == "page").context("no page")?;
        Ok(page["webSocketDebuggerUrl"].as_str().context("a page without address")?.to_owned())
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        // The browser's helpers may still be writing; what stays is in the temporary folder.
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
