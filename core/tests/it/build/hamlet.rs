//! HAMLET: chunks, trees, three passes, pruning, queries.

use super::{Memory, funnel, ids, survives_any_death, with_setting};
use crate::support::{STORY, ScriptedHost, book};
use closeread_books::Book;
use closeread_build::hamlet::{Hamlet, cost, hamlet, study, study_chunks};
use closeread_build::{BuildError, Building, Built, Question};
use closeread_llm::{Call, HostError};
use closeread_report::paper::hamlet::Perspective;
use closeread_table::Value as Cell;
use serde_json::{Value, json};
use std::sync::Arc;

const TREE: &str = r#"{"roots": [{"fact": "Ana loses the key to Ben.", "branches": [
    {"fact": "Ana hides the key.", "leaves": ["The key lies under the third stair.", "Nobody sees Ana."]},
    {"fact": "Ben finds the key.", "leaves": ["Ben keeps the key for nine years."]}]}]}"#;
const IDS: [&str; 6] = ["1", "1.1", "1.1.1", "1.1.2", "1.2", "1.2.1"];

/// Labels that fail these facts.
fn labels(failing: &[&str]) -> String {
    let label =
        |id: &&str| json!({"id": id, "label": u8::from(!failing.contains(id)), "reason": format!("about {id}")});
    Value::Array(IDS.iter().map(label).collect()).to_string()
}

fn said(call: &Call) -> &str {
    &call.messages[0].content
}

/// A model that does all that it is asked for.
pub(crate) fn able(call: &Call) -> Result<String, HostError> {
    Ok(match call.prompt.as_str() {
        "hamlet-tree-analytical" | "hamlet-tree-narrative" => TREE.to_owned(),
        "hamlet-verify-tree" if said(call).contains("its faithfulness") => labels(&["1.1.2"]),
        "hamlet-verify-tree" => labels(&[]),
        "hamlet-query-analytical" | "hamlet-query-narrative" => {
            r#"{"query": "What becomes of the key that Ana hid?"}"#.to_owned()
        }
        other => panic!("{other} is asked for"),
    })
}

fn parameters() -> Hamlet {
    Hamlet { chunk_tokens: 24, least_tokens: 14, ..Hamlet::default() }
}

pub(crate) fn one_chunk() -> Hamlet {
    Hamlet { chunk_tokens: 100, perspectives: vec![Perspective::Narrative], ..parameters() }
}

fn build_of(
    book: &Arc<Book>,
    host: &ScriptedHost<'_>,
    store: &Memory,
    parameters: &Hamlet,
    until: Option<&str>,
) -> Result<Built, BuildError> {
    let books = [Arc::clone(book)];
    with_setting(async |settings| hamlet(host, settings, Building::new(store, 3, until), &books, parameters).await)
}

pub(crate) fn build(host: &ScriptedHost<'_>, store: &Memory, parameters: &Hamlet) -> Result<Built, BuildError> {
    build_of(&book("story", "The Key", STORY), host, store, parameters, None)
}

#[test]
fn every_chunk_and_perspective_is_an_item_and_the_funnel_says_what_became_of_each_unit() {
    let built = build(&ScriptedHost::scripted(|call, _| able(call)), &Memory::default(), &parameters()).unwrap();
    assert_eq!(
        funnel(&built),
        [
            "chunks 3 -> 2, short 1",
            "trees 4 -> 4",
            "faithfulness 4 -> 4",
            "objectivity 4 -> 4",
            "significance 4 -> 4",
            "pruning 4 -> 4",
            "queries 4 -> 4"
        ]
    );
    assert_eq!(
        ids(&built.items),
        ["story-001-analytical", "story-001-narrative", "story-002-analytical", "story-002-narrative"]
    );
    let shown = |table: usize| -> Vec<String> {
        let row = |row: &Vec<Cell>| row.iter().map(Cell::shown).collect::<Vec<_>>().join(" ");
        built.tables[table].rows.iter().map(row).collect()
    };
    assert_eq!(json!(built.items[2].other), json!({"chunk": 1, "n_chunks": 2}));
    assert_eq!(shown(0), ["The Key - - 44 - 2 2 4 4 10 2 4 4 10 4"], "Table 8");
    assert_eq!(
        shown(1),
        ["root 4 4 0.0 0 0 0 0 0", "branch 8 8 0.0 0 0 0 0 0", "leaf 12 8 33.3 4 0 0 0 0", "all 24 20 16.7 4 0 0 0 0"]
    );
}

