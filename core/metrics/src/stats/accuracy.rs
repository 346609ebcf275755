//! A rater or judge against labels that count as right, and the label of a panel.

use std::collections::BTreeMap;

/// Share of pairs (gold, said) with equal labels; `None` without pairs.
pub fn binary_accuracy<L: PartialEq>(pairs: &[(L, L)]) -> Option<f64> {
    let equal = pairs.iter().filter(|(gold, said)| gold == said).count();
    (!pairs.is_empty()).then(|| equal as f64 / pairs.len() as f64)
}

/// Mean over the labels that gold has of the share of their pairs with equal labels; `None` with fewer than two such labels.
pub fn balanced_accuracy<L: Ord>(pairs: &[(L, L)]) -> Option<f64> {
    let mut of_label: BTreeMap<&L, (usize, usize)> = BTreeMap::new();
    for (gold, said) in pairs {
        let (equal, all) = of_label.entry(gold).or_default();
        *equal += usize::from(gold == said);
        *all += 1;
    }
    let recalls = of_label.values().map(|(equal, all)| *equal as f64 / *all as f64);
    (of_label.len() > 1).then(|| recalls.sum::<f64>() / of_label.len() as f64)
}

/// Returns the label of more than half of a panel of `panel` raters; labels that are missing count for nobody.
pub fn majority<L: Ord + Copy>(labels: impl IntoIterator<Item = L>, panel: usize) -> Option<L> {
    let mut counts: BTreeMap<L, usize> = BTreeMap::new();
    labels.into_iter().for_each(|label| *counts.entry(label).or_default() += 1);
    counts.into_iter().find(|(_, count)| 2 * count > panel).map(|(label, _)| label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_label_weighs_as_much_as_a_common_one() {
        let pairs = [(1, 1), (1, 1), (1, 0), (0, 1)];
        assert_eq!((binary_accuracy(&pairs), balanced_accuracy(&pairs)), (Some(0.5), Some(1.0 / 3.0)));
        assert_eq!(balanced_accuracy(&pairs[..3]), None, "gold has one label");
        assert_eq!(binary_accuracy::<u8>(&[]), None);
    }

    #[test]
    fn one_label_of_three_decides_nothing() {
        assert_eq!(majority(["a"], 3), None);
        assert_eq!(majority(["a", "a"], 3), Some("a"));
        assert_eq!(majority(["a", "b"], 2), None);
        assert_eq!(majority(["a", "b", "c"], 3), None);
    }
}
