//! Assets that are too large to be part of the module and are handed in when they are needed.

use crate::error::{as_js, usage};
use closeread_books::tokens::{Encoding, Tokenizer};
use closeread_metrics::meteor::WordNet;
use closeread_text::sentence::punkt;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("assets.d.ts");

#[wasm_bindgen]
extern "C" {
    /// `AssetName` in TypeScript.
    #[wasm_bindgen(typescript_type = "AssetName")]
    pub type JsAssetName;
}

thread_local! {
    static TOKENIZERS: RefCell<BTreeMap<&'static str, Tokenizer>> = const { RefCell::new(BTreeMap::new()) };
    static WORDNET: RefCell<Option<Arc<WordNet>>> = const { RefCell::new(None) };
}

/// The names that [`provide`] takes, with the files they stand for.
const FILES: [(&str, &str); 4] = [
    ("cl100k", "cl100k_base.bin"),
    ("o200k", "o200k_base.bin"),
    ("punkt-en", "punkt-en.txt"),
    ("wordnet", "wordnet-3.0.bin"),
];

/// Hands in the bytes of a file, decompressed. What was handed in once stays.
///
/// Books are cut with `punkt-en` and counted with `cl100k` or `o200k`; METEOR needs `wordnet` and `punkt-en`.
///
/// # Errors
/// An unknown name, or bytes that are not that file's.
#[wasm_bindgen]
pub fn provide(name: JsAssetName, bytes: &[u8]) -> Result<(), JsValue> {
    let name = text_of(name);
    match name.as_str() {
        "cl100k" => provide_tokenizer("cl100k", Encoding::Cl100k, bytes),
        "o200k" => provide_tokenizer("o200k", Encoding::O200k, bytes),
        "punkt-en" => {
            let parameters = punkt::Parameters::parse(&String::from_utf8_lossy(bytes));
            punkt::provide_english(parameters.map_err(|error| as_js("AssetError", &error))?);
            Ok(())
        }
        "wordnet" => {
            let wordnet = WordNet::read(bytes).map_err(|error| as_js("AssetError", &error))?;
            WORDNET.set(Some(Arc::new(wordnet)));
            Ok(())
        }
        _ => Err(unknown(&name)),
    }
}

/// Returns whether an asset was handed in.
///
/// # Errors
/// An unknown name.
#[wasm_bindgen]
pub fn provided(name: JsAssetName) -> Result<bool, JsValue> {
    let name = text_of(name);
    match name.as_str() {
        "cl100k" | "o200k" => Ok(TOKENIZERS.with_borrow(|known| known.contains_key(name.as_str()))),
        "punkt-en" => Ok(punkt::known_english().is_some()),
        "wordnet" => Ok(wordnet().is_some()),
        _ => Err(unknown(&name)),
    }
}

/// The tokenizer of a name, `cl100k` if there is none.
pub(crate) fn tokenizer(name: Option<&str>) -> Result<Tokenizer, JsValue> {
    let name = name.unwrap_or("cl100k");
    if !matches!(name, "cl100k" | "o200k") {
        return Err(usage(&format!("unknown tokenizer `{name}`: expected cl100k or o200k")));
    }
    TOKENIZERS.with_borrow(|known| known.get(name).cloned()).ok_or_else(|| missing(name))
}

/// Checks that books can be cut into sentences.
pub(crate) fn need_punkt() -> Result<(), JsValue> {
    punkt::known_english().map(drop).ok_or_else(|| missing("punkt-en"))
}

/// WordNet, if it was handed in.
pub(crate) fn wordnet() -> Option<Arc<WordNet>> {
    WORDNET.with_borrow(Clone::clone)
}

fn provide_tokenizer(name: &'static str, encoding: Encoding, bytes: &[u8]) -> Result<(), JsValue> {
    if TOKENIZERS.with_borrow(|known| known.contains_key(name)) {
        return Ok(());
    }
    let tokenizer = Tokenizer::from_vocabulary(encoding, bytes).map_err(|error| as_js("AssetError", &error))?;
    TOKENIZERS.with_borrow_mut(|known| known.insert(name, tokenizer));
    Ok(())
}

fn text_of(name: JsAssetName) -> String {
    JsValue::from(name).as_string().unwrap_or_default()
}

fn unknown(name: &str) -> JsValue {
    usage(&format!("unknown asset `{name}`: expected one of {}", FILES.map(|(name, _)| name).join(", ")))
}

fn missing(name: &str) -> JsValue {
    let file = FILES.iter().find(|(known, _)| *known == name).map_or(name, |(_, file)| file);
    as_js("AssetError", &format!("`{name}` is needed first: call provide(\"{name}\", the bytes of {file})"))
}
