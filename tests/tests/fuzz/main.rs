//! Property tests of all readers of foreign files. A fuzzer can drive them (docs/testing.md).
//!
//! No input may panic; every ledger adds up to its items; every scorecard's JSON reads back as what was written.

mod mutate;
mod reading;
mod target;

use mutate::{Choices, mutated};
use std::path::Path;
use std::sync::LazyLock;

static ITEMS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("items"));
static DOCUMENTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("documents"));
static PREDICTIONS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("predictions"));
static PAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("pages"));
static PACKAGES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("packages"));
static STREAMS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("streams"));
static RESPONSES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("responses"));
static BODIES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds("bodies"));
/// Seeds: the examples of docs/scoring-formats.md, each the content of its fenced block, and other scored files.
static EXAMPLES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let docs = include_str!("../../../docs/scoring-formats.md");
    let blocks = docs.split("\n```").skip(1).step_by(2);
    let blocks = blocks.filter_map(|block| Some(block.split_once('\n')?.1.as_bytes().to_vec()));
    blocks.chain(ITEMS.iter().cloned()).chain(PREDICTIONS.iter().cloned()).collect()
});

/// The files of a folder of the corpus.
fn seeds(kind: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(kind);
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Declares a test that makes texts from seeds by the fuzzer's choices, and checks them by the function of that name.
macro_rules! holds {
    ($module:ident::$name:ident: $($seeds:ident),+) => {
        #[test]
        fn $name() {
            bolero::check!().with_iterations(300).for_each(|bytes: &[u8]| {
                let mut choices = Choices(bytes);
                $module::$name(&[$(mutated(&mut choices, &$seeds)),+]).unwrap();
            });
        }
    };
}

holds!(target::predictions: ITEMS, PREDICTIONS);
holds!(target::benchmarks: ITEMS, DOCUMENTS);
holds!(target::parsers: RESPONSES);
holds!(target::submissions: RESPONSES, RESPONSES);
holds!(reading::books: PAGES);
holds!(reading::pages: PAGES);
holds!(reading::archives: PACKAGES, PAGES, PAGES, RESPONSES);
holds!(reading::streams: STREAMS, RESPONSES);
holds!(reading::bodies: BODIES);

#[test]
fn formats() {
    bolero::check!().with_iterations(300).for_each(|bytes: &[u8]| {
        let mut choices = Choices(bytes);
        let head = (0..6).map(|_| choices.below(256) as u8).collect();
        let mut text = || mutated(&mut choices, &EXAMPLES);
        target::formats(&[head, text(), text(), text()]).unwrap();
    });
}
