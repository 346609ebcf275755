//! What SagaScale's stages ask, word for word, on the way from a segment to pairs.

use super::sagascale::{able, build};
use super::{Memory, funnel, ids};
use crate::support::ScriptedHost;
use expect_test::expect;
use serde_json::json;

#[test]
fn a_segment_becomes_pairs_that_pass_three_filters() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let store = Memory::default();
    let built = build(&host, &store).unwrap();
    expect![[r#"
        chat sagascale-segment (<= 64 tokens, temperature 0)
          | Below is a section of an article about the novel "The Key".
          |
          | Heading: Plot
          |
          | === SECTION BEGINS ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          | === SECTION ENDS ===
          |
          | Is the section an objective summary of fictional elements: of the plot, the characters, the places or the things of the novel's world?
          |
          | It is not if it deals with what lies outside of the fiction, such as adaptations, publication, reception, sales or the author's life, nor if it interprets or judges: themes as somebody reads them, criticism, praise.
          |
          | Think it through briefly. Then end with your decision in a box: \boxed{YES} or \boxed{NO}.
        chat sagascale-segment (<= 64 tokens, temperature 0)
          | Below is a section of an article about the novel "The Key".
          |
          | Heading: Reception
          |
          | === SECTION BEGINS ===
          | Critics praised the book and it sold a million copies in its first year.
          | === SECTION ENDS ===
          |
          | Is the section an objective summary of fictional elements: of the plot, the characters, the places or the things of the novel's world?
          |
          | It is not if it deals with what lies outside of the fiction, such as adaptations, publication, reception, sales or the author's life, nor if it interprets or judges: themes as somebody reads them, criticism, praise.
          |
          | Think it through briefly. Then end with your decision in a box: \boxed{YES} or \boxed{NO}.
        chat sagascale-sub-queries (<= 64 tokens, temperature 0)
          | Below is a summary of something that the novel "The Key" tells.
          |
          | === SUMMARY BEGINS ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          | === SUMMARY ENDS ===
          |
          | Passages of the novel are to be searched for. Break the summary into parts, each about one event, person, place or thing; together they cover all of it. Write one or two sentences about each part that can be understood alone, with names in the place of pronouns, in English.
          |
          | Put each between these tags, and nothing else between them:
          | <summary>
          | one or two sentences
          | </summary>
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Write a question about the novel "The Key", with its answer. You have a summary of a part of it and passages from it.
          |
          | === SUMMARY BEGINS ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          | === SUMMARY ENDS ===
          |
          | === PASSAGE 1 BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          | === PASSAGE 1 ENDS ===
          |
          | === PASSAGE 2 BEGINS ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
          | === PASSAGE 2 ENDS ===
          |
          | 1. The question asks for something inside of the fiction, not for anything about the book as a book.
          | 2. It is objective and has exactly one right answer.
          | 3. It takes several places of the novel together to answer it.
          | 4. The answer is a number, a name or a short phrase.
          | 5. The question is clear to somebody who has neither the summary nor the passages in front of him: it says whom and what it means, and mentions neither of them.
          | 6. It differs from every pair that was written before.
          | 7. Question and answer are in English.
          |
          | You may think aloud first. Then write the question and the answer in two boxes, \boxed{the question} and \boxed{the answer}. If no further pair like this can be written, write \boxed{END} alone.
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Write a question about the novel "The Key", with its answer. You have a summary of a part of it and passages from it.
          |
          | === SUMMARY BEGINS ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          | === SUMMARY ENDS ===
          |
          | === PASSAGE 1 BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          | === PASSAGE 1 ENDS ===
          |
          | === PASSAGE 2 BEGINS ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
          | === PASSAGE 2 ENDS ===
          |
          | These pairs were written before:
          | - Under which stair lies the key? (third)
          |
          | 1. The question asks for something inside of the fiction, not for anything about the book as a book.
          | 2. It is objective and has exactly one right answer.
          | 3. It takes several places of the novel together to answer it.
          | 4. The answer is a number, a name or a short phrase.
          | 5. The question is clear to somebody who has neither the summary nor the passages in front of him: it says whom and what it means, and mentions neither of them.
          | 6. It differs from every pair that was written before.
          | 7. Question and answer are in English.
          |
          | You may think aloud first. Then write the question and the answer in two boxes, \boxed{the question} and \boxed{the answer}. If no further pair like this can be written, write \boxed{END} alone.
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Write a question about the novel "The Key", with its answer. You have a summary of a part of it and passages from it.
          |
          | === SUMMARY BEGINS ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          | === SUMMARY ENDS ===
          |
          | === PASSAGE 1 BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          | === PASSAGE 1 ENDS ===
          |
          | === PASSAGE 2 BEGINS ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
          | === PASSAGE 2 ENDS ===
          |
          | These pairs were written before:
          | - Under which stair lies the key? (third)
          | - Who finds the key? (Ben)
          |
          | 1. The question asks for something inside of the fiction, not for anything about the book as a book.
          | 2. It is objective and has exactly one right answer.
          | 3. It takes several places of the novel together to answer it.
          | 4. The answer is a number, a name or a short phrase.
          | 5. The question is clear to somebody who has neither the summary nor the passages in front of him: it says whom and what it means, and mentions neither of them.
          | 6. It differs from every pair that was written before.
          | 7. Question and answer are in English.
          |
          | You may think aloud first. Then write the question and the answer in two boxes, \boxed{the question} and \boxed{the answer}. If no further pair like this can be written, write \boxed{END} alone.
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Write a question about the novel "The Key", with its answer. You have a summary of a part of it and passages from it.
          |
          | === SUMMARY BEGINS ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          | === SUMMARY ENDS ===
          |
          | === PASSAGE 1 BEGINS ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          | === PASSAGE 1 ENDS ===
          |
          | === PASSAGE 2 BEGINS ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
          | === PASSAGE 2 ENDS ===
          |
          | These pairs were written before:
          | - Under which stair lies the key? (third)
          | - Who finds the key? (Ben)
          | - For how many years is the key kept? (nine)
          |
          | 1. The question asks for something inside of the fiction, not for anything about the book as a book.
          | 2. It is objective and has exactly one right answer.
          | 3. It takes several places of the novel together to answer it.
          | 4. The answer is a number, a name or a short phrase.
          | 5. The question is clear to somebody who has neither the summary nor the passages in front of him: it says whom and what it means, and mentions neither of them.
          | 6. It differs from every pair that was written before.
          | 7. Question and answer are in English.
          |
          | You may think aloud first. Then write the question and the answer in two boxes, \boxed{the question} and \boxed{the answer}. If no further pair like this can be written, write \boxed{END} alone.
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Write a question about the novel "The Key", with its answer. You have a summary of a part of it and passages from it.
          |
          | === SUMMARY BEGINS ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          | === SUMMARY ENDS ===
          |
          | === PASSAGE 1 BEGINS ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
          | === PASSAGE 1 ENDS ===
          |
          | === PASSAGE 2 BEGINS ===
          | . He found the key and kept it for nine years.
          | === PASSAGE 2 ENDS ===
          |
          | These pairs were written before:
          | - Under which stair lies the key? (third)
          | - Who finds the key? (Ben)
          | - For how many years is the key kept? (nine)
          |
          | 1. The question asks for something inside of the fiction, not for anything about the book as a book.
          | 2. It is objective and has exactly one right answer.
          | 3. It takes several places of the novel together to answer it.
          | 4. The answer is a number, a name or a short phrase.
          | 5. The question is clear to somebody who has neither the summary nor the passages in front of him: it says whom and what it means, and mentions neither of them.
          | 6. It differs from every pair that was written before.
          | 7. Question and answer are in English.
          |
          | You may think aloud first. Then write the question and the answer in two boxes, \boxed{the question} and \boxed{the answer}. If no further pair like this can be written, write \boxed{END} alone.
        chat sagascale-check-pair (<= 64 tokens, temperature 0)
          | Check an answer to a question about a novel by what a search has found.
          |
          | Novel: The Key
          | Question: Under which stair lies the key?
          | Answer: third
          |
          | Result 1, The Key: A story of a key.
          |
          | The answer passes if what was found bears it out. It fails if what was found contradicts it, and also if nothing was found that speaks of it.
          |
          | Give the reason in one or two sentences. Then end with your decision in a box: \boxed{PASS} or \boxed{FAIL}.
        chat sagascale-check-pair (<= 64 tokens, temperature 0)
          | Check an answer to a question about a novel by what a search has found.
          |
          | Novel: The Key
          | Question: Who finds the key?
          | Answer: Ben
          |
          | Result 1, The Key: A story of a key.
          |
          | The answer passes if what was found bears it out. It fails if what was found contradicts it, and also if nothing was found that speaks of it.
          |
          | Give the reason in one or two sentences. Then end with your decision in a box: \boxed{PASS} or \boxed{FAIL}.
        chat sagascale-check-pair (<= 64 tokens, temperature 0)
          | Check an answer to a question about a novel by what a search has found.
          |
          | Novel: The Key
          | Question: For how many years is the key kept?
          | Answer: nine
          |
          | Result 1, The Key: A story of a key.
          |
          | The answer passes if what was found bears it out. It fails if what was found contradicts it, and also if nothing was found that speaks of it.
          |
          | Give the reason in one or two sentences. Then end with your decision in a box: \boxed{PASS} or \boxed{FAIL}.
        chat sagascale-keywords (<= 64 tokens, temperature 0)
          | Name the keywords of a question about the novel "The Key": the persons, places, things and events of the novel that somebody would search for who wants to know this.
          |
          | Question: Under which stair lies the key?
          | Answer: third
          |
          | Write each keyword in a box of its own, such as \boxed{a name} \boxed{another name}, in the language of the question.
        chat sagascale-keywords (<= 64 tokens, temperature 0)
          | Name the keywords of a question about the novel "The Key": the persons, places, things and events of the novel that somebody would search for who wants to know this.
          |
          | Question: Who finds the key?
          | Answer: Ben
          |
          | Write each keyword in a box of its own, such as \boxed{a name} \boxed{another name}, in the language of the question.
        chat sagascale-keywords (<= 64 tokens, temperature 0)
          | Name the keywords of a question about the novel "The Key": the persons, places, things and events of the novel that somebody would search for who wants to know this.
          |
          | Question: For how many years is the key kept?
          | Answer: nine
          |
          | Write each keyword in a box of its own, such as \boxed{a name} \boxed{another name}, in the language of the question.
        chat sagascale-closed-book (<= 64 tokens, temperature 0)
          | The question below is about "The Key". You are not given the text: answer from what you know of it.
          |
          | Question: Under which stair lies the key?
          |
          | You may think aloud first. Then give your final answer in English, as short as it can be, between the tags shown here, each tag on its own line and nothing but the answer between them:
          | <answer>
          | your answer
          | </answer>
        chat judge-sagascale (<= 64 tokens, temperature 0)
          | You grade answers to questions about a novel. You are given the question, a reference answer that is known to be right, and the answer of a reader. Judge the reader's answer by the reference answer alone; do not use what you may know of the book.
          |
          | Novel: The Key
          |
          | Question: Under which stair lies the key?
          |
          | Reference answer: third
          |
          | Reader's answer: Cleo
          |
          | The reader's answer is correct only if all of these hold:
          | 1. It responds to the question that was asked.
          | 2. Nothing in it contradicts the reference answer.
          | 3. It contains the key points of the reference answer. Other words, another order or harmless additions do not matter.
          |
          | Think it through briefly. Then end with your verdict in a box: \boxed{CORRECT} or \boxed{INCORRECT}.
        chat sagascale-closed-book (<= 64 tokens, temperature 0)
          | The question below is about "The Key". You are not given the text: answer from what you know of it.
          |
          | Question: Who finds the key?
          |
          | You may think aloud first. Then give your final answer in English, as short as it can be, between the tags shown here, each tag on its own line and nothing but the answer between them:
          | <answer>
          | your answer
          | </answer>
        chat judge-sagascale (<= 64 tokens, temperature 0)
          | You grade answers to questions about a novel. You are given the question, a reference answer that is known to be right, and the answer of a reader. Judge the reader's answer by the reference answer alone; do not use what you may know of the book.
          |
          | Novel: The Key
          |
          | Question: Who finds the key?
          |
          | Reference answer: Ben
          |
          | Reader's answer: Cleo
          |
          | The reader's answer is correct only if all of these hold:
          | 1. It responds to the question that was asked.
          | 2. Nothing in it contradicts the reference answer.
          | 3. It contains the key points of the reference answer. Other words, another order or harmless additions do not matter.
          |
          | Think it through briefly. Then end with your verdict in a box: \boxed{CORRECT} or \boxed{INCORRECT}.
        chat classify-question (<= 64 tokens, temperature 0)
          | Sort a question about a novel by what it asks for. Use the question and its answer. The types are:
          |
          | - Location: where something is or happens
          | - Character: which person or other acting being
          | - Reason: why: a cause, a motive or a purpose
          | - Method: how: a way or a means of doing something
          | - Event: what happened or what somebody did
          | - Entity: which thing, group, institution or name, other than a person or a place
          | - Quantity: how many or how much
          | - Temporal: when, how long or in which order
          | - Quotation: which words were said or written
          | - Miscellaneous: none of the others
          |
          | Question: Under which stair lies the key?
          | Answer: third
          |
          | Choose exactly one type, the one that fits best. Write its name in a box, for example \boxed{Location}.
        chat classify-question (<= 64 tokens, temperature 0)
          | Sort a question about a novel by what it asks for. Use the question and its answer. The types are:
          |
          | - Location: where something is or happens
          | - Character: which person or other acting being
          | - Reason: why: a cause, a motive or a purpose
          | - Method: how: a way or a means of doing something
          | - Event: what happened or what somebody did
          | - Entity: which thing, group, institution or name, other than a person or a place
          | - Quantity: how many or how much
          | - Temporal: when, how long or in which order
          | - Quotation: which words were said or written
          | - Miscellaneous: none of the others
          |
          | Question: Who finds the key?
          | Answer: Ben
          |
          | Choose exactly one type, the one that fits best. Write its name in a box, for example \boxed{Location}.
    "#]].assert_eq(&host.transcript());
    assert_eq!(
        funnel(&built),
        [
            "segments 2 -> 2",
            "segment-filter 2 -> 1, no summary 1",
            "sub-queries 1 -> 1",
            "pairs 1 -> 1",
            "correctness 3 -> 3",
            "keywords 3 -> 3",
            "realism 3 -> 2, unpopular 1",
            "contamination 2 -> 2",
            "types 2 -> 2"
        ]
    );
    assert_eq!(ids(&built.items), ["story-01-001", "story-01-002"]);
    let item = serde_json::to_value(&built.items[1]).unwrap();
    assert_eq!(
        item,
        json!({
            "id": "story-01-002", "documents": ["story"], "question": "Who finds the key?", "task": "generative",
            "answers": ["Ben"], "labels": {"language": "en", "question_type": "Character"}, "segment": "Plot",
            "keywords": ["Ben", "the key"], "popularity": 100_003,
        })
    );
    let contexts = &store.lines("pairs")[0]["value"]["contexts"];
    assert_eq!((&contexts[0]["ended"], &contexts[1]["ended"]), (&json!("end"), &json!("end")));
    assert_eq!(built.tables[0].rows[1][1].shown(), "1", "one question asks for a character");
}
