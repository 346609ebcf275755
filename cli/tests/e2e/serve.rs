//! `closeread serve`, as a browser meets it.

mod server;

use crate::http::{HttpServer, ok};
use crate::support::{Ended, Sandbox};
use serde_json::json;
use server::{Server, page};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

const KEY: &str = "sk-planted-7d1e0c2b9a8f4e6d";

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
    let isolated = ["cross-origin-opener-policy", "cross-origin-embedder-policy"].map(|name| index.header(name));
    assert_eq!(isolated, [Some("same-origin"), Some("credentialless")]);
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
    let server = Server::start(&["--no-relay"]);
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
    for path in ["/runs/r/records.jsonl", "/closeread_wasm.js"] {
        let whole = server.get(path);
        let (tag, date) = (whole.header("etag").unwrap(), whole.header("last-modified").unwrap());
        for (validator, status) in [(tag, 206), ("\"other\"", 200), (&format!("W/{tag}"), 200), (date, 200)] {
            let asked = [("range", "bytes=10-19"), ("if-range", validator)];
            assert_eq!(server.ask("GET", path, &asked, "").status, status, "{path} {validator}");
        }
    }
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
fn finding_16_a_path_that_no_system_knows_is_not_found() {
    let server = Server::start(&["--no-relay"]);
    let long = |n: usize| "x".repeat(n);
    for path in
        [format!("/{}", long(256)), format!("/runs/r/texts/{}.txt.zst", long(300)), format!("/{}.js", long(255))]
    {
        assert_eq!(server.get(&path).status, 404, "{path}");
    }
    for path in [format!("/{}", long(5000)), format!("/runs/r/texts{}", "/x".repeat(1100))] {
        let refused = server.get(&path);
        assert!(refused.status == 414 && refused.text().contains("longer than 2048 bytes"), "{}", refused.text());
    }
}

