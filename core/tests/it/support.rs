//! A host that replies from a script, writes down what it was asked, may be slow and may die; and the one driver of all
//! transcripts.

use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, ReadOptions};
use closeread_embed::{PairScores, Role, Vectors};
use closeread_eval::{Item, Task};
use closeread_llm::{Call, HostError, Response};
use closeread_methods::{AnyMethod, Host, Preparation, Session, Settings, Trial};
use closeread_prompts::Prompts;
use closeread_retrieve::Retriever;
use expect_test::Expect;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

pub(crate) const STORY: &str = "Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose \
                                and took the bridge. Ben rowed across with a lantern. He found the key and kept it \
                                for nine years.";

type Embedding<'a> = Box<dyn Fn(Role, &str) -> [f32; 2] + 'a>;
type Reranking<'a> = Box<dyn Fn(&str) -> f64 + 'a>;
type Script<'a> = Box<dyn Fn(&Call, usize) -> Result<String, HostError> + 'a>;

/// Replies to every call by a script and writes down what it was asked.
pub(crate) struct ScriptedHost<'a> {
    script: Script<'a>,
    embedding: Embedding<'a>,
    reranking: Option<Reranking<'a>>,
    transcript: RefCell<String>,
    /// Replies by what was asked: what a journal keeps of a run that died.
    journal: RefCell<HashMap<String, String>>,
    asked: Cell<usize>,
    /// Number of the call from which on every call fails.
    dies_at: usize,
    /// Calls wait this seed's number of turns, so that they overtake each other.
    delays: Option<u64>,
}

impl<'a> ScriptedHost<'a> {
    /// Replies by a function of the call and its number.
    pub(crate) fn scripted(script: impl Fn(&Call, usize) -> Result<String, HostError> + 'a) -> Self {
        Self {
            script: Box::new(script),
            embedding: Box::new(|_, _| [0.0, 1.0]),
            reranking: None,
            transcript: RefCell::default(),
            journal: RefCell::default(),
            asked: Cell::new(0),
            dies_at: usize::MAX,
            delays: None,
        }
    }

    /// Replies in turn, the last one for ever.
    pub(crate) fn replying(responses: &'a [&'a str]) -> Self {
        Self::scripted(move |_, n| Ok(responses[n.min(responses.len() - 1)].to_owned()))
    }

    /// Answers every call in the same way.
    pub(crate) fn always(response: Result<&'a str, HostError>) -> Self {
        Self::scripted(move |_, _| response.clone().map(str::to_owned))
    }

    /// Returns the host with another embedding.
    pub(crate) fn embedding(self, embedding: impl Fn(Role, &str) -> [f32; 2] + 'a) -> Self {
        Self { embedding: Box::new(embedding), ..self }
    }

    /// Returns the host with a reranker, which scores a passage whatever the query.
    pub(crate) fn reranking(self, score: impl Fn(&str) -> f64 + 'a) -> Self {
        Self { reranking: Some(Box::new(score)), ..self }
    }

    /// Returns the host with calls that overtake each other.
    pub(crate) fn delayed(self, seed: u64) -> Self {
        Self { delays: Some(seed), ..self }
    }

    /// Returns what the host was asked, in the order of asking.
    pub(crate) fn transcript(&self) -> String {
        self.transcript.borrow().clone()
    }

    /// Calls that were not answered from the journal.
    pub(crate) fn asked(&self) -> usize {
        self.asked.get()
    }

    fn write_down(&self, call: &Call) {
        let mut transcript = self.transcript.borrow_mut();
        let (limit, temperature) = (call.max_output_tokens, call.temperature);
        let limit = limit.map_or_else(|| "no limit".to_owned(), |limit| format!("<= {limit} tokens"));
        writeln!(transcript, "chat {} ({limit}, temperature {temperature})", call.prompt).unwrap();
        for message in &call.messages {
            if call.messages.len() > 1 {
                writeln!(transcript, "  {:?}", message.role).unwrap();
            }
            for line in message.content.lines() {
                writeln!(transcript, "{}", format!("  | {line}").trim_end()).unwrap();
            }
        }
    }
}

