//! EPUB archives, built here: both versions, reading order, and what a broken one says.

use closeread_books::{EpubError, read_epub};
use closeread_text::Language;
use std::io::{Cursor, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a new entry");
        zip.write_all(content.as_bytes()).expect("written to memory");
    }
    zip.finish().expect("written to memory").into_inner()
}

const CONTAINER: (&str, &str) = (
    "META-INF/container.xml",
    r#"<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
    <rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"#,
);

/// A package file with `chapters` (manifest attributes) in the order of `spine` (itemref attributes).
fn package(version: &str, chapters: &[(&str, &str, &str)], spine: &[&str]) -> String {
    let items: String = chapters
        .iter()
        .map(|(id, href, more)| format!(r#"<item id="{id}" href="{href}" media-type="application/xhtml+xml" {more}/>"#))
        .collect();
    let refs: String = spine.iter().map(|idref| format!("<itemref {idref}/>")).collect();
    format!(
        r#"<?xml version="1.0"?><package version="{version}" unique-identifier="uid" xmlns="http://www.idpf.org/2007/opf">
        <metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="uid">x</dc:identifier>
        <dc:title>The Tide &amp; the Hotel</dc:title><dc:language>en-GB</dc:language></metadata>
        <manifest>{items}<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
        <spine toc="ncx">{refs}</spine></package>"#
    )
}

const NCX: (&str, &str) = (
    "OEBPS/toc.ncx",
    r#"<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/" version="2005-1"><navMap></navMap></ncx>"#,
);

fn page(body: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>not read</title>
        <style>p {{ margin: 0 }}</style></head><body>{body}</body></html>"#
    )
}

#[test]
fn chapters_come_in_the_order_of_the_spine() {
    let opf = package("2.0", &[("b", "b.xhtml", ""), ("a", "a%20one.xhtml", "")], &[r#"idref="a""#, r#"idref="b""#]);
    let a = page("<h1>Chapter I</h1>\n<p>It was <i>late</i>&#8212;very late.</p>");
    let b = page("<h1>Chapter II</h1><p>Nobody came.</p>");
    let files = [CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/b.xhtml", &b), ("OEBPS/a one.xhtml", &a)];
    let book = read_epub(archive(&files)).expect("an EPUB 2");
    assert_eq!(book.text, "Chapter I\n\nIt was late—very late.\n\nChapter II\n\nNobody came.\n");
    assert_eq!((book.title.as_deref(), book.language), (Some("The Tide & the Hotel"), Some(Language::ENGLISH)));
    assert_eq!(book.notes, Vec::<String>::new());
}

#[test]
fn chapters_of_old_books_and_with_parameters_in_their_media_types_are_read() {
    for kind in ["text/x-oeb1-document", "application/xhtml+xml; charset=utf-8"] {
        let opf = package("2.0", &[("a", "a.html", "")], &[r#"idref="a""#]).replace("application/xhtml+xml", kind);
        let files = [CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/a.html", &page("<p>One.</p>"))];
        assert_eq!(read_epub(archive(&files)).expect(kind).text, "One.\n");
    }
}

#[test]
fn a_fallback_is_read_in_place_of_what_is_no_text() {
    let pages = [
        ("p", "p.pdf", r#"fallback="s""#),
        ("s", "p.svg", r#"fallback="a""#),
        ("a", "a.xhtml", ""),
        ("o", "o.pdf", r#"fallback="p""#),
        ("x", "x.pdf", r#"fallback="x""#),
        ("b", "b.xhtml", ""),
    ];
    let spine = [r#"idref="p""#, r#"idref="b""#, r#"idref="o""#, r#"idref="x""#, r#"idref="a""#];
    let opf = package("3.0", &pages, &spine);
    let opf = ["p.pdf", "o.pdf", "x.pdf", "p.svg"].iter().fold(opf, |opf, href| {
        let kind = if href.ends_with("svg") { "image/svg+xml" } else { "application/pdf" };
        let as_page = format!(r#"href="{href}" media-type="application/xhtml+xml""#);
        opf.replace(&as_page, &format!(r#"href="{href}" media-type="{kind}""#))
    });
    let (a, b) = (page("<p>One.</p>"), page("<p>Two.</p>"));
    let files = [CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/a.xhtml", &a), ("OEBPS/b.xhtml", &b)];
    let book = read_epub(archive(&files)).expect("an EPUB 3");
    assert_eq!(book.text, "One.\n\nTwo.\n");
    let notes = [
        "`/OEBPS/a.xhtml` is read in place of `/OEBPS/p.pdf`, which is no text",
        "`/OEBPS/o.pdf` is left out: its text, `/OEBPS/a.xhtml`, is read already",
        "`/OEBPS/a.xhtml` is left out: its text, `/OEBPS/a.xhtml`, is read already",
        "`/OEBPS/x.pdf` is left out: application/pdf is no text",
    ];
    assert_eq!(book.notes, notes);
}

#[test]
fn the_words_of_pages_that_are_drawings_are_read() {
    let opf = package("3.0", &[("p", "p.svg", ""), ("a", "a.xhtml", "")], &[r#"idref="p""#, r#"idref="a""#]);
    let opf =
        opf.replace(r#"href="p.svg" media-type="application/xhtml+xml""#, r#"href="p.svg" media-type="image/svg+xml""#);
    let drawing = r#"<svg xmlns="http://www.w3.org/2000/svg"><title>no</title><style>text { fill: red }</style><text y="9">The  <tspan
        font-style="italic">Tide</tspan></text><g><text><tspan x="1" y="20">It was</tspan><tspan x="1" dy="9">late.</tspan></text></g></svg>"#;
    let files =
        [CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/p.svg", drawing), ("OEBPS/a.xhtml", &page("<p>One.</p>"))];
    let book = read_epub(archive(&files)).expect("an EPUB 3");
    assert_eq!(book.text, "The Tide\nIt was\nlate.\n\nOne.\n");
    assert_eq!(book.notes, Vec::<String>::new());
}

#[test]
fn a_file_that_is_named_by_places_within_it_is_read_once() {
    let pages = [("a", "a%20one.xhtml#i", ""), ("b", "a%20one.xhtml#ii", ""), ("c", "c.xhtml", "")];
    let opf = package("2.0", &pages, &[r#"idref="a""#, r#"idref="b""#, r#"idref="c""#]);
    let (a, c) = (page("<h1 id='i'>I</h1><h1 id='ii'>II</h1>"), page("<p>Three.</p>"));
    let files = [CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/a one.xhtml", &a), ("OEBPS/c.xhtml", &c)];
    let book = read_epub(archive(&files)).expect("an EPUB 2");
    assert_eq!(book.text, "I\n\nII\n\nThree.\n");
    assert_eq!(book.notes.len(), 1, "{:?}", book.notes);
    assert!(book.notes[0].contains("is read already"), "{:?}", book.notes);
}

#[test]
fn navigation_and_supplements_of_an_epub_3_are_left_out_and_said() {
    let opf = package(
        "3.0",
        &[("nav", "nav.xhtml", r#"properties="nav""#), ("a", "a.xhtml", ""), ("n", "notes.xhtml", "")],
        &[r#"idref="nav""#, r#"idref="a""#, r#"idref="n" linear="no""#],
    );
    let nav = page(r#"<nav epub:type="toc"><ol><li><a href="a.xhtml">I</a></li></ol></nav>"#);
    let a = page("<section><p>One.</p><p>他说：“好。”</p></section>");
    let notes = page("<p>a note</p>");
    let files = [
        CONTAINER,
        NCX,
        ("OEBPS/book.opf", &opf),
        ("OEBPS/nav.xhtml", &nav),
        ("OEBPS/a.xhtml", &a),
        ("OEBPS/notes.xhtml", &notes),
    ];
    let book = read_epub(archive(&files)).expect("an EPUB 3");
    assert_eq!(book.text, "One.\n\n他说：“好。”\n");
    assert!(book.notes.len() == 1 && book.notes[0].starts_with("left out: 2 parts"), "{:?}", book.notes);
}

#[test]
fn what_is_no_epub_is_called_broken() {
    let plain = archive(&[("hello.txt", "hello")]);
    let cut = {
        let mut bytes = archive(&[CONTAINER]);
        bytes.truncate(bytes.len() / 2);
        bytes
    };
    let no_package = archive(&[CONTAINER]);
    let bad_xml = archive(&[CONTAINER, ("OEBPS/book.opf", "<package><manifest")]);
    for bytes in [b"no archive".to_vec(), Vec::new(), plain, cut, no_package, bad_xml] {
        let error = read_epub(bytes).expect_err("broken");
        let says_why = match &error {
            EpubError::Broken { reason } => !reason.is_empty(),
            EpubError::Other { what, hint } => !what.is_empty() && !hint.is_empty(),
            _ => false,
        };
        assert!(says_why, "{error:?}");
    }
}

#[test]
fn a_missing_chapter_is_an_error_that_names_it() {
    let opf = package("2.0", &[("a", "a.xhtml", ""), ("b", "b.xhtml", "")], &[r#"idref="a""#, r#"idref="b""#]);
    let a = page("<p>One.</p>");
    let error =
        read_epub(archive(&[CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/a.xhtml", &a)])).expect_err("a hole");
    assert!(error.to_string().contains("b.xhtml"), "{error}");
    let opf = package("2.0", &[("a", "a.xhtml", "")], &[r#"idref="a""#, r#"idref="ghost""#]);
    let error =
        read_epub(archive(&[CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/a.xhtml", &a)])).expect_err("a hole");
    assert!(error.to_string().contains("ghost"), "{error}");
}

#[test]
fn pictures_only_and_encrypted_books_are_told_apart() {
    let opf = package("3.0", &[("a", "a.xhtml", "")], &[r#"idref="a""#]);
    let a = page(r#"<img src="page1.jpg" alt=""/>"#);
    let files = [CONTAINER, NCX, ("OEBPS/book.opf", opf.as_str()), ("OEBPS/a.xhtml", a.as_str())];
    assert_eq!(read_epub(archive(&files)), Err(EpubError::NoText { n_chapters: 1 }));
    let xml = package("3.0", &[("a", "a.xhtml", "")], &[r#"idref="a""#]).replace("application/xhtml+xml", "text/xml");
    for (opf, why) in [
        (package("3.0", &[("a", "a.xhtml", "")], &[]), "it names no part"),
        (
            package("3.0", &[("a", "a.xhtml", "")], &[r#"idref="a" linear="no""#]),
            "1 of its parts are marked as outside it",
        ),
        (xml, "`/OEBPS/a.xhtml` is left out: text/xml is no text"),
    ] {
        let files = [CONTAINER, NCX, ("OEBPS/book.opf", opf.as_str()), ("OEBPS/a.xhtml", a.as_str())];
        assert_eq!(read_epub(archive(&files)), Err(EpubError::NoChapter { reason: why.to_owned() }));
    }
    let with = |algorithm: &str| {
        let list = format!(
            r#"<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><enc:EncryptedData
            xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptionMethod Algorithm="{algorithm}"/></enc:EncryptedData>
            </encryption>"#
        );
        let text = page("<p>One.</p>");
        let files =
            [CONTAINER, NCX, ("META-INF/encryption.xml", &list), ("OEBPS/book.opf", &opf), ("OEBPS/a.xhtml", &text)];
        read_epub(archive(&files))
    };
    assert_eq!(with("http://www.w3.org/2001/04/xmlenc#aes256-cbc"), Err(EpubError::Encrypted));
    assert!(with("http://www.idpf.org/2008/embedding").is_ok(), "fonts only");
}

#[test]
fn an_empty_metadata_and_a_container_without_a_package_are_named() {
    let opf = package("3.0", &[("a", "a.xhtml", "")], &[r#"idref="a""#]);
    let (from, to) = (opf.find("<metadata").expect("there"), opf.find("</metadata>").expect("there"));
    let empty = opf.replace(&opf[from..to + "</metadata>".len()], "<metadata/>");
    let a = page("<p>One.</p>");
    let said = |container: &str, opf: &str| {
        let files = [(CONTAINER.0, container), NCX, ("OEBPS/book.opf", opf), ("OEBPS/a.xhtml", &a)];
        read_epub(archive(&files)).expect_err("refused").to_string()
    };
    assert!(said(CONTAINER.1, &empty).contains("its package has an empty `<metadata/>`"));
    let other = said(&CONTAINER.1.replace("application/oebps-package+xml", "text/xml"), &opf);
    assert!(
        other.contains("no `rootfile` of META-INF/container.xml has the media type application/oebps-p"),
        "{other}"
    );
}

#[test]
fn a_chapter_is_read_in_the_encoding_that_it_declares_and_a_picture_of_a_page_is_told() {
    let opf = package("2.0", &[("a", "a.xhtml", ""), ("b", "b.xhtml", "")], &[r#"idref="a""#, r#"idref="b""#]);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let chapter = r#"<?xml version="1.0" encoding="Shift_JIS"?><html><body><p>吾輩は猫である</p></body></html>"#;
    let chapter = encoding_rs::SHIFT_JIS.encode(chapter).0;
    let picture = page(r#"<img src="b.jpg" alt="Page 2"/>"#);
    let files = [CONTAINER, NCX, ("OEBPS/book.opf", opf.as_str()), ("OEBPS/b.xhtml", picture.as_str())];
    let files = files.iter().map(|(name, content)| (*name, content.as_bytes()));
    for (name, content) in files.chain([("OEBPS/a.xhtml", &*chapter)]) {
        zip.start_file(name, SimpleFileOptions::default()).expect("a new entry");
        zip.write_all(content).expect("written to memory");
    }
    let book = read_epub(zip.finish().expect("written to memory").into_inner()).expect("an EPUB 2");
    assert_eq!(book.text, "吾輩は猫である\n");
    assert_eq!(book.notes, ["1 of 2 chapters hold no text, perhaps pictures of pages"]);
}

#[test]
fn finding_09_notes_on_a_reading_order_of_any_length_are_few() {
    let spine = vec![r#"idref="p""#; 3000];
    let opf = package("3.0", &[("p", "p.svg", ""), ("a", "a.xhtml", "")], &[&spine[..], &[r#"idref="a""#]].concat());
    let opf =
        opf.replace(r#"href="p.svg" media-type="application/xhtml+xml""#, r#"href="p.svg" media-type="image/svg+xml""#);
    let a = page("<p>One.</p>");
    let files = [CONTAINER, NCX, ("OEBPS/book.opf", &opf), ("OEBPS/p.svg", "<svg/>"), ("OEBPS/a.xhtml", &a)];
    let book = read_epub(archive(&files)).expect("an EPUB 3");
    assert_eq!(book.notes.len(), 6);
    assert_eq!(
        (&*book.notes[0], &*book.notes[5]),
        ("`/OEBPS/p.svg` is left out: image/svg+xml is no text", "2995 more notes like these")
    );
}

#[test]
fn a_drawing_that_is_not_in_the_archive_is_left_out_as_another_picture_is() {
    let spine = [r#"idref="p""#, r#"idref="a""#];
    let opf = |kind: &str| {
        let opf = package("3.0", &[("p", "p.svg", ""), ("a", "a.xhtml", "")], &spine);
        opf.replace(
            r#"href="p.svg" media-type="application/xhtml+xml""#,
            &format!(r#"href="p.svg" media-type="{kind}""#),
        )
    };
    let a = page("<p>One.</p>");
    let read =
        |kind: &str| read_epub(archive(&[CONTAINER, NCX, ("OEBPS/book.opf", &opf(kind)), ("OEBPS/a.xhtml", &a)]));
    for (kind, words) in [("image/jpeg", "is no text"), ("image/svg+xml", "the drawing cannot be read: ")] {
        let book = read(kind).expect(kind);
        assert_eq!((&*book.text, book.notes.len()), ("One.\n", 1), "{kind}");
        assert!(
            book.notes[0].starts_with("`/OEBPS/p.svg` is left out: ") && book.notes[0].contains(words),
            "{:?}",
            book.notes
        );
    }
    let missing = read("application/xhtml+xml").expect_err("a hole in the book");
    assert!(matches!(missing, EpubError::Chapter { .. }), "{missing}");
}

#[test]
fn a_language_that_the_text_is_not_written_in_is_told_and_not_used() {
    let opf = package("3.0", &[("a", "a.xhtml", "")], &[r#"idref="a""#]);
    let read = |opf: &str, text: &str| {
        let a = page(&format!("<p>{}</p>", text.repeat(40)));
        read_epub(archive(&[CONTAINER, NCX, ("OEBPS/book.opf", opf), ("OEBPS/a.xhtml", &a)])).expect("an EPUB 3")
    };
    let chinese = read(&opf, "却说海边的旅馆那年冬天忽然又开了门。");
    assert_eq!(chinese.language, Some(Language::CHINESE));
    assert_eq!(chinese.notes, ["read as `zh`, though its metadata says `en`: name the language if that is wrong"]);
    let english = read(&opf.replace("en-GB", "zh"), "The inn was shut that winter, and nobody knew why. ");
    assert_eq!((english.language, english.notes.len()), (Some(Language::ENGLISH), 1));
    // Languages that part words alike are as the book says, and a few words decide nothing.
    let french = read(&opf.replace("en-GB", "fr"), "The inn was shut that winter, and nobody knew why. ");
    assert_eq!((french.language.map(|l| l.to_string()).as_deref(), french.notes.len()), (Some("fr"), 0));
    let short = read(&opf, "好");
    assert_eq!((short.language, short.notes.len()), (Some(Language::ENGLISH), 0));
}
