//! The labels of a file, the one that counts for each unit, agreement among raters.

use closeread_metrics::stats::accuracy::{binary_accuracy, majority};
use closeread_metrics::stats::agreement::{Ac1, Kappa, cohen_kappa, gwet_ac1};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The rater whose label stands where raters came to agree by discussion; nobody's vote.
pub const CONSENSUS: &str = "consensus";

/// The thing that was rated: group, criterion and unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Rated {
    /// Group that the unit belongs to, such as a reader model or a task; empty where the file has no column `group`.
    pub group: String,
    /// Criterion of the rating, such as answerability; empty where the file has no column `criterion`.
    pub criterion: String,
    /// Name of the unit within group and criterion.
    pub unit: String,
}

/// The labels of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RaterLabels {
    pub(super) raters: BTreeSet<String>,
    pub(super) panel: usize,
    pub(super) units: BTreeMap<Rated, BTreeMap<String, String>>,
    pub(super) consensus: BTreeMap<Rated, String>,
    /// Labels as they are written first, by the label without case.
    pub(super) spellings: BTreeMap<String, String>,
}

/// Two raters over the units that both rated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairOfRaters {
    /// Name of the first rater.
    pub a: String,
    /// Name of the second rater.
    pub b: String,
    /// Number of units that both rated.
    pub n: usize,
    /// Share of equal labels; `None` without units.
    pub agreement: Option<f64>,
    /// Cohen's kappa; `None` without units, or where both gave one and the same label throughout.
    pub kappa: Option<Kappa>,
}

impl RaterLabels {
    /// Returns a label as this file writes it, whatever its case and white space.
    pub(super) fn spelled<'l>(&'l self, label: &'l str) -> &'l str {
        self.spellings.get(&folded(label)).map_or(label, String::as_str)
    }

    /// True if some label of this file is one of the other's.
    pub fn has_label_of(&self, other: &Self) -> bool {
        self.spellings.keys().any(|label| other.spellings.contains_key(label))
    }

    /// Names of the raters, sorted; one without a name where the file has no column `rater`.
    pub fn raters(&self) -> impl Iterator<Item = &str> {
        self.raters.iter().map(String::as_str)
    }

    /// Returns how many raters a majority is out of.
    pub fn panel(&self) -> usize {
        self.panel
    }

    /// Sets how many raters a majority is out of; `None` leaves it as it is.
    #[must_use]
    pub fn out_of(mut self, panel: Option<usize>) -> Self {
        self.panel = panel.unwrap_or(self.panel);
        self
    }

    /// Returns what was rated, in order.
    pub fn units(&self) -> impl Iterator<Item = &Rated> {
        self.units.keys()
    }

    /// Returns the number of labels that raters gave.
    pub fn n_labels(&self) -> usize {
        self.units.values().map(BTreeMap::len).sum()
    }

    /// Returns how many units were rated, by the number of their raters.
    pub fn rated_by(&self) -> BTreeMap<usize, usize> {
        let mut counts = BTreeMap::new();
        self.units.values().for_each(|labels| *counts.entry(labels.len()).or_default() += 1);
        counts
    }

    /// The label that counts: the consensus, else that of more than half of the panel, or of the unit's raters where these
    /// are more.
    pub fn label(&self, unit: &Rated) -> Option<&str> {
        let consensus = self.consensus.get(unit).map(String::as_str);
        let most = || {
            let labels = self.units.get(unit)?;
            majority(labels.values().map(String::as_str), self.panel.max(labels.len()))
        };
        consensus.or_else(most)
    }

    /// The values of group and criterion that occur, in order.
    pub fn strata(&self) -> Vec<(&str, &str)> {
        let strata: BTreeSet<(&str, &str)> = self.units.keys().map(|unit| (&*unit.group, &*unit.criterion)).collect();
        strata.into_iter().collect()
    }

    /// The units that `keep` accepts, with the same raters and panel.
    pub fn only(&self, keep: impl Fn(&Rated) -> bool) -> Self {
        let mut kept = self.clone();
        kept.units.retain(|unit, _| keep(unit));
        kept.consensus.retain(|unit, _| keep(unit));
        kept
    }

    /// Returns every two raters, in the order of their names.
    pub fn pairs(&self) -> Vec<PairOfRaters> {
        let pairs = self.raters().enumerate().flat_map(|(at, a)| self.raters().skip(at + 1).map(move |b| (a, b)));
        pairs
            .map(|(a, b)| pair(a, b, self.units.values().filter_map(|by| Some((&**by.get(a)?, &**by.get(b)?)))))
            .collect()
    }

    /// Gwet's AC1 among the raters; `None` if no unit has two labels.
    pub fn ac1(&self) -> Option<Ac1> {
        gwet_ac1(&self.units.values().map(|labels| labels.values().collect()).collect::<Vec<Vec<&String>>>())
    }
}

/// A label without case, its words parted by one space; a whole number as `1`.
pub(super) fn folded(label: &str) -> String {
    let folded = label.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    // A table of Python writes 1 as 1.0 where a cell of the column is empty.
    match folded.strip_suffix(".0") {
        Some(whole) if whole.parse::<i64>().is_ok() => whole.to_owned(),
        _ => folded,
    }
}

/// Two lists of labels of the same units.
pub(super) fn pair<'l>(a: &str, b: &str, labels: impl Iterator<Item = (&'l str, &'l str)>) -> PairOfRaters {
    let pairs: Vec<(&str, &str)> = labels.collect();
    let (first, second): (Vec<&str>, Vec<&str>) = pairs.iter().copied().unzip();
    PairOfRaters {
        a: a.to_owned(),
        b: b.to_owned(),
        n: pairs.len(),
        agreement: binary_accuracy(&pairs),
        kappa: cohen_kappa(&first, &second),
    }
}
