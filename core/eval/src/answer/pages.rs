//! Parsers of ReadAgent's calls other than answers: break points and page numbers.

use closeread_text::python;

/// The label at which a page ends: `Break point: <57>`, at the very start of the response (ReadAgent's notebook,
/// `parse_pause_point`). `None` where the notebook finds none or raises an error.
///
/// Odd: the characters of `Break point: ` are removed from both ends in any order and number, so `<57>`, `point <57>` and
/// `Breakpoint: <57>` are read, and `I choose <57>` is not.
pub fn break_point(response: &str) -> Option<usize> {
    let label = python::strip(response).trim_matches(|c| "Break point: ".contains(c)).strip_prefix('<')?;
    python::int(label.split_once('>')?.0)
}

/// The pages that a response wants to read again: the numbers between the first `[` and the first `]`, each once for every
/// time it is named, in the response's order (ReadAgent's notebook). Pages count from 0; what is no number or no page
/// of the
/// `n_pages` there are is left out, `[1-3]` and `[1; 2]` with it.
pub fn look_up_pages(response: &str, n_pages: usize) -> Vec<usize> {
    let (Some(open), Some(close)) = (response.find('['), response.find(']')) else { return Vec::new() };
    let named = if open < close { &response[open + 1..close] } else { "" };
    named.split(',').filter_map(|page| python::int(python::strip(page))).filter(|&page| page < n_pages).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_break_point_stands_at_the_start() {
        for response in ["Break point: <57>\nBecause", "<57>", "point <57> or <58>", " Breakpoint: <57>", "<٥٧>"] {
            assert_eq!(break_point(response), Some(57), "{response}");
        }
        for response in
            ["", "57", "I choose <57>", "<57", "<>", "<5 7>", "<²>", "<99999999999999999999999>", "**<57>**"]
        {
            assert_eq!(break_point(response), None, "{response}");
        }
    }

    #[test]
    fn pages_that_do_not_exist_are_left_out() {
        assert_eq!(look_up_pages("I want to look up Page [ 2, 9, x, 0, 2] and [1]", 6), [2, 0, 2]);
        for response in ["", "Page 2", "STOP", "]2[", "[[2]]", "[1-3]", "[]"] {
            assert_eq!(look_up_pages(response, 6), [0; 0], "{response}");
        }
    }
}
