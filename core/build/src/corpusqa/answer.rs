//! Answering a query: paraphrase, SQL by a model, execution give a question with its gold answer (section 3, steps 3
//! and 5).

use super::CorpusQa;
use super::column::ValueType;
use super::column::{Column, Schema};
use super::database::{Database, SqlError, TABLE};
use super::global::Row;
use super::gold::{AnswerKind, GoldError, gold, is_empty};
use super::infer;
use super::query::Query;
use super::sets::DocumentSet;
use super::value::{CellValue, folded};
use crate::ask::{asked, made, one};
use crate::line::End;
use crate::stage::{Made, Unit};
use closeread_eval::answer::Parsed;
use closeread_eval::answer::corpusqa::{Reading, agrees};
use closeread_eval::answer::json::json_values;
use closeread_eval::rows::scalar;
use closeread_methods::Host;
use closeread_methods::{MethodError, Session, Settings};
use closeread_prompts::builds::{CorpusQaParaphrase, CorpusQaSql};
use closeread_prompts::variables;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that a model which writes SQL is shown.
const EXAMPLES: usize = 3;

/// A query in the words in which it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Query that is asked.
    pub query: Query,
    /// The question; the template's words where no model was named.
    pub question: String,
}

/// A question with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// Question that was asked.
    pub asked: Asked,
    /// The statement that was run.
    pub sql: String,
    /// Gold answer: what the SQL gave, in the form of the answer.
    pub gold: String,
    /// Statements that gave nothing before, with the error that the model was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedSql>,
}

/// A statement that gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedSql {
    /// SQL of the statement.
    pub sql: String,
    /// Error of the statement.
    pub error: String,
}

/// The table of one set.
#[derive(Debug, Clone)]
pub(super) struct SetTable<'a> {
    pub(super) id: &'a str,
    pub(super) schema: &'a Schema,
    pub(super) rows: Vec<&'a Row>,
    pub(super) documents: &'a [String],
}

impl<'a> SetTable<'a> {
    pub(super) fn of(id: &'a str, schema: &'a Schema, set: &'a DocumentSet, rows: &'a BTreeMap<&str, &'a Row>) -> Self {
        let rows = set.rows.iter().filter_map(|name| rows.get(name.as_str()).copied()).collect();
        Self { id, schema, rows, documents: &set.documents }
    }

    /// The gold answer of a statement.
    fn answer(
        &self,
        database: &impl Database,
        sql: &str,
        (kind, rows, most): (AnswerKind, Option<usize>, usize),
    ) -> Result<String, NoAnswer> {
        let selected = database.select(self.id, &self.schema.columns, &self.rows, sql)?;
        Ok(gold(&selected, kind, rows, most)?)
    }

    /// The share of the set's documents whose rows enter the answer of a query.
    pub(super) fn dispersion(&self, database: &impl Database, query: &Query) -> Result<f64, SqlError> {
        let Some(scope) = &query.scope else { return Ok(1.0) };
        let sql = format!("SELECT \"{}\" FROM {TABLE} WHERE {scope}", self.schema.columns[0].key);
        let selected = database.select(self.id, &self.schema.columns, &self.rows, &sql)?;
        let names: BTreeSet<String> = selected.rows.iter().flatten().map(ToString::to_string).collect();
        let inside = self.rows.iter().filter(|row| names.contains(&row.name));
        let documents: BTreeSet<&String> = inside.flat_map(|row| &row.documents).collect();
        Ok(documents.len() as f64 / self.documents.len().max(1) as f64)
    }
}

/// The reason why there is no answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The response gives no statement.
    #[error("it holds no JSON object with sql")]
    NoObject,
    /// The statement does not run.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// The selection is no answer.
    #[error(transparent)]
    Gold(#[from] GoldError),
}

impl NoAnswer {
    fn reason(&self) -> &'static str {
        match self {
            Self::NoObject => "no sql",
            Self::Sql(_) => "sql failed",
            Self::Gold(error) => error.reason(),
        }
    }
}

