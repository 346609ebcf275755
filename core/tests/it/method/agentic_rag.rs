//! Agentic RAG: a query or an answer a turn, at most eight searches.

use crate::support::{Case, ScriptedHost, item};
use closeread_eval::{Outcome, Task};
use closeread_llm::{Call, HostError, Speaker};
use closeread_methods::Trial;
use expect_test::expect;
use serde_json::{Value, json};

const QUERY: &str = "<query>\nwho hid the key\n</query>";
const ANSWER: &str = "<answer>\nunder the third stair\n</answer>";

fn case(parameters: Value) -> Case {
    let mut parameters = parameters;
    parameters["max_tokens"] = json!(10);
    parameters["top_k"] = json!(2);
    Case::new("agentic-rag", parameters)
}

fn replying(parameters: Value, responses: &[&str]) -> Trial {
    case(parameters).trial(&ScriptedHost::replying(responses), &item(Task::Generative))
}

fn answered(answer: &str) -> Outcome {
    Outcome::Answered { answer: answer.to_owned(), choice: None }
}

#[test]
fn the_reader_searches_until_it_answers() {
    case(json!({})).check(
        &ScriptedHost::replying(&["I do not know yet.\n<query>\nwho hid the key\n</query>", ANSWER]),
        &item(Task::Generative),
        &expect![[r#"
            chat agentic-rag (<= 64 tokens, temperature 0)
              | You will get one question about "The Key". Rely on nothing but what you retrieve from the book to answer it. You are an agent that sends queries to a search system, one after the other, improves each by what the ones before have brought, and gives its final answer as soon as that is enough.
              |
              | Every query brings you a list of contexts. Each of them is copied from the book; the index before it ('idx') tells where in the book it stands. The search system does nothing but return the top 2 chunks of the book by cosine similarity with your query, so that there can be noise among them.
              |
              | A turn of yours holds exactly one query or exactly one final answer. Both are in English and have these forms.
              |
              | A query:
              | <query>
              | what you search for
              | </query>
              |
              | The final answer:
              | <answer>
              | your final answer
              | </answer>
              |
              | Start with your first turn.
              |
              | === QUESTION ===
              | Where was the key?
            embed Query ["who hid the key"]
            chat agentic-rag-results (<= 64 tokens, temperature 0)
              User
              | You will get one question about "The Key". Rely on nothing but what you retrieve from the book to answer it. You are an agent that sends queries to a search system, one after the other, improves each by what the ones before have brought, and gives its final answer as soon as that is enough.
              |
              | Every query brings you a list of contexts. Each of them is copied from the book; the index before it ('idx') tells where in the book it stands. The search system does nothing but return the top 2 chunks of the book by cosine similarity with your query, so that there can be noise among them.
              |
              | A turn of yours holds exactly one query or exactly one final answer. Both are in English and have these forms.
              |
              | A query:
              | <query>
              | what you search for
              | </query>
              |
              | The final answer:
              | <answer>
              | your final answer
              | </answer>
              |
              | Start with your first turn.
              |
              | === QUESTION ===
              | Where was the key?
              Assistant
              | <query>
              | who hid the key
              | </query>
              User
              | === CONTEXTS ===
              | [idx 4]
              |  for nine years.
              |
              | [idx 3]
              |  a lantern. He found the key and kept it
            context 168..184 128..168 (14 tokens)
            measures {"searches":1.0}
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn the_number_of_searches_is_told_where_that_is_asked_for() {
    let host = ScriptedHost::replying(&[QUERY, ANSWER]);
    case(json!({"tell_budget": true})).trial(&host, &item(Task::Generative));
    let transcript = host.transcript();
    assert!(transcript.contains("among them. You can send at most 8 queries."), "{transcript}");
    assert!(transcript.contains("Queries left: 7"), "{transcript}");
}

#[test]
fn options_are_chosen_by_their_number() {
    let host = ScriptedHost::replying(&[QUERY, "<answer>1</answer>"]);
    let trial = case(json!({})).trial(&host, &item(Task::Choice));
    assert_eq!(trial.outcome, Outcome::Answered { answer: "Under a stair".to_owned(), choice: Some(1) });
    assert!(host.transcript().contains("| 0. In the river\n  | 1. Under a stair"), "{}", host.transcript());
}

#[test]
fn eight_searches_are_made_and_the_ninth_query_ends_it() {
    let trial = replying(json!({}), &[QUERY]);
    assert_eq!(trial.outcome, Outcome::Unanswered);
    assert_eq!((trial.measures["searches"], trial.calls.len()), (8.0, 9));
    assert_eq!(trial.context.unwrap().passages.len(), 16, "two passages a search, however often they came before");
    let eight = replying(json!({}), &[QUERY, QUERY, QUERY, QUERY, QUERY, QUERY, QUERY, QUERY, ANSWER]);
    assert_eq!((eight.outcome, eight.measures["searches"]), (answered("under the third stair"), 8.0));
    let none = replying(json!({"max_searches": 0}), &[QUERY]);
    assert_eq!((none.outcome, none.calls.len()), (Outcome::Unanswered, 1));
}

#[test]
fn an_answer_at_once_searches_nothing() {
    let trial = replying(json!({}), &["<answer>NONE</answer>"]);
    assert_eq!((trial.outcome, trial.measures["searches"]), (answered("NONE"), 0.0), "NONE is naive RAG's alone");
    assert!(trial.context.unwrap().passages.is_empty());
}

#[test]
fn a_turn_with_both_blocks_is_a_parameter() {
    let both = "<query>\nwho hid the key\n</query>\nIt found: Ana.\n<answer>in the river</answer>";
    let trial = |on_both: &str| replying(json!({ "on_both": on_both }), &[both, ANSWER]);
    let query = trial("query");
    assert_eq!((query.outcome, query.measures["searches"]), (answered("under the third stair"), 1.0));
    assert_eq!(query.measures["turns_with_several_blocks"], 1.0);
    let answer = trial("answer");
    assert_eq!((answer.outcome, answer.measures["searches"]), (answered("in the river"), 0.0));
    let reject = trial("reject");
    assert_eq!((reject.outcome, reject.measures["searches"]), (answered("under the third stair"), 0.0));
    assert_eq!(reject.calls[1].prompt, "agentic-rag-again");

    let two_queries = replying(json!({"on_both": "answer"}), &["<query>a</query><query>b</query>", ANSWER]);
    assert_eq!(two_queries.measures["searches"], 1.0, "without an answer its first query counts");
    let two_answers = replying(json!({}), &["<answer>a</answer><answer>b</answer>"]);
    assert_eq!(two_answers.outcome, answered("b"), "without a query its last answer counts");
}

#[test]
fn what_was_written_behind_a_query_is_not_kept() {
    let both = "<query>\nwho hid the key\n</query>\nIt found: Ana.\n<answer>in the river</answer>";
    let host = ScriptedHost::scripted(|call: &Call, n| {
        if n == 1 {
            assert_eq!(call.messages.len(), 3);
            assert_eq!((call.messages[1].role, call.messages[1].content.as_str()), (Speaker::Assistant, QUERY));
        }
        Ok([both, ANSWER][n.min(1)].to_owned())
    });
    case(json!({})).trial(&host, &item(Task::Generative));
    assert_eq!(host.asked(), 2);
}

#[test]
fn a_turn_without_a_block_is_asked_for_again() {
    case(json!({"top_k": 1})).check(
        &ScriptedHost::replying(&["Let me think about stairs.", "", QUERY, ANSWER]),
        &item(Task::Generative),
        &expect![[r#"
            chat agentic-rag (<= 64 tokens, temperature 0)
              | You will get one question about "The Key". Rely on nothing but what you retrieve from the book to answer it. You are an agent that sends queries to a search system, one after the other, improves each by what the ones before have brought, and gives its final answer as soon as that is enough.
              |
              | Every query brings you a list of contexts. Each of them is copied from the book; the index before it ('idx') tells where in the book it stands. The search system does nothing but return the top 2 chunks of the book by cosine similarity with your query, so that there can be noise among them.
              |
              | A turn of yours holds exactly one query or exactly one final answer. Both are in English and have these forms.
              |
              | A query:
              | <query>
              | what you search for
              | </query>
              |
              | The final answer:
              | <answer>
              | your final answer
              | </answer>
              |
              | Start with your first turn.
              |
              | === QUESTION ===
              | Where was the key?
            chat agentic-rag-again (<= 64 tokens, temperature 0)
              User
              | You will get one question about "The Key". Rely on nothing but what you retrieve from the book to answer it. You are an agent that sends queries to a search system, one after the other, improves each by what the ones before have brought, and gives its final answer as soon as that is enough.
              |
              | Every query brings you a list of contexts. Each of them is copied from the book; the index before it ('idx') tells where in the book it stands. The search system does nothing but return the top 2 chunks of the book by cosine similarity with your query, so that there can be noise among them.
              |
              | A turn of yours holds exactly one query or exactly one final answer. Both are in English and have these forms.
              |
              | A query:
              | <query>
              | what you search for
              | </query>
              |
              | The final answer:
              | <answer>
              | your final answer
              | </answer>
              |
              | Start with your first turn.
              |
              | === QUESTION ===
              | Where was the key?
              Assistant
              | Let me think about stairs.
              User
              | Your turn could not be used: it has to hold exactly one complete block, either <query> ... </query> with a search or <answer> ... </answer> with your final answer. Write that one block.
            chat agentic-rag-again (<= 64 tokens, temperature 0)
              User
              | You will get one question about "The Key". Rely on nothing but what you retrieve from the book to answer it. You are an agent that sends queries to a search system, one after the other, improves each by what the ones before have brought, and gives its final answer as soon as that is enough.
              |
              | Every query brings you a list of contexts. Each of them is copied from the book; the index before it ('idx') tells where in the book it stands. The search system does nothing but return the top 2 chunks of the book by cosine similarity with your query, so that there can be noise among them.
              |
              | A turn of yours holds exactly one query or exactly one final answer. Both are in English and have these forms.
              |
              | A query:
              | <query>
              | what you search for
              | </query>
              |
              | The final answer:
              | <answer>
              | your final answer
              | </answer>
              |
              | Start with your first turn.
              |
              | === QUESTION ===
              | Where was the key?
              Assistant
              | Let me think about stairs.
              User
              | Your turn could not be used: it has to hold exactly one complete block, either <query> ... </query> with a search or <answer> ... </answer> with your final answer. Write that one block.
              |
              | Your turn could not be used: it has to hold exactly one complete block, either <query> ... </query> with a search or <answer> ... </answer> with your final answer. Write that one block.
            embed Query ["who hid the key"]
            chat agentic-rag-results (<= 64 tokens, temperature 0)
              User
              | You will get one question about "The Key". Rely on nothing but what you retrieve from the book to answer it. You are an agent that sends queries to a search system, one after the other, improves each by what the ones before have brought, and gives its final answer as soon as that is enough.
              |
              | Every query brings you a list of contexts. Each of them is copied from the book; the index before it ('idx') tells where in the book it stands. The search system does nothing but return the top 2 chunks of the book by cosine similarity with your query, so that there can be noise among them.
              |
              | A turn of yours holds exactly one query or exactly one final answer. Both are in English and have these forms.
              |
              | A query:
              | <query>
              | what you search for
              | </query>
              |
              | The final answer:
              | <answer>
              | your final answer
              | </answer>
              |
              | Start with your first turn.
              |
              | === QUESTION ===
              | Where was the key?
              Assistant
              | Let me think about stairs.
              User
              | Your turn could not be used: it has to hold exactly one complete block, either <query> ... </query> with a search or <answer> ... </answer> with your final answer. Write that one block.
              |
              | Your turn could not be used: it has to hold exactly one complete block, either <query> ... </query> with a search or <answer> ... </answer> with your final answer. Write that one block.
              Assistant
              | <query>
              | who hid the key
              | </query>
              User
              | === CONTEXTS ===
              | [idx 4]
              |  for nine years.
              |
              | [idx 3]
              |  a lantern. He found the key and kept it
            context 168..184 128..168 (14 tokens)
            measures {"searches":1.0,"turns_without_block":2.0}
            Answered { answer: "under the third stair", choice: None }
        "#]],
    );
}

#[test]
fn asking_again_has_an_end() {
    let trial = replying(json!({}), &["hm"]);
    assert_eq!((trial.outcome, trial.calls.len()), (Outcome::Unparsed { response: "hm".to_owned() }, 4));
    assert_eq!((trial.measures["turns_without_block"], trial.measures["searches"]), (4.0, 0.0));
    let once = replying(json!({"on_neither": "end"}), &["hm", ANSWER]);
    assert_eq!((once.outcome, once.calls.len()), (Outcome::Unparsed { response: "hm".to_owned() }, 1));
}

#[test]
fn a_dialogue_that_outgrows_the_window_or_is_refused_ends_with_what_it_had() {
    let host = ScriptedHost::replying(&[QUERY]);
    let grown = Case { window: Some(500), ..case(json!({})) }.trial(&host, &item(Task::Generative));
    assert!(matches!(grown.outcome, Outcome::Overflow { context_window: Some(500), .. }), "{:?}", grown.outcome);
    assert!(grown.measures["searches"] >= 1.0 && grown.prompt_tokens > 0);

    let host = ScriptedHost::scripted(|_: &Call, n| match n {
        0 => Ok(QUERY.to_owned()),
        _ => Err(HostError::Blocked { reason: "no".to_owned() }),
    });
    let refused = case(json!({})).trial(&host, &item(Task::Generative));
    assert_eq!(refused.outcome, Outcome::Blocked { reason: "no".to_owned() });
    assert_eq!((refused.calls.len(), refused.context.unwrap().passages.len()), (1, 2));
}

#[test]
fn nothing_is_asked_twice() {
    let script = |call: &Call, _| {
        Ok(match call.messages.len() {
            1 => QUERY,
            3 => "hm",
            5 => "<query>river</query>",
            _ => ANSWER,
        }
        .to_owned())
    };
    case(json!({})).survives_any_death(&script, &[&item(Task::Generative), &item(Task::Choice)]);
}
