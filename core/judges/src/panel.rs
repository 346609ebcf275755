//! Panels: several models, or several votes, and one verdict.

use super::rule::{BUILTIN_RULE, ByRule};
use super::{FactRuling, IfUnreadable, Judge, QuestionType, Ruling, SentenceRuling, Verdict};
use crate::rule;
use closeread_eval::Outcome;
use closeread_eval::Paper;
use closeread_eval::answer::novelqa::EvidenceMarks;
use closeread_eval::hamlet::ErrorCategory;
use closeread_eval::{Item, Task};
use closeread_text::hash::short_hash;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A panel: the models that judge, how they are asked, and how their votes become one verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Models, `provider/model` or [`BUILTIN_RULE`], each once.
    pub models: Vec<String>,
    /// Votes of each model; [`BUILTIN_RULE`] says the same each time and has one.
    pub votes: u32,
    /// Rule by which votes become a verdict.
    pub rule: PanelRule,
    /// The judges that were asked; empty for all that fit the items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<Judge>,
    /// Paper whose judge decides on correct answers.
    pub paper: Paper,
    /// Sampling temperature; 0 in the papers.
    pub temperature: f64,
    /// Most tokens that a response may have.
    pub max_output_tokens: u32,
    /// Address of the models' server, without credentials and with a hash of its query; absent for the providers' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Sampling seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Fields merged into the requests of each judge that has some.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extra_body: BTreeMap<Judge, Map<String, Value>>,
    /// SHA-256 of each judge's prompt template, in hex.
    pub prompts: BTreeMap<Judge, String>,
    /// Text that sentences are verified against.
    #[serde(default, skip_serializing_if = "Reference::is_chunk")]
    pub reference: Reference,
}

/// The text that the sentences of a summary are verified against (HAMLET, Table 3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference {
    /// The chunk that the key facts are about, as in HAMLET.
    #[default]
    Chunk,
    /// The whole book, as in FineSurE.
    Book,
}

impl Reference {
    const fn is_chunk(&self) -> bool {
        matches!(self, Self::Chunk)
    }
}

/// The rule by which votes become a verdict.
///
/// Only votes that were cast count. A tie is no majority: at one of two the answer is not correct, the sentence not
/// faithful, the fact not stated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanelRule {
    /// More than half of the votes.
    #[default]
    Majority,
    /// All of the votes.
    Unanimity,
}

impl PanelRule {
    /// Returns the rule's name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Unanimity => "unanimity",
        }
    }

    /// Returns whether `ayes` of `votes` are enough; nothing is carried without a vote.
    pub const fn carries(self, ayes: usize, votes: usize) -> bool {
        match self {
            Self::Majority => 2 * ayes > votes,
            Self::Unanimity => ayes == votes && votes > 0,
        }
    }

    /// The yes or no of several; `None` without votes.
    pub fn carried(self, votes: impl Iterator<Item = bool>) -> Option<bool> {
        let (ayes, n) = votes.fold((0, 0), |(ayes, n), vote| (ayes + usize::from(vote), n + 1));
        (n > 0).then(|| self.carries(ayes, n))
    }
}

/// The verdict of a panel on a subject.
#[derive(Debug, Clone, PartialEq)]
pub enum PanelVerdict {
    /// Not every member has responded.
    Pending,
    /// Every member has responded, and none of them voted.
    Silent,
    /// The panel's ruling.
    Ruled(Ruling),
}

impl Panel {
    /// Returns the members of the panel, one a vote, in the order of the models.
    pub fn members(&self) -> Vec<(&str, u32)> {
        let votes = |model: &str| if model == BUILTIN_RULE { 1 } else { self.votes.max(1) };
        self.models.iter().flat_map(|model| (0..votes(model)).map(move |vote| (model.as_str(), vote))).collect()
    }

    /// The members that can be asked this: [`Judge::Rule`] is the rule's alone, and no rule marks evidence.
    pub fn members_for(&self, judge: Judge) -> Vec<(&str, u32)> {
        match judge {
            Judge::Rule => vec![(BUILTIN_RULE, 0)],
            Judge::NovelQaEvidence => self.members().into_iter().filter(|(model, _)| *model != BUILTIN_RULE).collect(),
            _ => self.members(),
        }
    }

    /// Returns whether the panel is asked this: by name, or where no judge is named everything but the type of
    /// questions; and only where it has members who can say something.
    pub fn asks(&self, judge: Judge) -> bool {
        let wanted = match self.judges.is_empty() {
            true => judge != Judge::ClassifyQuestion,
            false => self.judges.contains(&judge),
        };
        wanted && !self.members_for(judge).is_empty()
    }

