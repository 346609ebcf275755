//! `closeread serve` in the background, and requests to it byte by byte.

use crate::support::{Sandbox, run_tales, tales};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A server over a page of three files and the run `r`.
pub(super) struct Server {
    pub(super) child: Child,
    /// Address of the server, `127.0.0.1:PORT`.
    pub(super) host: String,
    pub(super) sandbox: Sandbox,
}

pub(super) struct Response {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let value = |line: &str| line.split_once(':').filter(|(known, _)| known.eq_ignore_ascii_case(name)).is_some();
        self.head.lines().find(|line| value(line)).map(|line| line.split_once(':').unwrap().1.trim())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
}

pub(super) fn page(sandbox: &Sandbox) {
    sandbox.write("page/index.html", "<!doctype html><title>page</title>");
    sandbox.write("page/closeread_wasm.js", format!("export const words = '{}';", "long ".repeat(500)));
    sandbox.write("page/closeread_wasm_bg.wasm", b"\0asm\x01\0\0\0");
    sandbox.write("page/runs/index.js", "export const viewer = true;");
    sandbox.write("secret.txt", "not served");
}

impl Server {
    pub(super) fn start(more: &[&str]) -> Self {
        Self::started_after(None, more)
    }

    /// Started by bash once it has run `first`, where that is given.
    pub(super) fn started_after(first: Option<&str>, more: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        page(&sandbox);
        tales(&sandbox);
        run_tales(&sandbox, "r", &["--method", "closed-book"]);
        let args = [&["serve", "r", "--port", "0", "--page", "page"][..], more].concat();
        let mut command = match first {
            Some(first) => sandbox.command_after(first, &args),
            None => sandbox.command(&args),
        };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let host = line.trim().trim_start_matches("http://").split('/').next().unwrap().to_owned();
        assert!(line.starts_with("http://127.0.0.1:") && line.trim().ends_with("/#/runs"), "{line}");
        Self { child, host, sandbox }
    }

    pub(super) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if headers.iter().all(|(name, _)| *name != "host") {
            head += &format!("host: {}\r\n", self.host);
        }
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        stream
    }

    pub(super) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let mut bytes = Vec::new();
        self.send(method, path, headers, body).read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = bytes[end + 4..].to_vec();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Response { status, head, body }
    }

    pub(super) fn get(&self, path: &str) -> Response {
        self.ask("GET", path, &[], "")
    }

    /// The processor's time that it took so far, in hundredths of a second.
    #[cfg(target_os = "linux")]
    pub(super) fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    pub(super) fn token(&self) -> String {
        self.get("/closeread.json").json()["relay"]["token"].as_str().unwrap().to_owned()
    }

    /// Ends the server; returns what it said on standard error until then.
    pub(super) fn end(mut self) -> String {
        let _ = self.child.kill();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).unwrap().trim(), 16).unwrap();
        if length == 0 {
            break;
        }
        whole.extend(&bytes[end + 2..end + 2 + length]);
        bytes = &bytes[end + 4 + length..];
    }
    whole
}
