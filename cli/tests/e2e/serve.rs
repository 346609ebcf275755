//! `closeread serve`, as a browser meets it.

use crate::http::{HttpServer, ok};
use crate::support::{Ended, Sandbox, run_tales, tales};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc;

const KEY: &str = "sk-planted-7d1e0c2b9a8f4e6d";

/// A server over a page of three files and the run `r`.
struct Server {
    child: Child,
    /// `127.0.0.1:PORT`
    host: String,
    sandbox: Sandbox,
}

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        let value = |line: &str| line.split_once(':').filter(|(known, _)| known.eq_ignore_ascii_case(name)).is_some();
        self.head.lines().find(|line| value(line)).map(|line| line.split_once(':').unwrap().1.trim())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }
}

fn page(sandbox: &Sandbox) {
    sandbox.write("page/index.html", "<!doctype html><title>page</title>");
    sandbox.write("page/closeread_wasm.js", format!("export const words = '{}';", "long ".repeat(500)));
    sandbox.write("page/closeread_wasm_bg.wasm", b"\0asm\x01\0\0\0");
    sandbox.write("page/runs/index.js", "export const viewer = true;");
    sandbox.write("secret.txt", "not served");
}

impl Server {
    fn start(more: &[&str]) -> Self {
        Self::started_after(None, more)
    }

    /// Started by bash once it has run `first`, where that is given.
    fn started_after(first: Option<&str>, more: &[&str]) -> Self {
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

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if headers.iter().all(|(name, _)| *name != "host") {
            head += &format!("host: {}\r\n", self.host);
        }
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
        stream
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut bytes = Vec::new();
        self.send(method, path, headers, body).read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = bytes[end + 4..].to_vec();
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Reply { status, head, body }
    }

    fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], "")
    }

    /// The processor's time that it took so far, in hundredths of a second.
    #[cfg(target_os = "linux")]
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    fn token(&self) -> String {
        self.get("/closeread.json").json()["relay"]["token"].as_str().unwrap().to_owned()
    }

    /// What it said on standard error until it was ended.
    fn end(mut self) -> String {
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

#[test]
fn the_page_comes_with_its_policy_and_is_sent_once() {
    let server = Server::start(&[]);
    let index = server.get("/");
    assert_eq!((index.status, index.text().as_str()), (200, "<!doctype html><title>page</title>"));
    let policy = index.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'self' 'wasm-unsafe-eval'") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
    assert_eq!(index.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(index.header("cache-control"), Some("no-cache"));
    assert_eq!(server.get("/closeread_wasm_bg.wasm").header("content-type"), Some("application/wasm"));
    let viewer = server.get("/runs/index.js");
    assert_eq!(
        (viewer.text().as_str(), viewer.header("content-type")),
        ("export const viewer = true;", Some("text/javascript"))
    );
    assert!(viewer.header("content-security-policy").is_some());

    let packed = server.ask("GET", "/closeread_wasm.js", &[("accept-encoding", "br, gzip")], "");
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.body.as_slice()).read_to_string(&mut text).unwrap();
    assert!(text.contains("long long") && packed.body.len() < text.len() / 4);
    let tag = packed.header("etag").unwrap().to_owned();
    let again = server.ask("GET", "/closeread_wasm.js", &[("if-none-match", &tag)], "");
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_eq!(server.ask("HEAD", "/", &[], "").body.len(), 0);
}

#[test]
fn a_run_folder_is_read_and_nothing_else() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/closeread.json").json(), json!({"relay": null, "runs": ["r"]}));
    let listed = server.get("/runs/r/").json();
    let paths: Vec<&str> =
        listed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(paths.starts_with(&["manifest.json", "items.jsonl", "records.jsonl", "report.json"]), "{paths:?}");
    let text = paths.iter().find(|path| path.starts_with("texts/")).unwrap();
    assert_eq!(server.get(&format!("/runs/r/{text}")).status, 200);

    let records = std::fs::read(server.sandbox.path("r/records.jsonl")).unwrap();
    let whole = server.get("/runs/r/records.jsonl");
    assert_eq!((whole.body.as_slice(), whole.header("accept-ranges")), (records.as_slice(), Some("bytes")));
    let part = server.ask("GET", "/runs/r/records.jsonl", &[("range", "bytes=10-19")], "");
    assert_eq!((part.status, part.body.as_slice()), (206, &records[10..20]));
    assert_eq!(part.header("content-range"), Some(&*format!("bytes 10-19/{}", records.len())));
    let beyond = format!("bytes={}-", records.len());
    assert_eq!(server.ask("GET", "/runs/r/records.jsonl", &[("range", &beyond)], "").status, 416);

    for path in [
        "/runs/r/.lock",
        "/runs/r/../secret.txt",
        "/runs/r/%2e%2e/secret.txt",
        "/../secret.txt",
        "/runs/r/texts/../manifest.json",
        "/runs/other/manifest.json",
        "/runs/r/texts/",
        "/nothing.js",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(server.ask("POST", "/runs/r/manifest.json", &[], "x").status, 405);
}

#[test]
fn another_sites_name_that_leads_here_is_refused() {
    let server = Server::start(&[]);
    for host in ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1"] {
        let reply = server.ask("GET", "/runs/r/items.jsonl", &[("host", host)], "");
        assert_eq!(reply.status, 421, "{host}");
        assert!(!reply.text().contains("question"), "{host}");
    }
    let here = format!("localhost:{}", server.host.rsplit(':').next().unwrap());
    assert_eq!(server.ask("GET", "/", &[("host", &here)], "").status, 200);
}

