//! Each judge as a transcript: what it asks of its host, word for word, and what it makes of the response; and the laws of
//! panels.

mod corpusqa;
mod hamlet;
mod novelqa;
mod panel;
mod people;
mod sagascale;
mod scores;

use crate::support::{ScriptedHost, with_setting};
use closeread_eval::{Item, Task};
use closeread_judges::{Judge, JudgeResponse, Ruling, Submission, SubmittedAnswer, Verdict};
use closeread_llm::HostError;
use closeread_prompts::Prompts;
use closeread_text::Language;
use expect_test::Expect;
use serde_json::json;
use std::fmt::Write;

/// A question with its gold, the reader's answer and what he cited.
struct Case {
    judge: Judge,
    item: Item,
    answer: &'static str,
    cited: Vec<String>,
    chunk: &'static str,
    language: Language,
}

impl Case {
    fn new(judge: Judge) -> Self {
        let item = json!({
            "id": "q", "documents": ["story"], "question": "Where was the key?", "task": "generative",
            "answers": ["under the third stair"], "evidence": [{"quote": "Ana hid the key under the third stair."}],
        });
        Self {
            judge,
            item: serde_json::from_value(item).unwrap(),
            answer: "below a stair",
            cited: Vec::new(),
            chunk: "",
            language: Language::ENGLISH,
        }
    }

    /// A summary of two sentences and a tree of three facts.
    fn summary(judge: Judge) -> Self {
        let item = json!({
            "id": "q", "documents": ["story"], "question": "What became of the key?", "task": "summary",
            "key_facts": {"document": "story", "start": 0, "end": 10, "roots": [{"fact": "Ana loses the key.",
                "children": [{"fact": "Ana hides the key.", "children": [{"fact": "The stair is the third."}]}]}]},
        });
        Self {
            item: serde_json::from_value(item).unwrap(),
            answer: "Ana hid the key. Ben was a king.",
            chunk: "Ana hid the key under the third stair.",
            ..Self::new(judge)
        }
    }

    fn response(&self, host: &ScriptedHost<'_>) -> JudgeResponse {
        let submission = Submission {
            item: &self.item,
            title: "The Key",
            language: self.language,
            said: SubmittedAnswer::Answer { text: self.answer, choice: None },
            cited: &self.cited,
            chunk: self.chunk,
        };
        with_setting(async |settings| closeread_judges::ask(self.judge, host, settings, &submission).await).unwrap()
    }

    /// The whole exchange and what came of it.
    fn check(&self, response: &str, expected: &Expect) {
        let host = ScriptedHost::always(Ok(response));
        let asked = self.response(&host);
        assert_eq!(asked.calls.len(), 1);
        assert_eq!((asked.calls[0].prompt.as_str(), asked.calls[0].response.as_str()), (self.judge.name(), response));
        let mut transcript = host.transcript();
        writeln!(transcript, "{}", json!(asked.verdict)).unwrap();
        expected.assert_eq(&transcript);
    }

    fn verdict(&self, response: &str) -> Verdict {
        self.response(&ScriptedHost::always(Ok(response))).verdict
    }

    /// Checks that what a provider refuses is a state of its own, and that no trace says that something was answered.
    fn survives_refusals(&self) {
        let of = |error: HostError| {
            let asked = self.response(&ScriptedHost::always(Err(error)));
            assert_eq!(asked.calls, []);
            asked.verdict
        };
        assert_eq!(of(HostError::Blocked { reason: "no".into() }), Verdict::Blocked { reason: "no".into() });
        let long = HostError::Overflow { message: "long".into(), needed: None, context_window: None };
        assert_eq!(of(long), Verdict::Overflow);
        assert!(matches!(of(HostError::Failed("500".into())), Verdict::Failed { .. }));
    }
}

fn correct(correct: bool) -> Verdict {
    Verdict::Ruled { ruling: Ruling::Correctness { correct } }
}

/// Every judge refuses to guess at what is not in its form.
#[test]
fn nothing_is_read_into_an_empty_or_strange_response() {
    for judge in Judge::ALL.into_iter().filter(|judge| *judge != Judge::Rule) {
        let case = match judge {
            Judge::VerifyFacts | Judge::AlignKeyFacts => Case::summary(judge),
            _ => Case { cited: vec!["Ana hid the key.".into()], ..Case::new(judge) },
        };
        for response in [
            "",
            " \n",
            "I cannot judge this.",
            "<think>C [[YES]] \\boxed{CORRECT}</think>",
            "<think>C [[YES]] \\boxed{CORRECT}",
            "[]",
            "{}",
            "[[]]",
        ] {
            assert_eq!(case.verdict(response), Verdict::Unparsed, "{judge:?}: {response}");
        }
        case.survives_refusals();
    }
}

#[test]
fn every_judge_but_the_rule_has_a_prompt_of_its_name() {
    let prompts = Prompts::built_in();
    for judge in Judge::ALL {
        assert_eq!(prompts.hashes().contains_key(judge.name()), judge != Judge::Rule, "{}", judge.name());
        assert_eq!(json!(judge), judge.name());
        assert_eq!(Judge::of_name(judge.name()), Some(judge));
    }
}

#[test]
fn a_choice_is_judged_by_rule_alone() {
    use closeread_eval::{Outcome, Paper};
    let mut item = Item::new("q", "b", "?", Task::Choice);
    item.options = vec!["a".into(), "b".into()];
    item.correct = Some(0);
    let answered = Outcome::Answered { answer: "a".into(), choice: Some(0) };
    assert_eq!(Judge::of_trial(Paper::NovelQa, &item, &answered, &[]), [Judge::Rule]);
    let unparsed = Outcome::Unparsed { response: "hm".into() };
    assert_eq!(Judge::of_trial(Paper::NovelQa, &item, &unparsed, &[]), [Judge::Rule]);
    assert_eq!(Judge::of_trial(Paper::NovelQa, &item, &Outcome::NotFound, &[]), []);
    let open = Case::new(Judge::NovelQa).item;
    let cited = ["x".to_owned()];
    let of = |paper, cited: &[String]| Judge::of_trial(paper, &open, &answered, cited);
    assert_eq!(of(Paper::NovelQa, &cited), [Judge::Rule, Judge::NovelQa, Judge::NovelQaEvidence]);
    assert_eq!(of(Paper::CorpusQa, &[]), [Judge::Rule, Judge::CorpusQa]);
    assert_eq!(of(Paper::DosRag, &[]), [Judge::Rule, Judge::SagaScale]);
    assert_eq!(Judge::of_trial(Paper::CorpusQa, &open, &unparsed, &[]), [Judge::Rule]);
    let mut hashed = open.clone();
    hashed.answers = vec![format!("sha256:s:{}", "0".repeat(64))];
    assert_eq!(Judge::of_trial(Paper::NovelQa, &hashed, &answered, &[]), [], "a hash tells a judge nothing");
    let summary = Case::summary(Judge::VerifyFacts).item;
    let of = |outcome| Judge::of_trial(Paper::Hamlet, &summary, outcome, &[]);
    assert_eq!(of(&answered), [Judge::VerifyFacts, Judge::AlignKeyFacts]);
    assert_eq!(of(&unparsed), []);
}
