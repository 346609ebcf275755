//! What is said of a method's cost beforehand, against what it then asks for.

use crate::support::{STORY, fan, item};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, ReadOptions};
use closeread_embed::{Role, Vectors};
use closeread_eval::reading::{Expected, ExtractiveInput};
use closeread_eval::{Item, Outcome, Task};
use closeread_llm::price::PriceList;
use closeread_llm::{Call, HostError, Response};
use closeread_methods::cost::{BookSize, Calls, Cost, Range, Shared, Stage, Tariff};
use closeread_methods::record::CallTrace;
use closeread_methods::{AnyMethod, Host, METHODS, ResponseLimit, Session, Settings, reader};
use closeread_prompts::Prompts;
use closeread_retrieve::Retriever;
use serde_json::{Value, json};
use std::cell::Cell;
use std::sync::{Arc, LazyLock};

/// A story that is long enough for its passages to exceed a budget.
fn long_story() -> String {
    (0..60).map(|n| format!("Chapter {n}. {STORY} On day {n} the water fell again, and they went home.\n\n")).collect()
}

struct World {
    books: Vec<Arc<Book>>,
    prompts: Prompts,
    tokenizer: Tokenizer,
    items: Vec<Item>,
}

/// The calls of a run, tokens of their prompts, and the ids of its overflows.
#[derive(Default)]
struct Asked {
    preparation: (u64, u64),
    questions: (u64, u64),
    overflows: Vec<String>,
}

impl World {
    fn new(texts: &[String]) -> Self {
        let options = ReadOptions::default();
        let book = |(n, text): (usize, &String)| Book::new(format!("story{n}"), "The Key", text.clone(), &options);
        let tasks = [Task::Choice, Task::Generative, Task::Choice, Task::Summary];
        let items = tasks.into_iter().enumerate().map(|(n, task)| Item { id: format!("q{n}"), ..item(task) });
        Self {
            books: texts.iter().enumerate().map(|text| Arc::new(book(text).unwrap())).collect(),
            prompts: Prompts::built_in(),
            tokenizer: Tokenizer::cl100k(),
            items: items.collect(),
        }
    }

    fn settings(&self, window: Option<usize>) -> Settings<'_> {
        let (prompts, tokenizer) = (&self.prompts, &self.tokenizer);
        Settings {
            prompts,
            tokenizer,
            response_limit: ResponseLimit::AtMost(64),
            temperature: 0.0,
            context_window: window,
        }
    }

    fn cost(&self, method: &AnyMethod, window: Option<usize>, budget: Option<usize>) -> Cost {
        let sizes: Vec<BookSize> =
            self.books.iter().map(|book| BookSize::of(book, &book.text().unwrap(), &self.tokenizer)).collect();
        let items: Vec<&Item> = self.items.iter().collect();
        method.cost(self.settings(window), &sizes, &items, budget).unwrap()
    }

    /// Returns what a real run asks of a host that replies by `response`.
    fn run(&self, method: &AnyMethod, window: Option<usize>, budget: Option<usize>, response: Script<'_>) -> Asked {
        let host = CountingHost { tokenizer: &self.tokenizer, response, asked: Cell::default() };
        let index = method.passages().map(|passages| {
            let mut index = passages.index(&self.books, &self.tokenizer, Book::text).unwrap();
            index.put_vectors(fan(index.passages().len())).unwrap();
            index
        });
        let session = Session::new(&host, self.settings(window)).about(&self.books);
        let session = session.searching(index.as_ref(), Retriever::Bm25).within(budget);
        let items: Vec<&Item> = self.items.iter().collect();
        pollster::block_on(async {
            let preparation = method.prepare(&session).await.unwrap();
            let before = host.asked.take();
            let made = preparation.map(|made| made.prepared.unwrap());
            let trials = method.run(&session, &items, made.as_ref()).await.unwrap();
            let questions = host.asked.take();
            let recorded = |calls: &[CallTrace]| calls.len() as u64;
            assert_eq!(questions.0, trials.iter().map(|trial| recorded(&trial.calls)).sum::<u64>());
            assert_eq!(questions.1, trials.iter().map(|trial| trial.prompt_tokens as u64).sum::<u64>());
            let overflows = items.iter().zip(&trials).filter(|(_, t)| matches!(t.outcome, Outcome::Overflow { .. }));
            Asked { preparation: before, questions, overflows: overflows.map(|(item, _)| item.id.clone()).collect() }
        })
    }
}

