//! Scores from verdicts: what the tables of the papers and of a report are made of.
//!
//! What a trial without an answer counts for, and an answer on which the panel is silent or not yet complete, is said by
//! [`observations`](closeread_eval::observations) alone.

use super::{
    ByRule, FactRuling, Judge, JudgementIndex, Judging, PanelVerdict, Ruling, SentenceRuling, Subject, cited,
    linearised,
};
use crate::novelqa::EVIDENCE_MARKS;
use closeread_eval::Outcome;
use closeread_eval::hamlet::{
    self, FAITHFULNESS, FactVerdict, Level, RECALL, RECALL_FAITHFULNESS, SentenceVerdict, SummaryVerdicts,
};
use closeread_eval::observations::{Applies, MetricName, Score};
use closeread_eval::{Item, KeyFacts, Task};
use closeread_methods::record::Record;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Name of the score that a judge of correct answers gives: 0 or 1.
pub const JUDGED_ACCURACY: &str = "judged_accuracy";
/// Name of the rule's strict reading.
pub const ACCURACY_STRICT: &str = "accuracy_strict";
/// Name of the rule's tolerant reading.
pub const ACCURACY_TOLERANT: &str = "accuracy_tolerant";
/// HAMLET's scores of a trial in every report; those by level stand in HAMLET's tables ([`summary_scores`]).
const OVER_ALL_LEVELS: [&str; 3] = [RECALL, FAITHFULNESS, RECALL_FAITHFULNESS];
/// The label that [`Judge::ClassifyQuestion`] fills in.
const QUESTION_TYPE: &str = "question_type";

/// Adds to each record the scores that the judges gave it: [`JUDGED_ACCURACY`], both readings of the rule, NovelQA's
/// marks of evidence and HAMLET's recall and faithfulness, each in 0..=1.
pub fn score(judging: &Judging, items: &[Item], records: &mut [Record]) {
    let index = judging.index();
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    for record in records {
        if let Some(item) = items.get(record.key.item.as_str()) {
            let scores = judged_scores(&index, item, record);
            record.scores.extend(scores.into_iter().filter_map(|(metric, score)| {
                let value = score.value(&metric)?;
                Some((String::from(metric), value))
            }));
        }
    }
}

/// Writes the type of each question that was classified into its labels, unless the data set gives one.
pub fn label_questions(judging: &Judging, items: &mut [Item]) {
    let index = judging.index();
    for item in items.iter_mut().filter(|item| !item.labels.contains_key(QUESTION_TYPE)) {
        let subject = Subject::question(&item.id);
        if let PanelVerdict::Ruled(Ruling::QuestionType { question_type }) =
            index.ruling(&subject, Judge::ClassifyQuestion)
        {
            item.labels.insert(QUESTION_TYPE.to_owned(), question_type.name().to_owned());
        }
    }
}

/// Returns the judges' scores of a trial under their metrics; [`Score::Unjudged`] where a panel was to decide and did
/// not, or not yet. What ended without an answer is wrong without being judged.
pub fn judged_scores(index: &JudgementIndex<'_>, item: &Item, record: &Record) -> BTreeMap<MetricName, Score> {
    let subject = Subject::from(&record.key);
    let answered = matches!(record.outcome, Outcome::Answered { .. });
    let mut scores = BTreeMap::new();
    if matches!(record.outcome, Outcome::NotAsked { .. }) {
        return scores;
    }
    let mut give = |name: &str, score: Score| scores.insert(MetricName::from(name), score);
    if let Some((panel, judge)) = index.judging().correctness().filter(|_| item.is_open()) {
        let verdict = match index.verdict(panel, &subject, judge) {
            _ if !answered => yes(false),
            PanelVerdict::Ruled(Ruling::Correctness { correct }) => yes(correct),
            _ => Score::Unjudged,
        };
        give(JUDGED_ACCURACY, verdict);
    }
    if index.judging().panel(Judge::Rule).is_some() && has_gold(item) {
        let (strict, tolerant) = match index.ruling(&subject, Judge::Rule) {
            _ if !answered => (yes(false), yes(false)),
            PanelVerdict::Ruled(Ruling::Rule(ByRule { strict, tolerant, .. })) => (yes(strict), yes(tolerant)),
            _ => (Score::Unjudged, Score::Unjudged),
        };
        give(ACCURACY_STRICT, strict);
        give(ACCURACY_TOLERANT, tolerant);
    }
    let asked = record.evidence.is_some() && index.judging().panel(Judge::NovelQaEvidence).is_some();
    if asked && answered && !item.evidence.is_empty() {
        let marks = match index.ruling(&subject, Judge::NovelQaEvidence) {
            // An answer that cites nothing has marks of 0 (NovelQA, section 4.5).
            _ if cited(record).is_empty() => [0, 0, 0].map(Some),
            PanelVerdict::Ruled(Ruling::Evidence(marks)) => {
                [marks.correctness, marks.relevance, marks.sufficiency].map(Some)
            }
            _ => [None; 3],
        };
        for (name, mark) in EVIDENCE_MARKS.into_iter().zip(marks) {
            give(name, mark.map_or(Score::Unjudged, |mark| Score::Value(f64::from(mark) / 100.0)));
        }
    }
    let of_summary = summary_scores(index, item, record).into_iter();
    scores.extend(of_summary.filter(|(metric, _)| OVER_ALL_LEVELS.contains(&metric.name())));
    scores
}

/// Returns the names of the metrics that judges give, those that [`applies_judged`] knows.
pub fn judged_metrics() -> impl Iterator<Item = &'static str> {
    [JUDGED_ACCURACY, ACCURACY_STRICT, ACCURACY_TOLERANT].into_iter().chain(OVER_ALL_LEVELS).chain(EVIDENCE_MARKS)
}

