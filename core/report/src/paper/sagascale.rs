//! SagaScale (sections 4.1 to 4.3, A.1): long context, naive retrieval and agentic retrieval on whole novels.

use super::tabulate::{
    Group, count, filled, groups, missing, number, plain_table, policy_note, score_over_trials, share, table, text,
};
use closeread_eval::correlate;
use closeread_eval::observations::{Ending, FailurePolicy, ItemId, Observation, Observations};
use closeread_methods::record::SEARCHES;
use closeread_table::Table;
use std::collections::{BTreeMap, BTreeSet};

/// Upper edges of the length bins in tokens, K = 1000, as Table 2 prints them; an edge belongs to the bin above it.
///
/// Table 2's own counts follow only if the third edge lies near 384K (docs/audit.md); the printed edges are kept.
pub const LENGTH_EDGES: [usize; 4] = [128_000, 256_000, 512_000, 1_000_000];
/// Names of the length bins.
pub const LENGTH_BINS: [&str; 5] = ["<128K", "128-256K", "256-512K", "512K-1M", ">=1M"];
/// Points of the chain-length curve with fewer problems are left out (figure 4).
pub const MIN_CHAIN_SAMPLES: usize = 10;
/// Retrievals of an agentic run; one more leaves the problem unanswered (section 4.1).
pub const MAX_RETRIEVALS: usize = 8;

/// What part a method plays in the paper's comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Setting {
    /// LC: the whole book in the prompt.
    LongContext,
    /// NR: one retrieval.
    NaiveRag,
    /// AR: the reader searches.
    AgenticRag,
    /// No book at all.
    ClosedBook,
}

impl Setting {
    /// The setting that a method of closeread's belongs to, by the words in its name; `None` for the others.
    pub fn of_method(method: &str) -> Option<Self> {
        let has = |word: &str| method.contains(word);
        if has("closed") {
            Some(Self::ClosedBook)
        } else if has("agentic") {
            Some(Self::AgenticRag)
        } else if has("full") || has("long") {
            Some(Self::LongContext)
        } else if has("rag") {
            Some(Self::NaiveRag)
        } else {
            None
        }
    }
}

/// The length bin, from 0, of a book.
pub fn length_bin(book_tokens: usize) -> usize {
    LENGTH_EDGES.iter().filter(|edge| book_tokens >= **edge).count()
}

/// Incorrect / attempted (footnote 6): `(incorrect, attempted)` over right and wrong answers.
///
/// Attempted excludes what signals inability: "not found" (NR) and searches spent (AR); and what the reader never got to
/// answer. A reply without a readable answer is an attempt, and a wrong one: the paper excludes only the two signals.
pub fn calibration_errors(endings_and_scores: &[(Ending, f64)]) -> (f64, usize) {
    let attempted = endings_and_scores.iter().filter(|(ending, _)| is_attempt(*ending));
    attempted.fold((0.0, 0), |(incorrect, n), (_, score)| (incorrect + 1.0 - score, n + 1))
}

/// True where the model committed itself to an answer, well-formed or not.
fn is_attempt(ending: Ending) -> bool {
    matches!(ending, Ending::Answered | Ending::Unparsed)
}

/// Share of problems whose accuracy over all models is exactly 0 or exactly 1 (Table 8); `None` without problems.
pub fn polarization(accuracy_by_problem: &[f64]) -> Option<f64> {
    let n = accuracy_by_problem.len();
    let extreme = accuracy_by_problem.iter().filter(|accuracy| **accuracy == 0.0 || **accuracy == 1.0).count();
    (n > 0).then(|| extreme as f64 / n as f64)
}

/// Mean score over the problems whose book has at most `tokens` tokens (figure 3a), with their number.
pub fn cumulative_accuracy(tokens_and_scores: &[(usize, f64)], tokens: usize) -> Option<(f64, usize)> {
    let within: Vec<f64> = tokens_and_scores.iter().filter(|(book, _)| *book <= tokens).map(|(_, s)| *s).collect();
    (!within.is_empty()).then(|| (within.iter().sum::<f64>() / within.len() as f64, within.len()))
}

