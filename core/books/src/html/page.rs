//! The text so far, and what must come before the next visible character.

use super::layout::Layout;
use super::markup::Piece;
use super::quotes::Quotes;
use super::spans::Spans;
use html5ever::Attribute;
use std::ops::Range;

pub(super) struct Page {
    layout: Layout,
    text: String,
    /// Line ends due before the next visible character; two make a paragraph.
    breaks: usize,
    is_space_due: bool,
    /// Number of `<pre>` elements that are open.
    preformatted: usize,
    /// White space of a `<pre>`, until something visible follows.
    held: String,
    /// The depth of a heading that has begun and has no text yet.
    heading: usize,
    /// An ornamented initial, a picture of one letter, as long as nothing parts it from the word that it begins.
    initial: Option<String>,
    /// The element right behind a digit that is open and whose digits are not part of that number: `sup`, the mark of a note, an
    /// exponent.
    raised_in: Option<&'static str>,
    /// The powers and fractions of a formula that are open, the innermost last, and where each begins.
    formulas: Vec<(Formula, usize)>,
    /// The `<sub>`, `<sup>` or what is raised as such that is open, and where it began; the place of the last one that ended, and
    /// whether it is lowered.
    script: Option<(&'static str, usize)>,
    scripted: Option<(Range<usize>, bool)>,
    /// A cell of a row of Markdown has begun: nothing but the next row breaks its line.
    in_cell: bool,
    /// The tables that are open, the innermost last.
    tables: Vec<Spans>,
    quotes: Quotes,
    /// Whether an insertion or a deletion ended last, and where: the other one right behind it is another word.
    edited: Option<(bool, usize)>,
}

/// What parts two numbers of a formula that stand side by side.
enum Formula {
    Power,
    Fraction,
}

/// Elements that may be raised as `sup` is.
const INLINE: [&str; 7] = ["a", "b", "em", "font", "i", "small", "span"];

/// Classes by which books and converters name what a style sheet raises.
const RAISED: [&str; 7] = ["fnref", "footnote-ref", "footnoteref", "noteref", "sup", "super", "superscript"];

/// True for what is raised by its own style or by the name of its class, and for the mark of a note, which a style sheet may raise.
fn is_raised(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &*attribute.name.local {
        "epub:type" | "role" => {
            attribute.value.split_ascii_whitespace().any(|known| matches!(known, "noteref" | "doc-noteref"))
        }
        "class" => {
            let mut classes = attribute.value.split_ascii_whitespace();
            classes.any(|class| RAISED.iter().any(|known| known.eq_ignore_ascii_case(class)))
        }
        "style" => {
            let style = attribute.value.to_ascii_lowercase().replace(char::is_whitespace, "");
            let is_moved_up = || style.split(';').any(|rule| rule.starts_with("top:-"));
            style.contains("vertical-align:super") || style.contains("position:relative") && is_moved_up()
        }
        _ => false,
    })
}

/// Line ends around an element.
fn breaks_around(name: &str) -> usize {
    match name {
        "p" | "div" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "section" | "article" | "aside" | "header"
        | "footer" | "main" | "blockquote" | "figure" | "figcaption" | "ul" | "ol" | "dl" | "table" | "address"
        | "hr" | "pre" | "body" | "hgroup" | "details" | "summary" | "center" | "form" | "fieldset" | "title" => 2,
        "li" | "dt" | "dd" | "tr" | "caption" | "option" => 1,
        _ => 0,
    }
}

/// The depth of a heading's element.
pub(super) fn heading_depth(name: &str) -> Option<usize> {
    ["h1", "h2", "h3", "h4", "h5", "h6"].iter().position(|heading| *heading == name).map(|idx| idx + 1)
}

/// What a picture of one capital shows, perhaps with an opening quotation mark, by the text in its place.
fn initial(attributes: &[Attribute]) -> Option<String> {
    let shown = attributes.iter().find(|attribute| &*attribute.name.local == "alt")?.value.trim();
    let mut letters = shown.trim_start_matches(['“', '‘', '"', '\'', '«', '„']).chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase) && letters.next().is_none();
    is_capital.then(|| shown.to_owned())
}

