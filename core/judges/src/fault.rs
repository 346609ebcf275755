//! Faults of an answer, as people label it (NovelQA, appendix C.4.6 and Table 17).

/// A fault: a kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Something of the fiction is told wrongly, or of another book.
    FictionalSetting,
    /// Something is said to be narrated that is not, or not to be that is.
    Narration,
    /// A detail was overlooked.
    Overlooking,
    /// A number of occurrences is wrong.
    Miscounting,
}

impl Fault {
    /// All faults, in the order of the paper's table.
    pub const ALL: [Self; 4] = [Self::FictionalSetting, Self::Narration, Self::Overlooking, Self::Miscounting];

    /// Error and subtype; the subtype is empty where there is none.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Self::FictionalSetting => ["hallucination", "on fictional setting"],
            Self::Narration => ["hallucination", "on narration"],
            Self::Overlooking => ["overlooking", ""],
            Self::Miscounting => ["miscounting", ""],
        }
    }

    /// Returns the fault's name in labels: error and subtype, with a blank between.
    pub fn name(self) -> &'static str {
        match self {
            Self::FictionalSetting => "hallucination on fictional setting",
            Self::Narration => "hallucination on narration",
            Self::Overlooking => "overlooking",
            Self::Miscounting => "miscounting",
        }
    }

    /// Returns the fault's label on the page of a study.
    const fn on_page(self) -> &'static str {
        match self {
            Self::FictionalSetting => "hallucination-setting",
            Self::Narration => "hallucination-narration",
            Self::Overlooking => "overlooking",
            Self::Miscounting => "miscounting",
        }
    }

    /// The kind of that name, or with that label on a page, whatever the case and whatever stands between its words.
    pub fn named(text: &str) -> Option<Self> {
        let words = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect::<Vec<_>>()
        };
        let said = words(text);
        Self::ALL.into_iter().find(|fault| [fault.name(), fault.on_page()].iter().any(|name| words(name) == said))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Asks;

    #[test]
    fn a_fault_is_read_as_people_write_it() {
        for fault in Fault::ALL {
            let words = fault.words();
            assert_eq!(words.join(" ").trim(), fault.name());
            assert_eq!(Fault::named(&fault.name().replace(' ', "-").to_uppercase()), Some(fault));
        }
        assert_eq!(Fault::named("Hallucination: on narration"), Some(Fault::Narration));
        assert_eq!(Fault::named("hallucination"), None);
        let of_a_study: Vec<Fault> = Asks::Fault.labels().iter().filter_map(|label| Fault::named(label)).collect();
        assert_eq!(of_a_study, Fault::ALL);
    }
}