/// Cumulative accuracy at 128K minus that at 1M tokens (section 4.2); `None` if no book is that short.
pub fn decline(tokens_and_scores: &[(usize, f64)]) -> Option<f64> {
    let at = |tokens| cumulative_accuracy(tokens_and_scores, tokens).map(|(accuracy, _)| accuracy);
    Some(at(128_000)? - at(1_000_000)?)
}

/// Among problems that no model solves by one retrieval, those that at least one solves by searching (72.6% in the
/// paper), as `(solved, unsolvable)`. Each problem is (solved by any model in NR, solved by any in AR).
pub fn solved_by_agentic(problems: &[(bool, bool)]) -> (usize, usize) {
    let unsolvable = problems.iter().filter(|(naive, _)| !naive);
    (unsolvable.clone().filter(|(_, agentic)| *agentic).count(), unsolvable.count())
}

/// Minus Spearman's rho between error rates and accuracies over configurations (section 4.2): errors ranked ascending,
/// accuracies descending, ties sharing their mean rank. `None` where either is constant.
pub fn error_rank_correlation(error_rates: &[f64], accuracies: &[f64]) -> Option<f64> {
    correlate::spearman(error_rates, accuracies).map(|rho| -rho)
}

/// The paper's tables for these trials; those for which the trials carry nothing are left out.
pub fn tables(trials: &Observations) -> Vec<Table> {
    let groups = groups(trials);
    let all = [
        accuracy(&groups),
        in_window(&groups),
        by_length(&groups),
        cumulative(&groups),
        calibration(&groups),
        parsing(&groups),
        by_tool_calls(&groups),
        over_models(&groups),
        rank_correlations(&groups),
    ];
    all.into_iter().filter_map(filled).collect()
}

fn accuracy(groups: &[Group<'_>]) -> Table {
    let columns = FailurePolicy::ALL.map(FailurePolicy::name);
    let mut table = table(groups, "sagascale-accuracy", "Accuracy over all problems", "SagaScale, Table 3", columns);
    for group in groups {
        table.rows.push(group.row(FailurePolicy::ALL.map(|policy| group.mean(&group.rows(), policy))));
    }
    table.notes.extend(FailurePolicy::ALL.map(policy_note));
    table.notes.push("the paper counts over-long inputs as wrong".to_owned());
    table
}

/// The items whose book fits the window of each model: those that its long-context runs could take; without such a run,
/// those whose tokens the window holds.
fn fitting<'a>(groups: &[Group<'a>]) -> BTreeMap<&'a str, BTreeSet<ItemId>> {
    let mut fits: BTreeMap<&str, BTreeSet<ItemId>> = BTreeMap::new();
    let mut tried: BTreeMap<&str, BTreeSet<ItemId>> = BTreeMap::new();
    for group in groups.iter().filter(|group| Setting::of_method(&group.key.method) == Some(Setting::LongContext)) {
        for row in group.table.rows(&group.rows()) {
            if row.outcome != Ending::Missing {
                tried.entry(&group.key.model).or_default().insert(row.item);
            }
            if !matches!(row.outcome, Ending::Overflow | Ending::Missing) {
                fits.entry(&group.key.model).or_default().insert(row.item);
            }
        }
    }
    for group in groups {
        let holds = group.rows().in_window();
        let tried = tried.get(&*group.key.model);
        let undecided =
            group.table.rows(&holds).map(|row| row.item).filter(|item| tried.is_none_or(|t| !t.contains(item)));
        let undecided: Vec<ItemId> = undecided.collect();
        if !undecided.is_empty() {
            fits.entry(&group.key.model).or_default().extend(undecided);
        }
    }
    fits
}

