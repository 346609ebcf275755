//! A report's part on judges: who judged what, how far they agree, HAMLET's tables from their verdicts.

use super::books::TokenPlaces;
use super::tables::Naming;
use super::{LineKey, Run};
use crate::paper::hamlet::{self, Perspective};
use closeread_eval::observations::{Aggregation, CellId, MetricName, Observations, PoolError, Rows, Score};
use closeread_eval::{ChunkPlace, Item, Outcome, Task};
use closeread_judges::{
    Agreement, IfUnreadable, Judge, Judgement, JudgementIndex, Judging, Panel, PanelVerdict, Ruling, Subject, Verdict,
    among, applies_to_summaries, cited, correctness_judge, summary_scores,
};
use closeread_llm::FinishReason;
use closeread_methods::record::Record;
use closeread_table::number::{percent, thousands};
use closeread_table::{Table, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The tables on the judges of a run: what was judged, agreement within panels and between them, each panel's accuracy
/// where there are several. None where nothing was judged.
pub fn judging_tables(run: &Run) -> Vec<Table> {
    let judging = &run.judging;
    if judging.panels.is_empty() {
        return Vec::new();
    }
    let index = judging.index();
    let by_panel: Vec<BTreeMap<Judge, Vec<Subject>>> =
        judging.panels.iter().map(|panel| subjects_of(panel, &run.items, &run.records)).collect();
    let mut tables = vec![who_judged(&index, &by_panel)];
    tables.extend(accuracies(run, &index));
    tables.extend(agreements(&index, &by_panel));
    tables
}

/// HAMLET's tables for the judged summaries of these runs.
///
/// # Errors
/// [`PoolError`] as [`RunView::observations`](super::RunView::observations).
pub(super) fn hamlet_tables(runs: &[Run]) -> Result<Vec<Table>, PoolError> {
    let asked = |run: &Run| [Judge::AlignKeyFacts, Judge::VerifyFacts].iter().any(|j| run.judging.panel(*j).is_some());
    let perspective = |item: &Item| {
        let label = item.labels.get(hamlet::PERSPECTIVE)?;
        Perspective::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(label))
    };
    let mut tables = Vec::new();
    for run in runs.iter().filter(|run| asked(run) && run.items.iter().any(|item| perspective(item).is_some())) {
        let index = run.judging.index();
        let mut table = run.view().scored_by(|item, record| summary_scores(&index, item, record))?;
        let items: HashMap<&str, &Item> = run.items.iter().map(|item| (item.id.as_str(), item)).collect();
        table.describe(|facts| {
            let Some(item) = items.get(facts.id.as_str()) else { return };
            facts.metrics.extend(applies_to_summaries(item));
            let place = fifth(item, &run.books).map(|fifth| (hamlet::FIFTH, hamlet::FIFTHS[fifth]));
            let perspective = perspective(item).map(|perspective| (hamlet::PERSPECTIVE, perspective.name()));
            let labels = perspective.into_iter().chain(place);
            facts.labels.extend(labels.map(|(name, value)| (name.to_owned(), value.to_owned())));
        });
        tables.push((Arc::from(run.name.as_str()), table));
    }
    let table = match (tables.len(), tables.pop()) {
        (_, None) => return Ok(Vec::new()),
        (1, Some((_, table))) => table,
        (_, last) => Observations::pooled(tables.into_iter().chain(last))?,
    };
    Ok(hamlet::tables(&table))
}

/// Returns who judged, for the facts of a run.
pub fn judged_by(judging: &Judging) -> Option<String> {
    let names: Vec<String> = judging.panels.last().map(Panel::name).into_iter().collect();
    (!names.is_empty()).then(|| names.join("; "))
}

/// Returns what a panel is asked about a run: every trial and question that its judges fit.
pub fn subjects_of(panel: &Panel, items: &[Item], records: &[Record]) -> BTreeMap<Judge, Vec<Subject>> {
    let by_id: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let mut by_judge: BTreeMap<Judge, Vec<Subject>> = BTreeMap::new();
    for record in records {
        let Some(item) = by_id.get(record.key.item.as_str()) else { continue };
        for judge in panel.judges_of(item, &record.outcome, cited(record)) {
            by_judge.entry(judge).or_default().push(Subject::from(&record.key));
        }
    }
    for item in items.iter().filter(|item| panel.classifies(item)) {
        by_judge.entry(Judge::ClassifyQuestion).or_default().push(Subject::question(&item.id));
    }
    by_judge
}

