//! Agreement of raters: the members of a panel among themselves, a judge with people.

use super::{IfUnreadable, Judge, JudgementIndex, Panel, Ruling, Subject, Verdict};
use closeread_metrics::stats::agreement::{Ac1, Kappa, cohen_kappa, fleiss_kappa, gwet_ac1};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Agreement of raters over the same things.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Things that at least two of them rated.
    pub n: usize,
    /// The part of them that all rated, over which the kappas are.
    pub n_complete: usize,
    /// Share of agreeing pairs of raters.
    pub observed: f64,
    /// Cohen's kappa with its interval; of two raters, `None` where both used one same category.
    pub kappa: Option<Kappa>,
    /// Fleiss' kappa of three or more raters, over what all of them rated.
    pub fleiss: Option<f64>,
    /// Gwet's AC1 with its interval.
    pub ac1: Ac1,
}

/// Counts of how often each label of one rater met each label of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// The labels that occur, in alphabetical order.
    pub labels: Vec<String>,
    /// Counts, a row a label of the first rater (people), a column a label of the second (the judge).
    pub counts: Vec<Vec<usize>>,
}

impl Agreement {
    /// Computes the agreement of the ratings that each thing got, one place a rater; `None` if nothing was rated twice.
    pub fn of(ratings: &[Vec<Option<&str>>]) -> Option<Self> {
        let rated = |row: &&Vec<Option<&str>>| row.iter().flatten().count() > 1;
        let rows: Vec<Vec<Option<&str>>> = ratings.iter().filter(rated).cloned().collect();
        let n_raters = rows.first()?.len();
        let ac1 =
            gwet_ac1(&rows.iter().map(|row| row.iter().flatten().copied().collect()).collect::<Vec<Vec<&str>>>())?;
        let complete: Vec<Vec<&str>> = rows.iter().filter_map(|row| row.iter().copied().collect()).collect();
        let rater = |at: usize| complete.iter().map(|row| row[at]).collect::<Vec<&str>>();
        Some(Self {
            n: rows.len(),
            n_complete: complete.len(),
            observed: ac1.observed,
            kappa: if n_raters == 2 { cohen_kappa(&rater(0), &rater(1)) } else { None },
            fleiss: if n_raters > 2 { fleiss_kappa(&complete) } else { None },
            ac1,
        })
    }
}

impl Confusion {
    /// Counts pairs of labels.
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        let labels: BTreeSet<&str> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        let labels: Vec<&str> = labels.into_iter().collect();
        let mut counts = vec![vec![0; labels.len()]; labels.len()];
        for (a, b) in pairs {
            let place = |label: &str| labels.iter().position(|known| *known == label);
            if let (Some(row), Some(column)) = (place(a), place(b)) {
                counts[row][column] += 1;
            }
        }
        Self { labels: labels.into_iter().map(str::to_owned).collect(), counts }
    }
}

/// Returns a verdict's labels: one for an answer or a question, one a sentence, one a key fact. Empty where there is
/// nothing to agree on: marks are numbers, and silence is no label unless the judge's paper makes it one.
pub fn labels(judge: Judge, verdict: &Verdict) -> Vec<Option<&'static str>> {
    let correctness = |correct: bool| if correct { "correct" } else { "incorrect" };
    match verdict.ruling() {
        Some(Ruling::Correctness { correct }) => vec![Some(correctness(*correct))],
        Some(Ruling::Rule(by_rule)) => vec![Some(correctness(by_rule.tolerant))],
        Some(Ruling::QuestionType { question_type }) => vec![Some(question_type.name())],
        Some(Ruling::Sentences { sentences }) => {
            sentences.iter().map(|sentence| sentence.as_ref().map(|sentence| sentence.category.name())).collect()
        }
        Some(Ruling::KeyFacts { facts }) => {
            facts.iter().map(|fact| fact.as_ref().map(|fact| if fact.stated { "yes" } else { "no" })).collect()
        }
        Some(Ruling::Evidence(_)) => Vec::new(),
        None if judge.if_unreadable() == IfUnreadable::Incorrect => vec![Some(correctness(false))],
        None => Vec::new(),
    }
}

/// The agreement of a panel's members on what all of them have been asked; `None` where it has one member, or nothing
/// was rated twice.
pub fn among<'s>(
    index: &JudgementIndex<'_>,
    panel: &Panel,
    judge: Judge,
    subjects: impl IntoIterator<Item = &'s Subject>,
) -> Option<Agreement> {
    let mut ratings: Vec<Vec<Option<&str>>> = Vec::new();
    for subject in subjects {
        let members: Option<Vec<_>> = index.members(panel, subject, judge).into_iter().collect();
        let Some(members) = members else { continue };
        let by_member: Vec<Vec<Option<&str>>> = members.iter().map(|one| labels(judge, &one.verdict)).collect();
        let n = by_member.iter().map(Vec::len).max().unwrap_or(0);
        ratings.extend((0..n).map(|at| by_member.iter().map(|labels| labels.get(at).copied().flatten()).collect()));
    }
    Agreement::of(&ratings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_is_over_what_all_rated_and_the_share_over_what_two_did() {
        let row =
            |labels: [&'static str; 3]| labels.map(|label| Some(label).filter(|label| !label.is_empty())).to_vec();
        let rows = [row(["yes", "yes", "no"]), row(["no", "no", "no"]), row(["yes", "no", ""]), row(["yes", "", ""])];
        let found = Agreement::of(&rows).unwrap();
        assert_eq!((found.n, found.n_complete), (3, 2));
        assert_eq!(found.fleiss, Agreement::of(&rows[..2]).unwrap().fleiss);
        assert!((found.observed - (1.0 / 3.0 + 1.0) / 3.0).abs() < 1e-12, "{found:?}");
    }
}