#[test]
fn what_fails_a_pass_goes_with_everything_below_it() {
    let script = |call: &Call, _| match call.prompt.as_str() {
        "hamlet-verify-tree" if said(call).contains("its objectivity") => Ok(labels(&["1.1"])),
        "hamlet-verify-tree" if said(call).contains("its significance") => Ok(labels(&["1.2.1"])),
        _ => able(call),
    };
    let store = Memory::default();
    let built = build(&ScriptedHost::scripted(script), &store, &one_chunk()).unwrap();
    let facts = built.items[0].key_facts.clone().unwrap();
    assert_eq!(
        json!(facts.roots),
        json!([{"fact": "Ana loses the key to Ben.", "children": [{"fact": "Ben finds the key."}]}])
    );
    let removed = &store.lines("pruning")[0]["value"]["removed"];
    let why = |at: usize| format!("{} {}", removed[at]["id"].as_str().unwrap(), removed[at]["why"].as_str().unwrap());
    let whys: Vec<String> = (0..removed.as_array().unwrap().len()).map(why).collect();
    assert_eq!(whys, ["1.1 objectivity", "1.1.1 orphaned", "1.1.2 faithfulness", "1.2.1 significance"]);
    assert_eq!(removed[0]["reason"], "about 1.1");
}

#[test]
fn a_tree_without_a_root_left_is_dropped() {
    let script = |call: &Call, _| match call.prompt.as_str() {
        "hamlet-verify-tree" => Ok(labels(&["1"])),
        _ => able(call),
    };
    let built = build(&ScriptedHost::scripted(script), &Memory::default(), &one_chunk()).unwrap();
    assert_eq!(funnel(&built)[5..], ["pruning 1 -> 0, no root left 1", "queries 0 -> 0"]);
    assert_eq!(built.items, []);
}

/// Returns what a stage says of the only unit, and how often its prompt was sent.
fn outcome(stage: &str, prompt: &str, response: impl Fn(&Call) -> Option<String>) -> (Value, usize) {
    let store = Memory::default();
    let host = ScriptedHost::scripted(|call, _| match response(call) {
        Some(response) if call.prompt == prompt => Ok(response),
        _ => able(call),
    });
    build(&host, &store, &one_chunk()).unwrap();
    let asked = host.transcript().matches(&format!("chat {prompt} ")).count();
    (store.lines(stage).remove(0), asked)
}

/// True for a call that was made again, with what was wrong.
fn is_again(call: &Call) -> bool {
    call.messages.len() == 3 && call.messages[2].content.starts_with("Your response cannot be used: ")
}

