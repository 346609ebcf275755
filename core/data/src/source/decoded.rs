//! Texts of files, with what is to be known of their encodings.

use super::collect::Collector;
use closeread_books::{DecodeError, decode};
use closeread_eval::{InputFile, Problem};

/// The text of a file, and notes on how it was read.
pub(crate) fn decoded(file: &InputFile) -> Result<(String, Vec<Problem>), DecodeError> {
    let decoded = decode(&file.bytes, None)?;
    let noted = |note: &String| Problem::note(&file.name, None, None, format!("read as {}: {note}", decoded.encoding));
    Ok((decoded.text, decoded.notes.iter().map(noted).collect()))
}

/// The text of a file; notes on how it was read are in the data set, each once.
pub(crate) fn text_of(file: &InputFile, out: &mut Collector) -> Result<String, DecodeError> {
    let (text, notes) = decoded(file)?;
    for note in notes {
        if !out.problems().iter().any(|known| *known == note) {
            out.problems().push(note);
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_at_an_encoding_is_noted_once() {
        let file = InputFile { name: "tales/a.txt".to_owned(), bytes: b"It was a caf\x8e by the sea.".to_vec() };
        let mut out = Collector::default();
        for _ in 0..2 {
            assert_eq!(text_of(&file, &mut out).unwrap(), "It was a caf\u{17d} by the sea.");
        }
        let problems: Vec<String> = out.finish().problems.iter().map(ToString::to_string).collect();
        assert!(
            problems.len() == 1
                && problems[0].starts_with("tales/a.txt: read as windows-1252: the encoding is a guess"),
            "{problems:?}"
        );
    }
}
