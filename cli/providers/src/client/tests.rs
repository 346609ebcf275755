use super::*;

#[test]
fn a_date_counts_from_the_servers_clock() {
    let mut headers = HeaderMap::new();
    headers.insert("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT".parse().unwrap());
    assert_eq!(retry_after(&headers), Some(Duration::ZERO), "years ago by our own clock");
    headers.insert("date", "Wed, 21 Oct 2015 07:28:00 GMT".parse().unwrap());
    assert_eq!(retry_after(&headers), Some(Duration::from_secs(30)));
}

/// A client of servers on this machine.
fn http_here() -> reqwest::Client {
    http(Duration::from_secs(5), &Address::new("http://localhost", "--base-url").unwrap()).unwrap()
}

/// Returns how a GET ends at a server that shows the certificate.
async fn shown(certificate: rcgen::CertificateParams) -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    let chain = vec![certificate.self_signed(&key).unwrap().der().clone()];
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let client = http_here();
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut tls = rustls::ServerConnection::new(std::sync::Arc::new(config)).unwrap();
        // The client ends it: that is what is tested.
        while tls.complete_io(&mut stream).is_ok_and(|(read, _)| read > 0) {}
    });
    said_of(&client, url).await
}

async fn said_of(client: &reqwest::Client, url: String) -> String {
    match broken(client.get(url).send().await.unwrap_err()) {
        Fault::Closed(HostError::Failed(said)) => said,
        fault => panic!("{fault:?}"),
    }
}

#[tokio::test]
async fn finding_11_a_certificate_that_is_not_trusted_is_not_tried_again() {
    let of = |name: &str| rcgen::CertificateParams::new([name.to_owned()]).unwrap();
    let said = shown(of("localhost")).await;
    assert!(said.contains("certificate is not trusted: add who signed it"), "{said}");
    let mut old = of("localhost");
    old.not_after = rcgen::date_time_ymd(2020, 1, 1);
    for (certificate, words) in [(old, "expired"), (of("example.org"), "not valid for name")] {
        let said = shown(certificate).await;
        assert!(said.contains("invalid peer certificate"), "{words}: {said}");
    }
}

/// Returns how a GET ends at a server that answers so, and closes.
async fn answered(scheme: &str, answer: &'static [u8]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("{scheme}://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        stream.write_all(answer).unwrap();
    });
    said_of(&http_here(), url).await
}

#[tokio::test]
async fn finding_11_a_server_without_tls_is_not_asked_for_it_again() {
    let said = answered("https", b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").await;
    assert!(said.contains("does not speak TLS"), "{said}");
}

#[tokio::test]
async fn finding_11_a_server_that_does_not_speak_http_is_not_asked_again() {
    for answer in [&b"-ERR unknown command 'POST'\r\n"[..], b"\x15\x03\x01\0\x02\x02\x16", b"\0\xff garbage", b"no"] {
        let said = answered("http", answer).await;
        assert!(said.contains("does not speak HTTP: check host and port"), "{said}");
    }
}
