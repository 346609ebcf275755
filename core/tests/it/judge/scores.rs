//! From judgements to scores, and agreement.

use closeread_eval::observations::Score;
use closeread_eval::{Item, Outcome, Paper};
use closeread_judges::{
    ACCURACY_STRICT, ACCURACY_TOLERANT, Agreement, BUILTIN_RULE, Confusion, JUDGED_ACCURACY, Judge, Judgement,
    JudgementKey, Judging, Panel, PanelRule, Ruling, Subject, Submission, SubmittedAnswer, Verdict, among, by_rule,
    label_questions, score, summary_scores,
};
use closeread_methods::record::Record;
use closeread_text::Language;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn panel(models: &[&str]) -> Panel {
    serde_json::from_value(json!({
        "models": models, "votes": 1, "rule": "majority", "paper": Paper::NovelQa, "temperature": 0.0,
        "max_output_tokens": 64, "prompts": {},
    }))
    .unwrap()
}

fn item(id: &str) -> Item {
    serde_json::from_value(json!({
        "id": id, "documents": ["b"], "question": "How many?", "task": "generative", "answers": ["eleven"],
    }))
    .unwrap()
}

fn record(item: &str, outcome: Outcome) -> Record {
    let mut record = json!({
        "item": item, "method": "m", "model": "p/reader", "budget": null, "repeat": 0, "scores": {},
        "prompt_tokens": 0, "calls": [], "seconds": 0.0,
    });
    let Value::Object(outcome) = json!(outcome) else { unreachable!() };
    record.as_object_mut().unwrap().extend(outcome);
    serde_json::from_value(record).unwrap()
}

fn answered(text: &str) -> Outcome {
    serde_json::from_value(json!({"outcome": "answered", "answer": text})).unwrap()
}

fn judgement(panel: &Panel, subject: Subject, judge: Judge, model: &str, verdict: Verdict) -> Judgement {
    let setup = panel.setup(judge, model);
    let key = JudgementKey { subject, judge, judge_model: model.to_owned(), vote: 0, setup };
    Judgement { key, verdict, calls: Vec::new(), blocked_tokens: None }
}

fn ruled(correct: bool) -> Verdict {
    Verdict::Ruled { ruling: Ruling::Correctness { correct } }
}

#[test]
fn an_answer_has_the_score_that_its_judge_gave_it() {
    let panel = panel(&["p/judge"]);
    let items = ["right", "silent", "pending", "missing", "not asked"].map(item);
    let mut records = vec![
        record("right", answered("11")),
        record("silent", answered("12")),
        record("pending", answered("13")),
        record("missing", Outcome::NotFound),
        record("not asked", Outcome::NotAsked { reason: "no summary".to_owned() }),
    ];
    let subject = |n: usize| Subject::from(&records[n].key);
    let judgements = vec![
        judgement(&panel, subject(0), Judge::NovelQa, "p/judge", Verdict::Failed { error: "500".into() }),
        judgement(&panel, subject(0), Judge::NovelQa, "p/judge", ruled(true)),
        judgement(&panel, subject(1), Judge::NovelQa, "p/judge", Verdict::Unparsed),
    ];
    score(&Judging { panels: vec![panel], judgements }, &items, &mut records);
    let scores: Vec<Option<f64>> = records.iter().map(|r| r.scores.get(JUDGED_ACCURACY).copied()).collect();
    assert_eq!(scores, [Some(1.0), None, None, Some(0.0), None], "the later line counts; silence is no score");
    assert!(records[4].scores.is_empty(), "what was not asked is neither right nor wrong");
    assert_eq!(records[3].scores[ACCURACY_TOLERANT], 0.0);
    assert!(!records[2].scores.contains_key(ACCURACY_TOLERANT), "the rule was not asked yet");
}

#[test]
fn without_judges_nothing_is_scored() {
    let mut records = vec![record("a", answered("11")), record("b", Outcome::NotFound)];
    score(&Judging::default(), &[item("a"), item("b")], &mut records);
    assert!(records.iter().all(|record| record.scores.is_empty()));
}

