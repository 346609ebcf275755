//! Templates expanded by a model (section 3.3, step 3): new ones in the slots of those that there are, each held to the types of its
//! slots and run on an invented table before it is kept.

use super::column::{Column, Schema, ValueType};
use super::database::{Database, TABLE};
use super::draw::candidates;
use super::global::Row;
use super::gold::gold;
use super::query::Drawing;
use super::template::{SLOTS, Template};
use super::value::CellValue;
use crate::StageCost;
use crate::ask;
use crate::assumed::{Prompt, tokens_of};
use crate::funnel::Funnel;
use crate::slots::slots;
use crate::stage::{BuildError, Building, StageStore, Unit, kept};
use closeread_eval::answer::json::json_values;
use closeread_methods::{Host, MethodError, Settings};
use closeread_prompts::builds::CorpusQaTemplates;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The stages of an expansion.
pub const EXPAND_STAGES: [&str; 1] = ["templates"];

/// Questions that are drawn of each difficulty to try a template.
const TRIED: usize = 24;
/// Slots that a question need not say although the SQL has them.
const UNSAID: [&str; 1] = ["name"];
/// Slots that every template may have.
const FREE: [&str; 3] = ["entity", "entities", "name"];

/// New templates from one, and why others of the same response are none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    /// Templates that can be used.
    pub templates: Vec<Template>,
    /// Problem of each other template.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
}

/// The reason why a response gives no template.
#[derive(Debug, thiserror::Error)]
enum ProposalError {
    #[error("it holds no JSON object with templates")]
    NoObject,
    #[error("no template of it can be used: {}", .0.join("; "))]
    Refused(Vec<String>),
}

/// Has a model propose `n` templates from each that has SQL; gives the new ones, with what the stage kept.
///
/// # Errors
/// [`BuildError`].
pub async fn expand<H: Host, S: StageStore, D: Database>(
    host: &H,
    settings: Settings<'_>,
    mut building: Building<'_, S>,
    database: &D,
    templates: &[Template],
    n: usize,
) -> Result<(Vec<Template>, Funnel), BuildError> {
    let units: Vec<Unit<Template>> = templates
        .iter()
        .filter(|template| template.sql.is_some())
        .map(|template| Unit { id: template.id.clone(), input: template.clone() })
        .collect();
    let proposed = building
        .stage("templates", &units, async |unit: &Unit<Template>| {
            ask::one(host, settings, &prompt(&unit.input, n), "", |response, _| {
                let made = read(response, &unit.input, n, database)?;
                if made.templates.is_empty() { Err(ProposalError::Refused(made.refused)) } else { Ok(made) }
            })
            .await
        })
        .await?;
    let mut new: Vec<Template> = Vec::new();
    for template in kept(proposed).into_iter().flat_map(|unit: Unit<Proposed>| unit.input.templates) {
        let is_known = |known: &Template| known.sql == template.sql || known.id == template.id;
        if !templates.iter().chain(&new).any(is_known) {
            new.push(template);
        }
    }
    Ok((new, building.into_funnel()))
}

/// The calls of the stage.
///
/// # Errors
/// [`MethodError`] if a prompt cannot be filled.
pub fn expand_cost(settings: Settings<'_>, templates: &[Template], n: usize) -> Result<Vec<StageCost>, MethodError> {
    let with_sql = templates.iter().filter(|template| template.sql.is_some());
    let known = |template: &Template| Ok(Prompt { known: tokens_of(settings, &prompt(template, n))?, responses: 0 });
    let prompts = with_sql.map(known).collect::<Result<Vec<Prompt>, MethodError>>()?;
    Ok(vec![StageCost::of("templates", &prompts, settings.response_limit.reserved())])
}

fn prompt(template: &Template, n: usize) -> CorpusQaTemplates<'_> {
    CorpusQaTemplates {
        english: &template.en,
        chinese: &template.zh,
        sql: template.sql.as_deref().unwrap_or_default(),
        scope: template.scope.as_deref().unwrap_or_default(),
        answer: template.answer.name(),
        difficulty: template.difficulty.name(),
        n,
    }
}

fn read(response: &str, base: &Template, n: usize, database: &impl Database) -> Result<Proposed, ProposalError> {
    let lists = json_values(response);
    let list =
        lists.iter().rev().find_map(|value| value.get("templates")?.as_array()).ok_or(ProposalError::NoObject)?;
    let mut made = Proposed { templates: Vec::new(), refused: Vec::new() };
    for (at, proposal) in list.iter().take(n).enumerate() {
        let template = of(proposal, base, at + 1);
        match fault(&template, base, database) {
            None => made.templates.push(template),
            Some(why) => made.refused.push(format!("template {}: {why}", at + 1)),
        }
    }
    Ok(made)
}

fn of(proposal: &Value, base: &Template, number: usize) -> Template {
    let field =
        |name: &str| proposal.get(name).and_then(Value::as_str).map(|text| text.trim().to_owned()).unwrap_or_default();
    let some = |text: String| (!text.is_empty()).then_some(text);
    Template {
        id: format!("{}-{number}", base.id),
        en: field("en"),
        zh: field("zh"),
        scope: base.scope.as_ref().and_then(|_| some(field("scope"))),
        sql: some(field("sql")),
        ..base.clone()
    }
}

