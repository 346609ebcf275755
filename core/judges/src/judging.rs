//! Judging of a run: everything that was judged, by panel.

use super::{EVIDENCE_MARKS, JUDGED_ACCURACY, Judge, Judgement, JudgementKey, Panel, PanelVerdict, Subject, Verdict};
use closeread_eval::hamlet::{FAITHFULNESS, RECALL, RECALL_FAITHFULNESS};
use std::collections::HashMap;

/// The panels that judged a run, in the order in which they were last asked, and what their members said.
///
/// What a report says of a judge is the verdict of the last panel that was asked it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judging {
    /// The panels.
    pub panels: Vec<Panel>,
    /// Judgements; of several lines with the same key the last counts.
    pub judgements: Vec<Judgement>,
}

impl Judging {
    /// The panel that speaks for a judge.
    pub fn panel(&self, judge: Judge) -> Option<&Panel> {
        self.panels.iter().rev().find(|panel| panel.asks(judge))
    }

    /// The panel that decides on correct answers, and the judge it does it by.
    pub fn correctness(&self) -> Option<(&Panel, Judge)> {
        self.panels.iter().rev().find_map(|panel| Some((panel, correctness_judge(panel)?)))
    }

    /// The panels whose verdicts a metric is made of, each with the judge that it was asked; none of a metric that no model
    /// gives.
    pub fn behind(&self, metric: &str) -> Vec<(&Panel, Judge)> {
        let asked = |judges: &[Judge]| -> Vec<(&Panel, Judge)> {
            judges.iter().filter_map(|judge| Some((self.panel(*judge)?, *judge))).collect()
        };
        match metric {
            JUDGED_ACCURACY => self.correctness().into_iter().collect(),
            RECALL => asked(&[Judge::AlignKeyFacts]),
            FAITHFULNESS => asked(&[Judge::VerifyFacts]),
            RECALL_FAITHFULNESS => asked(&[Judge::AlignKeyFacts, Judge::VerifyFacts]),
            _ if EVIDENCE_MARKS.contains(&metric) => asked(&[Judge::NovelQaEvidence]),
            _ => Vec::new(),
        }
    }

    /// Returns the judgements by key.
    pub fn index(&self) -> JudgementIndex<'_> {
        let by_key = self.judgements.iter().map(|judgement| (&judgement.key, judgement)).collect();
        JudgementIndex { judging: self, by_key }
    }
}

/// The judge by which a panel decides on correct answers: of several that it was asked the paper's, else the first;
/// `None` if it was not asked that.
pub fn correctness_judge(panel: &Panel) -> Option<Judge> {
    let of_paper = Judge::of_paper(panel.paper);
    let named = || panel.judges.iter().copied().find(|judge| judge.decides_correctness());
    panel.asks(of_paper).then_some(of_paper).or_else(named)
}

/// A [`Judging`] in which judgements are found by what they are about.
#[derive(Debug)]
pub struct JudgementIndex<'a> {
    judging: &'a Judging,
    by_key: HashMap<&'a JudgementKey, &'a Judgement>,
}

impl<'a> JudgementIndex<'a> {
    /// Returns the judging that the index is made of.
    pub fn judging(&self) -> &'a Judging {
        self.judging
    }

    /// The judgements of a panel's members on a subject, `None` for a member that has not responded.
    pub fn members(&self, panel: &Panel, subject: &Subject, judge: Judge) -> Vec<Option<&'a Judgement>> {
        let of = |(model, vote): (&str, u32)| {
            let key = JudgementKey {
                subject: subject.clone(),
                judge,
                judge_model: model.to_owned(),
                vote,
                setup: panel.setup(judge, model),
            };
            self.by_key.get(&key).copied()
        };
        panel.members_for(judge).into_iter().map(of).collect()
    }

    /// Returns the verdict of a panel on a subject.
    pub fn verdict(&self, panel: &Panel, subject: &Subject, judge: Judge) -> PanelVerdict {
        let members = self.members(panel, subject, judge);
        let verdicts: Vec<Option<&Verdict>> = members.into_iter().map(|one| one.map(|one| &one.verdict)).collect();
        panel.verdict(judge, &verdicts)
    }

    /// Returns the verdict of the panel that speaks for the judge; pending without such a panel.
    pub fn ruling(&self, subject: &Subject, judge: Judge) -> PanelVerdict {
        self.judging.panel(judge).map_or(PanelVerdict::Pending, |panel| self.verdict(panel, subject, judge))
    }
}
