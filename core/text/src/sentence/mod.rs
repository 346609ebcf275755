//! Sentences of a text, as spans that ascend, are disjoint and lose only white space.

pub mod chinese;
pub mod punkt;

use super::FlowSpan;

/// The rules a text is cut into sentences by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Punkt with English parameters ([`punkt`]), what NLTK does when no language is named.
    English,
    /// Full stops of Chinese typography ([`chinese`]).
    Chinese,
}

impl Rules {
    /// The rules for an ISO 639-1 code, with or without a region: `zh`, `zh-TW`, `zh_Hans` are Chinese.
    ///
    /// Everything else is cut by the English rules, the ones that the papers apply to every text.
    pub fn for_code(language: &str) -> Self {
        let primary = language.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("zh") { Self::Chinese } else { Self::English }
    }
}

/// Cuts `text` into sentences, none of them empty or blank at its ends (see [`punkt::Parameters::sentences`] for the
/// one exception).
pub fn split(text: &str, rules: Rules) -> Vec<FlowSpan> {
    split_with(punkt::english(), text, rules)
}

/// [`split`] with Punkt parameters of the caller's, for builds that do not carry them.
pub fn split_with(parameters: &punkt::Parameters, text: &str, rules: Rules) -> Vec<FlowSpan> {
    match rules {
        Rules::English => parameters.sentences(text),
        Rules::Chinese => chinese::sentences(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_does_not_change_the_rules() {
        for code in ["zh", "zh-TW", "ZH_hans"] {
            assert_eq!(Rules::for_code(code), Rules::Chinese, "{code}");
        }
        for code in ["en", "en-GB", "fr", "zho", ""] {
            assert_eq!(Rules::for_code(code), Rules::English, "{code}");
        }
    }
}
