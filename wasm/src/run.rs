//! A run folder, opened: its report, its charts, its trials.

mod texts;

use crate::books::to_js;
use crate::error::{as_js, usage};
use crate::options::read;
use crate::score::{JsNamedFiles, input_files};
use closeread_eval::InputFile;
use closeread_report::chart::{Chart, Placement, STYLE, svg};
use closeread_report::folder::{RunFiles, RunManifest, read_run};
use closeread_report::{Arm, MISSING, Report, Run, TrialFilter, TrialList, report};
use closeread_table::number::metric_label;
use closeread_table::render::text;
use closeread_table::{Table, Value};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use texts::Texts;
use wasm_bindgen::prelude::*;

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add::<Facts<'static>>().add::<Shown<'static>>().add_options::<TrialFilter>();
    types.add::<closeread_report::TrialLine>().add::<closeread_report::TrialTrace<'static>>();
    types.add::<closeread_llm::Message>().add::<texts::TracedPassage<'static>>();
}

#[wasm_bindgen]
extern "C" {
    /// `RunFacts` in TypeScript.
    #[wasm_bindgen(typescript_type = "RunFacts")]
    pub type JsRunFacts;
    /// `ShownReport` in TypeScript.
    #[wasm_bindgen(typescript_type = "ShownReport")]
    pub type JsShownReport;
    /// `TrialFilter` in TypeScript.
    #[wasm_bindgen(typescript_type = "TrialFilter")]
    pub type JsTrialFilter;
    /// `TrialLine[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "TrialLine[]")]
    pub type JsTrialLines;
    /// `TrialTrace` in TypeScript.
    #[wasm_bindgen(typescript_type = "TrialTrace")]
    pub type JsTrialTrace;
    /// `Message[][]` in TypeScript.
    #[wasm_bindgen(typescript_type = "Message[][]")]
    pub type JsMessages;
    /// `TracedPassage[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "TracedPassage[]")]
    pub type JsTracedPassages;
}

/// A run folder whose files are at hand.
#[wasm_bindgen]
pub struct OpenRun {
    run: Run,
    trials: TrialList,
    texts: Texts,
    left_out: usize,
}

/// A run at a glance.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "RunFacts"))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Facts<'a> {
    /// Name of the run.
    name: &'a str,
    /// Name of the benchmark.
    benchmark: &'a str,
    /// Number of items.
    items: usize,
    /// Lines of the list of trials: one for every trial that was asked for.
    trials: usize,
    /// Records of items that `items.jsonl` does not have.
    records_left_out: usize,
    /// What the numbers rest on, name and value.
    facts: &'a [(String, String)],
    /// Names of the cells.
    cells: &'a [String],
    /// The arm of each cell.
    arms: &'a [Arm],
    /// The outcomes there are, and `missing`.
    outcomes: Vec<&'a str>,
    /// Metrics of the records, name and how it is shown.
    metrics: Vec<(String, String)>,
    /// Number of books whose text is at hand.
    texts: usize,
}

/// A report as people read it.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ShownReport"))]
pub(crate) struct Shown<'a> {
    /// Title of the report.
    title: &'a str,
    /// Whether no trial is missing.
    complete: bool,
    /// What a reader must know.
    notes: &'a [String],
    /// Tables of the report.
    tables: Vec<ShownTable>,
    /// Charts of the report.
    charts: Vec<ShownChart<'a>>,
}

/// A table with its values as people read them.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ShownTable {
    /// Id of the table.
    id: String,
    /// Title of the table.
    title: String,
    /// The paper's table it follows; empty for closeread's own.
    source: String,
    /// Heads of the columns.
    columns: Vec<String>,
    /// Values, row by row.
    rows: Vec<Vec<ShownValue>>,
    /// Notes below the table.
    notes: Vec<String>,
}

/// A value as people read it.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ShownValue {
    /// Kind of the value.
    #[cfg_attr(feature = "typescript", ts(type = "\"text\" | \"number\" | \"missing\""))]
    kind: &'static str,
    /// Text of the value; of a missing one the reason.
    text: String,
}

