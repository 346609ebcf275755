//! Protocols: how each paper runs its benchmark, and what `closeread run` does where its user says nothing.

mod changes;
mod defaults;
mod judge;
mod lines;
mod offer;
mod papers;
mod source;
mod tokenizer;

pub use changes::{Change, KeptProtocol};
pub use defaults::{Conduct, Protocol, Step};
pub use judge::{IfUnreadable, Judge};
pub use lines::Line;
pub use offer::{Offer, OfferedCost, StageCost, offers};
pub use source::{Source, Sourced};
pub use tokenizer::PaperTokenizer;

use serde_json::Value;

/// Protocols of every paper's benchmarks.
pub static PROTOCOLS: &[Protocol] = &[
    papers::SAGASCALE,
    papers::NOVELQA,
    papers::INFINITEBENCH,
    papers::QUALITY,
    papers::NARRATIVEQA,
    papers::CORPUSQA,
    papers::HAMLET,
];

impl Protocol {
    /// The protocol that a run followed, by the field `configuration` of its manifest.
    pub fn of_run(configuration: &Value) -> &'static Self {
        let benchmark = |pointer| configuration.pointer(pointer).and_then(Value::as_str);
        Self::of(benchmark("/protocol/benchmark").or_else(|| benchmark("/benchmark")).unwrap_or_default())
    }

    /// The protocol of a benchmark; [`Self::OWN`] for one that no paper here reports on.
    pub fn of(benchmark: &str) -> &'static Self {
        PROTOCOLS.iter().find(|protocol| protocol.benchmark == benchmark).unwrap_or(&Self::OWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PromptStyle, Rag, entry};
    use closeread_data::adapter;
    use closeread_eval::observations::FailurePolicy;
    use closeread_prompts::Prompts;
    use serde_json::json;

    #[test]
    fn every_protocol_is_of_a_benchmark_and_a_paper() {
        for protocol in PROTOCOLS {
            assert!(adapter(protocol.benchmark).is_some(), "{}", protocol.benchmark);
            assert!(protocol.paper().is_some(), "{}", protocol.benchmark);
            assert!(protocol.budgets.is_sorted() && *protocol.repeats > 0, "{}", protocol.benchmark);
            assert_eq!(Protocol::of(protocol.benchmark), protocol);
        }
        assert_eq!(Protocol::of("sample"), &Protocol::OWN);
    }

    #[test]
    fn every_step_is_the_method_of_its_name_with_parameters_that_go_together() {
        let prompts = Prompts::built_in();
        for protocol in PROTOCOLS {
            assert_eq!(protocol.judges.is_empty(), protocol.judge_model.is_none(), "{}", protocol.benchmark);
            assert!(protocol.judges.iter().all(|judge| prompts.hashes().contains_key(judge.name())));
            for step in *protocol.steps {
                let entry = entry(step.method).unwrap_or_else(|| panic!("there is no method {}", step.method));
                let (made, preset) = ((step.make)(), entry.preset());
                assert_eq!(std::mem::discriminant(&made), std::mem::discriminant(&preset), "{}", step.method);
                assert_eq!(entry.method(&json!(made)).unwrap(), made, "{}: {}", protocol.benchmark, step.method);
                let mut sourced: Vec<&str> = step.parameters.iter().flat_map(|names| names.split(' ')).collect();
                sourced.sort_unstable();
                let mut parameters: Vec<String> =
                    json!(made).as_object().unwrap().keys().map(ToString::to_string).collect();
                parameters.sort_unstable();
                assert_eq!(sourced, parameters, "{}: {}", protocol.benchmark, step.method);
            }
        }
    }

    #[test]
    fn infinitebench_asks_its_choices_and_narrativeqa_its_test_set_alone() {
        let only = |benchmark| *Protocol::of(benchmark).only;
        assert_eq!(["infinitebench", "quality"].map(only), [Some("task=En.MC"), None]);
        assert_eq!(only("narrativeqa"), Some("set=test"));
    }

    #[test]
    fn novelqa_cuts_the_end_and_corpusqa_leaves_missing_responses_out_and_knows_chinese() {
        let of = |benchmark, method| json!(Protocol::of(benchmark).method(entry(method).unwrap()));
        assert_eq!(of("novelqa", "full-document")["overflow"], json!("truncate-end"));
        assert_eq!(json!(Rag { style: PromptStyle::Novelqa, ..Rag::dos() }), of("novelqa", "dos-rag"));
        assert_eq!(of("corpusqa", "memory-agent")["style"], json!(null));
        assert_eq!(of("novelqa", "memory-agent")["style"], json!("novelqa"));
        assert_eq!(*Protocol::of("corpusqa").failures, FailurePolicy::LeftOut);
        assert_eq!(*Protocol::of("corpusqa").embedder, Some("multilingual-e5-large"));
        assert_eq!((*Protocol::of("quality").repeats, *Protocol::of("narrativeqa").repeats), (5, 1));
    }
}
