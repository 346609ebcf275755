//! Scoring of predictions against gold answers.

use crate::error::{as_js, usage};
use crate::options::ScoreOptions;
use closeread_data::scoring::format::{FORMATS, FormatInput, format};
use closeread_data::scoring::{Options, Scorecard, Submission, prediction, score as score_submission};
use closeread_eval::{Evaluator, InputFile};
use closeread_metrics::Metric;
use closeread_metrics::meteor::WordNet;
use closeread_text::sentence::punkt;
use closeread_text::sentence::punkt::Parameters;
use js_sys::{Array, Reflect, Uint8Array};
use std::borrow::Cow;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

#[cfg(feature = "typescript")]
pub(crate) fn declare(types: &mut crate::typescript::declarations::Declarations) {
    types.add::<Scorecard>().add_options::<ScoreOptions>();
}

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("score.d.ts");

#[wasm_bindgen]
extern "C" {
    /// `NamedFile` in TypeScript.
    #[wasm_bindgen(typescript_type = "NamedFile")]
    pub type JsNamedFile;
    /// `NamedFile[]` in TypeScript.
    #[wasm_bindgen(typescript_type = "NamedFile[]")]
    pub type JsNamedFiles;
    /// `ScoreOptions` in TypeScript.
    #[wasm_bindgen(typescript_type = "ScoreOptions")]
    pub type JsScoreOptions;
    /// `Assets` in TypeScript.
    #[wasm_bindgen(typescript_type = "Assets")]
    pub type JsAssets;
    /// `Scorecard` in TypeScript.
    #[wasm_bindgen(typescript_type = "Scorecard")]
    pub type JsScorecard;
}

/// Scores predictions: what `closeread score --gold ITEMS --predictions FILE --json` prints, as an object.
///
/// Only METEOR needs `assets`.
///
/// # Errors
/// A gold file without items, an unknown option or label, or METEOR without WordNet. Bad rows are no errors: they are
/// in the ledger.
#[wasm_bindgen]
pub fn score(
    gold: JsNamedFile,
    predictions: JsNamedFile,
    options: Option<JsScoreOptions>,
    assets: Option<JsAssets>,
) -> Result<JsScorecard, JsValue> {
    parsed(&score_json(gold, predictions, options, assets)?)
}

/// As [`score`], byte for byte as the command line prints it, without its line end.
///
/// # Errors
/// As [`score`].
#[wasm_bindgen(js_name = scoreJson)]
pub fn score_json(
    gold: JsNamedFile,
    predictions: JsNamedFile,
    options: Option<JsScoreOptions>,
    assets: Option<JsAssets>,
) -> Result<String, JsValue> {
    let (gold, predictions) = (input_file(&gold.into())?, input_file(&predictions.into())?);
    let submission = prediction::read(&gold, &predictions).map_err(|error| as_js("ReadError", &error))?;
    let options = ScoreOptions::read(options.map(JsValue::from))?;
    Ok(scorecard(&submission, &options, assets)?.to_json())
}

/// Scores published prediction files: what `closeread score --format NAME FILE... --json` prints, as an object.
///
/// # Errors
/// An unknown format, task or system, files that cannot be read as that format, and as [`score`].
#[wasm_bindgen(js_name = scoreFormat)]
pub fn score_format(
    name: &str,
    files: JsNamedFiles,
    gold: JsNamedFiles,
    options: Option<JsScoreOptions>,
    assets: Option<JsAssets>,
) -> Result<JsScorecard, JsValue> {
    parsed(&score_format_json(name, files, gold, options, assets)?)
}

/// As [`score_format`], byte for byte as the command line prints it, without its line end.
///
/// # Errors
/// As [`score_format`].
#[wasm_bindgen(js_name = scoreFormatJson)]
pub fn score_format_json(
    name: &str,
    files: JsNamedFiles,
    gold: JsNamedFiles,
    options: Option<JsScoreOptions>,
    assets: Option<JsAssets>,
) -> Result<String, JsValue> {
    let known = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let format = format(name).ok_or_else(|| usage(&format!("unknown format `{name}`: expected one of {}", known())))?;
    let options = ScoreOptions::read(options.map(JsValue::from))?;
    let (files, gold) = (input_files(&files.into())?, input_files(&gold.into())?);
    let input =
        FormatInput { files: &files, gold: &gold, task: options.task.as_deref(), system: options.system.as_deref() };
    let submission = (format.read)(&input).map_err(|error| as_js("FormatError", &error))?;
    Ok(scorecard(&submission, &options, assets)?.to_json())
}

