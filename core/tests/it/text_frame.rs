//! Project Gutenberg's frame in the shapes it took over thirty years, and texts that only look like it.

#![allow(clippy::disallowed_methods, reason = "a test finds the shared data by an environment variable")]

use closeread_books::Frame;

const BODY: &str = "CHAPTER I\n\nIt was a dark and stormy night.\n\nThe rain fell in torrents.\n";
const HEADER: &str = "The Project Gutenberg EBook of Paul Clifford, by E. Bulwer-Lytton\n\nThis eBook is for the use of \
    anyone anywhere at no cost.\n\nTitle: Paul Clifford\n\nRelease Date: 2004 [EBook #7735]\n\nLanguage: English\n\n";
const LICENCE: &str = "\n\nUpdated editions will replace the previous one.\n\nProject Gutenberg-tm depends upon donations.\n\
    \nThis Web site includes information about Project Gutenberg-tm, and how to\nsubscribe to our email newsletter to hear about \
    new eBooks.\n";

/// The body found in `source` is `BODY`, whatever the line ends.
fn check_body(source: &str) {
    for source in [source.to_owned(), source.replace('\n', "\r\n"), format!("\u{FEFF}{source}")] {
        let frame = Frame::find(&source);
        let body = source[frame.body.range()].replace("\r\n", "\n");
        assert_eq!(body.trim_end(), BODY.trim_end(), "of {source}");
    }
}

/// `source` keeps all its text.
fn check_untouched(source: &str) {
    let frame = Frame::find(source);
    assert_eq!((frame.has_header, frame.has_trailer), (false, false), "{source}");
    assert_eq!(frame.body.range(), 0..source.len());
}

#[test]
fn markers_are_known_in_all_their_spellings() {
    for start in [
        "*** START OF THIS PROJECT GUTENBERG EBOOK PAUL CLIFFORD ***",
        "***START OF THE PROJECT GUTENBERG EBOOK PAUL CLIFFORD***",
        "*** START OF THE PROJECT GUTENBERG EBOOK, PAUL CLIFFORD ***",
        "*** START OF THE PROJECT GUTENBERG ETEXT PAUL CLIFFORD ***",
        "*** START OF THE PROJECT GUTENBERG EBOOK PAUL CLIFFORD, OR A\nTITLE SO LONG THAT IT WRAPS ***",
    ] {
        for end in [
            "*** END OF THIS PROJECT GUTENBERG EBOOK PAUL CLIFFORD ***",
            "***END OF THE PROJECT GUTENBERG EBOOK PAUL CLIFFORD***",
            "End of the Project Gutenberg EBook of Paul Clifford, by E. Bulwer-Lytton\n\n*** END OF THIS PROJECT \
             GUTENBERG EBOOK PAUL CLIFFORD ***",
            "End of the Project Gutenberg EBook of Paul Clifford, Complete\nby E. Bulwer-Lytton\n\n*** END OF THIS PROJECT \
             GUTENBERG EBOOK PAUL CLIFFORD ***",
            "Fin du Project Gutenberg EBook de Paul Clifford, par\nE. Bulwer-Lytton\n\n*** END OF THIS PROJECT GUTENBERG \
             EBOOK PAUL CLIFFORD ***",
            "Ende dieses Projekt Gutenberg Etextes Paul Clifford\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***",
            "End of Project Gutenberg's Paul Clifford, by E. Bulwer-Lytton",
            "End of The Project Gutenberg Etext of Paul Clifford",
        ] {
            check_body(&format!("{HEADER}{start}\n\n\n{BODY}\n\n{end}\n{LICENCE}"));
        }
    }
}

#[test]
fn the_header_gives_the_title() {
    let start = "*** START OF THE PROJECT GUTENBERG EBOOK X ***";
    let source = format!("{HEADER}{start}\n\n{BODY}");
    assert_eq!(Frame::find(&source).title(&source).as_deref(), Some("Paul Clifford"));
    let long = source.replace("Title: Paul Clifford", "Title: Paul Clifford\n       Complete");
    assert_eq!(Frame::find(&long).title(&long).as_deref(), Some("Paul Clifford Complete"));
    assert_eq!(Frame::find(BODY).title(BODY), None);
}

#[test]
fn credits_after_the_marker_belong_to_the_header() {
    for credit in [
        "Produced by Judith Boss and David Widger",
        "Transcribed from the 1915 Methuen and Co edition by David Price, email\nccx074@example.org.",
        "E-text prepared by Suzanne Shell\nand the Online Distributed Proofreading Team",
        "This eBook was produced by David Widger",
        "[This file was first posted in 1999]\n\n\nProduced by Charles Franks",
    ] {
        let source = format!("{HEADER}*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n\n{credit}\n\n\n\n{BODY}");
        let frame = Frame::find(&source);
        assert!(frame.has_header && !frame.has_trailer);
        if !credit.starts_with('[') {
            check_body(&source);
        }
    }
}

