//! `closeread chunk` and `closeread search`, and what is said of files that are no books.

use crate::support::{Sandbox, shared_data};
use serde_json::Value;

/// White space folded: what a span of the file and the text a model sees have in common.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn spans_count_bytes_of_the_file_frame_and_wraps_included() {
    let sandbox = Sandbox::new();
    let paragraph = "It was raining in Orvik, and Mr. Falk had left his umbrella in the\r\n\
                     church, where the bell had been rung for the drowned. He went back\r\n\
                     for it; the door was locked, and the sexton, who had the only key,\r\n\
                     was asleep over his beer in the inn beside the harbour. \"Caf\u{e9}?\"\r\n\
                     asked Ines.\r\n\r\n";
    let book = format!(
        "\u{feff}The Project Gutenberg EBook of Nothing\r\n\r\n\
         *** START OF THIS PROJECT GUTENBERG EBOOK NOTHING ***\r\n\r\n\
         {}\
         *** END OF THIS PROJECT GUTENBERG EBOOK NOTHING ***\r\nLicence words.\r\n",
        paragraph.repeat(6)
    );
    let path = sandbox.write("book.txt", &book);
    let file = path.to_str().unwrap();
    let listing = sandbox.run(&["chunk", file, "--passage-tokens", "30", "--json"]).exits(0).json();
    let passages = listing["passages"].as_array().unwrap();
    assert!(passages.len() > 1);
    for (i, passage) in passages.iter().enumerate() {
        assert_eq!(passage["index"], i);
        let span = passage["start"].as_u64().unwrap() as usize..passage["end"].as_u64().unwrap() as usize;
        assert_eq!(folded(&book[span]), passage["text"].as_str().unwrap());
    }
    let all: String = passages.iter().map(|p| p["text"].as_str().unwrap()).collect();
    assert!(!all.contains("GUTENBERG") && !all.contains("Licence") && all.contains("umbrella in the church, where"));
    let kept = sandbox.run(&["chunk", file, "--keep-frame", "--json"]).exits(0).out();
    assert!(kept.contains("Licence words"));
}

#[test]
fn search_prints_the_same_set_in_both_orders_within_the_budget() {
    let sandbox = Sandbox::new();
    let story = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample/the-loan-of-the-bell.txt");
    for retriever in ["dense", "bm25", "hybrid"] {
        let search = |order| {
            let question = "Who paid for the bell?";
            let args = ["search", story, question, "--budget", "700", "--order", order, "--retriever", retriever];
            sandbox.run(&[&args[..], &["--json"]].concat()).exits(0).json()
        };
        let (score, document) = (search("score"), search("document"));
        assert!(score["tokens"].as_u64().unwrap() <= 700);
        let key = |p: &Value| p["index"].as_u64().unwrap();
        let mut by_score = score["passages"].as_array().unwrap().clone();
        assert!(by_score.windows(2).all(|w| w[0]["score"].as_f64() >= w[1]["score"].as_f64()));
        by_score.sort_by_key(key);
        assert_eq!(&by_score, document["passages"].as_array().unwrap(), "{retriever}");
    }
}

#[test]
fn a_japanese_book_is_cut_into_sentences_and_found_by_its_words() {
    let sandbox = Sandbox::new();
    let sentences =
        |n: usize| format!("猫は庭の石の上で{n}回目の昼寝をした。「もう行くの？」と妹が聞いた。返事は無かった。");
    let text: String = (1..=40).map(sentences).collect();
    let book = sandbox
        .write("neko.txt", text.replacen("返事は無かった。", "塔の灯りをつけたのはアンナである。", 1).as_bytes());
    let found =
        ["search", book.to_str().unwrap(), "アンナは何をしたか", "--retriever", "bm25", "--budget", "150", "--json"];
    let found = sandbox.run(&found).exits(0).json();
    let passages = found["passages"].as_array().unwrap();
    assert!(passages.iter().any(|passage| passage["text"].as_str().unwrap().contains("アンナ")), "{found}");
    assert!(passages.iter().all(|passage| passage["tokens"].as_u64().unwrap() <= 100), "{found}");
}

#[test]
fn what_is_no_book_gets_one_clear_message() {
    let sandbox = Sandbox::new();
    let refuse = |name: &str, bytes: &[u8], words: &[&str]| {
        let path = sandbox.write(name, bytes);
        sandbox.run(&["chunk", path.to_str().unwrap(), "--json"]).refuses(words);
    };
    refuse("empty.txt", b" \n\n", &["empty.txt", "empty"]);
    refuse("image.txt", b"\x89PNG\r\n\x1a\n\0\0\0\0", &["image.txt", "text"]);
    let mut broken = "Caf\u{e9} au lait, s'il vous pla\u{ee}t, dit-il \u{e0} la serveuse.\n".repeat(20).into_bytes();
    broken[400] = 0xff;
    refuse("broken.txt", &broken, &["broken.txt", "UTF-8", "400"]);
    refuse(
        "story.docx",
        b"PK\x03\x04....word/document.xml....PK\x01\x02",
        &["story.docx", "a Word document", "save it as .txt"],
    );
    sandbox.run(&["chunk", "missing.txt"]).refuses(&["missing.txt"]);
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_a_novel_in_its_old_encoding_reads_as_in_utf8() {
    let data = shared_data();
    let sandbox = Sandbox::new();
    for (old, new) in [
        ("encodings/laocan-youji.gb18030.txt", "novels/zh/laocan-youji.txt"),
        ("encodings/dracula.iso-8859-1.txt", "novels/en/dracula.txt"),
    ] {
        let texts = |file: &str| {
            let path = data.join(file);
            let listing = sandbox.run(&["chunk", path.to_str().unwrap(), "--json"]).exits(0).json();
            let passages = listing["passages"].as_array().unwrap();
            passages.iter().map(|p| p["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(old), texts(new), "{old}");
    }
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_every_shared_novel_is_cut_into_passages_that_are_the_file() {
    let data = shared_data();
    let sandbox = Sandbox::new();
    for folder in ["novels/en", "novels/zh"] {
        for entry in std::fs::read_dir(data.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            let listing = sandbox.run(&["chunk", path.to_str().unwrap(), "--json"]).exits(0).json();
            let mut end = 0;
            for passage in listing["passages"].as_array().unwrap() {
                let span = passage["start"].as_u64().unwrap() as usize..passage["end"].as_u64().unwrap() as usize;
                assert!(span.start >= end, "passages ascend");
                end = span.end;
                let bare = |text: &str| text.split_whitespace().collect::<String>();
                let source = bare(std::str::from_utf8(&bytes[span]).unwrap()).replace('\u{ad}', "");
                assert_eq!(source, bare(passage["text"].as_str().unwrap()), "{}", path.display());
            }
            assert!(end > bytes.len() / 2, "{}", path.display());
        }
    }
}

#[test]
fn a_folder_in_the_place_of_a_book_is_refused_for_its_books() {
    let sandbox = Sandbox::new();
    for name in ["books/a.txt", "books/b.txt", "books/cover.png"] {
        sandbox.write(name, "It rained.");
    }
    sandbox.run(&["chunk", "books"]).refuses(&["books holds 2 books: name one file"]);
    sandbox.write("one/a.txt", "It rained.");
    sandbox.write("one/cover.png", "");
    assert!(sandbox.run(&["chunk", "one"]).exits(0).out().contains("It rained."));
}