#[test]
fn the_last_panel_speaks() {
    let (first, second) = (panel(&["p/a"]), panel(&["p/b"]));
    let mut records = vec![record("q", answered("11"))];
    let subject = Subject::from(&records[0].key);
    let judgements = vec![
        judgement(&first, subject.clone(), Judge::NovelQa, "p/a", ruled(true)),
        judgement(&second, subject, Judge::NovelQa, "p/b", ruled(false)),
    ];
    score(&Judging { panels: vec![first, second], judgements }, &[item("q")], &mut records);
    assert_eq!(records[0].scores[JUDGED_ACCURACY], 0.0);
}

#[test]
fn the_rule_gives_both_readings() {
    let panel = panel(&[BUILTIN_RULE]);
    let mut records = vec![record("q", answered("11 bells"))];
    let item = item("q");
    let said = SubmittedAnswer::of(&records[0].outcome, &records[0].calls);
    let submission = Submission { item: &item, title: "", language: Language::ENGLISH, said, cited: &[], chunk: "" };
    let verdict = by_rule(Judge::Rule, &submission).unwrap();
    let line = judgement(&panel, Subject::from(&records[0].key), Judge::Rule, BUILTIN_RULE, verdict);
    score(&Judging { panels: vec![panel], judgements: vec![line] }, std::slice::from_ref(&item), &mut records);
    assert_eq!((records[0].scores[ACCURACY_STRICT], records[0].scores[ACCURACY_TOLERANT]), (0.0, 1.0));
}

#[test]
fn a_summary_is_scored_by_level() {
    let panel = panel(&[BUILTIN_RULE]);
    let item: Item = serde_json::from_value(json!({
        "id": "s", "documents": ["b"], "question": "What of the key?", "task": "summary",
        "labels": {"perspective": "narrative"},
        "key_facts": {"document": "b", "start": 0, "end": 9, "roots": [{"fact": "Ana hid the key.",
            "children": [{"fact": "The river took the bridge."}]}]},
    }))
    .unwrap();
    let mut records = vec![record("s", answered("Ana hid the key. Pigs can fly.")), record("s", Outcome::NotFound)];
    records[1].key.repeat = 1;
    let chunk = "Ana hid the key. The river took the bridge.";
    let judgements = [Judge::VerifyFacts, Judge::AlignKeyFacts].map(|judge| {
        let said = SubmittedAnswer::of(&records[0].outcome, &records[0].calls);
        let submission = Submission { item: &item, title: "", language: Language::ENGLISH, said, cited: &[], chunk };
        let verdict = by_rule(judge, &submission).unwrap();
        judgement(&panel, Subject::from(&records[0].key), judge, BUILTIN_RULE, verdict)
    });
    let judging = Judging { panels: vec![panel], judgements: judgements.to_vec() };
    score(&judging, std::slice::from_ref(&item), &mut records);
    let expected = [("faithfulness", 0.5), ("recall", 0.5), ("recall_faithfulness", 0.5)];
    assert_eq!(records[0].scores, expected.map(|(name, score)| (name.to_owned(), score)).into());
    let nothing = ["recall", "recall_faithfulness"].map(|name| (name.to_owned(), 0.0));
    assert_eq!(records[1].scores, nothing.into(), "without a summary nothing is stated, and both count as 0");
    let by_level = summary_scores(&judging.index(), &item, &records[0]);
    let of = |name: &str| by_level[&name.into()];
    let ratio = |hit: u32, of: u32| Score::Ratio { hit, of };
    assert_eq!(
        [of("recall_root"), of("recall_branch"), of("recall_leaf")],
        [(1, 1), (0, 1), (0, 0)].map(|(h, n)| ratio(h, n))
    );
    assert_eq!([of("faithfulness_root"), of("faithfulness_none")], [ratio(1, 1), ratio(0, 1)]);
    assert_eq!([of("extrinsic_errors"), of("intrinsic_errors")], [ratio(1, 1), ratio(0, 1)]);
    let unheard = Judging { judgements: vec![], ..judging };
    let pending = summary_scores(&unheard.index(), &item, &records[0]);
    assert!(pending.values().all(|score| *score == Score::Unjudged), "{pending:?}");
}