impl Host for ScriptedHost<'_> {
    async fn chat(&self, call: Call) -> Result<Response, HostError> {
        let key = json!(call).to_string();
        if let Some(known) = self.journal.borrow().get(&key) {
            return Ok(Response { text: known.clone(), ..Response::default() });
        }
        let n = self.asked.replace(self.asked.get() + 1);
        self.write_down(&call);
        if let Some(seed) = self.delays {
            wait((seed.wrapping_add(n as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60).await;
        }
        if n >= self.dies_at {
            return Err(HostError::Failed("the host died".to_owned()));
        }
        let text = (self.script)(&call, n)?;
        self.journal.borrow_mut().insert(key, text.clone());
        Ok(Response { text, ..Response::default() })
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        writeln!(self.transcript.borrow_mut(), "embed {role:?} {texts:?}").unwrap();
        Ok(Vectors::new(2, texts.iter().flat_map(|text| (self.embedding)(role, text)).collect()))
    }

    async fn rerank(&self, query: &str, texts: &[&str]) -> Result<PairScores, HostError> {
        writeln!(self.transcript.borrow_mut(), "rerank {query:?} {} texts", texts.len()).unwrap();
        let score = self.reranking.as_ref().ok_or_else(|| HostError::Reranking("no reranker".to_owned()))?;
        Ok(PairScores { scores: texts.iter().map(|text| score(text)).collect(), n_cut: usize::from(texts.len() > 2) })
    }
}

async fn wait(turns: u64) {
    let mut left = turns;
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A question about [`STORY`].
pub(crate) fn item(task: Task) -> Item {
    let json = json!({
        "id": "q", "documents": ["story"], "question": "Where was the key?", "task": task,
        "answers": ["under the third stair"], "options": ["In the river", "Under a stair"], "correct": 1,
    });
    serde_json::from_value(json).unwrap()
}

/// Another question about [`STORY`].
pub(crate) fn question(id: &str, question: &str, task: Task) -> Item {
    Item { id: id.to_owned(), question: question.to_owned(), ..item(task) }
}

pub(crate) fn book(id: &str, title: &str, text: &str) -> Arc<Book> {
    Arc::new(Book::new(id, title, text.to_owned(), &ReadOptions::default()).unwrap())
}

/// A method, the text it reads and how.
pub(crate) struct Case {
    pub(crate) method: AnyMethod,
    pub(crate) books: Vec<Arc<Book>>,
    pub(crate) retriever: Retriever,
    pub(crate) rerank_from: Option<usize>,
    pub(crate) budget: Option<usize>,
    pub(crate) window: Option<usize>,
    pub(crate) max_output_tokens: Option<u32>,
}

impl Case {
    /// The method with these parameters on [`STORY`]; passages of the methods that take `max_tokens` have 20.
    pub(crate) fn new(method: &str, parameters: Value) -> Self {
        let mut parameters = parameters;
        let known = serde_json::to_value(AnyMethod::named(method, &json!({})).unwrap()).unwrap();
        if known.get("max_tokens").is_some() && parameters.get("max_tokens").is_none() {
            parameters["max_tokens"] = json!(20);
        }
        Self {
            method: AnyMethod::named(method, &parameters).unwrap(),
            books: vec![book("story", "The Key", STORY)],
            retriever: Retriever::Dense,
            rerank_from: None,
            budget: None,
            window: None,
            max_output_tokens: Some(64),
        }
    }

    /// The trials, and the preparation where the method makes one.
    pub(crate) fn run(&self, host: &ScriptedHost<'_>, items: &[&Item]) -> (Option<Preparation>, Vec<Trial>) {
        let (prompts, tokenizer) = (Prompts::built_in(), Tokenizer::cl100k());
        let setting = Settings {
            prompts: &prompts,
            tokenizer: &tokenizer,
            response_limit: self.max_output_tokens.into(),
            temperature: 0.0,
            context_window: self.window,
        };
        let index = self.method.passages().map(|passages| {
            let mut index = passages.index(&self.books, &tokenizer, Book::text).unwrap();
            index.put_vectors(fan(index.passages().len())).unwrap();
            index
        });
        let session = Session::new(host, setting).about(&self.books).searching(index.as_ref(), self.retriever);
        let session = session.within(self.budget).reranking(self.rerank_from);
        pollster::block_on(async {
            let preparation = self.method.prepare(&session).await.unwrap();
            let prepared = match &preparation {
                Some(Preparation { prepared: Err(outcome), .. }) => {
                    return (preparation.clone(), items.iter().map(|_| Trial::ended(outcome.clone())).collect());
                }
                Some(Preparation { prepared: Ok(prepared), .. }) => Some(prepared),
                None => None,
            };
            let trials = self.method.run(&session, items, prepared).await.unwrap();
            (preparation, trials)
        })
    }

    /// The only trial.
    pub(crate) fn trial(&self, host: &ScriptedHost<'_>, item: &Item) -> Trial {
        let (_, mut trials) = self.run(host, &[item]);
        assert_eq!(trials.len(), 1);
        trials.remove(0)
    }

    /// The whole exchange and what came of it, as a snapshot.
    pub(crate) fn check(&self, host: &ScriptedHost<'_>, item: &Item, expected: &Expect) {
        self.check_all(host, &[item], expected);
    }

    /// Checks a call with several items, each under its id.
    pub(crate) fn check_all(&self, host: &ScriptedHost<'_>, items: &[&Item], expected: &Expect) {
        let (_, trials) = self.run(host, items);
        let mut transcript = host.transcript();
        for (item, trial) in items.iter().zip(trials) {
            if items.len() > 1 {
                let with = trial.shared_call.map(|other| format!(", asked with {other}"));
                writeln!(transcript, "{}{}", item.id, with.unwrap_or_default()).unwrap();
            }
            if let Some(context) = &trial.context {
                let spans: Vec<String> = context.passages.iter().map(|p| format!("{}..{}", p.start, p.end)).collect();
                writeln!(transcript, "context {} ({} tokens)", spans.join(" "), context.n_tokens).unwrap();
            }
            if !trial.measures.is_empty() {
                writeln!(transcript, "measures {}", json!(trial.measures)).unwrap();
            }
            writeln!(transcript, "{:?}", trial.outcome).unwrap();
            if let Some(evidence) = &trial.evidence {
                writeln!(transcript, "cites {evidence:?}").unwrap();
            }
        }
        expected.assert_eq(&transcript);
    }

    /// The law of every method: a host that dies at any call and comes back with its journal is asked nothing twice, and
    /// the trial is the same; and calls that overtake each other change nothing.
    pub(crate) fn survives_any_death(
        &self,
        script: &dyn Fn(&Call, usize) -> Result<String, HostError>,
        items: &[&Item],
    ) {
        // By what is asked, not by when: numbers of calls differ between runs.
        let by_call = |call: &Call, _| script(call, 0);
        let undisturbed = ScriptedHost::scripted(by_call);
        let expected = self.run(&undisturbed, items);
        for k in 0..undisturbed.asked() {
            let dying = ScriptedHost { dies_at: k, ..ScriptedHost::scripted(by_call) };
            self.run(&dying, items);
            let known = dying.journal.borrow().len();
            let back = ScriptedHost { journal: dying.journal, ..ScriptedHost::scripted(by_call) };
            assert_eq!(self.run(&back, items), expected, "died at call {k}");
            assert_eq!(known + back.asked(), undisturbed.asked(), "something was asked twice after call {k}");
        }
        for seed in 0..8 {
            let host = ScriptedHost::scripted(by_call).delayed(seed);
            assert_eq!(self.run(&host, items), expected, "delays of seed {seed}");
        }
    }
}

/// `n` vectors from the x axis to the y axis.
pub(crate) fn fan(n: usize) -> Vectors {
    let angle = |i: usize| i as f32 / (n.max(2) - 1) as f32;
    Vectors::new(2, (0..n).flat_map(|i| [1.0 - angle(i), angle(i)]).collect())
}

/// Runs `work` with the settings of all tests.
pub(crate) fn with_setting<T>(work: impl AsyncFnOnce(Settings<'_>) -> T) -> T {
    let (prompts, tokenizer) = (Prompts::built_in(), Tokenizer::cl100k());
    let settings = Settings {
        prompts: &prompts,
        tokenizer: &tokenizer,
        response_limit: Some(64).into(),
        temperature: 0.0,
        context_window: None,
    };
    pollster::block_on(work(settings))
}