/// A chart with its drawing, whose title and description hold every number in words.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub(crate) struct ShownChart<'a> {
    /// Id of the chart.
    id: &'a str,
    /// Title of the chart.
    title: &'a str,
    /// Note below the chart.
    note: &'a str,
    /// An `svg` element for a page with the rules of `chartStyle()`; names from data are escaped in it.
    svg: String,
}

#[wasm_bindgen]
impl OpenRun {
    /// Reads the files of a run folder, each named by its path there. `manifest.json`, `items.jsonl` and `records.jsonl`
    /// must be among them; `judging.json`, `judgements.jsonl`, `prices.json`, `preparations/` and `texts/` may be.
    ///
    /// Lengths and positions are counted where `texts/` is there and the run's vocabulary was [provided](crate::provide).
    ///
    /// # Errors
    /// A file that is missing, or is not what `closeread run` writes; file and line are named.
    #[wasm_bindgen(constructor)]
    pub fn new(name: String, files: JsNamedFiles) -> Result<OpenRun, JsValue> {
        let files: BTreeMap<String, Vec<u8>> =
            input_files(&files.into())?.into_iter().map(|InputFile { name, bytes }| (name, bytes)).collect();
        let optional = |name: &str| files.get(name).map(Vec::as_slice);
        let needed = |name: &str| {
            let missing = || {
                usage(&format!(
                    "{name} is missing: expected the files of a run folder, which `closeread run --out DIR` makes"
                ))
            };
            optional(name).ok_or_else(missing)
        };
        let preparations: Vec<(String, Vec<u8>)> = files
            .iter()
            .filter_map(|(path, bytes)| Some((path.strip_prefix("preparations/")?.to_owned(), bytes.clone())))
            .collect();
        let run_files = RunFiles {
            manifest: needed("manifest.json")?,
            items: needed("items.jsonl")?,
            records: needed("records.jsonl")?,
            judging: optional("judging.json"),
            judgements: optional("judgements.jsonl"),
            prices: optional("prices.json"),
            preparations: &preparations,
        };
        let folder = |error| as_js("FolderError", &error);
        let manifest = RunManifest::read(run_files.manifest).map_err(folder)?;
        let texts = Texts::new(manifest.configuration, &files);
        let (places, damaged) = texts.places();
        let (mut run, left_out) = read_run(name, &run_files, places).map_err(folder)?;
        run.gaps.extend(damaged);
        let trials = TrialList::of(&run);
        Ok(Self { run, trials, texts, left_out })
    }

    /// Returns what is known of the run at a glance.
    ///
    /// # Errors
    /// None; the type is that of a conversion.
    pub fn facts(&self) -> Result<JsRunFacts, JsValue> {
        let outcomes: BTreeSet<&str> = self.run.records.iter().map(|record| record.outcome.name()).collect();
        let metrics: BTreeSet<&String> = self.run.records.iter().flat_map(|record| record.scores.keys()).collect();
        let facts = Facts {
            name: &self.run.name,
            benchmark: &self.run.benchmark,
            items: self.run.items.len(),
            trials: self.trials.len(),
            records_left_out: self.left_out,
            facts: &self.run.facts,
            cells: self.trials.cells(),
            arms: &self.run.plan,
            outcomes: outcomes.into_iter().chain([MISSING]).collect(),
            metrics: metrics.into_iter().map(|name| (name.clone(), metric_label(name))).collect(),
            texts: self.texts.len(),
        };
        to_js(&facts).map(JsCast::unchecked_into)
    }

    /// The report as data: what `closeread report RUN --json` prints, byte for byte, without its line end.
    ///
    /// # Errors
    /// None; the type is that of a conversion.
    #[wasm_bindgen(js_name = reportJson)]
    pub fn report_json(&self) -> Result<String, JsValue> {
        serde_json::to_string(&self.report()?).map_err(|error| as_js("ReportError", &error))
    }

