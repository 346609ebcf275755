//! Agreement between raters beyond chance: Cohen's, weighted and Fleiss' kappa, Gwet's AC1.
//!
//! Categories are whatever labels occur, in their order. A coefficient that is 0 / 0 is absent, as where everybody
//! used one same category: nothing then tells agreement from chance. AC1 alone is defined there.

use super::distribution::{normal_quantile, student_quantile, student_two_sided};
use serde::{Deserialize, Serialize};

/// Cohen's kappa of two raters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kappa {
    /// Kappa: (observed - expected) / (1 - expected), in -1..=1.
    pub kappa: f64,
    /// Share of items on which the raters agree.
    pub observed: f64,
    /// Share of agreement by chance, from each rater's own shares of categories.
    pub expected: f64,
    /// Large-sample standard error (Fleiss, Cohen and Everitt 1969), as statsmodels' `cohens_kappa`.
    pub standard_error: f64,
    /// 95% interval: kappa - and + z standard errors, cut at -1 and 1, as AC1's is at 1 by irrCAC. The normal interval knows
    /// no bounds: with few items and much agreement it passes 1. The cut keeps its coverage, for what it takes off holds no
    /// kappa. `None` where the standard error is 0, as where all agree: a sample without a disagreement cannot say how
    /// often raters disagree, and [1, 1] would claim that they never do.
    pub interval: Option<(f64, f64)>,
    /// Number of items.
    pub n: usize,
}

impl Kappa {
    /// Returns the 95% interval before the cut, as statsmodels prints it; its ends may lie outside of -1..=1.
    pub fn uncut(&self) -> (f64, f64) {
        let half = normal_quantile(0.975) * self.standard_error;
        (self.kappa - half, self.kappa + half)
    }
}

/// Cohen's kappa; `None` without items, with lists of different length, or with a single category.
pub fn cohen_kappa<L: Ord>(first: &[L], second: &[L]) -> Option<Kappa> {
    let table = table_of(first, second)?;
    let n = first.len() as f64;
    let size = table.len();
    let share = |i: usize, j: usize| table[i][j] / n;
    let rows: Vec<f64> = (0..size).map(|i| table[i].iter().sum::<f64>() / n).collect();
    let columns: Vec<f64> = (0..size).map(|j| table.iter().map(|row| row[j]).sum::<f64>() / n).collect();
    let observed = (0..size).map(|i| table[i][i]).sum::<f64>() / n;
    let expected: f64 = (0..size).map(|i| rows[i] * columns[i]).sum();
    if size < 2 {
        return None;
    }
    let kappa = (observed - expected) / (1.0 - expected);
    let (mut diagonal, mut beside) = (0.0, 0.0);
    for i in 0..size {
        for j in 0..size {
            if i == j {
                let weight = 1.0 - (rows[i] + columns[i]) * (1.0 - kappa);
                diagonal += share(i, i) * weight * weight;
            } else {
                // As published: the row's category among the columns, and the column's among the rows.
                let weight = columns[i] + rows[j];
                beside += share(i, j) * weight * weight;
            }
        }
    }
    let disagreement = 1.0 - kappa;
    let chance = kappa - expected * disagreement;
    let variance = diagonal + disagreement * disagreement * beside - chance * chance;
    // Where the raters agree or disagree throughout, what is left of the difference is rounding.
    let variance = if variance < 1e-14 { 0.0 } else { variance };
    let standard_error = libm::sqrt(variance / n) / (1.0 - expected);
    let found = Kappa { kappa, observed, expected, standard_error, interval: None, n: first.len() };
    let (low, high) = found.uncut();
    let interval = (standard_error > 0.0).then_some((low.max(-1.0), high.min(1.0)));
    Some(Kappa { interval, ..found })
}

/// The weights of an order of categories: how far apart two of them count as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// Weights by the distance of two categories.
    Linear,
    /// Weights by the square of the distance.
    Quadratic,
}

/// Cohen's weighted kappa; `None` as [`cohen_kappa`].
///
/// The distance of two categories is the difference of their places among those that occur, as in scikit-learn's
/// `cohen_kappa_score`: with ratings 1, 2 and 5 alone, 2 and 5 are neighbours.
pub fn weighted_kappa<L: Ord>(first: &[L], second: &[L], weights: Weights) -> Option<f64> {
    let table = table_of(first, second)?;
    let size = table.len();
    let n = first.len() as f64;
    let columns: Vec<f64> = (0..size).map(|j| table.iter().map(|row| row[j]).sum()).collect();
    let (mut observed, mut expected) = (0.0, 0.0);
    for (i, row) in table.iter().enumerate() {
        let total: f64 = row.iter().sum();
        for (j, count) in row.iter().enumerate() {
            let distance = i.abs_diff(j) as f64;
            let weight = match weights {
                Weights::Linear => distance,
                Weights::Quadratic => distance * distance,
            };
            observed += weight * count;
            expected += weight * total * columns[j] / n;
        }
    }
    (size > 1).then(|| 1.0 - observed / expected)
}

