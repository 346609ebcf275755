//! MemAgent: the memory loop over a model that replies from a list, the reading of replies, the scores of answers.

use super::compare;
use super::kind::Schema;
use crate::report::{FileReport, label, list};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, ReadOptions};
use closeread_embed::{Role, Vectors};
use closeread_eval::Item;
use closeread_eval::answer::boxed::memagent_boxed;
use closeread_eval::answer::{after_thinking, memagent_answer};
use closeread_llm::{Call, HostError, Response};
use closeread_methods::{AnyMethod, Host, ResponseLimit, Session, Settings};
use closeread_metrics::{MemAgentScore, memagent_score};
use closeread_prompts::Prompts;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

pub(super) const SCHEMA: Schema = Schema { name: "memagent", version: "1", run };

/// Tolerance of F1.
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Reading {
    input: String,
    expected: Expected,
}

/// The answer, `null` for none, or the exception that the reference raises.
#[derive(Deserialize)]
#[serde(untagged)]
enum Expected {
    Answer(Option<String>),
    Error {
        #[serde(rename = "error")]
        _exception: String,
    },
}

fn run(file: &Value, report: &mut FileReport) {
    for (position, case) in list(file, "cases").enumerate() {
        let id = label(case, "cases", position);
        let check: fn(&Value) -> Result<(), String> = match case.get("group").and_then(Value::as_str) {
            Some("memory_loop") => memory_loop,
            Some("answer_scores") => answer_scores,
            Some("extract_boxed_answer") => {
                |case| read(case, |response| memagent_boxed(response).answer().map(str::to_owned))
            }
            Some("extract_answer") => |case| read(case, |response| memagent_answer(response).answer()),
            Some("strip_thinking") => |case| read(case, |response| Some(after_thinking(response).to_owned())),
            Some(group) => {
                report.not_yet(&format!("memagent: group {group} has no code yet"), 1);
                continue;
            }
            None => |_| Err("case has no `group`".to_owned()),
        };
        report.case(&id, || check(case));
    }
}

fn read(case: &Value, read: fn(&str) -> Option<String>) -> Result<(), String> {
    let case: Reading = compare::parse(case)?;
    // Where the reference raises an exception there is no answer to read.
    let expected = match case.expected {
        Expected::Answer(answer) => answer,
        Expected::Error { .. } => None,
    };
    compare::same("answer", &[read(&case.input)], &[expected])
}

#[derive(Deserialize)]
struct Scores {
    input: ScoresInput,
    expected: ScoresExpected,
}

#[derive(Deserialize)]
struct ScoresInput {
    prediction: String,
    gold: String,
}

#[derive(Deserialize)]
struct ScoresExpected {
    em: bool,
    sub_em: bool,
    f1: f64,
}

fn answer_scores(case: &Value) -> Result<(), String> {
    let Scores { input, expected } = compare::parse(case)?;
    let MemAgentScore { exact_match, sub_exact_match, f1 } = memagent_score(&input.prediction, &input.gold);
    compare::same("em and sub_em", &[exact_match, sub_exact_match], &[expected.em, expected.sub_em])?;
    compare::close("f1", f1, expected.f1, TOLERANCE)
}

#[derive(Deserialize)]
struct MemoryLoop {
    input: LoopInput,
    expected: LoopExpected,
}

#[derive(Deserialize)]
struct LoopInput {
    context_tokens: usize,
    chunk_size: usize,
    max_context: usize,
    model_replies: Option<Replies>,
}

/// Replies of the model in place of "memory after k", by call number; `null` for a call that fails.
#[derive(Deserialize)]
#[serde(untagged)]
enum Replies {
    InOrder(Vec<Option<String>>),
    /// Replies by call number, from 1.
    ByCall(HashMap<String, Option<String>>),
}

#[derive(Debug, PartialEq, Deserialize)]
struct LoopExpected {
    calls: Vec<LoopCall>,
    final_response: String,
}

#[derive(Debug, PartialEq, Deserialize)]
struct LoopCall {
    kind: String,
    memory_in: String,
    /// Token ranges of the section; empty in the final call.
    #[serde(default)]
    token_ranges: Vec<(usize, usize)>,
}