#[test]
fn the_old_small_print_ends_the_header() {
    let small_print = "The Project Gutenberg Etext of Paul Clifford\n\nPlease take a look at the important information in \
        this header.\n\n***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nBy using or reading any part of \
        this PROJECT GUTENBERG-tm etext, you indicate that you agree.\nProject Gutenberg is a trademark.\n\
        *END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n\n";
    check_body(&format!("{small_print}{BODY}\n\nEnd of The Project Gutenberg Etext of Paul Clifford\n"));
}

#[test]
fn a_header_or_a_trailer_alone_is_enough() {
    check_body(&format!("*** START OF THE PROJECT GUTENBERG EBOOK X ***\n{BODY}"));
    check_body(&format!("{BODY}\n\n\nEnd of Project Gutenberg's Paul Clifford, by E. Bulwer-Lytton\n\n"));
}

#[test]
fn an_english_trailer_ends_a_chinese_book() {
    let body = "第一回\n話說陝西同州府朝邑縣。\n";
    let source = format!("\n{body}\n\n\nEnd of Project Gutenberg's Exposure of the Official World, by Li\n\n\n");
    let frame = Frame::find(&source);
    assert_eq!(source[frame.body.range()].trim(), body.trim());
}

#[test]
fn a_book_about_the_markers_keeps_its_text() {
    let quoting = format!(
        "{BODY}\nWe then looked for the line\n\n*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***\n\nand for its twin\n\n\
         *** END OF THE PROJECT GUTENBERG EBOOK EMMA ***\n\nand cut whatever lay outside.\n\nEnd of Project Gutenberg's \
         reign, thought Ann.\n\n{BODY}"
    );
    check_untouched(&quoting);
    let framed = format!(
        "{HEADER}*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n{quoting}\n*** END OF THE PROJECT GUTENBERG EBOOK X \
         ***\n{LICENCE}"
    );
    let frame = Frame::find(&framed);
    assert_eq!(framed[frame.body.range()].trim_end(), quoting.trim_end());
    let last = "Then we shut the book.\nFine work for a day, Gutenberg!";
    let framed = format!(
        "{HEADER}*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n{last}\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***"
    );
    assert_eq!(framed[Frame::find(&framed).body.range()].trim_end(), last);
}

#[test]
fn a_history_of_project_gutenberg_is_no_header() {
    let chapters = "Project Gutenberg was begun in 1971, and this is its history.\n\n".repeat(40);
    check_untouched(&format!("{chapters}*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***\n\n{chapters}"));
    check_untouched(&format!("{chapters}*** END OF THE PROJECT GUTENBERG EBOOK EMMA ***\n\n{BODY}{BODY}"));
}

#[test]
fn a_text_without_a_frame_is_all_body() {
    check_untouched(BODY);
    check_untouched("");
    check_untouched("Produced by nobody.\n\nThe end of the project was near.\n");
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_published_novels_lose_their_frame_and_nothing_else() {
    let data = std::env::var("CLOSEREAD_DATA").expect("CLOSEREAD_DATA is set");
    // File, its first and its last line of text, and whether header and trailer are there.
    let novels = [
        ("en/the-invisible-man", "The Invisible Man", "those books are there", true, true),
        ("en/white-fang", "WHITE FANG", "drowsing in the sun", true, true),
        ("en/pride-and-prejudice", "PRIDE AND PREJUDICE", "uniting them.", true, true),
        ("en/dracula", "                                DRACULA", "{pg 313}", true, true),
        ("en/les-miserables", "LES MISÉRABLES", "when day is gone.]", true, true),
        ("en/the-adventures-of-sherlock-holmes.nocha", "title: The Adventures", "considerable success.", false, false),
        ("en/anne-of-green-gables.nocha", "title: Anne", "whispered Anne softly.", false, false),
        ("zh/guanchang-xianxing-ji", "\n官場現形記", "是為《官場現形記》。", false, true),
        ("zh/laocan-youji", "老残游记", "莫错过姻缘。", false, false),
    ];
    for (name, first, last, has_header, has_trailer) in novels {
        let source = std::fs::read_to_string(format!("{data}/novels/{name}.txt")).expect("a novel of the shared data");
        let frame = Frame::find(&source);
        let body = source[frame.body.range()].replace("\r\n", "\n");
        assert_eq!((frame.has_header, frame.has_trailer), (has_header, has_trailer), "{name}");
        assert!(body.starts_with(first), "{name} begins {:?}", &body.chars().take(80).collect::<String>());
        let tail: String = body.chars().skip(body.chars().count() - 220).collect();
        assert!(tail.contains(last), "{name} ends {tail:?}");
        assert!(has_trailer || frame.body.end == source.len());
    }
}
