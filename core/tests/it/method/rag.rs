//! Vanilla and DOS RAG: one ranking, two orders.

use crate::support::{Case, ScriptedHost, item};
use closeread_eval::{Item, Outcome, PassageRef, Task};
use closeread_llm::HostError;
use closeread_methods::CUT_FOR_RERANKING;
use closeread_retrieve::Retriever;
use expect_test::expect;
use serde_json::json;

fn rag(method: &str, budget: usize) -> Case {
    Case { budget: Some(budget), ..Case::new(method, json!({})) }
}

#[test]
fn dos_rag_puts_the_passages_back_in_document_order() {
    rag("dos-rag", 40).check(
        &ScriptedHost::always(Ok("It says so. [[2]]")),
        &item(Task::Choice),
        &expect![[r#"
            embed Query ["Where was the key?"]
            chat read-choice (<= 64 tokens, temperature 0)
              | === CONTEXT BEGINS ===
              | In spring the river rose and took the bridge. Ben rowed across with a lantern.
              |
              | He found the key and kept it for nine years.
              | === CONTEXT ENDS ===
              |
              | === QUESTION BEGINS ===
              | Question: Where was the key?
              |
              | [[1]] In the river
              | [[2]] Under a stair
              | === QUESTION ENDS ===
              |
              | By the context, choose the option that answers the question most accurately. First explain the choice briefly. Then close with the number of the option in double square brackets, which for the first option is [[1]].
            context 61..139 140..184 (29 tokens)
            Answered { answer: "Under a stair", choice: Some(1) }
        "#]],
    );
}

#[test]
fn vanilla_rag_hands_over_the_best_passage_first() {
    rag("vanilla-rag", 40).check(
        &ScriptedHost::always(Ok("not found in context")),
        &item(Task::Generative),
        &expect![[r#"
            embed Query ["Where was the key?"]
            chat read-question (<= 64 tokens, temperature 0)
              | === CONTEXT BEGINS ===
              | He found the key and kept it for nine years.
              |
              | In spring the river rose and took the bridge. Ben rowed across with a lantern.
              | === CONTEXT ENDS ===
              |
              | === QUESTION BEGINS ===
              | Question: Where was the key?
              | === QUESTION ENDS ===
              |
              | - Rely on the context and on nothing else.
              | - Be brief and factual: preferably 1 to 20 words.
              | - Give no explanation, and no details that are not needed.
              | - If the context does not explicitly state the answer, write exactly: Not found in context.
            context 140..184 61..139 (29 tokens)
            NotFound
        "#]],
    );
}

#[test]
fn neighbours_come_right_behind_their_passage_within_the_budget() {
    let passages = |neighbours: usize, budget: usize| {
        let case = Case {
            retriever: Retriever::Bm25,
            budget: Some(budget),
            ..Case::new("vanilla-rag", json!({"max_tokens": 10, "neighbours": neighbours}))
        };
        let item = Item { question: "Who rowed across with a lantern?".into(), ..item(Task::Choice) };
        let trial = case.trial(&ScriptedHost::always(Ok("[[1]]")), &item);
        let context = trial.context.expect("a retrieving method has a context");
        assert!(context.n_tokens <= budget);
        context.passages.iter().map(|p| p.start).collect::<Vec<_>>()
    };
    let (alone, widened) = (passages(0, 1000), passages(1, 1000));
    assert_eq!(alone[0], widened[0]);
    let mut in_text = alone.clone();
    in_text.sort_unstable();
    let at = in_text.iter().position(|start| *start == alone[0]).unwrap();
    assert_eq!(widened[1..3], [in_text[at - 1], in_text[at + 1]]);
    let mut same = widened.clone();
    same.sort_unstable();
    assert_eq!(same, in_text, "each passage once");
    assert!(widened.starts_with(&passages(1, 20)));
}

#[test]
fn a_reranker_decides_among_the_best_passages_and_all_else_works_as_before() {
    let passages = |method: &str, neighbours: usize, budget: usize, from: Option<usize>, host: &ScriptedHost<'_>| {
        let method = Case::new(method, json!({"max_tokens": 10, "neighbours": neighbours}));
        let case = Case { retriever: Retriever::Bm25, budget: Some(budget), rerank_from: from, ..method };
        let item = Item { question: "Who rowed across with a lantern?".into(), ..item(Task::Choice) };
        let trial = case.trial(host, &item);
        let context = trial.context.expect("a retrieving method has a context");
        assert!(context.n_tokens <= budget && context.reranked == from);
        let cut = trial.measures.get(CUT_FOR_RERANKING).copied();
        assert_eq!(cut, from.filter(|&from| from > 2).map(|_| 1.0));
        context.passages
    };
    let starts = |passages: &[PassageRef]| passages.iter().map(|p| p.start).collect::<Vec<_>>();
    let plain = ScriptedHost::always(Ok("[[1]]"));
    let ranked = passages("vanilla-rag", 0, 1000, None, &plain);
    let constant = ScriptedHost::always(Ok("[[1]]")).reranking(|_| -3.0);
    for (neighbours, budget) in [(0, 1000), (0, 25), (1, 1000), (1, 25)] {
        let before = passages("vanilla-rag", neighbours, budget, None, &plain);
        let same = passages("vanilla-rag", neighbours, budget, Some(3), &constant);
        assert_eq!(starts(&same), starts(&before), "neighbours {neighbours} within {budget}");
    }
    // The oracle knows where the key was found; it is asked about the best passages alone.
    let oracle = ScriptedHost::always(Ok("[[1]]")).reranking(|text| f64::from(u8::from(text.contains("found"))));
    let all = passages("vanilla-rag", 0, 1000, Some(99), &oracle);
    let found = all[0].start;
    assert_ne!(found, ranked[0].start);
    let (from, place) = (2, ranked.iter().position(|p| p.start == found).expect("it is ranked"));
    assert!(place >= from);
    let few = passages("vanilla-rag", 0, 1000, Some(from), &oracle);
    assert_eq!(starts(&few), starts(&ranked), "what is not among them is not moved");
    let scores: Vec<bool> = few.iter().map(|passage| passage.score.is_some()).collect();
    assert_eq!(scores, (0..few.len()).map(|rank| rank < from).collect::<Vec<_>>());
    // DOS RAG reads the same set in the order of the book; neighbours stand behind the reranked passage.
    let (small, dos) =
        (passages("vanilla-rag", 0, 25, Some(99), &oracle), passages("dos-rag", 0, 25, Some(99), &oracle));
    let mut in_order = starts(&small);
    in_order.sort_unstable();
    assert_eq!((starts(&dos), small[0].start), (in_order, found));
    assert_eq!(passages("vanilla-rag", 1, 1000, Some(99), &oracle)[0].start, found);
    assert!(oracle.transcript().contains("rerank \"Who rowed across with a lantern?\" 2 texts"));

    // Without a reranker, or with one that gives no number, the trial fails in clear words.
    for host in [ScriptedHost::always(Ok("[[1]]")), ScriptedHost::always(Ok("[[1]]")).reranking(|_| f64::NAN)] {
        let case = Case { retriever: Retriever::Bm25, rerank_from: Some(9), ..rag("dos-rag", 40) };
        let outcome = case.trial(&host, &item(Task::Choice)).outcome;
        assert!(matches!(&outcome, Outcome::Failed { error } if error.contains("reranking failed")), "{outcome:?}");
    }
}

#[test]
fn what_a_provider_refuses_is_an_outcome() {
    let outcome = |error: HostError| {
        let case = Case { retriever: Retriever::Bm25, ..rag("dos-rag", 40) };
        case.trial(&ScriptedHost::always(Err(error)), &item(Task::Choice)).outcome
    };
    assert_eq!(outcome(HostError::Blocked { reason: "no".into() }), Outcome::Blocked { reason: "no".into() });
    assert_eq!(
        outcome(HostError::Overflow { message: "long".into(), needed: Some(9), context_window: Some(8) }),
        Outcome::Overflow { needed: Some(9), context_window: Some(8) }
    );
    assert!(matches!(outcome(HostError::Failed("500".into())), Outcome::Failed { .. }));
}

#[test]
fn vanilla_and_dos_hand_over_the_same_set_at_every_budget() {
    for retriever in [Retriever::Dense, Retriever::Bm25, Retriever::Hybrid] {
        for budget in 0..120 {
            let passages = |method| {
                let case = Case { retriever, ..rag(method, budget) };
                let trial = case.trial(&ScriptedHost::always(Ok("[[1]]")), &item(Task::Choice));
                let context = trial.context.expect("a retrieving method has a context");
                assert!(context.n_tokens <= budget);
                context.passages.iter().map(|p| (p.start, p.end)).collect::<Vec<_>>()
            };
            let (vanilla, dos) = (passages("vanilla-rag"), passages("dos-rag"));
            assert!(dos.is_sorted());
            let mut same = vanilla.clone();
            same.sort_unstable();
            assert_eq!(same, dos, "{retriever:?} at {budget}");
        }
    }
}

#[test]
fn nothing_is_asked_twice() {
    rag("dos-rag", 40).survives_any_death(&|_, _| Ok("[[1]]".to_owned()), &[&item(Task::Choice)]);
}
