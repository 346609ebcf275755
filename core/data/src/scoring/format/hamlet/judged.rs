//! Rows of judged summaries, with verdicts or with what the judge wrote.

use super::super::read::{field, records};
use closeread_eval::hamlet::{
    ErrorCategory, FactVerdict, Level, Perspective, SentenceVerdict, SummaryEvaluation, SummaryVerdicts, line_numbers,
};
use closeread_eval::rows::{Row, WrongRow, kind, scalar};
use closeread_eval::{InputFile, Problem};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// One row of judgements.
pub(super) struct Judged {
    pub(super) line: usize,
    /// The summary itself, where the row has it.
    pub(super) summary: Option<String>,
    pub(super) evaluation: SummaryEvaluation,
}

/// The rows of a file, and what is wrong with the others.
pub(super) fn read(file: &InputFile) -> Vec<Result<Judged, Problem>> {
    let judged = |row: Row| {
        let item = field(&row, &["item", "id"]).and_then(|(_, value)| scalar(value));
        let wrong = |why: WrongRow| Problem::dropped(&file.name, Some(row.line), item.as_deref(), why);
        let Some(item) = item.clone() else {
            return Err(wrong("no `item`: expected the id of the query".into()));
        };
        evaluation(&row, item)
            .map(|evaluation| Judged { line: row.line, summary: row.text("summary"), evaluation })
            .map_err(wrong)
    };
    records(file).into_iter().map(|row| row.and_then(judged)).collect()
}

fn evaluation(row: &Row, item: String) -> Result<SummaryEvaluation, WrongRow> {
    let text = |name: &str| row.text(name).unwrap_or_default();
    let perspective = match text("perspective").to_lowercase().as_str() {
        "analytical" => Perspective::Analytical,
        "narrative" => Perspective::Narrative,
        other => return Err(format!("`perspective` is `{other}`: expected analytical or narrative").into()),
    };
    let (facts, sentences) = match row.fields.contains_key("alignment") || row.fields.contains_key("verification") {
        true => from_judge(row)?,
        false => from_verdicts(row)?,
    };
    if facts.is_empty() {
        return Err("no `facts`: expected the key facts of the tree".into());
    }
    Ok(SummaryEvaluation {
        item,
        book: text("book"),
        model: text("model"),
        perspective,
        position: position(row)?,
        verdicts: SummaryVerdicts { facts: Some(facts), sentences: Some(sentences) },
    })
}

/// `position` in 0..=1, or `chunk`, from 0, out of `n_chunks`.
fn position(row: &Row) -> Result<Option<f64>, WrongRow> {
    let number = |name: &str| match row.fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            value.as_f64().map(Some).ok_or_else(|| format!("`{name}` is {}: expected a number", kind(value)))
        }
    };
    let position = match (number("position")?, number("chunk")?, number("n_chunks")?) {
        (Some(position), _, _) => position,
        (None, Some(chunk), Some(n_chunks)) => chunk / n_chunks,
        _ => return Ok(None),
    };
    match (0.0..=1.0).contains(&position) {
        true => Ok(Some(position)),
        false => Err(format!("the position is {position}: expected 0 to 1, or `chunk` from 0 below `n_chunks`").into()),
    }
}

type Verdicts = (Vec<FactVerdict>, Vec<SentenceVerdict>);

/// `facts` as `{level, matched}` and `sentences` as `{levels, category}`.
fn from_verdicts(row: &Row) -> Result<Verdicts, WrongRow> {
    let fact = |(n, fact): (usize, &Map<String, Value>)| {
        let level = level(fact.get("level"), &format!("facts[{n}]"))?;
        let matched = fact.get("matched").and_then(Value::as_bool);
        let matched = matched.ok_or_else(|| format!("`facts[{n}].matched`: expected true or false"))?;
        Ok(FactVerdict { level, matched })
    };
    let sentence = |(n, sentence): (usize, &Map<String, Value>)| {
        let levels = sentence.get("levels").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let levels = levels.iter().map(|value| level(Some(value), &format!("sentences[{n}]")));
        Ok(SentenceVerdict {
            levels: levels.collect::<Result<_, WrongRow>>()?,
            category: category(sentence.get("category"), &format!("sentences[{n}]"))?,
        })
    };
    let facts = objects(row, "facts")?.into_iter().enumerate().map(fact).collect::<Result<_, WrongRow>>()?;
    Ok((facts, objects(row, "sentences")?.into_iter().enumerate().map(sentence).collect::<Result<_, WrongRow>>()?))
}

