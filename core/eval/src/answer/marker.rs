//! Choices as Stronger Baselines asks for them: `[[1]]` (figure A.1).

use closeread_text::pattern::pattern;
use regex_lite::Regex;
use std::sync::LazyLock;

static MARKER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[\[\s*([0-9]+)\s*\]\]"));

/// The option chosen by a response that holds `[[n]]`, n from 1; the result counts from 0.
///
/// Several markers: the last one, for a model that weighs options names the chosen one last. A number that no option has is
/// no choice, and an earlier marker is not taken in its place.
pub fn choice_marker(response: &str, n_options: usize) -> Option<usize> {
    numbered(&MARKER.captures_iter(response).last()?[1], n_options)
}

/// Returns the option, from 0, that the first marker names (Stronger Baselines: dos-rag-eval, `experiments/utils.py`).
pub(crate) fn first_choice_marker(response: &str, n_options: usize) -> Option<usize> {
    numbered(&MARKER.captures(response)?[1], n_options)
}

fn numbered(number: &str, n_options: usize) -> Option<usize> {
    let number: usize = number.parse().ok()?;
    (1..=n_options).contains(&number).then(|| number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_marker_decides() {
        assert_eq!(choice_marker("Not [[1]], rather [[ 3 ]].", 4), Some(2));
        assert_eq!(choice_marker("[[2]] or [[5]]", 4), None);
        assert_eq!(first_choice_marker("[[2]] or [[5]]", 4), Some(1));
        assert_eq!(first_choice_marker("[[5]], no, [[2]]", 4), None);
        assert_eq!(choice_marker("[[0]]", 4), None);
        assert_eq!(choice_marker("[[99999999999999999999999]]", 4), None);
        assert_eq!(choice_marker("Option 2", 4), None);
    }
}
