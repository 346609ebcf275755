//! The TypeScript types of what JavaScript sees, made from the Rust types.
//!
//! Each file of `wasm/types` belongs to a feature of this crate, whose module holds it. What no Rust type says, such as
//! functions, stands beside the code in files of its own.

pub(crate) mod declarations;

use declarations::Declarations;

/// Returns the names of the files in `wasm/types`, each with its text. No type is in two of them.
pub fn files() -> [(&'static str, String); 3] {
    let mut types = Declarations::default();
    crate::score::declare(&mut types);
    let scorer = types.file();
    crate::index::declare(&mut types);
    let books = types.file();
    crate::method::declare(&mut types);
    crate::orders::declare(&mut types);
    crate::provider::declare(&mut types);
    crate::run::declare(&mut types);
    crate::compare::declare(&mut types);
    [("scorer.d.ts", scorer), ("books.d.ts", books), ("page.d.ts", types.file())]
}
