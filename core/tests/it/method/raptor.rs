//! RAPTOR: a tree of summaries, and what of it a reader is shown.

use crate::support::{Case, ScriptedHost, book, item};
use closeread_eval::{Outcome, Task};
use closeread_llm::{Call, HostError};
use closeread_methods::{AnyPrepared, Tree};
use closeread_retrieve::Retriever;
use expect_test::expect;
use serde_json::{Value, json};

/// Fourteen sentences, which passages of at most 12 tokens hold one or two at a time.
const TALE: &str = "Ana hid the key under the stair. Nobody in the house saw her. She told no one of it. \
                    In spring the river rose high. The old bridge was swept away. The ferry lay under water. \
                    Ben rowed across with a lantern. He searched the empty house. He looked behind every door. \
                    He found the key at last. He kept it for nine years. Then he gave it back. \
                    Ana had long forgotten it. They both laughed all night.";

fn tale(parameters: Value) -> Case {
    let mut all = json!({"max_tokens": 12, "summary_tokens": 8});
    all.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
    Case { books: vec![book("tale", "The Key", TALE)], budget: Some(30), ..Case::new("raptor", all) }
}

/// A summary that names the first passage it was shown.
fn first_passage(call: &Call, _: usize) -> Result<String, HostError> {
    if call.prompt != "raptor-summary" {
        return Ok("It says so. [[2]]".to_owned());
    }
    let text = &call.messages[0].content;
    let first = text.lines().skip_while(|line| !line.starts_with("=== PASSAGES BEGIN")).nth(1).unwrap();
    Ok(format!("About: {first}"))
}

fn tree_of(case: &Case, host: &ScriptedHost<'_>) -> Tree {
    match case.run(host, &[]).0.unwrap().prepared {
        Ok(AnyPrepared::Raptor(tree)) => tree,
        other => panic!("no tree: {other:?}"),
    }
}

/// A book of `n` sentences about changing matters.
fn long_case(n: usize, retriever: Retriever, parameters: Value) -> Case {
    let things = ["boat", "bell", "stair", "lamp", "well", "oar", "door"];
    let people = ["Ana", "Ben", "Cleo", "Dov"];
    let text: Vec<String> = (0..n)
        .map(|i| format!("{} carried the {} on day {i}.", people[i * 4 / n], things[(i / 3) % things.len()]))
        .collect();
    let mut all = json!({"reduction_dimension": 4});
    all.as_object_mut().unwrap().extend(parameters.as_object().unwrap().clone());
    Case { books: vec![book("long", "", &text.join(" "))], retriever, ..tale(all) }
}

