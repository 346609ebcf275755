//! The options of `run` from a TOML file.

use super::RunArgs;
use crate::extra_body;
use anyhow::{Context, Result};
use std::path::Path;

impl RunArgs {
    /// The options with those of the `--config` file filled in where the command line says nothing.
    pub(crate) fn with_config_file(self) -> Result<Self> {
        let Some(path) = &self.config else { return Ok(self) };
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read the config {}", path.display()))?;
        let file: Self = toml::from_str(&text)
            .with_context(|| format!("{}: expected the options of `closeread run` as TOML", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(self.over(file, &folder))
    }

    /// These options where given, else those of `file`, whose paths are relative to `folder`.
    fn over(self, file: Self, folder: &Path) -> Self {
        fn list<T>(ours: Vec<T>, theirs: Vec<T>) -> Vec<T> {
            if ours.is_empty() { theirs } else { ours }
        }
        let benchmark = file.benchmark.map(|name| {
            let path = folder.join(&name);
            if path.is_dir() { path.to_string_lossy().into_owned() } else { name }
        });
        Self {
            benchmark: self.benchmark.or(benchmark),
            data: list(self.data, file.data.iter().map(|path| folder.join(path)).collect()),
            method: list(self.method, file.method),
            param: self.param,
            params: file.params,
            model: list(self.model, file.model),
            retriever: self.retriever.or(file.retriever),
            embedder: self.embedder.or(file.embedder),
            embedder_base_url: self.embedder_base_url.or(file.embedder_base_url),
            embedder_spec: self.embedder_spec.or(file.embedder_spec.map(|path| folder.join(path))),
            backend: self.backend.or(file.backend),
            tokenizer: self.tokenizer.or(file.tokenizer),
            budget: list(self.budget, file.budget),
            max_tokens: self.max_tokens.or(file.max_tokens),
            fill: self.fill.or(file.fill),
            neighbours: self.neighbours.or(file.neighbours),
            window: self.window.or(file.window),
            overflow: self.overflow.or(file.overflow),
            max_output_tokens: self.max_output_tokens.or(file.max_output_tokens),
            task: self.task.or(file.task),
            one_book: self.one_book || file.one_book,
            limit: self.limit.or(file.limit),
            items: list(self.items, file.items),
            samples: self.samples.or(file.samples),
            shard: self.shard.or(file.shard),
            out: self.out.or(file.out.map(|path| folder.join(path))),
            fresh: self.fresh || file.fresh,
            extend: self.extend,
            seed: self.seed.or(file.seed),
            base_url: self.base_url.or(file.base_url),
            extra_body: [file.extra_body.iter().map(|one| extra_body::beside(folder, one)).collect(), self.extra_body]
                .concat(),
            extra_bodies: file.extra_bodies,
            judge: list(self.judge, file.judge),
            judge_by: list(self.judge_by, file.judge_by),
            votes: self.votes.or(file.votes),
            panel: self.panel.or(file.panel),
            judge_temperature: self.judge_temperature.or(file.judge_temperature),
            judge_base_url: self.judge_base_url.or(file.judge_base_url),
            judge_extra_body: [
                file.judge_extra_body.iter().map(|one| extra_body::beside(folder, one)).collect(),
                self.judge_extra_body,
            ]
            .concat(),
            judge_max_output_tokens: self.judge_max_output_tokens.or(file.judge_max_output_tokens),
            timeout: self.timeout.or(file.timeout),
            concurrency: self.concurrency.or(file.concurrency),
            batch: self.batch || file.batch,
            batch_poll: self.batch_poll.or(file.batch_poll),
            rpm: self.rpm.or(file.rpm),
            tpm: self.tpm.or(file.tpm),
            max_cost: self.max_cost.or(file.max_cost),
            allow_unknown_price: self.allow_unknown_price || file.allow_unknown_price,
            models: self.models.or(file.models.map(|path| folder.join(path))),
            dry_run: self.dry_run || file.dry_run,
            assume_reply: self.assume_reply.or(file.assume_reply),
            assume_seconds: self.assume_seconds.or(file.assume_seconds),
            no_cache: self.no_cache || file.no_cache,
            prompts: self.prompts.or(file.prompts.map(|path| folder.join(path))),
            encoding: self.encoding.or(file.encoding),
            language: self.language.or(file.language),
            keep_frame: self.keep_frame || file.keep_frame,
            keep_wraps: self.keep_wraps || file.keep_wraps,
            config: self.config,
            json: self.json || file.json,
            verbose: self.verbose || file.verbose,
        }
    }
}
