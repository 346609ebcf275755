//! NoCha: claims with the responses of many model set-ups, one field a set-up.

use super::draft::{Draft, ended};
use super::layout::{Format, FormatError, FormatInput};
use super::read::{field_text, records};
use crate::scoring::{Attempt, Submission};
use closeread_eval::Outcome;
use closeread_eval::answer::Parsed;
use closeread_eval::answer::tag::nocha_verdict;
use closeread_eval::rows::{Row, WrongRow, kind};
use closeread_eval::{InputFile, Item, Task};
use closeread_metrics::Metric;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Reads `data_sample/data_sample.json`.
pub(super) const FORMAT: Format = Format {
    name: "nocha",
    source: "Karpinska et al. 2024, One Thousand and One Pairs; data_sample/ of github.com/marzenakrp/nocha@e796c153c11d",
    wants: "the claims as JSON, each with book_title, claim, type, index and response-<model>",
    tasks: &[],
    systems,
    read,
};

const PREFIX: &str = "response-";
/// The two options of every claim, in the order of the adapter `nocha`.
const OPTIONS: [&str; 2] = ["True", "False"];

/// Reads one claim an item: a choice between True and False, ids `<pair>/<a or b>` in file order, labels `pair` and
/// `book`.
///
/// A response is the first `<answer>true</answer>` or `<answer>false</answer>` in it, whatever case; one without is
/// `unparsed`, and wrong. `SKIPPED`, which stands where the book did not fit, is `overflow`. A claim without the field
/// of the system is `missing`. The main metric is pair accuracy: both claims of a pair right.
///
/// With gold files (claims of the same layout) theirs are the items; a row belongs to the one with its book, pair and
/// claim.
fn read(input: &FormatInput<'_>) -> Result<Submission, FormatError> {
    FORMAT.check(input)?;
    let system = match (systems(input).is_empty(), input.system, input.gold.is_empty()) {
        // No claim has a response: with a gold file, every item is missing.
        (true, None, false) => String::new(),
        _ => FORMAT.system(input)?,
    };
    let key = format!("{PREFIX}{system}");
    let mut draft = Draft::new(&[Metric::PairAccuracy, Metric::Accuracy]);
    let mut gold = Vec::new();
    for file in input.gold {
        for row in draft.keep_gold(records(file)) {
            match claim(&row) {
                Ok(claim) => gold.push((file, row, claim)),
                Err(why) => draft.note(file, Some(row.line), None, why),
            }
        }
    }
    let mut claims = Vec::new();
    for file in input.files {
        for row in draft.keep(records(file)) {
            match claim(&row) {
                Ok(claim) => claims.push((file, row, claim)),
                Err(why) => draft.malformed(file, Some(row.line), None, why),
            }
        }
    }
    let ids = add_items(&mut draft, if input.gold.is_empty() { &claims } else { &gold });
    for (file, row, claim) in &claims {
        match ids.get(claim) {
            Some(id) => response(&mut draft, file, row, &key, id),
            None => draft.unknown(file, Some(row.line), &format!("{}/{}", claim.book, claim.pair)),
        }
    }
    draft.finish(&FORMAT, input)
}

/// Adds an item a claim; the ids by claim. A pair whose number several books use is named by book and number.
fn add_items(draft: &mut Draft, claims: &[(&InputFile, Row, Claim)]) -> BTreeMap<Claim, String> {
    let mut books: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (_, _, claim) in claims {
        books.entry(&claim.pair).or_default().insert(&claim.book);
    }
    let (mut ids, mut sizes) = (BTreeMap::new(), BTreeMap::new());
    for (_, _, claim) in claims {
        if ids.contains_key(claim) {
            continue;
        }
        let is_shared = books[claim.pair.as_str()].len() > 1;
        let pair = if is_shared { format!("{}/{}", claim.book, claim.pair) } else { claim.pair.clone() };
        let size: &mut u8 = sizes.entry(pair.clone()).or_default();
        let id = format!("{pair}/{}", char::from(b'a' + (*size).min(25)));
        *size = size.saturating_add(1);
        draft.item(claim.item(&id, &pair));
        ids.insert(claim.clone(), id);
    }
    ids
}

fn response(draft: &mut Draft, file: &InputFile, row: &Row, key: &str, id: &str) {
    match row.fields.get(key) {
        Some(Value::String(response)) => draft.attempt(file, Some(row.line), id, attempt(response)),
        // A set-up that was not run on this claim: the item is missing.
        None | Some(Value::Null) => {}
        Some(other) => {
            draft.malformed(file, Some(row.line), Some(id), format!("`{key}`: expected text, found {}", kind(other)));
        }
    }
}

fn attempt(response: &str) -> Attempt {
    if response.trim() == "SKIPPED" {
        return ended(Outcome::Overflow { needed: None, context_window: None });
    }
    match nocha_verdict(response) {
        Parsed::Answer(is_true) => {
            let choice = usize::from(!is_true);
            ended(Outcome::Answered { answer: OPTIONS[choice].to_owned(), choice: Some(choice) })
        }
        Parsed::Unparsed => ended(Outcome::Unparsed { response: response.to_owned() }),
    }
}

/// The model set-ups, in the order of first use.
fn systems(input: &FormatInput<'_>) -> Vec<String> {
    let mut systems: Vec<String> = Vec::new();
    let mut known = BTreeSet::new();
    for row in input.files.iter().flat_map(records).flatten() {
        for system in row.fields.keys().filter_map(|key| key.strip_prefix(PREFIX)) {
            if known.insert(system.to_owned()) {
                systems.push(system.to_owned());
            }
        }
    }
    systems
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    book: String,
    pair: String,
    claim: String,
    /// Number of the right option: index into [`OPTIONS`].
    correct: usize,
}

