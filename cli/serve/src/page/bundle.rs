//! A page inside the program: its files, packed, and the answers to requests for them.

use crate::path;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::read::GzDecoder;
use std::borrow::Cow;
use std::io::Read;

/// The files of a page, in the order of their paths.
#[derive(Debug)]
pub struct Bundle {
    /// The files, each once.
    pub files: &'static [Packed],
}

/// A file of a page.
#[derive(Debug)]
pub struct Packed {
    /// Path below the page, with `/`.
    pub path: &'static str,
    /// The beginning of the SHA-256 of its bytes.
    pub tag: &'static str,
    /// Content of the file.
    pub content: Content,
}

/// The bytes of a file.
#[derive(Debug)]
pub enum Content {
    /// Bytes packed by gzip.
    Gzip(&'static [u8]),
    /// Bytes that the program holds for itself, too, and how they are got.
    Made(fn() -> &'static [u8]),
}

impl Bundle {
    fn find(&self, path: &str) -> Option<&'static Packed> {
        let at = self.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        Some(&self.files[at])
    }

    /// The bytes of a file; `None` where there is none of that path.
    pub(super) fn read(&self, path: &str) -> Option<Cow<'static, [u8]>> {
        self.find(path).map(|file| file.content.whole())
    }
}

impl Content {
    fn whole(&self) -> Cow<'static, [u8]> {
        match self {
            Self::Made(bytes) => Cow::Borrowed(bytes()),
            Self::Gzip(packed) => {
                let mut bytes = Vec::new();
                GzDecoder::new(*packed).read_to_end(&mut bytes).expect("the build packed it");
                Cow::Owned(bytes)
            }
        }
    }
}

/// Answers a request for a file.
pub(crate) fn answer(bundle: &'static Bundle, request: &Request) -> Response {
    let parts = path::parts(request.uri().path()).unwrap_or_default();
    let name = if parts.is_empty() { "index.html".to_owned() } else { parts.join("/") };
    let Some(file) = bundle.find(&name) else { return with(StatusCode::NOT_FOUND, Body::from("no such file")) };
    let headers = request.headers();
    let tag = format!("\"{}\"", file.tag);
    let asked = |name, word: &str| listed(headers, name).any(|one| one == word);
    let mut response = if asked(header::IF_NONE_MATCH, &tag) {
        with(StatusCode::NOT_MODIFIED, Body::empty())
    } else {
        match file.content {
            Content::Gzip(packed) if asked(header::ACCEPT_ENCODING, "gzip") => {
                let mut response = with(StatusCode::OK, Body::from(packed));
                response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                response
            }
            ref content => with(
                StatusCode::OK,
                match content.whole() {
                    Cow::Borrowed(bytes) => Body::from(bytes),
                    Cow::Owned(bytes) => Body::from(bytes),
                },
            ),
        }
    };
    let kind = mime_guess::from_path(file.path).first_or_octet_stream();
    let facts = [
        (header::CONTENT_TYPE, kind.as_ref()),
        (header::ETAG, tag.as_str()),
        (header::VARY, "accept-encoding"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    for (name, value) in facts {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn with(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// The words of a header that is a list, without their weights.
fn listed(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|one| one.split(';').next().unwrap_or_default().trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use pollster::block_on;

    /// `gzip -9n` of `let a = 1;`, in hexadecimal digits of its bytes.
    const PACKED: [u8; 30] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 73, 45, 81, 72, 84, 176, 85, 48, 180, 6, 0, 100, 149, 49, 150, 10, 0, 0,
        0,
    ];
    static BUNDLE: Bundle = Bundle {
        files: &[
            Packed { path: "index.html", tag: "aa", content: Content::Made(|| b"<p>") },
            Packed { path: "models/x/model.onnx", tag: "cc", content: Content::Made(|| b"onnx") },
            Packed { path: "runs/app.js", tag: "bb", content: Content::Gzip(&PACKED) },
        ],
    };

    fn asked(path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap, Vec<u8>) {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body) = answer(&BUNDLE, &request.body(Body::empty()).expect("valid")).into_parts();
        (head.status.as_u16(), head.headers, block_on(to_bytes(body, 1 << 20)).expect("whole").to_vec())
    }

    #[test]
    fn files_go_packed_to_who_takes_that_and_whole_to_others() {
        let (status, headers, body) = asked("/runs/app.js", &[]);
        assert_eq!((status, body.as_slice(), headers.get("content-encoding")), (200, &b"let a = 1;"[..], None));
        assert_eq!(headers["content-type"], "text/javascript");
        let (_, headers, body) = asked("/runs/app.js?x=1", &[("accept-encoding", "br, gzip;q=0.8")]);
        assert_eq!((&headers["content-encoding"], body.as_slice()), (&HeaderValue::from_static("gzip"), &PACKED[..]));
        assert_eq!(asked("/models/x/model.onnx", &[("accept-encoding", "gzip")]).2, b"onnx");
        assert_eq!(asked("/", &[]).2, b"<p>");
        assert_eq!(BUNDLE.read("runs/app.js").as_deref(), Some(&b"let a = 1;"[..]));
    }

    #[test]
    fn what_has_not_changed_is_not_sent_and_what_is_not_there_is_not_found() {
        let (status, headers, body) = asked("/runs/app.js", &[("if-none-match", "\"bb\"")]);
        assert_eq!((status, body.len(), &headers["etag"]), (304, 0, &HeaderValue::from_static("\"bb\"")));
        for path in ["/runs", "/nothing.js", "/runs/../index.html"] {
            let (status, ..) = asked(path, &[]);
            // `checked` refuses the last one before it comes here.
            assert!(status == 404 || path.contains(".."), "{path}");
        }
    }
}