/// The fifth of its book, from 0, in which an item's chunk begins: by the number of the chunk where the item has `chunk`,
/// from 0, and `n_chunks`, else by its first token.
fn fifth(item: &Item, books: &BTreeMap<String, TokenPlaces>) -> Option<usize> {
    let number = |name: &str| usize::try_from(item.other.get(name)?.as_u64()?).ok();
    if let Some((chunk, n_chunks)) = number("chunk").zip(number("n_chunks")).filter(|(chunk, n)| chunk < n) {
        return Some(hamlet::fifth(chunk, n_chunks));
    }
    let facts = item.key_facts.as_ref()?;
    let ChunkPlace::Offsets { start, .. } = facts.chunk else { return None };
    let book = books.get(&facts.document).filter(|book| book.n_tokens() > 0)?;
    Some(hamlet::fifth_at(book.token_at(start) as f64 / book.n_tokens() as f64))
}

fn who_judged(index: &JudgementIndex<'_>, by_panel: &[BTreeMap<Judge, Vec<Subject>>]) -> Table {
    let columns = [
        "judges",
        "question",
        "to judge",
        "judged",
        "silent",
        "open",
        "responses unread",
        "refused or failed",
        "prompt tokens",
        "response tokens",
        "prompt",
    ];
    let title = "Who judged what";
    let mut table = Table::new("judging", title, columns.map(str::to_owned).to_vec());
    let mut n_cut: BTreeMap<&str, usize> = BTreeMap::new();
    let mut n_remembered = 0;
    for (panel, by_judge) in index.judging().panels.iter().zip(by_panel) {
        for (judge, subjects) in by_judge {
            let judged = Judged::of(index, panel, *judge, subjects);
            if judged.cut > 0 {
                *n_cut.entry(judge.name()).or_default() += judged.cut;
            }
            n_remembered += judged.remembered;
            let name = if *judge == Judge::Rule { "builtin/rule".to_owned() } else { panel.name() };
            let prompt = panel
                .prompts
                .get(judge)
                .map_or_else(|| Value::missing("no prompt"), |p| Value::text(&p[..12.min(p.len())]));
            let Judged { ruled, silent, open, unread, refused, prompt_tokens, response_tokens, .. } = judged;
            let counts = [subjects.len(), ruled, silent, open, unread, refused].map(Value::count);
            let tokens = [prompt_tokens, response_tokens].map(|count| Value::Count { count });
            let head = [Value::text(name), Value::text(judge.name())];
            table.rows.push(head.into_iter().chain(counts).chain(tokens).chain([prompt]).collect());
        }
    }
    table.notes.push(
        "judged: the panel has a verdict; silent: every member responded and none could be read; open: members are still \
         to be asked (closeread judge goes on)"
            .to_owned(),
    );
    table.notes.push(silence_note());
    if n_remembered > 0 {
        let n = thousands(n_remembered as u64);
        table.notes.push(format!("remembered responses, whose tokens are here and not in What it took: {n}"));
    }
    if !n_cut.is_empty() {
        let each = n_cut.iter().map(|(judge, n)| format!("{judge} {n}")).collect::<Vec<_>>().join(", ");
        table.notes.push(format!("responses that ended at their limit of tokens: {each}"));
    }
    if index.judging().panels.len() > 1 {
        table
            .notes
            .push("where several panels were asked the same, the last one speaks in all other tables".to_owned());
    }
    table
}

/// Counts of what a panel made of one question on some subjects.
#[derive(Default)]
struct Judged {
    ruled: usize,
    silent: usize,
    open: usize,
    /// Responses of members that could not be read.
    unread: usize,
    /// Calls of members that were refused or failed.
    refused: usize,
    /// Responses that ended at their limit of tokens.
    cut: usize,
    /// Responses from the cache.
    remembered: usize,
    prompt_tokens: u64,
    response_tokens: u64,
}

impl Judged {
    fn of(index: &JudgementIndex<'_>, panel: &Panel, judge: Judge, subjects: &[Subject]) -> Self {
        let mut counts = Self::default();
        for subject in subjects {
            match index.verdict(panel, subject, judge) {
                PanelVerdict::Ruled(_) => counts.ruled += 1,
                PanelVerdict::Silent => counts.silent += 1,
                PanelVerdict::Pending => counts.open += 1,
            }
            index.members(panel, subject, judge).into_iter().flatten().for_each(|judgement| counts.add(judgement));
        }
        counts
    }

