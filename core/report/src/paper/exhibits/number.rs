//! Numbers of exhibits, as papers print them.

use super::exhibits;
use closeread_eval::Paper;
use std::fmt;
use std::str::FromStr;

/// A table, a figure or a section of a paper, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Number {
    /// A table, such as `Table 3`.
    Table(u8),
    /// `Figure 4`; its panels are not told apart.
    Figure(u8),
    /// `section 4.2` or `appendix B`: numbers that stand in the text alone.
    Section(&'static str),
    /// `equations`: what formulas define and no table prints.
    Equations,
}

/// A text that numbers no table and no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no table or figure: expected a number, as in 3, \"table 3\", \"figure 4\" or fig-4, or one by its name in the list, as in \
     \"section 4.2\" or equations"
)]
pub struct NotANumber(String);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(n) => write!(f, "Table {n}"),
            Self::Figure(n) => write!(f, "Figure {n}"),
            Self::Section(n) if n.starts_with(|c: char| c.is_ascii_digit()) => write!(f, "section {n}"),
            Self::Section(n) => write!(f, "appendix {n}"),
            Self::Equations => f.write_str("equations"),
        }
    }
}

impl FromStr for Number {
    type Err = NotANumber;

    /// Reads a table or a figure as people write it; a bare number is a table. Of sections those that a paper's list
    /// has.
    fn from_str(text: &str) -> Result<Self, NotANumber> {
        let plain = text.trim().to_lowercase();
        let mut named = Paper::ALL.into_iter().flat_map(exhibits).map(|exhibit| exhibit.number);
        let is_named = |number: &Self| {
            matches!(number, Self::Section(_) | Self::Equations)
                && number.to_string().to_lowercase() == plain.replace('-', " ")
        };
        if let Some(number) = named.find(is_named) {
            return Ok(number);
        }
        let digits = plain.trim_start_matches(|c: char| !c.is_ascii_digit());
        let kind = plain[..plain.len() - digits.len()].trim_end_matches([' ', '-', '_', '.']);
        let digits = digits.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let n = digits.parse().map_err(|_| NotANumber(text.to_owned()))?;
        match kind {
            "" | "table" | "tab" | "t" => Ok(Self::Table(n)),
            "figure" | "fig" | "f" => Ok(Self::Figure(n)),
            _ => Err(NotANumber(text.to_owned())),
        }
    }
}

impl Number {
    /// True if a table with this source, such as `SagaScale, Tables 1 to 4` or `section 4.2`, shows the exhibit of this
    /// number.
    pub(super) fn is_cited_in(self, source: &str) -> bool {
        match self {
            Self::Table(n) => numbers(source, "table").contains(&n),
            Self::Figure(n) => numbers(source, "figure").contains(&n),
            Self::Section(_) => source.ends_with(&format!(" {self}")),
            Self::Equations => source.contains(" Eq. "),
        }
    }
}

/// The numbers behind `kind`: `Figures 1 and 3 to 6` has 1, 3, 4, 5, 6.
fn numbers(source: &str, kind: &str) -> Vec<u8> {
    let (mut found, mut is_kind, mut is_range): (Vec<u8>, bool, bool) = (Vec::new(), false, false);
    for word in source.split([' ', ',']).filter(|word| !word.is_empty()) {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        match (word.to_lowercase().trim_end_matches('s'), digits.parse::<u8>()) {
            (_, Ok(n)) if is_kind => {
                let first = found.last().filter(|_| is_range).map_or(n, |last| last + 1);
                found.extend(first..=n);
                is_range = false;
            }
            ("and", _) => {}
            ("to", _) => is_range = true,
            (name, _) => is_kind = name == kind,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, number) in [
            ("3", Number::Table(3)),
            ("table 3", Number::Table(3)),
            ("Table-14", Number::Table(14)),
            ("figure-4", Number::Figure(4)),
            ("Fig. 3a", Number::Figure(3)),
            ("fig-4", Number::Figure(4)),
            ("section 4.2", Number::Section("4.2")),
            ("Appendix-B", Number::Section("B")),
            ("equations", Number::Equations),
        ] {
            assert_eq!(text.parse(), Ok(number), "{text}");
        }
        for text in ["", "table", "section 4", "section 9.9", "three", "3.1", "300"] {
            assert!(text.parse::<Number>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_source_names_what_it_shows() {
        assert_eq!(numbers("Stronger Baselines, Figures 1 and 3 to 6", "figure"), [1, 3, 4, 5, 6]);
        assert_eq!(numbers("HAMLET, Figure 3 and Table 13", "table"), [13]);
        assert_eq!(numbers("HAMLET, Figure 3 and Table 13", "figure"), [3]);
        assert_eq!(numbers("SagaScale, Table 7 and footnote 6", "table"), [7]);
        assert_eq!(numbers("SagaScale, Figure 3a", "figure"), [3]);
        assert!(Number::Section("4.2").is_cited_in("SagaScale, section 4.2"));
        assert!(Number::Section("B").is_cited_in("CorpusQA, appendix B"));
        assert!(!Number::Section("4").is_cited_in("SagaScale, section 4.2"));
    }
}
