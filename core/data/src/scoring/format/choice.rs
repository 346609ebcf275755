//! Letters of four-way choices.

/// The letters of four options.
pub(super) const LETTERS: [char; 4] = ['A', 'B', 'C', 'D'];

/// The option that a text of one letter A-D names, from 0.
pub(super) fn letter(text: &str) -> Option<usize> {
    let mut chars = text.trim().chars();
    let first = chars.next()?;
    chars.next().is_none().then(|| LETTERS.iter().position(|letter| *letter == first))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_alone_names_an_option() {
        assert_eq!([" B ", "A", "E", "AB", "", "b"].map(letter), [Some(1), Some(0), None, None, None, None]);
    }
}