fn scorecard(submission: &Submission, options: &ScoreOptions, assets: Option<JsAssets>) -> Result<Scorecard, JsValue> {
    let metrics = options.metrics.iter().map(|name| name.parse::<Metric>()).collect::<Result<Vec<_>, _>>();
    let metrics = metrics.map_err(|error| as_js("UsageError", &error))?;
    let options = Options { metrics, by: options.by.clone(), chinese: options.chinese()? };
    let assets = Assets::read(assets.map(JsValue::from).as_ref())?;
    let metrics = options.metrics_for(submission);
    let punkt = assets.punkt(metrics)?;
    let evaluator = Evaluator::with_punkt(metrics, options.chinese, assets.wordnet, punkt);
    let evaluator = evaluator.map_err(|error| as_js("UsageError", &error))?;
    score_submission(submission, &evaluator, &options).map_err(|error| as_js("ScoreError", &error))
}

/// The assets that only METEOR needs.
struct Assets {
    wordnet: Option<Arc<WordNet>>,
    punkt: Option<Parameters>,
}

impl Assets {
    fn read(files: Option<&JsValue>) -> Result<Self, JsValue> {
        let bytes = |name: &str| -> Result<Option<Vec<u8>>, JsValue> {
            let Some(files) = files.filter(|files| !files.is_undefined() && !files.is_null()) else { return Ok(None) };
            let file = Reflect::get(files, &name.into())?;
            if file.is_undefined() || file.is_null() {
                return Ok(None);
            }
            let file = file.dyn_into::<Uint8Array>();
            file.map(|file| Some(file.to_vec())).map_err(|_| usage(&format!("the asset `{name}` must be a Uint8Array")))
        };
        let wordnet = bytes("wordnet")?.map(|bytes| WordNet::read(&bytes).map(Arc::new)).transpose();
        let wordnet = wordnet.map_err(|error| as_js("WordNetError", &error))?.or_else(provided_wordnet);
        let punkt = bytes("punkt")?.map(|bytes| Parameters::parse(&String::from_utf8_lossy(&bytes))).transpose();
        let punkt = punkt.map_err(|error| as_js("PunktError", &error))?;
        Ok(Self { wordnet, punkt })
    }

    /// The parameters handed in here, else those that are there already; none are needed where METEOR is not asked for.
    fn punkt(&self, metrics: &[Metric]) -> Result<Cow<'static, Parameters>, JsValue> {
        match (&self.punkt, punkt::known_english()) {
            (Some(parameters), _) => Ok(Cow::Owned(parameters.clone())),
            (None, Some(parameters)) => Ok(Cow::Borrowed(parameters)),
            (None, None) if !metrics.contains(&Metric::Meteor) => Ok(Cow::Owned(Parameters::default())),
            (None, None) => {
                Err(usage("meteor needs Punkt's parameters: hand in the bytes of punkt-en.txt as asset `punkt`"))
            }
        }
    }
}

#[cfg(feature = "books")]
fn provided_wordnet() -> Option<Arc<WordNet>> {
    crate::assets::wordnet()
}

#[cfg(not(feature = "books"))]
fn provided_wordnet() -> Option<Arc<WordNet>> {
    None
}

fn parsed(json: &str) -> Result<JsScorecard, JsValue> {
    js_sys::JSON::parse(json).map(JsCast::unchecked_into)
}

pub(crate) fn input_files(files: &JsValue) -> Result<Vec<InputFile>, JsValue> {
    Array::from(files).iter().map(|file| input_file(&file)).collect()
}

fn input_file(file: &JsValue) -> Result<InputFile, JsValue> {
    let wrong = || usage("a file must be an object with `name`, a string, and `content`, a Uint8Array or a string");
    let name = Reflect::get(file, &"name".into()).ok().and_then(|name| name.as_string()).ok_or_else(wrong)?;
    let content = Reflect::get(file, &"content".into()).map_err(|_| wrong())?;
    let bytes = match content.as_string() {
        Some(text) => text.into_bytes(),
        None => content.dyn_into::<Uint8Array>().map_err(|_| wrong())?.to_vec(),
    };
    Ok(InputFile { name, bytes })
}
