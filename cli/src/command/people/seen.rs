//! The part of a study that is about answers which the run still has.

use super::folder::StudyFolder;
use closeread_eval::Outcome;
use closeread_judges::Subject;
use closeread_judges::study::{PersonAnswers, ShownAs, StudyUnit, UnitKey};
use closeread_methods::record::Record;
use std::collections::{HashMap, HashSet};

/// A study without the units whose answers the run no longer has: a run that was extended or made anew can have others under the
/// same names, and what people said is not about those.
pub(super) struct Seen {
    pub(super) keys: Vec<UnitKey>,
    pub(super) people: Vec<PersonAnswers>,
    /// A line for each unit that is left out.
    pub(super) left_out: Vec<String>,
}

impl Seen {
    /// Compares what people saw with the records of the run; without these all counts.
    pub(super) fn of(folder: &StudyFolder, people: &[PersonAnswers], records: Option<&[Record]>) -> Self {
        let answers = records.map(answers);
        let shown: HashMap<&str, &StudyUnit> = folder.study.units.iter().map(|unit| (unit.id.as_str(), unit)).collect();
        let is_there = |key: &UnitKey| {
            let Some(answers) = &answers else { return true };
            let subject = Subject { item: key.item.clone(), trial: key.trial.clone() };
            let answer = answers.get(&subject).copied().unwrap_or_default();
            shown.get(key.unit.as_str()).is_none_or(|unit| shows(unit, answer))
        };
        let (keys, changed): (Vec<UnitKey>, Vec<UnitKey>) = folder.keys.iter().cloned().partition(is_there);
        let units: HashSet<&str> = changed.iter().map(|key| key.unit.as_str()).collect();
        let mut people = people.to_vec();
        people.iter_mut().for_each(|person| person.answers.retain(|unit, _| !units.contains(unit.as_str())));
        let why = |key: &UnitKey| {
            format!("`{}` is left out: of {} the run no longer has the answer that people saw", key.unit, key.name())
        };
        Self { keys, people, left_out: changed.iter().map(why).collect() }
    }
}

fn answers(records: &[Record]) -> HashMap<Subject, &str> {
    let answered = records.iter().filter_map(|record| match &record.outcome {
        Outcome::Answered { answer, .. } => Some((Subject::from(&record.key), answer.as_str())),
        _ => None,
    });
    answered.collect()
}

/// Returns whether a unit shows this answer, or a sentence of it.
fn shows(unit: &StudyUnit, answer: &str) -> bool {
    unit.shows.iter().all(|shown| match shown.part {
        ShownAs::Answer | ShownAs::Summary => shown.text == answer,
        ShownAs::Sentence => answer.contains(&shown.text),
        _ => true,
    })
}