type Script<'a> = &'a dyn Fn(&Call, &ExtractiveInput) -> String;

/// Counts calls and tokens of their prompts, those that are made twice twice.
struct CountingHost<'a> {
    tokenizer: &'a Tokenizer,
    response: Script<'a>,
    asked: Cell<(u64, u64)>,
}

impl Host for CountingHost<'_> {
    async fn chat(&self, _: Call) -> Result<Response, HostError> {
        Err(HostError::Failed("every method can do without a model".to_owned()))
    }

    async fn answer_from(
        &self,
        call: Call,
        input: impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>,
    ) -> Result<Response, HostError> {
        let prompt = call.messages.iter().map(|message| self.tokenizer.count(&message.content) as u64);
        let (n, tokens) = self.asked.get();
        self.asked.set((n + 1, tokens + prompt.sum::<u64>()));
        Ok(Response { text: (self.response)(&call, &input().await?), ..Response::default() })
    }

    async fn embed(&self, _role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        Ok(fan(texts.len()))
    }
}

fn method(name: &str, parameters: Value) -> AnyMethod {
    AnyMethod::named(name, &parameters).unwrap()
}

/// Writes what is wanted: few words, or as many as a response may have.
fn terse(_: &Call, input: &ExtractiveInput) -> String {
    reader::answer(input)
}

static TOKENIZER: LazyLock<Tokenizer> = LazyLock::new(Tokenizer::cl100k);

fn wordy(call: &Call, input: &ExtractiveInput) -> String {
    let limit = call.assumed_response_tokens() as usize;
    match input.expected {
        // As long as what it was made from at most.
        Expected::Gist | Expected::Node | Expected::Memory => {
            let text = input.context.join(" ");
            let ends = TOKENIZER.token_ends(&text);
            text[..ends[limit.min(ends.len()) - 1]].to_owned()
        }
        _ => format!("{} {}", reader::answer(input), "so ".repeat(limit / 2)),
    }
}

/// Searches as long as it may.
fn searching(call: &Call, input: &ExtractiveInput) -> String {
    match input.expected {
        Expected::Turn { .. } => "<query>the key</query>".to_owned(),
        Expected::Pages(_) => "I want to look up Page [0, 1, 2, 3, 4, 5]".to_owned(),
        _ => wordy(call, input),
    }
}

/// Keeps to no form, so that turns are asked for again.
fn rambling(call: &Call, input: &ExtractiveInput) -> String {
    match input.expected {
        Expected::Turn { .. } | Expected::Pages(_) | Expected::Break | Expected::Answer(_) => "Well. ".repeat(20),
        _ => wordy(call, input),
    }
}

/// Calls and tokens of a stage.
fn of(cost: &Cost, stage: Stage) -> (Range, Range) {
    let calls = || cost.calls.iter().filter(move |calls| calls.stage == stage);
    (calls().map(|calls| calls.n).sum(), calls().map(|calls| calls.prompt).sum())
}

