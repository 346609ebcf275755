//! Labels that several raters gave to the same units: the majority, agreement, and a judge held against them (SagaScale
//! 3.2, NovelQA Table 7, HAMLET Tables 2 and 3).

mod labels;
mod read;

pub use labels::{CONSENSUS, PairOfRaters, Rated, RaterLabels};
pub use read::RaterError;

use closeread_metrics::stats::accuracy::{balanced_accuracy, binary_accuracy};
use labels::pair;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A judge against the raters of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstRaters {
    /// Comparisons with each rater, as the second of the pair.
    pub raters: Vec<PairOfRaters>,
    /// Comparison with the label that counts.
    pub majority: PairOfRaters,
    /// Share of equal labels, as [`PairOfRaters::agreement`]: "binary accuracy" in HAMLET.
    pub binary: Option<f64>,
    /// Mean of the shares within each label that counts; `None` with fewer than two labels.
    pub balanced: Option<f64>,
    /// Units with a label that counts, of which the judge has none.
    pub without_judge: usize,
    /// Rated units of which the judge has no label.
    pub unjudged: usize,
}

/// Kappa of a judge with each rater, group by group (NovelQA, Table 7).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KappaByGroup {
    /// The rows, by name of the group.
    pub groups: BTreeMap<String, KappaRow>,
    /// The unweighted means of the columns.
    pub average: KappaRow,
}

/// A row of kappas; `None` where there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KappaRow {
    /// Kappas with each rater, in the order of their names.
    pub raters: Vec<Option<f64>>,
    /// Mean over the raters that have a kappa.
    pub average: Option<f64>,
}

/// A share of units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    /// Number of hits.
    pub hit: usize,
    /// Number of units that the hits are out of.
    pub of: usize,
}

/// Shares of what a judge said that the raters bear out (HAMLET, Table 2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BorneOut {
    /// Units on which the label that counts is the judge's, by label of the judge, then by criterion.
    pub by_label: BTreeMap<String, BTreeMap<String, Share>>,
    /// Units that the judge labelled and on which no label counts, by label of the judge.
    pub unresolved: BTreeMap<String, usize>,
}

impl Share {
    /// The share in 0..=1; `None` of nothing.
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.hit as f64 / self.of as f64)
    }

    fn of(holds: impl Iterator<Item = bool>) -> Self {
        holds.fold(Self::default(), |share, holds| Self { hit: share.hit + usize::from(holds), of: share.of + 1 })
    }
}

impl BorneOut {
    /// The mean over criteria of the shares of a label; `None` if it has none.
    pub fn mean(&self, label: &str) -> Option<f64> {
        mean(self.by_label.get(label)?.values().map(|share| share.value()))
    }
}

impl RaterLabels {
    /// A judge, or what another panel agrees on, against these raters.
    pub fn against(&self, judge: &Self) -> AgainstRaters {
        let with_rater = |rater: &str| {
            let both =
                self.units.iter().filter_map(|(unit, by)| Some((&**by.get(rater)?, self.spelled(judge.label(unit)?))));
            pair(rater, "judge", both)
        };
        let pairs: Vec<(&str, &str)> =
            self.units.keys().filter_map(|unit| Some((self.label(unit)?, self.spelled(judge.label(unit)?)))).collect();
        let unjudged = |counts: &dyn Fn(&Rated) -> bool| {
            self.units.keys().filter(|unit| counts(unit) && judge.label(unit).is_none()).count()
        };
        AgainstRaters {
            raters: self.raters().map(with_rater).collect(),
            binary: binary_accuracy(&pairs),
            balanced: balanced_accuracy(&pairs),
            majority: pair("majority", "judge", pairs.into_iter()),
            without_judge: unjudged(&|unit| self.label(unit).is_some()),
            unjudged: unjudged(&|_| true),
        }
    }

    /// Kappa of a judge with each rater in each group.
    pub fn by_group(&self, judge: &Self) -> KappaByGroup {
        let names: BTreeSet<&String> = self.units.keys().map(|unit| &unit.group).collect();
        let row = |group: &String| {
            let made = self.only(|unit| unit.group == *group).against(judge);
            let raters: Vec<Option<f64>> =
                made.raters.into_iter().map(|pair| pair.kappa.map(|kappa| kappa.kappa)).collect();
            (group.clone(), KappaRow { average: mean(raters.iter().copied()), raters })
        };
        let groups: BTreeMap<String, KappaRow> = names.into_iter().map(row).collect();
        let column = |at: usize| mean(groups.values().map(|row| row.raters[at]));
        let raters = (0..self.raters.len()).map(column).collect();
        let average = KappaRow { raters, average: mean(groups.values().map(|row| row.average)) };
        KappaByGroup { groups, average }
    }

    /// Returns what these raters bear out of what a judge said, label by label.
    pub fn borne_out(&self, judge: &Self) -> BorneOut {
        let mut made = BorneOut { by_label: BTreeMap::new(), unresolved: BTreeMap::new() };
        for unit in judge.units() {
            let Some(said) = judge.label(unit) else { continue };
            match self.label(unit) {
                Some(label) => {
                    let by_criterion = made.by_label.entry(said.to_owned()).or_default();
                    let share = by_criterion.entry(unit.criterion.clone()).or_default();
                    *share = Share { hit: share.hit + usize::from(label == self.spelled(said)), of: share.of + 1 };
                }
                None => *made.unresolved.entry(said.to_owned()).or_default() += 1,
            }
        }
        made
    }

