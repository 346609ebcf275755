//! Options of `run` about judges.

use super::{ALL_METHODS, RunArgs};
use crate::values::each_once;
use anyhow::{Result, bail};
use closeread_judges::{BUILTIN_RULE, Reference};
use closeread_methods::reader::EXTRACTIVE;
use closeread_providers as provider;
use closeread_providers::extra_body::ExtraBodies;
use closeread_runner::benchmark::SAMPLE;
use closeread_runner::judging::{ALL_JUDGES, JudgeOptions, MAX_OUTPUT_TOKENS};
use std::time::Duration;

/// Value of `--judge-model` that stands for nobody.
const NO_JUDGE: &str = "none";

impl RunArgs {
    /// Returns whether everything there is is asked for: every method on the benchmark that ships, which is there to
    /// try them on.
    fn tries_everything(&self) -> bool {
        let is_sample = self.benchmark.as_deref().is_none_or(|name| name == SAMPLE);
        is_sample && self.method.iter().any(|name| name == ALL_METHODS)
    }

    /// The models that judge: those named; where everything is tried, without a word the first language model that reads.
    /// A paper's benchmark is judged by nobody unless the judge is named, for that is the user's money and the paper's
    /// judge is seldom the reader.
    pub(crate) fn judging_models(&self) -> Vec<String> {
        match self.judge_model.as_slice() {
            [] if self.tries_everything() => {
                self.models().into_iter().filter(|model| model != EXTRACTIVE).take(1).collect()
            }
            [one] if one == NO_JUDGE => Vec::new(),
            named => each_once(named),
        }
    }

    /// Returns where the judges are asked: at the readers' address only if that is the only one that can be meant.
    fn judges_address(&self, judging: &[String]) -> Option<String> {
        let reading = self.models();
        let mut asked = judging.iter().filter(|model| *model != BUILTIN_RULE);
        let same = asked.all(|model| reading.contains(model) || provider::needs_address(model));
        self.judge_base_url.clone().or_else(|| self.base_url.clone().filter(|_| same))
    }

    /// Returns what the options say about judges; `None` without one.
    pub(crate) fn judges(&self) -> Result<Option<JudgeOptions>> {
        check_judges(&self.judge)?;
        let models = self.judging_models();
        if models.is_empty() {
            if let (Some(judge), []) = (self.judge.first(), self.judge_model.as_slice()) {
                bail!(
                    "--judge {judge}: nobody would judge; name the model that does by --judge-model, or {BUILTIN_RULE}"
                );
            }
            return Ok(None);
        }
        if models.iter().any(|model| model == NO_JUDGE) {
            bail!("--judge-model {}: expected models, or {NO_JUDGE} alone", models.join(","));
        }
        let judges = match self.judge.is_empty() && self.tries_everything() {
            true => vec![ALL_JUDGES.to_owned()],
            false => self.judge.clone(),
        };
        Ok(Some(JudgeOptions {
            address: if self.judge_base_url.is_none() && self.judges_address(&models).is_some() {
                "--base-url"
            } else {
                "--judge-base-url"
            },
            base_url: self.judges_address(&models),
            models,
            votes: self.votes.unwrap_or(1),
            rule: self.panel.unwrap_or_default(),
            judges,
            temperature: self.judge_temperature.unwrap_or(0.0),
            max_output_tokens: self.judge_max_output_tokens.unwrap_or(MAX_OUTPUT_TOKENS),
            seed: self.seed,
            extra_body: ExtraBodies::read(&self.judge_extra_body, &self.extra_body()?.named)?,
            timeout: Duration::from_secs(self.timeout.unwrap_or(600).max(1)),
            concurrency: self.concurrency.unwrap_or(64).max(1),
            rates: self.rates(),
            no_cache: self.no_cache,
            reference: Reference::Chunk,
        }))
    }
}

/// Refuses a model in the place of a judge's name.
pub(crate) fn check_judges(judges: &[String]) -> Result<()> {
    match judges.iter().find(|name| name.contains('/')) {
        Some(model) => {
            bail!("--judge {model}: expected names of judges, such as judge-novelqa; models are named by --judge-model")
        }
        None => Ok(()),
    }
}