    fn add(&mut self, judgement: &Judgement) {
        match &judgement.verdict {
            Verdict::Ruled { .. } => {}
            Verdict::Unparsed => self.unread += 1,
            Verdict::Overflow | Verdict::Blocked { .. } | Verdict::Failed { .. } => self.refused += 1,
        }
        self.cut += usize::from(judgement.calls.last().is_some_and(|call| call.finish == FinishReason::Length));
        for call in &judgement.calls {
            self.remembered += usize::from(call.cached);
            self.prompt_tokens = self.prompt_tokens.saturating_add(call.usage.prompt_tokens.unwrap_or(0));
            self.response_tokens = self.response_tokens.saturating_add(call.usage.completion_tokens.unwrap_or(0));
        }
    }
}

fn silence_note() -> String {
    let wrong: Vec<&str> = Judge::ALL
        .into_iter()
        .filter(|judge| judge.if_unreadable() == IfUnreadable::Incorrect)
        .map(Judge::name)
        .collect();
    format!(
        "a response that cannot be read and a failed call count as incorrect for {} (its paper's rule), and as no vote for \
         all others, whose papers do not say; an answer on which a panel is silent is in no mean",
        wrong.join(", ")
    )
}

/// The panels that decided on correct answers, each with its name and its judge.
pub(super) fn correctness_panels(run: &Run) -> Vec<(String, &Panel, Judge)> {
    let panels = run.judging.panels.iter().filter_map(|panel| Some((panel, correctness_judge(panel)?)));
    panels.map(|(panel, judge)| (format!("{} ({})", panel.name(), judge.name()), panel, judge)).collect()
}

/// Returns the verdict of a panel on an answer.
pub(super) fn verdict(index: &JudgementIndex<'_>, record: &Record, panel: &Panel, judge: Judge) -> Score {
    match index.verdict(panel, &Subject::from(&record.key), judge) {
        PanelVerdict::Ruled(Ruling::Correctness { correct }) => Score::Value(f64::from(u8::from(correct))),
        _ => Score::Unjudged,
    }
}

/// Makes the table of each panel's accuracy, a line a cell; only where several panels decided on correct answers.
fn accuracies(run: &Run, index: &JudgementIndex<'_>) -> Option<Table> {
    let panels = correctness_panels(run).into_iter();
    let panels: Vec<(MetricName, &Panel, Judge)> =
        panels.map(|(name, panel, judge)| (name.into(), panel, judge)).collect();
    if panels.len() < 2 {
        return None;
    }
    let verdicts = |item: &Item, record: &Record| {
        let answered = matches!(record.outcome, Outcome::Answered { .. }) && !item.answers.is_empty();
        let panels = panels.iter().filter(|_| answered);
        panels.map(|(name, panel, judge)| (name.clone(), verdict(index, record, panel, *judge))).collect()
    };
    let judged = run.view().scored_by(verdicts).ok()?;
    let open: Vec<(CellId, LineKey)> = judged
        .cells()
        .filter(|(_, cell)| cell.key.task == Task::Generative)
        .map(|(id, cell)| (id, LineKey::from(&cell.key)))
        .collect();
    let naming = Naming::of(open.iter().map(|(_, key)| key));
    let mut columns = naming.heads();
    columns.extend(panels.iter().map(|(name, ..)| name.to_string()));
    let mut table = Table::new("judged-accuracy", "Judged accuracy by panel", columns);
    for (id, key) in open {
        let accuracy = |(name, ..): &(MetricName, &Panel, Judge)| {
            let made = judged.aggregate(&Rows::of(id), &Aggregation::new(name.clone()));
            Value::score(made.estimate.as_ref(), "nothing was judged")
        };
        table.rows.push(naming.values(&key).into_iter().chain(panels.iter().map(accuracy)).collect());
    }
    table.explain_marks();
    (!table.rows.is_empty()).then_some(table)
}