#[test]
fn another_sites_name_that_leads_here_is_refused() {
    let server = Server::start(&[]);
    for host in ["evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1"] {
        let response = server.ask("GET", "/runs/r/items.jsonl", &[("host", host)], "");
        assert_eq!(response.status, 421, "{host}");
        assert!(!response.text().contains("question"), "{host}");
        // Behind a forwarded port somebody has to be told what to do.
        let port = server.host.rsplit(':').next().unwrap();
        assert!(response.text().contains(&format!("forward port {port} to the same number")), "{}", response.text());
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
    let response = server.ask("POST", "/relay", &headers, "{\"q\": 1}");
    assert_eq!((response.status, response.json()), (200, json!({"heard": "{\"q\": 1}"})));
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
    let response = server.ask("POST", "/relay", &[headers[0], ("x-closeread-url", &nobody), headers[2]], "{}");
    assert_eq!(response.status, 502);
    assert!(response.text().contains("cannot be asked") && !response.text().contains(KEY), "{}", response.text());
    assert!(!server.end().contains(KEY));
}

#[test]
fn finding_16_the_relay_refuses_itself_however_it_is_spelled_and_what_only_this_machine_reaches() {
    let server = Server::start(&["--relay"]);
    let (token, port) = (server.token(), server.host.rsplit(':').next().unwrap().to_owned());
    let asked = |url: &str| {
        let headers = [("x-closeread-token", token.as_str()), ("x-closeread-url", url)];
        let response = server.ask("POST", "/relay", &headers, "{}");
        (response.status, response.text())
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
    for host in [
        "169.254.169.254",
        "[fe80::1]",
        "[::ffff:169.254.169.254]",
        "2852039166",
        "0xa9fea9fe",
        "169.254.1.1.",
        "[64:ff9b::169.254.169.254]",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
    ] {
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
fn finding_16_a_request_that_breaks_off_is_not_called_too_large_by_the_relay() {
    let server = Server::start(&["--relay"]);
    let token = server.token();
    for (framing, body) in [
        ("transfer-encoding: chunked", "zz\r\n{}\r\n"),
        ("transfer-encoding: chunked", "ffffffffffffffffff\r\n{}\r\n"),
        ("content-length: 10", "{}"),
    ] {
        let mut stream = TcpStream::connect(&server.host).unwrap();
        let head = format!("POST /relay HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{framing}", server.host);
        let whom = format!("x-closeread-token: {token}\r\nx-closeread-url: http://127.0.0.1:1/v1/x");
        stream.write_all(format!("{head}\r\n{whom}\r\n\r\n{body}").as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("the request broke off"), "{framing}: {answer}");
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
fn without_the_option_only_servers_of_models_on_this_machine_are_asked() {
    let models = HttpServer::start(|asked| match asked.path.as_str() {
        "/v1/models" => ok(&json!({"object": "list", "data": [{"id": "tiny", "meta": {"n_ctx": 512}}]})),
        _ => ok(&json!({"heard": asked.body})),
    });
    let other = HttpServer::start(|_| ok(&json!({})));
    let port_of = |url: &str| url.rsplit(':').next().unwrap().to_owned();
    let port = port_of(&models.url);
    let server = Server::start(&["--model-port", &port]);
    let described = server.get("/closeread.json").json();
    assert_eq!(described["relay"]["any"], json!(false));
    let token = server.token();
    let asked = |url: &str| {
        let response = server.ask("POST", "/relay", &[("x-closeread-token", &token), ("x-closeread-url", url)], "{}");
        (response.status, response.text())
    };
    assert_eq!(asked(&format!("{}/v1/chat/completions", models.url)), (200, json!({"heard": "{}"}).to_string()));
    assert_eq!(asked(&format!("http://localhost:{port}/v1/chat/completions")).0, 200);
    let elsewhere = port_of(&other.url);
    for url in [
        format!("{}/api/tags", models.url),
        format!("{}/v1/../api/tags", models.url),
        format!("{}/v1/%2e%2e/api/tags", models.url),
        format!("{}/v1/..%2fapi/tags", models.url),
        format!("{}/v1", models.url),
        format!("http://127.0.0.2:{port}/v1/models"),
        format!("http://[::1]:{port}/v1/models"),
        format!("https://127.0.0.1:{port}/v1/models"),
        format!("http://127.0.0.1:{elsewhere}/v1/models"),
        "https://api.example/v1/models".to_owned(),
    ] {
        let (status, text) = asked(&url);
        assert!(status == 400 && text.contains("--relay"), "{url}: {status} {text}");
    }
    assert_eq!(other.asked("POST", "/").len(), 0);
    let nobody = [("x-closeread-url", &*models.url)];
    assert_eq!(server.ask("POST", "/relay", &nobody, "{}").status, 403);

    assert_eq!(server.get("/local-models").status, 403);
    let evil = [("x-closeread-token", &*token), ("origin", "https://evil.example")];
    assert_eq!(server.ask("GET", "/local-models", &evil, "").status, 403);
    let found = server.ask("GET", "/local-models", &[("x-closeread-token", &token)], "").json();
    let servers = found["servers"].as_array().unwrap();
    let ports: Vec<_> = servers.iter().map(|server| server["port"].to_string()).collect();
    assert_eq!(ports, ["11434", "1234", "8080", &port]);
    assert_eq!(servers[3]["models"], json!([{"id": "tiny", "meta": {"n_ctx": 512}}]));
}

#[test]
fn what_is_no_list_of_models_is_said() {
    let odd = HttpServer::start(|_| ok(&json!({"hello": 1})));
    let port = odd.url.rsplit(':').next().unwrap().to_owned();
    let server = Server::start(&["--model-port", &port]);
    let found = server.ask("GET", "/local-models", &[("x-closeread-token", &server.token())], "").json();
    let last = found["servers"].as_array().unwrap().last().unwrap();
    assert!(last["error"].as_str().unwrap().contains("OpenAI's protocol"), "{last}");
    assert_eq!(last["models"], json!(null));
}

#[test]
fn by_the_option_nothing_is_passed_on() {
    let server = Server::start(&["--no-relay"]);
    for (method, path) in [("POST", "/relay"), ("GET", "/local-models")] {
        let response = server.ask(method, path, &[("x-closeread-url", "http://127.0.0.1:1/")], "{}");
        assert_eq!(response.status, 404);
        assert!(response.text().contains("--relay"), "{}", response.text());
    }
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
        let response = server.get(&format!("/runs/r/{path}"));
        assert_eq!(response.status, 404, "{path}: {}", response.text());
        assert!(!response.text().contains("not served") && !listed.contains(path), "{path}: {listed}");
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
    let response = server.get("/");
    assert_eq!((response.status, response.text().as_str()), (200, "<!doctype html><title>page</title>"));
}
