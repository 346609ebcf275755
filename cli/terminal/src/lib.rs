//! Terminal output: servers' words, book texts and names of files are shown by a terminal and do not steer it.

use anstyle::Style;
use closeread_table::render::text::is_control;
use indicatif::{MultiProgress, ProgressDrawTarget};
use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Stdout, Write};
use std::sync::{LazyLock, OnceLock};

/// The text with characters that steer a terminal as `\u001b`, which JSON reads as the same character.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |at: usize, c: char| match c {
        '\n' | '\t' => false,
        '\r' => !text[at + 1..].starts_with('\n'),
        c => is_control(c),
    };
    if !text.char_indices().any(|(at, c)| steers(at, c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (at, c) in text.char_indices() {
        if steers(at, c) { shown.push_str(&format!("\\u{:04x}", u32::from(c))) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// The message with line breaks shown, but for those that an indent follows: so lists within a message are written. A line
/// break in a path or in a server's words begins no line that could be taken for another message.
pub fn one_message(text: &str) -> Cow<'_, str> {
    let text = text.trim_end();
    if !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let lines: Vec<String> = text.split("\n  ").map(|line| line.replace('\n', "\\u000a")).collect();
    Cow::Owned(lines.join("\n  "))
}

/// Standard output, on which everything is [`harmless`].
pub fn stdout() -> Harmless<Stdout> {
    Harmless(io::stdout())
}

static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// The bars of progress on standard error, hidden where that is no terminal. A bar that is not among them is torn by what
/// is said.
pub fn bars() -> &'static MultiProgress {
    &BARS
}

/// Hides progress bars from now on.
pub fn hide_bars() {
    BARS.set_draw_target(ProgressDrawTarget::hidden());
}

/// Says something on standard error, above the bars. Whoever closed it does not want to hear it.
pub fn say(words: fmt::Arguments<'_>) {
    let words = words.to_string();
    BARS.suspend(|| {
        let _ = io::stderr().write_all(harmless(&words).as_bytes());
    });
}

static COLOURED: OnceLock<bool> = OnceLock::new();

/// Chooses whether messages are coloured; `None`: in a terminal, unless `NO_COLOR` is set. The first choice stays.
pub fn choose_colours(wanted: Option<bool>) {
    let of_terminal =
        || io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    COLOURED.get_or_init(|| wanted.unwrap_or_else(of_terminal));
}

/// Says something behind a label, which has its colour where colours were chosen.
pub fn say_labelled(label: Option<(&str, Style)>, words: fmt::Arguments<'_>) {
    let Some((label, style)) = label else { return say(words) };
    let style = if COLOURED.get() == Some(&true) { style } else { Style::new() };
    let words = words.to_string();
    BARS.suspend(|| {
        let _ = write!(io::stderr(), "{style}{label}{style:#}{}", harmless(&words));
    });
}

/// Writes texts so that they steer nothing.
pub struct Harmless<W>(W);

impl<W: Write> Write for Harmless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Everything that is formatted comes in whole characters.
        self.0.write_all(harmless(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_14_control_sequences_are_shown_and_not_obeyed() {
        for (text, expected) in [
            ("plain\ttext\nof 李 😀\r\n", "plain\ttext\nof 李 😀\r\n"),
            ("\u{1b}]0;title\u{7}\u{1b}[2J", "\\u001b]0;title\\u0007\\u001b[2J"),
            (
                "over\rwritten, \u{9b}31m, \u{202e}detrevni, \u{7f}\0",
                "over\\u000dwritten, \\u009b31m, \\u202edetrevni, \\u007f\\u0000",
            ),
        ] {
            assert_eq!(harmless(text), expected);
        }
        let json = serde_json::json!({"text": "\u{1b}[31m \u{9b} \u{202e}"});
        let shown = harmless(&json.to_string()).into_owned();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), json, "JSON stays what it is");
    }

    #[test]
    fn finding_14_a_line_break_in_a_path_begins_no_message() {
        for (text, expected) in [
            ("cannot read a\nerror: b", "cannot read a\\u000aerror: b"),
            ("it said:\n\nno\n", "it said:\\u000a\\u000ano"),
            ("these are known:\n  a\n  b", "these are known:\n  a\n  b"),
        ] {
            assert_eq!(one_message(text), expected);
        }
    }

    #[test]
    fn what_is_written_passes_through() {
        let mut out = Harmless(Vec::new());
        let steering = "\u{1b}[1m";
        writeln!(out, "{steering} {}", 3).unwrap();
        assert_eq!(String::from_utf8(out.0).unwrap(), "\\u001b[1m 3\n");
    }
}
