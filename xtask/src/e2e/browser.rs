//! A browser without a window, steered through its developer tools.
//!
//! Chromium takes commands from its file descriptor 3 and answers on 4, each a JSON text that ends
//! in a zero byte (`--remote-debugging-pipe`). A shell puts our pipes there, so that neither a port
//! nor a library is needed.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

/// Programs that are Chromium, the first that is there is taken.
const PROGRAMS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Longest wait for an answer. Two busy cores take seconds to start a browser, not minutes.
const PATIENCE: Duration = Duration::from_mins(2);

/// A browser.
pub(super) struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    events: VecDeque<Value>,
    last_id: u64,
    session: String,
}

/// Returns the browser's program, where there is one.
pub(super) fn program() -> Option<&'static str> {
    PROGRAMS.into_iter().find(|program| crate::process::on_path(program))
}

impl Browser {
    /// Starts a browser with a profile of its own, and opens an empty page.
    pub(super) fn start(program: &str, profile: &Path) -> Result<Browser> {
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh", program]);
        command.args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-extensions",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg("about:blank");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
        let commands = process.stdin.take().context("its commands are piped")?;
        let stdout = process.stdout.take().context("its answers are piped")?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(stdout).split(0) {
                let Ok(message) = message else { break };
                let Ok(message) = serde_json::from_slice(&message) else { continue };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let session = String::new();
        let events = VecDeque::new();
        let mut browser = Browser { process, commands, answers, events, last_id: 0, session };
        browser.attach()?;
        Ok(browser)
    }

    fn attach(&mut self) -> Result<()> {
        let page = self.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", &target)?;
        attached["sessionId"]
            .as_str()
            .context("a page has a session")?
            .clone_into(&mut self.session);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            self.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(())
    }

    /// Gives a command and returns its answer; events that come before it are kept.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        self.commands
            .write_all(format!("{message}\0").as_bytes())
            .context("the browser has gone")?;
        self.commands.flush()?;
        loop {
            let answer = self.next(method)?;
            if answer["id"] == id {
                if answer["error"].is_object() {
                    bail!("`{method}`: {}", answer["error"]["message"]);
                }
                return Ok(answer["result"].clone());
            }
            self.events.push_back(answer);
        }
    }

    /// Waits for an event of a kind, and keeps the others.
    pub(super) fn wait_for(&mut self, method: &str) -> Result<Value> {
        if let Some(at) = self.events.iter().position(|event| event["method"] == method) {
            return self.events.remove(at).context("it is there");
        }
        loop {
            let event = self.next(method)?;
            if event["method"] == method {
                return Ok(event);
            }
            self.events.push_back(event);
        }
    }

    fn next(&mut self, what: &str) -> Result<Value> {
        self.answers.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                anyhow!("the browser said nothing for {} s, at `{what}`", PATIENCE.as_secs())
            }
            RecvTimeoutError::Disconnected => anyhow!("the browser has gone, at `{what}`"),
        })
    }

    /// Takes the events that were kept.
    pub(super) fn take_events(&mut self) -> Vec<Value> {
        self.events.drain(..).collect()
    }

    /// Returns what an expression of the page comes to; a promise is waited for.
    pub(super) fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let found = self.call("Runtime.evaluate", &params)?;
        if found["exceptionDetails"].is_object() {
            let details = &found["exceptionDetails"];
            let text = details["exception"]["description"].as_str().unwrap_or_default();
            bail!("`{expression}` in the page: {} {text}", details["text"]);
        }
        Ok(found["result"]["value"].clone())
    }

    /// Waits until an expression of the page is true.
    pub(super) fn wait_until(&mut self, expression: &str) -> Result<()> {
        let start = Instant::now();
        while self.evaluate(expression)? != Value::Bool(true) {
            if start.elapsed() > PATIENCE {
                bail!("`{expression}` did not come true within {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.call("Browser.close", &json!({}));
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if matches!(self.process.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
