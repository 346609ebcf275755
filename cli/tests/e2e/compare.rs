//! `closeread compare`, as a user meets it.

use crate::support::{Sandbox, rewrite_lines, run_tales, tales};
use expect_test::expect;
use serde_json::{Value, json};

fn two_runs() -> Sandbox {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "blind", &["--method", "closed-book"]);
    run_tales(&sandbox, "seeing", &["--method", "dos-rag", "--budget", "30"]);
    sandbox
}

#[test]
fn two_runs_of_one_cell_each() {
    let ended = two_runs().run(&["compare", "blind", "seeing"]).exits(0);
    expect![[r#"
        seeing scores 91.7 points more than blind by accuracy [+70.2, +100.0] on the same 12 items, p = 0.0001: more than chance would explain.

        accuracy: A = blind, B = seeing
        items          n  books     A      B               difference       p  p (Holm)
        -------------------------------------------------------------------------------
        all           12      6   8.3  100.0    +91.7 [+70.2, +100.0]  0.0001         -
        asked: again   6      6  16.7  100.0    +83.3 [+40.5, +100.0]  0.0041    0.0082
        asked: first   6      6   0.0  100.0  +100.0 [+36.3, +100.0]*  0.0313    0.0313
        p: t test on the difference, clustered by book; only A right 0, only B right 11, McNemar p = 0.0010; permutation p = 0.031; bootstrap [+75.0, +100.0]
        p (Holm): corrected over all values of all labels
        * 95% interval over items: fewer than five books to cluster by, or scores all alike
        B right and A wrong on 11 items: t0-1, t0-2, t1-1, t2-1, t2-2, t3-1, t3-2, t4-1, t4-2, t5-1, t5-2
        A right and B wrong on 0 items

        seeing scores 52.3 points more than blind by F1 [+45.3, +59.4] on the same 6 items, p < 0.0001: more than chance would explain.

        F1: A = blind, B = seeing
        items  n  books    A     B            difference        p  p (Holm)
        -------------------------------------------------------------------
        all    6      6  0.0  52.3  +52.3 [+45.3, +59.4]  <0.0001         -
        p: t test on the difference, clustered by book; permutation p = 0.031; bootstrap [+47.8, +56.9]
        B better on 6 items: t4-3 (0.0 -> 61.5), t0-3 (0.0 -> 54.5), t2-3 (0.0 -> 54.5), t5-3 (0.0 -> 54.5), t1-3 (0.0 -> 44.4), t3-3 (0.0 -> 44.4)
        A better on 0 items
    "#]].assert_eq(&ended.out());
    assert_eq!(ended.err(), "");
}

#[test]
fn two_cells_of_one_run() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "vanilla-rag,dos-rag", "--budget", "15,30"]);
    let ended = sandbox.run(&["compare", "r", "--method", "vanilla-rag,dos-rag", "--metric", "accuracy"]).exits(0);
    expect![[r#"
        Paired differences, accuracy
        A                  B               n  books  A scores  B scores                B - A       p  p (Holm)
        ------------------------------------------------------------------------------------------------------
        vanilla-rag at 15  dos-rag at 15  12      6     100.0     100.0  0.0 [-14.0, +14.0]*  1.0000    1.0000
        vanilla-rag at 30  dos-rag at 30  12      6     100.0     100.0  0.0 [-14.0, +14.0]*  1.0000    1.0000
        By accuracy none of the 2 pairs can be told apart once p is corrected for 2 tests.
        Items that both cells scored; p: t test clustered by book; with fewer than five books McNemar's exact test, or a permutation test where scores are not all 0 or 1; p (Holm): corrected over the 2 rows
        * 95% interval over items: fewer than five books to cluster by, or scores all alike

        Name one cell by --method, --model and --budget to see labels, items and a conclusion; --json has all.
    "#]].assert_eq(&ended.out());
    let one = ["compare", "r", "--method", "dos-rag", "--budget", "15,30", "--metric", "f1", "--group-by", "asked"];
    expect![[r#"
        dos-rag at 30 and dos-rag at 15 score the same on each of the 6 items by F1: this run cannot tell them apart, and leaves room for a difference from -24.5 to +24.5 points.

        F1: A = dos-rag at 15, B = dos-rag at 30
        items         n  books     A     B           difference       p  p (Holm)
        -------------------------------------------------------------------------
        all           6      6  52.3  52.3  0.0 [-24.5, +24.5]*  1.0000         -
        asked: first  6      6  52.3  52.3  0.0 [-24.5, +24.5]*  1.0000    1.0000
        p: permutation test over items; permutation p = 1.000; bootstrap [0.0, 0.0]
        p (Holm): corrected over all values of all labels
        * 95% interval over items: fewer than five books to cluster by, or scores all alike
        B right and A wrong on 0 items
        A right and B wrong on 0 items
    "#]].assert_eq(&sandbox.run(&one).exits(0).out());
    sandbox.run(&["compare", "r"]).refuses(&["several cells", "dos-rag at 30", "--method vanilla-rag,dos-rag"]);
    sandbox.run(&["compare", "r", "--method", "dos-rag", "--budget", "15"]).refuses(&["dos-rag at 15 is one cell"]);
    sandbox.run(&["compare", "r", "r", "--budget", "16"]).refuses(&["no cell", "vanilla-rag at 15"]);
    sandbox.run(&["compare", "r", "--budget", "15,30", "--metric", "rouge"]).refuses(&["`rouge`", "accuracy, f1"]);
}

#[test]
fn a_method_without_a_budget_is_compared_with_each_budget_of_another() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let run =
        ["run", "--benchmark", "tales", "--method", "closed-book,dos-rag", "--budget", "15,30", "--retriever", "bm25"];
    sandbox.run(&[&run[..], &["--out", "r"]].concat()).exits(0);
    let budgets = |more: &[&str]| {
        let line = ["compare", "r", "--method", "closed-book,dos-rag", "--metric", "accuracy", "--json"];
        let json = sandbox.run(&[&line[..], more].concat()).exits(0).json();
        let of = |one: &Value| (one["cell_a"]["budget"].clone(), one["cell_b"]["budget"].clone());
        json["comparisons"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(budgets(&[]), [(Value::Null, json!(15)), (Value::Null, json!(30))]);
    assert_eq!(budgets(&["--budget", "30"]), [(Value::Null, json!(30))]);
    let alone = ["compare", "r", "--method", "closed-book", "--budget", "30"];
    sandbox.run(&alone).refuses(&["no cell", "closed-book"]);
}

#[test]
fn json_has_every_number_and_every_id() {
    let json = two_runs().run(&["compare", "blind", "seeing", "--json"]).exits(0).json();
    assert_eq!((&json["a"]["name"], &json["b"]["name"]), (&json!("blind"), &json!("seeing")));
    let comparisons = json["comparisons"].as_array().unwrap();
    let metrics: Vec<&Value> = comparisons.iter().map(|c| &c["metric"]).collect();
    assert_eq!(metrics, ["accuracy", "f1"], "a closed book has no evidence recall");
    let accuracy = &comparisons[0];
    assert_eq!((&accuracy["cell_a"]["method"], &accuracy["cell_b"]["budget"]), (&json!("closed-book"), &json!(30)));
    let number =
        |pointer: &str| accuracy.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"));
    assert_eq!(number("/overall/n"), 12.0);
    let difference = number("/overall/mean_b") - number("/overall/mean_a");
    assert!((number("/overall/difference") - difference).abs() < 1e-12);
    assert!(number("/overall/low") <= difference && difference <= number("/overall/high"));
    let flips = accuracy["gained"].as_array().unwrap().len() as f64 - accuracy["lost"].as_array().unwrap().len() as f64;
    assert!((flips / 12.0 - difference).abs() < 1e-12, "gained minus lost is the difference");
    for group in ["/by/asked/first", "/by/asked/again"] {
        assert_eq!(number(&format!("{group}/n")), 6.0);
        assert!(number(&format!("{group}/p_holm")) >= number(&format!("{group}/p_value")));
    }
}

#[test]
fn items_that_are_not_the_same_are_named_and_left_out() {
    let sandbox = two_runs();
    run_tales(&sandbox, "some", &["--method", "dos-rag", "--budget", "30", "--limit", "10"]);
    let ended = sandbox.run(&["compare", "blind", "some", "--metric", "accuracy"]).exits(0);
    assert!(ended.out().contains("not compared, only in A, 5: t3-2, t4-1, t4-2"), "{}", ended.out());
    rewrite_lines(&sandbox, "some/items.jsonl", |item| {
        if item["id"] == "t0-1" {
            item["correct"] = json!(1);
        }
    });
    let ended = sandbox.run(&["compare", "blind", "some", "--metric", "accuracy"]).exits(1);
    assert!(ended.out().contains("another question or gold answer, 1: t0-1"), "{}", ended.out());
}

#[test]
fn documents_whose_texts_differ_are_named() {
    let sandbox = two_runs();
    rewrite_lines(&sandbox, "tales/documents.jsonl", |document| {
        if document["id"] == "tale-3" {
            document["text"] = json!("It rained for a week. Dov had found a torn map, and kept it.");
        }
    });
    run_tales(&sandbox, "later", &["--method", "dos-rag", "--budget", "30"]);
    let note = "different texts under the same id: `tale-3`;";
    for two in [
        &["compare", "blind", "later"][..],
        &["compare", "blind", "later", "--method", "closed-book,dos-rag"],
        &["report", "seeing", "later"],
    ] {
        let ended = sandbox.run(two).exits(0);
        assert!(format!("{}{}", ended.out(), ended.err()).contains(note), "{two:?}: {}", ended.out());
    }
    assert!(!sandbox.run(&["report", "seeing", "blind"]).exits(0).out().contains("different texts"));
}

#[test]
fn score_files_are_compared_with_each_other_and_with_runs() {
    let sandbox = two_runs();
    let file = |accuracy: [f64; 3]| {
        let item = |(n, score): (usize, f64)| {
            json!({"id": format!("t{n}-1"), "outcome": if n == 2 { "missing" } else { "answered" },
                "documents": [format!("tale-{n}")], "scores": {"accuracy": score}})
        };
        json!({"n": 3, "items": accuracy.into_iter().enumerate().map(item).collect::<Vec<_>>()}).to_string()
    };
    sandbox.write("one.json", file([1.0, 0.0, 0.0]));
    sandbox.write("two.json", file([1.0, 1.0, 0.0]));
    let ended = sandbox.run(&["compare", "one.json", "two.json", "--json"]).exits(0).json();
    let comparison = &ended["comparisons"][0];
    assert_eq!((&comparison["overall"]["n"], &comparison["gained"][0]["id"]), (&json!(3), &json!("t1-1")));
    assert_eq!(comparison["by"], json!({}));
    let with_gold = ["compare", "one.json", "two.json", "--gold", "tales", "--group-by", "asked", "--json"];
    assert_eq!(sandbox.run(&with_gold).exits(0).json()["comparisons"][0]["by"]["asked"]["first"]["n"], 3);
    let mixed = sandbox.run(&["compare", "one.json", "seeing", "--json"]).exits(0).json();
    assert_eq!(mixed["comparisons"][0]["overall"]["n"], 3, "what is missing is wrong");
    assert_eq!(mixed["comparisons"][0]["unpaired"]["only_b"].as_array().unwrap().len(), 9);
}

#[test]
fn score_files_say_whether_they_are_whole_and_how_they_cut_chinese() {
    let sandbox = Sandbox::new();
    let file = |complete: bool, chinese: &str| {
        let items = json!([{"id": "a", "documents": ["b"], "scores": {"f1": 0.5}}]);
        json!({"n": 1, "complete": complete, "chinese": chinese, "items": items}).to_string()
    };
    sandbox.write("whole.json", file(true, "reference"));
    sandbox.write("part.json", file(false, "reference"));
    sandbox.write("characters.json", file(true, "chinese_characters"));
    let part = sandbox.run(&["compare", "whole.json", "part.json"]).exits(1);
    assert!(part.out().contains("part.json: INCOMPLETE: items are missing"), "{}", part.out());
    let other = sandbox.run(&["compare", "whole.json", "characters.json"]).exits(0);
    assert!(other.out().contains("cut Chinese and Japanese into words in different ways"), "{}", other.out());
    sandbox.write("again.json", file(true, "reference"));
    assert!(!sandbox.run(&["compare", "whole.json", "again.json"]).exits(0).out().contains("different ways"));
}

#[test]
fn what_is_no_run_is_refused_with_what_is_expected() {
    let sandbox = Sandbox::new();
    sandbox.write("empty/x", "");
    sandbox.write("bad.json", "{\"n\": 1}");
    sandbox.write("twice.json", r#"{"items":[{"id":"a","scores":{}},{"id":"a","scores":{}}]}"#);
    sandbox.write("percent.json", r#"{"items":[{"id":"a","scores":{"f1":66.7}}]}"#);
    sandbox.write("plain.json", r#"{"items":[{"id":"a","f1":66.7,"n_tokens":7}]}"#);
    for name in ["percent.json", "plain.json"] {
        sandbox.run(&["compare", name, "empty"]).refuses(&[name, "`f1`", "66.7", "from 0 to 1"]);
    }
    let one = r#"{"items":[{"id":"a","f1":1,"n_tokens":7}]}"#;
    let wide: Vec<u8> = [0xFEFF].into_iter().chain(one.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    sandbox.write("one.json", one);
    sandbox.write("wide.json", wide);
    let told = sandbox.run(&["compare", "one.json", "wide.json"]).exits(0);
    assert!(told.out().contains("on each of the 1 item by F1"), "as PowerShell saves it: {}", told.out());
    sandbox.run(&["compare", "nowhere", "empty"]).refuses(&["nowhere", "run folder", "closeread score --json"]);
    sandbox.run(&["compare", "bad.json", "empty"]).refuses(&["bad.json", "closeread score --json"]);
    sandbox.run(&["compare", "twice.json", "empty"]).refuses(&["twice.json", "`a`", "each item once"]);
    sandbox.run(&["compare", "a", "b", "--method", "x,y,z"]).refuses(&["--method", "one or two"]);
}

#[test]
fn summaries_that_different_judges_judged_are_told() {
    let sandbox = Sandbox::new();
    let run = ["run", "--items", "en-kf-01,en-kf-02,en-kf-03", "--method", "query-summary", "--judge-model"];
    sandbox.run(&[&run[..], &["builtin/rule", "--out", "chunk"]].concat()).exits(0);
    sandbox.run(&["merge", "chunk", "--out", "book"]).exits(0);
    sandbox.run(&["judge", "book", "--judge-model", "builtin/rule", "--reference", "book"]).exits(0);
    let note = "different judges, on which faithfulness depends: chunk by verify-facts, builtin/rule";
    let compared = |metric: &str| sandbox.run(&["compare", "chunk", "book", "--metric", metric]).exits(0).out();
    assert!(compared("faithfulness").contains(note), "{}", compared("faithfulness"));
    assert!(!compared("recall").contains("different judges"), "the facts are aligned with the same text");
    let gate = ["gate", "book", "--no-worse-than", "chunk", "--metric", "faithfulness", "--margin", "100"];
    assert!(sandbox.run(&gate).err().contains(note));
    let told = sandbox.run(&["report", "chunk", "book"]).exits(0).out();
    assert!(told.contains("on which faithfulness depends") && !told.contains("judge-sagascale"), "{told}");
}

#[test]
fn answers_that_different_judges_judged_are_told() {
    let sandbox = two_runs();
    let judge = |run: &str, judge: &str| {
        sandbox.run(&["judge", run, "--judge", judge, "--judge-model", "builtin/rule"]);
    };
    let said = |two: &[&str]| {
        let ended = sandbox.run(two).exits(0);
        format!("{}{}", ended.out(), ended.err())
    };
    let compare = ["compare", "blind", "seeing", "--metric", "judged_accuracy"];
    judge("blind", "judge-novelqa");
    judge("seeing", "judge-novelqa");
    assert!(
        !said(&compare).contains("different judges")
            && !said(&["report", "blind", "seeing"]).contains("different judges")
    );
    judge("seeing", "judge-sagascale");
    for two in [&compare[..], &["report", "blind", "seeing"]] {
        let said = said(two);
        assert!(said.contains("different judges") && said.contains("seeing by judge-sagascale"), "{said}");
    }
}
