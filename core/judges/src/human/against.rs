//! The agreement of judges with the labels that people gave.

use super::{HumanLabel, LabelError, Part};
use crate::agreement::labels;
use crate::raters::CONSENSUS;
use crate::{
    Agreement, Confusion, Judge, JudgementIndex, Judging, Panel, PanelVerdict, Subject, Verdict, correctness_judge,
};
use closeread_eval::Problem;
use closeread_eval::hamlet::ErrorCategory;
use closeread_metrics::stats::accuracy::majority;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The agreement of a judge with people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgainstPeople {
    /// Judge that is compared: a panel, one of its members, or the rule.
    pub judge: String,
    /// Name of the judge, which says what was decided.
    pub question: String,
    /// Share of equal labels ("binary accuracy" in HAMLET), with kappa and AC1.
    #[serde(flatten)]
    pub agreement: Agreement,
    /// Counts, a row a label that people gave, a column a label of the judge.
    pub confusion: Confusion,
}

/// Compares each panel of a run with people, then each member of a panel of several, then the rule's tolerant reading;
/// returns also what labels could not be used, by line of `file`.
pub fn against_people(judging: &Judging, people: &[HumanLabel], file: &str) -> (Vec<AgainstPeople>, Vec<Problem>) {
    let index = judging.index();
    let trials = judged_trials(judging);
    let mut problems = Vec::new();
    let used = that_count(&trials, people, file, &mut problems);
    let mut found = Vec::new();
    let mut unheard: BTreeSet<usize> = (0..used.len()).collect();
    for panel in &judging.panels {
        for judge in asked(panel) {
            let says = |subject: &Subject| match index.verdict(panel, subject, judge) {
                PanelVerdict::Ruled(ruling) => labels(judge, &Verdict::Ruled { ruling }),
                PanelVerdict::Pending | PanelVerdict::Silent => Vec::new(),
            };
            let pairs = pairs(&used, judge, says, &mut unheard);
            found.extend(of_pairs(panel.name(), judge, &pairs));
            let members = panel.members_for(judge);
            if members.len() > 1 {
                for (at, (model, vote)) in members.into_iter().enumerate() {
                    let says = |subject: &Subject| member_says(&index, panel, judge, subject, at);
                    let pairs = self::pairs(&used, judge, says, &mut BTreeSet::new());
                    found.extend(of_pairs(format!("{model}, vote {}", vote + 1), judge, &pairs));
                }
            }
        }
    }
    if judging.panel(Judge::Rule).is_some() {
        let says = |subject: &Subject| match index.ruling(subject, Judge::Rule) {
            PanelVerdict::Ruled(ruling) => labels(Judge::Rule, &Verdict::Ruled { ruling }),
            PanelVerdict::Pending | PanelVerdict::Silent => Vec::new(),
        };
        let pairs = pairs(&used, Judge::Rule, says, &mut unheard);
        found.extend(of_pairs("builtin/rule (tolerant)".to_owned(), Judge::Rule, &pairs));
    }
    for at in unheard {
        let label = used[at].0;
        let why = "no judge of the run has a verdict on this";
        problems.push(Problem::dropped(file, Some(label.line), Some(&label.item), why));
    }
    problems.sort_by_key(|problem| problem.line);
    (found, problems)
}

/// The labels that count, each with what it is about: of several raters' the consensus, else that of more than half of them.
fn that_count<'l>(
    trials: &BTreeMap<&str, BTreeSet<&Subject>>,
    people: &'l [HumanLabel],
    file: &str,
    problems: &mut Vec<Problem>,
) -> Vec<(&'l HumanLabel, Subject)> {
    let mut by_unit: BTreeMap<(Subject, Part), Vec<&HumanLabel>> = BTreeMap::new();
    for label in people {
        let mut wrong = |why: String| problems.push(Problem::dropped(file, Some(label.line), Some(&label.item), why));
        let subject = match subject_of(trials, label) {
            Err(why) => {
                wrong(why.to_string());
                continue;
            }
            Ok(subject) => subject,
        };
        let labels = by_unit.entry((subject, label.part)).or_default();
        if labels.iter().any(|known| known.rater == label.rater) {
            wrong("a second label of the same by the same rater: the first counts".into());
        } else {
            labels.push(label);
        }
    }
    let mut used = Vec::new();
    for ((subject, _), labels) in by_unit {
        let consensus = labels.iter().find(|label| label.rater == CONSENSUS).map(|label| label.label);
        let counts = consensus.or_else(|| majority(labels.iter().map(|label| label.label), labels.len()));
        match labels.iter().find(|label| Some(label.label) == counts) {
            Some(label) => used.push((*label, subject)),
            None => {
                let why = "its raters are divided, and no label has more than half of them: settle it in a row of the rater consensus";
                problems.push(Problem::dropped(file, Some(labels[0].line), Some(&labels[0].item), why));
            }
        }
    }
    used
}

