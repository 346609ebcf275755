//! Figures 3 and 4: models before and after training, and models that reason beside those that do not.

use super::{CorpusQa, length_set};
use crate::paper::configurations::Configuration;
use crate::paper::grid::{Grid, Number, Place};
use closeread_eval::observations::{Aggregation, CellId, FailurePolicy, Observations, Rows};
use closeread_table::{Table, Value};

/// The benchmarks of Figure 3, with the names that it has for them.
const BENCHMARKS: [(&str, &str); 3] =
    [("corpusqa", "CorpusQA"), ("longbench-v2", "LongBench v2"), ("frames", "FRAMES")];
/// The length set of Figure 4, as labels may write it.
const SHORTEST_SET: [&str; 2] = ["set1", "128K"];
/// The words in a model's name that tell its two variants apart.
const VARIANTS: [&str; 2] = ["thinking", "instruct"];

/// Figure 3: accuracy of each model with the whole text in the prompt, by benchmark, from the table of each run and its name; a
/// model that several runs asked of one benchmark has a row a run. Nothing where no other benchmark was run.
pub fn figure_3(runs: &[(&str, Observations)]) -> Option<Table> {
    let other = |run: &Observations| BENCHMARKS[1..].iter().any(|(benchmark, _)| run.benchmark() == *benchmark);
    if !runs.iter().any(|(_, run)| other(run)) {
        return None;
    }
    let mut bars: Vec<(&str, &str, &str, Place)> = Vec::new();
    for (name, run) in runs {
        for (id, cell) in run.cells().filter(|(_, cell)| &*cell.key.method == "full-document") {
            let rows = Rows::of(id);
            let Some(metric) = run.main_metric(&rows) else { continue };
            let by = Aggregation { policy: FailurePolicy::LeftOut, ..Aggregation::new(metric) };
            // A bar is a share of right answers: the overlap of words is none.
            let is_share = by.metric.name().contains("accuracy");
            if let Some(made) = run.aggregate(&rows, &by).estimate {
                let place = is_share.then(|| Number::new(100.0 * made.value, made.n));
                bars.push((
                    name,
                    &cell.key.model,
                    run.benchmark(),
                    place.ok_or("its answers in words were not judged"),
                ));
            }
        }
    }
    let row = |(name, model, ..): &(&str, &str, &str, Place)| {
        let several = BENCHMARKS
            .iter()
            .any(|(benchmark, _)| bars.iter().filter(|bar| bar.1 == *model && bar.2 == *benchmark).count() > 1);
        if several { format!("{name}: {model}") } else { (*model).to_owned() }
    };
    let title = "Accuracy by benchmark, %";
    let columns = BENCHMARKS.map(|(_, name)| name);
    let mut grid = Grid::new("corpusqa-figure-3", title, "CorpusQA, Figure 3", &["Model"], columns);
    let mut heads: Vec<String> = Vec::new();
    for head in bars.iter().map(row) {
        if heads.contains(&head) {
            continue;
        }
        let place = |(benchmark, _): (&str, &str)| {
            let bar = bars.iter().find(|bar| bar.2 == benchmark && row(bar) == head);
            bar.map_or(Err("not run"), |bar| bar.3)
        };
        grid.row([Value::text(&head)], BENCHMARKS.map(place));
        heads.push(head);
    }
    grid.note(
        "the whole text in the prompt, correct over total, failures left out; the paper's bars are a model before and after its \
         training",
    )
    .finished()
}

impl CorpusQa<'_> {
    /// Figure 4: models with a variant that reasons and one that does not, overall on the shortest set.
    pub(super) fn figure_4(&self) -> Option<Table> {
        let mut families: Vec<(String, [Option<CellId>; 2])> = Vec::new();
        for of in &self.configurations {
            let Some((family, variant)) = variant(of) else { continue };
            let Some((cell, _)) = of.cells.iter().find(|(_, key)| &*key.method == "full-document") else { continue };
            match families.iter_mut().find(|(known, _)| *known == family) {
                Some((_, cells)) => cells[variant] = cells[variant].or(Some(*cell)),
                None => {
                    let mut cells = [None; 2];
                    cells[variant] = Some(*cell);
                    families.push((family, cells));
                }
            }
        }
        let sets = self.length_sets();
        let set = sets.iter().flatten().find(|set| SHORTEST_SET.contains(&set.as_str())).cloned();
        if set.is_none() && sets.iter().any(Option::is_some) {
            return None;
        }
        let title = "Accuracy of models that reason beside those that do not, shortest set, overall";
        let columns = ["Thinking", "Instruct"].map(str::to_owned).to_vec();
        let mut grid = self.grid("corpusqa-figure-4", title, "CorpusQA, Figure 4", &["Model"], columns);
        for (family, cells) in families.iter().filter(|(_, cells)| cells.iter().all(Option::is_some)) {
            let overall = |cell: &Option<CellId>| -> Place {
                let cell = cell.ok_or("not run")?;
                let in_set = |item: &_| length_set(item) == set.as_deref();
                if !self.is_planned(&self.about(cell, in_set)) {
                    return Err("not run on this set");
                }
                let places = self.accuracies(cell, set.as_deref());
                places[places.len() - 2]
            };
            grid.row([Value::text(family)], cells.iter().map(overall));
        }
        self.noted(grid.note("overall: mean of domains"))
    }
}

/// The name that the variants of a model share, and which one this is: 0 if it reasons, by what its run asked for or else by
/// its name. `None` where neither says so.
fn variant(of: &Configuration<'_>) -> Option<(String, usize)> {
    let model = of.model.rsplit('/').next().unwrap_or(of.model);
    let is_variant = |word: &&str| VARIANTS.contains(&word.to_lowercase().as_str());
    let words: Vec<&str> = model.split('-').collect();
    let named =
        words.iter().find(|word| is_variant(word)).map(|word| usize::from(!word.eq_ignore_ascii_case(VARIANTS[0])));
    let asked = of.reasoning.map(|reasons| usize::from(!reasons));
    let family = words.iter().filter(|word| !is_variant(word)).copied().collect::<Vec<_>>().join("-");
    Some((family, named.or(asked)?))
}
