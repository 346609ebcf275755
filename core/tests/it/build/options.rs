//! Wrong options for open questions.

use super::{Memory, funnel, survives_any_death, with_setting};
use crate::support::{STORY, ScriptedHost, book, item, question};
use closeread_build::options::{Asked, Options, cost, options};
use closeread_build::{BuildError, Building, Built};
use closeread_eval::{Item, Task};
use closeread_llm::{Call, HostError};
use expect_test::expect;
use serde_json::json;

/// An open question without options.
fn open() -> Item {
    Item { options: Vec::new(), correct: None, ..item(Task::Generative) }
}

fn build_of(items: &[Item], host: &ScriptedHost<'_>, store: &Memory) -> Result<Built, BuildError> {
    let books = [book("story", "The Key", STORY)];
    let hosts = Asked { writer: host, judge: host };
    with_setting(async |settings| {
        options(hosts, settings, Building::new(store, 2, None), &books, items, &Options::default()).await
    })
}

fn able(call: &Call) -> Result<String, HostError> {
    Ok(match call.prompt.as_str() {
        "options-distractors" => r#"{"options": ["in the river", "behind the lantern", "in a boat"]}"#.to_owned(),
        "judge-corpusqa" => "They differ. [[NO]]".to_owned(),
        other => panic!("{other} is asked for"),
    })
}