    /// The share of units with the label `yes` by each criterion, over those with a label that counts, and of units with it
    /// by all of them, over those with a label by each (SagaScale 3.2). `is_yes` says which labels are meant.
    pub fn criteria(&self, is_yes: impl Fn(&str) -> bool) -> (BTreeMap<&str, Share>, Share) {
        let mut by_criterion: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        let mut by_unit: BTreeMap<(&str, &str), Vec<bool>> = BTreeMap::new();
        for unit in self.units.keys() {
            let own = by_criterion.entry(&unit.criterion).or_default();
            if let Some(label) = self.label(unit) {
                own.push(is_yes(label));
                by_unit.entry((&unit.group, &unit.unit)).or_default().push(is_yes(label));
            }
        }
        let n_criteria = self.units.keys().map(|unit| &unit.criterion).collect::<BTreeSet<_>>().len();
        let complete = by_unit.into_values().filter(|labels| labels.len() == n_criteria);
        let all = Share::of(complete.map(|labels| labels.into_iter().all(|yes| yes)));
        (by_criterion.into_iter().map(|(name, labels)| (name, Share::of(labels.into_iter()))).collect(), all)
    }
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    closeread_metrics::stats::mean(&values.flatten().collect::<Vec<f64>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::InputFile;

    fn labels(text: &str) -> RaterLabels {
        RaterLabels::read(&InputFile { name: "l.csv".into(), bytes: text.as_bytes().to_vec() }, None).unwrap()
    }

    #[test]
    fn a_consensus_counts_before_the_majority_and_is_nobodys_vote() {
        let experts = labels("unit,rater,label\nk,a,PASS\nk,b,PASS\nk,c,FAIL\nk,consensus,FAIL\nl,a,PASS\nl,b,FAIL\n");
        let unit = |name: &str| Rated { group: String::new(), criterion: String::new(), unit: name.into() };
        assert_eq!((experts.label(&unit("k")), experts.label(&unit("l"))), (Some("FAIL"), None));
        assert_eq!((experts.raters().count(), experts.panel(), experts.n_labels()), (3, 3, 5));
        let made = experts.borne_out(&labels("unit,label\nk,PASS\nl,PASS\n"));
        assert_eq!(made.by_label["PASS"][""], Share { hit: 0, of: 1 });
        assert_eq!(made.unresolved["PASS"], 1);
    }

    #[test]
    fn a_unit_with_a_consensus_alone_is_held_against_a_judge() {
        let experts = labels("unit,rater,label\nk,a,PASS\nk,b,PASS\nl,consensus,FAIL\n");
        let judge = labels("unit,label\nk,FAIL\nl,FAIL\n");
        let made = experts.against(&judge);
        assert_eq!((made.majority.n, made.binary, made.without_judge), (2, Some(0.5), 0));
        assert_eq!((experts.n_labels(), experts.ac1().map(|ac1| ac1.n)), (2, Some(1)));
        assert_eq!(labels("unit,rater,label\nl,consensus,FAIL\n").against(&judge).binary, Some(1.0));
    }

    #[test]
    fn labels_that_differ_in_case_or_white_space_are_one() {
        let people = labels("unit,rater,label\na,x,Yes\na,y,yes\nb,x,No  error\nb,y,NO ERROR\n");
        assert_eq!(people.pairs()[0].agreement, Some(1.0));
        assert_eq!(people.units().map(|unit| people.label(unit).unwrap()).collect::<Vec<_>>(), ["Yes", "No  error"]);
        let judge = labels("unit,label\na,YES\nb,no error\n");
        let made = people.against(&judge);
        assert_eq!((made.binary, made.raters[1].agreement), (Some(1.0), Some(1.0)));
        assert_eq!(people.borne_out(&judge).by_label["YES"][""], Share { hit: 1, of: 1 });
    }

    #[test]
    fn whole_numbers_as_a_table_of_python_writes_them_are_one_label() {
        let people = labels("unit,rater,label\na,x,1.0\na,y,1.0\nb,x,0.0\nb,y,\nc,x,1.0\n");
        let judge = labels("unit,label\na,1\nb,0\nc,1\n");
        assert_eq!((people.out_of(Some(1)).against(&judge).binary, judge.has_label_of(&judge)), (Some(1.0), true));
        assert!(!judge.has_label_of(&labels("unit,label\na,True\nb,1.5\n")));
    }

    #[test]
    fn a_crowd_is_held_against_experts_by_its_majority() {
        let experts = labels("unit,label\na,1\nb,0\nc,1\n");
        let made = experts.against(&labels("unit,rater,label\na,x,1\na,y,1\na,z,0\nb,x,1\nb,y,1\nb,z,1\nc,x,1\n"));
        assert_eq!((made.binary, made.balanced), (Some(0.5), Some(0.5)));
        assert_eq!((made.majority.n, made.without_judge), (2, 1), "one of three decides nothing");
    }
}
