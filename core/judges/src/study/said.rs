//! Answers of people on the page of a study, and the labels that come of several people's.

use super::{Asks, Study, UnitKey};
use crate::human::LABEL_COLUMNS;
use closeread_eval::saved::utf8;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The content of the file that the page saves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonAnswers {
    /// Id of the study.
    pub study: String,
    /// Name of the person who answered.
    pub rater: String,
    /// Answers by name of the unit.
    pub answers: BTreeMap<String, PersonAnswer>,
}

/// A person's answer to a unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonAnswer {
    /// State in which the unit ended.
    pub state: State,
    /// The label, or the place of the option from 0; empty for an answer in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// Answer in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Seconds that the unit was open, pauses left out; see [`time_taken`](Self::time_taken).
    #[serde(default)]
    pub seconds: f64,
    /// Note of the person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// The state in which a unit ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The unit ended with an answer or a label.
    #[default]
    Answered,
    /// The person cannot say, or gave up.
    GaveUp,
    /// The clock ran out.
    TimedOut,
}

/// The reason why people's answers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SaidError {
    /// The file is not what a page saves.
    #[error("not what the page of a study saves ({0}): expected a JSON object with study, rater and answers")]
    Form(String),
    /// The answers are of another page.
    #[error("the answers are of the study `{there}`, and this is `{here}`: name the folder that they belong to")]
    Other {
        /// Id of the study in the answers.
        there: String,
        /// Id of the study in the folder.
        here: String,
    },
    /// The answers have no name of a person.
    #[error("nobody's name stands in it: write one into `rater`")]
    Nameless,
}

impl PersonAnswers {
    /// Reads what a page saves.
    ///
    /// # Errors
    /// [`SaidError`]: it cannot be read, is of another study, or has nobody's name.
    pub fn read(bytes: &[u8], study: &Study) -> Result<Self, SaidError> {
        let read: Self = serde_json::from_slice(&utf8(bytes)).map_err(|error| SaidError::Form(error.to_string()))?;
        if read.study != study.id {
            return Err(SaidError::Other { there: read.study, here: study.id.clone() });
        }
        if read.rater.trim().is_empty() {
            return Err(SaidError::Nameless);
        }
        Ok(read)
    }

    /// What is wrong with single answers, a line each: units that the study does not have, and times below zero.
    pub fn problems(&self, keys: &[UnitKey]) -> Vec<String> {
        let unknown = self.answers.keys().filter(|name| !keys.iter().any(|key| key.unit == **name));
        let unknown = unknown.map(|name| format!("{}: there is no unit `{name}` in the study", self.rater));
        let backwards = self.answers.iter().filter(|(_, answer)| answer.seconds < 0.0).map(|(name, answer)| {
            format!("{}, `{name}`: took {} seconds: expected 0 or more; counted as 0", self.rater, answer.seconds)
        });
        unknown.chain(backwards).collect()
    }
}

impl PersonAnswer {
    /// Seconds that the unit was open, at least 0.
    pub fn time_taken(&self) -> f64 {
        self.seconds.max(0.0)
    }
}

/// Makes of several people's answers the rows of a file of labels, head first, and a list of what cannot be used. Units
/// on which nobody could say anything have no row.
pub fn label_rows(keys: &[UnitKey], people: &[PersonAnswers]) -> (Vec<Vec<String>>, Vec<String>) {
    let mut rows = vec![LABEL_COLUMNS.map(str::to_owned).to_vec()];
    let mut problems = Vec::new();
    for person @ PersonAnswers { rater, answers, .. } in people {
        problems.extend(person.problems(keys));
        for key in keys.iter().filter(|key| key.asks != Asks::Answer) {
            let Some(answer) = answers.get(&key.unit).filter(|answer| answer.state == State::Answered) else {
                continue;
            };
            if !key.asks.labels().contains(&answer.label.as_str()) {
                let expected = key.asks.labels().join(", ");
                problems.push(format!("{rater}, `{}`: the label is `{}`: expected {expected}", key.unit, answer.label));
                continue;
            }
            rows.push(row(key, rater, &answer.label));
        }
    }
    (rows, problems)
}

/// Makes a row of [`LABEL_COLUMNS`].
pub fn row(key: &UnitKey, rater: &str, label: &str) -> Vec<String> {
    let trial = key.trial.as_ref();
    let part = |asks: Asks| key.part.filter(|_| key.asks == asks).map_or_else(String::new, |part| part.to_string());
    let of = |text: Option<String>| text.unwrap_or_default();
    vec![
        key.name(),
        key.group().to_owned(),
        if key.asks == Asks::Fault { "fault".to_owned() } else { String::new() },
        rater.to_owned(),
        label.to_owned(),
        key.item.clone(),
        of(trial.map(|trial| trial.method.clone())),
        of(trial.map(|trial| trial.model.clone())),
        of(trial.and_then(|trial| trial.budget).map(|budget| budget.to_string())),
        of(trial.map(|trial| trial.repeat.to_string())),
        part(Asks::Sentence),
        part(Asks::KeyFact),
        key.aspect.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrialPlace;

    #[test]
    fn labels_are_rows_and_what_is_no_label_is_named() {
        let trial = TrialPlace { method: "m".into(), model: "x".into(), budget: Some(500), repeat: 0 };
        let key = |unit: &str, asks, part| UnitKey {
            unit: unit.into(),
            asks,
            item: "q".into(),
            trial: Some(trial.clone()),
            part,
            aspect: String::new(),
        };
        let keys =
            [key("u1", Asks::Correctness, None), key("u2", Asks::KeyFact, Some(2)), key("u3", Asks::Sentence, Some(1))];
        let study = Study { format: 1, id: "s".into(), title: String::new(), minutes: None, units: vec![] };
        let file = br#"{"study":"s","rater":"ann","answers":{"u1":{"state":"answered","label":"correct","seconds":3},
            "u2":{"state":"answered","label":"perhaps"},"u3":{"state":"gave_up"},"u9":{"state":"answered","label":"no"}}}"#;
        let people = [PersonAnswers::read(file, &study).unwrap()];
        let (rows, problems) = label_rows(&keys, &people);
        assert_eq!(rows[1], ["q m@500 x 0", "x", "", "ann", "correct", "q", "m", "x", "500", "0", "", "", ""]);
        assert_eq!((rows.len(), problems.len()), (2, 2));
        assert!(problems[1].contains("the label is `perhaps`: expected yes, no"), "{problems:?}");
        assert_eq!(row(&keys[1], "b", "yes")[..3], ["q m@500 x 0 #2", "recall", ""]);
        let other = Study { id: "t".into(), ..study.clone() };
        assert!(
            PersonAnswers::read(file, &other).unwrap_err().to_string().contains("of the study `s`, and this is `t`")
        );
        let back =
            br#"{"study":"s","rater":"ann","answers":{"u1":{"state":"answered","label":"correct","seconds":-3}}}"#;
        let back = PersonAnswers::read(back, &study).unwrap();
        assert_eq!(back.answers["u1"].time_taken(), 0.0);
        let (rows, problems) = label_rows(&keys, &[back]);
        assert_eq!(
            (rows.len(), &*problems),
            (2, &["ann, `u1`: took -3 seconds: expected 0 or more; counted as 0".into()][..])
        );
        let resaved = [&b"\xEF\xBB\xBF"[..], file].concat();
        assert_eq!(PersonAnswers::read(&resaved, &study), PersonAnswers::read(file, &study), "as an editor saves it");
        assert!(PersonAnswers::read(b"[]", &study).unwrap_err().to_string().contains("expected a JSON object"));
    }
}
