//! Probes of a judge: the same answers put to it once more in a way that should change nothing, and how often its verdict changes.

use super::{JudgeRunner, PendingJudgements, Session, Work, works_of};
use crate::host::Repetition;
use crate::interrupt;
use crate::journal::Journals;
use anyhow::{Context, Result};
use closeread_eval::{Item, Outcome};
use closeread_judges::{
    BUILTIN_RULE, Judge, Judging, Reference, Ruling, Subject, SubmittedAnswer, Verdict, ask, correctness_judge,
};
use closeread_methods::{ResponseLimit, Settings};
use closeread_report::subjects_of;
use closeread_text::Language;
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;

/// The change to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// The answer and the gold answer change places: two answers that mean the same do so in either order.
    Position,
    /// Words that say nothing stand around the answer: it is as right as it was.
    Verbosity,
}

impl Probe {
    /// Returns the name of the probe.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Position => "position",
            Self::Verbosity => "verbosity",
        }
    }

    /// The gold answers and the answer as the judge gets them.
    fn changed(self, item: &Item, answer: &str, language: Language) -> (Vec<String>, String) {
        match self {
            Self::Position => (vec![answer.to_owned()], item.answers.first().cloned().unwrap_or_default()),
            Self::Verbosity => {
                let (before, behind) = if language == Language::CHINESE {
                    (
                        "我仔细想过这个问题，也想过文中的说法。我的回答是：",
                        "。就我所知，文中是这么说的，此外我没有要补充的。",
                    )
                } else {
                    (
                        "I have thought about the question and about what the text says on it. My answer is: ",
                        ". As far as I can tell that is what the text says, and there is nothing that I would add to it.",
                    )
                };
                (item.answers.clone(), format!("{before}{answer}{behind}"))
            }
        }
    }
}

/// The rulings of a judge on the same answers before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probed {
    /// Name of the judge model.
    pub model: String,
    /// Change to the answers.
    pub probe: Probe,
    /// Verdicts of both, as they were and changed; answers without both are not there.
    pub pairs: Vec<(bool, bool)>,
    /// Answers on which the judge gave no verdict once they were changed.
    pub silent: usize,
}