#[test]
fn a_response_that_cannot_be_used_is_asked_for_once_more_and_then_dropped() {
    for (response, why) in [
        ("I would rather not.", "it holds no JSON object with roots"),
        (r#"{"roots": [{"fact": "Ana hides the key.", "branches": ["#, "it holds no JSON object with roots"),
        (r#"{"roots": [{"fact": "Ana hides the key."}]}"#, "the tree has no fact on the level of the branch"),
    ] {
        let (line, asked) = outcome("trees", "hamlet-tree-narrative", |_| Some(response.to_owned()));
        assert_eq!(
            (&line["state"], &line["reason"], &line["detail"]),
            (&json!("dropped"), &json!("unreadable"), &json!(why))
        );
        assert_eq!((asked, line["calls"].as_array().unwrap().len()), (2, 2));
    }
    let (line, asked) = outcome("trees", "hamlet-tree-narrative", |call| (!is_again(call)).then(|| "{}".to_owned()));
    assert_eq!((&line["state"], asked), (&json!("kept"), 2));
}

#[test]
fn where_names_are_enforced_facts_with_pronouns_are_asked_for_again_and_pruned_if_they_stay() {
    let laden = TREE.replace("Ana hides the key.", "She hides the key.");
    let store = Memory::default();
    let host = ScriptedHost::scripted(|call, _| match call.prompt.as_str() {
        "hamlet-tree-narrative" => {
            if is_again(call) {
                assert!(call.messages[2].content.contains("`She hides the key.` has the pronoun `she`"));
            }
            Ok(laden.clone())
        }
        _ => able(call),
    });
    let enforced = Hamlet { enforce_names: true, ..one_chunk() };
    let built = build(&host, &store, &enforced).unwrap();
    let removed = &store.lines("pruning")[0]["value"]["removed"];
    assert_eq!((&removed[0]["why"], &removed[1]["why"]), (&json!("pronoun"), &json!("orphaned")));
    assert_eq!(built.tables[1].rows[3][7].shown(), "1", "the table counts it");
    assert_eq!(host.transcript().matches("chat hamlet-tree-narrative ").count(), 2);
    let (line, asked) = outcome("trees", "hamlet-tree-narrative", |_| Some(laden.clone()));
    assert_eq!((&line["state"], asked), (&json!("kept"), 1), "the paper requests names and does nothing more");
}

#[test]
fn a_fact_without_a_label_fails_and_a_tree_without_labels_is_not_verified() {
    let one = r#"[{"id": "1", "label": 1, "reason": "so it is"}, {"id": "1.2", "label": 1}]"#;
    let (line, asked) = outcome("pruning", "hamlet-verify-tree", |_| Some(one.to_owned()));
    assert_eq!(asked, 6, "each pass is asked again");
    let removed = &line["value"]["removed"];
    assert_eq!((&removed[0]["id"], &removed[0]["reason"]), (&json!("1.1"), &json!("it has no label")));
    let (line, _) = outcome("pruning", "hamlet-verify-tree", |call| {
        said(call).contains("its significance").then(|| "All fine.".to_owned())
    });
    assert_eq!((&line["reason"], &line["detail"]), (&json!("unverified"), &json!("no labels for significance")));
}

#[test]
fn a_query_that_mentions_the_tree_is_refused() {
    let (line, asked) =
        outcome("queries", "hamlet-query-narrative", |_| Some(r#"{"query": "What do the key facts say?"}"#.to_owned()));
    assert_eq!((&line["reason"], asked), (&json!("unreadable"), 2));
    assert!(line["detail"].as_str().unwrap().contains("`key facts`"), "{line}");
}

#[test]
fn a_refusal_drops_the_unit_and_the_others_go_on() {
    let script = |call: &Call, _| match call.prompt == "hamlet-tree-narrative" && said(call).contains("Ana hid") {
        true => Err(HostError::Blocked { reason: "no stairs".to_owned() }),
        false => able(call),
    };
    let built = build(&ScriptedHost::scripted(script), &Memory::default(), &parameters()).unwrap();
    assert_eq!(funnel(&built)[1], "trees 4 -> 3, blocked 1");
}

#[test]
fn a_chinese_book_is_written_about_in_chinese() {
    let text = "阿安把钥匙藏在第三级台阶下。没有人看见。春天河水涨了，冲走了桥。老本划船过来，手里提着灯。";
    let tree = r#"{"roots": [{"fact": "阿安藏钥匙。", "branches": [{"fact": "钥匙在台阶下。", "leaves": ["台阶是第三级。"]}]}]}"#;
    let three = r#"[{"id": "1", "label": 1}, {"id": "1.1", "label": 1}, {"id": "1.1.1", "label": 1}]"#;
    let host = ScriptedHost::scripted(|call, _| {
        Ok(match call.prompt.as_str() {
            "hamlet-tree-narrative" => tree.to_owned(),
            "hamlet-verify-tree" => three.to_owned(),
            _ => r#"{"query": "阿安的钥匙在哪里？"}"#.to_owned(),
        })
    });
    let built = build_of(&book("du", "渡", text), &host, &Memory::default(), &one_chunk(), None).unwrap();
    assert!(host.transcript().contains("Write in Chinese.") && host.transcript().contains("Write it in Chinese."));
    assert_eq!(
        (built.items[0].question.as_str(), built.items[0].labels["language"].as_str()),
        ("阿安的钥匙在哪里？", "zh")
    );
}

#[test]
fn a_build_that_dies_anywhere_comes_back_with_the_same_data() {
    survives_any_death(&able, &|host, store| build(host, store, &parameters()));
}

#[test]
fn lines_may_be_edited_and_what_was_made_of_them_before_is_not_taken_for_new() {
    let store = Memory::default();
    let story = book("story", "The Key", STORY);
    let host = ScriptedHost::scripted(|call, _| able(call));
    let stopped = build_of(&story, &host, &store, &one_chunk(), Some("trees"));
    assert!(matches!(stopped, Err(BuildError::Stopped { stage: "trees" })));
    assert_eq!((host.asked(), store.lines("faithfulness").len()), (1, 0));
    store.edit("trees", |lines| lines[0] = lines[0].replace("Nobody sees Ana.", "Ana is alone."));
    build_of(&story, &host, &store, &one_chunk(), None).unwrap();
    assert!(host.transcript().contains(r#"{"id":"1.1.2","fact":"Ana is alone."}"#));

    store.edit("trees", |lines| lines[0] = lines[0].replace("Ana is alone.", "Ana waits."));
    let stale = build_of(&story, &host, &store, &one_chunk(), None);
    assert!(matches!(stale, Err(BuildError::Stale { stage: "faithfulness" })));
    for stage in ["faithfulness", "objectivity", "significance", "pruning", "queries"] {
        store.forget(stage);
    }
    build_of(&story, &host, &store, &one_chunk(), None).unwrap();
    assert!(host.transcript().contains(r#"{"id":"1.1.2","fact":"Ana waits."}"#));

    store.edit("queries", |lines| lines[0] = "{\"id\": 7}".to_owned());
    let message = build_of(&story, &host, &store, &one_chunk(), None).unwrap_err().to_string();
    assert!(message.starts_with("stage `queries`, line 1: ") && message.contains("make the stage anew"), "{message}");
}

#[test]
fn an_edited_chunk_that_is_not_in_its_book_is_named_before_any_call() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let story = book("story", "The Key", STORY);
    for (start, end) in [(0, 99_999), (9, 3)] {
        let store = Memory::default();
        assert!(build_of(&story, &host, &store, &one_chunk(), Some("chunks")).is_err(), "it stops there");
        store.edit("chunks", |lines| {
            let mut line: Value = serde_json::from_str(&lines[0]).unwrap();
            (line["value"]["start"], line["value"]["end"]) = (json!(start), json!(end));
            lines[0] = line.to_string();
        });
        let refused = build_of(&story, &host, &store, &one_chunk(), None).unwrap_err().to_string();
        assert!(refused.contains(&format!("`story-001` is bytes {start}..{end} of `story`, which has")), "{refused}");
    }
    assert_eq!(host.asked(), 0);
}

#[test]
fn people_are_asked_about_labels_trees_and_queries() {
    let built = build(&ScriptedHost::scripted(|call, _| able(call)), &Memory::default(), &one_chunk()).unwrap();
    let groups: Vec<(&str, bool)> = built.questions.iter().map(|q: &Question| (q.group.as_str(), q.expected)).collect();
    assert_eq!(groups.iter().filter(|(group, _)| *group == "faithfulness, label 1").count(), 5);
    assert!(groups.contains(&("faithfulness, label 0", false)) && groups.contains(&("tree", true)));
    assert!(groups.contains(&("query naturalness", true)) && groups.contains(&("query relevance", true)));
    assert!(built.questions.iter().all(|question| question.context.contains("third stair")));
}

#[test]
fn the_cost_is_that_of_the_calls_which_are_made() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build(&host, &Memory::default(), &parameters()).unwrap();
    let made: usize = built.funnel.rows.iter().map(|row| row.calls).sum();
    let books = [book("story", "The Key", STORY)];
    let stages = with_setting(async |settings| {
        let cut = closeread_build::hamlet::chunks(&books, settings.tokenizer, 24).unwrap();
        cost(settings, &books, &cut, &parameters()).unwrap()
    });
    let n: u64 = stages.iter().map(|stage| stage.cost.n().low).sum();
    assert_eq!(n, made as u64);
    assert!(stages.iter().all(|stage| stage.cost.n().high == 2 * stage.cost.n().low && stage.cost.prompt().low > 0));
}

#[test]
fn chunk_sizes_are_rated_by_each_judge_and_averaged() {
    let judge = |scores: [u8; 3]| {
        let response =
            json!({"HKF_validity": scores[0], "Content_coherence": scores[1], "Cross_content_reasoning": scores[2]})
                .to_string();
        ScriptedHost::scripted(move |_, _| Ok(response.clone()))
    };
    let (strict, mild) = (judge([1, 2, 3]), judge([3, 4, 5]));
    let books = [book("story", "The Key", STORY)];
    let tables = with_setting(async |settings| {
        let units = study_chunks(&books, settings.tokenizer, &[16, 100], 2, 2, 1).unwrap();
        let store = Memory::default();
        study(&[&strict, &mild], settings, Building::new(&store, 2, None), &books, &units).await.unwrap()
    });
    let rows: Vec<String> =
        tables[0].rows.iter().map(|row| row.iter().map(Cell::shown).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(rows, ["16 2.00 3.00 4.00 2", "100 2.00 3.00 4.00 1"]);
}
