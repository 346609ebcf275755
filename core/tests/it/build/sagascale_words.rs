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
          | Below is a part of an encyclopedia's article about the novel "The Key". Is it a summary of the novel, of its plot or its characters for example?
          |
          | - It has to be highly objective. It fails if there is too much in it that is subjective, such as opinion, speculation, interpretation and comment.
          | - It has to keep to the fiction. It fails if there is too much of the real world in it, such as the study of literature, the background in history, the author's life, when and how it was published, its influence, prizes, adaptations and scholarly analysis.
          |
          | Look at it with care. Then write \boxed{YES} or \boxed{NO}.
          |
          | === TEXT ===
          | Plot
          |
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
        chat sagascale-segment (<= 64 tokens, temperature 0)
          | Below is a part of an encyclopedia's article about the novel "The Key". Is it a summary of the novel, of its plot or its characters for example?
          |
          | - It has to be highly objective. It fails if there is too much in it that is subjective, such as opinion, speculation, interpretation and comment.
          | - It has to keep to the fiction. It fails if there is too much of the real world in it, such as the study of literature, the background in history, the author's life, when and how it was published, its influence, prizes, adaptations and scholarly analysis.
          |
          | Look at it with care. Then write \boxed{YES} or \boxed{NO}.
          |
          | === TEXT ===
          | Reception
          |
          | Critics praised the book and it sold a million copies in its first year.
        chat sagascale-sub-queries (<= 64 tokens, temperature 0)
          | Below is a text from an encyclopedia about the novel "The Key". Divide it into parts that are small and specific, and sum up every one of them concisely, in one sentence or two.
          |
          | Write in English, and write each summary in this form:
          | <summary>
          | your summary
          | </summary>
          |
          | === TEXT ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Below are passages about the novel "The Key". Passage 1 is from an article in an encyclopedia, all others are from the novel.
          |
          | Write one question with its answer.
          |
          | 1. The question keeps to the fiction, such as the characters and what happens to them. Nothing of the real world comes into it: no author, no reviews, no style, no other novel.
          | 2. The question is highly objective and so specific that only one answer is right. It gives no hint and no context beyond what it needs.
          | 3. The question is multi-hop. To answer it takes a thorough understanding and a knowledge of details, from more than one passage or from more than one part of a passage.
          | 4. The answer is one number, one entity or one short phrase, and it is a direct answer.
          | 5. Somebody who does not have the passages finds neither the question nor the answer ambiguous.
          | 6. Where earlier pairs are given, the new pair shares nothing with them: it is about other characters, another plot, another aspect.
          |
          | If there is such a pair, write its question and its answer, both in English, in two boxes, \boxed{the question} and \boxed{the answer}. If there is none, write one box, \boxed{END}. Keep your thinking short.
          |
          | === PASSAGE 1 ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          |
          | === PASSAGE 2 ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          |
          | === PASSAGE 3 ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Below are passages about the novel "The Key". Passage 1 is from an article in an encyclopedia, all others are from the novel.
          |
          | Write one question with its answer.
          |
          | 1. The question keeps to the fiction, such as the characters and what happens to them. Nothing of the real world comes into it: no author, no reviews, no style, no other novel.
          | 2. The question is highly objective and so specific that only one answer is right. It gives no hint and no context beyond what it needs.
          | 3. The question is multi-hop. To answer it takes a thorough understanding and a knowledge of details, from more than one passage or from more than one part of a passage.
          | 4. The answer is one number, one entity or one short phrase, and it is a direct answer.
          | 5. Somebody who does not have the passages finds neither the question nor the answer ambiguous.
          | 6. Where earlier pairs are given, the new pair shares nothing with them: it is about other characters, another plot, another aspect.
          |
          | If there is such a pair, write its question and its answer, both in English, in two boxes, \boxed{the question} and \boxed{the answer}. If there is none, write one box, \boxed{END}. Keep your thinking short.
          |
          | === EARLIER PAIRS ===
          | - Under which stair lies the key? (third)
          |
          | === PASSAGE 1 ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          |
          | === PASSAGE 2 ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          |
          | === PASSAGE 3 ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Below are passages about the novel "The Key". Passage 1 is from an article in an encyclopedia, all others are from the novel.
          |
          | Write one question with its answer.
          |
          | 1. The question keeps to the fiction, such as the characters and what happens to them. Nothing of the real world comes into it: no author, no reviews, no style, no other novel.
          | 2. The question is highly objective and so specific that only one answer is right. It gives no hint and no context beyond what it needs.
          | 3. The question is multi-hop. To answer it takes a thorough understanding and a knowledge of details, from more than one passage or from more than one part of a passage.
          | 4. The answer is one number, one entity or one short phrase, and it is a direct answer.
          | 5. Somebody who does not have the passages finds neither the question nor the answer ambiguous.
          | 6. Where earlier pairs are given, the new pair shares nothing with them: it is about other characters, another plot, another aspect.
          |
          | If there is such a pair, write its question and its answer, both in English, in two boxes, \boxed{the question} and \boxed{the answer}. If there is none, write one box, \boxed{END}. Keep your thinking short.
          |
          | === EARLIER PAIRS ===
          | - Under which stair lies the key? (third)
          | - Who finds the key? (Ben)
          |
          | === PASSAGE 1 ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          |
          | === PASSAGE 2 ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          |
          | === PASSAGE 3 ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Below are passages about the novel "The Key". Passage 1 is from an article in an encyclopedia, all others are from the novel.
          |
          | Write one question with its answer.
          |
          | 1. The question keeps to the fiction, such as the characters and what happens to them. Nothing of the real world comes into it: no author, no reviews, no style, no other novel.
          | 2. The question is highly objective and so specific that only one answer is right. It gives no hint and no context beyond what it needs.
          | 3. The question is multi-hop. To answer it takes a thorough understanding and a knowledge of details, from more than one passage or from more than one part of a passage.
          | 4. The answer is one number, one entity or one short phrase, and it is a direct answer.
          | 5. Somebody who does not have the passages finds neither the question nor the answer ambiguous.
          | 6. Where earlier pairs are given, the new pair shares nothing with them: it is about other characters, another plot, another aspect.
          |
          | If there is such a pair, write its question and its answer, both in English, in two boxes, \boxed{the question} and \boxed{the answer}. If there is none, write one box, \boxed{END}. Keep your thinking short.
          |
          | === EARLIER PAIRS ===
          | - Under which stair lies the key? (third)
          | - Who finds the key? (Ben)
          | - For how many years is the key kept? (nine)
          |
          | === PASSAGE 1 ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          |
          | === PASSAGE 2 ===
          | Ana hid the key under the third stair. Nobody saw her do it. In
          |
          | === PASSAGE 3 ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
        chat sagascale-pair (<= 64 tokens, temperature 0)
          | Below are passages about the novel "The Key". Passage 1 is from an article in an encyclopedia, all others are from the novel.
          |
          | Write one question with its answer.
          |
          | 1. The question keeps to the fiction, such as the characters and what happens to them. Nothing of the real world comes into it: no author, no reviews, no style, no other novel.
          | 2. The question is highly objective and so specific that only one answer is right. It gives no hint and no context beyond what it needs.
          | 3. The question is multi-hop. To answer it takes a thorough understanding and a knowledge of details, from more than one passage or from more than one part of a passage.
          | 4. The answer is one number, one entity or one short phrase, and it is a direct answer.
          | 5. Somebody who does not have the passages finds neither the question nor the answer ambiguous.
          | 6. Where earlier pairs are given, the new pair shares nothing with them: it is about other characters, another plot, another aspect.
          |
          | If there is such a pair, write its question and its answer, both in English, in two boxes, \boxed{the question} and \boxed{the answer}. If there is none, write one box, \boxed{END}. Keep your thinking short.
          |
          | === EARLIER PAIRS ===
          | - Under which stair lies the key? (third)
          | - Who finds the key? (Ben)
          | - For how many years is the key kept? (nine)
          |
          | === PASSAGE 1 ===
          | Ana hides a key under the stair. Ben finds it and keeps it for nine years.
          |
          | === PASSAGE 2 ===
          |  spring the river rose and took the bridge. Ben rowed across with a lantern
          |
          | === PASSAGE 3 ===
          | . He found the key and kept it for nine years.
        chat sagascale-check-pair (<= 64 tokens, temperature 0)
          | Check a question about the novel "The Key" and its answer, by what a search of the web has found. Both of this has to hold:
          | - The answer is right, and nothing essential is missing from it.
          | - The question says nothing that is wrong or that misleads.
          |
          | Say why in one or two sentences. Then write the decision in a box, \boxed{PASS} or \boxed{FAIL}. If the web has nothing that bears on it, write \boxed{FAIL}.
          |
          | === FOUND ON THE WEB ===
          | 1. The Key: A story of a key.
          |
          | === QUESTION AND ANSWER ===
          | Question: Under which stair lies the key?
          | Answer: third
        chat sagascale-check-pair (<= 64 tokens, temperature 0)
          | Check a question about the novel "The Key" and its answer, by what a search of the web has found. Both of this has to hold:
          | - The answer is right, and nothing essential is missing from it.
          | - The question says nothing that is wrong or that misleads.
          |
          | Say why in one or two sentences. Then write the decision in a box, \boxed{PASS} or \boxed{FAIL}. If the web has nothing that bears on it, write \boxed{FAIL}.
          |
          | === FOUND ON THE WEB ===
          | 1. The Key: A story of a key.
          |
          | === QUESTION AND ANSWER ===
          | Question: Who finds the key?
          | Answer: Ben
        chat sagascale-check-pair (<= 64 tokens, temperature 0)
          | Check a question about the novel "The Key" and its answer, by what a search of the web has found. Both of this has to hold:
          | - The answer is right, and nothing essential is missing from it.
          | - The question says nothing that is wrong or that misleads.
          |
          | Say why in one or two sentences. Then write the decision in a box, \boxed{PASS} or \boxed{FAIL}. If the web has nothing that bears on it, write \boxed{FAIL}.
          |
          | === FOUND ON THE WEB ===
          | 1. The Key: A story of a key.
          |
          | === QUESTION AND ANSWER ===
          | Question: For how many years is the key kept?
          | Answer: nine
        chat sagascale-keywords (<= 64 tokens, temperature 0)
          | Name all the keywords in a question about the novel "The Key".
          | - Leave out every word without which the question still asks for the same.
          | - Make each keyword as short as it goes.
          |
          | Write each keyword in a box of its own, such as \boxed{one keyword} \boxed{another keyword}.
          |
          | === QUESTION ===
          | Under which stair lies the key?
        chat sagascale-keywords (<= 64 tokens, temperature 0)
          | Name all the keywords in a question about the novel "The Key".
          | - Leave out every word without which the question still asks for the same.
          | - Make each keyword as short as it goes.
          |
          | Write each keyword in a box of its own, such as \boxed{one keyword} \boxed{another keyword}.
          |
          | === QUESTION ===
          | Who finds the key?
        chat sagascale-keywords (<= 64 tokens, temperature 0)
          | Name all the keywords in a question about the novel "The Key".
          | - Leave out every word without which the question still asks for the same.
          | - Make each keyword as short as it goes.
          |
          | Write each keyword in a box of its own, such as \boxed{one keyword} \boxed{another keyword}.
          |
          | === QUESTION ===
          | For how many years is the key kept?
        chat sagascale-closed-book (<= 64 tokens, temperature 0)
          | You will get one question about "The Key". Answer it from what you know of the book.
          |
          | Give the answer in English, and give it in this form, each tag on a line of its own:
          | <answer>
          | your final answer
          | </answer>
          |
          | === QUESTION ===
          | Under which stair lies the key?
        chat judge-sagascale (<= 64 tokens, temperature 0)
          | Decide whether a model has answered a question about "The Key" correctly. You know the ground truth.
          |
          | Its answer is correct exactly when all of this holds:
          | - The answer responds to the very question that was put.
          | - Nothing in the answer is at odds with the ground truth.
          | - The answer conveys the core of the ground truth, its main points. Only the meaning has to be the same, not the words.
          |
          | Write the decision in a box, \boxed{CORRECT} or \boxed{INCORRECT}.
          |
          | Question: Under which stair lies the key?
          |
          | Ground truth answer: third
          |
          | Answer of the model: Cleo
        chat sagascale-closed-book (<= 64 tokens, temperature 0)
          | You will get one question about "The Key". Answer it from what you know of the book.
          |
          | Give the answer in English, and give it in this form, each tag on a line of its own:
          | <answer>
          | your final answer
          | </answer>
          |
          | === QUESTION ===
          | Who finds the key?
        chat judge-sagascale (<= 64 tokens, temperature 0)
          | Decide whether a model has answered a question about "The Key" correctly. You know the ground truth.
          |
          | Its answer is correct exactly when all of this holds:
          | - The answer responds to the very question that was put.
          | - Nothing in the answer is at odds with the ground truth.
          | - The answer conveys the core of the ground truth, its main points. Only the meaning has to be the same, not the words.
          |
          | Write the decision in a box, \boxed{CORRECT} or \boxed{INCORRECT}.
          |
          | Question: Who finds the key?
          |
          | Ground truth answer: Ben
          |
          | Answer of the model: Cleo
        chat classify-question (<= 64 tokens, temperature 0)
          | Sort a question about a novel into one of the types below. Write the name of the type in one box, for example \boxed{Location}.
          |
          | What each type asks for:
          | Location: a place
          | Character: a role in the narrative, and who has it
          | Reason: a reason or a motive
          | Method: how somebody accomplished something
          | Event: a certain occurrence or a point of the plot
          | Entity: a certain entity that is neither a character nor a place
          | Quantity: an amount or a number
          | Temporal: when something happens or how long it takes
          | Quotation: a certain phrase or term of the text
          | Miscellaneous: anything else
          |
          | A question of each type:
          | Location: Where does Jim Hawkins overhear the plan of the mutiny?
          | Character: Who turns out to be the benefactor that pays for Pip's life in London?
          | Reason: Why does Elizabeth Bennet turn Mr Darcy down at first?
          | Method: How does Edmond Dantes get out of the Chateau d'If?
          | Event: What becomes of the Pequod on the third day of the chase?
          | Entity: What does Hester Prynne have to wear on her dress?
          | Quantity: How many pounds does Phileas Fogg bet on his journey?
          | Temporal: How long does Robinson Crusoe live alone on his island before he meets Friday?
          | Quotation: With which words does Bartleby refuse every task?
          | Miscellaneous: Under which name does Jean Valjean become a mayor?
          |
          | The question to sort:
          | Under which stair lies the key?
        chat classify-question (<= 64 tokens, temperature 0)
          | Sort a question about a novel into one of the types below. Write the name of the type in one box, for example \boxed{Location}.
          |
          | What each type asks for:
          | Location: a place
          | Character: a role in the narrative, and who has it
          | Reason: a reason or a motive
          | Method: how somebody accomplished something
          | Event: a certain occurrence or a point of the plot
          | Entity: a certain entity that is neither a character nor a place
          | Quantity: an amount or a number
          | Temporal: when something happens or how long it takes
          | Quotation: a certain phrase or term of the text
          | Miscellaneous: anything else
          |
          | A question of each type:
          | Location: Where does Jim Hawkins overhear the plan of the mutiny?
          | Character: Who turns out to be the benefactor that pays for Pip's life in London?
          | Reason: Why does Elizabeth Bennet turn Mr Darcy down at first?
          | Method: How does Edmond Dantes get out of the Chateau d'If?
          | Event: What becomes of the Pequod on the third day of the chase?
          | Entity: What does Hester Prynne have to wear on her dress?
          | Quantity: How many pounds does Phileas Fogg bet on his journey?
          | Temporal: How long does Robinson Crusoe live alone on his island before he meets Friday?
          | Quotation: With which words does Bartleby refuse every task?
          | Miscellaneous: Under which name does Jean Valjean become a mayor?
          |
          | The question to sort:
          | Who finds the key?
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
            "keywords": ["Ben", "the key"], "popularity": 100_000,
        })
    );
    let contexts = &store.lines("pairs")[0]["value"]["contexts"];
    assert_eq!((&contexts[0]["ended"], &contexts[1]["ended"]), (&json!("end"), &json!("end")));
    assert_eq!(built.tables[0].rows[1][1].shown(), "1", "one question asks for a character");
}
