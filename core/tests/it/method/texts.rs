//! Texts that lie outside: loaded by the host when they are read, and a failed trial where they cannot be.

use crate::support::{STORY, fan, item, question};
use closeread_books::tokens::Tokenizer;
use closeread_books::{Book, BookText, ReadOptions};
use closeread_embed::{Role, Vectors};
use closeread_eval::reading::ExtractiveInput;
use closeread_eval::{Item, Outcome, Task};
use closeread_llm::{Call, HostError, Response};
use closeread_methods::{AnyMethod, Host, METHODS, Session, Settings, Trial, reader};
use closeread_prompts::Prompts;
use closeread_retrieve::{PassageIndex, Retriever};
use serde_json::{Value, json};
use std::cell::Cell;
use std::sync::Arc;

/// A library that lends texts, all but the one it is asked for as number `fails_at`, from 0.
struct Library<'a> {
    texts: &'a [Arc<Book>],
    fails_at: usize,
    lent: Cell<usize>,
    /// Responses of the model, in turn; without any, the built-in reader answers.
    responses: &'a [&'a str],
    asked: Cell<usize>,
}

impl<'a> Library<'a> {
    fn new(texts: &'a [Arc<Book>], fails_at: usize) -> Self {
        Self { texts, fails_at, lent: Cell::new(0), responses: &[], asked: Cell::new(0) }
    }
}

impl Host for Library<'_> {
    async fn chat(&self, _: Call) -> Result<Response, HostError> {
        let n = self.asked.replace(self.asked.get() + 1);
        Ok(Response { text: self.responses[n].to_owned(), ..Response::default() })
    }

    async fn answer_from(
        &self,
        call: Call,
        input: impl AsyncFnOnce() -> Result<ExtractiveInput, HostError>,
    ) -> Result<Response, HostError> {
        match self.responses {
            [] => Ok(Response { text: reader::answer(&input().await?), ..Response::default() }),
            _ => self.chat(call).await,
        }
    }

    async fn text(&self, book: &Book) -> Result<Arc<BookText>, HostError> {
        let text = match self.lent.replace(self.lent.get() + 1) == self.fails_at {
            true => Err(book.gone("the shelf burned")),
            false => self.texts.iter().find(|known| known.id == book.id).expect("a book of the library").text(),
        };
        text.map_err(|error| HostError::Text(error.to_string()))
    }

    async fn embed(&self, _: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        Ok(fan(texts.len()))
    }
}

/// A method over two books that do not hold their texts.
struct World {
    held: Vec<Arc<Book>>,
    handles: Vec<Arc<Book>>,
    items: [Item; 2],
    prompts: Prompts,
    tokenizer: Tokenizer,
    method: AnyMethod,
    index: Option<PassageIndex>,
    retriever: Retriever,
}

impl World {
    fn new(method: &str, parameters: &Value, retriever: Retriever) -> Self {
        let text = |n: usize| format!("In year {n} it rained. {}", format!("{STORY}\n\n").repeat(8));
        let book = |n: usize| Book::new(format!("story{n}"), "The Key", text(n), &ReadOptions::default()).unwrap();
        let held: Vec<Arc<Book>> = (0..2).map(|n| Arc::new(book(n))).collect();
        let handles: Vec<Arc<Book>> = held.iter().map(|book| Arc::new(Book::clone(book).let_go())).collect();
        let (method, tokenizer) = (AnyMethod::named(method, parameters).unwrap(), Tokenizer::cl100k());
        let index = method.passages().map(|passages| {
            let open = |book: &Book| held.iter().find(|known| known.id == book.id).expect("known").text();
            let mut index = passages.index(&handles, &tokenizer, open).unwrap();
            index.put_vectors(fan(index.passages().len())).unwrap();
            index
        });
        let items = [item(Task::Generative), question("other", "How does the key travel?", Task::Summary)];
        Self { held, handles, items, prompts: Prompts::built_in(), tokenizer, method, index, retriever }
    }

