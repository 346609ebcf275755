//! What HAMLET's stages ask, word for word, on the way from a chunk to a query.

use super::Memory;
use super::hamlet::{able, build, one_chunk};
use crate::support::{STORY, ScriptedHost};
use expect_test::{Expect, expect};
use serde_json::json;

#[test]
fn a_chunk_becomes_a_tree_is_verified_three_times_pruned_and_asked_about() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build(&host, &Memory::default(), &one_chunk()).unwrap();
    let check = |expected: Expect| expected.assert_eq(&host.transcript());
    check(expect![[r#"
        chat hamlet-tree-narrative (<= 64 tokens, temperature 0)
          | Below is an excerpt of a longer text. Read it with care and write down all key facts about what happens in it and how things develop, plainly and in the order of time. Arrange them as a tree of three levels.
          |
          | - Root: one concise sentence with the main idea of the excerpt, or with the course of events as a whole.
          | - Branch: an event or a development that supports a root and moves the narrative on logically; major stages, actions and transitions are such.
          | - Leaf: a certain detail, a minor event or a piece of evidence that makes a branch clearer or fills it out.
          |
          | Rules:
          | 1. A key fact does NOT state a theme or a topic. It is a certain piece of information that can be taken from the excerpt as it stands.
          | 2. Leave out nothing significant.
          | 3. Make clear how roots, branches and leaves relate to each other.
          | 4. Every key fact has direct support in the excerpt.
          | 5. Write as many roots, as many branches and as many leaves as it takes to have all key facts.
          | 6. Follow the story from where it begins to where it ends, with each critical pivot and climax.
          | 7. NEVER write a pronoun (he, she, it, that) or words such as "the protagonist". ALWAYS WRITE PROPER NOUNS.
          | 8. Keep each key fact as concise as you can, with 2-3 entities in it at most.
          |
          | Write in English. Reply with a JSON dictionary of this form and nothing else:
          | {"roots": [{"fact": "a root", "branches": [{"fact": "a branch", "leaves": ["a leaf", "another leaf"]}]}]}
          |
          | The excerpt:
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
        chat hamlet-verify-tree (<= 64 tokens, temperature 0)
          | You get an excerpt from a novel and a tree of key facts about it, in JSON, with a number for each key fact. Compare the tree with the excerpt, and judge each of its roots, branches and leaves by its faithfulness. Give it a label:
          | - 1 (faithful): the key fact is accurate in full, and the excerpt supports it directly.
          | - 0 (unfaithful): the key fact is inaccurate or misleading, or the excerpt does not support it.
          |
          | Give the reason for each label in one or two sentences.
          |
          | - Accept nothing but what is stated explicitly. A key fact that is inferred from the excerpt, that alters it or that goes beyond what it says outright gets 0.
          | - Be precise and consistent, and judge every root, branch and leaf for its own accuracy.
          | - Keep the structure: your tree has the same nodes in the same places, and each has a label and a reason where it had its fact.
          |
          | Reply with a JSON dictionary of this form and nothing else:
          | {"roots": [{"id": "1", "label": 1, "reason": "why", "branches": [{"id": "1.1", "label": 0, "reason": "why", "leaves": [{"id": "1.1.1", "label": 1, "reason": "why"}]}]}]}
          |
          | The excerpt:
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          |
          | The tree of key facts:
          | {"roots":[{"id":"1","fact":"Ana loses the key to Ben.","branches":[{"id":"1.1","fact":"Ana hides the key.","leaves":[{"id":"1.1.1","fact":"The key lies under the third stair."},{"id":"1.1.2","fact":"Nobody sees Ana."}]},{"id":"1.2","fact":"Ben finds the key.","leaves":[{"id":"1.2.1","fact":"Ben keeps the key for nine years."}]}]}]}
        chat hamlet-verify-tree (<= 64 tokens, temperature 0)
          | You get an excerpt from a novel and a tree of key facts about it, in JSON, with a number for each key fact. Compare the tree with the excerpt, and judge each of its roots, branches and leaves by its objectivity. Give it a label:
          | - 1 (objective): the key fact is nothing but factual, and the excerpt supports it directly; no word in it is subjective, and nothing is interpreted.
          | - 0 (subjective): the key fact has an opinion in it, an assumption, an interpretation, or evaluative or adjectival language.
          |
          | Give the reason for each label in one or two sentences.
          |
          | - Accept nothing but factual statements: they say exactly what the excerpt says, without further interpretation.
          | - A statement that expresses an opinion, an emotion or a bias gets 0.
          | - Judge every root, branch and leaf independently of the others.
          | - Keep the structure: your tree has the same nodes in the same places, and each has a label and a reason where it had its fact.
          |
          | Reply with a JSON dictionary of this form and nothing else:
          | {"roots": [{"id": "1", "label": 1, "reason": "why", "branches": [{"id": "1.1", "label": 0, "reason": "why", "leaves": [{"id": "1.1.1", "label": 1, "reason": "why"}]}]}]}
          |
          | The excerpt:
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          |
          | The tree of key facts:
          | {"roots":[{"id":"1","fact":"Ana loses the key to Ben.","branches":[{"id":"1.1","fact":"Ana hides the key.","leaves":[{"id":"1.1.1","fact":"The key lies under the third stair."},{"id":"1.1.2","fact":"Nobody sees Ana."}]},{"id":"1.2","fact":"Ben finds the key.","leaves":[{"id":"1.2.1","fact":"Ben keeps the key for nine years."}]}]}]}
        chat hamlet-verify-tree (<= 64 tokens, temperature 0)
          | You get an excerpt from a novel and a tree of key facts about it, in JSON, with a number for each key fact. Compare the tree with the excerpt, and judge each of its roots, branches and leaves by its significance. Give it a label:
          | - 1 (significant): the key fact is essential to understand the text, as one that drives the plot, develops a character or reveals a major conflict.
          | - 0 (insignificant): the key fact is trivial, or background, or adds nothing that matters to how the story goes on or is understood.
          |
          | Give the reason for each label in one or two sentences.
          |
          | - A key fact about a minor setting, an insignificant action or background that does not matter gets 0.
          | - Judge every root, branch and leaf independently, on its own merit.
          | - Keep the structure: your tree has the same nodes in the same places, and each has a label and a reason where it had its fact.
          |
          | Reply with a JSON dictionary of this form and nothing else:
          | {"roots": [{"id": "1", "label": 1, "reason": "why", "branches": [{"id": "1.1", "label": 0, "reason": "why", "leaves": [{"id": "1.1.1", "label": 1, "reason": "why"}]}]}]}
          |
          | The excerpt:
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          |
          | The tree of key facts:
          | {"roots":[{"id":"1","fact":"Ana loses the key to Ben.","branches":[{"id":"1.1","fact":"Ana hides the key.","leaves":[{"id":"1.1.1","fact":"The key lies under the third stair."},{"id":"1.1.2","fact":"Nobody sees Ana."}]},{"id":"1.2","fact":"Ben finds the key.","leaves":[{"id":"1.2.1","fact":"Ben keeps the key for nine years."}]}]}]}
        chat hamlet-query-narrative (<= 64 tokens, temperature 0)
          | You get an excerpt of a text and a tree of key facts about it, in JSON. Write one query that asks for a summary of the narrative content of the tree: of the overarching sequence of events (root), of the developments that support it (branches), and of their details (leaves). It guides whoever answers to a comprehensive account, in the order of time, of what each of these adds to the narrative as a whole.
          |
          | A tree of key facts is a hierarchy of what is important in a text, on three levels:
          | - Root: one concise sentence with the main idea of the text, or with the course of events as a whole.
          | - Branch: an event or a development that supports a root and moves the narrative on logically; major stages, actions and transitions are such.
          | - Leaf: a certain detail, an event or a piece of evidence that makes a branch clearer or fills it out.
          |
          | Rules:
          | - The answer that it naturally leads to integrates the key facts as one coherent narrative in the order of time.
          | - It is specific enough for what is in this tree.
          | - Write ONLY ONE query for the whole tree.
          | - Keep the query as concise as you can.
          | - The query NEVER mentions the tree of key facts.
          |
          | Write it in English. Reply with a JSON object and nothing else:
          | {"query": "the query"}
          |
          | The excerpt:
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          |
          | The tree of key facts:
          | {"roots":[{"fact":"Ana loses the key to Ben.","branches":[{"fact":"Ana hides the key.","leaves":["The key lies under the third stair."]},{"fact":"Ben finds the key.","leaves":["Ben keeps the key for nine years."]}]}]}
    "#]]);
    let item = serde_json::to_value(&built.items[0]).unwrap();
    assert_eq!(
        item,
        json!({
            "id": "story-001-narrative", "documents": ["story"], "question": "What becomes of the key that Ana hid?",
            "task": "summary",
            "key_facts": {"document": "story", "start": 0, "end": STORY.len(), "roots": [{"fact": "Ana loses the key to Ben.",
                "children": [
                    {"fact": "Ana hides the key.", "children": [{"fact": "The key lies under the third stair."}]},
                    {"fact": "Ben finds the key.", "children": [{"fact": "Ben keeps the key for nine years."}]}]}]},
            "labels": {"language": "en", "perspective": "narrative"}, "chunk": 0, "n_chunks": 1,
        })
    );
}
