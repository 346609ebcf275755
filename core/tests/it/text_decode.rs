//! Which encoding a file is taken for, and what is refused.

#![allow(clippy::disallowed_methods, reason = "a test finds the shared data by an environment variable")]

use closeread_books::{DecodeError, decode};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, ISO_2022_JP, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252,
    WINDOWS_1257,
};

fn encoded(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    let (bytes, _, had_errors) = encoding.encode(text);
    assert!(!had_errors, "the sample can be written in {}", encoding.name());
    bytes.into_owned()
}

/// `text` in `encoding`, with nothing said about it, comes back whole.
fn check_detected(text: &str, encoding: &'static Encoding, name: &str) {
    let decoded = decode(&encoded(text, encoding), None).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!((decoded.encoding, decoded.text.as_str()), (name, text));
}

fn check_error(bytes: &[u8], label: Option<&str>, needles: &[&str]) {
    let message = decode(bytes, label).expect_err("no text").to_string();
    for needle in needles {
        assert!(message.contains(needle), "`{needle}` in: {message}");
    }
}

const SIMPLIFIED: &str = "却说海边的旅馆那年冬天忽然又开了门，村里没有人说得出是谁吩咐的。厨房的烟囱冒着烟。";
const TRADITIONAL: &str =
    "卻說海邊的旅館那年冬天忽然又開了門，村裡沒有人說得出是誰吩咐的。廚房的煙囪冒著煙，梯上有個人。";

#[test]
fn utf8_is_taken_as_it_stands_mark_included() {
    for text in ["plain ASCII", "naïve — “quoted”", SIMPLIFIED, "\u{FEFF}marked"] {
        let decoded = decode(text.as_bytes(), None).expect("UTF-8");
        assert_eq!((decoded.encoding, decoded.text.as_str(), decoded.notes.len()), ("UTF-8", text, 0));
    }
}

#[test]
fn utf16_is_known_by_its_mark_and_keeps_it() {
    let little: Vec<u8> = "\u{FEFF}Call me 伊什梅爾.".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = "\u{FEFF}Call me 伊什梅爾.".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (bytes, name) in [(little, "UTF-16LE"), (big, "UTF-16BE")] {
        let decoded = decode(&bytes, None).expect("UTF-16");
        assert_eq!((decoded.encoding, decoded.text.as_str()), (name, "\u{FEFF}Call me 伊什梅爾."));
    }
}

#[test]
fn utf16_without_its_mark_is_refused_with_the_way_out() {
    let bytes: Vec<u8> = "Call me Ishmael.".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check_error(&bytes, None, &["binary", "encoding utf-16le"]);
    assert_eq!(decode(&bytes, Some("utf-16le")).expect("as said").text, "Call me Ishmael.");
    for text in [SIMPLIFIED, TRADITIONAL, "Все счастливые семьи похожи.", "나는 고양이다. 이름은 아직 없다."]
    {
        let text = format!("{text}\n{text}\n");
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        check_error(&little, None, &["binary", "encoding utf-16le"]);
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        check_error(&big, None, &["binary", "encoding utf-16be"]);
    }
    check_error(b"\x00\x01\x02\x03 and so on", None, &["binary", "convert this one to text"]);
}

#[test]
fn chinese_encodings_are_told_apart() {
    check_detected(SIMPLIFIED, GB18030, "gb18030");
    check_detected(TRADITIONAL, BIG5, "Big5");
    check_detected("第一回　旅馆重开潮水至", GB18030, "gb18030");
    check_detected("他说：“你好，世界！”", GB18030, "gb18030");
    check_detected("他說：「你好，世界！」", BIG5, "Big5");
    check_detected("Chapter 1\n\n天地玄黄，宇宙洪荒。\n\nThe end of a mostly English file.", GB18030, "gb18030");
}

#[test]
fn four_byte_gb18030_is_read() {
    check_detected(&format!("{SIMPLIFIED}其中有㐂字、𠀀字、ḿ音。{SIMPLIFIED}"), GB18030, "gb18030");
}

