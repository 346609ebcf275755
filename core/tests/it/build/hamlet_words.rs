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
        chat hamlet-tree (<= 64 tokens, temperature 0)
          | === TEXT BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          | === TEXT ENDS ===
          |
          | The text above is one part of a novel. Write down its key facts as a tree of three levels, from the narrative perspective.
          |
          | Narrative means: what happens. Each root is one sentence with a main sequence of events of the part; its branches are the events that make it up, in their order; their leaves are the details of these events.
          |
          | Rules:
          | 1. The part supports every fact by itself. Add nothing that you know from elsewhere.
          | 2. Every fact is one full sentence that can be understood alone. Use names in the place of pronouns: no he, she, it, they, his, her, their or the like.
          | 3. No fact names more than three persons, places or things.
          | 4. Every branch supports its root, every leaf its branch. There may be several roots; each has at least one branch, each branch at least one leaf.
          | 5. No fact is there twice. Write in English.
          |
          | Reply with a JSON object and nothing else:
          | {"roots": [{"fact": "the root", "branches": [{"fact": "a branch", "leaves": ["a leaf", "another leaf"]}]}]}
        chat hamlet-verify-tree (<= 64 tokens, temperature 0)
          | === TEXT BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          | === TEXT ENDS ===
          |
          | Below is a tree of key facts about the text above, one part of a novel. The number of a fact says where it stands: 1 is a root, 1.2 its second branch, 1.2.3 the third leaf of that branch.
          |
          | 1 Ana loses the key to Ben.
          | 1.1 Ana hides the key.
          | 1.1.1 The key lies under the third stair.
          | 1.1.2 Nobody sees Ana.
          | 1.2 Ben finds the key.
          | 1.2.1 Ben keeps the key for nine years.
          |
          | Check every fact for its faithfulness, and for nothing else.
          |
          | A fact is faithful if the text states it or clearly implies it. It is not if the text contradicts it, says nothing of it, or names another person, place, thing, number or time.
          |
          | Reply with a JSON list and nothing else, the same facts in the same order, each with the label 1 if it passes and 0 if it does not, and the reason in one or two sentences:
          | [{"id": "1", "fact": "the fact as given", "label": 1, "reason": "why"}]
        chat hamlet-verify-tree (<= 64 tokens, temperature 0)
          | === TEXT BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          | === TEXT ENDS ===
          |
          | Below is a tree of key facts about the text above, one part of a novel. The number of a fact says where it stands: 1 is a root, 1.2 its second branch, 1.2.3 the third leaf of that branch.
          |
          | 1 Ana loses the key to Ben.
          | 1.1 Ana hides the key.
          | 1.1.1 The key lies under the third stair.
          | 1.1.2 Nobody sees Ana.
          | 1.2 Ben finds the key.
          | 1.2.1 Ben keeps the key for nine years.
          |
          | Check every fact for its objectivity, and for nothing else.
          |
          | A fact is objective if it states what is in the text, or a reading that the text plainly bears out, without judging. It is not if it rates, praises, speculates or rests on a personal reading that others need not share.
          |
          | Reply with a JSON list and nothing else, the same facts in the same order, each with the label 1 if it passes and 0 if it does not, and the reason in one or two sentences:
          | [{"id": "1", "fact": "the fact as given", "label": 1, "reason": "why"}]
        chat hamlet-verify-tree (<= 64 tokens, temperature 0)
          | === TEXT BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In spring the river rose and took the bridge. Ben rowed across with a lantern. He found the key and kept it for nine years.
          | === TEXT ENDS ===
          |
          | Below is a tree of key facts about the text above, one part of a novel. The number of a fact says where it stands: 1 is a root, 1.2 its second branch, 1.2.3 the third leaf of that branch.
          |
          | 1 Ana loses the key to Ben.
          | 1.1 Ana hides the key.
          | 1.1.1 The key lies under the third stair.
          | 1.1.2 Nobody sees Ana.
          | 1.2 Ben finds the key.
          | 1.2.1 Ben keeps the key for nine years.
          |
          | Check every fact for its significance, and for nothing else.
          |
          | A fact is significant if a reader needs it to understand what the part is about or how it goes, at the level on which it stands: a main point for a root, a support for a branch, a telling detail for a leaf. It is not if it is trivial, beside the point, or says again what another fact says.
          |
          | Reply with a JSON list and nothing else, the same facts in the same order, each with the label 1 if it passes and 0 if it does not, and the reason in one or two sentences:
          | [{"id": "1", "fact": "the fact as given", "label": 1, "reason": "why"}]
        chat hamlet-query (<= 64 tokens, temperature 0)
          | A reader of "The Key" wants a summary of one matter in it. These facts, from the narrative perspective, are what a perfect summary would say; the number of a fact says what it supports: 1.2 supports 1.
          |
          | 1 Ana loses the key to Ben.
          | 1.1 Ana hides the key.
          | 1.1.1 The key lies under the third stair.
          | 1.2 Ben finds the key.
          | 1.2.1 Ben keeps the key for nine years.
          |
          | Write the one query with which the reader asks for this summary.
          |
          | 1. It can be understood by somebody who has the whole book and none of these facts: it names the persons, places or events that it is about.
          | 2. It asks for what all of the facts together answer, without giving their answers away.
          | 3. It is natural: what a curious reader would ask. It does not mention the facts, a tree, levels, a part or an excerpt of the text.
          | 4. It is one sentence, in English.
          |
          | Reply with a JSON object and nothing else:
          | {"query": "the query"}
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
            "labels": {"language": "en", "perspective": "narrative"},
        })
    );
}