#[test]
fn the_relay_passes_on_what_a_server_needs_to_the_one_with_the_token() {
    let target = HttpServer::start(|asked| ok(&json!({"heard": asked.body})));
    let server = Server::start(&["--relay"]);
    let (token, url) = (server.token(), format!("{}/v1/chat?key=x", target.url));
    let headers = [
        ("x-closeread-token", &*token),
        ("x-closeread-url", &*url),
        ("authorization", KEY),
        ("x-api-key", "a"),
        ("x-goog-api-key", "g"),
        ("anthropic-version", "2023-06-01"),
        ("content-type", "application/json"),
        ("cookie", "session=1"),
    ];
    let reply = server.ask("POST", "/relay", &headers, "{\"q\": 1}");
    assert_eq!((reply.status, reply.json()), (200, json!({"heard": "{\"q\": 1}"})));
    let asked = &target.asked("POST", "/v1/chat?key=x")[0];
    assert_eq!(asked.header("authorization"), Some(KEY));
    assert_eq!((asked.header("x-goog-api-key"), asked.header("anthropic-version")), (Some("g"), Some("2023-06-01")));
    assert_eq!((asked.header("cookie"), asked.header("x-closeread-token")), (None, None));

    let with = |name: &str, value: &str| {
        let mut changed: Vec<(&str, &str)> = headers.iter().filter(|(known, _)| *known != name).copied().collect();
        let value = value.to_owned();
        changed.push((name, &value));
        server.ask("POST", "/relay", &changed, "{}").status
    };
    assert_eq!(with("x-closeread-token", "0"), 403);
    assert_eq!(with("origin", "https://evil.example"), 403);
    assert_eq!(with("origin", &format!("http://{}", server.host)), 200);
    for url in
        ["file:///etc/passwd", "ftp://x/", "/relative", "http://u:p@127.0.0.1/", &format!("http://{}/x", server.host)]
    {
        assert_eq!(with("x-closeread-url", url), 400, "{url}");
    }
    assert_eq!(target.asked("POST", "/v1/chat").len(), 2);
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = format!("http://{refused}/v1?key={KEY}");
    let reply = server.ask("POST", "/relay", &[headers[0], ("x-closeread-url", &nobody), headers[2]], "{}");
    assert_eq!(reply.status, 502);
    assert!(reply.text().contains("cannot be asked") && !reply.text().contains(KEY), "{}", reply.text());
    assert!(!server.end().contains(KEY));
}

#[test]
fn finding_16_the_relay_refuses_itself_however_it_is_spelled_and_what_only_this_machine_reaches() {
    let server = Server::start(&["--relay"]);
    let (token, port) = (server.token(), server.host.rsplit(':').next().unwrap().to_owned());
    let asked = |url: &str| {
        let headers = [("x-closeread-token", token.as_str()), ("x-closeread-url", url)];
        let reply = server.ask("POST", "/relay", &headers, "{}");
        (reply.status, reply.text())
    };
    for host in [
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "localhost.",
        "LOCALHOST",
        "page.localhost",
        "[::]",
        "[::1]",
        "[::ffff:0.0.0.0]",
        "0",
        "%31%32%37.0.0.1",
        "\u{ff11}27.0.0.1",
    ] {
        let (status, text) = asked(&format!("http://{host}:{port}/closeread.json"));
        // Headers hold no other letters: such an address is none.
        let said = if host.is_ascii() { "to itself" } else { "whole address" };
        assert!(status == 400 && text.contains(said), "{host}: {status} {text}");
    }
    for host in ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "2852039166", "0xa9fea9fe", "169.254.1.1."]
    {
        let (status, text) = asked(&format!("http://{host}/latest/meta-data/"));
        assert!(status == 400 && text.contains("link-local"), "{host}: {status} {text}");
    }
    for url in
        ["ws://127.0.0.1:1/", "ftp://127.0.0.1:1/", "file:///etc/passwd", "data:,x", "gopher://127.0.0.1:1/", "x"]
    {
        let (status, text) = asked(url);
        assert!(status == 400 && text.contains("http:// or https://"), "{url}: {status} {text}");
    }
}

