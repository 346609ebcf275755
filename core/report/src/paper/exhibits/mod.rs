//! Exhibits of the papers, their tables and figures, and which of them some runs give.

mod exhibit;
mod list;
mod need;
mod number;

pub use exhibit::{Exhibit, Made, Status};
pub use list::exhibits;
pub use need::{Held, Need};
pub use number::{NotANumber, Number};

use closeread_eval::Paper;
use closeread_table::{Table, Value};

/// The exhibits of a paper with these numbers; all without any.
///
/// # Errors
/// The first number that the paper does not have.
pub fn numbered(paper: Paper, numbers: &[Number]) -> Result<Vec<&'static Exhibit>, Number> {
    let find = |number: &Number| exhibits(paper).iter().find(|one| one.number == *number).ok_or(*number);
    if numbers.is_empty() { Ok(exhibits(paper).iter().collect()) } else { numbers.iter().map(find).collect() }
}

/// Lists the exhibits, one a line: what each shows, and what these runs give of it.
pub(crate) fn listed(paper: Paper, exhibits: &[&Exhibit], held: &Held<'_>, tables: &[Table]) -> Table {
    let statuses: Vec<Status> = exhibits.iter().map(|one| one.status(held, tables)).collect();
    let available = statuses.iter().filter(|status| matches!(status, Status::Available(_))).count();
    let n_wordless = exhibits.iter().filter(|one| matches!(one.made, Made::Wordless(_))).count();
    let title = format!(
        "{}: {available} of {} with numbers available from these runs; {n_wordless} without",
        paper.title(),
        exhibits.len() - n_wordless
    );
    let columns = ["exhibit", "section", "shows", "state"].map(str::to_owned).to_vec();
    let mut table = Table::new(format!("{}-exhibits", paper.name()), title, columns);
    for (one, status) in exhibits.iter().zip(statuses) {
        let state = match status {
            Status::Available(lacks) if lacks.is_empty() => "available".to_owned(),
            Status::Available(lacks) => format!("available; {}", lacks.join("; ")),
            Status::Lacking(why) => why,
        };
        let number = one.number.to_string();
        table.rows.push([&number, one.section, one.title, &state].map(Value::text).to_vec());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::tables_of;
    use crate::testing::{Case, case, table};
    use std::collections::BTreeSet;

    #[test]
    fn every_number_of_a_paper_stands_once_and_without_gaps() {
        for paper in Paper::ALL {
            let all: Vec<Number> = exhibits(paper).iter().map(|one| one.number).collect();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{paper:?}");
            let tables = all.iter().filter(|number| matches!(number, Number::Table(_))).count() as u8;
            let figures = all.iter().filter(|number| matches!(number, Number::Figure(_))).count() as u8;
            for number in (1..=tables).map(Number::Table).chain((1..=figures).map(Number::Figure)) {
                assert!(all.contains(&number), "{paper:?} has no {number}");
            }
        }
    }

    #[test]
    fn numbers_that_a_paper_does_not_have_are_refused() {
        let found = numbered(Paper::CorpusQa, &[Number::Table(3), Number::Figure(4)]).unwrap();
        assert_eq!(found.iter().map(|one| one.section).collect::<Vec<_>>(), ["4.2", "A"]);
        let closed_book = numbered(Paper::SagaScale, &[Number::Table(4)]).unwrap();
        assert_eq!(closed_book[0].section, "3.2", "where the paper speaks of it");
        assert_eq!(numbered(Paper::CorpusQa, &[Number::Table(6)]), Err(Number::Table(6)));
        assert_eq!(numbered(Paper::CorpusQa, &[]).unwrap().len(), exhibits(Paper::CorpusQa).len());
    }

    #[test]
    fn every_table_of_a_paper_shows_an_exhibit() {
        let trial = |method: &str, budget| {
            let labels = [("question_type", "who"), ("complexity", "detail"), ("aspect", "plot"), ("domain", "x")];
            let labelled = labels.into_iter().fold(case("a"), |case, (name, value)| case.label(name, value));
            let scored = ["accuracy", "f1", "bleu_1"].into_iter().fold(labelled, |case, name| case.scored(name, 1.0));
            let (book_tokens, evidence_tokens) = (Some(200_000), vec![5, 100]);
            let method = method.to_owned();
            Case { method, budget, book_tokens, evidence_tokens, ..scored.label("difficulty", "hard") }
        };
        let methods =
            ["full-document", "naive-rag", "agentic-rag", "closed-book", "memory-agent", "corpus-rag", "human"];
        let cases: Vec<Case> =
            methods.map(|name| trial(name, None)).into_iter().chain([trial("dos-rag", Some(5))]).collect();
        for paper in [Paper::SagaScale, Paper::NovelQa, Paper::DosRag, Paper::CorpusQa] {
            let tables = tables_of(paper, &table(&cases));
            assert!(tables.len() > 3, "{paper:?}");
            let heads: BTreeSet<_> = tables.iter().map(|table| (&table.title, &table.source)).collect();
            assert_eq!(heads.len(), tables.len(), "{paper:?}: two tables below one title cannot be told apart");
            for table in tables {
                assert!(exhibits(paper).iter().any(|one| one.is_shown_by(&table)), "{}: {}", table.id, table.source);
            }
        }
    }
}
