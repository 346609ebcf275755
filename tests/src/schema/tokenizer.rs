//! The tokenizers that vector files name.

use crate::assets::{CL100K, O200K};
use closeread_books::tokens::Tokenizer;
use closeread_models::all_minilm_l6_v2;
use std::sync::LazyLock;

/// The tokenizer of the shipped embedding model.
static MINILM: LazyLock<Tokenizer> = LazyLock::new(|| {
    Tokenizer::from_json(all_minilm_l6_v2::NAME, all_minilm_l6_v2::TOKENIZER)
        .expect("the shipped tokenizer.json is one")
});

/// The tokenizer called `name` in vector files.
pub(crate) fn tokenizer(name: &str) -> Result<&'static Tokenizer, String> {
    match name {
        "cl100k_base" => Ok(&CL100K),
        "o200k_base" => Ok(&O200K),
        "minilm_wordpiece" => Ok(&MINILM),
        _ => Err(format!("tokenizer {name} has no code yet")),
    }
}