    /// Returns the judges that the panel is asked about a trial.
    pub fn judges_of(&self, item: &Item, outcome: &Outcome, cited: &[String]) -> Vec<Judge> {
        let mut judges = Judge::of_trial(self.paper, item, outcome, cited);
        // Judges of correct answers that are named stand in the place of the paper's.
        if let Some(at) = judges.iter().position(|judge| judge.decides_correctness()) {
            let named: Vec<Judge> = self.judges.iter().copied().filter(|judge| judge.decides_correctness()).collect();
            if !named.is_empty() {
                judges.splice(at..=at, named);
            }
        }
        judges.retain(|judge| self.asks(*judge));
        judges
    }

    /// Returns whether the panel is asked for the type of an item's question. Where the data give a type, theirs stands
    /// in the tables.
    pub fn classifies(&self, item: &Item) -> bool {
        self.asks(Judge::ClassifyQuestion) && item.task != Task::Summary
    }

    /// Returns how a member is asked: sixteen hex digits that change with everything that can change its response but
    /// model and vote.
    pub fn setup(&self, judge: Judge, model: &str) -> String {
        let whole = judge == Judge::VerifyFacts && !self.reference.is_chunk();
        if model == BUILTIN_RULE {
            return if whole { short_hash(&json!([rule::VERSION, "book"])) } else { short_hash(&json!(rule::VERSION)) };
        }
        let Self { temperature, max_output_tokens, base_url, seed, extra_body, prompts, .. } = self;
        let extra_body = extra_body.get(&judge);
        if whole {
            let asked =
                json!([prompts.get(&judge), temperature, max_output_tokens, base_url, seed, extra_body, "book"]);
            return short_hash(&asked);
        }
        short_hash(&json!([prompts.get(&judge), temperature, max_output_tokens, base_url, seed, extra_body]))
    }

    /// Returns the panel in a few words: `openai/gpt-4o`, `openai/gpt-4o + anthropic/x, 3 votes each, majority`.
    pub fn name(&self) -> String {
        let whole = if self.reference.is_chunk() { "" } else { " (whole book)" };
        let models = self.models.join(" + ") + whole;
        let votes = match (self.votes, self.models.len()) {
            (0 | 1, 1) => return models,
            (0 | 1, _) => String::new(),
            (votes, 1) => format!(", {votes} votes"),
            (votes, _) => format!(", {votes} votes each"),
        };
        format!("{models}{votes}, {}", self.rule.name())
    }

    /// The verdict of the members' verdicts, `None` for a member that has not responded.
    pub fn verdict(&self, judge: Judge, members: &[Option<&Verdict>]) -> PanelVerdict {
        let verdicts: Option<Vec<&Verdict>> = members.iter().copied().collect();
        match verdicts {
            Some(verdicts) if !verdicts.is_empty() => {
                verdict(self.rule, judge, &verdicts).map_or(PanelVerdict::Silent, PanelVerdict::Ruled)
            }
            _ => PanelVerdict::Pending,
        }
    }
}

fn verdict(rule: PanelRule, judge: Judge, verdicts: &[&Verdict]) -> Option<Ruling> {
    let rulings: Vec<&Ruling> = verdicts.iter().filter_map(|verdict| verdict.ruling()).collect();
    if judge.decides_correctness() {
        let opinion = |verdict: &&Verdict| match (verdict.ruling(), judge.if_unreadable()) {
            (Some(Ruling::Correctness { correct }), _) => Some(*correct),
            (None, IfUnreadable::Incorrect) => Some(false),
            _ => None,
        };
        return Some(Ruling::Correctness { correct: rule.carried(verdicts.iter().filter_map(opinion))? });
    }
    match judge {
        Judge::Rule => rulings.into_iter().find(|ruling| matches!(ruling, Ruling::Rule(ByRule { .. }))).cloned(),
        Judge::NovelQaEvidence => marks(&rulings),
        Judge::VerifyFacts => {
            let lists = rulings.iter().filter_map(|ruling| match ruling {
                Ruling::Sentences { sentences } => Some(sentences.as_slice()),
                _ => None,
            });
            Some(Ruling::Sentences { sentences: each(&lists.collect::<Vec<_>>(), |votes| sentence(rule, votes))? })
        }
        Judge::AlignKeyFacts => {
            let lists = rulings.iter().filter_map(|ruling| match ruling {
                Ruling::KeyFacts { facts } => Some(facts.as_slice()),
                _ => None,
            });
            Some(Ruling::KeyFacts { facts: each(&lists.collect::<Vec<_>>(), |votes| fact(rule, votes))? })
        }
        Judge::ClassifyQuestion => question_type(&rulings),
        Judge::SagaScale | Judge::NovelQa | Judge::CorpusQa => None,
    }
}

