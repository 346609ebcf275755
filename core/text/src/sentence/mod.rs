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
    /// apply to every text, with the full stops of other scripts.
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

/// Splits as [`split`] does, with these Punkt parameters.
fn split_with(parameters: &punkt::Parameters, text: &str, rules: Rules) -> Vec<FlowSpan> {
    match rules {
        Rules::English => at_other_ends(text, parameters.sentences(text)),
        Rules::Chinese => chinese::sentences(text),
        Rules::Japanese => chinese::japanese_sentences(text),
    }
}

/// Marks that end sentences in scripts that Punkt does not know: those of Devanagari and its kin, Arabic, Armenian,
/// Ethiopic, Burmese, Khmer.
const OTHER_ENDS: [char; 9] = ['।', '॥', '؟', '۔', '։', '።', '፧', '။', '។'];

/// Cuts sentences behind those marks, too, where white space follows.
fn at_other_ends(text: &str, sentences: Vec<FlowSpan>) -> Vec<FlowSpan> {
    if !text.contains(OTHER_ENDS) {
        return sentences;
    }
    let mut cut = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let mut start = sentence.start;
        for (at, mark) in text[sentence.range()].match_indices(OTHER_ENDS) {
            let end = sentence.start + at + mark.len();
            let rest = &text[end..sentence.end];
            let next = rest.trim_start();
            if !next.is_empty() && next.len() < rest.len() {
                cut.push(FlowSpan::new(start, end));
                start = sentence.end - next.len();
            }
        }
        cut.push(FlowSpan::new(start, sentence.end));
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_scripts_end_sentences_by_their_own_marks() {
        let parameters = punkt::Parameters::default();
        let sentences = |text: &'static str| -> Vec<&str> {
            let spans = split_with(&parameters, text, Rules::English);
            spans.into_iter().map(|span| &text[span.range()]).collect()
        };
        let hindi = sentences("अन्ना चक्की पर आई। तुम कहाँ हो?  वह रुकी।\n\nदीपक बुझ गया।");
        assert_eq!(hindi, ["अन्ना चक्की पर आई।", "तुम कहाँ हो?", "वह रुकी।", "दीपक बुझ गया।"]);
        assert_eq!(sentences("وہ آئی۔ وہ کہاں ہے؟ کوئی نہیں۔"), ["وہ آئی۔", "وہ کہاں ہے؟", "کوئی نہیں۔"]);
        assert_eq!(sentences("She came. Bo left."), ["She came.", "Bo left."]);
    }

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
