//! `closeread audit`.

use crate::support::Sandbox;
use serde_json::Value;

#[test]
fn our_own_record_is_recomputed() {
    let sandbox = Sandbox::new();
    let findings = sandbox.run(&["audit", "--json"]).exits(0).json();
    let findings = findings.as_array().unwrap();
    assert!(findings.len() >= 80, "{}", findings.len());
    assert!(findings.iter().all(|finding| finding["agrees"].is_boolean()));
    let text = sandbox.run(&["audit"]).exits(0).out();
    let not_following = findings.iter().filter(|finding| finding["agrees"] == false).count();
    assert!(text.ends_with(&format!("{} follow, {not_following} do not\n", findings.len() - not_following)), "{text}");
}

#[test]
fn a_rule_in_unknown_words_is_named_and_nothing_else_is_lost() {
    let sandbox = Sandbox::new();
    let file = sandbox.write(
        "tables.json",
        r#"{"schema": "paper_tables/1", "cases": [
            {"id": "a", "group": "G", "table": "T", "quantity": "q", "inputs": [1, 2], "rule": "sum",
             "paper_value": 4, "tolerance": 0},
            {"id": "b", "group": "G", "table": "T", "quantity": "q", "inputs": [1, 2], "rule": "by inspection",
             "paper_value": 4, "tolerance": 0}]}"#,
    );
    let text = sandbox.run(&["audit", file.to_str().unwrap()]).exits(0).out();
    assert_eq!(
        text,
        "G, T: q\n    printed    4\n    recomputed 3\n\
         b, T: not recomputed: no rule is known for `by inspection` (q) over [1,2]\n\
         0 follow, 1 do not, 1 could not be recomputed\n"
    );
    let error = sandbox.run(&["audit", sandbox.write("x.json", "{}").to_str().unwrap()]).exits(2).err();
    assert!(error.contains("x.json") && error.contains("paper_tables/1"), "{error}");
}

/// Every case of the vectors is in our own record, with the same figures and the same verdict.
#[test]
fn our_own_record_holds_the_cases_of_the_vectors() {
    let Some(folder) = std::env::var_os("CLOSEREAD_VECTORS") else {
        eprintln!("skipped: our_own_record_holds_the_cases_of_the_vectors needs CLOSEREAD_VECTORS");
        return;
    };
    let path = std::path::Path::new(&folder).join("paper_tables.json");
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let own = Sandbox::new().run(&["audit", "--json"]).exits(0).json();
    let own = own.as_array().unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let wanted = numbers(&case["recomputed"]);
        let same = |finding: &&Value| {
            finding["paper"] == case["group"]
                && finding["agrees"] == case["agrees"]
                && holds(&numbers(&finding["recomputed"]), &wanted)
        };
        assert!(own.iter().any(|finding| same(&finding)) || in_parts(own, case), "{}", case["id"]);
    }
}

/// Our record may have one figure where the vectors have several: each of their parts is then one of ours.
fn in_parts(own: &[Value], case: &Value) -> bool {
    let parts = case["recomputed"].as_array().into_iter().flatten().map(numbers);
    let of_paper = |part: &Vec<f64>| {
        own.iter().any(|finding| {
            finding["paper"] == case["group"]
                && finding["agrees"] == case["agrees"]
                && holds(&numbers(&finding["recomputed"]), part)
        })
    };
    let parts: Vec<Vec<f64>> = parts.collect();
    // The last row of a table over positions is its average row.
    parts.len() > 1
        && (parts.iter().all(of_paper)
            || own.iter().any(|finding| {
                let ours = numbers(&finding["recomputed"]);
                holds(&ours, &parts[..parts.len() - 1].concat()) && of_paper(&parts[parts.len() - 1])
            }))
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(elements) => elements.iter().flat_map(numbers).collect(),
        Value::Object(fields) => fields.values().flat_map(numbers).collect(),
        other => other.as_f64().into_iter().collect(),
    }
}

fn holds(ours: &[f64], wanted: &[f64]) -> bool {
    ours.len() == wanted.len() && ours.iter().zip(wanted).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs().max(1.0))
}