    /// Returns the report with its tables as people read them and its charts drawn.
    ///
    /// # Errors
    /// None; the type is that of a conversion.
    #[wasm_bindgen(js_name = shownReport)]
    pub fn shown_report(&self) -> Result<JsShownReport, JsValue> {
        let report = self.report()?;
        let charts = report.charts.iter().map(|chart: &Chart| ShownChart {
            id: &chart.id,
            title: &chart.title,
            note: &chart.note,
            svg: svg(chart, Placement::InPage),
        });
        let shown = Shown {
            title: &report.title,
            complete: report.complete,
            notes: &report.notes,
            tables: report.tables.iter().map(ShownTable::of).collect(),
            charts: charts.collect(),
        };
        to_js(&shown).map(JsCast::unchecked_into)
    }

    /// The numbers of the trials that a filter leaves, in the order of the list.
    ///
    /// # Errors
    /// An unknown field of the filter.
    pub fn select(&self, filter: Option<JsTrialFilter>) -> Result<Vec<u32>, JsValue> {
        let filter: TrialFilter = read(filter.map(JsValue::from))?;
        Ok(self.trials.select(&self.run, &filter))
    }

    /// The lines of some trials by their numbers; numbers behind the last are skipped.
    ///
    /// # Errors
    /// None; the type is that of a conversion.
    pub fn lines(&self, numbers: &[u32]) -> Result<JsTrialLines, JsValue> {
        let lines: Vec<_> = numbers.iter().filter_map(|number| self.trials.line(&self.run, *number)).collect();
        to_js(&lines).map(JsCast::unchecked_into)
    }

    /// All that is known of a trial: the item, the record, what judges said.
    ///
    /// # Errors
    /// A number behind the last.
    pub fn trace(&self, number: u32) -> Result<JsTrialTrace, JsValue> {
        let trace = self.trials.trace(&self.run, number);
        let trace = trace.ok_or_else(|| usage(&format!("trial {number} of {}: there is none", self.trials.len())))?;
        to_js(&trace).map(JsCast::unchecked_into)
    }

    /// The messages of each call of a trial, computed again and held to the hashes of its record.
    ///
    /// # Errors
    /// A number behind the last, a trial without record, or what keeps the messages from being computed: a book that is not
    /// at hand, passages ranked by vectors, other prompts.
    pub fn sent(&self, number: u32) -> Result<JsMessages, JsValue> {
        let trace = self.trials.trace(&self.run, number);
        let none = || usage(&format!("trial {number} of {}: there is no record", self.trials.len()));
        let (item, record) = trace.and_then(|trace| Some((trace.item, trace.record?))).ok_or_else(none)?;
        let sent = self.texts.sent(item, record)?;
        to_js(&sent).map(JsCast::unchecked_into)
    }

    /// The passages that the reader of a trial was given, in its order, with their text where the book is at hand.
    ///
    /// # Errors
    /// A number behind the last.
    pub fn passages(&self, number: u32) -> Result<JsTracedPassages, JsValue> {
        let trace = self.trials.trace(&self.run, number);
        let trace = trace.ok_or_else(|| usage(&format!("trial {number} of {}: there is none", self.trials.len())))?;
        let passages = trace.record.and_then(|record| record.context.as_ref()).map(|context| &*context.passages);
        to_js(&self.texts.passages(passages.unwrap_or_default())).map(JsCast::unchecked_into)
    }
}

impl OpenRun {
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    fn report(&self) -> Result<Report, JsValue> {
        report(std::slice::from_ref(&self.run)).map_err(|error| as_js("ReportError", &error))
    }
}

/// The style rules that drawn charts need.
#[wasm_bindgen(js_name = chartStyle)]
pub fn chart_style() -> String {
    STYLE.to_owned()
}

impl ShownTable {
    pub(crate) fn of(table: &Table) -> Self {
        Self {
            id: table.id.clone(),
            title: table.title.clone(),
            source: table.source.clone(),
            columns: table.columns.iter().map(|name| text::plain(name)).collect(),
            rows: table.rows.iter().map(|row| row.iter().map(ShownValue::of).collect()).collect(),
            notes: table.notes.iter().map(|note| text::plain(note)).collect(),
        }
    }
}

impl ShownValue {
    fn of(value: &Value) -> Self {
        match value {
            Value::Text { text } => Self { kind: "text", text: text::plain(text) },
            Value::Missing { reason } => Self { kind: "missing", text: reason.clone() },
            other => Self { kind: "number", text: other.shown() },
        }
    }
}
