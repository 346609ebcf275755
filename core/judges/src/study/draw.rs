//! Drawing of a study: what can be asked of people about a benchmark or about a run, and a sample of it.

use super::{Asks, Shown, ShownAs, StudyUnit, TextFile, UnitKey};
use crate::{JudgementIndex, PanelVerdict, Ruling, Subject, TrialPlace};
use closeread_eval::draw::{Draw, SelectError};
use closeread_eval::hamlet::linearised;
use closeread_eval::{Item, Outcome, Task};
use closeread_methods::record::Record;
use closeread_text::Language;
use closeread_text::sentence::{Rules, split};
use std::collections::{BTreeSet, HashMap};

/// The inputs of a drawing, besides items and records.
pub struct Drawing<'a> {
    /// Title and language of an item's work.
    pub work: &'a dyn Fn(&Item) -> (String, Language),
    /// The text that an item's key facts are about, where it is found.
    pub excerpt: &'a dyn Fn(&Item) -> Option<String>,
    /// Number of units that are drawn, by which label, or `method`, `model`, `budget`; all without.
    pub draw: Option<&'a Draw>,
}

/// The questions of these items, put to people in rounds: the open ones first, then those with options (NovelQA 4.2).
pub fn of_items(
    items: &[Item],
    work: impl Fn(&Item) -> (String, Language),
    texts: impl Fn(&str) -> Option<TextFile>,
) -> Vec<(StudyUnit, UnitKey)> {
    let rounds = [Task::Generative, Task::Choice];
    let asked = rounds.into_iter().flat_map(|task| items.iter().filter(move |item| item.task == task));
    let mut units = Vec::new();
    for item in asked {
        let (title, language) = work(item);
        let mut shows: Vec<Shown> = shown(ShownAs::Title, &title).into_iter().collect();
        shows.extend(shown(ShownAs::Question, &item.question));
        let options = if item.task == Task::Choice { item.options.clone() } else { Vec::new() };
        let texts = item.documents.iter().filter_map(|id| texts(id)).collect();
        let key = key(Asks::Answer, item, None, None);
        let language = language.code().to_owned();
        units.push((StudyUnit { id: String::new(), asks: Asks::Answer, language, shows, options, texts }, key));
    }
    numbered(units)
}

/// Returns what can be asked about the trials of a run, and of it a sample.
///
/// Of correctness and faults it is every answer to an open question, of faults those that are wrong: by the panel that
/// decides, where there is none by their main score. Of key facts and sentences it is every one of every summary.
///
/// # Errors
/// [`SelectError`] if fewer can be asked than are to be drawn, or nothing has the label.
pub fn of_run(
    asks: &[Asks],
    items: &[Item],
    records: &[Record],
    judging: &JudgementIndex<'_>,
    drawing: &Drawing<'_>,
) -> Result<Vec<(StudyUnit, UnitKey)>, SelectError> {
    let by_id: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut candidates: Vec<(UnitKey, &Item, &Record)> = Vec::new();
    for record in records {
        let Some(item) = by_id.get(record.key.item.as_str()).copied() else { continue };
        let Outcome::Answered { answer, .. } = &record.outcome else { continue };
        let trial = Subject::from(&record.key).trial;
        for asks in asks {
            let n = match asks {
                Asks::Correctness if item.is_open() => None,
                Asks::Fault if item.task != Task::Summary && is_wrong(item, record, judging) => None,
                Asks::KeyFact => item.key_facts.as_ref().map(|facts| linearised(facts).len()),
                Asks::Sentence if item.key_facts.is_some() => Some(sentences(answer, (drawing.work)(item).1).len()),
                _ => continue,
            };
            match n {
                None if matches!(asks, Asks::KeyFact) => {}
                None => candidates.push((key(*asks, item, trial.clone(), None), item, record)),
                Some(n) => {
                    candidates.extend((1..=n).map(|part| (key(*asks, item, trial.clone(), Some(part)), item, record)))
                }
            }
        }
    }
    if let Some(draw) = drawing.draw {
        let kept = drawn(&candidates, draw)?;
        candidates.retain(|(key, ..)| kept.contains(&name(key)));
    }
    // What one reads for one unit serves the next.
    candidates
        .sort_by(|(a, ..), (b, ..)| (a.asks, &a.item, &a.trial, a.part).cmp(&(b.asks, &b.item, &b.trial, b.part)));
    let unit = |(key, item, record): (UnitKey, &Item, &Record)| (asked(&key, item, record, drawing), key);
    Ok(numbered(candidates.into_iter().map(unit).collect()))
}

fn name(key: &UnitKey) -> String {
    format!("{} {}", key.asks, key.name())
}

