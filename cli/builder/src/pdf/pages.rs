//! The pages of a PDF: their text, and how many have none.

use super::rewrite::write_out;
use closeread_books::html::raised;
use memchr::memmem;
use pdf_extract::{
    Dictionary, Document, MediaBox, Object, OutputDev, OutputError, PlainTextOutput, Transform, output_doc,
};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The text of a PDF and the numbers of its pages and characters, of which some have no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PdfText {
    pub(super) text: String,
    pub(super) n_pages: usize,
    /// Number of pages without text: empty ones, and pictures of pages.
    pub(super) n_empty: usize,
    pub(super) n_characters: usize,
    /// Number of characters whose font does not say which they are.
    pub(super) n_unknown: usize,
    /// Number of fields of a form that are filled in, whose values are no part of a page.
    pub(super) n_fields: usize,
}

/// Reads a PDF, page after page; one that is encrypted, by the empty password.
pub(super) fn read(bytes: &[u8]) -> Result<PdfText, OutputError> {
    let mut document = Document::load_mem(bytes)?;
    if document.is_encrypted() {
        document.decrypt("")?;
    }
    read_by_codes(&mut document);
    write_out(&mut document);
    let n_fields = document.objects.values().filter(|object| is_filled_in(object)).count();
    let mut text = String::new();
    let mut pages = Pages {
        text: PlainTextOutput::new(&mut text),
        is_empty: true,
        n_pages: 0,
        n_empty: 0,
        n_characters: 0,
        n_unknown: 0,
        last: None,
        string: Vec::new(),
        recent: VecDeque::new(),
    };
    output_doc(&document, &mut pages)?;
    let Pages { n_pages, n_empty, n_characters, n_unknown, .. } = pages;
    Ok(PdfText { text, n_pages, n_empty, n_characters, n_unknown, n_fields })
}

/// True for a field of a form that has a value; a signature is none.
fn is_filled_in(object: &Object) -> bool {
    let is_signed = |field: &Dictionary| field.get(b"FT").and_then(Object::as_name).is_ok_and(|kind| kind == b"Sig");
    let field = object.as_dict().ok().filter(|field| field.has(b"FT") && !is_signed(field));
    let Some(field) = field else { return false };
    match field.get(b"V") {
        Ok(Object::String(text, _)) => !text.is_empty(),
        Ok(Object::Name(name)) => name != b"Off",
        Ok(Object::Null) | Err(_) => false,
        Ok(_) => true,
    }
}

/// Has fonts whose codes are all of two bytes read by these codes, as their tables of Unicode are: the library looks there for the
/// numbers of glyphs, and reads no table that gives these one by one.
fn read_by_codes(document: &mut Document) {
    let is_composite =
        |font: &Dictionary| font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Type0");
    let mut found = HashMap::new();
    for font in document.objects.values().filter_map(|object| object.as_dict().ok()).filter(|font| is_composite(font)) {
        if let Ok(table) = font.get(b"Encoding").and_then(Object::as_reference) {
            found.entry(table).or_insert_with(|| {
                let stream = document.get_object(table).and_then(Object::as_stream);
                stream.and_then(|stream| stream.get_plain_content()).is_ok_and(|table| has_two_bytes(&table))
            });
        }
    }
    for font in document.objects.values_mut().filter_map(|object| object.as_dict_mut().ok()) {
        let table = font.get(b"Encoding").and_then(Object::as_reference);
        if is_composite(font) && table.is_ok_and(|table| found.get(&table) == Some(&true)) {
            font.set("Encoding", Object::Name(b"Identity-H".to_vec()));
        }
    }
}

/// True if a table of codes has none but of two bytes.
fn has_two_bytes(table: &[u8]) -> bool {
    let mut ranges = memmem::find_iter(table, b"begincodespacerange").peekable();
    ranges.peek().is_some()
        && ranges.all(|at| {
            let range = &table[at..at + memmem::find(&table[at..], b"endcodespacerange").unwrap_or(0)];
            let codes = range.split(|byte| *byte == b'<').skip(1);
            codes.clone().next().is_some()
                && codes
                    .map(|code| code.split(|byte| *byte == b'>').next().unwrap_or_default())
                    .all(|code| code.len() == 4)
        })
}

/// True for what stands where a font does not say which letter it draws.
fn says_nothing(c: char) -> bool {
    c == char::REPLACEMENT_CHARACTER || c.is_control() && !c.is_whitespace()
}

/// A place turned so that its line runs from left to right, its letters upright: the library finds the ends of words and lines in such
/// lines alone. A size below zero draws letters the other way round. One of a scan that lies a little askew stays as it is.
fn upright(place: &Transform, size: f64) -> Transform {
    const ASKEW: f64 = 0.1;
    let length = place.m11.hypot(place.m12);
    let (cos, sin) = (place.m11 / length * size.signum(), place.m12 / length * size.signum());
    let up = (place.m11 * place.m22 - place.m12 * place.m21).signum();
    match length > 0.0 && (cos < 0.0 || sin.abs() > ASKEW || up < 0.0) {
        true => place.post_transform(&Transform::row_major(cos, -sin * up, sin, cos * up, 0.0, 0.0)),
        false => *place,
    }
}

