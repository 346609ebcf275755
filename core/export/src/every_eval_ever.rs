//! Records of Every Eval Ever, schema 0.3.0: a file a model with a result a cell and metric, and a file of rows beside it.
//!
//! A row needs a score: what a metric does not count (an item without gold, an answer without a verdict) has no row, and how
//! many those are stands in the result's details.

use super::tokens::Tokens;
use super::{About, CellTrials, Entry, Row, answer, cell_name, correct, file_name, options, question, said};
use closeread_eval::observations::MetricName;
use closeread_eval::{Item, Outcome};
use closeread_judges::{BUILTIN_RULE, EVIDENCE_MARKS, Panel, PanelRule};
use closeread_metrics::stats::{Estimate, IntervalMethod};
use closeread_report::Arm;
use closeread_text::hash::sha256;
use serde_json::{Map, Value, json};

const SCHEMA: &str = "0.3.0";

/// The publisher of a record, and what the run does not know of its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publisher {
    /// Name of the organisation that evaluated.
    pub organization: String,
    /// Relationship of the organisation to the model's maker: `first_party`, `third_party`, `collaborative` or `other`.
    pub relationship: String,
    /// Deployment of the models: `self_deployed`, `externally_managed` or `unknown`.
    pub deployment: String,
    /// Availability of the models: `open_weights`, `closed_weights` or `unknown`.
    pub availability: String,
}

/// The record of one model of a run.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The run.
    pub about: About<'a>,
    /// The model, `provider/model`.
    pub model: &'a str,
    /// Publisher of the record.
    pub publisher: &'a Publisher,
}

/// The rows of a record as they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// SHA-256 of the file, in hex.
    pub sha256: String,
    /// Number of rows.
    pub n: usize,
}

