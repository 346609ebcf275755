//! Each method as a transcript: what it asks of its host, word for word, and what it makes of the reply.

use closeread_core::benchmark::{Item, Task};
use closeread_core::chunk::Chunker;
use closeread_core::embed::{Role, Vectors};
use closeread_core::host::{Call, Host, HostError, Reply};
use closeread_core::index::Shelf;
use closeread_core::method::{self, Rag, Setting, Trial, Window, WindowPolicy};
use closeread_core::prompt::Prompts;
use closeread_core::record::Outcome;
use closeread_core::retrieve::{PassageOrder, Retriever};
use closeread_core::text::tokens::Tokenizer;
use closeread_core::text::{Book, ReadOptions};
use expect_test::{Expect, expect};
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;

const STORY: &str = "Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took \
                     the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.";

/// Answers every chat with one scripted reply and writes down what it was asked.
struct ScriptedHost {
    reply: Result<&'static str, HostError>,
    query_vector: [f32; 2],
    transcript: RefCell<String>,
}

impl Host for ScriptedHost {
    async fn chat(&self, call: Call) -> Result<Reply, HostError> {
        let mut transcript = self.transcript.borrow_mut();
        writeln!(transcript, "chat (<= {} tokens, temperature {})", call.max_output_tokens, call.temperature).unwrap();
        for message in &call.messages {
            for line in message.content.lines() {
                writeln!(transcript, "{}", format!("  | {line}").trim_end()).unwrap();
            }
        }
        self.reply.clone().map(|text| Reply { text: text.to_owned(), ..Reply::default() })
    }

    async fn embed(&self, role: Role, texts: &[&str]) -> Result<Vectors, HostError> {
        writeln!(self.transcript.borrow_mut(), "embed {role:?} {texts:?}").unwrap();
        Ok(Vectors::new(2, texts.iter().flat_map(|_| self.query_vector).collect()))
    }
}

fn item(task: Task) -> Item {
    let json = serde_json::json!({
        "id": "q", "documents": ["story"], "question": "Where was the key?", "task": task,
        "answers": ["under the third stair"], "options": ["In the river", "Under a stair"], "correct": 1,
    });
    serde_json::from_value(json).unwrap()
}

/// Passages of at most 20 tokens; the first is nearest to the x axis, the last to the y axis.
fn shelf() -> Shelf {
    let book = Book::new("story", "The Key", STORY.to_owned(), &ReadOptions::default()).unwrap();
    let mut shelf = Shelf::new(vec![Arc::new(book)], Chunker::Dos, 20, &Tokenizer::cl100k());
    let n = shelf.passages().len();
    let angle = |i: usize| i as f32 / (n - 1) as f32;
    shelf.put_vectors(Vectors::new(2, (0..n).flat_map(|i| [1.0 - angle(i), angle(i)]).collect()));
    shelf
}

fn host(reply: Result<&'static str, HostError>) -> ScriptedHost {
    ScriptedHost { reply, query_vector: [0.0, 1.0], transcript: RefCell::default() }
}

