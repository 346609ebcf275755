//! The answers to the questions of `closeread build corpusqa`, by a computation that knows nothing of the pipeline: from the
//! words of a question and a table of texts.

use crate::support::Sandbox;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A table as texts, by title.
pub(crate) struct Plain {
    pub(crate) names: Vec<String>,
    /// Cells by title, bare: digits and points for numbers, `YYYY-MM` for dates.
    pub(crate) columns: BTreeMap<String, Vec<String>>,
    pub(crate) one: String,
    pub(crate) many: String,
}

/// Returns the texts that match `{}` in a pattern; `None` if the text is not of the pattern.
fn matched<'t>(pattern: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let pieces: Vec<&str> = pattern.split("{}").collect();
    let mut rest = text.strip_prefix(pieces[0])?;
    let mut found = Vec::new();
    for (at, piece) in pieces.iter().enumerate().skip(1) {
        let end = if at + 1 == pieces.len() { rest.strip_suffix(piece)?.len() } else { rest.find(piece)? };
        found.push(&rest[..end]);
        rest = &rest[end + piece.len()..];
    }
    Some(found)
}

/// Halves go away from zero, as SQL's `printf` has it.
fn two_decimals(value: f64) -> String {
    format!("{:.2}", (value * 100.0).round() / 100.0)
}

impl Plain {
    fn cells(&self, title: &str) -> &[String] {
        let of = |known: &&String| title == known.as_str() || title.starts_with(&format!("{known} ("));
        &self.columns[self.columns.keys().find(of).unwrap_or_else(|| panic!("no column {title}"))]
    }

    fn numbers(&self, title: &str) -> Vec<f64> {
        self.cells(title).iter().map(|cell| cell.parse().unwrap_or_else(|_| panic!("{title}: {cell}"))).collect()
    }

    fn names_where(&self, keeps: impl Fn(usize) -> bool) -> Vec<String> {
        (0..self.names.len()).filter(|&at| keeps(at)).map(|at| self.names[at].clone()).collect()
    }

    fn ranked(&self, values: &[f64]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        order
    }

