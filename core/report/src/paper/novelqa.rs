//! NovelQA (section 4, appendix C): accuracy by complexity and aspect, by where the evidence stands, without the book.

use super::sagascale::Setting;
use super::tabulate::{Group, count, filled, groups, missing, number, policy_note, score, share, table, text, values};
use closeread_data::novelqa::{ASPECTS, COMPLEXITIES};
use closeread_eval::correlate;
use closeread_eval::observations::{Aggregation, FailurePolicy, ItemFacts, Observations, Scored};
use closeread_judges::EVIDENCE_MARKS;
use closeread_table::{Table, Value};

/// Upper edges of the absolute position bins in tokens (Table 12); an edge belongs to the bin above it.
pub const POSITION_EDGES: [usize; 8] = [20_000, 40_000, 60_000, 80_000, 100_000, 130_000, 170_000, 210_000];
/// Names of the absolute position bins.
pub const POSITION_BINS: [&str; 9] =
    ["0-20K", "20-40K", "40-60K", "60-80K", "80-100K", "100-130K", "130-170K", "170-210K", ">=210K"];
/// Relative position bins of 10% each (Table 13).
pub const RELATIVE_BINS: usize = 10;
/// Where Table 4 parts the evidence, in tokens.
pub const SPLIT: usize = 100_000;
/// Length classes for relative positions. The paper's classes are not given in its text; these part its novels, whose
/// mean is about 200K tokens, at the split of Table 4 and at that mean.
pub const LENGTH_CLASSES: [&str; 3] = ["<100K", "100-200K", ">=200K"];

/// The absolute position bin, from 0.
pub fn position_bin(token: usize) -> usize {
    POSITION_EDGES.iter().filter(|edge| token >= **edge).count()
}

/// The relative position bin, from 0: token index / book tokens; `None` for an empty book. A place at or behind the end
/// belongs to the last bin.
pub fn relative_bin(token: usize, book_tokens: usize) -> Option<usize> {
    (book_tokens > 0).then(|| (token * RELATIVE_BINS / book_tokens).min(RELATIVE_BINS - 1))
}

/// The length class, from 0, of a book.
pub fn length_class(book_tokens: usize) -> usize {
    usize::from(book_tokens >= 100_000) + usize::from(book_tokens >= 200_000)
}

/// Greatest distance in tokens between two pieces of evidence (C.4.5); `None` with fewer than two.
pub fn evidence_distance(evidence_tokens: &[usize]) -> Option<usize> {
    let (first, last) = (evidence_tokens.iter().min()?, evidence_tokens.iter().max()?);
    (evidence_tokens.len() > 1).then(|| last - first)
}

/// Close-book accuracy minus standard accuracy (Table 6), over the questions that both have: each pair is (close-book,
/// standard). Negative where the book helps.
pub fn close_book_drop(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len();
    (n > 0).then(|| pairs.iter().map(|(closed, standard)| closed - standard).sum::<f64>() / n as f64)
}

/// Arithmetic mean of correctness, relevance and sufficiency (Table 5).
pub fn evidence_mark(correctness: f64, relevance: f64, sufficiency: f64) -> f64 {
    (correctness + relevance + sufficiency) / 3.0
}

/// The paper's tables for these trials; those for which the trials carry nothing are left out.
pub fn tables(trials: &Observations) -> Vec<Table> {
    let groups = groups(trials);
    let all = [
        overall(&groups),
        matrix(trials, &groups),
        by_position(&groups),
        by_relative_position(&groups),
        by_length_class(&groups),
        before_and_after(&groups),
        drops(&groups),
        by_distance(&groups),
        evidence_marks(&groups),
    ];
    all.into_iter().filter_map(filled).collect()
}

