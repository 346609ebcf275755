//! Needs of an exhibit, and what runs have of them.

use crate::Run;
use crate::judging::{correctness_panels, subjects_of};
use crate::paper::tabulate::HUMAN;
use closeread_eval::Task;
use closeread_eval::observations::{Ending, ItemFacts, MetricName, Observations, Rows, Score};
use closeread_judges::{EVIDENCE_MARKS, JUDGED_ACCURACY, Judge, PanelVerdict};

/// A need: something that the numbers of an exhibit are made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A run with one of these methods.
    Method(&'static [&'static str]),
    /// Methods at several budgets.
    Budgets,
    /// At least this many configurations.
    Configurations(usize),
    /// Questions asked in each of these ways.
    Tasks(&'static [Task]),
    /// Items with this label.
    Label(&'static str),
    /// Books whose length is known.
    Lengths,
    /// Gold evidence whose place in its book is known.
    EvidencePlaces,
    /// Answers whose correctness judges decided.
    Verdicts,
    /// At least this many judges of correct answers on one run.
    Judges(usize),
    /// Files in which people say this of answers.
    Labels(&'static str),
    /// Marks of judges on the evidence that answers cite.
    Evidence,
    /// Summaries judged against their key facts.
    KeyFacts,
    /// Trials of people.
    People,
    /// Two metrics or more on words.
    Words,
}

/// The runs that exhibits can be made from.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    /// The trials of all runs.
    pub trials: &'a Observations,
    /// The runs that are held.
    pub runs: &'a [Run],
    /// True if people's labels were given.
    pub has_labels: bool,
}

impl Held<'_> {
    fn methods(&self) -> impl Iterator<Item = &str> {
        self.trials.cells().map(|(_, cell)| &*cell.key.method)
    }

    /// Returns how many items satisfy a condition, of how many.
    fn items(&self, has: impl Fn(&ItemFacts) -> bool) -> (usize, usize) {
        let items = self.trials.items();
        items.fold((0, 0), |(some, all), (_, item)| (some + usize::from(has(item)), all + 1))
    }

    /// Answers to open questions, and how many of them have a judge's verdict.
    fn verdicts(&self) -> (usize, usize) {
        let judged = MetricName::from(JUDGED_ACCURACY);
        let open = self.trials.cells().filter(|(_, cell)| cell.key.task == Task::Generative).map(|(id, _)| id);
        let open = Rows::all().cells(open);
        let answers: Vec<_> = self.trials.rows(&open).filter(|row| row.outcome == Ending::Answered).collect();
        let has = |score: Option<&Score>| score.is_some_and(|score| score.value(&judged).is_some());
        (answers.iter().filter(|row| has(row.scores.get(&judged))).count(), answers.len())
    }

    /// Summaries with all that `judge` was to say of them, and summaries.
    fn aligned(&self) -> (usize, usize) {
        let of_run = |run: &Run| {
            let index = run.judging.index();
            let panels = run.judging.panels.iter();
            let judged: usize = panels
                .map(|panel| {
                    let asked = subjects_of(panel, &run.items, &run.records);
                    let subjects = asked.get(&Judge::AlignKeyFacts).into_iter().flatten();
                    let is_ruled = |verdict| matches!(verdict, PanelVerdict::Ruled(_));
                    subjects.filter(|one| is_ruled(index.verdict(panel, one, Judge::AlignKeyFacts))).count()
                })
                .max()
                .unwrap_or(0);
            judged
        };
        let summaries = self.trials.cells().filter(|(_, cell)| cell.key.task == Task::Summary).map(|(id, _)| id);
        let summaries = Rows::all().cells(summaries);
        let n = self.trials.rows(&summaries).filter(|row| row.outcome == Ending::Answered).count();
        (self.runs.iter().map(of_run).sum(), n)
    }
}

impl Need {
    /// Returns what these runs lack of the need, and what to do; `None` where they have it, in part at least.
    pub(super) fn unmet(self, held: &Held<'_>) -> Option<String> {
        let unless = |met: bool, said: String| (!met).then_some(said);
        match self {
            Self::Method(names) => {
                let met = held.methods().any(|method| names.contains(&method));
                unless(met, format!("needs a run with {}", names.join(", ")))
            }
            Self::Budgets => {
                let met = held.trials.cells().any(|(_, cell)| cell.key.budget.is_some());
                unless(met, "needs a run of a method with budgets, such as dos-rag".to_owned())
            }
            Self::Configurations(n) => {
                let there = crate::paper::configurations::configurations(held.trials).len();
                unless(there >= n, format!("needs {n} configurations ({there} of {n})"))
            }
            Self::Tasks(tasks) => {
                let asked = |task: &Task| held.trials.cells().any(|(_, cell)| cell.key.task == *task);
                let absent: Vec<&str> = tasks.iter().filter(|task| !asked(task)).map(|task| setting(*task)).collect();
                unless(absent.is_empty(), format!("needs a run in the setting {}", absent.join(" and ")))
            }
            Self::Label(name) => {
                let (some, all) = held.items(|item| item.label(name).is_some());
                unless(some > 0, format!("needs the label `{name}` ({some} of {all} items have it)"))
            }
            Self::Lengths => {
                let (some, all) = held.items(|item| item.book_tokens.is_some());
                unless(some > 0, format!("needs the run's folder texts/ ({some} of {all} items have a known length)"))
            }
            Self::EvidencePlaces => {
                let (some, all) = held.items(|item| !item.evidence_tokens.is_empty());
                unless(some > 0, format!("needs evidence that is found in the books ({some} of {all} items)"))
            }
            Self::Verdicts => {
                let (judged, answers) = held.verdicts();
                let said = format!("needs judgements: closeread judge ({judged} of {answers} answers judged)");
                unless(judged == answers, said)
            }
            Self::Judges(n) => {
                let there = held.runs.iter().map(|run| correctness_panels(run).len()).max().unwrap_or(0);
                unless(there >= n, format!("needs {n} judges: closeread judge RUN with each ({there} of {n})"))
            }
            Self::Labels(what) => unless(held.has_labels, format!("needs people's {what}: a file of labels")),
            Self::Evidence => {
                let metrics = held.trials.metrics(&Rows::all());
                let met = metrics.iter().any(|metric| metric.name() == EVIDENCE_MARKS[0]);
                let said = "needs cited evidence (parameter `evidence=true`) and what the judge \
                            judge-novelqa-evidence says of it";
                unless(met, said.to_owned())
            }
            Self::KeyFacts => {
                let (judged, answers) = held.aligned();
                let said = format!("needs judgements: closeread judge ({judged} of {answers} summaries judged)");
                unless(judged > 0 && judged >= answers, said)
            }
            Self::People => {
                let mut keys = held.trials.cells().map(|(_, cell)| &cell.key);
                let met = keys.any(|key| [&*key.method, &*key.model].contains(&HUMAN));
                unless(met, "needs trials of people: a run whose method or model is `human`".to_owned())
            }
            Self::Words => {
                let words = ["f1_v2", "bleu_1", "bleu_4", "rougeL", "meteor"];
                let metrics = held.trials.metrics(&Rows::all());
                let there = metrics.iter().filter(|metric| words.contains(&metric.name())).count();
                unless(there > 1, format!("needs the metrics {} ({there} of 5)", words.join(", ")))
            }
        }
    }
}

fn setting(task: Task) -> &'static str {
    match task {
        Task::Generative => "generative",
        Task::Choice => "choice",
        Task::Summary => "summary",
    }
}
