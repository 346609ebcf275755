//! A competition for Codabench: pages, phases, the gold as reference data, and a scorer.
//!
//! The layout is that of codalab/codabench's documentation (Yaml-Structure, Competition-Bundle-Structure, 2026-03): the scoring
//! program is started as `metadata.yaml` says and reads `input/ref` and `input/res`, and what it writes into `output/scores.json`
//! fills the leaderboard's columns.

use super::{Entry, letter};
use closeread_eval::{Item, PUBLISHED, Task};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The description of a competition: what it is called and when it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Competition {
    /// Title of the competition.
    pub title: String,
    /// First day of the competition, `2026-12-01`.
    pub start: String,
    /// Metrics of the leaderboard, the one that ranks first.
    pub metrics: Vec<String>,
    /// Whether the metrics were chosen, and count for every item. Otherwise an item's task says which do.
    pub are_chosen: bool,
    /// The container that the scoring program runs in.
    pub image: String,
}

/// The file in the scoring program that is started.
pub const PROGRAM: &str = "closeread";
/// The name of a submission's file in its archive.
pub const PREDICTIONS: &str = "predictions.jsonl";

/// The files of the bundle, all but `scoring_program.zip`'s [`PROGRAM`]: archives stand as folders, which the caller packs.
pub fn bundle(competition: &Competition, items: &[Item]) -> Vec<Entry> {
    let public: Vec<u8> = items.iter().flat_map(|item| line(&asked(item))).collect();
    let gold: Vec<u8> = items.iter().flat_map(|item| line(&with_gold(item))).collect();
    let metrics = match competition.are_chosen {
        true => format!(" --metric {}", competition.metrics.join(",")),
        false => String::new(),
    };
    let command = format!("command: /app/program/{PROGRAM} score --codabench /app/input /app/output{metrics}\n");
    let entry = |name: &str, bytes: Vec<u8>| Entry { name: name.to_owned(), bytes };
    vec![
        entry("competition.yaml", yaml(competition).into_bytes()),
        entry("logo.png", LOGO.to_vec()),
        entry("overview.md", overview(competition, items).into_bytes()),
        entry("evaluation.md", evaluation(competition).into_bytes()),
        entry(
            "terms.md",
            b"# Terms\n\nAnswers must come from the system that is submitted. Do not publish the gold answers.\n"
                .to_vec(),
        ),
        entry("scoring_program/metadata.yaml", command.into_bytes()),
        entry("reference_data/items.jsonl", gold),
        entry("public_data/items.jsonl", public),
        entry("starting_kit/README.md", starting_kit().into_bytes()),
        entry("starting_kit/predictions.jsonl", items.iter().flat_map(|item| line(&example(item))).collect()),
    ]
}

fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// An item as the scorer needs it: fields of one's own may hold the text of a book.
fn with_gold(item: &Item) -> Value {
    let mut item = item.clone();
    item.other.retain(|name, _| PUBLISHED.contains(&name.as_str()));
    json!(item)
}

/// An item without its gold, with the line that says that it is test data.
fn asked(item: &Item) -> Value {
    let mut asked = json!({"id": item.id, "documents": item.documents, "question": item.question, "task": item.task});
    if !super::options(item).is_empty() {
        asked["options"] = json!(super::options(item));
    }
    if let Some(canary) = item.other.get("canary") {
        asked["canary"] = canary.clone();
    }
    asked
}

fn example(item: &Item) -> Value {
    match item.task {
        Task::Choice => json!({"item": item.id, "choice": 0}),
        Task::Generative | Task::Summary => json!({"item": item.id, "answer": ""}),
    }
}

fn yaml(competition: &Competition) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let Competition { title, start, metrics, image, .. } = competition;
    let columns: String = metrics
        .iter()
        .enumerate()
        .map(|(n, metric)| {
            format!("      - title: {}\n        key: {metric}\n        index: {n}\n        sorting: desc\n        precision: 4\n", quoted(metric))
        })
        .collect();
    format!(
        "version: 2\ntitle: {}\ndescription: \"Questions on whole books, scored by closeread\"\nimage: logo.png\nterms: terms.md\n\
         docker_image: {}\nenable_detailed_results: true\nauto_run_submissions: true\n\
         pages:\n  - title: Overview\n    file: overview.md\n  - title: Evaluation\n    file: evaluation.md\n\
         phases:\n  - index: 0\n    name: Answers\n    description: \"Submit answers\"\n    start: {}\n    accepts_only_result_submissions: true\n    \
         execution_time_limit: 1200\n    max_submissions_per_day: 5\n    tasks: [0]\n    starting_kit: starting_kit.zip\n    public_data: public_data.zip\n\
         tasks:\n  - index: 0\n    name: Answers\n    description: \"Answers against gold\"\n    is_public: false\n    \
         scoring_program: scoring_program.zip\n    reference_data: reference_data.zip\n\
         leaderboards:\n  - index: 0\n    title: Results\n    key: results\n    submission_rule: \"Add\"\n    columns:\n{columns}",
        quoted(title),
        quoted(image),
        quoted(start)
    )
}

fn overview(competition: &Competition, items: &[Item]) -> String {
    let documents: BTreeSet<&String> = items.iter().flat_map(|item| &item.documents).collect();
    format!(
        "# {}\n\n{} questions on {} documents. Read the documents whole or retrieve from them; submit one answer a question.\n",
        competition.title,
        items.len(),
        documents.len()
    )
}

fn evaluation(competition: &Competition) -> String {
    let metrics: String = competition.metrics.iter().map(|metric| format!("- `{metric}`\n")).collect();
    format!(
        "# Evaluation\n\nSubmit a ZIP archive with one file, `{PREDICTIONS}`: a JSON object a line.\n\n    \
         {{\"item\": \"q1\", \"answer\": \"in the mill\"}}\n    {{\"item\": \"q2\", \"choice\": 1}}\n\n\
         `choice` counts options from 0, `{}` first. An item without a line counts as wrong. Scores are from 0 to 1:\n\n{metrics}\n\
         The detailed results hold every score with its 95% interval, clustered by document, and each line that could not be used.\n",
        letter(0)
    )
}

fn starting_kit() -> String {
    format!(
        "# Starting kit\n\n`{PREDICTIONS}` has a line for every question: fill in `answer` or `choice`, zip the file, submit it.\n"
    )
}

/// A grey square of one pixel: the platform wants an image.
const LOGO: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b, 0x55, 0x00, 0x00, 0x00, 0x0a, 0x49,
    0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00,
    0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_ones_own_go_to_no_platform() {
        let mut item = Item::new("q", "b", "Who?", Task::Generative);
        item.answers = vec!["Ana".to_owned()];
        for name in ["context", "canary", "language"] {
            item.other.insert(name.to_owned(), json!("x"));
        }
        let (title, start, image) = ("T".to_owned(), "2026-12-01".to_owned(), String::new());
        let files = bundle(&Competition { title, start, metrics: Vec::new(), are_chosen: false, image }, &[item]);
        let of = |name: &str| files.iter().find(|file| file.name == name).map(|file| &*file.bytes);
        let gold = String::from_utf8_lossy(of("reference_data/items.jsonl").unwrap());
        assert!(["Ana", "canary", "language"].iter().all(|kept| gold.contains(kept)), "{gold}");
        assert!(!gold.contains("context"), "{gold}");
    }
}