/// Decides which candidates of a set are kept: as many of each difficulty as are wanted, in their order; those are
/// dropped whose answer is tied or too long, is empty where [`CorpusQa::most_empty`] are so already, or rests on too
/// few of the documents.
pub(super) fn chosen(
    table: &SetTable<'_>,
    database: &impl Database,
    candidates: &[Unit<Query>],
    parameters: &CorpusQa,
) -> BTreeMap<String, End<Query>> {
    let mut open = super::draw::shares(parameters.per_set).map(|(difficulty, n)| (difficulty, n));
    let mut answers: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut ends = BTreeMap::new();
    let mut empty = parameters.most_empty.map(|percent| parameters.per_set * usize::from(percent) / 100);
    for Unit { id, input: query } in candidates {
        let Some((_, left)) = open.iter_mut().find(|(difficulty, _)| *difficulty == query.difficulty) else { continue };
        let end = if *left == 0 {
            End::dropped("surplus", "")
        } else {
            match checked(table, database, query, parameters) {
                Err((reason, detail)) => End::dropped(reason, detail),
                Ok(answer) if is_empty(&answer) && empty == Some(0) => {
                    End::dropped("empty answer", format!("{answer}: as many are empty as may be"))
                }
                Ok(answer) => {
                    let is_empty = is_empty(&answer);
                    // The same template with the same answer is the same question with another bound.
                    let times = answers.entry((query.template.clone(), answer)).or_default();
                    *times += 1;
                    match *times > 1 && query.sql.is_some() {
                        true => End::dropped("repeated", "the template gave this answer before"),
                        false => {
                            *left -= 1;
                            empty = empty.map(|left| left - usize::from(is_empty));
                            End::Kept { value: query.clone() }
                        }
                    }
                }
            }
        };
        ends.insert(id.clone(), end);
    }
    ends
}

fn checked(
    table: &SetTable<'_>,
    database: &impl Database,
    query: &Query,
    parameters: &CorpusQa,
) -> Result<String, (&'static str, String)> {
    let dispersion = table.dispersion(database, query).map_err(|error| ("sql failed", error.to_string()))?;
    if dispersion * 100.0 < f64::from(parameters.dispersion) {
        let detail = format!("{:.1}% of the documents, of at least {}%", 100.0 * dispersion, parameters.dispersion);
        return Err(("concentrated", detail));
    }
    let Some(sql) = &query.sql else { return Ok(String::new()) };
    let form = (query.answer, query.rows, parameters.longest_list);
    table.answer(database, sql, form).map_err(|error| (error.reason(), error.to_string()))
}

/// The reason why a response gives no paraphrase.
#[derive(Debug, thiserror::Error)]
enum ParaphraseError {
    #[error("it holds no JSON object with a question")]
    NoObject,
    #[error("the question must still say `{0}`")]
    Lost(String),
}

/// Makes the prompt that paraphrases.
pub(super) fn paraphrase_prompt(query: &Query, language: Language) -> CorpusQaParaphrase<'_> {
    CorpusQaParaphrase { question: &query.question, literals: &query.literals, language }
}

/// Has a model say a question in other words. One that loses a number or a name of the question is asked for once more,
/// then dropped.
pub(super) async fn paraphrase<H: Host>(
    host: &H,
    settings: Settings<'_>,
    query: &Query,
    language: Language,
) -> Result<Made<Asked>, MethodError> {
    one(host, settings, &paraphrase_prompt(query, language), "", |response, _| {
        let text = field(response, "question").ok_or(ParaphraseError::NoObject)?;
        let question = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match query.literals.iter().find(|literal| !still_says(&question, literal)) {
            Some(lost) => Err(ParaphraseError::Lost(lost.clone())),
            None => Ok(Asked { query: query.clone(), question }),
        }
    })
    .await
}

/// True if the question has the literal in it, each of its numbers as a whole: 17,000 does not say 7,000.
fn still_says(question: &str, literal: &str) -> bool {
    let numbers = |text: &str| -> Vec<String> {
        let runs = text.split(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ','));
        runs.map(folded).filter(|run| !run.is_empty()).collect()
    };
    let there = numbers(question);
    folded(question).contains(&folded(literal)) && numbers(literal).iter().all(|number| there.contains(number))
}

fn field(response: &str, name: &str) -> Option<String> {
    json_values(response)
        .into_iter()
        .rev()
        .find_map(|value| scalar(value.get(name)?))
        .filter(|text| !text.trim().is_empty())
}

