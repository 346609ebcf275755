//! From verdicts to scores: what the tables of the papers and of a report are made of.
//!
//! What a trial without an answer counts for, and an answer on which the panel is silent or not yet complete, is said by
//! [`observations`](closeread_eval::observations) alone.

use super::{
    ByRule, FactRuling, Judge, JudgementIndex, Judging, PanelVerdict, Ruling, SentenceRuling, Subject, linearised,
};
use crate::novelqa::EVIDENCE_MARKS;
use closeread_eval::Outcome;
use closeread_eval::hamlet;
use closeread_eval::hamlet::{FactVerdict, Level, Measure, Perspective, Scope, SentenceVerdict, SummaryEvaluation};
use closeread_eval::is_chinese;
use closeread_eval::observations::{Applies, MetricName, Score};
use closeread_eval::{Item, Task};
use closeread_methods::record::Record;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Name of the score that a judge of correct answers gives: 0 or 1.
pub const JUDGED_ACCURACY: &str = "judged_accuracy";
/// Name of the rule's strict reading.
pub const ACCURACY_STRICT: &str = "accuracy_strict";
/// Name of the rule's tolerant reading.
pub const ACCURACY_TOLERANT: &str = "accuracy_tolerant";
/// HAMLET's scores of a trial; those by level stand in HAMLET's tables ([`evaluations`]).
const OVER_ALL_LEVELS: [&str; 3] = [RECALL, FAITHFULNESS, RECALL_FAITHFULNESS];
/// Share of the key facts that a summary states.
const RECALL: &str = "recall";
/// Share of a summary's sentences without an error.
const FAITHFULNESS: &str = "faithfulness";
/// The mean of both.
const RECALL_FAITHFULNESS: &str = "recall_faithfulness";
/// The label that [`Judge::ClassifyQuestion`] fills in.
const QUESTION_TYPE: &str = "question_type";

/// Adds to each record the scores that the judges gave it: [`JUDGED_ACCURACY`], both readings of the rule, NovelQA's
/// marks of evidence and HAMLET's recall and faithfulness, each in 0..=1.
pub fn score(judging: &Judging, items: &[Item], records: &mut [Record]) {
    let standing = judging.standing();
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    for record in records {
        if let Some(item) = items.get(record.key.item.as_str()) {
            let scores = judged_scores(&standing, item, record);
            record.scores.extend(scores.into_iter().filter_map(|(metric, score)| {
                let value = score.value(&metric)?;
                Some((String::from(metric), value))
            }));
        }
    }
}

/// Writes the type of each question that was classified into its labels, unless the data set gives one.
pub fn label_questions(judging: &Judging, items: &mut [Item]) {
    let standing = judging.standing();
    for item in items.iter_mut().filter(|item| !item.labels.contains_key(QUESTION_TYPE)) {
        let subject = Subject::question(&item.id);
        if let PanelVerdict::Ruled(Ruling::QuestionType { question_type }) =
            standing.ruling(&subject, Judge::ClassifyQuestion)
        {
            item.labels.insert(QUESTION_TYPE.to_owned(), question_type.name().to_owned());
        }
    }
}

/// What the judges say of a trial: scores under the metrics that are theirs; [`Score::Unjudged`] where a panel was to
/// decide and did not, or not yet. What ended without an answer is wrong without being judged.
pub fn judged_scores(standing: &JudgementIndex<'_>, item: &Item, record: &Record) -> BTreeMap<MetricName, Score> {
    let subject = Subject::from(&record.key);
    let answered = matches!(record.outcome, Outcome::Answered { .. });
    let mut scores = BTreeMap::new();
    if matches!(record.outcome, Outcome::NotAsked { .. }) {
        return scores;
    }
    let mut give = |name: &str, score: Score| scores.insert(MetricName::from(name), score);
    if let Some((panel, judge)) = standing.judging().correctness().filter(|_| is_open(item)) {
        let verdict = match standing.joint(panel, &subject, judge) {
            _ if !answered => yes(false),
            PanelVerdict::Ruled(Ruling::Correctness { correct }) => yes(correct),
            _ => Score::Unjudged,
        };
        give(JUDGED_ACCURACY, verdict);
    }
    if standing.judging().panel(Judge::Rule).is_some() && has_gold(item) {
        let (strict, tolerant) = match standing.ruling(&subject, Judge::Rule) {
            _ if !answered => (yes(false), yes(false)),
            PanelVerdict::Ruled(Ruling::Rule(ByRule { strict, tolerant, .. })) => (yes(strict), yes(tolerant)),
            _ => (Score::Unjudged, Score::Unjudged),
        };
        give(ACCURACY_STRICT, strict);
        give(ACCURACY_TOLERANT, tolerant);
    }
    if let PanelVerdict::Ruled(Ruling::Evidence(marks)) = standing.ruling(&subject, Judge::NovelQaEvidence) {
        let marks = [marks.correctness, marks.relevance, marks.sufficiency];
        for (name, mark) in EVIDENCE_MARKS.into_iter().zip(marks) {
            give(name, Score::Value(f64::from(mark) / 100.0));
        }
    }
    if let Some(judged) = summary(standing, item, record) {
        for (name, value) in hamlet::scores(&judged) {
            if OVER_ALL_LEVELS.contains(&name.as_str()) {
                give(&name, share(&name, &judged).unwrap_or(Score::Value(value)));
            }
        }
    }
    scores
}

