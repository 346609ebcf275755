//! Options of judges.

use anyhow::{Result, bail};
use closeread_eval::Item;
use closeread_judges::{BUILTIN_RULE, Judge, Panel, PanelRule, Reference, paper_of};
use closeread_methods::reader::EXTRACTIVE;
use closeread_prompts::Prompts;
use closeread_providers::extra_body::ExtraBodies;
use closeread_providers::{Rates, told_apart};
use closeread_text::names::meant;

use std::collections::BTreeMap;
use std::time::Duration;
use tracing::info;

/// Most tokens that a judge's response may have where no option says otherwise; a list over key facts or sentences has
/// more if it needs it.
pub const MAX_OUTPUT_TOKENS: u32 = 2048;

/// Name that stands for all judges in the place of their names.
pub const ALL_JUDGES: &str = "all";

/// The options of judging: who judges, and how.
#[derive(Clone)]
pub struct JudgeOptions {
    /// The models, and `builtin/rule`.
    pub models: Vec<String>,
    /// Number of votes of each model.
    pub votes: u32,
    /// Rule by which votes become a verdict.
    pub rule: PanelRule,
    /// Names of the judges, or [`ALL_JUDGES`]; empty for all that fit, by the paper's judge of correct answers alone.
    pub judges: Vec<String>,
    /// Sampling temperature.
    pub temperature: f64,
    /// Most tokens that a response may have.
    pub max_output_tokens: u32,
    /// Address of the models' server.
    pub base_url: Option<String>,
    /// Option that names the address, for messages.
    pub address: &'static str,
    /// Sampling seed.
    pub seed: Option<u64>,
    /// Extra fields that are merged into requests.
    pub extra_body: ExtraBodies,
    /// Maximum time of one attempt of a call.
    pub timeout: Duration,
    /// Most calls to make at once.
    pub concurrency: usize,
    /// Most requests and tokens a minute to a model.
    pub rates: Rates,
    /// Whether remembered responses are neither used nor kept.
    pub no_cache: bool,
    /// Text that sentences are verified against.
    pub reference: Reference,
}

impl JudgeOptions {
    /// The models that are asked, which are all but [`BUILTIN_RULE`].
    pub fn asked(&self) -> Vec<String> {
        self.models.iter().filter(|model| *model != BUILTIN_RULE).cloned().collect()
    }

    /// Says why the votes of a model do not differ much, where they do not.
    const fn alike(&self) -> Option<&'static str> {
        match self.votes {
            0 | 1 => None,
            _ if self.temperature == 0.0 => {
                Some("at temperature 0 are mostly one vote repeated; a temperature such as 0.7 makes them differ")
            }
            _ if self.seed.is_some() => Some(
                "with one seed are mostly one vote repeated, where a server keeps to it; without a seed they differ",
            ),
            _ => None,
        }
    }

    /// The panel, for a benchmark with these items.
    pub fn panel(&self, benchmark: &str, items: &[Item], prompts: &Prompts) -> Result<Panel> {
        if self.models.iter().any(|model| model == EXTRACTIVE) {
            bail!("{EXTRACTIVE} reads, it does not judge: name a language model, or {BUILTIN_RULE}, which needs none");
        }
        let mut models: Vec<String> = Vec::new();
        for model in &self.models {
            if !models.contains(model) {
                models.push(model.clone());
            }
        }
        if self.votes == 0 {
            bail!("--votes 0 leaves nobody to judge: expected 1 or more");
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            bail!("a judge's temperature is {}: expected 0 to 2", self.temperature);
        }
        if let Some(why) = self.alike().filter(|_| models.iter().any(|model| model != BUILTIN_RULE)) {
            info!("note: {} votes {why}", self.votes);
        }
        let judge = |name: &String| {
            let known = || Judge::ALL.map(Judge::name).join(", ");
            let unknown = || {
                anyhow::anyhow!(
                    "there is no judge `{name}`{}: expected {ALL_JUDGES}, {}",
                    meant(name, Judge::ALL.map(Judge::name)),
                    known()
                )
            };
            Judge::of_name(name).ok_or_else(unknown)
        };
        let judges = match self.judges.iter().any(|name| name == ALL_JUDGES) {
            true => Judge::ALL.to_vec(),
            false => self.judges.iter().map(judge).collect::<Result<_>>()?,
        };
        let hash = |judge: Judge| Some((judge, prompts.hashes().get(judge.name())?.clone()));
        let prompts: BTreeMap<Judge, String> = Judge::ALL.into_iter().filter_map(hash).collect();
        let extra_body = |judge: &Judge| {
            Some((*judge, self.extra_body.of(None, judge.name()))).filter(|(_, fields)| !fields.is_empty())
        };
        Ok(Panel {
            models,
            votes: self.votes,
            rule: self.rule,
            judges,
            paper: paper_of(benchmark, items),
            temperature: self.temperature,
            max_output_tokens: self.max_output_tokens,
            base_url: self.base_url.as_deref().map(told_apart),
            seed: self.seed,
            extra_body: prompts.keys().filter_map(extra_body).collect(),
            prompts,
            reference: self.reference,
        })
    }
}
