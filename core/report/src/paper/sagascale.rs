//! SagaScale (sections 4.1 to 4.3, A.1): long context, naive retrieval and agentic retrieval on whole novels.

use super::tabulate::{
    Group, count, filled, groups, mean_over_items, missing, number, per_item, plain_table, policy_note, score, share,
    table, text,
};
use closeread_eval::correlate;
use closeread_eval::{Case, Ending, FailurePolicy};
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
    let attempted = endings_and_scores.iter().filter(|(ending, _)| ending.is_attempt());
    attempted.fold((0.0, 0), |(incorrect, n), (_, score)| (incorrect + 1.0 - score, n + 1))
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
pub fn tables(cases: &[Case]) -> Vec<Table> {
    let groups = groups(cases);
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
    let mut table = table("sagascale-accuracy", "Accuracy over all problems", "SagaScale, Table 3", columns);
    for group in groups {
        let cells = FailurePolicy::ALL.map(|policy| mean_over_items(&group.cases, &group.metric, policy));
        table.rows.push(group.row(cells));
    }
    table.notes.extend(FailurePolicy::ALL.map(policy_note));
    table.notes.push("the paper counts over-long inputs as wrong".to_owned());
    table
}

/// The items whose book fits the window of each model: those that its long-context runs could take; without such a run,
/// those whose tokens the window holds.
fn fitting<'a>(groups: &[Group<'a>]) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut fits: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut tried: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let cases = || groups.iter().flat_map(|group| group.cases.iter().copied());
    for case in cases().filter(|case| Setting::of_method(&case.method) == Some(Setting::LongContext)) {
        if case.ending != Ending::Missing {
            tried.entry(&case.model).or_default().insert(&case.item);
        }
        if !matches!(case.ending, Ending::Overflow | Ending::Missing) {
            fits.entry(&case.model).or_default().insert(&case.item);
        }
    }
    for case in cases() {
        let decided = tried.get(case.model.as_str()).is_some_and(|items| items.contains(case.item.as_str()));
        let holds = case.book_tokens.zip(case.window).is_some_and(|(book, window)| book <= window);
        if !decided && holds {
            fits.entry(&case.model).or_default().insert(&case.item);
        }
    }
    fits
}

