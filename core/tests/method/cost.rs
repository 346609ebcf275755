//! What is said of a method's cost beforehand, against what it then asks for.

use crate::support::{STORY, ScriptedHost, item};
use closeread_core::benchmark::{Item, Task};
use closeread_core::embed::Vectors;
use closeread_core::index::{Retriever, Shelf};
use closeread_core::method::cost::{BookSize, Cost, Range, Shared, Stage, Tariff};
use closeread_core::method::{Material, Method, Setting};
use closeread_core::price::PriceList;
use closeread_core::prompt::Prompts;
use closeread_core::record::Outcome;
use closeread_core::text::tokens::Tokenizer;
use closeread_core::text::{Book, ReadOptions};
use serde_json::{Value, json};
use std::sync::Arc;

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

impl World {
    fn new(text: String) -> Self {
        let book = Book::new("story", "The Key", text, &ReadOptions::default()).unwrap();
        let items = [Task::Choice, Task::Generative, Task::Choice];
        let items = items.into_iter().enumerate().map(|(n, task)| Item { id: format!("q{n}"), ..item(task) });
        Self {
            books: vec![Arc::new(book)],
            prompts: Prompts::built_in(),
            tokenizer: Tokenizer::cl100k(),
            items: items.collect(),
        }
    }

    fn setting(&self, window: Option<usize>) -> Setting<'_> {
        let (prompts, tokenizer) = (&self.prompts, &self.tokenizer);
        Setting { prompts, tokenizer, max_output_tokens: 64, temperature: 0.0, window }
    }

    fn cost(&self, method: &Method, window: Option<usize>, budget: Option<usize>) -> Cost {
        let sizes: Vec<BookSize> = self.books.iter().map(|book| BookSize::of(book, &self.tokenizer)).collect();
        let items: Vec<&Item> = self.items.iter().collect();
        method.cost(self.setting(window), &sizes, &items, budget).unwrap()
    }

    /// Calls, tokens of the prompts, and ids of overflows of a real run.
    fn run(&self, method: &Method, window: Option<usize>, budget: Option<usize>) -> (u64, u64, Vec<String>) {
        let host = ScriptedHost::always(Ok("[[1]]"));
        let shelf = method.cut().map(|cut| {
            let mut shelf = Shelf::new(self.books.clone(), cut.chunker, cut.max_tokens, &self.tokenizer);
            let n = shelf.passages().len();
            shelf.put_vectors(Vectors::new(2, (0..n).flat_map(|i| [i as f32, 1.0]).collect()));
            shelf
        });
        let material =
            Material { books: &self.books, shelf: shelf.as_ref(), retriever: Retriever::Bm25, prepared: None };
        let items: Vec<&Item> = self.items.iter().collect();
        let trials = pollster::block_on(method.run(&host, self.setting(window), &material, &items, budget)).unwrap();
        let overflows = items.iter().zip(&trials).filter(|(_, t)| matches!(t.outcome, Outcome::Overflow { .. }));
        (
            trials.iter().map(|trial| trial.calls.len() as u64).sum(),
            trials.iter().map(|trial| trial.prompt_tokens as u64).sum(),
            overflows.map(|(item, _)| item.id.clone()).collect(),
        )
    }
}

fn method(name: &str, parameters: Value) -> Method {
    Method::named(name, &parameters).unwrap()
}

#[test]
fn what_is_determined_is_told_to_the_token() {
    let world = World::new(long_story());
    for (name, parameters) in [
        ("closed-book", json!({})),
        ("full-document", json!({})),
        ("full-document", json!({"overflow": "truncate-end"})),
    ] {
        let method = method(name, parameters);
        for window in [None, Some(3_000)] {
            let cost = world.cost(&method, window, None);
            let (n, prompt, overflows) = world.run(&method, window, None);
            assert_eq!((cost.n(), &cost.overflows), (Range::exactly(n), &overflows), "{name} {window:?}");
            let told = cost.prompt();
            assert_eq!(told.low, told.high);
            // Some tokens a prompt at the seams, and the margin that truncation keeps.
            assert!(told.low.abs_diff(prompt) <= 8 * n, "{name} {window:?}: {} told, {prompt} asked", told.low);
        }
    }
}

#[test]
fn a_budget_bounds_what_passages_cost() {
    let world = World::new(long_story());
    for name in ["vanilla-rag", "dos-rag"] {
        for budget in [100, 500, 1500, 100_000] {
            for fill in ["stop", "skip"] {
                let method = method(name, json!({"fill": fill}));
                let told = world.cost(&method, None, Some(budget)).prompt();
                let (_, prompt, _) = world.run(&method, None, Some(budget));
                assert!(told.low <= prompt && prompt <= told.high, "{name} at {budget}: {told:?}, asked {prompt}");
            }
        }
    }
}

#[test]
fn what_a_model_decides_is_told_in_bounds() {
    let world = World::new(long_story());
    for name in ["naive-rag", "agentic-rag", "memory-agent", "corpus-rag"] {
        let method = method(name, json!({}));
        let told = world.cost(&method, None, Some(1_500));
        let (n, prompt, _) = world.run(&method, None, Some(1_500));
        assert!(told.n().low <= n && n <= told.n().high, "{name}: {:?}, asked {n}", told.n());
        let tokens = told.prompt();
        assert!(tokens.low <= prompt && prompt <= tokens.high, "{name}: {tokens:?}, asked {prompt}");
    }
}

#[test]
fn a_book_is_written_to_the_cache_once_and_read_by_the_other_questions() {
    let world = World::new(long_story());
    let cost = world.cost(&method("full-document", json!({})), None, None);
    let tokens = BookSize::of(&world.books[0], &world.tokenizer).tokens;
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