fn in_window(groups: &[Group<'_>]) -> Table {
    let fits = fitting(groups);
    let title = "Accuracy over the problems whose book fits the model's window";
    let mut table = table(groups, "sagascale-in-window", title, "SagaScale, Table 5", ["accuracy", "problems"]);
    for group in groups {
        let Some(items) = fits.get(&*group.key.model) else { continue };
        let within = group.rows().items(items.iter().copied());
        let n = group.table.rows(&within).map(|row| row.item).collect::<BTreeSet<_>>().len();
        table.rows.push(group.row([group.mean(&within, FailurePolicy::Wrong), count(n)]));
    }
    table
}

fn by_length(groups: &[Group<'_>]) -> Table {
    let title = "Accuracy by the book's length in tokens";
    let mut table = table(groups, "sagascale-length", title, "SagaScale, Table 2 and figure 3", LENGTH_BINS);
    for group in groups.iter().filter(|group| !group.is_empty(&group.rows().length(0..usize::MAX))) {
        let mean = |bin: usize| {
            let rows = group.about(|item| item.book_tokens.map(length_bin) == Some(bin));
            group.mean(&rows, FailurePolicy::Wrong)
        };
        table.rows.push(group.row((0..LENGTH_BINS.len()).map(mean)));
    }
    table.notes.push(policy_note(FailurePolicy::Wrong));
    table
}

fn cumulative(groups: &[Group<'_>]) -> Table {
    let columns = ["up to 128K", "up to 256K", "up to 512K", "up to 1M", "decline 128K to 1M"];
    let title = "Cumulative accuracy: problems whose book has at most so many tokens";
    let mut table = table(groups, "sagascale-cumulative", title, "SagaScale, figure 3a", columns);
    for group in groups {
        let sized = group.scores(&group.rows()).into_iter();
        let problems: Vec<(usize, f64)> = sized.filter_map(|one| Some((one.item.book_tokens?, one.value))).collect();
        if problems.is_empty() {
            continue;
        }
        let up_to = |tokens: usize| group.mean(&group.rows().length(0..tokens + 1), FailurePolicy::Wrong);
        let decline = share(decline(&problems), problems.len(), "no book of at most 128K tokens");
        table.rows.push(group.row(LENGTH_EDGES.map(up_to).into_iter().chain([decline])));
    }
    table.notes.push(policy_note(FailurePolicy::Wrong));
    table
}

fn calibration(groups: &[Group<'_>]) -> Table {
    let title = "Calibration error rate: incorrect answers of those attempted";
    let source = "SagaScale, footnote 6 and Table 7";
    let mut table = table(groups, "sagascale-calibration", title, source, ["error rate"]);
    for group in groups.iter().filter(|group| Setting::of_method(&group.key.method).is_some()) {
        let attempted = group.trials().into_iter().filter(|(row, _)| is_attempt(row.outcome));
        let errors = attempted.map(|(row, score)| (1.0 - score, group.item(row.item)));
        table.rows.push(group.row([score_over_trials(errors, "nothing was attempted")]));
    }
    table.notes.push("not found and searches spent signal inability and are left out, as are failures".to_owned());
    table
}

fn parsing(groups: &[Group<'_>]) -> Table {
    let title = "Parsing error rate: responses without a readable answer, of those that came";
    let mut table = table(groups, "sagascale-parsing", title, "SagaScale, Table 6", ["parsing error rate"]);
    for group in groups {
        let rows = group.rows();
        let came = |row: &&Observation| !row.outcome.is_failure() && !row.outcome.is_never_scored();
        let errors = group.table.rows(&rows).filter(came);
        let errors = errors.map(|row| (f64::from(row.outcome == Ending::Unparsed), group.item(row.item)));
        table.rows.push(group.row([score_over_trials(errors, "no response")]));
    }
    table
}

fn by_tool_calls(groups: &[Group<'_>]) -> Table {
    let columns: Vec<String> = (1..=MAX_RETRIEVALS).map(|calls| calls.to_string()).collect();
    let title = "Accuracy by the number of searches";
    let mut table = table(groups, "sagascale-searches", title, "SagaScale, figure 4", columns);
    for group in groups {
        let trials = group.trials();
        let searches = |row: &Observation| row.measures.get(SEARCHES).map(|n| *n as usize);
        if trials.iter().all(|(row, _)| searches(row).is_none()) {
            continue;
        }
        let at = |calls: usize| {
            let here = || trials.iter().filter(|(row, _)| searches(row) == Some(calls));
            match here().count() {
                n if n < MIN_CHAIN_SAMPLES => missing("fewer than 10 problems"),
                _ => score_over_trials(here().map(|(row, score)| (*score, group.item(row.item))), "no scored items"),
            }
        };
        table.rows.push(group.row((1..=MAX_RETRIEVALS).map(at)));
    }
    table
}

/// Accuracy of each problem over all models in a setting, repeats and budgets alike; by item.
fn by_problem<'a>(groups: &[Group<'a>], setting: Setting) -> BTreeMap<&'a str, (f64, usize)> {
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for group in groups.iter().filter(|group| Setting::of_method(&group.key.method) == Some(setting)) {
        for one in group.scores(&group.rows()) {
            let (sum, n) = sums.entry(&one.item.id).or_default();
            *sum += one.value;
            *n += 1;
        }
    }
    sums
}

fn over_models(groups: &[Group<'_>]) -> Table {
    let columns = ["quantity", "setting", "share"].map(str::to_owned);
    let title = "Problems over all models: polarization, and what searching solves";
    let mut table = plain_table("sagascale-problems", title, "SagaScale, Table 8 and section 4.3", columns);
    let settings = [
        (Setting::NaiveRag, "naive RAG"),
        (Setting::AgenticRag, "agentic RAG"),
        (Setting::LongContext, "long context"),
    ];
    for (setting, name) in settings {
        let accuracies: Vec<f64> = by_problem(groups, setting).into_values().map(|(sum, n)| sum / n as f64).collect();
        if let Some(polarized) = polarization(&accuracies) {
            let share = share(Some(polarized), accuracies.len(), "");
            table.rows.push(vec![text("accuracy 0% or 100% over all models"), text(name), share]);
        }
    }
    let (naive, agentic) = (by_problem(groups, Setting::NaiveRag), by_problem(groups, Setting::AgenticRag));
    let both = naive.iter().filter_map(|(item, (sum, _))| Some((*sum > 0.0, agentic.get(item)?.0 > 0.0)));
    let problems: Vec<(bool, bool)> = both.collect();
    if !problems.is_empty() {
        let (solved, unsolvable) = solved_by_agentic(&problems);
        let value = (unsolvable > 0).then(|| solved as f64 / unsolvable as f64);
        let share = share(value, unsolvable, "every problem is solved by one retrieval");
        table.rows.push(vec![text("unsolved by one retrieval, solved by searching"), text("agentic RAG"), share]);
    }
    table
}

fn rank_correlations(groups: &[Group<'_>]) -> Table {
    let columns = ["error rate of", "accuracy of", "rho", "models"].map(str::to_owned);
    let title = "Rank correlation of calibration error with accuracy over models";
    let mut table = plain_table("sagascale-rank-correlation", title, "SagaScale, section 4.2", columns);
    let figures = |setting: Setting, figure: fn(&[(Ending, f64)]) -> Option<f64>| -> BTreeMap<&str, f64> {
        let in_setting = |group: &&Group<'_>| Setting::of_method(&group.key.method) == Some(setting);
        let of = |group: &Group<'_>| {
            figure(&group.trials().into_iter().map(|(row, score)| (row.outcome, score)).collect::<Vec<_>>())
        };
        let groups = groups.iter().filter(in_setting);
        groups.filter_map(|group| Some((&*group.key.model, of(group)?))).collect()
    };
    let error_rate = |trials: &[(Ending, f64)]| {
        let (incorrect, n) = calibration_errors(trials);
        (n > 0).then(|| incorrect / n as f64)
    };
    let accuracy = |trials: &[(Ending, f64)]| {
        (!trials.is_empty()).then(|| trials.iter().map(|(_, score)| score).sum::<f64>() / trials.len() as f64)
    };
    let errors = figures(Setting::NaiveRag, error_rate);
    for (setting, name) in [(Setting::NaiveRag, "naive RAG"), (Setting::AgenticRag, "agentic RAG")] {
        let accuracies = figures(setting, accuracy);
        let both: Vec<(f64, f64)> =
            errors.iter().filter_map(|(model, e)| Some((*e, *accuracies.get(model)?))).collect();
        if both.len() < 2 {
            continue;
        }
        let (e, a): (Vec<f64>, Vec<f64>) = both.iter().copied().unzip();
        let rho = number(error_rank_correlation(&e, &a), 3, "all models are alike");
        table.rows.push(vec![text("naive RAG"), text(name), rho, count(both.len())]);
    }
    table.notes.push(
        "errors ranked ascending, accuracies descending: a positive rho says fewer errors, more right".to_owned(),
    );
    table
}

#[cfg(test)]
mod tests;