/// A text whose ligatures, which fonts of printed pages have, are the letters that a search for the word has.
fn letter_by_letter(text: &str) -> Cow<'_, str> {
    const LIGATURES: [&str; 7] = ["ff", "fi", "fl", "ffi", "ffl", "st", "st"];
    let place = |c: char| u32::from(c).checked_sub(0xfb00).map(|place| place as usize);
    let letters = |c: char| LIGATURES.get(place(c)?).copied();
    if text.is_ascii() || text.chars().all(|c| letters(c).is_none()) {
        return text.into();
    }
    text.chars().map(|c| letters(c).map_or_else(|| c.to_string(), str::to_owned)).collect::<String>().into()
}

/// True for a small letter that stands high beside one of full height, which ends or begins `gap` from it; each by its line and height.
fn stands_high((line, height): (f64, f64), (full_line, full_height): (f64, f64), gap: f64) -> bool {
    height < 0.8 * full_height
        && (0.15..0.9).contains(&((line - full_line) / full_height))
        && gap.abs() < 0.3 * full_height
}

/// Passes pages on as text, and counts them.
struct Pages<'t> {
    text: PlainTextOutput<&'t mut String>,
    is_empty: bool,
    n_pages: usize,
    n_empty: usize,
    n_characters: usize,
    n_unknown: usize,
    /// The last letter that is not raised.
    last: Option<Letter>,
    /// The string that is being drawn.
    string: Vec<Drawn>,
    /// The last letters with their places, of strings before it.
    recent: VecDeque<(String, f64, f64)>,
}

/// A letter, or several that are drawn as one, as the library gives it.
struct Drawn {
    place: Transform,
    width: f64,
    spacing: f64,
    size: f64,
    text: String,
}

/// Most letters that a string is looked for among.
const RECENT: usize = 256;

/// A letter, or several that are drawn as one, on a line from left to right.
struct Letter {
    /// Where it ends, and its line.
    end: f64,
    line: f64,
    height: f64,
    is_digit: bool,
}

impl Pages<'_> {
    /// True for a string all of whose letters stand where they were drawn before: printers make bold letters and shadows so. Another
    /// text in its place, a layer or what a scanner read, may share some of them.
    fn is_drawn_again(&self, string: &[Drawn]) -> bool {
        // Fonts that are broken have no widths, and all letters of a string in one place.
        const LEAST_WIDTH: f64 = 0.1;
        let is_known = |letter: &Drawn| {
            let (place, size) = (&letter.place, letter.size);
            let (height, advance) =
                (place.m21.hypot(place.m22) * size, place.m11.hypot(place.m12) * size * letter.width);
            let near = (height.abs() / 10.0).min(advance.abs() / 4.0);
            self.recent.iter().any(|(text, x, y)| {
                (x - place.m31).abs() <= near && (y - place.m32).abs() <= near && *text == letter.text
            })
        };
        let mut wide = string.iter().filter(|letter| letter.width > LEAST_WIDTH).peekable();
        wide.peek().is_some() && wide.all(is_known)
    }

    /// Writes a letter of a string, and counts it.
    fn write(&mut self, letter: Drawn) -> Result<(), OutputError> {
        let Drawn { place, width, spacing, size, text } = letter;
        self.is_empty &= text.trim().is_empty();
        self.n_characters += 1;
        self.n_unknown += usize::from(text.chars().all(says_nothing));
        let shown = self.shown(&place, width, size, &text);
        self.text.output_character(&place, width, spacing, size, &shown)?;
        self.recent.push_back((text, place.m31, place.m32));
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        Ok(())
    }

    /// The text of a letter. A small digit, sign or comma that stands high right behind a digit is raised, as in web pages, and a digit
    /// right before a number is a word of its own: the mark of a note and an exponent would make another number.
    fn shown<'c>(&mut self, place: &Transform, width: f64, size: f64, text: &'c str) -> Cow<'c, str> {
        let (begin, line, height) = (place.m31, place.m32, (place.m21.hypot(place.m22) * size).abs());
        let end = begin + width * place.m11.hypot(place.m12) * size.abs();
        let is_digit = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(last) =
            self.last.as_mut().filter(|last| last.is_digit && (is_digit || matches!(text, "-" | "−" | "–" | ",")))
            && stands_high((line, height), (last.line, last.height), begin - last.end)
        {
            last.end = end;
            return text.chars().map(raised).collect::<String>().into();
        }
        let last = self.last.replace(Letter { end, line, height, is_digit });
        let is_mark =
            |last: &Letter| last.is_digit && stands_high((last.line, last.height), (line, height), begin - last.end);
        match is_digit && last.as_ref().is_some_and(is_mark) {
            true => format!(" {text}").into(),
            false => letter_by_letter(text),
        }
    }
}

impl OutputDev for Pages<'_> {
    fn begin_page(
        &mut self,
        number: u32,
        media_box: &MediaBox,
        art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.is_empty = true;
        self.recent.clear();
        self.last = None;
        self.text.begin_page(number, media_box, art_box)
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.n_pages += 1;
        self.n_empty += usize::from(self.is_empty);
        self.text.end_page()
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        spacing: f64,
        size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        let place = upright(place, size);
        self.string.push(Drawn { place, width, spacing, size, text: character.to_owned() });
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.text.begin_word()
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        let string = std::mem::take(&mut self.string);
        if !self.is_drawn_again(&string) {
            string.into_iter().try_for_each(|letter| self.write(letter))?;
        }
        self.text.end_word()
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.text.end_line()
    }
}
