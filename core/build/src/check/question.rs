//! Questions to people, their answers, and what these say of the filters.

use super::forms::Written;
use closeread_eval::saved::utf8;
use closeread_metrics::random::SplitMix64;
use closeread_table::{Table, Value};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A question to a person, answered by yes or no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Name of the question, unique in a build.
    pub id: String,
    /// Group that the answer is counted under.
    pub group: String,
    /// The unit it is about; questions about the same stand together.
    pub about: String,
    /// The text to read first.
    pub context: String,
    /// Lines that show what is to be judged.
    pub shows: Vec<String>,
    /// The question.
    pub asks: String,
    /// Answer of the pipeline; it is not on the page.
    pub expected: bool,
}

/// The answers that a person ticked: the content of the file that the page exports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckAnswers {
    /// Name of the check, as the page has it.
    pub check: String,
    /// Name of the person who answered; may be empty.
    #[serde(default)]
    pub who: String,
    /// `yes`, `no` or `unsure` by the name of the question.
    pub answers: BTreeMap<String, String>,
    /// Notes of the person, by the name of the question.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
    /// The forms that the person filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<Written>,
}

/// The reason why answers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The file is not what a page exports.
    #[error("not what a check page exports ({0}): expected a JSON object with check and answers")]
    Form(String),
    /// The answers are of another page.
    #[error("the answers are of the check `{there}`, and this build has the check `{here}`")]
    Other {
        /// Id of the check in the answers.
        there: String,
        /// Id of the check in the build.
        here: String,
    },
    /// Two files are of one person, who would count twice.
    #[error("two files are by `{0}`: write another `who` into one of them")]
    Twice(String),
}

/// The agreement of the pipeline with people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstFilter {
    /// Table with one row a group.
    pub table: Table,
    /// Answers to questions that there are not, and answers that are none.
    pub problems: Vec<String>,
    /// Questions that are not answered.
    pub open: usize,
}

impl Question {
    /// Criterion that the question asks for: the group, whatever the pipeline's label.
    pub fn criterion(&self) -> &str {
        self.group.split_once(LABEL).map_or(&self.group, |(criterion, _)| criterion)
    }

    /// Returns whether the pipeline labelled what is asked about, and did not just make it.
    pub fn is_of_label(&self) -> bool {
        self.group.contains(LABEL)
    }

    /// Name of what is judged, the same for every criterion that it is judged by.
    pub fn unit(&self) -> &str {
        let unit = self.id.strip_suffix(self.criterion()).and_then(|id| id.strip_suffix('/'));
        unit.unwrap_or(&self.id)
    }
}

/// What parts a group's criterion from the pipeline's label.
const LABEL: &str = ", label ";

/// Draws at most `n` questions by each criterion by the seed, in the order of `questions`: units are drawn, and each is asked
/// about by every criterion (SagaScale, section 3.2; HAMLET, section 4).
pub fn sample(questions: &[Question], n: usize, seed: u64) -> Vec<Question> {
    let units: BTreeSet<&str> = questions.iter().map(Question::unit).collect();
    let mut units: Vec<&str> = units.into_iter().collect();
    SplitMix64(seed).shuffle(&mut units);
    let rank: BTreeMap<&str, usize> = units.into_iter().enumerate().map(|(rank, unit)| (unit, rank)).collect();
    let mut places: Vec<usize> = (0..questions.len()).collect();
    places.sort_by_key(|&at| rank[questions[at].unit()]);
    let mut drawn: BTreeMap<&str, usize> = BTreeMap::new();
    places.retain(|&at| {
        let by_criterion = drawn.entry(questions[at].criterion()).or_default();
        *by_criterion += 1;
        *by_criterion <= n
    });
    places.sort_unstable();
    places.into_iter().map(|at| questions[at].clone()).collect()
}

/// Returns whether several groups are asked, each once, of every unit.
fn is_asked_alike(questions: &[Question]) -> bool {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for question in questions {
        groups.entry(&question.about).or_default().push(&question.group);
    }
    let mut of_units = groups.into_values();
    let Some(first) = of_units.next() else { return false };
    let is_set = first.iter().collect::<BTreeSet<_>>().len() == first.len();
    first.len() > 1 && is_set && of_units.all(|other| other == first)
}