impl Record<'_> {
    /// Returns the path `data/<benchmark>/<developer>/<model>/<uuid>`, without ending: of the record `.json`, of its
    /// rows `_samples.jsonl`.
    pub fn path(&self) -> String {
        let (developer, name) = self.developer_and_name();
        let collection = file_name(&self.about.run.benchmark);
        format!("data/{collection}/{}/{}/{}", file_name(developer), file_name(name), uuid(&self.id()))
    }

    fn developer_and_name(&self) -> (&str, &str) {
        self.model.split_once('/').unwrap_or(("unknown", self.model))
    }

    /// Returns the record's id, which is the same whenever it is exported.
    fn id(&self) -> String {
        let (run, model) = (self.about.run, file_name(self.model));
        // File names do not tell `x:y` from `x-y`; the token does.
        let is_told = model == self.model.replacen('/', "-", 1);
        let told = json!([run.name, run.facts, self.about.created]);
        let told = if is_told { told } else { json!([told, self.model]) };
        let token = &sha256(told.to_string().as_bytes())[..12];
        format!("{}/{model}/{}-{token}", run.benchmark, self.about.created)
    }

    fn result_id(&self, arm: &Arm, metric: &str) -> String {
        format!("{}#{metric}", cell_name(self.about.run, arm).replace(' ', "@"))
    }

    fn evaluation_name(&self, arm: &Arm) -> String {
        let budget = arm.budget.map_or_else(String::new, |budget| format!(" at {budget}"));
        format!("{}: {}{budget}", self.about.run.benchmark, arm.method)
    }

    /// The rows of a finished trial, a line a metric that counts it.
    pub fn rows(&self, cell: &CellTrials, row: &Row<'_>) -> Vec<u8> {
        let Row { item, record, trial } = *row;
        let tokens = Tokens::of_trial(self.model, record, &self.about.run.prices);
        let gold = gold(item);
        let asked = question(item);
        let hash = sha256(format!("{asked}{}", gold.concat()).as_bytes());
        let error = match &record.outcome {
            Outcome::Answered { .. } => None,
            Outcome::Failed { error } => Some(format!("failed: {error}")),
            Outcome::Blocked { reason } => Some(format!("blocked: {reason}")),
            other => Some(other.name().to_owned()),
        };
        let mut metadata = Map::from_iter(item.labels.iter().map(|(label, value)| (label.clone(), json!(value))));
        metadata.insert("document".to_owned(), json!(item.documents.join(", ")));
        metadata.insert("repeat".to_owned(), json!(trial.repeat.to_string()));
        metadata.insert("outcome".to_owned(), json!(trial.ending.name()));
        let mut lines = Vec::new();
        for (metric, score) in &trial.counted {
            let mut one = json!({
                "schema_version": SCHEMA,
                "evaluation_id": self.id(),
                "model_id": self.model_id(),
                "evaluation_name": self.evaluation_name(&cell.arm),
                "evaluation_result_id": self.result_id(&cell.arm, metric),
                "sample_id": if trial.repeat == 0 { item.id.clone() } else { format!("{}#{}", item.id, trial.repeat) },
                "sample_hash": hash,
                "interaction_type": "single_turn",
                "input": {"raw": asked, "formatted": null, "reference": gold},
                "output": {"raw": [said(record)]},
                "answer_attribution": [{"turn_idx": 0, "source": "output.raw", "is_terminal": true,
                    "extracted_value": answer(&record.outcome).unwrap_or_default(),
                    "extraction_method": "the answer form of closeread's prompt"}],
                "evaluation": {"score": score, "is_correct": *score == 1.0},
                "token_usage": {"input_tokens": tokens.input, "output_tokens": tokens.output,
                    "total_tokens": tokens.input + tokens.output, "input_tokens_cache_read": tokens.cache_read,
                    "input_tokens_cache_write": tokens.cache_write, "reasoning_tokens": tokens.reasoning},
                "performance": {"latency_ms": record.seconds * 1e3},
                "metadata": metadata,
            });
            if !options(item).is_empty() {
                one["input"]["choices"] = json!(options(item));
            }
            if let Some(error) = &error {
                one["error"] = json!(error);
            }
            lines.extend(one.to_string().into_bytes());
            lines.push(b'\n');
        }
        lines
    }

    fn model_id(&self) -> String {
        let (developer, name) = self.developer_and_name();
        format!("{developer}/{name}")
    }

    /// The record itself, of all cells of its model, once their rows are written.
    pub fn finish(&self, cells: &[CellTrials], rows: &Rows) -> Entry {
        let About { created, version, .. } = self.about;
        let (developer, name) = self.developer_and_name();
        let Publisher { organization, relationship, deployment, availability } = self.publisher;
        let results: Vec<Value> = cells.iter().flat_map(|cell| self.results(cell)).collect();
        let record = json!({
            "schema_version": SCHEMA,
            "evaluation_id": self.id(),
            "retrieved_timestamp": created.to_string(),
            "evaluation_timestamp": created.to_string(),
            "source_metadata": {"source_name": "closeread", "source_type": "evaluation_run",
                "source_organization_name": organization, "evaluator_relationship": relationship},
            "eval_library": {"name": "closeread", "version": version},
            "model_info": {"name": name, "id": self.model_id(), "developer": developer,
                "additional_details": {"deployment_type": deployment, "model_availability": availability}},
            "evaluation_results": results,
            "detailed_evaluation_results": {"format": "jsonl", "file_path": format!("{}_samples.jsonl", self.path()),
                "hash_algorithm": "sha256", "checksum": rows.sha256, "total_rows": rows.n},
        });
        let mut bytes = format!("{record:#}").into_bytes();
        bytes.push(b'\n');
        Entry { name: format!("{}.json", self.path()), bytes }
    }

    /// Returns the results of a cell, one a metric.
    fn results(&self, cell: &CellTrials) -> Vec<Value> {
        let run = self.about.run;
        let one = |(metric, estimate): (&MetricName, &Estimate)| {
            let name = metric.name();
            let items = run.items.len().to_string();
            let mut config = json!({
                "metric_id": name.replace('_', "-"), "metric_name": name, "metric_kind": kind(name), "metric_unit": "proportion",
                "lower_is_better": false, "score_type": "continuous", "min_score": 0.0, "max_score": 1.0,
            });
            if let Some(judged) = self.judged_by(name) {
                config["llm_scoring"] = judged;
            }
            let mut ledger: Map<String, Value> = cell
                .summary
                .ledger
                .parts()
                .filter(|(_, n)| *n > 0)
                .map(|(ending, n)| (format!("trials_{}", ending.name()), json!(n.to_string())))
                .collect();
            if let n @ 1.. = cell.summary.unjudged(metric) {
                ledger.insert("trials_without_verdict".to_owned(), json!(n.to_string()));
            }
            if !run.gaps.is_empty() {
                ledger.insert("gaps".to_owned(), json!(run.gaps.join("; ")));
            }
            json!({
                "evaluation_result_id": self.result_id(&cell.arm, name),
                "evaluation_name": self.evaluation_name(&cell.arm),
                "evaluation_timestamp": self.about.created.to_string(),
                "source_data": {"dataset_name": run.benchmark, "source_type": "other", "additional_details": {"items": items}},
                "metric_config": config,
                "score_details": {"score": estimate.value, "details": ledger,
                    "uncertainty": {"confidence_interval": {"lower": estimate.low, "upper": estimate.high,
                        "confidence_level": 0.95, "method": method(estimate.interval)}, "num_samples": estimate.n}},
                "generation_config": self.generation(&cell.arm),
            })
        };
        cell.summary.metrics.iter().map(one).collect()
    }

    fn generation(&self, arm: &Arm) -> Value {
        let run = self.about.run;
        let mut args = json!({"temperature": run.asked.temperature_of(&arm.method)});
        if let Some(most) = run.asked.max_output_tokens {
            args["max_tokens"] = json!(most);
        }
        if let Some(reasoning) = run.asked.reasoning {
            args["reasoning"] = json!(reasoning.is_on());
        }
        let mut details = Map::from_iter(run.facts.iter().map(|(name, value)| (name.replace(' ', "_"), json!(value))));
        details.insert("method".to_owned(), json!(arm.method));
        if let Some(budget) = arm.budget {
            details.insert("budget".to_owned(), json!(budget.to_string()));
        }
        json!({"generation_args": args, "additional_details": details})
    }

    /// The language models that gave the metric, if judges give it.
    fn judged_by(&self, metric: &str) -> Option<Value> {
        let (panels, prompts): (Vec<&Panel>, Vec<&str>) =
            self.about.run.judging.behind(metric).into_iter().map(|(panel, judge)| (panel, judge.name())).unzip();
        let mut models: Vec<(&String, f64)> = Vec::new();
        for panel in &panels {
            for model in panel.models.iter().filter(|model| *model != BUILTIN_RULE) {
                if !models.iter().any(|(known, _)| *known == model) {
                    models.push((model, panel.temperature));
                }
            }
        }
        let judge = |(model, temperature): (&String, f64)| {
            let (developer, name) = model.split_once('/').unwrap_or(("unknown", model));
            json!({"model_info": {"name": name, "id": format!("{developer}/{name}"), "developer": developer,
                "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"}},
                "temperature": temperature})
        };
        let judges: Vec<Value> = models.into_iter().map(judge).collect();
        let names: Vec<String> = panels.iter().map(|panel| panel.name()).collect();
        let prompt = format!("closeread's judge `{}`", prompts.join("` and `"));
        let details = json!({"panel": names.join(" and ")});
        let mut scoring = json!({"judges": judges, "input_prompt": prompt, "additional_details": details});
        // The schema has no word for unanimity.
        if EVIDENCE_MARKS.contains(&metric) {
            scoring["aggregation_method"] = json!("average");
        } else if panels.iter().all(|panel| panel.rule == PanelRule::Majority) {
            scoring["aggregation_method"] = json!("majority_vote");
        }
        (!judges.is_empty()).then_some(scoring)
    }
}