/// The votes on each place of lists of the same length; `None` without a list.
fn each<T, U>(lists: &[&[Option<T>]], decide: impl Fn(&[&T]) -> Option<U>) -> Option<Vec<Option<U>>> {
    let n = lists.iter().map(|list| list.len()).max()?;
    let votes = |at: usize| lists.iter().filter_map(|list| list.get(at)?.as_ref()).collect::<Vec<&T>>();
    Some((0..n).map(|at| decide(&votes(at))).collect())
}

/// Decides on a sentence: without error if the rule carries that; else the error named most often, the earlier of
/// [`ErrorCategory::ERRORS`] on a tie, with the reason of the first who named it.
fn sentence(rule: PanelRule, votes: &[&SentenceRuling]) -> Option<SentenceRuling> {
    let faithful = rule.carried(votes.iter().map(|vote| vote.category == ErrorCategory::NoError))?;
    let n_named = |category: ErrorCategory| votes.iter().filter(|vote| vote.category == category).count();
    let mut category = ErrorCategory::NoError;
    if !faithful {
        for error in ErrorCategory::ERRORS {
            if n_named(error) > 0 && (category == ErrorCategory::NoError || n_named(error) > n_named(category)) {
                category = error;
            }
        }
    }
    votes.iter().find(|vote| vote.category == category).map(|vote| (*vote).clone())
}

/// Decides on a key fact: stated if the rule carries that, by the sentences that the rule carries among those who say
/// so; if it carries none of them, by all that were named.
fn fact(rule: PanelRule, votes: &[&FactRuling]) -> Option<FactRuling> {
    let stated = rule.carried(votes.iter().map(|vote| vote.stated))?;
    if !stated {
        return Some(FactRuling { stated, sentences: Vec::new() });
    }
    let ayes: Vec<&&FactRuling> = votes.iter().filter(|vote| vote.stated).collect();
    let mut named: Vec<usize> = ayes.iter().flat_map(|vote| vote.sentences.iter().copied()).collect();
    named.sort_unstable();
    named.dedup();
    let carried =
        |number: &usize| rule.carries(ayes.iter().filter(|v| v.sentences.contains(number)).count(), ayes.len());
    let agreed: Vec<usize> = named.iter().copied().filter(carried).collect();
    Some(FactRuling { stated, sentences: if agreed.is_empty() { named } else { agreed } })
}

/// The mean of each mark, rounded: a majority has no meaning for numbers, under either rule.
fn marks(rulings: &[&Ruling]) -> Option<Ruling> {
    let marks: Vec<&EvidenceMarks> = rulings
        .iter()
        .filter_map(|ruling| match ruling {
            Ruling::Evidence(marks) => Some(marks),
            _ => None,
        })
        .collect();
    let n = u32::try_from(marks.len()).ok().filter(|n| *n > 0)?;
    let mean = |of: fn(&EvidenceMarks) -> u8| {
        let sum: u32 = marks.iter().map(|marks| u32::from(of(marks))).sum();
        u8::try_from((2 * sum + n) / (2 * n)).unwrap_or(u8::MAX)
    };
    Some(Ruling::Evidence(EvidenceMarks {
        correctness: mean(|marks| marks.correctness),
        relevance: mean(|marks| marks.relevance),
        sufficiency: mean(|marks| marks.sufficiency),
    }))
}

/// The type named most often, the earlier of [`QuestionType::ALL`] on a tie.
fn question_type(rulings: &[&Ruling]) -> Option<Ruling> {
    let n_named = |kind: QuestionType| {
        rulings.iter().filter(|r| matches!(r, Ruling::QuestionType { question_type } if *question_type == kind)).count()
    };
    let named = QuestionType::ALL.into_iter().filter(|kind| n_named(*kind) > 0);
    let most = named.fold(None, |best: Option<QuestionType>, kind| match best {
        Some(best) if n_named(best) >= n_named(kind) => Some(best),
        _ => Some(kind),
    });
    most.map(|question_type| Ruling::QuestionType { question_type })
}
