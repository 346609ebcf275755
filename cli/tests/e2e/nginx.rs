//! Faults as Debian's nginx gives them: its own error pages where a limit, a dead or a silent server makes it, and bodies
//! that providers were seen to send, served as files.

use crate::fault_server::{Act, FaultServer, cases, records, response, run_cases};
use crate::provider::answer;
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A case: one address of nginx, named by its place in the list.
struct Case {
    says: &'static str,
    outcome: &'static str,
    serves: Serves,
}

enum Serves {
    /// Every request meets the file, with this status and these headers.
    File(u16, &'static str, String),
    /// The first request meets the file, the next one the model, and so on in turns.
    FileInTurns(u16, &'static str, String),
    /// The response that nginx itself makes of these lines in a `location`.
    Lines(String),
}

/// nginx in a folder of its own; ended when dropped.
struct Nginx {
    port: u16,
    child: Child,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join("nginx")).find(|file| file.is_file()).expect("nginx is installed")
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The port of a server's address.
fn port_of(url: &str) -> &str {
    url.trim_end_matches("/v1").rsplit(':').next().unwrap()
}

impl Nginx {
    /// Serves the cases under `/0/v1`, `/1/v1` and so on; `good` is the port of the model that answers.
    fn start(program: &Path, folder: &Path, cases: &[Case], good: &str) -> Self {
        let (port, files) = (free_port(), free_port());
        let at = folder.display();
        let (mut upstreams, mut front, mut back) = (String::new(), String::new(), String::new());
        for (n, case) in cases.iter().enumerate() {
            let body = |body: &str| std::fs::write(folder.join(format!("{n}.body")), body).unwrap();
            let mut file = |status: u16, headers: &str, text: &str| {
                body(text);
                // nginx takes no POST for a file: the refusal is turned into the file, whose own status is the one wanted.
                write!(
                    back,
                    "location /{n}/ {{ error_page 405 ={status} /{n}.body; return 405; }}\n\
                     location = /{n}.body {{ {headers} }}\n"
                )
                .unwrap();
            };
            match &case.serves {
                Serves::File(status, headers, text) => {
                    file(*status, headers, text);
                    writeln!(front, "location /{n}/ {{ proxy_pass http://127.0.0.1:{files}; }}").unwrap();
                }
                Serves::FileInTurns(status, headers, text) => {
                    file(*status, headers, text);
                    writeln!(upstreams, "upstream turns{n} {{ server 127.0.0.1:{files}; server 127.0.0.1:{good}; }}")
                        .unwrap();
                    writeln!(front, "location /{n}/ {{ proxy_pass http://turns{n}; }}").unwrap();
                }
                Serves::Lines(lines) => writeln!(front, "location /{n}/ {{ {lines} }}").unwrap(),
            }
        }
        let dead = free_port();
        let configuration = format!(
            "daemon off;\nworker_processes 1;\npid {at}/pid;\nerror_log {at}/error.log;\nevents {{}}\nhttp {{\n\
             access_log off;\nclient_body_temp_path {at}/b;\nproxy_temp_path {at}/p;\nfastcgi_temp_path {at}/f;\n\
             uwsgi_temp_path {at}/u;\nscgi_temp_path {at}/s;\ndefault_type application/json;\n\
             limit_req_zone $server_name zone=limit:1m rate=1r/s;\nproxy_next_upstream off;\nproxy_read_timeout 1s;\n\
             upstream model {{ server 127.0.0.1:{good}; }}\n\
             upstream half_dead {{ server 127.0.0.1:{dead} max_fails=0; server 127.0.0.1:{good} max_fails=0; }}\n\
             {upstreams}server {{ listen 127.0.0.1:{port};\n{front}}}\n\
             server {{ listen 127.0.0.1:{files}; root {at};\n{back}}}\n}}\n"
        );
        std::fs::write(folder.join("nginx.conf"), configuration).unwrap();
        let mut command = Command::new(program);
        command.arg("-p").arg(folder).arg("-c").arg(folder.join("nginx.conf"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = std::fs::read_to_string(folder.join("error.log")).unwrap_or_default();
            assert!(Instant::now() < until, "nginx does not answer: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        Self { port, child }
    }
}

fn error(message: &str) -> String {
    json!({"error": {"message": message}}).to_string()
}

fn choice(message: &Value, finish_reason: &str) -> String {
    json!({"choices": [{"message": message, "finish_reason": finish_reason}]}).to_string()
}

#[test]
#[ignore = "needs nginx"]
fn needs_nginx_what_nginx_sends_is_waited_for_or_recorded_as_what_it_is() {
    let program = program();
    let model = FaultServer::start(|_, _, _| response("200 OK", "", &answer("[[1]]")));
    let silent = FaultServer::start(|_, _, _| Act::Hang);
    let (good, hung) = (port_of(&model.url).to_owned(), port_of(&silent.url).to_owned());
    let passes = |says, serves| Case { says, outcome: "answered", serves };
    let stays = |says, outcome, serves| Case { says, outcome, serves };
    let in_turns = |status, headers, body: &str| Serves::FileInTurns(status, headers, body.to_owned());
    let file = |status, body: String| Serves::File(status, "", body);
    let long = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
    let tei = "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens";
    let list = [
        passes("[[1]]", Serves::Lines("limit_req zone=limit; limit_req_status 429; proxy_pass http://model;".into())),
        passes("[[1]]", Serves::Lines("proxy_pass http://half_dead;".into())),
        passes("[[1]]", in_turns(200, "default_type text/html;", "<html><body>Welcome to nginx!</body></html>")),
        passes("[[1]]", in_turns(200, "", &error("Provider returned error"))),
        passes("[[1]]", in_turns(200, "", r#"{"choices":[{"message":{"content":"[[2"#)),
        passes("[[1]]", in_turns(200, "", "")),
        passes(
            "[[1]]",
            in_turns(429, "add_header Retry-After \"Wed, 21 Oct 2015 07:28:00 GMT\" always;", &error("slow down")),
        ),
        passes("[[1]]", in_turns(529, "", r#"{"type":"error","error":{"type":"overloaded_error"}}"#)),
        stays("answered 413", "failed", Serves::Lines("client_max_body_size 10; proxy_pass http://model;".into())),
        stays("answered 405", "failed", Serves::Lines("return 405;".into())),
        stays(
            "and sends us to https://elsewhere.example/v1: give",
            "failed",
            Serves::Lines("return 308 https://elsewhere.example/v1?key=secret;".into()),
        ),
        stays("\"response\":\"\"", "unparsed", file(200, choice(&json!({"content": null}), "stop"))),
        stays("content_filter", "blocked", file(200, choice(&json!({"content": ""}), "content_filter"))),
        stays("\"context_window\":8192", "overflow", file(400, error(long))),
        stays(
            "\"context_window\":4096",
            "overflow",
            file(422, json!({"error": tei, "error_type": "validation"}).to_string()),
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    // A worker of another user must get into it.
    let open = Command::new("chmod").arg("755").arg(folder.path()).status().unwrap();
    assert!(open.success());
    let nginx = Nginx::start(&program, folder.path(), &list, &good);
    for (n, case) in list.iter().enumerate() {
        let sandbox = Sandbox::with_own_cache();
        let names = [format!("{n} a"), format!("{n} b"), format!("{n} c")];
        cases(&sandbox, &names);
        let base = format!("http://127.0.0.1:{}/{n}/v1", nginx.port);
        let ended = sandbox.run(&run_cases("openai-compatible/tiny", &base, &["--timeout", "20"]));
        let ended = ended.exits(i32::from(case.outcome == "failed"));
        let told = records(&sandbox);
        assert_eq!(told.len(), names.len(), "{n}: {}", ended.err());
        for record in told.values() {
            assert_eq!(record["outcome"], case.outcome, "{n}: {record}\n{}", ended.err());
            assert!(record.to_string().contains(case.says), "{n}: `{}` is not in {record}", case.says);
        }
        assert!(!format!("{told:?}{}", ended.err()).contains("secret"), "what follows an address is not repeated");
    }

    // nginx gives up on a model that is silent, with a page of its own.
    let slow = [stays("", "", Serves::Lines(format!("proxy_pass http://127.0.0.1:{hung};")))];
    let folder = tempfile::tempdir().unwrap();
    let nginx = Nginx::start(&program, folder.path(), &slow, &good);
    let sandbox = Sandbox::new();
    let base = format!("http://127.0.0.1:{}/0/v1", nginx.port);
    let check = ["providers", "check", "openai-compatible/tiny", "--base-url", &base];
    let mut child = sandbox.command(&check).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while silent.n_requests() < 2 {
        assert!(Instant::now() < until, "a 504 is tried again, got {} requests", silent.n_requests());
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}