/// Returns how a metric that judges give applies to an item; `None` of one that they do not give.
pub fn applies_judged(metric: &str, item: &Item) -> Option<Applies> {
    let once = |applies: bool| if applies { Applies::Once } else { Applies::Not };
    let key_facts = item.key_facts.as_ref().filter(|_| item.task == Task::Summary);
    Some(match metric {
        JUDGED_ACCURACY => once(item.is_open()),
        ACCURACY_STRICT | ACCURACY_TOLERANT => once(has_gold(item)),
        RECALL => key_facts.map_or(Applies::Not, |facts| Applies::OutOf(linearised(facts).len() as u32)),
        FAITHFULNESS => key_facts.map_or(Applies::Not, |_| Applies::OutOfAnswer),
        RECALL_FAITHFULNESS => once(key_facts.is_some()),
        _ if EVIDENCE_MARKS.contains(&metric) => once(!item.evidence.is_empty()),
        _ => return None,
    })
}

fn has_gold(item: &Item) -> bool {
    match item.task {
        Task::Choice => item.correct.is_some(),
        Task::Generative => item.has_told_answers(),
        Task::Summary => false,
    }
}

fn yes(yes: bool) -> Score {
    Score::Value(f64::from(u8::from(yes)))
}

/// HAMLET's scores of a summary by level and its shares of errors, under the metrics of [`hamlet::scores`] and
/// [`hamlet::error_shares`]; [`Score::Unjudged`] where a judge was to decide and did not, or not yet. Without a summary no
/// key fact is stated and there is no sentence to be faithful.
pub fn summary_scores(index: &JudgementIndex<'_>, item: &Item, record: &Record) -> BTreeMap<MetricName, Score> {
    let Some(key_facts) = item.key_facts.as_ref().filter(|_| item.task == Task::Summary) else {
        return BTreeMap::new();
    };
    let asked = |judge: Judge| index.judging().panel(judge).is_some();
    let (aligned, verified) = (asked(Judge::AlignKeyFacts), asked(Judge::VerifyFacts));
    let verdicts = verdicts(index, key_facts, record);
    let shares = if verified { hamlet::error_shares(&verdicts) } else { BTreeMap::new() };
    let is_asked = |metric: &MetricName| match metric.name() {
        RECALL_FAITHFULNESS => aligned && verified,
        name if name.starts_with(RECALL) => aligned,
        _ => verified,
    };
    let mut scores = hamlet::scores(&verdicts);
    if !matches!(record.outcome, Outcome::Answered { .. }) {
        // It counts as 0 under both, and so under their mean, where no trial has an answer as well.
        scores.entry(RECALL_FAITHFULNESS.into()).or_insert(Score::Value(0.0));
    }
    scores.into_iter().filter(|(metric, _)| is_asked(metric)).chain(shares).collect()
}

/// Returns how the scores of [`summary_scores`] apply to an item; empty where it has no key facts.
pub fn applies_to_summaries(item: &Item) -> BTreeMap<MetricName, Applies> {
    let levels = item.key_facts.as_ref().map(levels).unwrap_or_default();
    hamlet::applies(&levels)
}

fn levels(key_facts: &KeyFacts) -> Vec<Level> {
    linearised(key_facts).into_iter().map(|(level, _)| level).collect()
}

fn verdicts(index: &JudgementIndex<'_>, key_facts: &KeyFacts, record: &Record) -> SummaryVerdicts {
    let levels = levels(key_facts);
    if !matches!(record.outcome, Outcome::Answered { .. }) {
        let facts = levels.into_iter().map(|level| FactVerdict { level, matched: false }).collect();
        return SummaryVerdicts { facts: Some(facts), sentences: Some(Vec::new()) };
    }
    let subject = Subject::from(&record.key);
    let stated = match index.ruling(&subject, Judge::AlignKeyFacts) {
        PanelVerdict::Ruled(Ruling::KeyFacts { facts }) => Some(facts),
        _ => None,
    };
    let sentences = match index.ruling(&subject, Judge::VerifyFacts) {
        PanelVerdict::Ruled(Ruling::Sentences { sentences }) => {
            sentence_verdicts(&levels, stated.as_deref().unwrap_or_default(), &sentences)
        }
        _ => None,
    };
    SummaryVerdicts { facts: stated.map(|stated| fact_verdicts(&levels, &stated)), sentences }
}

/// Returns one verdict a fact of the tree; a fact that the judge skipped is not stated.
fn fact_verdicts(levels: &[Level], stated: &[Option<FactRuling>]) -> Vec<FactVerdict> {
    let is_stated = |at: usize| stated.get(at).and_then(Option::as_ref).is_some_and(|fact| fact.stated);
    levels.iter().enumerate().map(|(at, level)| FactVerdict { level: *level, matched: is_stated(at) }).collect()
}

/// A sentence has the levels of the facts that it states. `None` if the judge skipped a sentence.
fn sentence_verdicts(
    levels: &[Level],
    stated: &[Option<FactRuling>],
    verified: &[Option<SentenceRuling>],
) -> Option<Vec<SentenceVerdict>> {
    let levels_of = |number: usize| -> BTreeSet<Level> {
        let states = |fact: &Option<FactRuling>| {
            fact.as_ref().is_some_and(|fact| fact.stated && fact.sentences.contains(&number))
        };
        levels.iter().zip(stated).filter(|(_, fact)| states(fact)).map(|(level, _)| *level).collect()
    };
    let verdict = |(at, sentence): (usize, &Option<SentenceRuling>)| {
        let category = sentence.as_ref()?.category;
        Some(SentenceVerdict { levels: levels_of(at + 1), category })
    };
    verified.iter().enumerate().map(verdict).collect()
}