fn with_setting<T>(run: impl FnOnce(Setting<'_>) -> T) -> T {
    let (prompts, tokenizer) = (Prompts::built_in(), Tokenizer::cl100k());
    run(Setting { prompts: &prompts, tokenizer: &tokenizer, max_output_tokens: 64, temperature: 0.0 })
}

fn check(run: impl AsyncFnOnce(&ScriptedHost, Setting<'_>) -> Trial, host: ScriptedHost, expected: Expect) {
    let trial = with_setting(|setting| pollster::block_on(run(&host, setting)));
    let mut transcript = host.transcript.into_inner();
    if let Some(context) = &trial.context {
        let spans: Vec<String> = context.passages.iter().map(|p| format!("{}..{}", p.start, p.end)).collect();
        writeln!(transcript, "context {} ({} tokens)", spans.join(" "), context.n_tokens).unwrap();
    }
    writeln!(transcript, "{:?}", trial.outcome).unwrap();
    expected.assert_eq(&transcript);
}

#[test]
fn dos_rag_puts_the_passages_back_in_document_order() {
    check(
        async |host, setting| method::rag(host, setting, &shelf(), &item(Task::Choice), &Rag::dos(40)).await.unwrap(),
        host(Ok("It says so. [[2]]")),
        expect![[r#"
            embed Query ["Where was the key?"]
            chat (<= 64 tokens, temperature 0)
              | Below is the text you have to work with. It lies between the two marker lines.
              |
              | === CONTEXT BEGINS ===
              | In spring the river rose and took the bridge. Ben rowed across with a lantern.
              |
              | He found the key and kept it for nine years.
              | === CONTEXT ENDS ===
              |
              | Using the context, decide which option answers this question.
              |
              | Question: Where was the key?
              |
              | [[1]] In the river
              | [[2]] Under a stair
              |
              | First explain your decision in one or two short sentences. Then close with the number of the option you choose, written in double square brackets, for example [[1]]. Choose exactly one.
            context 61..139 140..184 (29 tokens)
            Answered { answer: "Under a stair", choice: Some(1) }
        "#]],
    );
}

#[test]
fn vanilla_rag_hands_over_the_best_passage_first() {
    check(
        async |host, setting| {
            method::rag(host, setting, &shelf(), &item(Task::Generative), &Rag::vanilla(40)).await.unwrap()
        },
        host(Ok("not found in context")),
        expect![[r#"
            embed Query ["Where was the key?"]
            chat (<= 64 tokens, temperature 0)
              | Below is the text you have to work with. It lies between the two marker lines.
              |
              | === CONTEXT BEGINS ===
              | He found the key and kept it for nine years.
              |
              | In spring the river rose and took the bridge. Ben rowed across with a lantern.
              | === CONTEXT ENDS ===
              |
              | Question: Where was the key?
              |
              | Rules for your answer:
              | 1. Take it from the context only; what you know from elsewhere does not count.
              | 2. Write between 1 and 20 words, in the language of the question.
              | 3. Give the answer alone, without any explanation.
              | 4. If the context does not hold the answer, write exactly: Not found in context.
            context 140..184 61..139 (29 tokens)
            NotFound
        "#]],
    );
}

#[test]
fn closed_book_names_the_title_and_nothing_of_the_text() {
    check(
        async |host, setting| method::closed_book(host, setting, shelf().books(), &item(Task::Choice)).await.unwrap(),
        host(Ok("I would say [[7]].")),
        expect![[r#"
            chat (<= 64 tokens, temperature 0)
              | You know literature well. The question below is about "The Key". Answer from memory; the text is not given.
              |
              | Question: Where was the key?
              |
              | [[1]] In the river
              | [[2]] Under a stair
              |
              | First explain your decision in one or two short sentences. Then close with the number of the option you choose, written in double square brackets, for example [[1]]. Choose exactly one, even if you are not sure.
            Unparsed { reply: "I would say [[7]]." }
        "#]],
    );
}

#[test]
fn full_document_cut_in_the_middle_keeps_both_ends() {
    let window = Window { tokens: Some(200), policy: WindowPolicy::TruncateMiddle };
    check(
        async |host, setting| {
            method::full_document(host, setting, &shelf(), &item(Task::Generative), window).await.unwrap()
        },
        host(Ok("under the third stair")),
        expect![[r#"
            chat (<= 64 tokens, temperature 0)
              | Below is the text you have to work with. It lies between the two marker lines.
              |
              | === CONTEXT BEGINS ===
              | Ana hid the key under the third stair. Nobody saw
              |
              | . He found the key and kept it for nine years.
              | === CONTEXT ENDS ===
              |
              | Question: Where was the key?
              |
              | Rules for your answer:
              | 1. Take it from the context only; what you know from elsewhere does not count.
              | 2. Write between 1 and 20 words, in the language of the question.
              | 3. Give the answer alone, without any explanation.
              | 4. If the context does not hold the answer, write exactly: Not found in context.
            context 0..49 138..184 (23 tokens)
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn full_document_that_does_not_fit_asks_nothing() {
    let window = Window { tokens: Some(200), policy: WindowPolicy::Fail };
    check(
        async |host, setting| {
            method::full_document(host, setting, &shelf(), &item(Task::Generative), window).await.unwrap()
        },
        host(Ok("never asked")),
        expect![[r#"
            Overflow { needed: Some(217), window: Some(200) }
        "#]],
    );
}

#[test]
fn what_a_provider_refuses_is_an_outcome() {
    let outcome = |error: HostError| {
        let host = host(Err(error));
        let rag = Rag { retriever: Retriever::Bm25, ..Rag::dos(40) };
        with_setting(|s| {
            pollster::block_on(method::rag(&host, s, &shelf(), &item(Task::Choice), &rag)).unwrap().outcome
        })
    };
    assert_eq!(outcome(HostError::Blocked { reason: "no".into() }), Outcome::Blocked { reason: "no".into() });
    assert_eq!(
        outcome(HostError::Overflow { message: "long".into(), needed: Some(9), window: Some(8) }),
        Outcome::Overflow { needed: Some(9), window: Some(8) }
    );
    assert!(matches!(outcome(HostError::Failed("500".into())), Outcome::Failed { .. }));
}

#[test]
fn vanilla_and_dos_hand_over_the_same_set_at_every_budget() {
    let shelf = shelf();
    for retriever in [Retriever::Dense, Retriever::Bm25, Retriever::Hybrid] {
        for budget in 0..120 {
            let passages = |order| {
                let rag = Rag { budget, order, retriever, ..Rag::dos(0) };
                let host = host(Ok("[[1]]"));
                let trial = with_setting(|setting| {
                    pollster::block_on(method::rag(&host, setting, &shelf, &item(Task::Choice), &rag)).unwrap()
                });
                let context = trial.context.expect("a retrieving method has a context");
                assert!(context.n_tokens <= budget);
                context.passages.iter().map(|p| (p.start, p.end)).collect::<Vec<_>>()
            };
            let (vanilla, dos) = (passages(PassageOrder::Score), passages(PassageOrder::Document));
            assert!(dos.is_sorted());
            let mut same = vanilla.clone();
            same.sort_unstable();
            assert_eq!(same, dos, "{retriever:?} at {budget}");
        }
    }
}

#[test]
fn truncation_always_fits_the_window_and_never_cuts_the_question() {
    let shelf = shelf();
    for policy in [WindowPolicy::TruncateEnd, WindowPolicy::TruncateMiddle] {
        for tokens in 180..320 {
            let host = host(Ok("x"));
            let window = Window { tokens: Some(tokens), policy };
            let trial = with_setting(|setting| {
                pollster::block_on(method::full_document(&host, setting, &shelf, &item(Task::Generative), window))
                    .unwrap()
            });
            match trial.outcome {
                Outcome::Overflow { .. } => assert_eq!(trial.prompt_tokens, 0),
                _ => {
                    assert!(trial.prompt_tokens + 64 <= tokens, "{} in {tokens}", trial.prompt_tokens);
                    assert!(host.transcript.borrow().contains("Question: Where was the key?"));
                }
            }
        }
    }
}