    /// The trials, one after the other; the outcome of the preparation where it ended the questions.
    fn run(&self, host: &Library<'_>) -> Result<Vec<Trial>, Outcome> {
        let session = Session::new(host, Settings::new(&self.prompts, &self.tokenizer)).about(&self.handles);
        let session = session.searching(self.index.as_ref(), self.retriever).within(Some(450));
        pollster::block_on(async {
            let prepared = match self.method.prepare(&session).await.unwrap().map(|made| made.prepared) {
                Some(Err(outcome)) => return Err(outcome),
                Some(Ok(prepared)) => Some(prepared),
                None => None,
            };
            let mut trials = Vec::new();
            for item in &self.items {
                trials.extend(self.method.run(&session, &[item], prepared.as_ref()).await.unwrap());
            }
            Ok(trials)
        })
    }
}

fn failed_for_a_text(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed { error } if error.starts_with("book `story")
        && error.ends_with("cannot be read again: the shelf burned"))
}

/// The law: a text that cannot be read, at whatever point, ends the trial that reads it and no other.
#[test]
fn a_text_that_cannot_be_read_fails_its_trial_and_the_others_go_on() {
    let variants = [
        ("full-document", json!({"style": "novelqa", "evidence": true})),
        ("read-agent", json!({"lookup": "sequential", "unit": "paragraph"})),
        ("memory-agent", json!({"section_tokens": 100, "max_context": 300})),
        ("raptor", json!({"max_tokens": 20, "mode": "traversal", "reduction_dimension": 2})),
    ];
    let presets = METHODS.iter().map(|entry| (entry.name, json!({})));
    for (name, parameters) in presets.chain(variants) {
        for retriever in [Retriever::Dense, Retriever::Hybrid] {
            let world = World::new(name, &parameters, retriever);
            let library = Library::new(&world.held, usize::MAX);
            let undisturbed = world.run(&library).unwrap();
            let held = World { handles: world.held.clone(), ..World::new(name, &parameters, retriever) };
            assert_eq!(held.run(&Library::new(&world.held, usize::MAX)), Ok(undisturbed.clone()), "{name}");
            assert!(library.lent.get() > 0 || name == "closed-book", "{name} reads");
            for fails_at in 0..library.lent.get() {
                match world.run(&Library::new(&world.held, fails_at)) {
                    Err(outcome) => assert!(failed_for_a_text(&outcome), "{name}, text {fails_at}: {outcome:?}"),
                    Ok(trials) => {
                        let hit: Vec<&Trial> =
                            trials.iter().filter(|trial| failed_for_a_text(&trial.outcome)).collect();
                        assert_eq!(hit.len(), 1, "{name}, text {fails_at}");
                        let same = trials.iter().zip(&undisturbed).filter(|(trial, before)| trial == before).count();
                        assert_eq!(same, trials.len() - 1, "{name}, text {fails_at}");
                    }
                }
            }
        }
    }
}

#[test]
fn what_a_model_never_sees_is_not_loaded() {
    let world = World::new("agentic-rag", &json!({"top_k": 1, "neighbours": 0}), Retriever::Bm25);
    let responses = ["<query>key</query>", "<query>lantern</query>", "<answer>under the stair</answer>"].repeat(2);
    let library = Library { responses: &responses, ..Library::new(&world.held, usize::MAX) };
    let trials = world.run(&library).unwrap();
    assert!(trials.iter().all(|trial| matches!(trial.outcome, Outcome::Answered { .. })), "{trials:?}");
    assert_eq!(library.lent.get(), 4, "a passage for each search, and none for the built-in reader");
}

#[test]
fn another_text_under_the_name_of_a_book_is_no_text_of_it() {
    let world = World::new("full-document", &json!({}), Retriever::Bm25);
    let others = [("story0", "Rain."), ("story1", "Snow.")];
    let others =
        others.map(|(id, text)| Arc::new(Book::new(id, "", text.to_owned(), &ReadOptions::default()).unwrap()));
    for trial in world.run(&Library::new(&others, usize::MAX)).unwrap() {
        let Outcome::Failed { error } = &trial.outcome else { panic!("{trial:?}") };
        assert!(error.contains("book `story0` cannot be read again: the host has another text"), "{error}");
    }
}
