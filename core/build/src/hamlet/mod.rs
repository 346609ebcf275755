//! HAMLET's construction of queries with key facts (section 3, stage 1; appendices B and C).
//!
//! A book is cut into chunks of about 4K tokens. A model writes a tree of key facts about each chunk from two
//! perspectives; three passes verify every fact; what fails one is pruned with everything below it; a query is written for
//! what is left.

mod chunks;
mod cost;
mod parameters;
mod people;
mod pronoun;
mod prune;
mod query;
mod statistics;
mod study;
mod tree;
mod verify;

pub use chunks::{Chunk, chunks};
pub use closeread_data::statistics::{BookStatistics, books_table};
pub use cost::cost;
pub use parameters::Hamlet;
pub use prune::{Pruned, Removal, Removed, prune};
pub use query::Query;
pub use statistics::pruning_table;
pub use study::{Rating, STUDY_SIZES, Scores, StudyChunk, study, study_chunks, study_cost, study_table};
pub use tree::{Numbered, Tree, numbered};
pub use verify::{Criterion, FactLabel, Labels};

use super::line::{End, Line};
use super::stage::{BuildError, Building, Made, StageStore, Unit, kept};
use super::{Built, Question};
use closeread_books::Book;
use closeread_eval::{ChunkPlace, Item, KeyFacts, Task};
use closeread_methods::Host;
use closeread_methods::Settings;
use closeread_prompts::builds::{
    BuildAgain, HamletQueryAnalytical, HamletQueryNarrative, HamletTreeAnalytical, HamletTreeNarrative,
    HamletVerifyTree,
};
use closeread_text::Language;
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// The stages, in their order.
pub const STAGES: [&str; 7] = ["chunks", "trees", "faithfulness", "objectivity", "significance", "pruning", "queries"];
/// The prompts by which they ask.
pub const PROMPTS: [&str; 6] = [
    HamletTreeAnalytical::NAME,
    HamletTreeNarrative::NAME,
    HamletVerifyTree::NAME,
    HamletQueryAnalytical::NAME,
    HamletQueryNarrative::NAME,
    BuildAgain::NAME,
];

/// A tree with what the three passes say of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Verified {
    tree: Tree,
    passes: Vec<Option<Labels>>,
}