/// Fleiss' kappa (1971), a row being the labels that one item got; `None` without items, with fewer than two raters,
/// with rows of different length, or with a single category.
pub fn fleiss_kappa<L: Ord>(ratings: &[Vec<L>]) -> Option<f64> {
    let (counts, raters) = (counts_of(ratings), ratings.first()?.len());
    if raters < 2 || ratings.iter().any(|row| row.len() != raters) || counts[0].len() < 2 {
        return None;
    }
    let (n, raters) = (ratings.len() as f64, raters as f64);
    let agreeing = |row: &Vec<f64>| (row.iter().map(|c| c * c).sum::<f64>() - raters) / (raters * (raters - 1.0));
    let observed = counts.iter().map(agreeing).sum::<f64>() / n;
    let share = |k: usize| counts.iter().map(|row| row[k]).sum::<f64>() / (n * raters);
    let expected: f64 = (0..counts[0].len()).map(|k| share(k) * share(k)).sum();
    Some((observed - expected) / (1.0 - expected))
}

/// Gwet's AC1 of two or more raters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ac1 {
    /// (observed - expected) / (1 - expected); 1 with a single category.
    pub ac1: f64,
    /// Mean share of agreeing pairs of raters, over items with at least two ratings.
    pub observed: f64,
    /// Sum of pi (1 - pi) / (q - 1) over the q categories, pi a category's mean share; 1 with a single category.
    pub expected: f64,
    /// Standard error of the linearised item values, items as the sample; `None` with one item or a single category.
    pub standard_error: Option<f64>,
    /// 95% interval by Student's t with n - 1 degrees of freedom, cut at 1 above but, as irrCAC does, not at -1;
    /// `None` where there is no standard error or it is 0.
    pub interval: Option<(f64, f64)>,
    /// Two-sided, of no agreement beyond chance; `None` where there is no interval.
    pub p_value: Option<f64>,
    /// Number of items with a rating.
    pub n: usize,
}

/// Gwet's AC1 (2008), a row being the labels that one item got; rows may differ in length where ratings are missing.
/// `None` if no item has two ratings. Items without any rating are left out.
pub fn gwet_ac1<L: Ord>(ratings: &[Vec<L>]) -> Option<Ac1> {
    let counts: Vec<Vec<f64>> = counts_of(ratings).into_iter().filter(|row| row.iter().any(|&c| c > 0.0)).collect();
    let totals: Vec<f64> = counts.iter().map(|row| row.iter().sum()).collect();
    let n_paired = totals.iter().filter(|&&r| r >= 2.0).count() as f64;
    if n_paired == 0.0 {
        return None;
    }
    let (n, q) = (counts.len() as f64, counts[0].len());
    let agreeing: Vec<f64> = counts
        .iter()
        .zip(&totals)
        .map(|(row, r)| if *r < 2.0 { 0.0 } else { row.iter().map(|c| c * (c - 1.0)).sum::<f64>() / (r * (r - 1.0)) })
        .collect();
    let observed = agreeing.iter().sum::<f64>() / n_paired;
    if q < 2 {
        let (ac1, expected) = (1.0, 1.0);
        let (standard_error, interval, p_value) = (None, None, None);
        return Some(Ac1 { ac1, observed, expected, standard_error, interval, p_value, n: counts.len() });
    }
    let share = |k: usize| counts.iter().zip(&totals).map(|(row, r)| row[k] / r).sum::<f64>() / n;
    let shares: Vec<f64> = (0..q).map(share).collect();
    let expected = shares.iter().map(|pi| pi * (1.0 - pi)).sum::<f64>() / (q as f64 - 1.0);
    let ac1 = (observed - expected) / (1.0 - expected);
    let linearised = |((row, r), agreeing): ((&Vec<f64>, &f64), &f64)| {
        let expected_if_paired = if *r < 2.0 { 0.0 } else { expected };
        let value = n / n_paired * (agreeing - expected_if_paired) / (1.0 - expected);
        let chance = row.iter().zip(&shares).map(|(c, pi)| c * (1.0 - pi)).sum::<f64>() / r / (q as f64 - 1.0);
        value - 2.0 * (1.0 - ac1) * (chance - expected) / (1.0 - expected)
    };
    let squares: f64 =
        counts.iter().zip(&totals).zip(&agreeing).map(linearised).map(|value| (value - ac1) * (value - ac1)).sum();
    let standard_error = (n > 1.0).then(|| libm::sqrt(squares / (n * (n - 1.0))));
    // Below this all items have the same value and the rest is rounding.
    let spread = standard_error.filter(|&error| error > 1e-12);
    let interval = spread.map(|error| {
        let half = student_quantile(0.975, n - 1.0) * error;
        (ac1 - half, (ac1 + half).min(1.0))
    });
    let p_value = spread.map(|error| student_two_sided(ac1 / error, n - 1.0));
    Some(Ac1 { ac1, observed, expected, standard_error, interval, p_value, n: counts.len() })
}