/// Turns a digit or a sign into its superscript; leaves other characters.
pub fn raised(c: char) -> char {
    match c {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4'..='9' => char::from_u32('⁴' as u32 + (c as u32 - '4' as u32)).unwrap_or(c),
        '+' => '⁺',
        '-' | '−' | '–' => '⁻',
        _ => c,
    }
}

impl Page {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            text: String::new(),
            breaks: 0,
            is_space_due: false,
            preformatted: 0,
            held: String::new(),
            heading: 0,
            initial: None,
            raised_in: None,
            formulas: Vec::new(),
            script: None,
            scripted: None,
            in_cell: false,
            tables: Vec::new(),
            quotes: Quotes::default(),
            edited: None,
        }
    }

    pub(super) fn push(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Open { name: "img", attributes, .. } => self.initial = initial(attributes),
            Piece::Open { name, attributes, empty } => self.open(name, attributes, empty),
            Piece::Close { name } => self.close(name),
            Piece::Text(text) => text.chars().for_each(|c| self.push_char(c)),
        }
    }

    fn open(&mut self, name: &str, attributes: &[Attribute], empty: bool) {
        if matches!(name, "br" | "td" | "th") {
            (self.initial, self.raised_in) = (None, None);
        }
        if let (None, Some(inline)) = (self.raised_in, INLINE.into_iter().find(|inline| *inline == name))
            && is_raised(attributes)
        {
            self.raised_in = (!empty && self.is_behind_a_digit()).then_some(inline);
            self.script = (!empty).then_some((inline, self.text.len()));
        }
        if let Some(script) = ["sup", "sub"].into_iter().find(|script| *script == name) {
            self.script = (!empty).then_some((script, self.text.len()));
        }
        match name {
            "sup" => self.raised_in = (!empty && self.is_behind_a_digit()).then_some("sup"),
            "msup" if !empty => self.formulas.push((Formula::Power, self.text.len())),
            "mfrac" if !empty => self.formulas.push((Formula::Fraction, self.text.len())),
            "mn" | "mrow" if !empty && self.is_behind_a_digit() => match (name, self.formulas.last()) {
                (_, Some((_, start))) if *start == self.text.len() => self.is_space_due = true,
                ("mn", Some((Formula::Power, _))) => self.raised_in = self.raised_in.or(Some("mn")),
                (_, Some((Formula::Power, _))) => self.raised_in = self.raised_in.or(Some("mrow")),
                ("mn", Some((Formula::Fraction, _))) => self.text.push('/'),
                _ => {}
            },
            "br" if self.in_cell => self.is_space_due = true,
            "br" if self.preformatted > 0 => self.held.push('\n'),
            "br" => self.breaks = (self.breaks + 1).min(2),
            "td" | "th" => self.cell(attributes),
            "q" if !empty => self.quotes.open(),
            "del" | "s" | "strike" | "ins" => {
                self.is_space_due |= self.edited == Some((name != "ins", self.text.len()))
            }
            "button" => self.is_space_due = true,
            _ => self.break_around(name),
        }
        match name {
            "p" => self.quotes.clear(),
            "table" => self.tables.push(Spans::default()),
            "tr" => self.tables.last_mut().into_iter().for_each(Spans::row),
            _ => {}
        }
        if let (Layout::Markdown, Some(depth), false) = (self.layout, heading_depth(name), self.in_cell) {
            self.heading = depth;
        }
        self.preformatted += usize::from(name == "pre" && !empty);
    }

    fn close(&mut self, name: &str) {
        self.raised_in = self.raised_in.filter(|open| *open != name);
        if let Some((_, start)) = self.script.take_if(|(open, _)| *open == name) {
            self.scripted = Some((start..self.text.len(), name == "sub"));
        }
        match name {
            "td" | "th" if self.layout == Layout::Page => self.is_space_due = true,
            "q" => self.text.extend(self.quotes.close()),
            "del" | "s" | "strike" | "ins" => self.edited = Some((name == "ins", self.text.len())),
            "button" => self.is_space_due = true,
            "msup" | "mfrac" => self.formulas.truncate(self.formulas.len().saturating_sub(1)),
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            "table" => drop(self.tables.pop()),
            _ if heading_depth(name).is_some() => self.heading = 0,
            _ => {}
        }
        self.break_around(name);
    }

    fn break_around(&mut self, name: &str) {
        let breaks = breaks_around(name);
        if breaks > 0 {
            (self.initial, self.raised_in) = (None, None);
        }
        if matches!(name, "table" | "tr") {
            self.in_cell = false;
        }
        if self.in_cell {
            self.is_space_due |= breaks > 0;
        } else {
            self.breaks = self.breaks.max(breaks);
        }
    }

    fn is_behind_a_digit(&self) -> bool {
        let is_parted = self.breaks > 0 || self.is_space_due || !self.held.is_empty();
        !is_parted && self.text.ends_with(|c: char| c.is_ascii_digit())
    }

    /// Parts a number that begins from what stands raised or lowered right before it: the mark of a note is no digit of it.
    fn part_from_script(&mut self) {
        let Some((place, is_lowered)) = self.scripted.take() else { return };
        if place.is_empty() || place.end != self.text.len() || !self.is_behind_a_digit() {
            return;
        }
        if is_lowered {
            self.text.push(' ');
        } else {
            let script = self.text.split_off(place.start);
            self.text.extend(script.chars().map(raised));
        }
    }

    fn cell(&mut self, attributes: &[Attribute]) {
        match self.layout {
            Layout::Book if self.breaks == 0 && !self.text.is_empty() => {
                self.text.push('\t');
                self.is_space_due = false;
            }
            Layout::Book => {}
            Layout::Page => self.is_space_due = true,
            Layout::Markdown => {
                self.break_line();
                self.text.push_str(if self.text.is_empty() || self.text.ends_with('\n') { "|" } else { " |" });
                // What a wide cell, or one of a row above, reaches over are empty cells, so that columns stay columns.
                let n_empty = self.tables.last_mut().map_or(0, |spans| spans.cell(attributes));
                self.text.extend(std::iter::repeat_n(" |", n_empty));
                (self.is_space_due, self.in_cell) = (true, true);
            }
        }
    }

    fn push_char(&mut self, c: char) {
        let is_space = match self.layout {
            Layout::Book => matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0C'),
            Layout::Page | Layout::Markdown => c.is_whitespace(),
        };
        let initial = self.initial.take().filter(|initial| c.is_alphabetic() && !initial.ends_with(c));
        if is_space && self.preformatted > 0 && !self.in_cell {
            self.held.push(c);
            return;
        }
        if is_space {
            self.is_space_due = true;
            return;
        }
        self.break_line();
        if self.heading > 0 {
            self.text.extend(std::iter::repeat_n('#', std::mem::take(&mut self.heading)));
            self.is_space_due = true;
        }
        if self.is_space_due && !self.text.is_empty() && !self.text.ends_with(['\n', '\t']) {
            self.text.push(' ');
        }
        self.is_space_due = false;
        if c.is_ascii_digit() && self.raised_in.is_none() {
            self.part_from_script();
        }
        self.quotes.before(c, &mut self.text);
        self.text.push_str(initial.as_deref().unwrap_or_default());
        if c == '|' && self.in_cell {
            self.text.push('\\');
        }
        self.text.push(if self.raised_in.is_some() { raised(c) } else { c });
    }

    /// Ends the line if that is due. Of the white space of a `<pre>`, what indents its first line stays.
    fn break_line(&mut self) {
        let held = std::mem::take(&mut self.held);
        if self.breaks == 0 {
            self.text.push_str(&held);
            return;
        }
        self.text.truncate(self.text.trim_end_matches('\t').len());
        if !self.text.is_empty() {
            self.text.extend(std::iter::repeat_n('\n', self.breaks));
        }
        (self.breaks, self.is_space_due) = (0, false);
        if self.preformatted > 0 {
            self.text.push_str(held.rsplit('\n').next().unwrap_or_default());
        }
    }

    pub(super) fn into_text(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text
    }
}
