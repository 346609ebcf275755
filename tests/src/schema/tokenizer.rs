//! The tokenizers that vector files name.

use closeread_books::tokens::Tokenizer;
use std::sync::LazyLock;

/// The tokenizer of the shipped embedding model, part of this package so that the WebAssembly needs no file.
static MINILM: LazyLock<Tokenizer> = LazyLock::new(|| {
    let json = include_bytes!("../../../models/all-MiniLM-L6-v2/tokenizer.json");
    Tokenizer::from_json("all-MiniLM-L6-v2", json).expect("the shipped tokenizer.json is one")
});
static CL100K: LazyLock<Tokenizer> = LazyLock::new(Tokenizer::cl100k);
static O200K: LazyLock<Tokenizer> = LazyLock::new(Tokenizer::o200k);

/// The tokenizer called `name` in vector files.
pub(crate) fn tokenizer(name: &str) -> Result<&'static Tokenizer, String> {
    match name {
        "cl100k_base" => Ok(&CL100K),
        "o200k_base" => Ok(&O200K),
        "minilm_wordpiece" => Ok(&MINILM),
        _ => Err(format!("tokenizer {name} has no code yet")),
    }
}
