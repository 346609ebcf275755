//! Tables 2 and 3, from files of labels.

use super::data::read;
use crate::schema::raters;
use closeread_judges::RaterLabels;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Judgement {
    fact: String,
    criterion: String,
    filter: String,
    experts: Vec<String>,
    consensus: Option<String>,
}

fn file(head: &str, rows: impl IntoIterator<Item = Vec<String>>) -> Result<RaterLabels, String> {
    let rows: Vec<String> = rows.into_iter().map(|row| row.join(",")).collect();
    raters::read(&format!("{head}\n{}\n", rows.join("\n")), None).map_err(|error| error.to_string())
}

pub(super) fn table_2(asked: &Value, expected: &Value, tolerance: f64) -> Result<(), String> {
    let judgements: Vec<Judgement> = read(asked, "judgements")?;
    let row = |of: &Judgement, rater: &str, label: &str| {
        [&of.fact, &of.criterion, rater, label].map(ToOwned::to_owned).to_vec()
    };
    let experts = judgements.iter().flat_map(|of| {
        let labels = of.experts.iter().enumerate().map(|(n, label)| row(of, &format!("expert-{n}"), label));
        labels.chain(of.consensus.iter().map(|label| row(of, "consensus", label))).collect::<Vec<_>>()
    });
    let experts = file("unit,criterion,rater,label", experts)?;
    let filter = file("unit,criterion,rater,label", judgements.iter().map(|of| row(of, "filter", &of.filter)))?;
    let made = experts.borne_out(&filter);
    for (label, expected) in expected.as_object().ok_or("`expected` is no object")? {
        let mut values = Vec::new();
        for criterion in ["faithfulness", "objectivity", "significance"] {
            let share = made.by_label.get(label).and_then(|by| by.get(criterion)).copied().unwrap_or_default();
            values.extend(share.value());
            let got = json!({"value": share.value(), "hit": share.hit, "of": share.of});
            raters::same(&format!("{label}, {criterion}"), &got, &expected[criterion], tolerance)?;
        }
        let mean = made.mean(label);
        let got = json!({"value": mean, "n": values.len()});
        raters::same(&format!("{label}, mean"), &got, &expected["mean"], tolerance)?;
        let unresolved = made.unresolved.get(label).copied().unwrap_or(0);
        raters::same(&format!("{label}, unresolved"), &json!(unresolved), &expected["unresolved"], tolerance)?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Study {
    units: Vec<Unit>,
    methods: Vec<Method>,
}

#[derive(Deserialize)]
struct Unit {
    id: String,
    task: String,
    gold: u8,
}

#[derive(Deserialize)]
struct Method {
    id: String,
    #[serde(default)]
    crowd: bool,
    labels: BTreeMap<String, Given>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    One(u8),
    Several(Vec<u8>),
}

pub(super) fn table_3(asked: &Value, expected: &Value, tolerance: f64) -> Result<(), String> {
    let study: Study = read(asked, "study")?;
    let gold = study.units.iter().map(|unit| vec![unit.task.clone(), unit.id.clone(), unit.gold.to_string()]);
    let gold = file("group,unit,label", gold)?;
    for method in &study.methods {
        let rows = study.units.iter().flat_map(|unit| {
            let labels = match method.labels.get(&unit.id) {
                Some(Given::One(label)) => vec![*label],
                Some(Given::Several(labels)) => labels.clone(),
                None => Vec::new(),
            };
            let row =
                |(n, label): (usize, u8)| vec![unit.task.clone(), unit.id.clone(), n.to_string(), label.to_string()];
            labels.into_iter().enumerate().map(row).collect::<Vec<_>>()
        });
        // A crowd is three, however many of them labelled anything.
        let said = file("group,unit,rater,label", rows)?.out_of(method.crowd.then_some(3));
        let expected = &expected[&method.id];
        for task in ["recall", "faithfulness"] {
            let of_task = |labels: &RaterLabels| labels.only(|unit| unit.group == task);
            let made = of_task(&gold).against(&said);
            let got = json!({
                "binary": made.binary, "balanced": made.balanced, "n": made.majority.n, "out": made.without_judge,
            });
            let wanted = match expected.get(task) {
                Some(wanted) if study.units.iter().any(|unit| unit.task == task) => wanted.clone(),
                // A task without a unit.
                _ => json!({"binary": null, "balanced": null, "n": 0, "out": 0}),
            };
            raters::same(&format!("{}, {task}", method.id), &got, &wanted, tolerance)?;
            if method.crowd {
                let got = raters::ac1(&of_task(&said));
                raters::same(&format!("AC1, {task}"), &got, &expected["ac1"][task], tolerance)?;
            }
        }
    }
    Ok(())
}