/// Counts by category, the first rater's along the rows; `None` if the lists cannot be compared.
fn table_of<L: Ord>(first: &[L], second: &[L]) -> Option<Vec<Vec<f64>>> {
    if first.is_empty() || first.len() != second.len() {
        return None;
    }
    let categories = sorted(first.iter().chain(second));
    let mut table = vec![vec![0.0; categories.len()]; categories.len()];
    for (a, b) in first.iter().zip(second) {
        table[place(&categories, a)][place(&categories, b)] += 1.0;
    }
    Some(table)
}

/// Counts how often each item got each category.
fn counts_of<L: Ord>(ratings: &[Vec<L>]) -> Vec<Vec<f64>> {
    let categories = sorted(ratings.iter().flatten());
    let mut counts = vec![vec![0.0; categories.len()]; ratings.len()];
    for (row, labels) in counts.iter_mut().zip(ratings) {
        for label in labels {
            row[place(&categories, label)] += 1.0;
        }
    }
    counts
}

fn sorted<'a, L: Ord>(labels: impl Iterator<Item = &'a L>) -> Vec<&'a L> {
    let mut labels: Vec<&L> = labels.collect();
    labels.sort();
    labels.dedup();
    labels
}

fn place<L: Ord>(categories: &[&L], label: &L) -> usize {
    categories.binary_search(&label).expect("the categories are those of all labels")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_category_tells_nothing_except_to_ac1() {
        let same = ["yes"; 5];
        assert_eq!(cohen_kappa(&same, &same), None);
        assert_eq!(weighted_kappa(&same, &same, Weights::Linear), None);
        assert_eq!(fleiss_kappa(&vec![vec![1, 1]; 4]), None);
        let ac1 = gwet_ac1(&vec![vec![1, 1]; 4]).unwrap();
        assert_eq!((ac1.ac1, ac1.standard_error, ac1.p_value), (1.0, None, None));
    }

    #[test]
    fn kappas_interval_stays_within_its_bounds() {
        // Nine of ten agree: kappa is 0.783, and the normal interval ends at 1.18.
        let (a, b) = ([1, 1, 1, 1, 1, 1, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
        let few = cohen_kappa(&a, &b).unwrap();
        assert!(few.uncut().1 > 1.0, "{few:?}");
        assert_eq!(few.interval, Some((few.uncut().0, 1.0)), "an end within the bounds is as statsmodels has it");
        let opposed = cohen_kappa(&a, &b.map(|label| 1 - label)).unwrap();
        assert!(opposed.uncut().0 < -1.0 && opposed.interval.unwrap().0 == -1.0, "{opposed:?}");
    }

    #[test]
    fn agreement_throughout_has_no_spread() {
        let labels = [0, 1, 2, 1, 0, 0, 2];
        let kappa = cohen_kappa(&labels, &labels).unwrap();
        assert!((kappa.kappa - 1.0).abs() < 1e-15 && kappa.standard_error == 0.0);
        assert_eq!(kappa.interval, None, "seven equal pairs do not show that raters never differ");
        let rows: Vec<Vec<i32>> = labels.iter().map(|&l| vec![l, l, l]).collect();
        let ac1 = gwet_ac1(&rows).unwrap();
        assert!((ac1.ac1 - 1.0).abs() < 1e-15 && ac1.interval.is_none());
        assert!((fleiss_kappa(&rows).unwrap() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn what_cannot_be_compared_is_absent() {
        assert_eq!(cohen_kappa::<i32>(&[], &[]), None);
        assert_eq!(cohen_kappa(&[1, 2], &[1]), None);
        assert_eq!(fleiss_kappa(&[vec![1, 2], vec![1]]), None);
        assert_eq!(gwet_ac1(&[vec![1], vec![2], vec![]]), None);
        assert_eq!(gwet_ac1::<i32>(&[]), None);
        // One item has no spread between items.
        assert_eq!(gwet_ac1(&[vec![1, 2]]).unwrap().standard_error, None);
    }

    #[test]
    fn a_missing_rating_does_not_count() {
        let ac1 = gwet_ac1(&[vec![1, 1, 1], vec![2, 2], vec![1], vec![], vec![1, 2, 2]]).unwrap();
        assert_eq!(ac1.n, 4);
        assert!((ac1.observed - (1.0 + 1.0 + 1.0 / 3.0) / 3.0).abs() < 1e-15);
    }
}
