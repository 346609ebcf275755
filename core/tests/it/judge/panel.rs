//! Laws of panels.

use closeread_eval::{Item, Outcome, Paper};
use closeread_judges::{
    BUILTIN_RULE, FactRuling, Judge, Judging, Panel, PanelRule, PanelVerdict, Reference, Ruling, SentenceRuling,
    Verdict,
};
use closeread_report::paper::hamlet::ErrorCategory;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

fn panel(models: &[&str], votes: u32, rule: PanelRule) -> Panel {
    Panel {
        models: models.iter().map(|model| (*model).to_owned()).collect(),
        votes,
        rule,
        judges: Vec::new(),
        paper: Paper::SagaScale,
        temperature: 0.0,
        max_output_tokens: 1024,
        base_url: None,
        seed: None,
        extra_body: BTreeMap::new(),
        prompts: BTreeMap::new(),
        reference: Reference::Chunk,
    }
}

fn says(correct: bool) -> Verdict {
    Verdict::Ruled { ruling: Ruling::Correctness { correct } }
}

fn verdict(rule: PanelRule, judge: Judge, verdicts: &[Verdict]) -> PanelVerdict {
    let members: Vec<Option<&Verdict>> = verdicts.iter().map(Some).collect();
    panel(&["p/x"], 1, rule).verdict(judge, &members)
}

fn correct(verdict: &PanelVerdict) -> Option<bool> {
    match verdict {
        PanelVerdict::Ruled(Ruling::Correctness { correct }) => Some(*correct),
        _ => None,
    }
}

fn vote() -> impl Strategy<Value = Verdict> {
    prop_oneof![3 => Just(says(true)), 3 => Just(says(false)), 1 => Just(Verdict::Unparsed)]
}

fn rules() -> impl Strategy<Value = PanelRule> {
    prop_oneof![Just(PanelRule::Majority), Just(PanelRule::Unanimity)]
}

proptest! {
    #[test]
    fn the_order_of_votes_changes_nothing(votes in prop::collection::vec(vote(), 1..7), rule in rules(), by in 0usize..7) {
        let mut turned = votes.clone();
        turned.rotate_left(by % votes.len());
        for judge in [Judge::SagaScale, Judge::CorpusQa] {
            prop_assert_eq!(verdict(rule, judge, &votes), verdict(rule, judge, &turned));
        }
    }

    #[test]
    fn one_more_yes_never_makes_it_wrong(votes in prop::collection::vec(vote(), 1..7), rule in rules()) {
        let before = correct(&verdict(rule, Judge::NovelQa, &votes));
        let more: Vec<Verdict> = votes.into_iter().chain([says(true)]).collect();
        if before == Some(true) {
            prop_assert_eq!(correct(&verdict(rule, Judge::NovelQa, &more)), Some(true));
        }
    }

    #[test]
    fn unanimity_is_stricter_than_majority(votes in prop::collection::vec(vote(), 1..7)) {
        let by = |rule| correct(&verdict(rule, Judge::SagaScale, &votes));
        prop_assert!(by(PanelRule::Unanimity) != Some(true) || by(PanelRule::Majority) == Some(true));
    }

    #[test]
    fn a_panel_of_one_says_what_its_member_says(yes in any::<bool>(), rule in rules()) {
        for judge in [Judge::SagaScale, Judge::NovelQa, Judge::CorpusQa] {
            prop_assert_eq!(correct(&verdict(rule, judge, &[says(yes)])), Some(yes));
        }
    }
}

#[test]
fn a_tie_is_no_majority_and_silence_is_no_vote_except_with_corpusqa() {
    let tie = [says(true), says(false)];
    assert_eq!(correct(&verdict(PanelRule::Majority, Judge::SagaScale, &tie)), Some(false));
    let silent = [says(true), Verdict::Unparsed];
    assert_eq!(correct(&verdict(PanelRule::Unanimity, Judge::SagaScale, &silent)), Some(true));
    assert_eq!(correct(&verdict(PanelRule::Majority, Judge::CorpusQa, &silent)), Some(false));
    let failed = [Verdict::Failed { error: "500".into() }];
    assert_eq!(verdict(PanelRule::Majority, Judge::NovelQa, &failed), PanelVerdict::Silent);
    assert_eq!(correct(&verdict(PanelRule::Majority, Judge::CorpusQa, &failed)), Some(false));
    assert_eq!(
        panel(&["p/x"], 2, PanelRule::Majority).verdict(Judge::NovelQa, &[Some(&says(true)), None]),
        PanelVerdict::Pending
    );
}

fn sentences(categories: &[Option<ErrorCategory>]) -> Verdict {
    let ruling = |category: &Option<ErrorCategory>| {
        category.map(|category| SentenceRuling { category, reason: category.name().to_owned() })
    };
    Verdict::Ruled { ruling: Ruling::Sentences { sentences: categories.iter().map(ruling).collect() } }
}

