//! The running text: what an undone wrap leaves, what stays, and the laws of the map.

#![allow(clippy::disallowed_methods, reason = "a test finds the shared data by an environment variable")]

use closeread_books::{Flow, Frame};
use closeread_text::{FlowSpan, Span};
use proptest::prelude::*;

fn flow(source: &str) -> String {
    let flow = Flow::of(source, Span::new(0, source.len()));
    check_laws(source, &flow);
    flow.text().to_owned()
}

fn is_dropped(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
}

/// Checks what holds of every flow of every source.
fn check_laws(source: &str, flow: &Flow) {
    let shown = |text: &str| text.chars().filter(|&c| !is_dropped(c)).collect::<String>();
    assert_eq!(shown(flow.text()), shown(&source[flow.body().range()]), "nothing that shows is lost, doubled or moved");
    assert!(!flow.text().contains(['\r', '\u{AD}', '\u{FEFF}']));
    let mut last_end = flow.body().start;
    for (start, c) in flow.text().char_indices() {
        let there = flow.to_source(FlowSpan::new(start, start + c.len_utf8()));
        assert!(there.start >= last_end, "the map is monotone at {start}");
        assert!(there.end <= flow.body().end);
        let stands = &source[there.range()];
        assert!(
            stands.starts_with(c) || (c.is_whitespace() && stands.trim().is_empty()),
            "{c:?} stems from {stands:?}"
        );
        assert_eq!(flow.from_source(there), Some(FlowSpan::new(start, start + c.len_utf8())), "and back");
        last_end = there.end;
    }
}

/// `text` broken so that no line is wider than `width` columns (one a character).
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("never empty");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

const PROSE: &str = "The hotel on the point had been closed since the autumn gales, and nobody in the village could say who \
    had ordered the shutters opened again. Ada walked out along the causeway one morning to look. There was smoke above \
    the kitchen chimney, a ladder against the east wall, and a man on it who did not turn round when she called. She \
    waited until the tide began to come in over the stones, then she went home and told nobody what she had seen there.";

#[test]
fn wrapped_prose_is_one_line_a_paragraph_again() {
    for width in [50, 64, 72, 79, 100] {
        let source = format!("{}\n\n{}\n", wrapped(PROSE, width), wrapped(PROSE, width));
        assert_eq!(flow(&source), format!("{PROSE}\n\n{PROSE}\n"), "at {width}");
        assert_eq!(flow(&source.replace('\n', "\r\n")), format!("{PROSE}\n\n{PROSE}\n"), "CRLF at {width}");
        assert_eq!(flow(&source.replace('\n', "\r")), format!("{PROSE}\n\n{PROSE}\n"), "lone CR at {width}");
    }
}

#[test]
fn a_single_wrapped_paragraph_is_recognised() {
    let short = PROSE.split_inclusive('.').take(1).collect::<String>();
    assert_eq!(flow(&wrapped(&short, 60)), short);
}

#[test]
fn white_space_around_a_wrap_goes_with_it() {
    let source = wrapped(PROSE, 60).replace('\n', "  \n  ");
    assert_eq!(flow(&source), PROSE);
}

#[test]
fn verse_headings_and_signatures_keep_their_lines() {
    let verse = "    The tide comes in, the tide goes out,\n    It never asks me why;\n    The gulls above the harbour \
        shout\n    At every passer-by.";
    let letter = "Your obedient servant,\nEzra Pell\nHarbour Master";
    let prose = wrapped(PROSE, 70);
    let source = format!("CHAPTER I\nThe Hotel\n\n{prose}\n\n{verse}\n\n{prose}\n{letter}\n\n* * *\n\n{prose}\n");
    assert_eq!(
        flow(&source),
        format!("CHAPTER I\nThe Hotel\n\n{PROSE}\n\n{verse}\n\n{PROSE}\n{letter}\n\n* * *\n\n{PROSE}\n")
    );
}

#[test]
fn paragraphs_told_by_indentation_stay_apart() {
    let paragraph = format!("    {}", wrapped(PROSE, 66));
    let source = [paragraph.as_str(); 4].join("\n");
    assert_eq!(flow(&source), [format!("    {PROSE}").as_str(); 4].join("\n"));
}

