//! Moto's server, which speaks S3's protocol, from what `cargo xtask test --install` makes.

use crate::support::{Ended, Sandbox};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A store with the bucket `evals`, until it is dropped.
pub(crate) struct Store {
    server: Child,
    pub(crate) port: u16,
}

impl Store {
    pub(crate) fn start() -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program = stores().join("bin/moto_server");
        let mut server = Command::new(program);
        // It logs every request, and would wait for a reader of a pipe.
        server.args(["-H", "127.0.0.1", "-p", &port.to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
        let store = Self { server: server.spawn().unwrap(), port };
        until("the store is up", || store.answer("PUT", "/evals", "").filter(|(head, _)| head.contains(" 200 ")));
        store
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        let (head, _) = self.send("PUT", &format!("/evals/{name}"), content);
        assert!(head.contains(" 200 "), "{name}: {head}");
    }

    fn ask(&self, method: &str, path: &str) -> (String, String) {
        self.send(method, path, "")
    }

    /// Returns head and body of the answer.
    fn send(&self, method: &str, path: &str, body: &str) -> (String, String) {
        self.answer(method, path, body).unwrap()
    }

    /// Returns the same, or `None` where the server is not up or hangs up, as a busy one does while it starts.
    fn answer(&self, method: &str, path: &str, body: &str) -> Option<(String, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let auth = "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x";
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: {auth}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .ok()?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        Some((head.to_owned(), body.to_owned()))
    }

    /// The names of all objects.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let (_, xml) = self.ask("GET", "/evals?list-type=2");
        xml.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next().unwrap().to_owned()).collect()
    }

    pub(crate) fn object(&self, name: &str) -> String {
        let (head, body) = self.ask("GET", &format!("/evals/{name}"));
        assert!(head.contains(" 200 "), "{name}: {head}");
        body
    }

    /// A command on `machine`, which has a cache of its own.
    pub(crate) fn command(&self, sandbox: &Sandbox, machine: &str, args: &[&str]) -> Command {
        self.by(self.port, sandbox, machine, args)
    }

    pub(crate) fn by(&self, port: u16, sandbox: &Sandbox, machine: &str, args: &[&str]) -> Command {
        let mut command = sandbox.command(args);
        command.env("CLOSEREAD_CACHE", sandbox.path(machine)).env("CLOSEREAD_SYNC_SECONDS", "1");
        command.env("AWS_ACCESS_KEY_ID", "k").env("AWS_SECRET_ACCESS_KEY", "geheim").env("AWS_REGION", "us-east-1");
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"));
        command
    }

    pub(crate) fn run(&self, sandbox: &Sandbox, machine: &str, args: &[&str]) -> Ended {
        Ended(self.command(sandbox, machine, args).output().unwrap())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The folder with the servers.
pub(crate) fn stores() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("stores")
}

/// Waits until this gives something, and returns it.
pub(crate) fn until<T>(what: &str, mut there: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(found) = there() {
            return found;
        }
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
