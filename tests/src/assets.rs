//! The files that a page hands in, handed in here as well: the crates are compiled as the page has them, once for both.

use closeread_books::tokens::{Encoding, Tokenizer};
use closeread_metrics::meteor::WordNet;
use closeread_text::sentence::punkt;
use flate2::read::GzDecoder;
use std::io::Read as _;
use std::sync::{Arc, LazyLock};

pub(crate) static CL100K: LazyLock<Tokenizer> =
    LazyLock::new(|| encoding(Encoding::Cl100k, include_bytes!("../../core/books/assets/tokens/cl100k_base.bin.gz")));
pub(crate) static O200K: LazyLock<Tokenizer> =
    LazyLock::new(|| encoding(Encoding::O200k, include_bytes!("../../core/books/assets/tokens/o200k_base.bin.gz")));
static WORDNET: LazyLock<Arc<WordNet>> = LazyLock::new(|| {
    let file = unpacked(include_bytes!("../../core/metrics/assets/wordnet/wordnet-3.0.bin.gz"));
    Arc::new(WordNet::read(&file).expect("the asset is WordNet"))
});

pub(crate) fn wordnet() -> Arc<WordNet> {
    WORDNET.clone()
}

/// Hands in Punkt's parameters, without which no English sentence is cut.
pub(crate) fn provide_punkt() {
    if punkt::known_english().is_some() {
        return;
    }
    let parameters = include_str!("../../core/text/assets/punkt-en.txt");
    punkt::provide_english(punkt::Parameters::parse(parameters).expect("the asset has Punkt's parameters"));
}

fn encoding(encoding: Encoding, packed: &[u8]) -> Tokenizer {
    Tokenizer::from_vocabulary(encoding, &unpacked(packed)).expect("the asset is a vocabulary")
}

fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut file).expect("the asset is packed by gzip");
    file
}
