//! Encodings that chardetng does not know and takes for a Windows encoding: Mac Roman, code pages of DOS, EBCDIC.

use super::Decoded;
use encoding_rs::{Encoding, IBM866, MACINTOSH};

/// The upper half of code page 850. The letters of 437 are those of it, but for a few.
const DOS: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}";
/// Guesses that are looked at again: those of Latin letters.
const LATIN: [&str; 8] = [
    "windows-1250",
    "windows-1252",
    "windows-1254",
    "windows-1257",
    "windows-1258",
    "ISO-8859-2",
    "ISO-8859-4",
    "ISO-8859-13",
];

/// What a text in a single-byte encoding is on a second look.
pub(super) enum Look {
    /// What was guessed.
    AsGuessed,
    /// What was guessed, with this note.
    Doubtful(String),
    /// Mac Roman.
    Mac(Decoded),
    /// A code page of DOS.
    Dos,
}

/// Looks again at a text that was guessed to be in `guess`, where words would look odd in it.
pub(super) fn second_look(bytes: &[u8], guess: &'static Encoding, text: &str) -> Look {
    if let Some(why) = unlikely(guess, text) {
        return Look::Doubtful(format!("the encoding is a guess, and {why}: name it, or convert the file to UTF-8"));
    }
    if !LATIN.contains(&guess.name()) {
        return Look::AsGuessed;
    }
    let guessed = Oddness::of(text);
    if guessed.is_clean() {
        return Look::AsGuessed;
    }
    let (mac, _) = MACINTOSH.decode_without_bom_handling(bytes);
    let (of_mac, of_dos) = (Oddness::of(&mac), Oddness::of(&dos(bytes)));
    let is_clear = guessed.n_odd >= 3 && guessed.n_kinds >= 2;
    match (of_mac.is_clean(), of_dos.is_clean()) {
        (true, false) if is_clear => Look::Mac(Decoded {
            text: mac.into_owned(),
            encoding: MACINTOSH.name(),
            notes: vec!["the encoding is a guess by its letters beside ASCII; name it if they are wrong".to_owned()],
        }),
        (false, true) if is_clear => Look::Dos,
        _ if guessed.n_odd * 3 < guessed.n => Look::AsGuessed,
        _ => Look::Doubtful(format!(
            "the encoding is a guess, and {} of {} characters beside ASCII look odd in it: name it, or convert the file to UTF-8",
            guessed.n_odd, guessed.n
        )),
    }
}

/// Says why `guess` is unlikely, as for Greek or Hebrew of DOS; `None` if it is not.
fn unlikely(guess: &'static Encoding, text: &str) -> Option<&'static str> {
    const FEW: usize = 16;
    let others = || text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic());
    if LATIN.contains(&guess.name()) {
        let n_ascii = text.chars().filter(char::is_ascii_alphabetic).count();
        let is_so = others().count() > n_ascii.max(FEW);
        return is_so.then_some("most letters in it are beside ASCII, which no language of Latin letters has");
    }
    let is_so = guess == IBM866 && others().nth(FEW).is_some() && others().all(char::is_uppercase);
    is_so.then_some("all its Russian letters are capitals")
}

fn dos(bytes: &[u8]) -> String {
    let upper: Vec<char> = DOS.chars().collect();
    bytes.iter().map(|&byte| if byte < 0x80 { char::from(byte) } else { upper[usize::from(byte - 0x80)] }).collect()
}

/// How many characters beside ASCII stand where no text has them.
struct Oddness {
    n: usize,
    n_odd: usize,
    n_kinds: usize,
}

impl Oddness {
    fn of(text: &str) -> Self {
        let (mut oddness, mut kinds) = (Self { n: 0, n_odd: 0, n_kinds: 0 }, Vec::new());
        let (mut before, mut chars) = (' ', text.chars().peekable());
        while let Some(c) = chars.next() {
            if !c.is_ascii() {
                oddness.n += 1;
                if is_odd(before, c, chars.peek().copied().unwrap_or(' ')) {
                    oddness.n_odd += 1;
                    if !kinds.contains(&c) {
                        kinds.push(c);
                    }
                }
            }
            before = c;
        }
        oddness.n_kinds = kinds.len();
        oddness
    }

    fn is_clean(&self) -> bool {
        self.n_odd * 20 <= self.n
    }
}

/// True of a control character and of a box; of a capital, or a mark, within a word; of an opening mark behind one; of a capital
/// at the end of a sentence, where Mac Roman has closing quotation marks; of a letter before a number, where DOS has the pound.
fn is_odd(before: char, c: char, after: char) -> bool {
    let within = before.is_alphabetic() && after.is_alphabetic();
    match c {
        '\u{80}'..='\u{9F}' | '\u{2500}'..='\u{259F}' => true,
        '‚' | '„' => before.is_alphabetic(),
        '’' | '‘' | '–' | '—' | '…' | '\u{A0}' | '\u{AD}' => false,
        '·' => within && !(before == 'l' && after == 'l'),
        '\u{C0}'..='\u{24F}' if c.is_alphabetic() && c != 'ƒ' => {
            let is_behind = before.is_lowercase() || matches!(before, '.' | ',' | '!' | '?' | ';');
            (c.is_uppercase() && is_behind) || after.is_ascii_digit()
        }
        _ => within,
    }
}

/// True of a text in EBCDIC: the commonest letters and the space stand where EBCDIC has them.
pub(super) fn is_ebcdic(bytes: &[u8]) -> bool {
    // a e i n o s t
    const LETTERS: [u8; 7] = [0x81, 0x85, 0x89, 0x95, 0x96, 0xA2, 0xA3];
    const SPACE: u8 = 0x40;
    let n_spaces = bytes.iter().filter(|&&byte| byte == SPACE).count();
    let n_common = n_spaces + bytes.iter().filter(|byte| LETTERS.contains(byte)).count();
    bytes.len() >= 32 && n_spaces * 20 >= bytes.len() && n_spaces * 3 <= bytes.len() && n_common * 20 >= bytes.len() * 9
}