fn overall(groups: &[Group<'_>]) -> Table {
    let columns = FailurePolicy::ALL.map(FailurePolicy::name);
    let mut table = table(groups, "novelqa-overall", "Scores over all questions", "NovelQA, Table 2", columns);
    for group in groups {
        table.rows.push(group.row(FailurePolicy::ALL.map(|policy| group.mean(&group.rows(), policy))));
    }
    table.notes.extend(FailurePolicy::ALL.map(policy_note));
    table
}

fn matrix(trials: &Observations, groups: &[Group<'_>]) -> Table {
    let aspects = values(trials, "aspect", &ASPECTS);
    let complexities = values(trials, "complexity", &COMPLEXITIES);
    let columns = ["complexity"].into_iter().chain(aspects.iter().map(String::as_str)).chain(["average"]);
    let title = "Scores by complexity and aspect, averages weighted by the number of questions";
    let mut table = table(groups, "novelqa-complexity-aspect", title, "NovelQA, Table 3", columns);
    if aspects.is_empty() || complexities.is_empty() {
        return table;
    }
    for group in groups {
        for complexity in complexities.iter().map(Some).chain([None]) {
            let cell = |aspect: Option<&String>| {
                let labels = [("complexity", complexity), ("aspect", aspect)];
                let named = labels.into_iter().filter_map(|(label, value)| Some((label, value?)));
                let rows = named.fold(group.rows(), |rows, (label, value)| rows.label(label, value));
                group.mean(&rows, FailurePolicy::Wrong)
            };
            let head = text(complexity.map_or("average", String::as_str));
            let cells = aspects.iter().map(Some).chain([None]).map(cell);
            table.rows.push(group.row([head].into_iter().chain(cells)));
        }
    }
    table.notes.push(policy_note(FailurePolicy::Wrong));
    table
}

/// A piece of evidence: where it starts, and the score of its question.
struct Instance<'a> {
    token: usize,
    score: f64,
    item: &'a ItemFacts,
}

/// Every piece of evidence whose place is known; a question with several counts once for each, as in Tables 12 and 13.
fn instances<'a>(group: &Group<'a>) -> Vec<Instance<'a>> {
    let of = |Scored { item, value, .. }: Scored<'a>| {
        item.evidence_tokens.iter().map(move |&token| Instance { token, score: value, item })
    };
    group.scores(&group.rows()).into_iter().flat_map(of).collect()
}

fn mean_of<'a>(instances: impl Iterator<Item = &'a Instance<'a>>) -> Value {
    score(instances.map(|instance| (instance.score, instance.item)), "no evidence here")
}

const PER_EVIDENCE: &str = "a question counts once for each piece of its evidence whose place is known";

