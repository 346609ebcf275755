//! Two runs on the same items.

use crate::books::to_js;
use crate::error::as_js;
use crate::options::read;
use crate::run::{OpenRun, ShownTable};
use closeread_report::compare::{Choice, Compared, Flip, Source, Two, Unpaired};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("compare.d.ts");

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add_options::<Choice>().add::<Shown<'static>>();
}

#[wasm_bindgen]
extern "C" {
    /// `CompareOptions` in TypeScript.
    #[wasm_bindgen(typescript_type = "CompareOptions")]
    pub type JsCompareOptions;
    /// `ShownComparison[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "ShownComparison[]")]
    pub type JsShownComparisons;
}

/// What to compare, as the options of `closeread compare`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Options {
    /// Names of the runs where both have one name; default: the name.
    paths: Option<[String; 2]>,
    /// The choice of what to compare.
    #[serde(flatten)]
    choice: serde_json::Map<String, serde_json::Value>,
}

/// A comparison under one metric as people read it.
#[derive(Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(rename = "ShownComparison"))]
pub(crate) struct Shown<'a> {
    /// Name of the metric.
    metric: &'a str,
    /// What can and cannot be concluded.
    conclusion: &'a str,
    /// The comparison as a table; `null` where no item was scored by both.
    table: Option<ShownTable>,
    /// Items on which B scores more, the largest difference first.
    gained: &'a [Flip],
    /// Items on which B scores less, in the same order.
    lost: &'a [Flip],
    /// Notes for people.
    notes: &'a [String],
    /// Items that are not compared.
    unpaired: &'a Unpaired,
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