#[test]
fn the_tree_is_built_and_searched_as_one_collection() {
    tale(json!({})).check(&ScriptedHost::scripted(first_passage), &item(Task::Choice), &expect![[r#"
        chat raptor-summary (<= 64 tokens, temperature 0)
          | Below are passages of one text that treat related matters. They lie between the two marker lines.
          |
          | === PASSAGES BEGIN ===
          | He kept it for nine years.
          |
          | Then he gave it back. Ana had long forgotten it.
          |
          | They both laughed all night.
          | === PASSAGES END ===
          |
          | Summarise them together with as many of their key details as you can. Write in the language of the passages. State what the passages say and nothing beyond it. Reply with the summary alone.
        chat raptor-summary (<= 64 tokens, temperature 0)
          | Below are passages of one text that treat related matters. They lie between the two marker lines.
          |
          | === PASSAGES BEGIN ===
          | The old bridge was swept away.
          |
          | The ferry lay under water.
          |
          | Ben rowed across with a lantern.
          |
          | He searched the empty house. He looked behind every door.
          |
          | He found the key at last.
          | === PASSAGES END ===
          |
          | Summarise them together with as many of their key details as you can. Write in the language of the passages. State what the passages say and nothing beyond it. Reply with the summary alone.
        chat raptor-summary (<= 64 tokens, temperature 0)
          | Below are passages of one text that treat related matters. They lie between the two marker lines.
          |
          | === PASSAGES BEGIN ===
          | Ana hid the key under the stair.
          |
          | Nobody in the house saw her.
          |
          | She told no one of it.
          |
          | In spring the river rose high.
          | === PASSAGES END ===
          |
          | Summarise them together with as many of their key details as you can. Write in the language of the passages. State what the passages say and nothing beyond it. Reply with the summary alone.
        embed Passage ["About: He kept it for nine years", "About: The old bridge was swept away", "About: Ana hid the key under the"]
        embed Query ["Where was the key?"]
        chat read-choice (<= 64 tokens, temperature 0)
          | === CONTEXT BEGINS ===
          | They both laughed all night.
          |
          | About: He kept it for nine years
          |
          | About: The old bridge was swept away
          |
          | About: Ana hid the key under the
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
        context 367..395 (30 tokens)
        measures {"leaves":1.0,"summaries":3.0,"summary_tokens":24.0}
        Answered { answer: "Under a stair", choice: Some(1) }
    "#]]);
}

#[test]
fn a_traversal_goes_from_the_roots_to_their_children() {
    let case = Case { budget: Some(1_000), ..tale(json!({"mode": "traversal", "top_k": 1})) };
    let host = ScriptedHost::scripted(first_passage);
    let trial = case.trial(&host, &item(Task::Choice));
    let tree = tree_of(&case, &ScriptedHost::scripted(first_passage));
    assert_eq!(trial.measures["summaries"] as usize + trial.measures["leaves"] as usize, tree.height());
    let leaf = trial.context.unwrap().passages.remove(0);
    let leaf = tree.leaves.iter().position(|l| (l.start, l.end) == (leaf.start, leaf.end)).unwrap();
    assert!(tree.roots().any(|root| tree.children(root).contains(&leaf)));

    let roots_only = tale(json!({"mode": "traversal", "depth": 1}));
    let trial = roots_only.trial(&ScriptedHost::scripted(first_passage), &item(Task::Choice));
    assert_eq!(trial.measures["leaves"], 0.0);
    assert_eq!(trial.context.unwrap().passages, []);
}

#[test]
fn every_leaf_is_below_a_root_and_nothing_is_an_orphan() {
    for (n, retriever) in
        [(1, Retriever::Dense), (20, Retriever::Dense), (40, Retriever::Bm25), (30, Retriever::Hybrid)]
    {
        let host = ScriptedHost::scripted(first_passage).embedding(|_, text| [text.len() as f32, 20.0]);
        let tree = tree_of(&long_case(n, retriever, json!({})), &host);
        assert_eq!(tree.leaves.len(), n);
        let mut has_parent = vec![false; tree.len()];
        for node in 0..tree.len() {
            tree.children(node).iter().for_each(|&child| has_parent[child] = true);
            assert!(tree.children(node).is_sorted() && tree.children(node).iter().all(|&child| child < node));
        }
        tree.roots().for_each(|root| has_parent[root] = true);
        assert!(has_parent.iter().all(|&is| is), "{retriever:?}");
        let layers: Vec<usize> = (0..tree.height()).map(|layer| tree.layer(layer).len()).collect();
        assert!(layers.windows(2).all(|w| w[1] < w[0]), "{layers:?}");
        assert!(tree.height() > 1 || n == 1);
        assert_eq!(tree.layer(0).chain((1..tree.height()).flat_map(|l| tree.layer(l))).count(), tree.len());
    }
}

#[test]
fn a_cluster_stays_within_its_tokens() {
    for cap in [1, 30, 60] {
        let case = long_case(20, Retriever::Dense, json!({"cluster_tokens": cap, "max_layers": 1}));
        let tree = tree_of(&case, &ScriptedHost::scripted(first_passage));
        for summary in tree.summaries() {
            let n_tokens: usize = summary.children.iter().map(|&leaf| tree.leaves[leaf].n_tokens).sum();
            assert!(summary.children.len() == 1 || n_tokens <= cap);
            assert!(summary.n_tokens <= 8);
        }
        // Where every passage would be a cluster of its own there is nothing to summarise.
        assert_eq!(tree.height() == 1, cap == 1);
    }
}

#[test]
fn a_context_holds_leaves_by_place_and_counts_summaries_apart() {
    let trial = Case { budget: Some(10_000), ..tale(json!({})) }
        .trial(&ScriptedHost::scripted(first_passage), &item(Task::Choice));
    let context = trial.context.unwrap();
    let leaves = tree_of(&tale(json!({})), &ScriptedHost::scripted(first_passage)).leaves;
    assert_eq!(context.passages.len(), leaves.len());
    assert_eq!(trial.measures["leaves"], leaves.len() as f64);
    assert!(trial.measures["summaries"] >= 1.0);
    let n_tokens: usize = leaves.iter().map(|leaf| leaf.n_tokens).sum();
    assert_eq!(context.n_tokens, n_tokens + trial.measures["summary_tokens"] as usize);
}

#[test]
fn a_summary_that_fails_or_comes_back_empty_ends_every_question() {
    let blocked = ScriptedHost::scripted(|call, n| match call.prompt.as_str() {
        "raptor-summary" if n == 1 => Err(HostError::Blocked { reason: "no".into() }),
        _ => first_passage(call, n),
    });
    let (preparation, trials) = tale(json!({})).run(&blocked, &[&item(Task::Choice)]);
    assert_eq!(preparation.unwrap().prepared, Err(Outcome::Blocked { reason: "no".into() }));
    assert_eq!(trials[0].outcome, Outcome::Blocked { reason: "no".into() });

    let (_, trials) = tale(json!({})).run(&ScriptedHost::always(Ok("  ")), &[&item(Task::Choice)]);
    assert!(matches!(&trials[0].outcome, Outcome::Failed { error } if error.contains("came back empty")));
}

#[test]
fn nothing_is_asked_twice_and_the_order_of_responses_does_not_matter() {
    let question = item(Task::Choice);
    for case in [tale(json!({})), long_case(20, Retriever::Bm25, json!({"max_layers": 2}))] {
        case.survives_any_death(&first_passage, &[&question, &question]);
    }
}
