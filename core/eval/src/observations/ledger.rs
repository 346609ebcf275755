//! The ledger: counts of how trials ended.

use super::Ending;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// A ledger: how many trials ended in which way; the parts add up to what was planned.
///
/// In JSON `{"trials": planned, "answered": n, ...}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "BTreeMap<String, usize>")]
pub struct Ledger([usize; Ending::ALL.len()]);

impl Ledger {
    /// Counts a trial.
    pub fn count(&mut self, ending: Ending) {
        self.0[ending as usize] += 1;
    }

    /// Returns how many trials ended so.
    pub fn of(&self, ending: Ending) -> usize {
        self.0[ending as usize]
    }

    /// Returns every ending with its count.
    pub fn parts(&self) -> impl Iterator<Item = (Ending, usize)> {
        Ending::ALL.into_iter().zip(self.0)
    }

    /// Returns the number of all trials.
    pub fn planned(&self) -> usize {
        self.0.iter().sum()
    }

    /// True if no trial is missing.
    pub fn is_complete(&self) -> bool {
        self.of(Ending::Missing) == 0
    }
}

impl FromIterator<Ending> for Ledger {
    fn from_iter<I: IntoIterator<Item = Ending>>(endings: I) -> Self {
        let mut ledger = Self::default();
        endings.into_iter().for_each(|ending| ledger.count(ending));
        ledger
    }
}

impl Serialize for Ledger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.parts().map(|(ending, n)| (ending.name(), n));
        serializer.collect_map([("trials", self.planned())].into_iter().chain(parts))
    }
}

impl From<BTreeMap<String, usize>> for Ledger {
    fn from(parts: BTreeMap<String, usize>) -> Self {
        Self(Ending::ALL.map(|ending| parts.get(ending.name()).copied().unwrap_or_default()))
    }
}

/// In TypeScript as in JSON: the names of endings are its fields.
#[cfg(feature = "typescript")]
impl ts_rs::TS for Ledger {
    type WithoutGenerics = Self;
    type OptionInnerType = Self;

    fn name(_: &ts_rs::Config) -> String {
        "Ledger".to_owned()
    }

    fn inline(config: &ts_rs::Config) -> String {
        format!("{{ trials: number, }} & Record<{}, number>", <Ending as ts_rs::TS>::name(config))
    }

    fn inline_flattened(config: &ts_rs::Config) -> String {
        Self::inline(config)
    }

    fn decl(config: &ts_rs::Config) -> String {
        format!("type Ledger = {};", Self::inline(config))
    }

    fn docs() -> Option<String> {
        Some("/**\n * Counts of how trials ended; the parts add up to `trials`.\n */\n".to_owned())
    }

    fn visit_dependencies(visitor: &mut impl ts_rs::TypeVisitor) {
        visitor.visit::<Ending>();
    }

    fn output_path() -> Option<std::path::PathBuf> {
        Some("Ledger.ts".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_a_place() {
        let mut ledger = Ledger::default();
        for (place, ending) in Ending::ALL.into_iter().enumerate() {
            assert!(ending as usize == place && ledger.is_complete() == (place <= Ending::Missing as usize));
            ledger.count(ending);
            assert_eq!(ledger.of(ending), 1);
        }
        assert_eq!((ledger.planned(), ledger.parts().count()), (11, 11));
        let json = serde_json::to_string(&ledger).unwrap();
        assert!(json.contains(r#""trials":11"#) && json.contains(r#""not_asked":1"#), "{json}");
        assert_eq!(serde_json::from_str::<Ledger>(&json).unwrap(), ledger);
    }
}
