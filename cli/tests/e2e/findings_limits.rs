//! Files made to fill the memory: a case a finding, by the numbers of issue 19, each with little memory.

use crate::support::{Ended, Sandbox};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Kilobytes of address space that the binary gets, of which it takes a third before it reads anything.
const MEMORY: usize = 1_500_000;

/// The binary with little memory. A case that exceeds it ends by a signal.
fn with_little_memory(sandbox: &Sandbox, args: &[&str]) -> Ended {
    Ended(sandbox.command_after(&format!("ulimit -v {MEMORY}"), args).output().unwrap())
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An EPUB whose reading order names its one chapter `n` times.
fn epub(container: &[u8], items: &str, chapter: &[u8], n: usize) -> Vec<u8> {
    let refs = "<itemref idref='a'/>".repeat(n);
    let package = format!(
        "<package version='2.0' unique-identifier='u' xmlns='http://www.idpf.org/2007/opf'><metadata \
         xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:identifier id='u'>x</dc:identifier></metadata><manifest><item \
         id='a' href='a.xhtml' media-type='application/xhtml+xml'/>{items}</manifest><spine>{refs}</spine></package>"
    );
    archive(&[("META-INF/container.xml", container), ("b.opf", package.as_bytes()), ("a.xhtml", chapter)])
}

const CONTAINER: &str = "<container version='1.0' xmlns='urn:oasis:names:tc:opendocument:xmlns:container'><rootfiles>\
    <rootfile full-path='b.opf' media-type='application/oebps-package+xml'/></rootfiles></container>";

#[test]
fn finding_05_notes_on_the_texts_of_a_benchmark_are_notes_of_its_runs() {
    let sandbox = Sandbox::with_own_cache();
    let page = b"<p>It rained for a week.</p>".as_slice();
    let package = b"<package version='2.0' unique-identifier='u' xmlns='http://www.idpf.org/2007/opf'><metadata \
        xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:identifier id='u'>x</dc:identifier></metadata><manifest><item \
        id='a' href='a.xhtml' media-type='application/xhtml+xml'/><item id='b' href='b.pdf' media-type='application/pdf'/>\
        </manifest><spine><itemref idref='a'/><itemref idref='b'/></spine></package>";
    let files: [(&str, &[u8]); 4] =
        [("META-INF/container.xml", CONTAINER.as_bytes()), ("b.opf", package), ("a.xhtml", page), ("b.pdf", b"%PDF")];
    sandbox.write("set/book.epub", archive(&files));
    sandbox.write("set/page.html", "<!DOCTYPE html>\n<html><body><p>It rained.</p></body></html>");
    let documents = [json!({"id": "b", "path": "book.epub"}), json!({"id": "w", "path": "page.html"})];
    sandbox.write("set/documents.jsonl", documents.map(|document| format!("{document}\n")).concat());
    let item = |id: &str| json!({"id": id, "documents": [id], "question": "How long?", "answers": ["a week"]});
    sandbox.write("set/items.jsonl", ["b", "w"].map(|id| format!("{}\n", item(id))).concat());
    let run = ["run", "--benchmark", "set", "--method", "closed-book", "--out"];
    // The second part reads what the first one kept of the documents.
    for (out, more) in [("r", &[][..]), ("p1", &["--shard", "1/2"]), ("p2", &["--shard", "2/2"])] {
        let said = sandbox.run(&[&run[..], &[out], more].concat()).exits(0).err();
        assert!(said.contains("2 notes on the data") && said.contains("document `b`"), "{out}: {said}");
        let report = std::fs::read(sandbox.path(out).join("report.json")).unwrap();
        let problems = serde_json::from_slice::<Value>(&report).unwrap()["problems"].take();
        let found =
            problems.as_array().unwrap().iter().map(|it| (it["line"].as_u64(), it["message"].as_str().unwrap()));
        let found: Vec<_> = found.collect();
        let [(Some(1), of_book), (Some(2), of_page)] = found[..] else { panic!("{problems}") };
        assert!(of_book.contains("`/b.pdf` is left out: application/pdf is no text"), "{of_book}");
        assert!(of_page.contains("page.html: a web page, whose markup is read as text"), "{of_page}");
    }
}

#[test]
fn finding_09_an_epub_that_unpacks_to_more_than_a_book_is_refused() {
    let sandbox = Sandbox::new();
    let page = b"<p>It rained for a week.</p>".as_slice();
    let chapter = |n_bytes: usize| [page, b"<!--", &vec![b'x'; n_bytes], b"-->"].concat();
    let (large, spaces) = (chapter(33 << 20), " ".repeat(5 << 20));
    let container = [CONTAINER.as_bytes(), spaces.as_bytes()].concat();
    let elsewhere = CONTAINER.replace("b.opf", "&#98;.opf");
    let ghosts: Vec<String> = (0..20_001).map(|n| n.to_string()).collect();
    let mut many: Vec<(&str, &[u8])> = ghosts.iter().map(|name| (name.as_str(), &b""[..])).collect();
    many.push(("META-INF/container.xml", CONTAINER.as_bytes()));
    for (name, bytes, words) in [
        ("chapter", epub(CONTAINER.as_bytes(), "", &large, 1), "chapter `/a.xhtml` would unpack to more than 32 MiB"),
        ("spine", epub(CONTAINER.as_bytes(), "", &chapter(2 << 20), 100_000), "would unpack to more than 128 MiB"),
        ("package", epub(CONTAINER.as_bytes(), &spaces, page, 1), "`b.opf` would unpack to more than 4 MiB"),
        ("container", epub(&container, "", page, 1), "`META-INF/container.xml` would unpack to more than 1 MiB"),
        ("another name", epub(elsewhere.as_bytes(), "", page, 1), "names `&#98;.opf`, which is not in the archive"),
        ("files", archive(&many), "its 20002 files would unpack to more than 20000 files"),
    ] {
        assert!(bytes.len() < 4 << 20, "{name} is a small file");
        sandbox.write("book.epub", bytes);
        let ended = with_little_memory(&sandbox, &["chunk", "book.epub"]).exits(2);
        assert!(ended.err().contains(words), "{name}: {}", ended.err());
    }
    sandbox.write("book.epub", epub(CONTAINER.as_bytes(), "", page, 1));
    with_little_memory(&sandbox, &["chunk", "book.epub"]).exits(0);
}

#[test]
fn finding_09_an_archive_of_predictions_that_unpacks_to_too_much_is_refused() {
    let sandbox = Sandbox::new();
    let item = json!({"id": "a", "documents": ["d"], "question": "Who?", "task": "generative", "answers": ["Ana"]});
    sandbox.write("gold/items.jsonl", format!("{item}\n"));
    sandbox.write("gold/documents.jsonl", "{\"id\": \"d\", \"text\": \"Ana came.\"}\n");
    let names: Vec<String> = (0..20_001).map(|n| format!("{n}.json")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let half = vec![b' '; 129 << 20];
    for (bytes, words) in [
        (archive(&[("a.json", &half), ("b.json", &half)]), "it unpacks to more than 256 MiB"),
        (archive(&many), "it holds 20001 files: expected at most 20000"),
    ] {
        assert!(bytes.len() < 4 << 20);
        sandbox.write("predictions.zip", bytes);
        let score = ["score", "--format", "novelqa", "--gold", "gold", "predictions.zip"];
        with_little_memory(&sandbox, &score).refuses(&["cannot unpack predictions.zip", words]);
    }
}

#[test]
fn finding_09_a_sample_of_a_log_that_unpacks_to_too_much_is_refused() {
    let sandbox = Sandbox::new();
    let header = br#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "p/m"}}"#;
    let log = archive(&[("header.json", header), ("samples/1_epoch_1.json", &vec![b' '; 257 << 20])]);
    assert!(log.len() < 4 << 20);
    sandbox.write("log.eval", log);
    with_little_memory(&sandbox, &["compare", "log.eval", "log.eval"])
        .refuses(&["samples/1_epoch_1.json unpacks to more than 256 MiB"]);
}

#[test]
fn finding_09_lines_of_json_that_are_too_long_are_named() {
    let sandbox = Sandbox::new();
    let long = "a ".repeat(33 << 20);
    sandbox.write("b/documents.jsonl", format!("{{\"id\": \"d\", \"text\": \"{long}\"}}\n"));
    let deep = format!("{{\"id\": \"a\", \"documents\": [{}[]]}}\n", "[],".repeat(23 << 20));
    sandbox.write("b/items.jsonl", deep);
    let ended = with_little_memory(&sandbox, &["run", "--benchmark", "b", "--out", "r"]).exits(2);
    for file in ["documents", "items"] {
        let words = format!("b/{file}.jsonl:1: 6");
        assert!(ended.err().contains(&words), "{words}: {}", ended.err());
    }
    assert!(ended.err().contains("MiB in one line: expected at most 64 MiB"), "{}", ended.err());
    let list = format!("[{}\n", "[],".repeat(22 << 20));
    sandbox.write("predictions.json", list);
    sandbox.write("gold.jsonl", "{}\n");
    with_little_memory(&sandbox, &["score", "--gold", "gold.jsonl", "--predictions", "predictions.json"]).exits(2);
}

#[test]
fn finding_09_a_row_of_very_many_values_is_named_before_it_is_read() {
    let sandbox = Sandbox::new();
    sandbox.write("gold.jsonl", "{\"id\": \"q\", \"documents\": [\"d\"], \"question\": \"?\", \"answers\": [\"a\"]}\n");
    for (value, n) in [("0,", 31 << 20), ("{\"a\":1},", 7 << 20)] {
        let values = value.repeat(n);
        let (open, line) = ("{\"item\": \"q\", \"answer\": \"a\", \"x\": [", 1);
        for (before, after) in [("", "\n"), ("[", "]")] {
            sandbox.write("predictions.jsonl", format!("{before}{open}{values}0]}}{after}"));
            let score = ["score", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl"];
            let ended = with_little_memory(&sandbox, &score).exits(2);
            let words = format!("predictions.jsonl:{line}: more than 4 million values in one place");
            assert!(ended.err().contains(&words), "{}", ended.err());
        }
    }
}

#[test]
fn finding_09_words_and_line_feeds_without_end_are_refused() {
    let sandbox = Sandbox::new();
    for (text, words) in [
        ("a".repeat(50 << 20), "50 MiB in one word"),
        ("\n".repeat(20 << 20), "20 MiB of white space in one place"),
        ("a\n".repeat(10 << 20), "10485761 lines: expected at most 4194304"),
        ("a b\n".repeat(33 << 20), "it has 132 MiB: expected at most 128 MiB"),
    ] {
        sandbox.write("book.txt", format!("It rained. {text} The end."));
        let ended = with_little_memory(&sandbox, &["chunk", "book.txt"]).exits(2);
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
    }
}

/// Texts that repeat without end in books that were found to take much memory, and what could.
const PIECES: [&str; 12] = ["a", "\n", ".", "雨", "a ", "a\n", "A. ", "<p>", "\r\n", "雨。", "\u{ad}\n", "...!? "];

#[test]
fn finding_09_no_text_takes_more_than_its_memory() {
    let sandbox = Sandbox::with_own_cache();
    for (idx, piece) in PIECES.iter().enumerate() {
        let text = piece.repeat((1 << 20) / piece.len());
        let item =
            json!({"id": "q", "documents": ["d"], "question": "Who?", "task": "generative", "answers": ["rain"]});
        let document = json!({"id": "d", "text": format!("It rained. {text} The end.")});
        sandbox.write(&format!("{idx}/documents.jsonl"), format!("{document}\n"));
        sandbox.write(&format!("{idx}/items.jsonl"), format!("{item}\n"));
        let pages = format!("<p>It rained.</p>{text}");
        sandbox.write("book.epub", epub(CONTAINER.as_bytes(), "", pages.as_bytes(), 1));
        let (folder, out) = (idx.to_string(), format!("r{idx}"));
        let run = ["run", "--benchmark", &folder, "--method", "closed-book", "--out", &out];
        for command in [&["chunk", "book.epub", "--json"][..], &run] {
            let ended = with_little_memory(&sandbox, command);
            assert!(ended.0.status.code().is_some_and(|code| code < 3), "{piece:?}, {command:?}: {}", ended.err());
        }
    }
}

#[test]
fn finding_09_no_message_repeats_a_whole_file() {
    let sandbox = Sandbox::new();
    let folder = "x".repeat(100_000);
    for form in ["text", "json"] {
        let ended = sandbox.run(&["report", &folder, "--log", form]).exits(2);
        let said = ended.err();
        assert!(
            said.len() < 20_000 && said.contains(" bytes ...] ") && said.contains("manifest.json"),
            "{form}: {}",
            said.len()
        );
    }
}

#[test]
fn finding_09_very_many_wrong_rows_are_counted_and_few_of_them_named() {
    let sandbox = Sandbox::new();
    let n = 200_000;
    let item = json!({"id": "a", "documents": ["d"], "question": "Who?", "task": "generative", "answers": ["Ana"]});
    sandbox.write(
        "b/documents.jsonl",
        "{\"id\": \"d\", \"language\": \"en\", \"text\": \"Ana came.\"}\n".to_owned() + &"x\n".repeat(n),
    );
    sandbox.write("b/items.jsonl", format!("{item}\n") + &"{}\n".repeat(n));
    let run = ["run", "--benchmark", "b", "--method", "closed-book", "--out", "r"];
    let ended = with_little_memory(&sandbox, &run).exits(1);
    assert!(ended.err().contains("and 399990 more rows left out; report.json names the first 1000"), "{}", ended.err());
    let report = std::fs::read(sandbox.path("r/report.json")).unwrap();
    assert!(report.len() < 1 << 20 && ended.err().len() < 10_000, "{} {}", report.len(), ended.err().len());
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let last = report["problems"].as_array().unwrap().last().unwrap();
    assert_eq!(last["more"], 2 * n - 1000, "{last}");

    sandbox.write("p.jsonl", "{\"item\": \"a\", \"answer\": \"Ana\"}\n".to_owned() + &"{\"item\": \"z\"}\n".repeat(n));
    let score = ["score", "--gold", "b/items.jsonl", "--predictions", "p.jsonl", "--json"];
    let ended = with_little_memory(&sandbox, &score).exits(1);
    assert!(ended.out().len() < 1 << 20, "{}", ended.out().len());
}