impl CheckAnswers {
    /// Reads what a page exports.
    ///
    /// # Errors
    /// [`CheckError::Form`].
    pub fn read(bytes: &[u8]) -> Result<Self, CheckError> {
        serde_json::from_slice(&utf8(bytes)).map_err(|error| CheckError::Form(error.to_string()))
    }
}

/// Computes how often people say what the pipeline says, by group (HAMLET, Tables 2 and 3); `unsure` is in no share.
///
/// # Errors
/// [`CheckError::Other`] if the answers are of another check than `check`.
pub fn against_filter(
    check: &str,
    questions: &[Question],
    answers: &CheckAnswers,
) -> Result<AgainstFilter, CheckError> {
    if answers.check != check {
        return Err(CheckError::Other { there: answers.check.clone(), here: check.to_owned() });
    }
    let known: BTreeMap<&str, &Question> = questions.iter().map(|question| (question.id.as_str(), question)).collect();
    let mut problems = Vec::new();
    let mut groups: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut answered = 0;
    for (id, answer) in &answers.answers {
        let Some(question) = known.get(id.as_str()) else {
            problems.push(format!("`{id}`: there is no such question in the check"));
            continue;
        };
        let (n, agree, unsure) = groups.entry(question.group.as_str()).or_default();
        match answer.as_str() {
            "yes" | "no" => {
                *n += 1;
                *agree += usize::from((answer == "yes") == question.expected);
            }
            "unsure" => *unsure += 1,
            other => {
                problems.push(format!("`{id}`: the answer is `{other}`, expected yes, no or unsure"));
                continue;
            }
        }
        answered += 1;
    }
    let columns = ["group", "answers", "as the pipeline", "accuracy", "95%", "unsure"];
    let mut table = Table::new("check", "The pipeline against people", columns.map(str::to_owned).to_vec());
    let asks = |group: &str| questions.iter().any(|question| question.group == group);
    let is_hamlet = questions.iter().any(|question| question.group.ends_with(", label 1"));
    table.source = match (asks("answerability"), is_hamlet) {
        (true, _) => "SagaScale, section 3.2".to_owned(),
        (false, true) => "HAMLET, Table 2".to_owned(),
        (false, false) => String::new(),
    };
    table.notes.push("accuracy: share of answers that say what the pipeline says, with Wilson's interval".to_owned());
    if is_asked_alike(questions) {
        groups.insert("all of them", of_units(questions, answers));
    }
    for (group, (n, agree, unsure)) in groups {
        let [share, interval] = Value::share_and_interval(agree, n, "no answer");
        table.rows.push(vec![
            Value::text(group),
            Value::count(n),
            Value::count(agree),
            share,
            interval,
            Value::count(unsure),
        ]);
    }
    Ok(AgainstFilter { table, problems, open: questions.len() - answered.min(questions.len()) })
}

