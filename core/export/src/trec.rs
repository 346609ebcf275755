//! Retrieval results as trec_eval, ir_measures and ranx read them: a run, and its judgements (qrels).
//!
//! What is to be found are the pieces of the gold evidence. A passage that is the first to reach a piece stands as that piece;
//! any other stands as itself and is not relevant. So the judgements do not depend on how a book was cut.

use super::{CellTrials, Row, cell_name, file_name};
use closeread_eval::ranking::{Entry, RANKED_ALONE, entries};
use closeread_eval::{Item, PassageRef};
use closeread_methods::record::Context;
use closeread_report::Run;
use closeread_text::Span;

/// The judgements of an item: a line a piece of evidence whose place is known.
pub fn qrels(item: &Item) -> String {
    let pieces = closeread_eval::ranking::pieces(item);
    pieces.iter().map(|(document, span)| format!("{} 0 {} 1\n", word(&item.id), place(document, *span))).collect()
}

/// The ranking of a trial, best first; nothing without retrieval or evidence.
pub fn run(run: &Run, cell: &CellTrials, row: &Row<'_>) -> String {
    let pieces = closeread_eval::ranking::pieces(row.item);
    let Some(context) = row.record.context.as_ref().filter(|context| context.retriever.is_some()) else {
        return String::new();
    };
    let is_ranking = row.record.key.model == RANKED_ALONE;
    let ranked = if is_ranking { context.passages.iter().collect() } else { ranked(context) };
    let tag = file_name(&cell_name(run, &cell.arm));
    let spans: Vec<(&str, Span)> = ranked
        .iter()
        .filter_map(|passage| Some((passage.document.as_str(), Span::stated(passage.start, passage.end)?)))
        .collect();
    let mut lines = String::new();
    for (rank, entry) in entries(&pieces, &spans).into_iter().enumerate() {
        // A passage may have the very bytes of a piece that was found before, and is not that piece.
        let name = match entry {
            Entry::Piece(n) => place(&pieces[n].0, pieces[n].1),
            Entry::Passage(n) => format!("passage:{}", place(spans[n].0, spans[n].1)),
        };
        // Readers sort by score: it is the rank turned round, so that no tie is broken by names.
        let score = 1_000_000 - rank;
        lines += &format!("{} Q0 {name} {} {score} {tag}\n", word(&row.item.id), rank + 1);
    }
    lines
}

/// The passages of a context, best first: by score, where they have one.
fn ranked(context: &Context) -> Vec<&PassageRef> {
    closeread_eval::ranking::best_first(&context.passages)
}

fn place(document: &str, span: Span) -> String {
    format!("{}:{}-{}", word(document), span.start, span.end)
}

/// A name as one word: TREC's fields end at white space, which is escaped as in addresses, so that two names stay two.
fn word(name: &str) -> String {
    if !name.contains(char::is_whitespace) {
        return name.to_owned();
    }
    let mut word = String::new();
    for c in name.chars() {
        match c {
            c if c.is_whitespace() || c == '%' => {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| word += &format!("%{byte:02X}"));
            }
            c => word.push(c),
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn names_that_differ_in_white_space_alone_stay_two() {
        let names = ["a b", "a  b", "a\nb", "a\u{3000}b", "a_b", " a b", "100%"];
        let words: Vec<String> = names.iter().map(|name| word(name)).collect();
        assert_eq!(words, ["a%20b", "a%20%20b", "a%0Ab", "a%E3%80%80b", "a_b", "%20a%20b", "100%"]);
        assert_eq!(word("100% a"), "100%25%20a");
    }
}
