//! A run as the evaluation table that everything else in a report looks at.

use super::books::{book_tokens, evidence_tokens};
use super::{Arm, RunView};
use closeread_eval::observations::{
    Applies, Cell, Done, Ending, ItemFacts, Measure, MetricName, Observation, Observations, PoolError, Score, Spent,
};
use closeread_eval::{Answer, Evaluator, Item, Outcome, Task, default_metrics, is_spaceless};
use closeread_judges::{applies_judged, judged_metrics, judged_scores};
use closeread_methods::record::Record;
use closeread_methods::said;
use closeread_metrics::Metric;
use closeread_text::Language;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The scores of a trial.
pub(super) type Scores = BTreeMap<MetricName, Score>;

/// The metrics that trials of an item have a score under, by the item's id.
pub type Scored = BTreeMap<String, BTreeSet<String>>;

/// Name of the measure that counts the passages of a context, where there was retrieval.
pub const PASSAGES: &str = "passages";

/// Name of the measure that counts the words of a summary; characters, where its language has no spaces.
pub const WORDS: &str = "words";

/// True for an answer that the metric's judge gave no verdict on.
pub(crate) fn lacks_verdict(row: &Observation, metric: &MetricName) -> bool {
    row.outcome == Ending::Answered && row.scores.get(metric).is_some_and(|score| score.value(metric).is_none())
}

impl RunView<'_> {
    /// Returns every trial that was asked for, scores of judges included. Items of different tasks are in different
    /// cells.
    ///
    /// # Errors
    /// [`PoolError`] if the run's files name a cell twice, or give an id two gold answers.
    pub fn observations(&self) -> Result<Observations, PoolError> {
        self.observations_beside(&Scored::new())
    }

    /// Returns the same for some of a run's records: `others` tells what the run's other records were scored by, so that the
    /// same metrics apply to an item as in the table of the whole run.
    ///
    /// # Errors
    /// As [`Self::observations`].
    pub fn observations_beside(&self, others: &Scored) -> Result<Observations, PoolError> {
        let index = self.judging.index();
        let scores = |item: &Item, record: &Record| {
            let mut scores: Scores = recorded(item, record);
            scores.extend(judged_scores(&index, item, record));
            scores
        };
        self.table(Known::of(self, others), scores)
    }

    /// Returns the run's observations with the scores that `scores` gives in place of its own.
    ///
    /// # Errors
    /// As [`Self::observations`].
    pub(super) fn scored_by(&self, scores: impl Fn(&Item, &Record) -> Scores) -> Result<Observations, PoolError> {
        self.table(Known::of(self, &Scored::new()), scores)
    }

    fn table(&self, known: Known<'_>, scores: impl Fn(&Item, &Record) -> Scores) -> Result<Observations, PoolError> {
        let mut tasks: BTreeSet<Task> = self.items.iter().map(|item| item.task).collect();
        if tasks.is_empty() {
            tasks.insert(Task::Generative);
        }
        let of_task = |task: Task| {
            let cells =
                self.plan.iter().map(|arm| Cell { key: arm.cell(task), facts: self.asked.facts(&arm.model) }).collect();
            let items: Vec<ItemFacts> =
                self.items.iter().filter(|item| item.task == task).map(|item| known.item(self, item)).collect();
            let done = self.records.iter().filter_map(|record| {
                let item = *known.items.get(record.key.item.as_str())?;
                (item.task == task).then(|| known.done(item, record, scores(item, record)))
            });
            (Arc::from(""), Observations::new(self.benchmark, cells, &items, self.repeats, done))
        };
        Observations::pooled(tasks.into_iter().map(of_task))
    }
}

/// The scores of a record. BLEU is what a corpus's is summed from: the record has that of the one answer.
pub(super) fn recorded(item: &Item, record: &Record) -> Scores {
    let is_bleu = |name: &str| MetricName::from(name).known().is_some_and(|metric| metric.bleu_order().is_some());
    let statistics = || {
        let answer = said(&record.outcome).map(|text| Answer { text, choice: None });
        Evaluator::default().bleu_statistics(item, answer, is_spaceless(item)).map(Score::Bleu)
    };
    let bleu = if record.scores.keys().any(|name| is_bleu(name)) { statistics() } else { None };
    let score = |(name, value): (&String, &f64)| {
        let score = bleu.filter(|_| is_bleu(name)).unwrap_or(Score::Value(*value));
        (MetricName::from(name.as_str()), score)
    };
    record.scores.iter().map(score).collect()
}