impl JudgeRunner<'_> {
    /// Puts every answer that the panel's models gave a verdict on to them once more, changed. The rule needs no probe. `None` if
    /// Ctrl-C or the limit on money ends it, which the session then says; responses stay in the folder's journal until all are
    /// there. The caller holds the folder's lock.
    pub async fn probe(
        &self,
        folder: &Path,
        pending: &PendingJudgements<'_>,
        judging: &Judging,
        probes: &[Probe],
        session: &mut Session,
    ) -> Result<Option<Vec<Probed>>> {
        let stop = Cell::new(false);
        let found = tokio::select! {
            biased;
            found = self.probed(folder, pending, judging, probes, &stop) => Some(found?),
            () = interrupt::watch(&stop) => None,
            () = self.spending.is_out() => None,
        };
        session.interrupted = stop.get();
        session.out_of_money = found.is_none() && !stop.get();
        Ok(found.filter(|_| !stop.get()))
    }

    async fn probed(
        &self,
        folder: &Path,
        pending: &PendingJudgements<'_>,
        judging: &Judging,
        probes: &[Probe],
        stop: &Cell<bool>,
    ) -> Result<Vec<Probed>> {
        let Some(judge) = correctness_judge(&self.panel) else { return Ok(Vec::new()) };
        let mut asked = subjects_of(&self.panel, pending.items, pending.records);
        let subjects = asked.remove(&judge).unwrap_or_default();
        let keys: Vec<_> = judging.judgements.iter().map(|judgement| judgement.key.clone()).collect();
        let (works, _) = works_of(pending, &keys, Reference::Chunk);
        let items: HashMap<&str, &Item> = pending.items.iter().map(|item| (item.id.as_str(), item)).collect();
        let answers: HashMap<Subject, &str> = pending
            .records
            .iter()
            .filter_map(|record| match &record.outcome {
                Outcome::Answered { answer, .. } => Some((Subject::from(&record.key), answer.as_str())),
                _ => None,
            })
            .collect();
        let index = judging.index();
        let journals = Journals::of_run(folder);
        let journal = &journals.of(&("probes", &self.panel))?;
        let has_failed = &Cell::new(false);
        let mut found = Vec::new();
        for model in self.panel.models.iter().filter(|model| *model != BUILTIN_RULE) {
            let members = self.panel.members_for(judge);
            let place = members.iter().position(|(name, vote)| name == model && *vote == 0);
            let Some(place) = place else { continue };
            for probe in probes {
                let told = subjects.iter().filter_map(|subject| {
                    let member = index.members(&self.panel, subject, judge).get(place).copied().flatten()?;
                    let before = is_correct(&member.verdict)?;
                    let item = items.get(subject.item.as_str())?;
                    Some((before, *item, *answers.get(subject)?, works.get(subject.item.as_str())?))
                });
                let again = stream::iter(told.take_while(|_| !stop.get())).map(
                    |(before, item, answer, work): (bool, &Item, &str, &Work)| async move {
                        let host = &self.hosts[model].repetition(0, None).journalled(journal);
                        let verdict = self.of_changed(judge, *probe, host, (item, answer, work)).await?;
                        if matches!(verdict, Verdict::Failed { .. }) {
                            has_failed.set(true);
                        }
                        anyhow::Ok((before, is_correct(&verdict)))
                    },
                );
                let told: Vec<Result<(bool, Option<bool>)>> = again.buffered(self.concurrency).collect().await;
                let told = told.into_iter().collect::<Result<Vec<_>>>()?;
                let pairs: Vec<(bool, bool)> = told.iter().filter_map(|(a, b)| Some((*a, (*b)?))).collect();
                let silent = told.len() - pairs.len();
                found.push(Probed { model: model.clone(), probe: *probe, pairs, silent });
            }
        }
        if !has_failed.get() && !stop.get() {
            journal.remove()?;
            journals.tidy();
        }
        Ok(found)
    }

    /// The judge's verdict on an answer, changed.
    async fn of_changed(
        &self,
        judge: Judge,
        probe: Probe,
        host: &Repetition<'_>,
        (item, answer, work): (&Item, &str, &Work),
    ) -> Result<Verdict> {
        let (gold, said) = probe.changed(item, answer, work.language());
        let changed = Item { answers: gold, ..item.clone() };
        let said = SubmittedAnswer::Answer { text: &said, choice: None };
        let made = ask(judge, host, self.settings(), &work.submission(&changed, said, &[])).await;
        let made = made.with_context(|| format!("{} on item `{}`, {}", judge.name(), item.id, probe.name()))?;
        Ok(made.verdict)
    }

    /// Returns how the panel's models are asked.
    pub(super) fn settings(&self) -> Settings<'_> {
        Settings {
            prompts: self.prompts,
            tokenizer: self.tokenizer,
            response_limit: ResponseLimit::AtMost(self.panel.max_output_tokens),
            temperature: self.panel.temperature,
            context_window: None,
        }
    }
}

fn is_correct(verdict: &Verdict) -> Option<bool> {
    match verdict.ruling()? {
        Ruling::Correctness { correct } => Some(*correct),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::Task;

    #[test]
    fn a_probe_changes_the_place_or_the_words_and_nothing_else() {
        let mut item = Item::new("q", "b", "Where?", Task::Generative);
        item.answers = vec!["here".to_owned(), "there".to_owned()];
        let position = Probe::Position.changed(&item, "at home", Language::ENGLISH);
        assert_eq!(position, (vec!["at home".to_owned()], "here".to_owned()));
        let (gold, said) = Probe::Verbosity.changed(&item, "at home", Language::ENGLISH);
        assert!(gold == item.answers && said.contains(" at home.") && said.len() > 100, "{said}");
        assert!(Probe::Verbosity.changed(&item, "家里", Language::CHINESE).1.contains("：家里。"));
    }
}
