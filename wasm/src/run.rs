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

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("run.d.ts");

#[wasm_bindgen]
extern "C" {
    /// See `run.d.ts`.
    #[wasm_bindgen(typescript_type = "RunFacts")]
    pub type JsRunFacts;
    /// See `run.d.ts`.
    #[wasm_bindgen(typescript_type = "ShownReport")]
    pub type JsShownReport;
    /// See `run.d.ts`.
    #[wasm_bindgen(typescript_type = "TrialFilter")]
    pub type JsTrialFilter;
    /// See `run.d.ts`.
    #[wasm_bindgen(typescript_type = "TrialLine[]")]
    pub type JsTrialLines;
    /// See `run.d.ts`.
    #[wasm_bindgen(typescript_type = "TrialTrace")]
    pub type JsTrialTrace;
    /// See `run.d.ts`.
    #[wasm_bindgen(typescript_type = "SentMessage[][]")]
    pub type JsMessages;
    /// See `run.d.ts`.
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts<'a> {
    name: &'a str,
    benchmark: &'a str,
    items: usize,
    trials: usize,
    records_left_out: usize,
    facts: &'a [(String, String)],
    cells: &'a [String],
    arms: &'a [Arm],
    outcomes: Vec<&'a str>,
    metrics: Vec<(String, String)>,
    texts: usize,
}

#[derive(Serialize)]
struct Shown<'a> {
    title: &'a str,
    complete: bool,
    notes: &'a [String],
    tables: Vec<ShownTable>,
    charts: Vec<ShownChart<'a>>,
}

/// A table with its values as people read them.
#[derive(Serialize)]
pub(crate) struct ShownTable {
    id: String,
    title: String,
    source: String,
    columns: Vec<String>,
    rows: Vec<Vec<ShownValue>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct ShownValue {
    kind: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ShownChart<'a> {
    id: &'a str,
    title: &'a str,
    note: &'a str,
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
        let (run, left_out) = read_run(name, &run_files, texts.places()).map_err(folder)?;
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