fn in_window(groups: &[Group<'_>]) -> Table {
    let fits = fitting(groups);
    let title = "Accuracy over the problems whose book fits the model's window";
    let mut table = table("sagascale-in-window", title, "SagaScale, Table 5", ["accuracy", "problems"]);
    for group in groups {
        let Some(items) = fits.get(group.configuration.model.as_str()) else { continue };
        let within = group.filter(|case| items.contains(case.item.as_str()));
        let n = within.iter().map(|case| &case.item).collect::<BTreeSet<_>>().len();
        let mean = mean_over_items(&within, &group.metric, FailurePolicy::FailuresWrong);
        table.rows.push(group.row([mean, count(n)]));
    }
    table
}

fn by_length(groups: &[Group<'_>]) -> Table {
    let title = "Accuracy by the book's length in tokens";
    let mut table = table("sagascale-length", title, "SagaScale, Table 2 and figure 3", LENGTH_BINS);
    for group in groups.iter().filter(|group| group.cases.iter().any(|case| case.book_tokens.is_some())) {
        let bin = |bin: usize| group.filter(|case| case.book_tokens.map(length_bin) == Some(bin));
        let mean = |idx| mean_over_items(&bin(idx), &group.metric, FailurePolicy::FailuresWrong);
        table.rows.push(group.row((0..LENGTH_BINS.len()).map(mean)));
    }
    table.notes.push(policy_note(FailurePolicy::FailuresWrong));
    table
}

fn sized(group: &Group<'_>) -> Vec<(usize, f64)> {
    let items = per_item(&group.cases, &group.metric, FailurePolicy::FailuresWrong);
    items.into_iter().filter_map(|(case, score)| Some((case.book_tokens?, score))).collect()
}

fn cumulative(groups: &[Group<'_>]) -> Table {
    let columns = ["up to 128K", "up to 256K", "up to 512K", "up to 1M", "decline 128K to 1M"];
    let title = "Cumulative accuracy: problems whose book has at most so many tokens";
    let mut table = table("sagascale-cumulative", title, "SagaScale, figure 3a", columns);
    for group in groups {
        let problems = sized(group);
        if problems.is_empty() {
            continue;
        }
        let up_to = |tokens: usize| {
            mean_over_items(
                &group.filter(|case| case.book_tokens.is_some_and(|book| book <= tokens)),
                &group.metric,
                FailurePolicy::FailuresWrong,
            )
        };
        let decline = share(decline(&problems), problems.len(), "no book of at most 128K tokens");
        table.rows.push(group.row(LENGTH_EDGES.map(up_to).into_iter().chain([decline])));
    }
    table.notes.push(policy_note(FailurePolicy::FailuresWrong));
    table
}

/// How each counted trial of a group ended, its score and its book.
fn trials<'a>(group: &Group<'a>) -> Vec<(Ending, f64, &'a Case)> {
    let score = |case: &Case| case.score(&group.metric, FailurePolicy::FailuresWrong);
    group.cases.iter().filter_map(|case| Some((case.ending, score(case)?, *case))).collect()
}

fn calibration(groups: &[Group<'_>]) -> Table {
    let title = "Calibration error rate: incorrect answers of those attempted";
    let mut table = table("sagascale-calibration", title, "SagaScale, footnote 6 and Table 7", ["error rate"]);
    for group in groups.iter().filter(|group| Setting::of_method(&group.configuration.method).is_some()) {
        let attempted = trials(group).into_iter().filter(|(ending, ..)| ending.is_attempt());
        let errors: Vec<(f64, &str)> = attempted.map(|(_, score, case)| (1.0 - score, case.book.as_str())).collect();
        table.rows.push(group.row([score(errors.into_iter(), "nothing was attempted")]));
    }
    table.notes.push("not found and searches spent signal inability and are left out, as are failures".to_owned());
    table
}

fn parsing(groups: &[Group<'_>]) -> Table {
    let title = "Parsing error rate: replies without a readable answer, of those that came";
    let mut table = table("sagascale-parsing", title, "SagaScale, Table 6", ["parsing error rate"]);
    for group in groups {
        let replied = group.filter(|case| !case.ending.is_failure() && case.ending != Ending::Unscored);
        let errors = replied.iter().map(|case| (f64::from(case.ending == Ending::Unparsed), case.book.as_str()));
        table.rows.push(group.row([score(errors, "no reply")]));
    }
    table
}

fn by_tool_calls(groups: &[Group<'_>]) -> Table {
    let columns: Vec<String> = (1..=MAX_RETRIEVALS).map(|calls| calls.to_string()).collect();
    let title = "Accuracy by the number of searches";
    let mut table = table("sagascale-searches", title, "SagaScale, figure 4", columns);
    for group in groups.iter().filter(|group| group.cases.iter().any(|case| case.tool_calls.is_some())) {
        let at = |calls: usize| {
            let trials = group.filter(|case| case.tool_calls == Some(calls));
            match trials.len() {
                n if n < MIN_CHAIN_SAMPLES => missing("fewer than 10 problems"),
                _ => mean_over_items(&trials, &group.metric, FailurePolicy::FailuresWrong),
            }
        };
        table.rows.push(group.row((1..=MAX_RETRIEVALS).map(at)));
    }
    table
}

/// Accuracy of each problem over all models in a setting, samples and configurations alike; by item.
fn by_problem<'a>(groups: &[Group<'a>], setting: Setting) -> BTreeMap<&'a str, (f64, usize)> {
    let mut sums: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for group in groups.iter().filter(|group| Setting::of_method(&group.configuration.method) == Some(setting)) {
        for (case, score) in per_item(&group.cases, &group.metric, FailurePolicy::FailuresWrong) {
            let (sum, n) = sums.entry(&case.item).or_default();
            *sum += score;
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
        let in_setting = |group: &&Group<'_>| Setting::of_method(&group.configuration.method) == Some(setting);
        let of = |group: &Group<'_>| figure(&trials(group).into_iter().map(|(e, s, _)| (e, s)).collect::<Vec<_>>());
        let groups = groups.iter().filter(in_setting);
        groups.filter_map(|group| Some((group.configuration.model.as_str(), of(group)?))).collect()
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