/// Makes queries with key facts about `books`.
///
/// A tree that cannot be read is asked for once more, and so are labels and queries; then it is dropped as `unreadable`.
/// A tree that a pass gives no labels for is dropped as `unverified`. A fact without a label fails the pass.
///
/// # Errors
/// [`BuildError`].
pub async fn hamlet<H: Host, S: StageStore>(
    host: &H,
    settings: Settings<'_>,
    mut building: Building<'_, S>,
    books: &[Arc<Book>],
    parameters: &Hamlet,
) -> Result<Built, BuildError> {
    let by_id: HashMap<&str, &Arc<Book>> = books.iter().map(|book| (book.id.as_str(), book)).collect();
    let book_of = |document: &str| {
        let known =
            || BuildError::Store(format!("a stage names the book `{document}`, which is not among those given"));
        by_id.get(document).copied().ok_or_else(known)
    };

    let cut = chunks(books, settings.tokenizer, parameters.chunk_tokens)?;
    let cut =
        building.stage("chunks", &cut, async |unit: &Unit<Chunk>| Ok(long_enough(&unit.input, parameters))).await?;
    let cut = kept(cut);
    for Unit { id, input } in &cut {
        chunks::check(id, input, book_of(&input.document)?)?;
    }

    let per_tree = tree::units(&cut, &parameters.perspectives);
    let trees = building
        .stage("trees", &per_tree, async |unit: &Unit<tree::Perceived>| {
            let tree::Perceived { chunk, perspective } = &unit.input;
            let book = by_id[chunk.document.as_str()];
            tree::grow(host, settings, book, chunk, *perspective, parameters.enforce_names).await
        })
        .await?;
    let trees: Vec<Unit<Tree>> = kept(trees);

    let mut passes: Vec<HashMap<String, Labels>> = Vec::new();
    for criterion in Criterion::ALL {
        let pass = building
            .stage(criterion.name(), &trees, async |unit: &Unit<Tree>| {
                verify::verify(host, settings, by_id[unit.input.chunk.document.as_str()], &unit.input, criterion).await
            })
            .await?;
        passes.push(kept(pass).into_iter().map(|unit| (unit.id, unit.input)).collect());
    }

    let labels = |id: &str| passes.iter().map(|pass| pass.get(id).cloned()).collect();
    let verified: Vec<Unit<Verified>> = trees
        .iter()
        .map(|Unit { id, input }| Unit { id: id.clone(), input: Verified { tree: input.clone(), passes: labels(id) } })
        .collect();
    let pruning = building
        .stage("pruning", &verified, async |unit: &Unit<Verified>| {
            let language = by_id[unit.input.tree.chunk.document.as_str()].language;
            Ok(pruned(&unit.input, parameters.enforce_names.then_some(language)))
        })
        .await?;
    let pruned: Vec<Unit<Pruned>> = kept(pruning);

    let queries: Vec<Line<Query>> = building
        .stage("queries", &pruned, async |unit: &Unit<Pruned>| {
            query::ask(host, settings, by_id[unit.input.chunk.document.as_str()], &unit.input).await
        })
        .await?;

    let by_unit: HashMap<&str, &Pruned> = pruned.iter().map(|unit| (unit.id.as_str(), &unit.input)).collect();
    let mut items = Vec::new();
    for unit in kept(queries) {
        if let Some(pruned) = by_unit.get(unit.id.as_str()) {
            let own = cut.iter().filter(|chunk| chunk.input.document == pruned.chunk.document);
            let n_chunks = own.map(|chunk| chunk.input.index + 1).max().unwrap_or(0);
            items.push(item(&unit.id, &unit.input, pruned, by_id[pruned.chunk.document.as_str()], n_chunks));
        }
    }
    let questions = people::questions(&trees, &passes, &pruned, &items, &by_id)?;
    let of_books = statistics::books(books, settings.tokenizer, &cut, &items, &parameters.about)?;
    let (grown, left) = (trees.iter().map(|unit| &unit.input), pruned.iter().map(|unit| &unit.input));
    let tables = vec![books_table(&of_books), pruning_table(grown, left)];
    Ok(Built { items, funnel: building.into_funnel(), tables, questions, sheet: None, about: parameters.about.clone() })
}

fn long_enough(chunk: &Chunk, parameters: &Hamlet) -> Made<Chunk> {
    Made::of(match chunk.tokens < parameters.least_tokens {
        true => End::dropped("short", format!("{} tokens of at least {}", chunk.tokens, parameters.least_tokens)),
        false => End::Kept { value: chunk.clone() },
    })
}

fn pruned(verified: &Verified, names_in: Option<Language>) -> Made<Pruned> {
    let Verified { tree, passes } = verified;
    let silent: Vec<&str> =
        Criterion::ALL.iter().zip(passes).filter(|(_, pass)| pass.is_none()).map(|(c, _)| c.name()).collect();
    if !silent.is_empty() {
        return Made::of(End::dropped("unverified", format!("no labels for {}", silent.join(", "))));
    }
    let passes: Vec<&Labels> = passes.iter().flatten().collect();
    let pruned = prune::prune(tree, &passes, names_in);
    Made::of(match pruned.roots.is_empty() {
        true => End::dropped("no root left", format!("{} facts were removed", pruned.removed.len())),
        false => End::Kept { value: pruned },
    })
}

fn item(id: &str, query: &Query, pruned: &Pruned, book: &Book, n_chunks: usize) -> Item {
    let chunk = &pruned.chunk;
    let mut item = Item::new(id, &chunk.document, &query.query, Task::Summary)
        .label("perspective", pruned.perspective.name())
        .label("language", book.language.code());
    item.key_facts = Some(KeyFacts {
        document: chunk.document.clone(),
        chunk: ChunkPlace::Offsets { start: chunk.start, end: chunk.end },
        roots: pruned.roots.clone(),
    });
    item.other.extend([("chunk", chunk.index), ("n_chunks", n_chunks)].map(|(name, n)| (name.to_owned(), n.into())));
    item
}