/// The law: whatever a method is replied, it asks what was told.
#[test]
fn every_method_asks_within_what_it_tells_preparation_included() {
    let one = World::new(&[long_story()]);
    let several = World::new(&[long_story(), STORY.to_owned(), long_story()]);
    let variants: [(&str, Value); 10] = [
        ("agentic-rag", json!({"max_searches": 2, "max_reprompts": 5})),
        ("read-agent", json!({"lookup": "sequential", "max_pages": 2})),
        ("read-agent", json!({"unit": "paragraph", "max_pages": 0})),
        ("memory-agent", json!({"section_tokens": 300, "max_context": 1000, "style": "dos-rag"})),
        ("raptor", json!({"max_tokens": 40, "max_layers": 2})),
        ("raptor", json!({"top_k": 3})),
        ("raptor", json!({"mode": "traversal"})),
        ("dos-rag", json!({"style": "sagascale", "neighbours": 1, "query": "with-options"})),
        ("naive-rag", json!({"style": "corpusqa", "top_k": 20, "max_tokens": 50})),
        ("full-document", json!({"style": "novelqa", "together": true, "evidence": true})),
    ];
    let presets = METHODS.iter().map(|entry| (entry.name, json!({})));
    for (name, parameters) in presets.chain(variants) {
        let method = method(name, parameters.clone());
        let budgets: &[Option<usize>] =
            if method.takes_budget() { &[Some(90), Some(1_500), Some(100_000)] } else { &[None] };
        for (world, &budget) in [&one, &several].iter().flat_map(|world| budgets.iter().map(move |b| (world, b))) {
            let told = world.cost(&method, None, budget);
            for (how, response) in
                [("terse", &terse as Script<'_>), ("wordy", &wordy), ("searching", &searching), ("rambling", &rambling)]
            {
                let asked = world.run(&method, None, budget, response);
                let stages = [(Stage::Preparation, asked.preparation), (Stage::Question, asked.questions)];
                for (stage, (n, prompt)) in stages {
                    let (calls, tokens) = of(&told, stage);
                    let place =
                        format!("{name} {parameters} at {budget:?}, {} books, {how}, {stage:?}", world.books.len());
                    assert!(calls.low <= n && n <= calls.high, "{place}: {calls:?} calls told, {n} made");
                    // Some tokens a prompt at the seams.
                    let seams = 8 * n;
                    let within = tokens.low <= prompt + seams && prompt <= tokens.high + seams;
                    assert!(within, "{place}: {tokens:?} tokens told, {prompt} asked");
                }
            }
        }
    }
}

#[test]
fn what_is_determined_is_told_to_the_token() {
    let world = World::new(&[long_story()]);
    for (name, parameters) in [
        ("closed-book", json!({})),
        ("full-document", json!({})),
        ("full-document", json!({"overflow": "truncate-end"})),
    ] {
        let method = method(name, parameters);
        for window in [None, Some(3_000)] {
            let cost = world.cost(&method, window, None);
            let asked = world.run(&method, window, None, &|_, _| "[[1]]".to_owned());
            let (n, prompt) = asked.questions;
            assert_eq!((cost.n(), &cost.overflows), (Range::exactly(n), &asked.overflows), "{name} {window:?}");
            let told = cost.prompt();
            assert_eq!(told.low, told.high);
            // Some tokens a prompt at the seams, and the margin that truncation keeps.
            assert!(told.low.abs_diff(prompt) <= 8 * n, "{name} {window:?}: {} told, {prompt} asked", told.low);
        }
    }
}

/// Returns the calls for a book of `tokens` tokens, three quarters of it words.
fn sized(world: &World, method: &AnyMethod, tokens: u64, budget: Option<usize>) -> Vec<Calls> {
    let language = world.books[0].language;
    let size = BookSize { title: String::new(), language, tokens, words: tokens * 3 / 4 };
    method.cost(world.settings(None), &[size], &[&world.items[0]], budget).unwrap().calls
}

fn preparation(calls: &[Calls]) -> Vec<&Calls> {
    calls.iter().filter(|calls| calls.stage == Stage::Preparation).collect()
}

#[test]
fn a_memory_agent_reads_each_section_once_and_then_answers() {
    let world = World::new(&[STORY.to_owned()]);
    let calls = |method: &AnyMethod, tokens| Cost::from(sized(&world, method, tokens, None)).n();
    let all = method("memory-agent", json!({}));
    for (tokens, n) in [(0, 1), (1, 2), (5_000, 2), (5_001, 3), (10_000_000, 2_001)] {
        assert_eq!(calls(&all, tokens), Range::exactly(n), "{tokens}");
    }
    assert_eq!(calls(&method("memory-agent", json!({"max_context": 20_000})), 10_000_000), Range::exactly(5));
}

#[test]
fn a_tree_is_built_of_ever_fewer_summaries() {
    let world = World::new(&[STORY.to_owned()]);
    let raptor = method("raptor", json!({}));
    let calls = sized(&world, &raptor, 300_000, Some(2_000));
    let layers: Vec<Range> = preparation(&calls).iter().map(|calls| calls.n).collect();
    assert!(layers.len() <= 5 && layers[0].low == 294_000u64.div_ceil(3_500) && layers[0].high == 3_000, "{layers:?}");
    assert!(layers.windows(2).all(|pair| pair[1].high < pair[0].high));
    let read: Range = preparation(&calls).iter().map(|calls| calls.prompt).sum();
    assert!(read.low >= 300_000 - 100 && read.high > read.low, "every leaf is read: {read:?}");
    let small = Cost::from(sized(&world, &raptor, 900, Some(2_000)));
    assert_eq!(small.n(), Range { low: 1, high: 10 }, "nine to eighteen leaves");
}

#[test]
fn pages_are_cut_gisted_and_looked_up() {
    let world = World::new(&[STORY.to_owned()]);
    let parallel = sized(&world, &method("read-agent", json!({})), 8_000, None);
    let pages = Range { low: 5, high: 22 };
    assert_eq!(Cost::from(parallel.clone()).n(), Range { low: 4, high: 22 } + pages + Range::exactly(2));
    let gists = preparation(&parallel)[1];
    assert_eq!((gists.stage, gists.n), (Stage::Preparation, pages));
    let sequential = sized(&world, &method("read-agent", json!({"lookup": "sequential"})), 8_000, None);
    assert_eq!(Cost::from(sequential).split().0.n(), Range { low: 2, high: 7 });
}

#[test]
fn pages_of_a_chinese_book_are_counted_by_its_characters() {
    let world = World::new(&["他把钥匙藏在楼梯下。".repeat(600)]);
    let calls = world.cost(&method("read-agent", json!({})), None, None).calls;
    assert_eq!(preparation(&calls)[1].n, Range { low: 5, high: 20 }, "of 5,400 characters, 280 to 1,200 a page");
}

#[test]
fn a_book_is_written_to_the_cache_once_and_read_by_the_other_questions() {
    let mut world = World::new(&[long_story()]);
    world.items.truncate(3);
    let cost = world.cost(&method("full-document", json!({})), None, None);
    let tokens = BookSize::of(&world.books[0], &world.books[0].text().unwrap(), &world.tokenizer).tokens;
    let shared: Vec<Shared> = cost.calls.iter().map(|calls| calls.shared).collect();
    assert_eq!(shared, [Shared::First(tokens), Shared::Again(tokens), Shared::Again(tokens)]);
    assert!(cost.calls.iter().all(|calls| calls.stage == Stage::Question));

    let list = PriceList::read(
        "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, cached_input = 0.1, cache_write = 1.25, \
         output = 0 }\nbatch = { input = 0.5, output = 0 }",
    )
    .unwrap();
    let facts = list.of("p/x").unwrap();
    let dollars = |tariff| cost.dollars(facts, tariff, 20).unwrap().0.0 * 1e6;
    let (prompt, book) = (cost.prompt().low as f64, tokens as f64);
    assert!((dollars(Tariff::List) - prompt).abs() < 1e-6);
    assert!((dollars(Tariff::Batch) - prompt / 2.0).abs() < 1e-6);
    assert!((dollars(Tariff::Cached) - (prompt - 3.0 * book + 1.25 * book + 0.2 * book)).abs() < 1e-6);
}
