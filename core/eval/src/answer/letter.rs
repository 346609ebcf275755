//! Choice letters as ReadAgent and L-Eval read them.

use super::parsed::Parsed;

/// The option that a response names which starts with `Answer: (A)` or `Answer: A` (ReadAgent's notebook); counts from 0.
///
/// Odd: only the start of the response is looked at, and only the first character after `Answer: `, so "Answer: A man"
/// chooses A. A letter beyond the options is unparsed.
pub fn readagent_choice(response: &str, n_options: usize) -> Parsed<usize> {
    let named = response.strip_prefix("Answer: ").and_then(|rest| match rest.strip_prefix('(') {
        Some(inside) => inside.chars().next().filter(|_| inside.chars().nth(1) == Some(')')),
        None => rest.chars().next(),
    });
    named.and_then(|letter| option(letter, n_options)).into()
}

/// Returns the first letter among A to D of a text, as L-Eval cuts predictions and gold answers alike; counts from 0.
///
/// Odd: any capital counts, so "Because of (A)" chooses B.
pub fn leval_letter(text: &str) -> Parsed<usize> {
    text.chars().find_map(|letter| option(letter, 4)).into()
}

fn option(letter: char, n_options: usize) -> Option<usize> {
    let idx = letter.is_ascii_uppercase().then(|| usize::from(letter as u8 - b'A'))?;
    (idx < n_options).then_some(idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readagent_looks_at_the_start_alone() {
        assert_eq!(readagent_choice("Answer: (C) the sea", 4), Parsed::Answer(2));
        assert_eq!(readagent_choice("Answer: B.", 4), Parsed::Answer(1));
        for response in ["Answer: (E)", " Answer: (A)", "answer: A", "Answer: (AB)", "Answer: ", "A", "Answer: 孔"] {
            assert_eq!(readagent_choice(response, 4), Parsed::Unparsed, "{response}");
        }
    }

    #[test]
    fn leval_takes_the_first_capital() {
        assert_eq!(leval_letter("(C) the sea"), Parsed::Answer(2));
        assert_eq!(leval_letter("Because of (A)"), Parsed::Answer(1));
        assert_eq!(leval_letter("none of them"), Parsed::Unparsed);
    }
}