#[test]
fn lists_and_tables_keep_their_lines() {
    let list = "- bring the long ladder from the shed behind the east wall of the house\n- tell nobody in the village about \
        the smoke above the kitchen chimney\n- wait until the tide begins to come in over the stones";
    let table = "Item                      1996        1997\nLadders                      3           4\n";
    let prose = wrapped(PROSE, 72);
    let source = format!("{prose}\n\n{list}\n\n{table}\n{prose}\n");
    assert_eq!(flow(&source), format!("{PROSE}\n\n{list}\n\n{table}\n{PROSE}\n"));
}

#[test]
fn a_book_of_verse_is_left_alone() {
    let lines = [
        "Of things I never meant to say",
        "And one I said at last,",
        "The harbour lights have lost their way,",
        "The winter ships are past;",
        "I keep the lamp, I keep the log,",
        "I keep the hours too,",
        "And listen through the moving fog",
        "For somebody like you.",
    ];
    let poem = lines.join("\n");
    let book = [poem.as_str(); 12].join("\n\n");
    assert_eq!(flow(&book), book);
}

#[test]
fn a_paragraph_a_line_is_left_alone() {
    let source = format!("{PROSE}\n{PROSE}\n\nA short one.\n{PROSE}\n");
    assert_eq!(flow(&source), source);
    let sentences = PROSE.replace(". ", ".\n");
    assert_eq!(flow(&sentences), sentences, "one sentence a line");
}

#[test]
fn after_hyphens_and_dashes_nothing_is_put() {
    let prose = wrapped(PROSE, 60);
    let joined = |end: &str, start: &str| {
        let line = format!(
            "{:~<width$}{end}",
            "so the old keeper of the harbour lights said it was ",
            width = 60 - end.chars().count()
        );
        let text = flow(&format!("{prose}\n\n{line}\n{start} for the boats\n"));
        text.lines().last().expect("a line").rsplit_once('~').map_or(String::new(), |(_, tail)| tail.to_owned())
    };
    assert_eq!(joined("well-", "known"), "well-known for the boats");
    assert_eq!(joined("so--", "and"), "so--and for the boats");
    assert_eq!(joined("so—", "and"), "so—and for the boats");
    assert_eq!(joined(" –", "and"), " – and for the boats");
    assert_eq!(joined("extra\u{AD}", "ordinary"), "extraordinary for the boats");
}

const CHINESE: &str = "却说那年冬天，海边的旅馆忽然又开了门，村里没有人说得出是谁吩咐的。阿达一早沿着石堤走过去看，只见厨房的烟囱冒着烟，\
    东墙上靠着一架梯子，梯上有个人，听见她喊也不回头。她等到潮水漫过石头，才慢慢走回家去，这件事对谁也没有提起。";

fn wrapped_chinese(text: &str, chars: usize) -> String {
    let chars_of: Vec<char> = text.chars().collect();
    chars_of.chunks(chars).map(|c| c.iter().collect::<String>()).collect::<Vec<_>>().join("\n")
}

#[test]
fn chinese_wraps_leave_nothing_behind() {
    for width in [20, 30, 38] {
        let paragraph = wrapped_chinese(CHINESE, width);
        let source = format!("第一回　旅馆重开\n{paragraph}\n\n{paragraph}\n\n{paragraph}\n");
        assert_eq!(flow(&source), format!("第一回　旅馆重开\n{CHINESE}\n\n{CHINESE}\n\n{CHINESE}\n"), "at {width}");
    }
}

#[test]
fn chinese_wrapped_twice_is_whole_again() {
    // Lines of 30 broken again at 27: a full line and a rest of three characters take turns.
    let twice: String = wrapped_chinese(CHINESE, 30)
        .lines()
        .map(|line| {
            let cut = line.char_indices().nth(27).map_or(line.len(), |(i, _)| i);
            if cut < line.len() { format!("{}\n{}\n", &line[..cut], &line[cut..]) } else { format!("{line}\n") }
        })
        .collect();
    let source = [twice.as_str(); 5].join("\n");
    let paragraphs: Vec<String> = flow(&source).split("\n\n").map(|p| p.trim().to_owned()).collect();
    for sentence in CHINESE.split_inclusive('。') {
        assert!(paragraphs.iter().all(|p| p.contains(sentence)), "{sentence} in {paragraphs:?}");
    }
}