#[test]
fn hungarian_keeps_its_long_vowels() {
    let hungarian = "Volt egyszer egy szegény ember, annak volt három fia. A legidősebb elindult az erdőbe, és nem állt meg, \
        amíg el nem érte a hegy tetejét. Ott egy öregasszony ült egy kidőlt fatörzsön, a fűben tücskök ciripeltek.";
    check_detected(hungarian, WINDOWS_1250, "windows-1250");
    // Others with õ or û stay as they are.
    let portuguese =
        "Ninguém a esperava naquela noite. As estações passam, pensou ela, e as canções ficam; amanhã irei à feira.";
    let french =
        "Il eût fallu qu’il fût sûr de son coup, et que personne ne vînt à la rencontre de la dame âgée du château.";
    for text in [portuguese, french] {
        check_detected(text, WINDOWS_1252, "windows-1252");
    }
}

#[test]
fn estonian_keeps_its_hooked_letters_and_icelandic_its_own() {
    let estonian = "Vanamees istus külaväljakul ja vaatas mängivaid lapsi. Meri oli sel hommikul vaikne ning kalurid pöördusid \
        oma paatidega sadamasse. Žürii tuli õhtul kokku ja sõi šokolaadi.";
    check_detected(estonian, WINDOWS_1257, "windows-1257");
    let icelandic = "Gamli maðurinn sat á torginu og horfði á börnin sem voru að leika sér. Það var kyrrt veður þann morgun og \
        sjómennirnir sneru aftur til hafnar.";
    check_detected(icelandic, WINDOWS_1252, "windows-1252");
}

#[test]
fn greek_and_hebrew_of_dos_are_read_with_a_note_that_the_encoding_is_a_guess() {
    // Code pages 737 and 862, as far as the words need them.
    let greek: [u8; 24] = [
        0xA6, 0x20, 0x9A, 0xE2, 0xA8, 0xA6, 0xAA, 0x20, 0xA1, 0xE1, 0x9F, 0xA0, 0xA9, 0x9C, 0x20, 0xA9, 0xAB, 0x9E,
        0xA4, 0x20, 0xA7, 0xA2, 0x98, 0xAB,
    ];
    let hebrew: [u8; 19] = [
        0x84, 0x86, 0x97, 0x8F, 0x20, 0x89, 0x99, 0x81, 0x20, 0x81, 0x8B, 0x89, 0x8B, 0x98, 0x20, 0x84, 0x8B, 0x94,
        0x98,
    ];
    for bytes in [greek.repeat(20), hebrew.repeat(20)] {
        let notes = decode(&bytes, None).expect("read as it is guessed").notes;
        assert!(notes.iter().any(|note| note.starts_with("the encoding is a guess")), "{notes:?}");
    }
}

#[test]
fn western_text_with_typographic_quotes_is_windows_1252() {
    check_detected("“It’s only a café,” said José – naïvely…", WINDOWS_1252, "windows-1252");
    check_detected("He paid £5 for it.", WINDOWS_1252, "windows-1252");
    check_detected("It was the résumé of a lifetime; Misérables all.", WINDOWS_1252, "windows-1252");
    check_detected("Der Schloßherr war müde und ging über die Brücke.", WINDOWS_1252, "windows-1252");
}

#[test]
fn other_legacy_encodings_are_detected() {
    check_detected("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", SHIFT_JIS, "Shift_JIS");
    check_detected("吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。", EUC_JP, "EUC-JP");
    check_detected("吾輩は猫である。名前はまだ無い。", ISO_2022_JP, "ISO-2022-JP");
    check_detected("죽는 날까지 하늘을 우러러 한 점 부끄럼이 없기를, 잎새에 이는 바람에도", EUC_KR, "EUC-KR");
    check_detected(
        "Все счастливые семьи похожи друг на друга, каждая несчастлива по-своему.",
        WINDOWS_1251,
        "windows-1251",
    );
    check_detected("Все счастливые семьи похожи друг на друга, каждая несчастлива по-своему.", KOI8_R, "KOI8-U");
}