#[test]
fn a_question_keeps_the_type_that_its_data_give() {
    let panel = Panel { judges: [Judge::ClassifyQuestion].into_iter().collect(), ..panel(&[BUILTIN_RULE]) };
    let mut items = [item("a"), item("b").label("question_type", "Event")];
    let judgements = items.iter().map(|item| {
        let submission = Submission {
            item,
            title: "",
            language: Language::ENGLISH,
            said: SubmittedAnswer::Nothing,
            cited: &[],
            chunk: "",
        };
        let verdict = by_rule(Judge::ClassifyQuestion, &submission).unwrap();
        judgement(&panel, Subject::question(&item.id), Judge::ClassifyQuestion, BUILTIN_RULE, verdict)
    });
    let judging = Judging { judgements: judgements.collect(), panels: vec![panel] };
    label_questions(&judging, &mut items);
    assert_eq!([&items[0].labels["question_type"], &items[1].labels["question_type"]], ["Quantity", "Event"]);
}

#[test]
fn members_of_a_panel_agree_or_not() {
    let panel = Panel { rule: PanelRule::Majority, ..panel(&["p/a", "p/b"]) };
    let subjects: Vec<Subject> = (0..4).map(|n| Subject::question(format!("q{n}"))).collect();
    let votes = [(true, true), (true, true), (false, false), (true, false)];
    let mut judgements = Vec::new();
    for (subject, (a, b)) in subjects.iter().zip(votes) {
        judgements.push(judgement(&panel, subject.clone(), Judge::SagaScale, "p/a", ruled(a)));
        judgements.push(judgement(&panel, subject.clone(), Judge::SagaScale, "p/b", ruled(b)));
    }
    let judging = Judging { panels: vec![panel.clone()], judgements };
    let agreement = among(&judging.index(), &panel, Judge::SagaScale, &subjects).unwrap();
    assert_eq!((agreement.n, agreement.observed), (4, 0.75));
    assert!((agreement.kappa.unwrap().kappa - 0.5).abs() < 1e-12);
    assert!(agreement.fleiss.is_none());
}

#[test]
fn agreement_wants_two_ratings() {
    assert_eq!(Agreement::of(&[vec![Some("a"), None]]), None);
    let three = [vec![Some("a"), Some("a"), Some("b")], vec![Some("b"), Some("b"), None]];
    let agreement = Agreement::of(&three).unwrap();
    assert_eq!(agreement.n, 2);
    assert!(agreement.kappa.is_none() && agreement.fleiss.is_some());
    let confusion = Confusion::of(&[("yes", "yes"), ("no", "yes"), ("no", "no")]);
    assert_eq!(
        (confusion.labels, confusion.counts),
        (vec!["no".to_owned(), "yes".to_owned()], vec![vec![1, 1], vec![0, 1]])
    );
}

#[test]
fn a_judgement_is_one_flat_line() {
    let panel = panel(&["p/a"]);
    let subject = Subject::from(&record("q", Outcome::NotFound).key);
    let line = judgement(&panel, subject, Judge::NovelQa, "p/a", ruled(true));
    let written = json!(line);
    assert_eq!(written["item"], "q");
    assert_eq!(written["trial"]["method"], "m");
    assert_eq!((&written["judge"], &written["state"]), (&json!("judge-novelqa"), &json!("ruled")));
    assert_eq!(written["ruling"], json!({"kind": "correctness", "correct": true}));
    assert_eq!(serde_json::from_value::<Judgement>(written).unwrap(), line);
    let question = judgement(&panel, Subject::question("q"), Judge::ClassifyQuestion, "p/a", Verdict::Unparsed);
    assert_eq!(serde_json::from_value::<Judgement>(json!(question)).unwrap(), question);
    let _: BTreeMap<String, Value> = serde_json::from_value(json!(question)).unwrap();
}