fn by_position(groups: &[Group<'_>]) -> Table {
    let title = "Scores by where the evidence starts, in tokens";
    let mut table = table(groups, "novelqa-position", title, "NovelQA, Table 12 and figure 5", POSITION_BINS);
    for group in groups {
        let all = instances(group);
        if !all.is_empty() {
            let bin = |bin| mean_of(all.iter().filter(move |evidence| position_bin(evidence.token) == bin));
            table.rows.push(group.row((0..POSITION_BINS.len()).map(bin)));
        }
    }
    table.notes.push(PER_EVIDENCE.to_owned());
    table
}

fn relative_heads() -> impl Iterator<Item = String> {
    (0..RELATIVE_BINS).map(|bin| format!("{}-{}%", 10 * bin, 10 * (bin + 1)))
}

fn in_relative_bin(evidence: &Instance<'_>, bin: usize) -> bool {
    evidence.item.book_tokens.and_then(|book| relative_bin(evidence.token, book)) == Some(bin)
}

fn by_relative_position(groups: &[Group<'_>]) -> Table {
    let title = "Scores by where in its book the evidence starts";
    let mut table = table(groups, "novelqa-relative-position", title, "NovelQA, Table 13", relative_heads());
    for group in groups {
        let all = instances(group);
        if all.iter().any(|evidence| evidence.item.book_tokens.is_some()) {
            let bin = |bin| mean_of(all.iter().filter(move |evidence| in_relative_bin(evidence, bin)));
            table.rows.push(group.row((0..RELATIVE_BINS).map(bin)));
        }
    }
    table.notes.push(PER_EVIDENCE.to_owned());
    table
}

fn by_length_class(groups: &[Group<'_>]) -> Table {
    let columns = ["book tokens".to_owned()].into_iter().chain(relative_heads());
    let title = "Scores by where in its book the evidence starts, within length classes";
    let mut table = table(groups, "novelqa-relative-position-length", title, "NovelQA, section 4.3", columns);
    for group in groups {
        let all = instances(group);
        for (class, name) in LENGTH_CLASSES.iter().enumerate() {
            let of_class = |evidence: &&Instance<'_>| evidence.item.book_tokens.map(length_class) == Some(class);
            let here: Vec<&Instance<'_>> = all.iter().filter(of_class).collect();
            if !here.is_empty() {
                let bin = |bin| mean_of(here.iter().copied().filter(move |evidence| in_relative_bin(evidence, bin)));
                table.rows.push(group.row([text(name)].into_iter().chain((0..RELATIVE_BINS).map(bin))));
            }
        }
    }
    table.notes.push(PER_EVIDENCE.to_owned());
    table.notes.push("the length classes are closeread's: the paper does not give its own".to_owned());
    table
}

fn before_and_after(groups: &[Group<'_>]) -> Table {
    let title = "Scores by whether the evidence starts before 100K tokens";
    let columns = ["before 100K", "from 100K", "difference"];
    let mut table = table(groups, "novelqa-100k", title, "NovelQA, Table 4", columns);
    for group in groups {
        let all = instances(group);
        if all.is_empty() {
            continue;
        }
        let (before, after): (Vec<&Instance<'_>>, Vec<&Instance<'_>>) =
            all.iter().partition(|evidence| evidence.token < SPLIT);
        let mean = |part: &[&Instance<'_>]| {
            (!part.is_empty()).then(|| part.iter().map(|evidence| evidence.score).sum::<f64>() / part.len() as f64)
        };
        let difference = mean(&after).zip(mean(&before)).map(|(after, before)| after - before);
        table.rows.push(group.row([
            mean_of(before.iter().copied()),
            mean_of(after.iter().copied()),
            share(difference, all.len(), "no evidence on one side"),
        ]));
    }
    table.notes.push(PER_EVIDENCE.to_owned());
    table
}

fn drops(groups: &[Group<'_>]) -> Table {
    let title = "Close-book minus standard score, over the questions that both have";
    let mut table = table(groups, "novelqa-close-book", title, "NovelQA, Table 6", ["standard", "close-book", "drop"]);
    let is_closed = |group: &&Group<'_>| Setting::ClosedBook.is(&group.key.method);
    for group in groups.iter().filter(|group| !is_closed(group)) {
        let of_same_model = |other: &&Group<'_>| other.key.model == group.key.model && other.metric == group.metric;
        let Some(closed) = groups.iter().filter(is_closed).find(of_same_model) else { continue };
        let by = Aggregation::new(group.metric.clone());
        let both = group.table.paired(&closed.rows(), group.table, &group.rows(), &by).common;
        let drop = close_book_drop(&both.iter().map(|both| (both.a, both.b)).collect::<Vec<_>>());
        table.rows.push(group.row([
            score(both.iter().map(|both| (both.b, both.item)), "no question in common"),
            score(both.iter().map(|both| (both.a, both.item)), "no question in common"),
            share(drop, both.len(), "no question in common"),
        ]));
    }
    table
}

fn by_distance(groups: &[Group<'_>]) -> Table {
    let columns = ["Pearson", "p", "Spearman", "p", "Kendall", "p", "questions"];
    let title = "Correlation of the score with the distance between pieces of evidence, multi-hop questions";
    let mut table = table(groups, "novelqa-evidence-distance", title, "NovelQA, Table 16", columns);
    for group in groups {
        let multi_hop = group.about(|item| item.label("complexity").is_none_or(|value| value == COMPLEXITIES[0]));
        let scores = group.scores(&multi_hop).into_iter();
        let points = scores.filter_map(|one| Some((evidence_distance(&one.item.evidence_tokens)? as f64, one.value)));
        let (distances, scores): (Vec<f64>, Vec<f64>) = points.unzip();
        if distances.is_empty() {
            continue;
        }
        let cells = correlate::with_p_values(&distances, &scores).into_iter().flat_map(|found| match found {
            Some((coefficient, p)) => {
                [number(Some(coefficient), 3, ""), number(p, 4, "no p-value for so few questions")]
            }
            None => [missing("scores or distances are all alike"), missing("scores or distances are all alike")],
        });
        table.rows.push(group.row(cells.chain([count(distances.len())])));
    }
    table
}

fn evidence_marks(groups: &[Group<'_>]) -> Table {
    let columns = EVIDENCE_MARKS.into_iter().chain(["average"]);
    let mut table = table(groups, "novelqa-evidence-marks", "Evidence recall as judged", "NovelQA, Table 5", columns);
    for group in groups {
        let by = EVIDENCE_MARKS.map(Aggregation::new);
        if !group.table.metrics(&group.rows()).contains(&by[0].metric) {
            continue;
        }
        let marks = by.each_ref().map(|by| {
            let made = group.table.aggregate(&group.rows(), by);
            Value::score(made.estimate.as_ref(), "nothing was judged")
        });
        let [correctness, relevance, sufficiency] = by.each_ref().map(|by| group.table.scores(&group.rows(), by));
        let averages = correctness.iter().filter_map(|one| {
            let of = |marks: &[Scored<'_>]| marks.iter().find(|other| other.item.id == one.item.id).map(|m| m.value);
            Some((evidence_mark(one.value, of(&relevance)?, of(&sufficiency)?), one.item))
        });
        table.rows.push(group.row(marks.into_iter().chain([score(averages, "nothing was judged")])));
    }
    table.notes.push(
        "questions with gold evidence; a trial that ended without an answer has marks of 0, an answer that was not judged none"
            .to_owned(),
    );
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Case, case, table};

    fn question(item: usize, complexity: &str, aspect: &str, score: f64) -> Case {
        case(&format!("q{item}")).scored("accuracy", score).label("complexity", complexity).label("aspect", aspect)
    }

    fn found(tables: &[Table], id: &str, row: usize, column: usize) -> Value {
        tables.iter().find(|table| table.id == id).unwrap().rows[row][column].clone()
    }

    fn mean(value: &Value) -> (f64, usize) {
        match value {
            Value::Score { estimate } => (estimate.value, estimate.n),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn averages_of_the_matrix_are_weighted_by_questions() {
        let cases = [
            question(1, "multi-hop", "times", 1.0),
            question(2, "multi-hop", "times", 1.0),
            question(3, "multi-hop", "plot", 0.0),
            question(4, "detail", "plot", 0.0),
        ];
        let tables = tables(&table(&cases));
        let id = "novelqa-complexity-aspect";
        assert_eq!(mean(&found(&tables, id, 0, 7)), (2.0 / 3.0, 3));
        assert!(matches!(found(&tables, id, 1, 5), Value::Missing { .. }), "no detail question on times");
        assert_eq!(mean(&found(&tables, id, 2, 7)), (0.5, 4));
    }

    #[test]
    fn places_fall_into_bins() {
        assert_eq!([0, 19_999, 20_000, 209_999, 210_000].map(position_bin), [0, 0, 1, 7, 8]);
        assert_eq!([0, 99, 100, 999, 1_000].map(|token| relative_bin(token, 1_000)), [0, 0, 1, 9, 9].map(Some));
        assert_eq!(relative_bin(0, 0), None);
        assert_eq!(evidence_distance(&[30, 10, 20]), Some(20));
        assert_eq!(evidence_distance(&[30]), None);
    }

    #[test]
    fn a_question_counts_once_for_each_piece_of_evidence() {
        let mut cases = vec![question(1, "multi-hop", "plot", 1.0), question(2, "multi-hop", "plot", 0.0)];
        cases[0].evidence_tokens = vec![10, 150_000];
        cases[1].evidence_tokens = vec![160_000];
        for case in &mut cases {
            case.book_tokens = Some(200_000);
        }
        let tables = tables(&table(&cases));
        assert_eq!(mean(&found(&tables, "novelqa-100k", 0, 4)), (1.0, 1));
        assert_eq!(mean(&found(&tables, "novelqa-100k", 0, 5)), (0.5, 2));
        assert_eq!(found(&tables, "novelqa-100k", 0, 6), Value::Share { value: -0.5, n: 3 });
        assert_eq!(mean(&found(&tables, "novelqa-relative-position-length", 0, 12)), (1.0, 1));
        assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
    }

    #[test]
    fn the_drop_is_over_the_questions_in_common() {
        let closed =
            |i: usize, score: f64| Case { method: "closed-book".to_owned(), ..question(i, "detail", "plot", score) };
        let cases = [question(1, "detail", "plot", 1.0), question(2, "detail", "plot", 1.0), closed(1, 0.0)];
        let tables = tables(&table(&cases));
        assert_eq!(found(&tables, "novelqa-close-book", 0, 6), Value::Share { value: -1.0, n: 1 });
        assert_eq!(close_book_drop(&[]), None);
    }

    #[test]
    fn distance_and_score_correlate() {
        let at = |i: usize, far: usize, score: f64| Case {
            evidence_tokens: vec![0, far],
            ..question(i, "multi-hop", "plot", score)
        };
        let cases = [at(1, 10, 1.0), at(2, 20, 1.0), at(3, 30, 0.0), at(4, 40, 0.0)];
        match found(&tables(&table(&cases)), "novelqa-evidence-distance", 0, 4) {
            Value::Number { value, .. } => assert!((value + 0.894_427_190_999_915_9).abs() < 1e-9, "{value}"),
            other => panic!("{other:?}"),
        }
    }
}
