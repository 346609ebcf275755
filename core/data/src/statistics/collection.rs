//! CorpusQA's table on its instances (Table 2).

use super::table;
use closeread_eval::Item;
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The labels by which instances are counted, with the paper's names of them, in its order.
const DIMENSIONS: [(&str, &str); 3] =
    [("domain", "Domain"), ("length_set", "Length Set"), ("difficulty", "Difficulty")];

/// Values of the labels with the paper's names of them, in its order.
const CATEGORIES: [(&[&str], &str); 10] = [
    (&["financial_zh", "financial_en"], "Financial"),
    (&["education_en"], "Education"),
    (&["real_estate_en"], "Real Est."),
    (&["set1", "128K"], "Set1 (128K)"),
    (&["set2", "1M"], "Set2 (1M)"),
    (&["set3", "4M"], "Set3 (4M)"),
    (&["set4", "10M"], "Set4 (10M)"),
    (&["easy"], "Easy"),
    (&["medium"], "Medium"),
    (&["hard"], "Hard"),
];

/// The place of a value among the categories and its name there; a value that the paper does not have comes last, as it is.
fn category(value: &str) -> (usize, &str) {
    let is_of = |(values, _): &(&[&str], &str)| values.iter().any(|own| own.eq_ignore_ascii_case(value));
    match CATEGORIES.iter().position(is_of) {
        Some(at) => (at, CATEGORIES[at].1),
        None => (CATEGORIES.len(), value),
    }
}

/// Instances by domain, set and difficulty, with the mean tokens of their documents and their languages (CorpusQA, Table 2).
/// `None` where no item has such a label.
pub fn instances(
    items: &[Item],
    tokens: impl Fn(&Item) -> Option<usize>,
    languages: impl Fn(&Item) -> BTreeSet<String>,
) -> Option<Table> {
    let heads = ["Dimension", "Category", "Avg T.", "Lang.", "#Inst."];
    let mut made = table("data-instances", "Instances by domain, set and difficulty", "CorpusQA, Table 2", heads);
    let row = |dimension: &str, category: &str, of: &[&Item]| {
        let lengths: Option<Vec<usize>> = of.iter().map(|item| tokens(item)).collect();
        let mean = lengths.filter(|lengths| !lengths.is_empty()).map_or_else(
            || Value::missing("a document has no known length"),
            |lengths| Value::Number { value: lengths.iter().sum::<usize>() as f64 / lengths.len() as f64, decimals: 0 },
        );
        let languages: BTreeSet<String> = of.iter().flat_map(|item| languages(item)).collect();
        let languages = languages.into_iter().map(|code| code.to_uppercase()).collect::<Vec<_>>().join(", ");
        let names = [dimension, category].map(Value::text);
        names.into_iter().chain([mean, Value::text(languages), Value::count(of.len())]).collect()
    };
    for (label, dimension) in DIMENSIONS {
        let mut categories: BTreeMap<(usize, &str), Vec<&Item>> = BTreeMap::new();
        for item in items {
            if let Some(value) = item.labels.get(label) {
                categories.entry(category(value)).or_default().push(item);
            }
        }
        made.rows.extend(categories.iter().map(|((_, name), of)| row(dimension, name, of)));
    }
    if made.rows.is_empty() {
        return None;
    }
    made.rows.push(row("all", "", &items.iter().collect::<Vec<_>>()));
    made.summary_rows = 1;
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    fn item(id: &str, labels: [&str; 3]) -> Item {
        let item = Item::new(id, id, "?", Task::Generative);
        DIMENSIONS.iter().zip(labels).fold(item, |item, ((label, _), value)| item.label(label, value))
    }

    #[test]
    fn instances_stand_in_the_papers_order_under_its_names() {
        let items = [
            item("a", ["x", "8K", ""]),
            item("b", ["real_estate_en", "10M", "hard"]),
            item("c", ["financial_en", "set2", "medium"]),
            item("d", ["financial_zh", "128K", "Easy"]),
        ];
        let language = |item: &Item| BTreeSet::from([if item.id == "d" { "zh" } else { "en" }.to_owned()]);
        let made = instances(&items, |item| (item.id != "a").then_some(10 * item.id.len()), language).unwrap();
        let shown: Vec<String> =
            made.rows.iter().map(|row| row.iter().map(Value::shown).collect::<Vec<_>>().join(" | ")).collect();
        assert_eq!(
            shown,
            [
                "Domain | Financial | 10 | EN, ZH | 2",
                "Domain | Real Est. | 10 | EN | 1",
                "Domain | x | - | EN | 1",
                "Length Set | Set1 (128K) | 10 | ZH | 1",
                "Length Set | Set2 (1M) | 10 | EN | 1",
                "Length Set | Set4 (10M) | 10 | EN | 1",
                "Length Set | 8K | - | EN | 1",
                "Difficulty | Easy | 10 | ZH | 1",
                "Difficulty | Medium | 10 | EN | 1",
                "Difficulty | Hard | 10 | EN | 1",
                "all |  | - | EN, ZH | 4",
            ],
        );
    }

    #[test]
    fn items_without_such_labels_make_no_table() {
        assert!(instances(&[Item::new("a", "a", "?", Task::Choice)], |_| Some(1), |_| BTreeSet::new()).is_none());
    }
}