fn claim(row: &Row) -> Result<Claim, WrongRow> {
    let correct = match row.text("type").map(|gold| gold.to_lowercase()).as_deref() {
        Some("true") => 0,
        Some("false") => 1,
        _ => return Err("`type`: expected true or false".into()),
    };
    let pair = row.text("index").ok_or("no `index`: expected the number of the pair")?;
    let claim = field_text(row, &["claim"])?;
    Ok(Claim { book: row.text("book_title").unwrap_or_default(), pair, claim, correct })
}

impl Claim {
    fn item(&self, id: &str, pair: &str) -> Item {
        let question = format!("Is this claim about the book true or false? {}", self.claim);
        let mut item = Item::new(id, &self.book, question, Task::Choice).label("pair", pair).label("book", &self.book);
        if self.book.is_empty() {
            item.documents.clear();
        }
        item.options = OPTIONS.map(str::to_owned).to_vec();
        item.correct = Some(self.correct);
        item.answers = vec![OPTIONS[self.correct].to_owned()];
        item
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, read_system, read_with};
    use super::*;
    use serde_json::json;

    fn claim_of(book: &str, index: u32, gold: bool, responses: serde_json::Value) -> serde_json::Value {
        let mut row = json!({"book_title": book, "claim": format!("Ana came, {gold}."), "type": gold.to_string(), "index": index});
        for (system, response) in responses.as_object().unwrap() {
            row[format!("response-{system}")] = response.clone();
        }
        row
    }

    #[test]
    fn each_set_up_is_a_submission() {
        let claims = json!([
            claim_of("mill", 7, true, json!({"a": "<answer> TRUE\n</answer>", "b": "SKIPPED"})),
            claim_of(
                "mill",
                7,
                false,
                json!({"a": "no <answer>False.</answer>", "b": "<explanation>x</explanation><Answer>false</ANSWER>"})
            ),
        ]);
        let files = [file("c.json", &serde_json::to_string_pretty(&claims).unwrap())];
        assert_eq!(systems(&FormatInput { files: &files, ..FormatInput::default() }), ["a", "b"]);
        let error = read_with(&FORMAT, &files, &[]).unwrap_err().to_string();
        assert_eq!(error, "c.json holds 2 systems: name one of a, b");
        let error = read_system(&FORMAT, &files, "c").unwrap_err().to_string();
        assert_eq!(error, "c.json holds no system `c`: it has a, b");
        let a = read_system(&FORMAT, &files, "a").unwrap();
        check(&a, &["7/a", "7/b"], &[]);
        assert_eq!(a.attempts["7/a"].outcome, Outcome::Answered { answer: "True".into(), choice: Some(0) });
        assert!(matches!(a.attempts["7/b"].outcome, Outcome::Unparsed { .. }));
        assert_eq!((a.items[0].correct, a.items[1].correct), (Some(0), Some(1)));
        assert_eq!(a.items[0].labels["pair"], a.items[1].labels["pair"]);
        let b = read_system(&FORMAT, &files, "b").unwrap();
        assert_eq!(b.attempts["7/a"].outcome, Outcome::Overflow { needed: None, context_window: None });
        assert_eq!(b.attempts["7/b"].outcome, Outcome::Answered { answer: "False".into(), choice: Some(1) });
    }

    #[test]
    fn bad_claims_are_counted_and_pairs_of_two_books_kept_apart() {
        let rows = [
            claim_of("mill", 1, true, json!({"a": "<answer>true</answer>"})).to_string(),
            claim_of("crow", 1, true, json!({"a": 7})).to_string(),
            claim_of("mill", 1, false, json!({})).to_string(),
            claim_of("mill", 1, false, json!({"a": "<answer>true</answer>"})).to_string(),
            claim_of("mill", 1, false, json!({"a": "<answer>false</answer>"})).to_string(),
            json!({"book_title": "mill", "type": "maybe", "index": 1, "claim": "x"}).to_string(),
            json!({"book_title": "mill", "type": true, "claim": "x"}).to_string(),
        ];
        let submission = read_with(&FORMAT, &[file("c.jsonl", &rows.join("\n"))], &[]).unwrap();
        check(
            &submission,
            &["mill/1/a", "crow/1/a", "mill/1/b"],
            &[
                "c.jsonl:6: `type`: expected true or false [left out]",
                "c.jsonl:7: no `index`: expected the number of the pair [left out]",
                "c.jsonl:2 (crow/1/a): `response-a`: expected text, found a number [left out]",
                "c.jsonl:5 (mill/1/b): a second prediction for this item: the first counts [left out]",
            ],
        );
        assert_eq!(submission.attempts.keys().collect::<Vec<_>>(), ["mill/1/a", "mill/1/b"]);
    }

    #[test]
    fn gold_claims_say_what_is_missing() {
        let gold = [file(
            "g.json",
            &json!([claim_of("mill", 1, true, json!({})), claim_of("mill", 1, false, json!({}))]).to_string(),
        )];
        let row = claim_of("mill", 1, false, json!({"a": "<answer>false</answer>"}));
        let other = claim_of("crow", 1, false, json!({"a": "<answer>false</answer>"}));
        let submission = read_with(&FORMAT, &[file("c.jsonl", &row.to_string())], &gold).unwrap();
        check(&submission, &["1/a", "1/b"], &[]);
        assert_eq!(submission.attempts.keys().collect::<Vec<_>>(), ["1/b"]);
        let submission = read_with(&FORMAT, &[file("c.jsonl", &other.to_string())], &gold).unwrap();
        assert_eq!(submission.problems.unknown_ids.len(), 1);
        let submission = read_with(&FORMAT, &[file("c.jsonl", "")], &gold).unwrap();
        check(&submission, &["1/a", "1/b"], &[]);
    }
}
