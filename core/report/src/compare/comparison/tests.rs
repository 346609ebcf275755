use super::*;
use closeread_eval::observations::{Cell, CellFacts, CellKey, Ending, Observation, Score};
use closeread_eval::{Item, Task};
use closeread_table::render::text;
use expect_test::{Expect, expect};

/// A side before it is a table.
#[derive(Clone)]
struct Scores {
    name: &'static str,
    items: Vec<One>,
}

#[derive(Clone)]
struct One {
    facts: ItemFacts,
    score: Option<f64>,
    failed: bool,
}

/// Items `i0`, `i1`, ... with these scores, six books in turn.
fn side(name: &'static str, scores: &[Option<f64>]) -> Scores {
    let item = |(idx, score): (usize, &Option<f64>)| {
        let labels = [("kind", if idx % 3 == 0 { "who" } else { "why" }.to_owned()), ("id", format!("{idx}"))];
        let facts = ItemFacts {
            gold: "gold".to_owned(),
            labels: labels.into_iter().map(|(label, value)| (label.to_owned(), value)).collect(),
            ..ItemFacts::from(&Item::new(format!("i{idx:02}"), format!("book {}", idx % 6), "?", Task::Choice))
        };
        One { facts, score: *score, failed: false }
    };
    Scores { name, items: scores.iter().enumerate().map(item).collect() }
}

fn cell() -> CellKey {
    CellKey { configuration: "".into(), method: "m".into(), model: "p/x".into(), budget: None, task: Task::Choice }
}

impl Scores {
    fn table(&self, metric: &str) -> Observations {
        let key = cell();
        let facts: Vec<ItemFacts> = self.items.iter().map(|one| one.facts.clone()).collect();
        let done = self.items.iter().map(|one| {
            let ending = if one.failed { Ending::Failed } else { Ending::Answered };
            let mut done = Observation::new(key.clone(), one.facts.id.clone(), 0, ending);
            done.scores.extend(one.score.map(|score| (metric.into(), Score::Value(score))));
            done
        });
        Observations::new("b", vec![Cell { key: key.clone(), facts: CellFacts::default() }], &facts, 1, done)
    }
}

fn compared_by(a: &Scores, b: &Scores, metric: &str, labels: &Labels) -> RunComparison {
    let (of_a, of_b) = (a.table(metric), b.table(metric));
    let side = |scores: &Scores, table| Side { name: scores.name.to_owned(), table, rows: Rows::all() };
    compare(&side(a, &of_a), &side(b, &of_b), &metric.into(), labels)
}

fn marks(right: &str) -> Vec<Option<f64>> {
    right.bytes().map(|b| (b != b' ').then_some(if b == b'+' { 1.0 } else { 0.0 })).collect()
}

#[test]
fn a_comparison_by_bleu_says_that_it_is_of_items() {
    let (a, b) = (side("a", &marks("+- +")), side("b", &marks("++ +")));
    let is_told = |metric: &str| {
        compared_by(&a, &b, metric, &Labels::All).notes.iter().any(|note| note.contains("the items' own BLEU"))
    };
    assert!(is_told("bleu_4") && !is_told("f1"));
}

fn check(a: &str, b: &str, expected: Expect) {
    let compared = compared_by(&side("one", &marks(a)), &side("two", &marks(b)), "accuracy", &Labels::All);
    expected.assert_eq(&format!("{}\n\n{}", compared.conclusion, text::table(&compared.table())));
}