#[test]
fn chinese_contents_of_a_book_that_is_not_wrapped_stay_lines() {
    let contents: String = (1..=9).map(|n| format!("第{n}回　旅馆重开潮水至　石堤有客不回头\n")).collect();
    let source = format!("{contents}\n{}\n\n{CHINESE}{CHINESE}\n", CHINESE.repeat(3));
    assert_eq!(flow(&source), source);
}

#[test]
fn mixed_writing_takes_a_space_only_between_latin_words() {
    let english = wrapped(PROSE, 60);
    let with_han =
        "and the sign over the door of the old hotel said only 開\nnothing else was ever painted there by anyone.";
    let text = flow(&format!("{english}\n\n{english}\n\n{with_han}\n"));
    assert!(text.contains("said only 開 nothing"), "{text}");
}

proptest! {
    #[test]
    fn the_laws_hold_for_any_text(source in "(?s)[a-c水あ，。\\-—\u{AD}\u{200B}\u{FEFF} \t\u{3000}\r\n.]{0,200}") {
        flow(&source);
    }

    #[test]
    fn the_laws_hold_for_wrapped_texts(words in proptest::collection::vec("[a-zé]{1,12}[-,.]?", 30..120), width in 40usize..90) {
        let text = words.join(" ");
        let found = flow(&wrapped(&text, width));
        // Glued only where a word ends in a hyphen, which a wrap may have split.
        prop_assert_eq!(found.replace(['\n', ' '], ""), text.replace(' ', ""));
    }

    #[test]
    fn any_span_maps_to_whole_characters(source in "[ab水\u{AD}\r\n ]{1,60}", a in 0usize..80, b in 0usize..80) {
        let flow = Flow::of(&source, Span::new(0, source.len()));
        let (a, b) = (a.min(b).min(source.len()), a.max(b).min(source.len()));
        if let Some(found) = flow.from_source(Span::new(a, b)) {
            let _whole = &flow.text()[found.range()];
            let back = flow.to_source(found);
            prop_assert!(source.is_char_boundary(back.start) && source.is_char_boundary(back.end));
        }
    }
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_published_novels_flow() {
    let data = std::env::var("CLOSEREAD_DATA").expect("CLOSEREAD_DATA is set");
    let read = |name: &str| std::fs::read_to_string(format!("{data}/novels/{name}.txt")).expect("a shared novel");
    let of = |source: &str| Flow::of(source, Frame::find(source).body);
    // Wrapped: almost no line of a paragraph ends inside a sentence any more (contents and verse aside).
    for (name, allowed) in [
        ("en/the-invisible-man", 0.01),
        ("en/white-fang", 0.001),
        ("en/pride-and-prejudice", 0.001),
        ("en/dracula", 0.002),
        ("en/les-miserables", 0.02),
        ("zh/guanchang-xianxing-ji", 0.02),
    ] {
        let source = read(name);
        let flow = of(&source);
        check_laws(&source, &flow);
        let n_lines = source.lines().filter(|l| !l.trim().is_empty()).count();
        let closers: &[char] = &['"', '\'', '”', '’', '_', ')', ']', '」', '』'];
        let lines: Vec<&str> = flow.text().lines().collect();
        let n_open = lines
            .windows(2)
            .filter(|w| !w[0].trim().is_empty() && !w[1].trim().is_empty())
            .filter(|w| !w[0].trim_end().trim_end_matches(closers).ends_with(['.', '!', '?', '。', '！', '？', '…']))
            .count();
        assert!(n_open as f64 <= allowed * n_lines as f64, "{name}: {n_open} of {n_lines} lines end open");
    }
    // A paragraph a line: nothing but line ends changes.
    for name in ["en/anne-of-green-gables.nocha", "en/the-adventures-of-sherlock-holmes.nocha", "zh/laocan-youji"] {
        let source = read(name);
        assert!(of(&source).text() == source.replace("\r\n", "\n"), "{name} changed");
    }
    // Broken inside a sentence in the file, whole in the flow.
    let source = read("zh/guanchang-xianxing-ji");
    assert!(of(&source).text().contains("方二姓，并無"));
}