/// `facts` with their levels beside the two lists that the judge returns (appendix E): `alignment`, which has an entry
/// for each fact in their order, and `verification`, which has one for each sentence.
///
/// A sentence has the levels of the facts that are matched by its number, which counts from 1; a number beyond the
/// sentences is an error of the judge, and skipped.
fn from_judge(row: &Row) -> Result<Verdicts, WrongRow> {
    let (facts, alignment) = (objects(row, "facts")?, objects(row, "alignment")?);
    if facts.len() != alignment.len() {
        return Err(
            format!("{} `facts`, {} in `alignment`: expected one for each", facts.len(), alignment.len()).into()
        );
    }
    let mut sentences = Vec::new();
    for (n, sentence) in objects(row, "verification")?.into_iter().enumerate() {
        let category = category(sentence.get("category"), &format!("verification[{n}]"))?;
        sentences.push(SentenceVerdict { levels: BTreeSet::new(), category });
    }
    let mut verdicts = Vec::new();
    for (n, (fact, aligned)) in facts.into_iter().zip(alignment).enumerate() {
        let level = level(fact.get("level"), &format!("facts[{n}]"))?;
        let matched = match aligned.get("response").and_then(scalar).map(|response| response.to_lowercase()).as_deref()
        {
            Some("yes") => true,
            Some("no") => false,
            _ => return Err(format!("`alignment[{n}].response`: expected Yes or No").into()),
        };
        for number in line_numbers(aligned).into_iter().filter(|_| matched) {
            let place = number.checked_sub(1);
            if let Some(sentence) = place.and_then(|place| sentences.get_mut(place)) {
                sentence.levels.insert(level);
            }
        }
        verdicts.push(FactVerdict { level, matched });
    }
    Ok((verdicts, sentences))
}

fn objects<'r>(row: &'r Row, name: &str) -> Result<Vec<&'r Map<String, Value>>, WrongRow> {
    let object = |(n, value): (usize, &'r Value)| {
        let found = || format!("`{name}[{n}]`: expected an object in braces, found {}", kind(value));
        value.as_object().ok_or_else(|| found().into())
    };
    match row.fields.get(name) {
        Some(Value::Array(values)) => values.iter().enumerate().map(object).collect(),
        Some(other) => Err(format!("`{name}`: expected a list, found {}", kind(other)).into()),
        None => Err(format!("no `{name}`: expected a list").into()),
    }
}

fn level(value: Option<&Value>, place: &str) -> Result<Level, WrongRow> {
    let name = value.and_then(scalar).unwrap_or_default().to_lowercase();
    let found = Level::ALL.into_iter().find(|level| level.name() == name);
    found.ok_or_else(|| format!("`{place}` has the level `{name}`: expected root, branch or leaf").into())
}

fn category(value: Option<&Value>, place: &str) -> Result<ErrorCategory, WrongRow> {
    let name = value.and_then(scalar).unwrap_or_default();
    ErrorCategory::of_name(&name).ok_or_else(|| {
        let known = [ErrorCategory::NoError].into_iter().chain(ErrorCategory::ERRORS).map(ErrorCategory::name);
        format!("`{place}` has the category `{name}`: expected one of {}", known.collect::<Vec<_>>().join(", ")).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_eval::testing::verdicts;
    use serde_json::json;

    fn evaluations(files: &[InputFile]) -> (Vec<SummaryEvaluation>, Vec<Problem>) {
        let (mut found, mut problems) = (Vec::new(), Vec::new());
        for judged in files.iter().flat_map(read) {
            match judged {
                Ok(judged) => found.push(judged.evaluation),
                Err(problem) => problems.push(problem),
            }
        }
        (found, problems)
    }

    #[test]
    fn wrong_rows_are_named() {
        let good = json!({"item": "q", "perspective": "narrative", "facts": [{"level": "root", "matched": true}], "sentences": []});
        let with = |name: &str, value: Value| {
            let mut row = good.clone();
            row[name] = value;
            row.to_string()
        };
        let rows = [
            good.to_string(),
            with("item", json!(null)),
            with("perspective", json!("x")),
            with("facts", json!([])),
            with("facts", json!([{"level": "twig", "matched": true}])),
            with("facts", json!([{"level": "leaf"}])),
            with("facts", json!([7])),
            with("sentences", json!([{"levels": ["leaf"], "category": "odd"}])),
            with("position", json!(2)),
            with("alignment", json!([])),
            with("sentences", json!({})),
        ];
        let file = InputFile { name: "h".into(), bytes: rows.join("\n").into_bytes() };
        let (found, problems) = evaluations(&[file]);
        assert_eq!(found.len(), 1);
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "h:2: no `item`: expected the id of the query [left out]",
                "h:3 (q): `perspective` is `x`: expected analytical or narrative [left out]",
                "h:4 (q): no `facts`: expected the key facts of the tree [left out]",
                "h:5 (q): `facts[0]` has the level `twig`: expected root, branch or leaf [left out]",
                "h:6 (q): `facts[0].matched`: expected true or false [left out]",
                "h:7 (q): `facts[0]`: expected an object in braces, found a number [left out]",
                "h:8 (q): `sentences[0]` has the category `odd`: expected one of No error, Out-of-article error, Relation error, Entity error, Sentence error [left out]",
                "h:9 (q): the position is 2: expected 0 to 1, or `chunk` from 0 below `n_chunks` [left out]",
                "h:10 (q): 1 `facts`, 0 in `alignment`: expected one for each [left out]",
                "h:11 (q): `sentences`: expected a list, found an object [left out]",
            ]
        );
    }

    #[test]
    fn what_serde_writes_is_read() {
        let evaluation = SummaryEvaluation {
            item: "q".into(),
            book: "b".into(),
            model: "m".into(),
            perspective: Perspective::Analytical,
            position: Some(0.25),
            verdicts: verdicts(&[(Level::Branch, true)], &[(&[Level::Branch], ErrorCategory::OutOfArticle)]),
        };
        let bytes = serde_json::to_vec(&evaluation).unwrap();
        let (found, problems) = evaluations(&[InputFile { name: "h".into(), bytes }]);
        assert_eq!((found, problems), (vec![evaluation], vec![]));
    }
}