/// How a metric that judges give applies to an item; `None` of one that they do not give.
pub fn applies_judged(metric: &str, item: &Item) -> Option<Applies> {
    let once = |applies: bool| if applies { Applies::Once } else { Applies::Not };
    let key_facts = item.key_facts.as_ref().filter(|_| item.task == Task::Summary);
    Some(match metric {
        JUDGED_ACCURACY => once(is_open(item)),
        ACCURACY_STRICT | ACCURACY_TOLERANT => once(has_gold(item)),
        RECALL => key_facts.map_or(Applies::Not, |facts| Applies::OutOf(linearised(facts).len() as u32)),
        FAITHFULNESS => key_facts.map_or(Applies::Not, |_| Applies::OutOfAnswer),
        RECALL_FAITHFULNESS => once(key_facts.is_some()),
        _ if EVIDENCE_MARKS.contains(&metric) => once(!item.evidence.is_empty()),
        _ => return None,
    })
}

/// True of a question that a judge of correct answers can be asked about.
fn is_open(item: &Item) -> bool {
    item.task == Task::Generative && !item.answers.is_empty()
}

fn has_gold(item: &Item) -> bool {
    match item.task {
        Task::Choice => item.correct.is_some(),
        Task::Generative => !item.answers.is_empty(),
        Task::Summary => false,
    }
}

fn yes(yes: bool) -> Score {
    Score::Value(f64::from(u8::from(yes)))
}

/// A share over key facts or sentences, so that shares can be pooled.
fn share(metric: &str, judged: &SummaryEvaluation) -> Option<Score> {
    let measure = match metric {
        RECALL => Measure::Recall,
        FAITHFULNESS => Measure::Faithfulness,
        _ => return None,
    };
    let ratio = hamlet::ratio(judged, measure, Scope::All);
    Some(Score::Ratio { hit: ratio.count as u32, of: ratio.total as u32 })
}

/// The judged summaries of a run, for HAMLET's tables: every trial of an item with key facts whose label `perspective`
/// is one of the two. `name` says what stands as the model of a trial, `position` where the item's chunk stands in its
/// book, in 0..=1.
pub fn evaluations(
    judging: &Judging,
    items: &[Item],
    records: &[Record],
    name: impl Fn(&Record) -> String,
    position: impl Fn(&Item) -> Option<f64>,
) -> Vec<SummaryEvaluation> {
    let standing = judging.standing();
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let evaluation = |record: &Record| {
        let item = items.get(record.key.item.as_str())?;
        let perspective = item.labels.get("perspective")?;
        let perspective = Perspective::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(perspective))?;
        let judged = summary(&standing, item, record)?;
        Some(SummaryEvaluation { perspective, model: name(record), position: position(item), ..judged })
    };
    records.iter().filter_map(evaluation).collect()
}

/// What the judges said of a summary; `None` where nothing is said. Without a summary no key fact is stated and there is
/// no sentence to be faithful. What the judges left out of their lists is in no ratio.
fn summary(standing: &JudgementIndex<'_>, item: &Item, record: &Record) -> Option<SummaryEvaluation> {
    let key_facts = item.key_facts.as_ref().filter(|_| item.task == Task::Summary)?;
    let judging = standing.judging();
    judging.panel(Judge::AlignKeyFacts).or_else(|| judging.panel(Judge::VerifyFacts))?;
    let levels: Vec<Level> = linearised(key_facts).into_iter().map(|(level, _)| level).collect();
    let subject = Subject::from(&record.key);
    let (mut facts, mut sentences, mut n_words) = (Vec::new(), Vec::new(), 0);
    if let Outcome::Answered { answer, .. } = &record.outcome {
        let stated = match standing.ruling(&subject, Judge::AlignKeyFacts) {
            PanelVerdict::Ruled(Ruling::KeyFacts { facts }) => facts,
            _ => Vec::new(),
        };
        let verified = match standing.ruling(&subject, Judge::VerifyFacts) {
            PanelVerdict::Ruled(Ruling::Sentences { sentences }) => sentences,
            _ => Vec::new(),
        };
        facts = fact_verdicts(&levels, &stated);
        sentences = sentence_verdicts(&levels, &stated, &verified);
        n_words = if is_chinese(item) {
            answer.chars().filter(|c| c.is_alphanumeric()).count()
        } else {
            answer.split_whitespace().count()
        };
        if facts.is_empty() && sentences.is_empty() {
            return None;
        }
    } else {
        facts.extend(levels.into_iter().map(|level| FactVerdict { level, matched: false }));
    }
    Some(SummaryEvaluation {
        item: item.id.clone(),
        book: item.cluster(),
        model: record.key.model.clone(),
        perspective: Perspective::Narrative,
        position: None,
        facts,
        sentences,
        n_words,
    })
}

fn fact_verdicts(levels: &[Level], stated: &[Option<FactRuling>]) -> Vec<FactVerdict> {
    let verdict = |(level, fact): (&Level, &Option<FactRuling>)| {
        fact.as_ref().map(|fact| FactVerdict { level: *level, matched: fact.stated })
    };
    levels.iter().zip(stated).filter_map(verdict).collect()
}

/// A sentence has the levels of the facts that it states.
fn sentence_verdicts(
    levels: &[Level],
    stated: &[Option<FactRuling>],
    verified: &[Option<SentenceRuling>],
) -> Vec<SentenceVerdict> {
    let levels_of = |number: usize| -> BTreeSet<Level> {
        let stating = levels
            .iter()
            .zip(stated)
            .filter(|(_, fact)| fact.as_ref().is_some_and(|fact| fact.sentences.contains(&number)));
        stating.map(|(level, _)| *level).collect()
    };
    let verdict = |(at, sentence): (usize, &Option<SentenceRuling>)| {
        let sentence = sentence.as_ref()?;
        Some(SentenceVerdict { levels: levels_of(at + 1), category: sentence.category })
    };
    verified.iter().enumerate().filter_map(verdict).collect()
}
