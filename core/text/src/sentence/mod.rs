//! Sentences of a text, as spans that ascend, are disjoint and lose only white space.

pub mod chinese;
pub mod punkt;

use super::{FlowSpan, Language};

/// The rules a text is cut into sentences by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rules {
    /// Punkt with English parameters ([`punkt`]), what NLTK does when no language is named.
    English,
    /// Full stops of Chinese typography ([`chinese`]).
    Chinese,
    /// Those of Chinese, and corner brackets close a quotation.
    Japanese,
}

impl Rules {
    /// The rules for a language: those for Chinese and Japanese, and for every other the English ones, which the papers
    /// apply to every text.
    pub fn of(language: Language) -> Self {
        match language {
            Language::CHINESE => Self::Chinese,
            Language::JAPANESE => Self::Japanese,
            _ => Self::English,
        }
    }
}

/// Cuts `text` into sentences, none of them empty or blank at its ends (see [`punkt::Parameters::sentences`] for the
/// one exception).
pub fn split(text: &str, rules: Rules) -> Vec<FlowSpan> {
    split_with(punkt::english(), text, rules)
}

/// Splits as [`split`] does, with Punkt parameters of the caller's, for builds that do not carry them.
pub fn split_with(parameters: &punkt::Parameters, text: &str, rules: Rules) -> Vec<FlowSpan> {
    match rules {
        Rules::English => parameters.sentences(text),
        Rules::Chinese => chinese::sentences(text),
        Rules::Japanese => chinese::japanese_sentences(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_does_not_change_the_rules() {
        for tag in ["zh", "zh-TW", "ZH_hans"] {
            assert_eq!(Rules::of(tag.parse().unwrap()), Rules::Chinese, "{tag}");
        }
        for tag in ["en", "en-GB", "fr"] {
            assert_eq!(Rules::of(tag.parse().unwrap()), Rules::English, "{tag}");
        }
    }
}
