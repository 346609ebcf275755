//! Properties of reading books, pages, archives and servers' responses.

use crate::target::said;
use closeread_books::html::{Layout, is_page, sections, to_text, without_markup};
use closeread_books::{Book, ReadOptions, decode, read_epub};
use closeread_llm::Response;
use closeread_llm::provider::{Fault, HttpResponse, Protocol, StreamReader};
use closeread_text::FlowSpan;
use std::io::{Cursor, Write as _};
use zip::write::{SimpleFileOptions, ZipWriter};

const PROTOCOLS: [Protocol; 3] = [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini];

/// Every position of a text maps to a position of its file.
pub(crate) fn books(input: &[Vec<u8>]) -> Result<(), String> {
    let decoded = match decode(&input[0], None) {
        Ok(decoded) => decoded.text,
        Err(error) => return said(&error.to_string()),
    };
    let book = match Book::new("b", "", decoded.clone(), &ReadOptions::default()) {
        Ok(book) => book,
        Err(error) => return said(&error.to_string()),
    };
    let text = book.text().map_err(|error| error.to_string())?;
    let flow = text.flow().text();
    for (start, c) in flow.char_indices().step_by(7) {
        let span = text.flow().to_source(FlowSpan { start, end: start + c.len_utf8() });
        let there = decoded.get(span.range()).ok_or_else(|| format!("{span:?} cuts a character or is outside"))?;
        if !c.is_whitespace() && !there.contains(c) {
            return Err(format!("{c:?} at {start} is {there:?} in the file"));
        }
    }
    Ok(())
}

/// The text of a page is not much longer than the page.
pub(crate) fn pages(input: &[Vec<u8>]) -> Result<(), String> {
    let page = &*String::from_utf8_lossy(&input[0]);
    let _ = (is_page(page), without_markup(page));
    for layout in [Layout::Page, Layout::Book, Layout::Markdown] {
        let parts: usize = sections(page, layout).iter().map(|(heading, text)| heading.len() + text.len()).sum();
        let most = 4 * page.len() + 64;
        if to_text(page, layout).len() > most || parts > most {
            return Err(format!("a page of {} bytes became more than {most}", page.len()));
        }
    }
    Ok(())
}

/// Archives of changed files, and changed archives, never panic.
pub(crate) fn archives(input: &[Vec<u8>]) -> Result<(), String> {
    const CONTAINER: &str = r#"<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"#;
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let files = [
        ("META-INF/container.xml", CONTAINER.as_bytes()),
        ("book.opf", &input[0]),
        ("a.xhtml", &input[1]),
        ("b.xhtml", &input[2]),
    ];
    for (name, bytes) in files {
        zip.start_file(name, SimpleFileOptions::default()).map_err(|error| error.to_string())?;
        zip.write_all(bytes).map_err(|error| error.to_string())?;
    }
    let archive = zip.finish().map_err(|error| error.to_string())?.into_inner();
    let mut damaged = archive.clone();
    for pair in input[3].chunks_exact(2).take(4) {
        let at = (usize::from(pair[0]) * 257) % damaged.len();
        damaged[at] = pair[1];
    }
    for archive in [archive, damaged] {
        match read_epub(archive) {
            Ok(book) => drop(book),
            Err(error) => said(&error.to_string())?,
        }
    }
    Ok(())
}

/// A stream gives the same events however its bytes are cut.
pub(crate) fn streams(input: &[Vec<u8>]) -> Result<(), String> {
    for protocol in PROTOCOLS {
        let whole = streamed(protocol, [input[0].as_slice()].into_iter());
        let sizes = input[1].iter().map(|byte| usize::from(byte % 16) + 1).chain(std::iter::repeat(5));
        let mut rest = input[0].as_slice();
        let mut pieces = Vec::new();
        for size in sizes {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at(size.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        let cut = streamed(protocol, pieces.into_iter());
        if whole != cut {
            return Err(format!("{protocol:?}: {whole:?} whole, {cut:?} in pieces"));
        }
        faults(whole)?;
    }
    Ok(())
}

fn streamed<'b>(protocol: Protocol, pieces: impl Iterator<Item = &'b [u8]>) -> Result<Response, Fault> {
    let mut reader = StreamReader::new(protocol);
    for piece in pieces {
        reader.push(piece)?;
    }
    reader.finish()
}

/// Any body with any status is a response, or a fault with a message.
pub(crate) fn bodies(input: &[Vec<u8>]) -> Result<(), String> {
    let body = &*String::from_utf8_lossy(&input[0]);
    for protocol in PROTOCOLS {
        for status in [200, 400, 401, 404, 413, 429, 500, 529] {
            faults(protocol.read(HttpResponse { status, retry_after: None, body }))?;
        }
    }
    Ok(())
}

fn faults(result: Result<Response, Fault>) -> Result<(), String> {
    const MOST: usize = 4000;
    let message = match result {
        Ok(_) => return Ok(()),
        Err(Fault::Final(error) | Fault::Closed(error)) => error.to_string(),
        Err(Fault::Transient { message, .. } | Fault::Refused { message, .. }) => message,
    };
    match message.len() {
        0..=MOST => said(&message),
        long => Err(format!("a message of {long} bytes")),
    }
}