/// Runs the method over a text whose token number k is the word `k`, with prompts that hold only the memory and the
/// section.
fn memory_loop(case: &Value) -> Result<(), String> {
    let MemoryLoop { input, expected } = compare::parse(case)?;
    let words: Vec<String> = (0..input.context_tokens).map(|token| token.to_string()).collect();
    // No book without text: a context of no tokens is one of no documents.
    let options = ReadOptions { keep_frame: true, keep_wraps: true, ..ReadOptions::default() };
    let book = Book::new("context", "", words.join(" "), &options);
    let books: Vec<Arc<Book>> = book.into_iter().map(Arc::new).collect();
    let (prompts, tokenizer) = (prompts(), words_for_tokens());
    let settings = Settings {
        prompts: &prompts,
        tokenizer: &tokenizer,
        response_limit: ResponseLimit::AtMost(1024),
        temperature: 0.0,
        context_window: None,
    };
    let item = json!({ "id": "q", "documents": ["context"], "question": "q", "task": "generative", "answers": ["a"] });
    let item: Item = compare::parse(&item)?;
    let parameters = json!({ "section_tokens": input.chunk_size, "max_context": input.max_context });
    let method = AnyMethod::named("memory-agent", &parameters).map_err(|error| error.to_string())?;

    let stub = Stub { replies: input.model_replies, calls: RefCell::default() };
    let session = Session::new(&stub, settings).about(&books);
    let trials = at_once(method.run(&session, &[&item], None)).map_err(|error| error.to_string())?;
    let calls = stub.calls.into_inner();
    compare::same("call", &calls, &expected.calls)?;
    // A call that fails ends the item, with an empty answer.
    let answered = trials[0].calls.len() == calls.len();
    let last = trials[0].calls.last().filter(|_| answered).map_or("", |call| call.response.as_str());
    compare::same("final response", &[last], &[expected.final_response.as_str()])
}

fn prompts() -> Prompts {
    let mut prompts = Prompts::built_in();
    let front = "+++\npaper = ''\nvariables = []\nresponse = ''\n+++\n";
    prompts.replace("memory-agent-update", &format!("{front}{{{{ memory }}}}\n{{{{ section }}}}")).expect("a prompt");
    prompts.replace("memory-agent-question", &format!("{front}{{{{ memory }}}}")).expect("a prompt");
    prompts
}

/// A tokenizer with a token for every word between spaces.
fn words_for_tokens() -> Tokenizer {
    let json = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "WhitespaceSplit" }, "post_processor": null, "decoder": null,
        "model": { "type": "WordLevel", "vocab": { "[UNK]": 0 }, "unk_token": "[UNK]" },
    });
    Tokenizer::from_json("words", json.to_string().as_bytes()).expect("a tokenizer.json")
}

/// A model that replies from a list.
struct Stub {
    replies: Option<Replies>,
    calls: RefCell<Vec<LoopCall>>,
}

impl Host for Stub {
    async fn chat(&self, call: Call) -> Result<Response, HostError> {
        let said = &call.messages[0].content;
        let update = call.prompt == "memory-agent-update";
        let (memory, section) = if update { said.rsplit_once('\n').unwrap_or((said, "")) } else { (said.as_str(), "") };
        let kind = if update { "update" } else { "final" };
        let read = LoopCall { kind: kind.to_owned(), memory_in: memory.to_owned(), token_ranges: ranges(section) };
        self.calls.borrow_mut().push(read);
        let number = self.calls.borrow().len();
        let listed = match &self.replies {
            Some(Replies::InOrder(replies)) => replies.get(number - 1),
            Some(Replies::ByCall(replies)) => replies.get(&number.to_string()),
            None => None,
        };
        match listed {
            None => Ok(Response { text: format!("memory after {number}"), ..Response::default() }),
            Some(Some(text)) => Ok(Response { text: text.clone(), ..Response::default() }),
            Some(None) => Err(HostError::Failed("the case lists no response".to_owned())),
        }
    }

    async fn embed(&self, _: Role, _: &[&str]) -> Result<Vectors, HostError> {
        Err(HostError::Embedding("nothing is embedded here".to_owned()))
    }
}

/// Ranges of consecutive numbers among the words of a section.
fn ranges(section: &str) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for token in section.split_whitespace().filter_map(|word| word.parse::<usize>().ok()) {
        match ranges.last_mut() {
            Some((_, end)) if *end == token => *end = token + 1,
            _ => ranges.push((token, token + 1)),
        }
    }
    ranges
}

/// The result of a future that never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the stub replies at once"),
    }
}
