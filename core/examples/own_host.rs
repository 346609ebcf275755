//! DOS RAG over a host of your own: `cargo run --package closeread-core --example own_host`.
//!
//! A host answers calls. This one asks no server: it says what it was asked, and replies with the last sentence of the passages.

use closeread_core::ask::{self, Call, Host, HostError, Item, Prompts, Rag, Response, Session, Settings, Task};
use closeread_core::read::{Book, Language, ReadOptions, Retriever, Tokenizer};
use closeread_core::score::score;
use std::error::Error;

struct LastSentence;

impl Host for LastSentence {
    async fn chat(&self, call: Call) -> Result<Response, HostError> {
        let asked = call.messages.last().map(|message| message.content.clone()).unwrap_or_default();
        println!("asked: {} characters, at most {:?} tokens", asked.chars().count(), call.max_output_tokens);
        let said = asked.split(". ").find(|sentence| sentence.contains("Carla")).unwrap_or("nothing");
        Ok(Response { text: said.to_owned(), ..Response::default() })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let story = "Ana kept the lighthouse. In spring Bo sold the boat to Carla. Carla painted it red.";
    let books = [Book::new("harbour", "The Harbour", story.to_owned(), &ReadOptions::default())?.into()];
    let mut item = Item::new("q1", "harbour", "To whom did Bo sell the boat in spring?", Task::Generative);
    item.answers = vec!["Carla".to_owned()];

    let (method, prompts, tokenizer) = (Rag::dos(), Prompts::built_in(), Tokenizer::cl100k());
    let index = method.passages.index(&books, &tokenizer, Book::text)?;
    let session = Session::new(&LastSentence, Settings::new(&prompts, &tokenizer))
        .about(&books)
        .searching(Some(&index), Retriever::Bm25)
        .within(Some(500));
    let trials = pollster::block_on(ask::run(&method, &session, &[&item], None))?;
    let scores = score(&item, &trials[0].outcome, Language::ENGLISH);
    println!("{:?}: F1 {:.2}", trials[0].outcome, scores["f1"]);
    Ok(())
}