/// Makes the prompt for SQL.
pub(super) fn sql_prompt<'p>(table: &SetTable<'p>, asked: &'p Asked) -> CorpusQaSql<'p> {
    let column = |(at, column): (usize, &'p Column)| {
        let cells = table.rows.iter().map(|row| &row.cells[at]);
        let words = if column.value_type == ValueType::Category { infer::categories(cells) } else { Vec::new() };
        let (key, unit) = (column.key.as_str(), column.unit.as_str());
        variables::Column { key, title: column.named(), r#type: type_of(column.value_type), unit, words }
    };
    let examples: Vec<Vec<String>> =
        table.rows.iter().take(EXAMPLES).map(|row| row.cells.iter().map(CellValue::to_string).collect()).collect();
    CorpusQaSql {
        table: TABLE,
        entity: &table.schema.entity.one,
        columns: table.schema.columns.iter().enumerate().map(column).collect(),
        examples,
        question: &asked.question,
        answer: asked.query.answer.name(),
    }
}

const fn type_of(value_type: ValueType) -> &'static str {
    match value_type {
        ValueType::Name | ValueType::Category => "TEXT",
        ValueType::YearMonth => "TEXT, as YYYY-MM",
        ValueType::Percentage => "REAL, in percent",
        ValueType::Count | ValueType::Money | ValueType::Number => "REAL",
    }
}

/// Has a model write the SQL of a question and runs it; an error is told to the model once. Where the template has SQL as
/// well, both must give the same answer, which holds that the paraphrase asks what the template asks.
pub(super) async fn answer<H: Host>(
    host: &H,
    settings: Settings<'_>,
    database: &impl Database,
    table: &SetTable<'_>,
    question: &Asked,
    parameters: &CorpusQa,
) -> Result<Made<Answered>, MethodError> {
    let failed: RefCell<Vec<FailedSql>> = RefCell::default();
    let query = &question.query;
    let form = (query.answer, query.rows, parameters.longest_list);
    let mut session = Session::new(host, settings);
    let end = asked(&mut session, &sql_prompt(table, question), "", |response, _| {
        let sql = field(response, "sql").ok_or(NoAnswer::NoObject)?;
        table.answer(database, &sql, form).map(|gold| (sql.clone(), gold)).inspect_err(|error| {
            failed.borrow_mut().push(FailedSql { sql, error: error.to_string() });
        })
    })
    .await;
    let end = end.map(|read| match read {
        Err(problem) => End::dropped("no answer", problem.to_string()),
        Ok((sql, gold)) => {
            let own = query.sql.as_ref().and_then(|own| table.answer(database, own, form).ok());
            match own.filter(|own| agrees(&gold, own, Reading::Tolerant) != Parsed::Answer(true)) {
                Some(own) => End::dropped("disagrees", format!("the template's SQL gives {own}, `{sql}` gives {gold}")),
                None => {
                    let failed = failed.take();
                    End::Kept { value: Answered { asked: question.clone(), sql, gold, failed } }
                }
            }
        }
    });
    made(session, end)
}

/// The answer by the template's own SQL, without a model.
pub(super) fn answer_by_template(
    database: &impl Database,
    table: &SetTable<'_>,
    asked: &Asked,
    parameters: &CorpusQa,
) -> Made<Answered> {
    let Some(sql) = asked.query.sql.clone() else {
        return Made::of(End::dropped("no sql", "the template has none, and no model was named to write it"));
    };
    let form = (asked.query.answer, asked.query.rows, parameters.longest_list);
    Made::of(match table.answer(database, &sql, form) {
        Ok(gold) => End::Kept { value: Answered { asked: asked.clone(), sql, gold, failed: Vec::new() } },
        Err(error) => End::dropped(error.reason(), error.to_string()),
    })
}

/// Runs the statement of a finished item again.
///
/// # Errors
/// Why it gives no answer now.
pub fn gold_again(
    database: &impl Database,
    set: &str,
    schema: &Schema,
    rows: &[&Row],
    sql: &str,
    kind: AnswerKind,
) -> Result<String, NoAnswer> {
    let selected = database.select(set, &schema.columns, rows, sql)?;
    Ok(gold(&selected, kind, None, usize::MAX)?)
}

#[cfg(test)]
mod tests {
    use super::still_says;

    #[test]
    fn a_paraphrase_says_each_number_as_a_whole() {
        let question = "Which homes in Area 51 have sales above 7000, a share of 10 % and 0.5 lifts?";
        for literal in ["7,000", "10%", "Area 51", "0.5", "area-51"] {
            assert!(still_says(question, literal), "{literal}");
        }
        for literal in ["700", "1", "5", "Area 5", "17,000", "0,55"] {
            assert!(!still_says(question, literal), "{literal}");
        }
        assert!(still_says("销售额高于7,000万元的公司有哪些？", "7,000") && !still_says("高于17,000万元", "7,000"));
    }
}