/// Facts of the items that the records of a run tell.
struct Known<'a> {
    items: HashMap<&'a str, &'a Item>,
    /// The metrics that some trial of the item has a score under.
    seen: HashMap<&'a str, BTreeSet<&'a str>>,
    /// The metrics of answers that items of a task and a language, with blanks or without, are scored under.
    kinds: BTreeMap<(Task, bool), BTreeSet<&'a str>>,
    /// Every metric of the run, the main one of each item that no trial has a score of, and those that judges give: records need
    /// not have the judges' scores yet.
    metrics: BTreeSet<MetricName>,
}

impl<'a> Known<'a> {
    fn of(run: &RunView<'a>, others: &'a Scored) -> Self {
        let names = |(id, metrics): (&'a String, &'a BTreeSet<String>)| {
            (id.as_str(), metrics.iter().map(String::as_str).collect::<BTreeSet<_>>())
        };
        let mut seen: HashMap<&str, BTreeSet<&str>> = others.iter().map(names).collect();
        for record in run.records {
            seen.entry(&record.key.item).or_default().extend(record.scores.keys().map(String::as_str));
        }
        let recorded = seen.values().flatten().map(|name| MetricName::from(*name));
        let is_open = |item: &&Item| seen.get(item.id.as_str()).is_none_or(BTreeSet::is_empty) && has_gold(item);
        let open = run.items.iter().filter(is_open).map(|item| MetricName::from(main_of(item)));
        let metrics = recorded.chain(open).chain(judged_metrics().map(MetricName::from)).collect();
        let mut kinds: BTreeMap<(Task, bool), BTreeSet<&str>> = BTreeMap::new();
        for item in run.items {
            let own = seen.get(item.id.as_str()).into_iter().flatten().copied();
            let mut own = own.filter(|name| !MetricName::from(*name).is_of_context()).peekable();
            if own.peek().is_some() {
                kinds.entry(kind_of(item)).or_default().extend(own);
            }
        }
        Self { items: run.items.iter().map(|item| (item.id.as_str(), item)).collect(), seen, kinds, metrics }
    }

    fn item(&self, run: &RunView<'_>, item: &Item) -> ItemFacts {
        let metrics = self.metrics.iter().map(|metric| (metric.clone(), self.applies(item, metric)));
        let evidence_tokens = evidence_tokens(item, run.books);
        ItemFacts {
            book_tokens: book_tokens(item, run.books),
            evidence_unplaced: item.evidence.len() - evidence_tokens.len(),
            evidence_tokens,
            metrics: metrics.collect(),
            ..ItemFacts::from(item)
        }
    }

    /// A metric applies where a trial of the item has a score under it, where judges give one, and, of an item that no trial has
    /// a score of, where others like it are scored under it; it is the main one if none is. That of the context applies where the evidence has a place, however trials ended.
    fn applies(&self, item: &Item, metric: &MetricName) -> Applies {
        let seen = self.seen.get(item.id.as_str()).filter(|seen| !seen.is_empty());
        let has_score = seen.is_some_and(|seen| seen.contains(metric.name()));
        match applies_judged(metric.name(), item) {
            // The log of another tool tells a summary's scores, and no key facts.
            Some(Applies::Not) if has_score => return Applies::Once,
            Some(applies) => return applies,
            None => {}
        }
        let applies = match (seen, metric.known()) {
            (_, Some(_)) if metric.is_of_context() => {
                has_score || item.evidence.iter().any(|evidence| evidence.start.is_some())
            }
            (Some(_), _) => has_score,
            (None, Some(known)) => {
                let of_others = self.kinds.get(&kind_of(item)).map(|kind| kind.contains(metric.name()));
                of_others.unwrap_or_else(|| main_of(item) == known) && has_gold(item)
            }
            (None, None) => true,
        };
        if applies { Applies::Once } else { Applies::Not }
    }

    /// True if something says whether an answer to the item is right.
    fn is_scored(&self, item: &Item) -> bool {
        let seen = self.seen.get(item.id.as_str()).into_iter().flatten();
        item.key_facts.is_some()
            || has_gold(item)
            || seen.into_iter().any(|name| !MetricName::from(*name).is_of_context())
    }