#[test]
fn what_can_be_concluded() {
    check(
        "+-+-+-+-+-+-+-+-+-+-+-+-",
        "+-+++-+-+-++++---+-+-+--",
        expect![[r#"
            two scores 4.2 points more than one by accuracy [-49.4, +57.7] on the same 24 items, p = 0.849: this run cannot tell them apart; about 4,800 items would be needed to show a difference of this size.

            accuracy: A = one, B = two
            items       n  books     A     B             difference       p  p (Holm)
            -------------------------------------------------------------------------
            all        24      6  50.0  54.2    +4.2 [-49.4, +57.7]  0.8494         -
            kind: who   8      2  50.0  62.5  +12.5 [-28.7, +48.7]*  1.0000    1.0000
            kind: why  16      4  50.0  50.0    0.0 [-32.7, +32.7]*  1.0000    1.0000
            p: t test on the difference, clustered by book; only A right 5, only B right 6, McNemar p = 1.000; permutation p = 1.000; bootstrap [-33.3, +37.5]
            p (Holm): corrected over all values of all labels
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
        "#]],
    );
    check(
        "------+---------+-------",
        "+++-+++++-+++++++-++++++",
        expect![[r#"
            two scores 79.2 points more than one by accuracy [+59.4, +98.9] on the same 24 items, p = 0.0001: more than chance would explain.

            accuracy: A = one, B = two
            items       n  books     A     B             difference       p  p (Holm)
            -------------------------------------------------------------------------
            all        24      6   8.3  87.5   +79.2 [+59.4, +98.9]  0.0001         -
            kind: who   8      2  12.5  75.0  +62.5 [+13.3, +86.7]*  0.0625    0.0625
            kind: why  16      4   6.2  93.8  +87.5 [+55.7, +99.9]*  0.0001    0.0002
            p: t test on the difference, clustered by book; only A right 0, only B right 19, McNemar p < 0.0001; permutation p = 0.031; bootstrap [+66.7, +91.7]
            p (Holm): corrected over all values of all labels
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
        "#]],
    );
    check(
        "+--+",
        "-++-",
        expect![[r#"
            two and one have the same mean by accuracy on the same 4 items, and differ both ways: this run cannot tell them apart, and leaves room for a difference from -73.0 to +73.0 points.

            accuracy: A = one, B = two
            items      n  books      A      B               difference       p  p (Holm)
            ----------------------------------------------------------------------------
            all        4      4   50.0   50.0      0.0 [-73.0, +73.0]*  1.0000         -
            id: 0      1      1  100.0    0.0  -100.0 [-100.0, +51.0]*  1.0000    1.0000
            id: 1      1      1    0.0  100.0  +100.0 [-51.0, +100.0]*  1.0000    1.0000
            id: 2      1      1    0.0  100.0  +100.0 [-51.0, +100.0]*  1.0000    1.0000
            id: 3      1      1  100.0    0.0  -100.0 [-100.0, +51.0]*  1.0000    1.0000
            kind: who  2      2  100.0    0.0  -100.0 [-100.0, +19.3]*  0.5000    1.0000
            kind: why  2      2    0.0  100.0  +100.0 [-19.3, +100.0]*  0.5000    1.0000
            p: McNemar's exact test over items; only A right 2, only B right 2, McNemar p = 1.000; permutation p = 1.000; bootstrap [-100.0, +100.0]
            p (Holm): corrected over all values of all labels
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
        "#]],
    );
    check(
        "+--+",
        "+--+",
        expect![[r#"
            two and one score the same on each of the 4 items by accuracy: this run cannot tell them apart, and leaves room for a difference from -32.7 to +32.7 points.

            accuracy: A = one, B = two
            items      n  books      A      B           difference       p  p (Holm)
            ------------------------------------------------------------------------
            all        4      4   50.0   50.0  0.0 [-32.7, +32.7]*  1.0000         -
            id: 0      1      1  100.0  100.0  0.0 [-65.3, +65.3]*  1.0000    1.0000
            id: 1      1      1    0.0    0.0  0.0 [-65.3, +65.3]*  1.0000    1.0000
            id: 2      1      1    0.0    0.0  0.0 [-65.3, +65.3]*  1.0000    1.0000
            id: 3      1      1  100.0  100.0  0.0 [-65.3, +65.3]*  1.0000    1.0000
            kind: who  2      2  100.0  100.0  0.0 [-49.0, +49.0]*  1.0000    1.0000
            kind: why  2      2    0.0    0.0  0.0 [-49.0, +49.0]*  1.0000    1.0000
            p: McNemar's exact test over items; only A right 0, only B right 0, McNemar p = 1.000; permutation p = 1.000; bootstrap [0.0, 0.0]
            p (Holm): corrected over all values of all labels
            * 95% interval over items: fewer than five books to cluster by, or scores all alike
        "#]],
    );
}

#[test]
fn every_item_is_compared_or_named() {
    let mut a = side("one", &marks("+- ++-"));
    let mut b = side("two", &marks("-++ +-"));
    a.items.push(a.items[0].clone());
    a.items[6].facts.id = "only a".to_owned();
    b.items.push(b.items[0].clone());
    b.items[6].facts.id = "only b".to_owned();
    b.items[4].facts.gold = "other".to_owned();
    b.items[5].facts.gold.clear();
    let compared = compared_by(&a, &b, "accuracy", &Labels::Named(vec!["kind".to_owned(), "colour".to_owned()]));
    let u = &compared.unpaired;
    assert_eq!([&u.only_a[..], &u.only_b, &u.other_gold], [["only a"], ["only b"], ["i04"]]);
    assert_eq!([&u.unscored_a[..], &u.unscored_b], [["i02"], ["i03"]]);
    assert_eq!(compared.overall.as_ref().unwrap().n, 3);
    let ids = |flips: &[Flip]| flips.iter().map(|flip| flip.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&compared.gained), ids(&compared.lost)), (vec!["i01".to_owned()], vec!["i00".to_owned()]));
    assert_eq!(compared.by.keys().collect::<Vec<_>>(), ["kind"]);
    assert!(compared.notes.iter().any(|note| note.contains("`colour`") && note.contains("id, kind")));
    assert!(compared.notes.iter().any(|note| note.contains("could not be checked")), "{:?}", compared.notes);
}

#[test]
fn nothing_in_common_is_no_number() {
    let b = Scores { name: "two", items: Vec::new() };
    let compared = compared_by(&side("one", &marks("+-")), &b, "accuracy", &Labels::All);
    assert_eq!(compared.overall, None);
    assert_eq!(compared.conclusion, "Nothing can be concluded about accuracy: the two have no scored item in common.");
    let tables = crate::compare::comparison_tables(std::slice::from_ref(&compared));
    assert_eq!(tables[0].notes[0], "By accuracy nothing can be concluded: no pair has a scored item in common.");
    let mut other = side("two", &marks("+-"));
    other.items.iter_mut().for_each(|item| item.facts.gold = "other".to_owned());
    let compared = compared_by(&side("one", &marks("+-")), &other, "accuracy", &Labels::All);
    assert!(compared.conclusion.contains("another gold answer"), "{}", compared.conclusion);
}

#[test]
fn failures_are_compared_under_both_policies() {
    let mut a = side("one", &marks("+-+-+-"));
    a.items[1].failed = true;
    let compared = compared_by(&a, &side("two", &marks("++++++")), "accuracy", &Labels::All);
    assert_eq!(compared.overall.unwrap().n, 6);
    assert_eq!(compared.failures_left_out.unwrap().n, 5);
}

#[test]
fn the_same_item_has_the_same_evidence() {
    let mut a = side("one", &marks("++"));
    let mut b = side("two", &marks("+-"));
    a.items[0].facts.evidence = "x".to_owned();
    b.items[0].facts.evidence = "y".to_owned();
    let compared = compared_by(&a, &b, "evidence_recall", &Labels::All);
    assert_eq!(compared.unpaired.other_gold, ["i00"]);
}

#[test]
fn failures_of_some_repeats_are_left_out_and_rounding_is_no_difference() {
    let table = |scores: [[Option<f64>; 3]; 2]| {
        let key = cell();
        let facts = ["i", "j"].map(|id| ItemFacts::from(&Item::new(id, "book", "?", Task::Choice)));
        let done = scores.iter().zip(&facts).flat_map(|(scores, facts)| {
            let key = &key;
            scores.iter().zip(0..).map(move |(score, repeat)| {
                let ending = if score.is_some() { Ending::Answered } else { Ending::Failed };
                let mut done = Observation::new(key.clone(), facts.id.clone(), repeat, ending);
                done.scores.extend(score.map(|score| ("accuracy".into(), Score::Value(score))));
                done
            })
        });
        Observations::new("b", vec![Cell { key: key.clone(), facts: CellFacts::default() }], &facts, 3, done)
    };
    let compared = |a, b| {
        let (a, b) = (table(a), table(b));
        let side = |table| Side { name: String::new(), table, rows: Rows::all() };
        compare(&side(&a), &side(&b), &"accuracy".into(), &Labels::Named(Vec::new()))
    };
    let all = [Some(0.1), Some(0.2), Some(0.3)];
    let some = compared([[Some(0.6), None, None], all], [all, all]);
    let difference = |of: &Option<paired::Comparison>| of.as_ref().map(|of| (of.n, (100.0 * of.difference).round()));
    assert_eq!((difference(&some.overall), difference(&some.failures_left_out)), (Some((2, 0.0)), Some((2, -20.0))));
    let turned = compared([all, all], [[all[2], all[1], all[0]], all]);
    assert!(turned.gained.is_empty() && turned.lost.is_empty() && turned.failures_left_out.is_none(), "{turned:?}");
}

#[test]
fn answers_without_a_verdict_to_compared_items_are_counted() {
    let facts: Vec<ItemFacts> = side("x", &marks("++")).items.into_iter().map(|one| one.facts).collect();
    let table = |verdicts: [f64; 4]| {
        let done = verdicts.into_iter().enumerate().map(|(n, verdict)| {
            let mut done = Observation::new(cell(), facts[n / 2].id.clone(), (n % 2) as u32, Ending::Answered);
            done.scores.insert("judged_accuracy".into(), Score::Value(verdict));
            done
        });
        Observations::new("b", vec![Cell { key: cell(), facts: CellFacts::default() }], &facts, 2, done)
    };
    let (of_a, of_b) = (table([1.0, 1.0, 0.0, 1.0]), table([0.0, f64::NAN, 0.0, 1.0]));
    let side = |name: &str, table| Side { name: name.to_owned(), table, rows: Rows::all() };
    let compared = compare(&side("one", &of_a), &side("two", &of_b), &"judged_accuracy".into(), &Labels::All);
    let note = "two: answers to these items without a verdict, so that an item is the mean of its other repeats: 1";
    assert!(compared.notes.iter().any(|known| known == note), "{:?}", compared.notes);
    assert!(!compared.notes.iter().any(|known| known.starts_with("one")), "{:?}", compared.notes);
    assert_eq!(compared.neither_judged, 0);
    let tables = crate::compare::comparison_tables(&[compared]);
    assert!(tables[0].notes.iter().any(|known| known == note), "{:?}", tables[0].notes);

    let open = table([f64::NAN, f64::NAN, 0.0, 1.0]);
    let compared = compare(&side("one", &open), &side("two", &open), &"judged_accuracy".into(), &Labels::All);
    let note = "items without a verdict on either side, which are not compared: 1";
    assert!(compared.notes.iter().any(|known| known == note), "{:?}", compared.notes);
    assert_eq!(compared.neither_judged, 1);
}