/// Acceptable answers; for a choice the right option.
fn gold(item: &Item) -> Vec<String> {
    match correct(item).map(|correct| &item.options[correct]) {
        Some(option) => vec![option.clone()],
        None => item.answers.clone(),
    }
}

/// The family of a metric.
fn kind(metric: &str) -> &'static str {
    match metric {
        "accuracy" | "exact_match" | "pair_accuracy" | "judged_accuracy" => "accuracy",
        "evidence_recall" => "recall",
        name if name.contains("f1") => "f1",
        name if name.starts_with("rouge") => "rouge",
        name if name.starts_with("bleu") => "bleu",
        _ => "score",
    }
}

fn method(interval: IntervalMethod) -> &'static str {
    match interval {
        IntervalMethod::ClusteredByBook => "t, clustered by document",
        IntervalMethod::Wilson => "Wilson, over items",
        IntervalMethod::BootstrapOverItems => "bootstrap over items",
        IntervalMethod::BootstrapByBook => "bootstrap over documents",
        IntervalMethod::AgrestiMin => "Agresti and Min, over items",
    }
}

/// A UUID of version 4 that is the same for the same name.
fn uuid(name: &str) -> String {
    let mut hex: Vec<u8> = sha256(name.as_bytes()).into_bytes()[..32].to_vec();
    (hex[12], hex[16]) = (b'4', b"89ab"[usize::from(hex[16] % 4)]);
    let hex = String::from_utf8(hex).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_of_version_four_and_stays() {
        let one = uuid("a");
        assert_eq!((one.as_str(), one.len()), (uuid("a").as_str(), 36));
        assert_ne!(one, uuid("b"));
        let parts: Vec<&str> = one.split('-').collect();
        assert!(parts[2].starts_with('4') && "89ab".contains(&parts[3][..1]), "{one}");
    }
}
