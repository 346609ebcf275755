//! From verdicts to scores: what the tables of the papers and of a report are made of.
//!
//! A trial that ended without an answer is wrong without being judged; an answer on which the panel is silent, or not yet
//! complete, has no score and is in no mean.

use super::{ByRule, FactRuling, Joint, Judge, Judging, Ruling, SentenceRuling, Standing, Subject, linearised};
use crate::novelqa::EVIDENCE_MARKS;
use closeread_eval::Outcome;
use closeread_eval::hamlet;
use closeread_eval::hamlet::{FactVerdict, Level, Perspective, SentenceVerdict, SummaryEvaluation};
use closeread_eval::is_chinese;
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
const OVER_ALL_LEVELS: [&str; 3] = ["recall", "faithfulness", "recall_faithfulness"];
/// The label that [`Judge::ClassifyQuestion`] fills in.
const QUESTION_TYPE: &str = "question_type";

/// Adds to each record the scores that the judges gave it: [`JUDGED_ACCURACY`], both readings of the rule, NovelQA's
/// marks of evidence and HAMLET's recall and faithfulness, each in 0..=1.
pub fn score(judging: &Judging, items: &[Item], records: &mut [Record]) {
    let standing = judging.standing();
    let items: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    for record in records {
        if let Some(item) = items.get(record.key.item.as_str()) {
            record.scores.extend(scores(&standing, item, record));
        }
    }
}

/// Writes the type of each question that was classified into its labels, unless the data set gives one.
pub fn label_questions(judging: &Judging, items: &mut [Item]) {
    let standing = judging.standing();
    for item in items.iter_mut().filter(|item| !item.labels.contains_key(QUESTION_TYPE)) {
        let subject = Subject::question(&item.id);
        if let Joint::Ruled(Ruling::QuestionType { question_type }) = standing.ruling(&subject, Judge::ClassifyQuestion)
        {
            item.labels.insert(QUESTION_TYPE.to_owned(), question_type.name().to_owned());
        }
    }
}

fn scores(standing: &Standing<'_>, item: &Item, record: &Record) -> BTreeMap<String, f64> {
    let subject = Subject::from(&record.key);
    let answered = matches!(record.outcome, Outcome::Answered { .. });
    let mut scores = BTreeMap::new();
    // What was not asked is neither right nor wrong.
    if matches!(record.outcome, Outcome::NotAsked { .. }) {
        return scores;
    }
    let mut give = |name: &str, score: Option<f64>| scores.extend(score.map(|score| (name.to_owned(), score)));
    if item.task == Task::Generative && !item.answers.is_empty() {
        give(JUDGED_ACCURACY, correctness(standing, &subject, answered));
    }
    let has_gold = match item.task {
        Task::Choice => item.correct.is_some(),
        Task::Generative => !item.answers.is_empty(),
        Task::Summary => false,
    };
    if has_gold && standing.judging().panel(Judge::Rule).is_some() {
        let readable = answered || matches!(record.outcome, Outcome::Unparsed { .. });
        let by_rule = match standing.ruling(&subject, Judge::Rule) {
            Joint::Ruled(Ruling::Rule(ByRule { strict, tolerant, .. })) => Some((strict, tolerant)),
            _ => (!readable).then_some((false, false)),
        };
        give(ACCURACY_STRICT, by_rule.map(|(strict, _)| share(strict)));
        give(ACCURACY_TOLERANT, by_rule.map(|(_, tolerant)| share(tolerant)));
    }
    if let Joint::Ruled(Ruling::Evidence(marks)) = standing.ruling(&subject, Judge::NovelQaEvidence) {
        let marks = [marks.correctness, marks.relevance, marks.sufficiency];
        for (name, mark) in EVIDENCE_MARKS.into_iter().zip(marks) {
            give(name, Some(f64::from(mark) / 100.0));
        }
    }
    if let Some(judged) = summary(standing, item, record) {
        scores.extend(hamlet::scores(&judged).into_iter().filter(|(name, _)| OVER_ALL_LEVELS.contains(&name.as_str())));
    }
    scores
}

fn share(yes: bool) -> f64 {
    f64::from(u8::from(yes))
}

fn correctness(standing: &Standing<'_>, subject: &Subject, answered: bool) -> Option<f64> {
    let (panel, judge) = standing.judging().correctness()?;
    if !answered {
        return Some(0.0);
    }
    match standing.joint(panel, subject, judge) {
        Joint::Ruled(Ruling::Correctness { correct }) => Some(share(correct)),
        _ => None,
    }
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
fn summary(standing: &Standing<'_>, item: &Item, record: &Record) -> Option<SummaryEvaluation> {
    let key_facts = item.key_facts.as_ref().filter(|_| item.task == Task::Summary)?;
    let judging = standing.judging();
    judging.panel(Judge::AlignKeyFacts).or_else(|| judging.panel(Judge::VerifyFacts))?;
    let levels: Vec<Level> = linearised(key_facts).into_iter().map(|(level, _)| level).collect();
    let subject = Subject::from(&record.key);
    let (mut facts, mut sentences, mut n_words) = (Vec::new(), Vec::new(), 0);
    if let Outcome::Answered { answer, .. } = &record.outcome {
        let stated = match standing.ruling(&subject, Judge::AlignKeyFacts) {
            Joint::Ruled(Ruling::KeyFacts { facts }) => facts,
            _ => Vec::new(),
        };
        let verified = match standing.ruling(&subject, Judge::VerifyFacts) {
            Joint::Ruled(Ruling::Sentences { sentences }) => sentences,
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
        book: item.documents.join("\n"),
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
