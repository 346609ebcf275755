//! Paths of requests, kinds of files, ranges of bytes.

use super::answer::{Answer, answer, failure, streamed, whole};
use futures_util::stream;
use hyper::body::Bytes;
use hyper::http::request::Parts;
use hyper::{Method, StatusCode, header};
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Bytes that are read at once.
const PIECE: usize = 256 << 10;

/// The parts of a path, unescaped; `None` where one could lead out of a folder or to a hidden file.
pub(super) fn parts(path: &str) -> Option<Vec<String>> {
    let parts: Option<Vec<String>> = path.trim_start_matches('/').split('/').map(unescaped).collect();
    let mut parts = parts?;
    if parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    let is_plain = |part: &String| !part.is_empty() && !part.starts_with('.') && !part.contains(['/', '\\', ':', '\0']);
    parts.iter().all(is_plain).then_some(parts)
}

fn unescaped(part: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::new(), part.as_bytes());
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// What a browser is told that a file is.
pub(super) fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "jsonl" => "application/jsonl",
        "txt" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "zst" => "application/zstd",
        "webmanifest" => "application/manifest+json",
        _ => "application/octet-stream",
    }
}

/// What changes when a file does.
pub(super) fn stamp(metadata: &Metadata) -> String {
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    format!("\"{:x}-{:x}\"", metadata.len(), changed.map_or(0, |time| time.as_nanos()))
}

/// True if the reader has the file of this tag.
pub(super) fn is_known(request: &Parts, tag: &str) -> bool {
    let known = request.headers.get(header::IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).unwrap_or_default();
    known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag || known.trim() == "*")
}

/// A file that may be too long to hold, or the bytes of it that were asked for.
pub(super) fn long(request: &Parts, path: &Path) -> Answer {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let Ok((metadata, mut file)) = opened else { return failure(StatusCode::NOT_FOUND, "no such file") };
    let (tag, length) = (stamp(&metadata), metadata.len());
    let builder = |status| {
        answer(status)
            .header(header::CONTENT_TYPE, kind(&path.to_string_lossy()))
            .header(header::ETAG, &tag)
            .header(header::CACHE_CONTROL, "no-cache")
            .header(header::ACCEPT_RANGES, "bytes")
    };
    if is_known(request, &tag) {
        return whole(builder(StatusCode::NOT_MODIFIED), Bytes::new());
    }
    let asked = request.headers.get(header::RANGE).and_then(|range| range.to_str().ok());
    let still = request.headers.get(header::IF_RANGE).is_none_or(|known| known.as_bytes() == tag.as_bytes());
    let (status, bytes) = match asked.filter(|_| still).map(|range| self::range(range, length)) {
        None | Some(Asked::All) => (StatusCode::OK, 0..length),
        Some(Asked::Part(bytes)) => (StatusCode::PARTIAL_CONTENT, bytes),
        Some(Asked::Beyond) => {
            let builder = builder(StatusCode::RANGE_NOT_SATISFIABLE);
            return whole(builder.header(header::CONTENT_RANGE, format!("bytes */{length}")), Bytes::new());
        }
    };
    let mut builder = builder(status).header(header::CONTENT_LENGTH, bytes.end - bytes.start);
    if status == StatusCode::PARTIAL_CONTENT {
        builder = builder.header(header::CONTENT_RANGE, format!("bytes {}-{}/{length}", bytes.start, bytes.end - 1));
    }
    if request.method == Method::HEAD {
        return whole(builder, Bytes::new());
    }
    if file.seek(SeekFrom::Start(bytes.start)).is_err() {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read");
    }
    let left = bytes.end - bytes.start;
    streamed(
        builder,
        stream::unfold((file, left), |(mut file, left)| async move {
            if left == 0 {
                return None;
            }
            let mut piece = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
            let read = file.read_exact(&mut piece).map(|()| Bytes::from(piece));
            let left = read.as_ref().map_or(0, |piece| left - piece.len() as u64);
            Some((read, (file, left)))
        }),
    )
}

/// What a `Range` asks for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// Several ranges, or another unit: the whole is an answer to these too.
    All,
    Part(Range<u64>),
    Beyond,
}

fn range(asked: &str, length: u64) -> Asked {
    let Some((first, last)) = asked.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Asked::All;
    };
    let bytes = match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Ok(first), Err(_)) if last.trim().is_empty() => first..length,
        (Err(_), Ok(last)) if first.trim().is_empty() => length.saturating_sub(last)..length,
        _ => return Asked::All,
    };
    if bytes.start < bytes.end { Asked::Part(bytes) } else { Asked::Beyond }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_never_leaves_its_folder() {
        assert_eq!(parts("/runs/a%20b/items.jsonl").unwrap(), ["runs", "a b", "items.jsonl"]);
        assert_eq!(parts("/").unwrap(), [""; 0]);
        for path in ["/../x", "/a/%2e%2e/x", "/a/.lock", "/a%2fb", "/a//b", "/%5c..%5cx", "/C:/x", "/%zz", "/%"] {
            assert_eq!(parts(path), None, "{path}");
        }
    }

    #[test]
    fn ranges_are_cut_to_the_file() {
        assert_eq!(range("bytes=2-4", 10), Asked::Part(2..5));
        assert_eq!(range("bytes=8-99", 10), Asked::Part(8..10));
        assert_eq!(range("bytes=4-", 10), Asked::Part(4..10));
        assert_eq!(range("bytes=-3", 10), Asked::Part(7..10));
        assert_eq!(range("bytes=10-", 10), Asked::Beyond);
        assert_eq!(range("bytes=1-2,4-5", 10), Asked::All);
        assert_eq!(range("lines=1-2", 10), Asked::All);
    }
}