/// Units on which every answer is the pipeline's, of those whose answers all say yes or no; and those with one that does not.
fn of_units(questions: &[Question], answers: &CheckAnswers) -> (usize, usize, usize) {
    let mut units: BTreeMap<&str, Vec<Option<bool>>> = BTreeMap::new();
    for question in questions {
        let said = answers.answers.get(&question.id).map(String::as_str);
        let agrees = said.filter(|said| ["yes", "no"].contains(said)).map(|said| (said == "yes") == question.expected);
        units.entry(&question.about).or_default().push(agrees);
    }
    let whole: Vec<&Vec<Option<bool>>> = units.values().filter(|unit| unit.iter().all(Option::is_some)).collect();
    let agree = whole.iter().filter(|unit| unit.iter().all(|agrees| *agrees == Some(true))).count();
    (whole.len(), agree, units.len() - whole.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_every_unit_is_asked_the_same_units_are_drawn_and_all_is_asked_of_each() {
        let of = |unit: usize, group: &str| Question {
            about: unit.to_string(),
            ..question(&format!("{unit}/{group}"), group, true)
        };
        let all: Vec<Question> =
            (0..9).flat_map(|unit| ["answerability", "correctness"].map(|group| of(unit, group))).collect();
        let drawn = sample(&all, 4, 1);
        assert_eq!(drawn.len(), 8);
        assert!(drawn.chunks(2).all(|pair| pair[0].about == pair[1].about && pair[0].group != pair[1].group));
        let mut answers = CheckAnswers { check: "x".into(), ..CheckAnswers::default() };
        answers.answers.extend(drawn.iter().map(|question| (question.id.clone(), "yes".to_owned())));
        answers.answers.insert(drawn[0].id.clone(), "no".to_owned());
        answers.answers.insert(drawn[2].id.clone(), "unsure".to_owned());
        let found = against_filter("x", &drawn, &answers).unwrap();
        let rows: Vec<Vec<String>> =
            found.table.rows.iter().map(|row| row.iter().map(Value::shown).collect()).collect();
        assert_eq!(rows[0][..3], ["all of them", "3", "2"], "of four one is not decided, one has a no");
        assert_eq!(found.table.source, "SagaScale, section 3.2");
    }

    fn question(id: &str, group: &str, expected: bool) -> Question {
        let text = String::new;
        let (id, group) = (id.to_owned(), group.to_owned());
        Question { id, group, about: text(), context: text(), shows: Vec::new(), asks: text(), expected }
    }

    #[test]
    fn a_sample_is_of_every_group_and_the_same_for_a_seed() {
        let all: Vec<Question> =
            (0..40).map(|n| question(&n.to_string(), if n % 4 == 0 { "rare" } else { "often" }, true)).collect();
        let drawn = sample(&all, 5, 7);
        assert_eq!(drawn.iter().filter(|q| q.group == "rare").count(), 5);
        assert_eq!((drawn.len(), &sample(&all, 5, 7)), (10, &drawn));
        assert_ne!(sample(&all, 5, 8), drawn);
        assert_eq!(sample(&all, 99, 7), all);
    }

    #[test]
    fn a_fact_that_is_drawn_is_asked_about_by_every_criterion_whatever_its_labels() {
        let of = |fact: usize, criterion: &str| {
            let label = u8::from(!(fact + criterion.len()).is_multiple_of(3));
            question(&format!("tree/1.{fact}/{criterion}"), &format!("{criterion}, label {label}"), label == 1)
        };
        let all: Vec<Question> = ["faithfulness", "objectivity", "significance"]
            .iter()
            .flat_map(|criterion| (0..20).map(|fact| of(fact, criterion)))
            .chain([question("tree/tree", "tree", true)])
            .collect();
        let drawn = sample(&all, 6, 3);
        let facts = |criterion: &str| -> Vec<&str> {
            drawn.iter().filter(|question| question.criterion() == criterion).map(Question::unit).collect()
        };
        assert_eq!(facts("faithfulness").len(), 6);
        assert_eq!((facts("faithfulness"), facts("tree")), (facts("significance"), vec!["tree"]));
        assert_eq!((facts("faithfulness"), drawn.len()), (facts("objectivity"), 19));
    }

    #[test]
    fn accuracy_is_the_share_of_equal_labels() {
        let questions =
            [question("a", "g", true), question("b", "g", false), question("c", "g", true), question("d", "h", true)];
        let json = br#"{"check": "x", "answers": {"a": "yes", "b": "yes", "c": "unsure", "z": "no", "d": "perhaps"}}"#;
        let found = against_filter("x", &questions, &CheckAnswers::read(json).unwrap()).unwrap();
        let row: Vec<String> = found.table.rows[0].iter().map(Value::shown).collect();
        assert_eq!(row, ["g", "2", "1", "50.0", "[9.5, 90.5]", "1"]);
        assert_eq!((found.problems.len(), found.open), (2, 1));
        assert!(against_filter("y", &questions, &CheckAnswers::read(json).unwrap()).is_err());
        let resaved = [&b"\xEF\xBB\xBF"[..], json].concat();
        assert_eq!(CheckAnswers::read(&resaved), CheckAnswers::read(json), "as an editor saves it");
        assert!(CheckAnswers::read(b"[]").unwrap_err().to_string().contains("expected a JSON object"));
    }
}