#[test]
fn a_label_overrides_the_guess() {
    let bytes = encoded("жизнь", WINDOWS_1251);
    let decoded = decode(&bytes, Some(" CP1251 ")).expect("labelled");
    assert_eq!((decoded.encoding, decoded.text.as_str()), ("windows-1251", "жизнь"));
    assert_eq!(decode(&encoded(SIMPLIFIED, GB18030), Some("gbk")).expect("labelled").encoding, "gb18030");
    check_error(b"text", Some("utf-9"), &["`utf-9`", "gb18030"]);
    check_error(b"text", Some("hz-gb-2312"), &["`hz-gb-2312`"]);
}

#[test]
fn a_label_at_odds_with_the_mark_is_obeyed_and_noted() {
    let decoded = decode("\u{FEFF}café".as_bytes(), Some("latin1")).expect("labelled");
    assert_eq!(decoded.text, "ï»¿cafÃ©");
    assert_eq!(decoded.notes.len(), 1);
}

#[test]
fn damaged_utf8_is_named_by_byte_and_line_not_guessed_at() {
    let mut chinese = format!("{SIMPLIFIED}\n{SIMPLIFIED}\n").into_bytes();
    let at = chinese.len() - 8;
    chinese[at] = 0xFF;
    check_error(&chinese, None, &["invalid UTF-8", "(line 2) is 0x", "naming its encoding"]);
    check_error(b"caf\xC3\xA9 and then\r\na caf\xE9", None, &["byte 21 (line 2) is 0xE9"]);
    check_error("\u{2018}one quote, then a lone \u{A3}".as_bytes().split_last().expect("bytes").1, None, &["(line 1)"]);
    check_error(&[b"\xEF\xBB\xBFcaf".as_slice(), b"\xE9"].concat(), None, &["byte 6", "0xE9"]);
}

#[test]
fn damaged_utf8_is_read_with_replacement_when_asked_for() {
    let decoded = decode(b"caf\xC3\xA9, caf\xE9, caf\xE9", Some("utf-8")).expect("labelled");
    assert_eq!(decoded.text, "café, caf\u{FFFD}, caf\u{FFFD}");
    assert!(decoded.notes[0].starts_with("2 invalid sequences"), "{:?}", decoded.notes);
}