    fn done(&self, item: &Item, record: &Record, scores: Scores) -> Done {
        let arm = Arm::of(&record.key);
        let outcome = if self.is_scored(item) { Ending::from(&record.outcome) } else { Ending::NoGold };
        let mut measures: BTreeMap<Measure, f64> =
            record.measures.iter().map(|(name, value)| (name.as_str().into(), *value)).collect();
        if let Some(context) = record.context.as_ref().filter(|context| context.retriever.is_some()) {
            measures.insert(PASSAGES.into(), context.passages.len() as f64);
        }
        if let (Task::Summary, Outcome::Answered { answer, .. }) = (item.task, &record.outcome) {
            measures.insert(WORDS.into(), words(answer, is_spaceless(item)) as f64);
        }
        Observation {
            outcome,
            scores,
            measures,
            spent: Spent { prompt_tokens: record.prompt_tokens, seconds: record.seconds },
            ..Observation::new(arm.cell(item.task), item.id.clone(), record.key.repeat, outcome)
        }
    }
}

fn words(text: &str, spaceless: bool) -> usize {
    if spaceless { text.chars().filter(|c| c.is_alphanumeric()).count() } else { text.split_whitespace().count() }
}

/// What decides by which metrics an item's answers are scored.
fn kind_of(item: &Item) -> (Task, bool) {
    (item.task, is_spaceless(item))
}

/// The metric that an item's answers are scored by first.
fn main_of(item: &Item) -> Metric {
    default_metrics(item.task, is_spaceless(item))[0]
}

/// True if the item has a gold answer that closeread can score against.
fn has_gold(item: &Item) -> bool {
    !closeread_eval::score(item, &Outcome::Unanswered, Language::ENGLISH).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered, item, key, record, run};
    use closeread_eval::Evidence;
    use closeread_eval::observations::{Aggregation, Rows};

    const RECALL: &str = "evidence_recall";

    fn with_evidence(id: &str) -> Item {
        let place = Evidence { document: None, quote: String::new(), start: Some(0), end: Some(4) };
        Item { evidence: vec![place], ..item(id, "book") }
    }

    fn mean(table: &Observations, method: &str, metric: &str) -> Option<(f64, usize)> {
        let (cell, _) = table.cells().find(|(_, cell)| *cell.key.method == *method)?;
        let estimate = table.aggregate(&Rows::of(cell), &Aggregation::new(metric)).estimate?;
        Some((estimate.value, estimate.n))
    }

    #[test]
    fn evidence_that_no_trial_was_shown_counts() {
        let full = key("full-document", None);
        let overflow = Outcome::Overflow { needed: Some(9), context_window: Some(8) };
        let records = [
            record(&full, "a", answered(), &[("accuracy", 1.0), (RECALL, 1.0)]),
            record(&full, "b", overflow, &[("accuracy", 0.0)]),
        ];
        let table = run(&[full], &["a", "b"].map(with_evidence), &records).observations().unwrap();
        assert_eq!(mean(&table, "full-document", RECALL), Some((0.5, 2)));
    }

    #[test]
    fn what_no_trial_answered_is_wrong_under_every_metric_of_its_like() {
        let plan = [key("m", None)];
        let open = |id: &str| Item { answers: vec!["Ana".to_owned()], ..Item::new(id, "book", "?", Task::Generative) };
        let items = ["a", "b"].map(open);
        let records = [record(&plan[0], "a", answered(), &[("f1_v2", 1.0), ("rougeL", 1.0)])];
        let table = run(&plan, &items, &records).observations().unwrap();
        assert_eq!(["f1_v2", "rougeL"].map(|metric| mean(&table, "m", metric)), [Some((0.5, 2)); 2]);
        assert_eq!(mean(&table, "m", "f1"), None);
    }

    #[test]
    fn a_cell_beside_what_scored_the_others_is_that_of_the_whole_run() {
        let plan = [key("one", None), key("two", None)];
        let items = ["a", "b"].map(|id| item(id, "book"));
        let own = [("accuracy", 1.0), ("mine", 1.0)];
        let records = [
            record(&plan[0], "a", answered(), &own),
            record(&plan[1], "a", answered(), &own[..1]),
            record(&plan[1], "b", answered(), &own),
        ];
        let (whole, alone) = (run(&plan, &items, &records), run(&plan[..1], &items, &records[..1]));
        let of = |name: &str| BTreeSet::from(["accuracy".to_owned(), name.to_owned()]);
        let others = Scored::from([("a".to_owned(), of("mine")), ("b".to_owned(), of("mine"))]);
        let expected = mean(&whole.observations().unwrap(), "one", "mine");
        assert_eq!(expected, Some((0.5, 2)));
        assert_eq!(mean(&alone.observations_beside(&others).unwrap(), "one", "mine"), expected);
    }
}
