use super::*;
use std::fs;
use tempfile::TempDir;

/// A folder with `files` in it.
fn folder(files: &[(&str, &[u8])]) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    for (name, bytes) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("inside the folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
    dir
}

fn read(path: &Path) -> (Books, Vec<Problem>) {
    read_books(path, &InputOptions::default())
}

fn ids(books: &Books) -> Vec<&str> {
    books.iter().map(|(b, _)| b.id.as_str()).collect()
}

/// Reading `path` gives no book and one message with all of `needles`.
fn check_refused(path: &Path, needles: &[&str]) {
    let (books, problems) = read(path);
    assert!(books.is_empty());
    let messages: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert_eq!(messages.len(), 1, "{messages:?}");
    for needle in needles {
        assert!(messages[0].contains(needle), "`{needle}` in {}", messages[0]);
    }
}

#[test]
fn the_texts_of_a_build_beside_its_books_are_no_books() {
    let dir = folder(&[
        ("a.txt", b"The tide came in."),
        ("built/build.json", br#"{"format": 1, "closeread": "0.1.0"}"#),
        ("built/README.md", b"Built."),
        ("built/texts/b.txt", b"The tide came in."),
        ("part/build.json", br#"{"steps": []}"#),
        ("part/c.txt", b"It went out."),
    ]);
    let (books, problems) = read(dir.path());
    assert_eq!(ids(&books), ["a", "part/c"]);
    let messages: Vec<String> = problems.iter().map(Problem::to_string).collect();
    assert!(messages.iter().any(|message| message.contains("built: skipped: a build of closeread")), "{messages:?}");
}

#[test]
fn a_text_file_is_a_book_named_after_it() {
    let dir = folder(&[("the-tide.txt", b"\xEF\xBB\xBFThe tide came in.\r\n")]);
    let (books, problems) = read(&dir.path().join("the-tide.txt"));
    let (book, report) = &books[0];
    assert_eq!((book.id.as_str(), book.title.as_str(), book.language.code()), ("the-tide", "the tide", "en"));
    assert_eq!((book.text().unwrap().flow().text(), book.body().start), ("The tide came in.\n", 3));
    assert_eq!((report.encoding, report.framed, problems.len()), ("UTF-8", false, 0));
}

#[test]
fn the_frame_is_set_aside_or_kept() {
    let text =
        b"*** START OF THE PROJECT GUTENBERG EBOOK X ***\nThe tide.\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n";
    let dir = folder(&[("x.txt", text)]);
    let path = dir.path().join("x.txt");
    let (books, _) = read(&path);
    assert_eq!((books[0].0.text().unwrap().flow().text(), books[0].1.framed), ("The tide.\n", true));
    let (kept, _) = read_books(&path, &InputOptions { keep_frame: true, ..InputOptions::default() });
    assert_eq!((kept[0].0.body().len(), kept[0].1.framed), (text.len(), false));
}

#[test]
fn encoding_and_language_are_detected_or_given() {
    let dir = folder(&[("x.txt", b"\xC4\xE3\xBA\xC3\xA3\xAC\xCA\xC0\xBD\xE7\xA1\xA3")]);
    let path = dir.path().join("x.txt");
    let (books, _) = read(&path);
    assert_eq!(
        (books[0].0.text().unwrap().source(), books[0].1.encoding, books[0].0.language.code()),
        ("你好，世界。", "gb18030", "zh")
    );
    let options =
        InputOptions { encoding: Some("latin1".into()), language: Some(Language::ENGLISH), ..InputOptions::default() };
    let (books, _) = read_books(&path, &options);
    assert_eq!((books[0].1.encoding, books[0].0.language.code()), ("windows-1252", "en"));
    let (_, problems) =
        read_books(&path, &InputOptions { encoding: Some("klingon".into()), ..InputOptions::default() });
    assert!(problems[0].to_string().contains("`klingon`"));
}

#[test]
fn a_folder_is_read_in_order_and_what_is_no_book_is_named() {
    let dir = folder(&[
        ("b.txt", b"Bee."),
        ("a.md", b"# Ay\n\nText."),
        ("sub/c.TXT", b"Sea."),
        ("b.md", b"Also b."),
        ("cover.jpg", b"\xFF\xD8\xFF"),
        (".DS_Store", b"\0\0"),
        ("empty.txt", b" \n"),
    ]);
    let (books, problems) = read(dir.path());
    assert_eq!(ids(&books), ["a", "b", "b.txt", "sub/c"]);
    let told: Vec<(String, ProblemKind)> =
        problems.iter().map(|p| (p.path.file_name().expect("a file").to_string_lossy().into_owned(), p.kind)).collect();
    assert_eq!(told, [("cover.jpg".into(), ProblemKind::Skipped), ("empty.txt".into(), ProblemKind::Failed)]);
    assert!(problems[1].message.contains("empty"));
}

#[test]
fn a_folder_without_books_says_what_it_wants() {
    check_refused(folder(&[]).path(), &["no book", ".epub", "documents.jsonl"]);
}

#[test]
fn what_is_missing_or_no_text_is_refused_with_a_way_out() {
    let dir = folder(&[
        ("x.pdf", b"%PDF-1.4"),
        ("x.json", b"{}"),
        ("x.epub", b"PK"),
        ("empty.epub", b""),
        ("nul.txt", b"a\0b"),
    ]);
    check_refused(&dir.path().join("gone.txt"), &["gone.txt: there is no such file", "check the path"]);
    check_refused(&dir.path().join("x.pdf"), &["x.pdf: the file is a PDF document", "convert"]);
    check_refused(&dir.path().join("x.json"), &["x.json", "expected a .txt"]);
    check_refused(&dir.path().join("x.epub"), &["no ZIP archive"]);
    check_refused(&dir.path().join("empty.epub"), &["empty"]);
    check_refused(&dir.path().join("nul.txt"), &["binary"]);
}

#[test]
fn a_file_of_unknown_ending_named_outright_is_text() {
    let dir = folder(&[("1a2b.content", b"The tide.")]);
    assert_eq!(ids(&read(&dir.path().join("1a2b.content")).0), ["1a2b"]);
}

#[cfg(unix)]
#[test]
fn links_around_in_a_circle_end() {
    let dir = folder(&[("sub/a.txt", b"Text.")]);
    std::os::unix::fs::symlink(dir.path(), dir.path().join("sub/up")).expect("a link");
    let (books, problems) = read(dir.path());
    assert_eq!((ids(&books), problems.len()), (vec!["sub/a"], 0));
}

#[cfg(unix)]
#[test]
#[ignore = "needs a user who is not root"]
fn needs_user_a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = folder(&[("a.txt", b"Text."), ("b.txt", b"Text.")]);
    let path = dir.path().join("a.txt");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("own file");
    let (books, problems) = read(dir.path());
    assert_eq!(ids(&books), ["b"]);
    assert!(problems[0].to_string().contains("a.txt: permission denied"), "{}", problems[0]);
}

#[test]
fn documents_are_read_from_their_lines_and_their_files() {
    let lines = concat!(
        "\u{FEFF}{\"id\": \"one\", \"title\": \"One\", \"language\": \"zh\", \"text\": \"Text.\", \"extra\": 1}\r\n",
        "\n",
        "{\"id\": \"two\", \"path\": \"books/two.txt\"}\n",
        "{\"id\": \"broken\"\n",
        "{\"id\": \"one\", \"text\": \"again\"}\n",
        "{\"id\": \"gone\", \"path\": \"books/gone.txt\"}\n",
        "{\"id\": \"void\", \"text\": \" \"}\n",
        "{\"id\": \"tongue\", \"language\": \"english\", \"text\": \"x\"}\n",
        "{\"id\": \"neither\"}\n",
        "{\"id\": \"last\", \"text\": \"The end of it all.\"}",
    );
    let dir =
        folder(&[("documents.jsonl", lines.as_bytes()), ("books/two.txt", b"Two."), ("stray.txt", b"not listed")]);
    for path in [dir.path().join("documents.jsonl"), dir.path().to_owned()] {
        let (books, problems) = read(&path);
        assert_eq!(ids(&books), ["one", "two", "last"]);
        assert_eq!((books[0].0.title.as_str(), books[0].0.language.code()), ("One", "zh"));
        assert_eq!((books[1].0.title.as_str(), books[1].0.text().unwrap().source()), ("two", "Two."));
        assert_eq!(problems.iter().map(|p| p.line.expect("a line")).collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9]);
        let told: Vec<String> = problems.iter().map(Problem::to_string).collect();
        for (message, needle) in
            told.iter().zip(["not a document", "`one` occurs twice", "gone.txt", "empty", "`english`", "\"path\""])
        {
            assert!(message.contains("documents.jsonl:") && message.contains(needle), "`{needle}` in {message}");
        }
    }
}