#[test]
fn each_sentence_is_voted_on() {
    use ErrorCategory::{Entity, NoError, OutOfArticle, Relation};
    let votes = [
        sentences(&[Some(NoError), Some(Entity), None, Some(NoError)]),
        sentences(&[Some(NoError), Some(Relation), None, Some(Entity)]),
        sentences(&[Some(OutOfArticle), Some(NoError), Some(NoError), None]),
    ];
    let by = |rule| match verdict(rule, Judge::VerifyFacts, &votes) {
        PanelVerdict::Ruled(Ruling::Sentences { sentences }) => {
            sentences.into_iter().map(|s| s.map(|s| s.category)).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    // Of two errors named once the earlier of Table 14's order; one of two votes is no majority.
    assert_eq!(by(PanelRule::Majority), [Some(NoError), Some(Relation), Some(NoError), Some(Entity)]);
    assert_eq!(by(PanelRule::Unanimity), [Some(OutOfArticle), Some(Relation), Some(NoError), Some(Entity)]);
}

#[test]
fn a_fact_is_stated_by_the_sentences_that_most_name() {
    let fact = |stated: bool, lines: &[usize]| Verdict::Ruled {
        ruling: Ruling::KeyFacts { facts: vec![Some(FactRuling { stated, sentences: lines.to_vec() })] },
    };
    let votes = [fact(true, &[1, 2]), fact(true, &[2]), fact(false, &[])];
    let by = |rule| match verdict(rule, Judge::AlignKeyFacts, &votes) {
        PanelVerdict::Ruled(Ruling::KeyFacts { facts }) => facts[0].clone().unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(by(PanelRule::Majority), FactRuling { stated: true, sentences: vec![2] });
    assert_eq!(by(PanelRule::Unanimity), FactRuling { stated: false, sentences: vec![] });
}

#[test]
fn a_setup_changes_with_whatever_changes_a_response() {
    let base = panel(&["p/x", BUILTIN_RULE], 3, PanelRule::Majority);
    let setup = |panel: &Panel| panel.setup(Judge::NovelQa, "p/x");
    let mut other = base.clone();
    other.rule = PanelRule::Unanimity;
    other.models.push("p/y".into());
    other.votes = 5;
    assert_eq!(setup(&base), setup(&other), "who else votes, and how votes are counted, changes no response");
    for change in [
        (|p| p.temperature = 0.7) as fn(&mut Panel),
        |p| p.max_output_tokens = 9,
        |p| p.base_url = Some("http://h/v1".into()),
        |p| p.seed = Some(1),
        |p| drop(p.prompts.insert(Judge::NovelQa, "sha".into())),
        |p| drop(p.extra_body.insert(Judge::NovelQa, serde_json::Map::new())),
    ] {
        let mut changed = base.clone();
        change(&mut changed);
        assert_ne!(setup(&base), setup(&changed));
    }
    assert_eq!(base.members(), [("p/x", 0), ("p/x", 1), ("p/x", 2), (BUILTIN_RULE, 0)]);
    assert_eq!(base.members_for(Judge::Rule), [(BUILTIN_RULE, 0)]);
    assert!(base.asks(Judge::NovelQaEvidence) && !base.asks(Judge::ClassifyQuestion));
    assert!(!panel(&[BUILTIN_RULE], 1, PanelRule::Majority).asks(Judge::NovelQaEvidence), "no rule marks evidence");
    assert_eq!(base.name(), "p/x + builtin/rule, 3 votes each, majority");
}

#[test]
fn several_judges_of_correct_answers_are_all_asked_and_the_papers_speaks() {
    let open: Item = serde_json::from_value(json!({
        "id": "a", "documents": ["b"], "question": "Who?", "task": "generative", "answers": ["Ana"],
    }))
    .unwrap();
    let answered = Outcome::Answered { answer: "Ben".to_owned(), choice: None };
    let asked = |judges: Vec<Judge>| Panel { judges, ..panel(&["p/x"], 1, PanelRule::Majority) };
    let of = |judges| asked(judges).judges_of(&open, &answered, &[]);
    assert_eq!(of(Vec::new()), [Judge::Rule, Judge::SagaScale]);
    assert_eq!(of(vec![Judge::CorpusQa]), [Judge::CorpusQa], "in the place of the paper's");
    assert_eq!(of(Judge::ALL.to_vec()), [Judge::Rule, Judge::SagaScale, Judge::NovelQa, Judge::CorpusQa]);
    let speaks = |judges| Judging { panels: vec![asked(judges)], judgements: Vec::new() }.correctness().map(|of| of.1);
    assert_eq!(speaks(vec![Judge::CorpusQa, Judge::SagaScale]), Some(Judge::SagaScale));
    assert_eq!(speaks(vec![Judge::CorpusQa, Judge::NovelQa]), Some(Judge::CorpusQa));
    assert_eq!(speaks(vec![Judge::VerifyFacts]), None);
}