/// Returns what is wrong with a template that a model wrote from `base`.
fn fault(template: &Template, base: &Template, database: &impl Database) -> Option<String> {
    let Some(sql) = template.sql.as_deref() else { return Some("it has no sql".to_owned()) };
    for (name, own, wanted) in [("en", &template.en, &base.en), ("zh", &template.zh, &base.zh)] {
        if own.is_empty() && !wanted.is_empty() {
            return Some(format!("it has no question as {name}"));
        }
    }
    let known = base.slots();
    let own = template.slots();
    if let Some(foreign) =
        own.iter().find(|slot| !SLOTS.contains(slot) || !(known.contains(*slot) || FREE.contains(slot)))
    {
        return Some(format!("it has the slot {{{foreign}}}, which the template it comes from does not have"));
    }
    let in_sql: BTreeSet<&str> = [Some(sql), template.scope.as_deref()].into_iter().flatten().flat_map(slots).collect();
    for question in [&template.en, &template.zh].into_iter().filter(|question| !question.is_empty()) {
        let said: BTreeSet<&str> = slots(question).into_iter().collect();
        if let Some(unsaid) = in_sql.iter().find(|slot| !said.contains(*slot) && !UNSAID.contains(slot)) {
            return Some(format!("its SQL has {{{unsaid}}}, and its question does not"));
        }
        if let Some(idle) = said.iter().find(|slot| !in_sql.contains(*slot) && !FREE.contains(slot)) {
            return Some(format!("its question has {{{idle}}}, and its SQL does not"));
        }
    }
    if base.sql.as_deref() == Some(sql) {
        return Some("its SQL is that of the template it comes from".to_owned());
    }
    tried(template, database).err()
}

/// Fills the template from an invented table and runs it there.
fn tried(template: &Template, database: &impl Database) -> Result<(), String> {
    let (schema, rows) = invented();
    let rows: Vec<&Row> = rows.iter().collect();
    let language = if template.en.is_empty() { Language::CHINESE } else { Language::ENGLISH };
    let drawing = Drawing { set: "invented", schema: &schema, rows: &rows, language, longest_list: rows.len() };
    let queries = candidates(&drawing, std::slice::from_ref(template), TRIED, 1);
    if queries.is_empty() {
        return Err("its slots cannot be filled together".to_owned());
    }
    let mut last = String::new();
    for query in queries {
        let Some(sql) = &query.sql else { continue };
        if let Some(scope) = &query.scope {
            let scoped = format!("SELECT \"{}\" FROM {TABLE} WHERE {scope}", schema.columns[0].key);
            database
                .select("invented", &schema.columns, &rows, &scoped)
                .map_err(|error| format!("its scope: {error}"))?;
        }
        let selected = database.select("invented", &schema.columns, &rows, sql).map_err(|error| error.to_string())?;
        match gold(&selected, query.answer, query.rows, rows.len()) {
            Ok(_) => return Ok(()),
            Err(error) => last = error.to_string(),
        }
    }
    Err(format!("it gives no {} on a table to try it on: {last}", template.answer.name()))
}

/// A table with columns of every type, in which no two numbers of a column are alike.
fn invented() -> (Schema, Vec<Row>) {
    let column = |title: &str, value_type, unit: &str| Column::new(title, value_type, unit);
    let columns = vec![
        column("Name", ValueType::Name, ""),
        column("Income", ValueType::Money, "EUR"),
        column("Costs", ValueType::Money, "EUR"),
        column("Assets", ValueType::Money, "EUR"),
        column("Debts", ValueType::Money, "EUR"),
        column("Staff", ValueType::Count, ""),
        column("Sites", ValueType::Count, ""),
        column("Share", ValueType::Percentage, "%"),
        column("Margin", ValueType::Percentage, "%"),
        column("Region", ValueType::Category, ""),
        column("Opened", ValueType::YearMonth, ""),
    ];
    let names = ["Ash", "Birch", "Cedar", "Date", "Elm", "Fir", "Gum", "Hazel", "Ivy", "Juniper", "Kapok", "Lime"];
    let number = |row: usize, column: usize| ((row * 37 + column * 53) % 101 + 7 * column + row) as f64;
    let row = |(at, name): (usize, &&str)| {
        let text = |text: String| CellValue::Text { text };
        let mut cells = vec![text((*name).to_owned())];
        cells
            .extend((1..=8).map(|column| CellValue::Number {
                value: number(at, column) + if column < 5 { 1_000.0 } else { 1.0 },
            }));
        cells.push(text(["east", "west", "north"][at % 3].to_owned()));
        cells.push(CellValue::Date { year: 1990 + (at as u16 % 7), month: Some(1 + at as u8 % 12) });
        Row { name: (*name).to_owned(), cells, documents: vec![name.to_lowercase()], conflicts: Vec::new() }
    };
    (Schema { columns, ..Schema::default() }, names.iter().enumerate().map(row).collect())
}