#[test]
fn null_is_no_field_and_text_behind_a_document_is_not_read() {
    let lines = concat!(
        "{\"id\": \"one\", \"title\": null, \"language\": null, \"path\": null, \"text\": \"One.\"},\n",
        "{\"id\": \"two\", \"text\": \"Two.\"} and more\n",
        "{\"id\": \"three\", \"text\": \"Three.\"} {\"id\": \"four\", \"text\": \"Four.\"}\n",
    );
    let dir = folder(&[("documents.jsonl", lines.as_bytes())]);
    let (books, problems) = read(&dir.path().join("documents.jsonl"));
    assert_eq!(ids(&books), ["one", "two"]);
    assert_eq!(books[0].0.title, "one");
    assert_eq!(problems.iter().map(|p| p.line).collect::<Vec<_>>(), [Some(3)]);
    assert!(problems[0].to_string().contains("a second object on the line"), "{}", problems[0]);
}

#[test]
fn a_key_that_a_document_holds_twice_is_noted() {
    let lines = concat!(
        "{\"id\": \"one\", \"title\": \"A\", \"text\": \"One.\", \"title\": \"B\"}\n",
        "{\"id\": \"two\", \"title\": null, \"text\": \"{Two: \\\"id\\\"}\"}\n",
    );
    let dir = folder(&[("documents.jsonl", lines.as_bytes())]);
    let (books, problems) = read(&dir.path().join("documents.jsonl"));
    assert_eq!((books[0].0.title.as_str(), problems.len()), ("B", 0));
    assert_eq!(books[0].1.notes, ["`title` is twice in the object, and the last one counts"]);
    assert!(books[1].1.notes.is_empty(), "{:?}", books[1].1.notes);
}

#[test]
fn a_document_file_without_documents_is_refused() {
    let dir = folder(&[("documents.jsonl", b"\n\n"), ("bad.jsonl", b"\xFF\n")]);
    check_refused(&dir.path().join("documents.jsonl"), &["empty", "\"id\""]);
    check_refused(&dir.path().join("bad.jsonl"), &["bad.jsonl:1:", "invalid UTF-8"]);
}