#[test]
fn three_wrong_options_are_written_and_judged() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build_of(&[open()], &host, &Memory::default()).unwrap();
    expect![[r#"
        chat options-distractors (<= 64 tokens, temperature 0)
          | Make a question about the novel "The Key" a multiple-choice question.
          |
          | Question: Where was the key?
          | Right answer: under the third stair
          |
          | Write 3 wrong options to stand beside the right answer.
          |
          | 1. Each is wrong, and surely so: none means the same as a right answer in other words, contains it, or could be argued to be right as well.
          | 2. Each is plausible: of the same kind, about as long and as detailed as the right answer, in its language and style, so that it cannot be told from it without having read the novel.
          | 3. All of them differ from each other in meaning.
          |
          | Reply with a JSON object and nothing else:
          | {"options": ["a wrong option"]}
        chat judge-corpusqa (<= 64 tokens, temperature 0)
          System
          | You are an expert who verifies whether two answers say the same. You get a problem and two answers to it, Answer 1 and Answer 2. Find out whether they are equivalent. Do not try to solve the problem.
          |
          | Compare the answers: they are equivalent if they stand for identical values or mean the same, even where form or notation differ.
          |
          | Your output MUST have this form:
          | 1. Explain why the answers are equivalent or why they are not.
          | 2. Then give your final answer as [[YES]] or [[NO]].
          User
          | Problem: Where was the key?
          |
          | Answer 1: in the river
          |
          | Answer 2: under the third stair
        chat judge-corpusqa (<= 64 tokens, temperature 0)
          System
          | You are an expert who verifies whether two answers say the same. You get a problem and two answers to it, Answer 1 and Answer 2. Find out whether they are equivalent. Do not try to solve the problem.
          |
          | Compare the answers: they are equivalent if they stand for identical values or mean the same, even where form or notation differ.
          |
          | Your output MUST have this form:
          | 1. Explain why the answers are equivalent or why they are not.
          | 2. Then give your final answer as [[YES]] or [[NO]].
          User
          | Problem: Where was the key?
          |
          | Answer 1: behind the lantern
          |
          | Answer 2: under the third stair
        chat judge-corpusqa (<= 64 tokens, temperature 0)
          System
          | You are an expert who verifies whether two answers say the same. You get a problem and two answers to it, Answer 1 and Answer 2. Find out whether they are equivalent. Do not try to solve the problem.
          |
          | Compare the answers: they are equivalent if they stand for identical values or mean the same, even where form or notation differ.
          |
          | Your output MUST have this form:
          | 1. Explain why the answers are equivalent or why they are not.
          | 2. Then give your final answer as [[YES]] or [[NO]].
          User
          | Problem: Where was the key?
          |
          | Answer 1: in a boat
          |
          | Answer 2: under the third stair
    "#]].assert_eq(&host.transcript());
    let made = &built.items[0];
    assert_eq!((made.task, made.options.len()), (Task::Choice, 4));
    assert_eq!(made.options[made.correct.unwrap()], "under the third stair");
    assert_eq!(made.answers, ["under the third stair"], "it can still be asked openly");
}

#[test]
fn an_option_that_is_right_in_other_words_or_not_new_is_written_anew() {
    let script = |call: &Call, _| {
        let said = &call.messages.last().unwrap().content;
        Ok(match call.prompt.as_str() {
            "options-distractors" if said.contains("must not come again") => {
                for refused in [
                    "- Under the THIRD stair! (it is a right answer)",
                    "- below the third step (it means the same as a right answer)",
                    "- in the river (it is there already)",
                    "Write 2 wrong options",
                ] {
                    assert!(said.contains(refused), "{refused} is not in: {said}");
                }
                r#"["in a boat", "with Ben"]"#.to_owned()
            }
            "options-distractors" => {
                r#"{"options": ["Under the THIRD stair!", "in the river", "below the third step", "In the river"]}"#
                    .to_owned()
            }
            _ if said.contains("Answer 1: below the third step") => "[[YES]]".to_owned(),
            _ => "[[NO]]".to_owned(),
        })
    };
    let store = Memory::default();
    let built = build_of(&[open()], &ScriptedHost::scripted(script), &store).unwrap();
    assert_eq!(store.lines("distractors")[0]["value"]["wrong"], json!(["in the river", "in a boat", "with Ben"]));
    assert_eq!(built.items[0].options.len(), 4);
}

#[test]
fn an_option_that_cannot_be_judged_is_not_taken_and_the_item_goes_without() {
    let script = |call: &Call, _| match call.prompt.as_str() {
        "judge-corpusqa" => Ok("I cannot say.".to_owned()),
        _ => able(call),
    };
    let built = build_of(&[open()], &ScriptedHost::scripted(script), &Memory::default()).unwrap();
    assert_eq!(built.items, [open()], "it stays as it was");
    assert_eq!(funnel(&built), ["distractors 1 -> 0, too few 1", "options 0 -> 0"]);
    let built = build_of(&[open()], &ScriptedHost::always(Ok("no list")), &Memory::default()).unwrap();
    assert_eq!(funnel(&built)[0], "distractors 1 -> 0, unreadable 1");
}

#[test]
fn no_server_is_sent_an_empty_turn_where_a_response_was_empty() {
    let host = ScriptedHost::scripted(|call, _| {
        assert!(call.messages.iter().all(|message| !message.content.trim().is_empty()), "{call:?}");
        let said = &call.messages.last().unwrap().content;
        if call.prompt == "options-distractors" && !said.contains("Your response cannot be used: ") {
            return Ok(" ".to_owned());
        }
        able(call)
    });
    let built = build_of(&[open()], &host, &Memory::default()).unwrap();
    assert_eq!((built.items[0].options.len(), host.asked()), (4, 5));
}

#[test]
fn items_with_options_or_without_an_answer_stay_as_they_are() {
    let unanswered = Item { answers: Vec::new(), ..open() };
    let items = [item(Task::Choice), Item { id: "u".to_owned(), ..unanswered }];
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build_of(&items, &host, &Memory::default()).unwrap();
    assert_eq!((built.items.as_slice(), host.asked()), (&items[..], 0));
}

#[test]
fn a_build_that_dies_anywhere_comes_back_with_the_same_options_in_the_same_order() {
    let other = Item { options: Vec::new(), correct: None, ..question("p", "Who found it?", Task::Generative) };
    let items = [open(), Item { answers: vec!["Ben".to_owned()], ..other }];
    survives_any_death(&able, &|host, store| build_of(&items, host, store));
}

#[test]
fn a_long_list_of_options_costs_no_more_than_was_told_at_most() {
    let n_written = std::cell::Cell::new(0);
    let host = ScriptedHost::scripted(|call, _| {
        if call.prompt == "judge-corpusqa" {
            return Ok("[[YES]]".to_owned());
        }
        n_written.set(n_written.get() + 20);
        let options: Vec<String> = (n_written.get() - 20..n_written.get()).map(|n| format!("in boat {n}")).collect();
        Ok(json!({"options": options}).to_string())
    });
    build_of(&[open()], &host, &Memory::default()).unwrap();
    let books = [book("story", "The Key", STORY)];
    let stages = with_setting(async |settings| cost(settings, &books, &[open()], &Options::default()).unwrap());
    let most: u64 = stages.iter().map(|stage| stage.cost.n().high).sum();
    assert_eq!((host.asked(), most), (3 + 3 * 6, 24));
}

#[test]
fn the_cost_is_that_of_the_calls_which_are_made() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    build_of(&[open()], &host, &Memory::default()).unwrap();
    let books = [book("story", "The Key", STORY)];
    let stages = with_setting(async |settings| cost(settings, &books, &[open()], &Options::default()).unwrap());
    let n: u64 = stages.iter().map(|stage| stage.cost.n().low).sum();
    assert_eq!(n, host.asked() as u64);
}