/// The judges of a panel that people can be compared with.
fn asked(panel: &Panel) -> Vec<Judge> {
    let single = [Judge::VerifyFacts, Judge::AlignKeyFacts, Judge::ClassifyQuestion];
    let correctness = correctness_judge(panel).into_iter();
    correctness.chain(single.into_iter().filter(|judge| panel.asks(*judge))).collect()
}

/// Returns everything of the run that was judged, by item.
fn judged_trials(judging: &Judging) -> BTreeMap<&str, BTreeSet<&Subject>> {
    let mut trials: BTreeMap<&str, BTreeSet<&Subject>> = BTreeMap::new();
    for judgement in &judging.judgements {
        let subject = &judgement.key.subject;
        trials.entry(subject.item.as_str()).or_default().insert(subject);
    }
    trials
}

fn subject_of(trials: &BTreeMap<&str, BTreeSet<&Subject>>, label: &HumanLabel) -> Result<Subject, LabelError> {
    if label.part == Part::Question {
        return Ok(Subject::question(&label.item));
    }
    let of_item = trials.get(label.item.as_str()).into_iter().flatten();
    let fits = |subject: &&Subject| subject.trial.as_ref().is_some_and(|trial| label.is_on(trial));
    let found: Vec<&Subject> = of_item.copied().filter(fits).collect();
    match found.as_slice() {
        [] => Err(LabelError::NoTrial),
        [subject] => Ok((*subject).clone()),
        several => {
            let name = |subject: &&Subject| {
                let trial = subject.trial.as_ref()?;
                let budget = trial.budget.map_or_else(String::new, |budget| format!(" at {budget}"));
                Some(format!("{}{budget} ({}, repeat {})", trial.method, trial.model, trial.repeat))
            };
            let names: Vec<String> = several.iter().take(4).filter_map(name).collect();
            Err(LabelError::Trials { n: several.len(), names: names.join("; ") })
        }
    }
}

fn member_says(
    index: &JudgementIndex<'_>,
    panel: &Panel,
    judge: Judge,
    subject: &Subject,
    at: usize,
) -> Vec<Option<&'static str>> {
    let members = index.members(panel, subject, judge).get(at).copied().flatten();
    members.map(|judgement| labels(judge, &judgement.verdict)).unwrap_or_default()
}

/// Returns the labels of people and of a judge for the same, people first; what was found is taken out of `unheard`.
fn pairs(
    used: &[(&HumanLabel, Subject)],
    judge: Judge,
    says: impl Fn(&Subject) -> Vec<Option<&'static str>>,
    unheard: &mut BTreeSet<usize>,
) -> Vec<(&'static str, &'static str)> {
    let mut pairs = Vec::new();
    for (at, (label, subject)) in used.iter().enumerate() {
        let place = match (label.part, judge) {
            (Part::Sentence(number), Judge::VerifyFacts) | (Part::Fact(number), Judge::AlignKeyFacts) => number - 1,
            (Part::Question, Judge::ClassifyQuestion) => 0,
            (Part::Answer, judge) if judge.decides_correctness() || judge == Judge::Rule => 0,
            _ => continue,
        };
        if let Some(said) = says(subject).get(place).copied().flatten() {
            unheard.remove(&at);
            let is_supported = |said: &str| if said == ErrorCategory::NoError.name() { "yes" } else { "no" };
            let in_kind = matches!(label.part, Part::Sentence(_)) && ["yes", "no"].contains(&label.label);
            pairs.push((label.label, if in_kind { is_supported(said) } else { said }));
        }
    }
    pairs
}

fn of_pairs(who: String, judge: Judge, pairs: &[(&'static str, &'static str)]) -> Option<AgainstPeople> {
    let ratings: Vec<Vec<Option<&str>>> = pairs.iter().map(|(human, said)| vec![Some(*human), Some(*said)]).collect();
    let agreement = Agreement::of(&ratings)?;
    Some(AgainstPeople { judge: who, question: judge.name().to_owned(), agreement, confusion: Confusion::of(pairs) })
}
