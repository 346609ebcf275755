//! Proxies of the environment: those that never pass a request on, that are no addresses, or that a server on this machine is asked
//! past.

use crate::fault_server::{FaultServer, response, run_cases};
use crate::limits::six;
use crate::provider::{Server, answer};
use crate::support::{Ended, Sandbox};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

#[test]
fn finding_11_a_proxy_that_can_never_work_is_not_asked_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
        }
    });
    for proxy in [address.clone(), address.replace("http:", "socks5:")] {
        let sandbox = Sandbox::with_own_cache();
        six(&sandbox);
        let mut command = sandbox.command(&run_cases("openai-compatible/tiny", "https://models.example/v1", &[]));
        let ended = command.env("https_proxy", &proxy).env_remove("no_proxy").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains("correct the proxy in http_proxy") && !said.contains("try 2 of 8"), "{proxy}: {said}");
    }
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let mut command = sandbox.command(&run_cases("openai-compatible/tiny", "http://models.example/v1", &[]));
    let ended = command.env("http_proxy", &address).env_remove("no_proxy").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let words = "the proxy answered 407, which means that it wants a password; correct the proxy in http_proxy";
    assert!(said.contains(words) && !said.contains("try 2 of 8"), "{said}");
    for (proxy, url) in [("http_proxy", "http://models.example/v1"), ("https_proxy", "https://models.example/v1")] {
        let mut command = sandbox.command(&["doctor", "--base-url", url]);
        let ended = command.env(proxy, &address).env_remove("no_proxy").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        let told = said.lines().find(|line| line.contains("openai-compatible")).unwrap();
        let words = "does not answer: the proxy before it wants a login; correct the proxy in http_proxy";
        assert!(told.contains("BROKEN") && told.contains(words), "{said}");
    }
}

#[test]
fn a_proxy_that_is_no_address_is_named_without_its_password() {
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let server = FaultServer::start(|_, _, _| response("200 OK", "", &answer("[[1]]")));
    for (proxy, is_told) in [("http//user:sk-planted@proxy:3128", true), ("", false), ("proxy:3128", false)] {
        let mut command = sandbox.command(&run_cases("openai-compatible/tiny", &server.url, &["--fresh"]));
        let said = Ended(command.env("HTTPS_PROXY", proxy).output().unwrap()).exits(0).err();
        assert_eq!(said.contains("warning: HTTPS_PROXY is ignored"), is_told, "{proxy}: {said}");
        assert!(!said.contains("planted"), "{said}");
    }
}

#[test]
fn a_model_on_this_machine_is_asked_past_the_proxy() {
    let proxy = Server::start(vec![("407 Proxy Authentication Required", "{}".to_owned())]);
    let server = Server::start(vec![("200 OK", answer("[[1]]"))]);
    let sandbox = Sandbox::with_own_cache();
    six(&sandbox);
    let mut command = sandbox.command(&run_cases("openai-compatible/tiny", &server.url, &[]));
    let ended =
        command.env("http_proxy", &proxy.url).env("all_proxy", &proxy.url).env_remove("no_proxy").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && !said.contains("proxy"), "{said}");
}