    /// The answer to a question of the templates, computed from its words.
    fn answer(&self, question: &str) -> Value {
        let (one, many) = (&self.one, &self.many);
        let is = |pattern: &str| matched(&pattern.replace("<one>", one).replace("<many>", many), question);
        let number = |text: &str| text.replace([',', '%'], "").parse::<f64>().unwrap();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let n = self.names.len();
        let only = |values: &[f64], word: &[String], wanted: &str| -> Vec<f64> {
            values.iter().zip(word).filter(|(_, word)| *word == wanted).map(|(value, _)| *value).collect()
        };
        let groups = |title: &str| {
            let mut words = self.cells(title).to_vec();
            words.sort();
            words.dedup();
            words
        };
        if let Some(s) = is("Which <one> has the highest {}?").filter(|s| !s[0].starts_with("ratio of ")) {
            return json!(self.names[self.ranked(&self.numbers(s[0]))[0]]);
        }
        if let Some(s) = is("Which <one> has the lowest {}?") {
            return json!(self.names[self.ranked(&self.numbers(s[0]))[n - 1]]);
        }
        if let Some(s) = is("What do all <many> together reach in {}?") {
            return json!(self.numbers(s[0]).iter().sum::<f64>());
        }
        if let Some(s) =
            is("What is the mean {} of all <many>?").or_else(|| is("What is the unweighted mean {} of all <many>?"))
        {
            return json!(mean(&self.numbers(s[0])));
        }
        if let Some(s) = is("List all <many> whose {} is {} and whose {} is above {}.") {
            let (words, values) = (self.cells(s[0]), self.numbers(s[2]));
            return json!(self.names_where(|at| words[at] == s[1] && values[at] > number(s[3])));
        }
        if let Some(s) = is("List all <many> whose ratio of {} to {} is above {}, the highest ratio first.") {
            let ratios: Vec<f64> = self.numbers(s[0]).iter().zip(self.numbers(s[1])).map(|(a, b)| a / b).collect();
            let order = self.ranked(&ratios).into_iter().filter(|&at| ratios[at] > number(s[2]));
            return json!(order.map(|at| self.names[at].clone()).collect::<Vec<_>>());
        }
        if let Some(s) = is("List all <many> whose {} is above {}.") {
            let values = self.numbers(s[0]);
            return json!(self.names_where(|at| values[at] > number(s[1])));
        }
        if let Some(s) = is("List the {} <many> with the highest {}, highest first.") {
            let order = self.ranked(&self.numbers(s[1]));
            return json!(
                order.into_iter().take(number(s[0]) as usize).map(|at| self.names[at].clone()).collect::<Vec<_>>()
            );
        }
        if let Some(s) = is("What is the earliest {} among all <many>?") {
            return json!(self.cells(s[0]).iter().min().unwrap());
        }
        if let Some(s) = is("How many <many> have the {} {}?") {
            // A title and a word with nothing between them: the title is the one that is known.
            let both = format!("{} {}", s[0], s[1]);
            let title = self.columns.keys().find(|title| both.starts_with(&format!("{title} "))).unwrap();
            return json!(self.cells(title).iter().filter(|cell| both[title.len() + 1..] == **cell).count());
        }
        if let Some(s) = is("What share of the total {} of all <many> belongs to those whose {} is {}?") {
            let values = self.numbers(s[0]);
            return json!(
                100.0 * only(&values, self.cells(s[1]), s[2]).iter().sum::<f64>() / values.iter().sum::<f64>()
            );
        }
        let of_group = is("Of the <many> whose {} is {}, for what share is the {} above {}?");
        if let Some(s) = of_group.filter(|s| !s[1].starts_with("above ")) {
            let values = only(&self.numbers(s[2]), self.cells(s[0]), s[1]);
            return json!(
                100.0 * values.iter().filter(|value| **value > number(s[3])).count() as f64 / values.len() as f64
            );
        }
        if let Some(s) = is("For how many <many> is the {} above {} and the {} above {}?") {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[2]));
            return json!((0..n).filter(|&at| a[at] > number(s[1]) && b[at] > number(s[3])).count());
        }
        if let Some(s) = is("Of the <many> whose {} is above {}, for what share is the {} above {} as well?") {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[2]));
            let inside: Vec<usize> = (0..n).filter(|&at| a[at] > number(s[1])).collect();
            return json!(
                100.0 * inside.iter().filter(|&&at| b[at] > number(s[3])).count() as f64 / inside.len() as f64
            );
        }
        if let Some(s) = is("Grouped by {}, which group of <many> has the highest mean {}?") {
            let values = self.numbers(s[1]);
            let of = |word: &String| mean(&only(&values, self.cells(s[0]), word));
            return json!(groups(s[0]).into_iter().max_by(|a, b| of(a).total_cmp(&of(b))).unwrap());
        }
        let gap = "By how much does the mean {} of the <many> whose {} is {} exceed that of those whose {} is {}? A negative number means that it is lower.";
        if let Some(s) = is(gap) {
            let values = self.numbers(s[0]);
            return json!(mean(&only(&values, self.cells(s[1]), s[2])) - mean(&only(&values, self.cells(s[3]), s[4])));
        }
        if let Some(s) = is("For how many <many> is the {} before {} and the {} above {}?") {
            let (dates, values) = (self.cells(s[0]), self.numbers(s[2]));
            return json!((0..n).filter(|&at| dates[at].as_str() < s[1] && values[at] > number(s[3])).count());
        }
        if let Some(s) = is("Which <one> has the highest ratio of {} to {}?") {
            let ratios: Vec<f64> = self.numbers(s[0]).iter().zip(self.numbers(s[1])).map(|(a, b)| a / b).collect();
            return json!(self.names[self.ranked(&ratios)[0]]);
        }
        if let Some(s) = is("What is the mean {} of all <many>, weighted by their {}?") {
            let weights = self.numbers(s[1]);
            let sum: f64 = self.numbers(s[0]).iter().zip(&weights).map(|(rate, weight)| rate * weight).sum();
            return json!(sum / weights.iter().sum::<f64>());
        }
        if let Some(s) = is("For how many <many> is the {} above the mean {} of all <many> of the same {}?") {
            let (values, words) = (self.numbers(s[0]), self.cells(s[2]));
            return json!((0..n).filter(|&at| values[at] > mean(&only(&values, words, &words[at]))).count());
        }
        if let Some(s) =
            is("Take the {} whose <many> together have the highest total {}. Which of its <many> has the lowest {}?")
        {
            let (words, totals, values) = (self.cells(s[0]), self.numbers(s[1]), self.numbers(s[2]));
            let total = |word: &String| only(&totals, words, word).iter().sum::<f64>();
            let best = groups(s[0]).into_iter().max_by(|a, b| total(a).total_cmp(&total(b))).unwrap();
            let inside = (0..n).filter(|&at| words[at] == best);
            return json!(self.names[inside.min_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap()]);
        }
        if let Some(s) =
            is("What share of the total {} of all <many> do the {} <many> with the highest {} account for?")
        {
            let values = self.numbers(s[0]);
            let top = self.ranked(&values).into_iter().take(number(s[1]) as usize).map(|at| values[at]).sum::<f64>();
            return json!(100.0 * top / values.iter().sum::<f64>());
        }
        if let Some(s) =
            is("How many <many> have a ratio of {} to {} that lies above the ratio of the totals of all <many>?")
        {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[1]));
            let overall = a.iter().sum::<f64>() / b.iter().sum::<f64>();
            return json!((0..n).filter(|&at| a[at] / b[at] > overall).count());
        }
        if let Some(s) = is("List all <many> whose {} is higher than their {}.") {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[1]));
            return json!(self.names_where(|at| a[at] > b[at]));
        }
        if let Some(s) = is("For how many <many> is the {} lower than the {}?") {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[1]));
            return json!((0..n).filter(|&at| a[at] < b[at]).count());
        }
        let ratios_of = |s: &[&str], inside: &dyn Fn(usize) -> bool| {
            let (a, b) = (self.numbers(s[0]), self.numbers(s[1]));
            let said = |at: usize| format!("{}: {}", self.names[at], two_decimals(a[at] / b[at]));
            json!((0..n).filter(|&at| inside(at)).map(said).collect::<Vec<_>>())
        };
        let written = "Write each as `name: ratio` with two decimals.";
        let of_group =
            format!("What is the ratio of {{}} to {{}} for each of the <many> whose {{}} is {{}}? {written}");
        if let Some(s) = is(&of_group) {
            let words = self.cells(s[2]);
            return ratios_of(&s, &|at| words[at] == s[3]);
        }
        if let Some(s) = is(&format!("What is the ratio of {{}} to {{}} for each of the <many>? {written}")) {
            return ratios_of(&s, &|_| true);
        }
        let means = "Grouped by {}, what is the mean {} of each group of <many>? Write each as `group: mean` with two decimals.";
        if let Some(s) = is(means) {
            let values = self.numbers(s[1]);
            let of = |word: &String| mean(&only(&values, self.cells(s[0]), word));
            return json!(
                groups(s[0]).iter().map(|word| format!("{word}: {}", two_decimals(of(word)))).collect::<Vec<_>>()
            );
        }
        if let Some(s) = is("Grouped by {}, which groups of <many> reach a mean {} above the mean {} of all <many>?") {
            let values = self.numbers(s[1]);
            let of = |word: &String| mean(&only(&values, self.cells(s[0]), word));
            return json!(groups(s[0]).into_iter().filter(|word| of(word) > mean(&values)).collect::<Vec<_>>());
        }
        let above = "Take the <many> whose {} is {} and calculate their mean {}. Which of them lie more than {}% above that mean?";
        if let Some(s) = is(above) {
            let (words, values) = (self.cells(s[0]), self.numbers(s[2]));
            let least = mean(&only(&values, words, s[1])) * (1.0 + number(s[3]) / 100.0);
            return json!(self.names_where(|at| words[at] == s[1] && values[at] > least));
        }
        let points = "Take the <many> whose {} is above {} and calculate their mean {}. Which of them lie more than {} percentage points above that mean?";
        if let Some(s) = is(points) {
            let (filter, shares) = (self.numbers(s[0]), self.numbers(s[2]));
            let inside: Vec<f64> = (0..n).filter(|&at| filter[at] > number(s[1])).map(|at| shares[at]).collect();
            let least = mean(&inside) + number(s[3]);
            return json!(self.names_where(|at| filter[at] > number(s[1]) && shares[at] > least));
        }
        let margin =
            "The margin is the {} minus the {} minus the {}. For which <many> is the margin positive and above the {}?";
        if let Some(s) = is(margin) {
            let [a, b, c, d] = [0, 1, 2, 3].map(|slot| self.numbers(s[slot]));
            let of = |at: usize| a[at] - b[at] - c[at];
            return json!(self.names_where(|at| of(at) > 0.0 && of(at) > d[at]));
        }
        let score = "The score is 0.6 times the ratio of {} to {} plus 0.4 times the ratio of {} to {}. For which <many> is the score above {}?";
        if let Some(s) = is(score) {
            let [a, b, i] = [0, 1, 2].map(|slot| self.numbers(s[slot]));
            let of = |at: usize| 0.6 * a[at] / b[at] + 0.4 * i[at] / b[at];
            return json!(self.names_where(|at| of(at) > number(s[4])));
        }
        panic!("no template asks: {question}");
    }

    /// Holds the gold answers of items to the answers computed from their questions, each over the rows of its set.
    pub(crate) fn confirms(&self, items: &[Value], sets: &Value) {
        for item in items {
            let rows: Vec<&str> = sets[item["set"].as_str().unwrap()]["rows"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| row.as_str().unwrap())
                .collect();
            let inside: Vec<usize> =
                (0..self.names.len()).filter(|&at| rows.contains(&self.names[at].as_str())).collect();
            let columns = self
                .columns
                .iter()
                .map(|(title, cells)| (title.clone(), inside.iter().map(|&at| cells[at].clone()).collect()));
            let part = Self {
                names: inside.iter().map(|&at| self.names[at].clone()).collect(),
                columns: columns.collect(),
                one: self.one.clone(),
                many: self.many.clone(),
            };
            let (gold, expected) =
                (item["answers"][0].as_str().unwrap(), part.answer(item["question"].as_str().unwrap()));
            let told = format!("{}: gold {gold}, computed {expected}", item["question"]);
            match &expected {
                Value::Number(number) => {
                    let found: f64 = gold.trim_end_matches('%').parse().expect(&told);
                    let number = number.as_f64().unwrap();
                    assert!((found - number).abs() <= 0.005 + 1e-9 * number.abs() + 1e-6, "{told}");
                }
                Value::Array(_) => {
                    let mut found: Vec<String> = serde_json::from_str(gold).expect(&told);
                    let mut names: Vec<String> = serde_json::from_value(expected.clone()).unwrap();
                    if !told.contains("highest") {
                        found.sort();
                        names.sort();
                    }
                    assert_eq!(found, names, "{told}");
                }
                text => assert_eq!(text.as_str().unwrap_or_else(|| panic!("{told}")), gold, "{told}"),
            }
        }
    }
}

/// The values of a file of JSON lines.
pub(crate) fn lines(sandbox: &Sandbox, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sandbox.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The value of a file of JSON.
pub(crate) fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
