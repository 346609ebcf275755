//! F1 and ROUGE-L against the reference implementations (`text_metrics.json` of the shared vectors).

#![allow(clippy::disallowed_methods, reason = "a test reads files; the core it tests does not")]

use closeread_core::metric::{best_over, character_f1, rouge_l, token_f1};
use serde_json::Value;

#[test]
fn f1_and_rouge_l_agree_with_the_references() {
    let Ok(folder) = std::env::var("CLOSEREAD_VECTORS") else {
        eprintln!("skipped: f1_and_rouge_l_agree_with_the_references needs CLOSEREAD_VECTORS");
        return;
    };
    let Ok(text) = std::fs::read_to_string(format!("{folder}/text_metrics.json")) else {
        eprintln!("skipped: f1_and_rouge_l_agree_with_the_references: no text_metrics.json in {folder}");
        return;
    };
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    let mut wrong = Vec::new();
    for case in cases {
        let prediction = case["prediction"].as_str().unwrap();
        let references: Vec<String> =
            case["references"].as_array().unwrap().iter().map(|r| r.as_str().unwrap().to_owned()).collect();
        let mut check = |name: &str, ours: f64, theirs: &Value| {
            if theirs.as_f64().is_some_and(|theirs| (ours - theirs).abs() > 1e-9) {
                wrong.push(format!("{} {name}: {ours} instead of {theirs}", case["id"]));
            }
        };
        let expected = &case["expected"];
        check("squad_v1", best_over(&references, |r| token_f1(prediction, r)), &expected["squad_v1"]["f1"]);
        check("zh", best_over(&references, |r| character_f1(prediction, r)), &expected["infinitebench_zh_f1"]);
        check("rougeL", best_over(&references, |r| rouge_l(prediction, r)), &expected["rouge"]["rougeL"]["fmeasure"]);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