#[test]
fn an_answer_is_passed_on_as_it_is_made() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/stream", listener.local_addr().unwrap());
    let (go_on, heard) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: one\n\n")
            .unwrap();
        heard.recv().unwrap();
        stream.write_all(b"data: two\n\n").unwrap();
    });
    let server = Server::start(&["--relay"]);
    let token = server.token();
    let stream = server.send("POST", "/relay", &[("x-closeread-token", &token), ("x-closeread-url", &url)], "{}");
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.any(|line| line == "data: one"));
    go_on.send(()).unwrap();
    assert!(lines.any(|line| line == "data: two"));
}

#[test]
fn without_the_option_nothing_is_passed_on() {
    let server = Server::start(&[]);
    let reply = server.ask("POST", "/relay", &[("x-closeread-url", "http://127.0.0.1:1/")], "{}");
    assert_eq!(reply.status, 404);
    assert!(reply.text().contains("--relay"), "{}", reply.text());
}

#[test]
fn what_cannot_be_served_says_what_to_do() {
    let sandbox = Sandbox::new();
    page(&sandbox);
    sandbox.run(&["serve", "--page", "nowhere"]).refuses(&["nowhere", "cargo xtask web"]);
    let named = sandbox.command(&["serve"]).env("CLOSEREAD_PAGE", "elsewhere").output().unwrap();
    Ended(named).refuses(&["elsewhere (by CLOSEREAD_PAGE)", "cargo xtask web"]);
    sandbox.run(&["serve", "--page", "page", "secret.txt"]).refuses(&["secret.txt", "no run folder"]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    sandbox.run(&["serve", "--page", "page", "--port", &port]).refuses(&[&port, "--port"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it() {
    let mut server = Server::start(&[]);
    let kill = std::process::Command::new("kill").args(["-INT", &server.child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn finding_16_links_in_a_run_folder_are_not_followed() {
    let server = Server::start(&[]);
    let link = |target: &str, name: &str| {
        let name = server.sandbox.path(name);
        let _ = std::fs::remove_file(&name);
        std::os::unix::fs::symlink(server.sandbox.path(target), name).unwrap();
    };
    link("secret.txt", "r/report.json");
    link("secret.txt", "r/texts/linked.txt.zst");
    server.sandbox.write("elsewhere/stolen.json", "not served");
    let _ = std::fs::remove_dir_all(server.sandbox.path("r/preparations"));
    link("elsewhere", "r/preparations");
    let listed = server.get("/runs/r/").text();
    for path in ["report.json", "texts/linked.txt.zst", "preparations/stolen.json"] {
        let reply = server.get(&format!("/runs/r/{path}"));
        assert_eq!(reply.status, 404, "{path}: {}", reply.text());
        assert!(!reply.text().contains("not served") && !listed.contains(path), "{path}: {listed}");
    }
    assert_eq!(server.get("/runs/r/items.jsonl").status, 200);
}

/// Open connections that say nothing take every descriptor: who is served before is served after, and no core is taken.
#[cfg(target_os = "linux")]
#[test]
fn finding_16_without_free_descriptors_it_rests_and_goes_on_afterwards() {
    let server = Server::started_after(Some("ulimit -n 32"), &[]);
    let silent: Vec<TcpStream> = (0..64).map(|_| TcpStream::connect(&server.host).unwrap()).collect();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let before = server.ticks();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let taken = server.ticks() - before;
    drop(silent);
    assert!(taken < 20, "{taken} hundredths of a second in one");
    let reply = server.get("/");
    assert_eq!((reply.status, reply.text().as_str()), (200, "<!doctype html><title>page</title>"));
}
