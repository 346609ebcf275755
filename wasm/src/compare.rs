//! Two runs on the same items.

use crate::books::to_js;
use crate::error::as_js;
use crate::options::read;
use crate::run::{OpenRun, ShownTable};
use closeread_report::compare::{Choice, Compared, Flip, Source, Two};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("compare.d.ts");

#[wasm_bindgen]
extern "C" {
    /// See `compare.d.ts`.
    #[wasm_bindgen(typescript_type = "CompareOptions")]
    pub type JsCompareOptions;
    /// See `compare.d.ts`.
    #[wasm_bindgen(typescript_type = "ShownComparison[]")]
    pub type JsShownComparisons;
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Options {
    paths: Option<[String; 2]>,
    #[serde(flatten)]
    choice: serde_json::Map<String, serde_json::Value>,
}

/// Compares two runs: what `closeread compare RUN_A RUN_B --json` prints, byte for byte, without its line end. The same run
/// twice compares its cells.
///
/// # Errors
/// Nothing that could be compared as asked; the message says what there is to choose from.
#[wasm_bindgen(js_name = compareJson)]
pub fn compare_json(a: &OpenRun, b: &OpenRun, options: Option<JsCompareOptions>) -> Result<String, JsValue> {
    let (two, choice) = two(a, b, options)?;
    Ok(two.json(&compared(&two, &choice)?))
}

/// Returns the comparison as people read it: for each pair of cells and metric what can be concluded, a table, and the
/// items that differ.
///
/// # Errors
/// As [`compare_json`].
#[wasm_bindgen(js_name = shownComparison)]
pub fn shown_comparison(
    a: &OpenRun,
    b: &OpenRun,
    options: Option<JsCompareOptions>,
) -> Result<JsShownComparisons, JsValue> {
    #[derive(Serialize)]
    struct Shown<'a> {
        metric: &'a str,
        conclusion: &'a str,
        table: Option<ShownTable>,
        gained: &'a [Flip],
        lost: &'a [Flip],
        notes: &'a [String],
        unpaired: &'a closeread_report::compare::Unpaired,
    }
    let (two, choice) = two(a, b, options)?;
    let compared = compared(&two, &choice)?;
    let shown: Vec<Shown<'_>> = compared
        .iter()
        .map(|Compared { comparison, .. }| Shown {
            metric: &comparison.metric,
            conclusion: &comparison.conclusion,
            table: comparison.overall.is_some().then(|| ShownTable::of(&comparison.table())),
            gained: &comparison.gained,
            lost: &comparison.lost,
            notes: &comparison.notes,
            unpaired: &comparison.unpaired,
        })
        .collect();
    to_js(&shown).map(JsCast::unchecked_into)
}

fn two(a: &OpenRun, b: &OpenRun, options: Option<JsCompareOptions>) -> Result<(Two, Choice), JsValue> {
    let options: Options = read(options.map(JsValue::from))?;
    let choice = serde_json::from_value(options.choice.into()).map_err(|error| as_js("UsageError", &error))?;
    let paths = options.paths.unwrap_or_else(|| [a.run().name.clone(), b.run().name.clone()]);
    let [of_a, of_b] = paths;
    let source = |run: &OpenRun, path: String| {
        Source::of_run(run.run().name.clone(), path, run.run()).map_err(|error| as_js("CompareError", &error))
    };
    let other = (!std::ptr::eq(a, b)).then(|| source(b, of_b)).transpose()?;
    Ok((Two::new(source(a, of_a)?, other), choice))
}

fn compared<'a>(two: &'a Two, choice: &Choice) -> Result<Vec<Compared<'a>>, JsValue> {
    two.compare(choice).map_err(|error| as_js("CompareError", &error))
}