/// The names of the units that the draw leaves: those with the lots of their names, in each value of the label its share.
fn drawn(candidates: &[(UnitKey, &Item, &Record)], draw: &Draw) -> Result<BTreeSet<String>, SelectError> {
    let lot = |(key, item, record): &(UnitKey, &Item, &Record)| {
        let mut lot = Item::new(name(key), "", "", item.task);
        lot.labels = item.labels.clone();
        let budget = record.key.budget.map(|budget| budget.to_string());
        let own = [
            ("method", Some(record.key.method.clone())),
            ("model", Some(record.key.model.clone())),
            ("budget", budget),
        ];
        lot.labels.extend(own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        lot.labels.insert("asks".to_owned(), key.asks.name().to_owned());
        lot
    };
    let mut lots: Vec<Item> = candidates.iter().map(lot).collect();
    draw.sample(&mut lots)?;
    Ok(lots.into_iter().map(|lot| lot.id).collect())
}

fn key(asks: Asks, item: &Item, trial: Option<TrialPlace>, part: Option<usize>) -> UnitKey {
    let aspect = item.labels.get("aspect").cloned().unwrap_or_default();
    UnitKey { unit: String::new(), asks, item: item.id.clone(), trial, part, aspect }
}

/// Names the units by their place.
fn numbered(mut units: Vec<(StudyUnit, UnitKey)>) -> Vec<(StudyUnit, UnitKey)> {
    for (at, (unit, key)) in units.iter_mut().enumerate() {
        unit.id = format!("u{:04}", at + 1);
        key.unit.clone_from(&unit.id);
    }
    units
}

fn is_wrong(item: &Item, record: &Record, judging: &JudgementIndex<'_>) -> bool {
    if item.task == Task::Choice {
        return matches!(&record.outcome, Outcome::Answered { choice, .. } if *choice != item.correct && item.correct.is_some());
    }
    match by_panel(record, judging) {
        Some(PanelVerdict::Ruled(Ruling::Correctness { correct })) => !correct,
        Some(_) => false,
        None => record.scores.values().all(|score| *score == 0.0) && !record.scores.is_empty(),
    }
}

/// The verdict of the panel that decides on correct answers, where there is one.
fn by_panel(record: &Record, judging: &JudgementIndex<'_>) -> Option<PanelVerdict> {
    let (panel, judge) = judging.judging().correctness()?;
    Some(judging.verdict(panel, &Subject::from(&record.key), judge))
}

/// Number of answers to open questions that the panel that decides has said nothing of: nobody knows whether they are wrong.
pub fn unjudged(items: &[Item], records: &[Record], judging: &JudgementIndex<'_>) -> usize {
    let open: BTreeSet<&str> = items.iter().filter(|item| item.is_open()).map(|item| item.id.as_str()).collect();
    let answers = records.iter().filter(|record| matches!(record.outcome, Outcome::Answered { .. }));
    let verdicts =
        answers.filter(|record| open.contains(record.key.item.as_str())).filter_map(|r| by_panel(r, judging));
    verdicts.filter(|verdict| !matches!(verdict, PanelVerdict::Ruled(Ruling::Correctness { .. }))).count()
}

fn sentences(text: &str, language: Language) -> Vec<&str> {
    split(text, Rules::of(language)).into_iter().map(|span| text[span.range()].trim()).collect()
}

fn shown(part: ShownAs, text: &str) -> Option<Shown> {
    (!text.trim().is_empty()).then(|| Shown { part, text: text.to_owned() })
}

fn asked(key: &UnitKey, item: &Item, record: &Record, drawing: &Drawing<'_>) -> StudyUnit {
    let (title, language) = (drawing.work)(item);
    let answer = match &record.outcome {
        Outcome::Answered { answer, .. } => answer.as_str(),
        _ => "",
    };
    let part = |texts: Vec<&str>| key.part.and_then(|part| texts.get(part - 1).copied()).unwrap_or_default().to_owned();
    let mut shows: Vec<Shown> = shown(ShownAs::Title, &title).into_iter().collect();
    let mut show = |part, text: &str| shows.extend(shown(part, text));
    match key.asks {
        Asks::Answer => show(ShownAs::Question, &item.question),
        Asks::Correctness | Asks::Fault => {
            show(ShownAs::Question, &item.question);
            let gold = item.answers.iter().map(String::as_str).chain(
                item.correct
                    .filter(|_| item.answers.is_empty())
                    .and_then(|at| item.options.get(at))
                    .map(String::as_str),
            );
            gold.for_each(|gold| show(ShownAs::Gold, gold));
            item.evidence.iter().for_each(|evidence| show(ShownAs::Evidence, &evidence.quote));
            show(ShownAs::Answer, answer);
        }
        Asks::KeyFact => {
            show(ShownAs::Summary, answer);
            let facts = item.key_facts.as_ref().map(linearised).unwrap_or_default();
            show(ShownAs::KeyFact, &part(facts.into_iter().map(|(_, fact)| fact).collect()));
        }
        Asks::Sentence => {
            show(ShownAs::Excerpt, &(drawing.excerpt)(item).unwrap_or_default());
            show(ShownAs::Sentence, &part(sentences(answer, language)));
        }
    }
    StudyUnit {
        id: String::new(),
        asks: key.asks,
        language: language.code().to_owned(),
        shows,
        options: Vec::new(),
        texts: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Judge, Judgement, JudgementKey, Judging, Panel, Verdict};
    use closeread_methods::record::TrialKey;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn record(item: &str, model: &str, answer: &str) -> Record {
        let key = TrialKey { item: item.into(), method: "m".into(), model: model.into(), budget: None, repeat: 0 };
        let outcome = Outcome::Answered { answer: answer.to_owned(), choice: None };
        let scores = BTreeMap::from([("f1".to_owned(), if answer == "yes" { 1.0 } else { 0.0 })]);
        Record { scores, ..Record::ended(key, outcome) }
    }

    fn item(id: &str) -> Item {
        let mut item = Item::new(id, "book", "Is it?", Task::Generative).label("aspect", "plot");
        item.answers = vec!["yes".to_owned()];
        item
    }

    fn drawn_of(asks: Asks, draw: Option<&Draw>) -> Vec<(StudyUnit, UnitKey)> {
        let items = ["a", "b", "c", "d"].map(item);
        let records: Vec<Record> = ["a", "b", "c", "d"]
            .iter()
            .flat_map(|id| ["x", "y"].map(|model| record(id, model, if *id == "a" { "no" } else { "yes" })))
            .collect();
        let work = |_: &Item| ("Book".to_owned(), Language::ENGLISH);
        let drawing = Drawing { work: &work, excerpt: &|_| None, draw };
        of_run(&[asks], &items, &records, &Judging::default().index(), &drawing).unwrap()
    }

    #[test]
    fn a_draw_from_a_run_has_its_size_and_the_shares_of_the_models() {
        let draw = Draw { n: 4, by: Some("model".to_owned()), seed: 3 };
        let units = drawn_of(Asks::Correctness, Some(&draw));
        assert_eq!(units.iter().filter(|(_, key)| key.group() == "x").count(), 2);
        assert_eq!((units.len(), units[3].0.id.as_str(), units[3].1.unit.as_str()), (4, "u0004", "u0004"));
        assert_eq!(units, drawn_of(Asks::Correctness, Some(&draw)));
        assert!(units.iter().all(|(unit, _)| unit.shows.iter().any(|shown| shown.part == ShownAs::Gold)));
    }

    #[test]
    fn faults_are_asked_of_wrong_answers_alone() {
        let units = drawn_of(Asks::Fault, None);
        assert_eq!(units.iter().map(|(_, key)| key.name()).collect::<Vec<_>>(), ["a m x 0", "a m y 0"]);
        assert_eq!(units[0].1.aspect, "plot");
    }

    #[test]
    fn an_answer_without_a_verdict_of_the_panel_is_not_taken_for_wrong() {
        let panel: Panel = serde_json::from_value(json!({"models": ["p/j"], "votes": 1, "rule": "majority",
            "paper": "saga_scale", "temperature": 0.0, "max_output_tokens": 9, "prompts": {}}))
        .unwrap();
        let records = [record("a", "x", "no"), record("a", "y", "no")];
        let key = JudgementKey {
            subject: Subject::from(&records[0].key),
            judge: Judge::SagaScale,
            judge_model: "p/j".into(),
            vote: 0,
            setup: panel.setup(Judge::SagaScale, "p/j"),
        };
        let verdict = Verdict::Ruled { ruling: Ruling::Correctness { correct: false } };
        let judgements = vec![Judgement { key, verdict, calls: Vec::new(), blocked_tokens: None }];
        let judging = Judging { judgements, panels: vec![panel] };
        let work = |_: &Item| ("Book".to_owned(), Language::ENGLISH);
        let drawing = Drawing { work: &work, excerpt: &|_| None, draw: None };
        let units = of_run(&[Asks::Fault], &[item("a")], &records, &judging.index(), &drawing).unwrap();
        assert_eq!(units.iter().map(|(_, key)| key.name()).collect::<Vec<_>>(), ["a m x 0"]);
        assert_eq!(unjudged(&[item("a")], &records, &judging.index()), 1);
        assert_eq!(unjudged(&[item("a")], &records, &Judging::default().index()), 0);
    }

    #[test]
    fn open_questions_come_before_those_with_options_and_no_gold_is_shown() {
        let mut choice = item("c");
        (choice.task, choice.options, choice.correct) = (Task::Choice, vec!["yes".into(), "no".into()], Some(0));
        let units = of_items(
            &[choice, item("a")],
            |_| (String::new(), Language::ENGLISH),
            |id| Some(TextFile { title: id.to_owned(), path: format!("texts/{id}.txt") }),
        );
        assert_eq!(units.iter().map(|(_, key)| key.item.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!((units[1].0.options.len(), units[1].0.texts.len()), (2, 1));
        assert!(units.iter().flat_map(|(unit, _)| &unit.shows).all(|shown| shown.part != ShownAs::Gold));
    }
}