/// Agreement of the members of each panel, and of every two panels that decided on correct answers.
fn agreements(index: &JudgementIndex<'_>, by_panel: &[BTreeMap<Judge, Vec<Subject>>]) -> Option<Table> {
    let columns = ["judges", "question", "rated", "agreed", "kappa", "kappa 95%", "AC1", "AC1 95%"];
    let title = "Agreement of judges beyond chance";
    let mut table = Table::new("judging-agreement", title, columns.map(str::to_owned).to_vec());
    let panels = &index.judging().panels;
    for (panel, by_judge) in panels.iter().zip(by_panel) {
        for (judge, subjects) in by_judge {
            if let Some(agreement) = among(index, panel, *judge, subjects) {
                let who = format!("within {}", panel.name());
                if agreement.n_complete < agreement.n {
                    let (complete, n) = (thousands(agreement.n_complete as u64), thousands(agreement.n as u64));
                    table
                        .notes
                        .push(format!("kappa {who}, {}: over the {complete} of {n} that all rated", judge.name()));
                }
                table.rows.push(agreement_row(&who, judge.name(), &agreement));
            }
        }
    }
    for (at, (first, by_judge)) in panels.iter().zip(by_panel).enumerate() {
        for second in &panels[at + 1..] {
            let Some((a, b)) = correctness_judge(first).zip(correctness_judge(second)) else { continue };
            let verdict = |panel: &Panel, subject: &Subject, judge| match index.verdict(panel, subject, judge) {
                PanelVerdict::Ruled(Ruling::Correctness { correct }) => {
                    Some(if correct { "correct" } else { "incorrect" })
                }
                _ => None,
            };
            let subjects = by_judge.get(&a).map(Vec::as_slice).unwrap_or_default();
            let ratings: Vec<Vec<Option<&str>>> =
                subjects.iter().map(|subject| vec![verdict(first, subject, a), verdict(second, subject, b)]).collect();
            if let Some(agreement) = Agreement::of(&ratings) {
                let name = format!("{} against {}", first.name(), second.name());
                table.rows.push(agreement_row(&name, "correct answers", &agreement));
            }
        }
    }
    table.notes.push(
        "agreed: share of agreeing pairs; kappa: Cohen's of two raters, Fleiss' of more (without interval); AC1: Gwet's; \
         - where all ratings are alike; no interval where all raters agree"
            .to_owned(),
    );
    (!table.rows.is_empty()).then_some(table)
}

fn agreement_row(who: &str, what: &str, agreement: &Agreement) -> Vec<Value> {
    let Agreement { n, observed, kappa, fleiss, ac1, .. } = agreement;
    let kappas = kappa.as_ref().and_then(|kappa| kappa.interval);
    let number = |value: Option<f64>| match value.filter(|value| value.is_finite()) {
        Some(value) => Value::Number { value, decimals: 3 },
        None => Value::missing("all ratings are alike"),
    };
    let interval = |ends: Option<(f64, f64)>| match ends {
        Some((low, high)) => Value::text(format!("[{low:.3}, {high:.3}]")),
        None => Value::missing("there is no spread to tell it from"),
    };
    vec![
        Value::text(who),
        Value::text(what),
        Value::count(*n),
        Value::text(percent(*observed)),
        number(kappa.as_ref().map(|kappa| kappa.kappa).or(*fleiss)),
        if fleiss.is_some() { Value::missing("Fleiss' kappa has no interval here") } else { interval(kappas) },
        number(Some(ac1.ac1)),
        interval(ac1.interval),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_books::tokens::Tokenizer;
    use closeread_books::{Book, ReadOptions};
    use closeread_eval::{KeyFacts, Task};

    #[test]
    fn a_chunk_stands_where_its_number_says_or_else_its_first_token() {
        let text = "one two three four five six seven eight nine ten";
        let book = Book::new("b", "", text.to_owned(), &ReadOptions::default()).unwrap();
        let places = TokenPlaces::of(&book, &Tokenizer::cl100k()).unwrap();
        let books = BTreeMap::from([("b".to_owned(), places)]);
        let chunk = ChunkPlace::Offsets { start: text.find("five").unwrap(), end: text.len() };
        let mut item = Item::new("q", "b", "?", Task::Summary);
        item.key_facts = Some(KeyFacts { document: "b".into(), chunk, roots: vec![] });
        assert_eq!(fifth(&item, &books), Some(2));
        assert_eq!(fifth(&item, &BTreeMap::new()), None);
        item.other.extend([("chunk", 6), ("n_chunks", 7)].map(|(name, n)| (name.to_owned(), n.into())));
        assert_eq!(fifth(&item, &BTreeMap::new()), Some(4));
    }
}