#[test]
fn what_is_no_text_is_named() {
    check_error(b"%PDF-1.7\n%\xE2\xE3", None, &["a PDF document", "convert"]);
    check_error(b"PK\x03\x04\x14\0\0\0", None, &["ZIP", ".epub"]);
    check_error(b"\x1F\x8B\x08\0\0", None, &["gzip"]);
    check_error(b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", None, &["PNG"]);
    check_error(b"{\\rtf1\\ansi text}", None, &["RTF"]);
    check_error(b"\xEF\xBB\xBF<?xml version='1.0'?>\n<FictionBook xmlns='x'><body/>", None, &["FB2", "EPUB or text"]);
    check_error(b"AT&TFORM\0\0", None, &["DjVu", "convert"]);
    check_error(b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\n", None, &["Git LFS", "git lfs pull"]);
    check_error(b"%!PS-Adobe-3.0 text", None, &["PostScript"]);
    check_error(&[&[b'x'; 60], b"TEXtREAd\0".as_slice()].concat(), None, &["Palm"]);
    check_error(b"some text\nand a \0 in it", None, &["byte 16 (line 2)", "0x00"]);
    check_error(&(1..=255).collect::<Vec<u8>>(), None, &["binary", "0x01"]);
    check_error(b"%PDF-1.7", Some("latin1"), &["PDF"]);
    assert!(decode(b"RIFF is how a riff begins", None).is_ok());
}

#[test]
fn a_stray_control_character_is_no_reason_to_refuse_a_book() {
    let book = format!("{}\x1A", "Call me Ishmael. ".repeat(100));
    assert_eq!(decode(book.as_bytes(), None).expect("text").text, book);
}

#[test]
fn an_empty_file_is_called_empty() {
    for bytes in [b"".as_slice(), b" \r\n\t", b"\xEF\xBB\xBF\n", "\u{3000}\n".as_bytes()] {
        assert_eq!(decode(bytes, None), Err(DecodeError::Empty { bytes: bytes.len() }));
    }
}

/// `text` in an encoding of which these characters are at these bytes.
fn in_bytes(text: &str, table: &[(char, u8)]) -> Vec<u8> {
    let byte = |c: char| table.iter().find(|(known, _)| *known == c).map(|(_, byte)| *byte);
    text.chars().map(|c| byte(c).unwrap_or_else(|| u8::try_from(c).expect("ASCII"))).collect()
}

#[test]
fn texts_of_old_macs_are_read_and_their_encoding_is_called_a_guess() {
    let mac = [('é', 0x8E), ('è', 0x8F), ('â', 0x89), ('à', 0x88), ('ç', 0x8D), ('’', 0xD5), ('ù', 0x9D), ('—', 0xD1)];
    let mac = [&mac[..], &[('”', 0xD3), ('ä', 0x8A), ('ü', 0x9F), ('ß', 0xA7), ('ö', 0x9A), ('„', 0xE3), ('“', 0xD2)]]
        .concat();
    for text in [
        "Le café était près du théâtre, où l’élève répétait en français — à côté".trim_end_matches("ôté"),
        "Der Käse war für die Großmutter über alle Maßen schön; „viel“ mochte sie nicht.",
        "It’s the café — and that’s the end of the naïve".trim_end_matches("ïve"),
        "“We’ll stay at the inn,” he said. “It’s shut in winter.” “So it is!”",
    ] {
        let decoded = decode(&in_bytes(text, &mac), None).expect(text);
        assert_eq!((decoded.encoding, decoded.text.as_str()), ("macintosh", text));
        assert!(decoded.notes[0].contains("a guess") && decoded.notes[0].contains("name it"), "{decoded:?}");
    }
}

#[test]
fn spanish_of_old_macs_is_read_though_half_its_letters_pass_for_marks() {
    let mac = [('í', 0x92), ('ó', 0x97), ('ñ', 0x96), ('á', 0x87), ('é', 0x8E), ('ú', 0x9C)];
    let text = "No ha mucho tiempo que vivía un hidalgo de rocín flaco. Algo más de vaca que carnero, salpicón las más \
        noches, los sábados, lentejas los viernes, algún palomino de añadidura; y tenía una ama que pasaba de los \
        cuarenta años. Olvidó la administración de su hacienda, y así llevó a su casa todos los libros de caballerías; \
        dél se ha dicho.";
    let decoded = decode(&in_bytes(text, &mac), None).expect("Spanish");
    assert_eq!((decoded.encoding, decoded.text.as_str()), ("macintosh", text));
}

#[test]
fn texts_of_dos_are_refused_with_the_way_out() {
    let dos = [('é', 0x82), ('è', 0x8A), ('â', 0x83), ('à', 0x85), ('ç', 0x87), ('ù', 0x97), ('ê', 0x88), ('ä', 0x84)];
    let dos = [&dos[..], &[('ü', 0x81), ('ß', 0xE1), ('ö', 0x94), ('£', 0x9C)]].concat();
    for text in [
        "Le café était près du théâtre, où l'élève répétait en français à la forêt",
        "Der Käse war für die Großmutter über alle Maßen schön.",
    ] {
        check_error(&in_bytes(text, &dos), None, &["code page of DOS", "iconv -f CP850", "name the encoding"]);
        assert!(decode(&in_bytes(text, &dos), Some("latin1")).is_ok(), "as said");
    }
    let doubtful = decode(&in_bytes("The café is not far.", &dos), None).expect("one letter is no proof");
    assert!(
        doubtful.notes[0].starts_with("the encoding is a guess, and 1 of 1 characters beside ASCII look odd"),
        "{doubtful:?}"
    );
}

#[test]
fn marks_and_letters_of_windows_1252_look_as_they_should() {
    for text in [
        "“Don’t,” said José – naïvely… He paid £5 for ½ of it ‘now’; col·lega, Œuvre, ÉCOLE, l’Île, «où?»",
        "5° C · 3×4 µm · § 7 · © ® ™ · ¿Qué? ¡Sí! · 1º 2ª · Größe, SCHÖN, Ärger · Æsop's · Ÿ",
        "North•South is one odd mark, and no proof: naïve café, résumé.",
    ] {
        let decoded = decode(&encoded(text, WINDOWS_1252), None).expect(text);
        assert_eq!((decoded.encoding, decoded.text.as_str(), decoded.notes.len()), ("windows-1252", text, 0));
    }
}

#[test]
fn ebcdic_is_named() {
    let letters = |c: char| match c {
        'a'..='i' => c as u8 - b'a' + 0x81,
        'j'..='r' => c as u8 - b'j' + 0x91,
        's'..='z' => c as u8 - b's' + 0xA2,
        ',' => 0x6B,
        '\n' => 0x15,
        _ => 0x40,
    };
    let bytes: Vec<u8> =
        "it was the best of times, it was the worst of times\n".repeat(3).chars().map(letters).collect();
    check_error(&bytes, None, &["text in EBCDIC", "convert it to UTF-8"]);
}

#[test]
fn one_nul_in_ascii_is_no_utf16() {
    for text in ["It was the best\0 of times.", "It was the best of times\0.\n"] {
        let message = decode(text.repeat(5).replacen('\0', "", 4).as_bytes(), None).expect_err("a NUL").to_string();
        assert!(!message.contains("UTF-16") && message.contains("remove it"), "{message}");
    }
}

#[test]
fn a_page_is_read_in_the_encoding_that_it_declares() {
    let sjis = "<?xml version='1.0' encoding='shift_jis'?><p>吾輩は猫である</p>";
    let polish = "<html><head><META http-equiv=x content=\"text/html; charset=windows-1250\"></head><p>Jest źle</p>";
    let mac = "<!DOCTYPE html><meta charset=macintosh><p>L’été</p>";
    let cyrillic = "<?xml version=\"1.0\" encoding=\"KOI8-R\"?><p>да</p>";
    for (page, name) in [(sjis, "Shift_JIS"), (polish, "windows-1250"), (mac, "macintosh"), (cyrillic, "KOI8-R")] {
        check_detected(page, Encoding::for_label(name.as_bytes()).expect("known"), name);
    }
    // It is no page, declares what bytes show by themselves, or declares what it is not in.
    check_detected("charset=shift_jis: it was the résumé of a lifetime", WINDOWS_1252, "windows-1252");
    check_detected("<meta charset=utf-16><p>it was the résumé of a lifetime</p>", WINDOWS_1252, "windows-1252");
    check_detected("<meta charset=shift_jis><p>it was the résumé of a café </p>", WINDOWS_1252, "windows-1252");
    // UTF-8 with some damage stays damaged UTF-8, whatever it declares.
    let mut damaged = "<meta charset=windows-1252><p>L’été, l’été, l’".as_bytes().to_vec();
    damaged.extend(b"\xE9t");
    let error = decode(&damaged, None).expect_err("damaged").to_string();
    assert!(error.contains("UTF-8"), "{error}");
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_published_files_are_detected() {
    let data = std::env::var("CLOSEREAD_DATA").expect("CLOSEREAD_DATA is set");
    let read = |path: &str| std::fs::read(format!("{data}/{path}")).unwrap_or_else(|e| panic!("{path}: {e}"));
    let pairs = [
        ("encodings/laocan-youji.gb18030.txt", "novels/zh/laocan-youji.txt", "gb18030"),
        ("encodings/dracula.iso-8859-1.txt", "novels/en/dracula.txt", "windows-1252"),
    ];
    for (original, utf8, encoding) in pairs {
        let decoded = decode(&read(original), None).expect("text");
        let published = decode(&read(utf8), None).expect("UTF-8");
        assert_eq!(decoded.encoding, encoding, "{original}");
        assert!(decoded.text.replace('\r', "") == published.text.replace('\r', ""), "{original} reads as {utf8}");
        assert_eq!(published.text.as_bytes(), read(utf8), "{utf8} is taken byte for byte");
    }
}
