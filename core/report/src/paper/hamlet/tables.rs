//! HAMLET's tables.

use super::super::tabulate::{clustered, count, filled, missing, number, plain_table, share, text};
use closeread_eval::hamlet::{
    ErrorTaxonomy, Measure, POSITION_BINS, Perspective, Ratio, Scope, SummaryEvaluation, error_taxonomy,
    length_correlation, paired_difference, pooled, position_bin, ratio, recall_faithfulness_mean, recall_gap,
    summary_level_mean,
};
use closeread_table::{Table, Value};

/// The paper's tables for these summaries; those for which nothing is there are left out.
///
/// Scores are means of the summaries' own ratios ("summary-level", Table 7), with intervals over queries clustered by
/// book; the pooled reading stands beside them in a table of its own.
pub fn tables(summaries: &[SummaryEvaluation]) -> Vec<Table> {
    let rows = rows(summaries);
    let models = models(summaries);
    let all = [
        scores(&rows, Measure::Recall),
        scores(&rows, Measure::Faithfulness),
        pooled_scores(&rows),
        by_position(&rows),
        gaps(&rows),
        summary_level(summaries, &models),
        lengths(summaries, &models),
        taxonomy(summaries, &models),
        differences(summaries, &models),
    ];
    all.into_iter().filter_map(filled).collect()
}

/// The summaries of one model from one perspective.
struct Row<'a> {
    perspective: Perspective,
    model: &'a str,
    summaries: Vec<&'a SummaryEvaluation>,
}

impl Row<'_> {
    fn head(&self) -> Vec<Value> {
        vec![text(self.perspective.name()), text(self.model)]
    }
}

fn models(summaries: &[SummaryEvaluation]) -> Vec<&str> {
    let mut models: Vec<&str> = Vec::new();
    for summary in summaries {
        if !models.contains(&summary.model.as_str()) {
            models.push(&summary.model);
        }
    }
    models
}

fn of_model<'a>(summaries: &'a [SummaryEvaluation], model: &str) -> Vec<&'a SummaryEvaluation> {
    summaries.iter().filter(|summary| summary.model == model).collect()
}

fn rows(summaries: &[SummaryEvaluation]) -> Vec<Row<'_>> {
    let models = models(summaries);
    let row = |perspective: Perspective, model| {
        let of_both = of_model(summaries, model).into_iter().filter(|summary| summary.perspective == perspective);
        Row { perspective, model, summaries: of_both.collect() }
    };
    let rows = Perspective::ALL.into_iter().flat_map(|p| models.iter().map(move |model| row(p, model)));
    rows.filter(|row| !row.summaries.is_empty()).collect()
}

fn heads<'a>(columns: impl IntoIterator<Item = &'a str>) -> impl Iterator<Item = String> {
    ["perspective", "model"].into_iter().chain(columns).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

fn scopes(measure: Measure) -> &'static [Scope] {
    match measure {
        Measure::Recall => &Scope::OF_FACTS,
        Measure::Faithfulness => &Scope::OF_SENTENCES,
    }
}

fn mean_with_interval(summaries: &[&SummaryEvaluation], measure: Measure, scope: Scope) -> Value {
    let scored = summaries.iter().filter_map(|s| Some((ratio(s, measure, scope).value()?, s.book.clone())));
    clustered(scored, "nothing of this level")
}

fn scores(rows: &[Row<'_>], measure: Measure) -> Table {
    let (id, title, source) = match measure {
        Measure::Recall => ("hamlet-recall", "Recall of key facts by level", "HAMLET, Figure 4 and Table 13"),
        Measure::Faithfulness => ("hamlet-faithfulness", "Faithfulness of sentences by level", "HAMLET, Table 5"),
    };
    let mut table = plain_table(id, title, source, heads(scopes(measure).iter().map(|scope| scope.name())));
    for row in rows {
        let cells = scopes(measure).iter().map(|scope| mean_with_interval(&row.summaries, measure, *scope));
        table.rows.push(row.head().into_iter().chain(cells).collect());
    }
    table
        .notes
        .push("means of the summaries' own ratios; a summary with nothing of a level is left out there".to_owned());
    if measure == Measure::Faithfulness {
        table.notes.push("a sentence aligned with facts of several levels counts in each of them".to_owned());
    }
    table
}

fn pooled_scores(rows: &[Row<'_>]) -> Table {
    let columns = Scope::OF_FACTS.iter().map(|scope| format!("recall {}", scope.name()));
    let columns: Vec<String> =
        columns.chain(Scope::OF_SENTENCES.iter().map(|scope| format!("faithfulness {}", scope.name()))).collect();
    let mut table = plain_table(
        "hamlet-pooled",
        "Recall and faithfulness, pooled over all key facts and sentences",
        "HAMLET, Eq. 1 and 2",
        heads(columns.iter().map(String::as_str)),
    );
    for row in rows {
        let cell = |measure, scope| of_ratio(pooled(&row.summaries, measure, scope), "nothing of this level");
        let recall = Scope::OF_FACTS.into_iter().map(|scope| cell(Measure::Recall, scope));
        let faithfulness = Scope::OF_SENTENCES.into_iter().map(|scope| cell(Measure::Faithfulness, scope));
        table.rows.push(row.head().into_iter().chain(recall).chain(faithfulness).collect());
    }
    table.notes.push(
        "the paper does not say whether its tables average summaries or pool them: this is the pooled reading"
            .to_owned(),
    );
    table
}

fn of_ratio(ratio: Ratio, otherwise: &str) -> Value {
    share(ratio.value(), ratio.total, otherwise)
}

fn in_bin<'a>(row: &Row<'a>, bin: usize) -> Vec<&'a SummaryEvaluation> {
    let here = |summary: &&&SummaryEvaluation| summary.position.is_some_and(|place| position_bin(place) == bin);
    row.summaries.iter().filter(here).copied().collect()
}

fn by_position(rows: &[Row<'_>]) -> Table {
    let bins: Vec<String> = (0..POSITION_BINS).map(|bin| format!("{}-{}%", 20 * bin, 20 * (bin + 1))).collect();
    let columns = ["level"].into_iter().chain(bins.iter().map(String::as_str));
    let title = "Recall of key facts by where in the book the chunk stands";
    let mut table = plain_table("hamlet-position", title, "HAMLET, Table 13", heads(columns));
    for row in rows.iter().filter(|row| row.summaries.iter().any(|summary| summary.position.is_some())) {
        for scope in Scope::OF_FACTS {
            let mut cells = row.head();
            cells.push(text(scope.name()));
            cells.extend((0..POSITION_BINS).map(|bin| mean_with_interval(&in_bin(row, bin), Measure::Recall, scope)));
            table.rows.push(cells);
        }
    }
    table
}

/// Gap between the position bins, `None` where a bin has nothing.
fn gap(row: &Row<'_>, scope: Scope) -> Option<f64> {
    let by_bin: Option<Vec<f64>> =
        (0..POSITION_BINS).map(|bin| summary_level_mean(&in_bin(row, bin), Measure::Recall, scope)).collect();
    recall_gap(&by_bin?)
}

fn gaps(rows: &[Row<'_>]) -> Table {
    let title = "Recall gap: highest minus lowest recall over the five position bins";
    let mut table =
        plain_table("hamlet-recall-gap", title, "HAMLET, Table 4", heads(Scope::OF_FACTS.iter().map(|s| s.name())));
    let placed = |row: &&Row<'_>| row.summaries.iter().any(|summary| summary.position.is_some());
    for perspective in Perspective::ALL {
        let here: Vec<&Row<'_>> = rows.iter().filter(placed).filter(|row| row.perspective == perspective).collect();
        for row in &here {
            let n = row.summaries.iter().filter(|summary| summary.position.is_some()).count();
            let cells = Scope::OF_FACTS.map(|scope| share(gap(row, scope), n, "a position bin has no summaries"));
            table.rows.push(row.head().into_iter().chain(cells).collect());
        }
        if here.len() > 1 {
            let total = |scope| {
                let gaps: Option<Vec<f64>> = here.iter().map(|row| gap(row, scope)).collect();
                share(gaps.and_then(|gaps| super::mean(&gaps)), here.len(), "a position bin has no summaries")
            };
            let head = vec![text(perspective.name()), text("mean over models")];
            table.rows.push(head.into_iter().chain(Scope::OF_FACTS.map(total)).collect());
        }
    }
    table
}

fn summary_level(summaries: &[SummaryEvaluation], models: &[&str]) -> Table {
    let columns = ["model", "recall", "faithfulness", "mean", "summaries"].map(str::to_owned);
    let mut table = plain_table("hamlet-summary-level", "Summary-level scores", "HAMLET, Table 7", columns);
    for model in models {
        let own = of_model(summaries, model);
        let mean = |measure| summary_level_mean(&own, measure, Scope::All);
        let both = mean(Measure::Recall).zip(mean(Measure::Faithfulness));
        table.rows.push(vec![
            text(model),
            mean_with_interval(&own, Measure::Recall, Scope::All),
            mean_with_interval(&own, Measure::Faithfulness, Scope::All),
            share(both.map(|(r, f)| recall_faithfulness_mean(r, f)), own.len(), "no key facts or no sentences"),
            count(own.len()),
        ]);
    }
    table
}

fn lengths(summaries: &[SummaryEvaluation], models: &[&str]) -> Table {
    let columns = ["model"].into_iter().chain(Scope::OF_FACTS.iter().map(|scope| scope.name())).map(str::to_owned);
    let title = "Pearson correlation between a summary's length in words and its recall";
    let mut table = plain_table("hamlet-length", title, "HAMLET, section 4.4", columns);
    let all = models.iter().map(|model| (*model, of_model(summaries, model)));
    for (name, own) in all.chain([("all models", summaries.iter().collect())]) {
        let cell =
            |scope| number(length_correlation(&own, scope).map(|(r, _)| r), 2, "lengths or recalls are all alike");
        table.rows.push([text(name)].into_iter().chain(Scope::OF_FACTS.map(cell)).collect());
    }
    table
}

fn taxonomy(summaries: &[SummaryEvaluation], models: &[&str]) -> Table {
    let columns = ["model", "errors", "extrinsic", "intrinsic", "relation", "entity", "sentence"].map(str::to_owned);
    let title = "Errors: share of sentences, then of errors, then of intrinsic errors";
    let mut table = plain_table("hamlet-errors", title, "HAMLET, Table 14", columns);
    for model in models {
        let ErrorTaxonomy { errors, extrinsic, intrinsic, relation, entity, sentence } =
            error_taxonomy(&of_model(summaries, model));
        let cells = [
            of_ratio(errors, "no sentences"),
            of_ratio(extrinsic, "no errors"),
            of_ratio(intrinsic, "no errors"),
            of_ratio(relation, "no intrinsic errors"),
            of_ratio(entity, "no intrinsic errors"),
            of_ratio(sentence, "no intrinsic errors"),
        ];
        table.rows.push([text(model)].into_iter().chain(cells).collect());
    }
    table
}

fn differences(summaries: &[SummaryEvaluation], models: &[&str]) -> Table {
    let scopes = |measure| scopes(measure).iter().map(move |scope| (measure, *scope));
    let columns: Vec<(Measure, Scope)> = scopes(Measure::Recall).chain(scopes(Measure::Faithfulness)).collect();
    let name = |(measure, scope): &(Measure, Scope)| match measure {
        Measure::Recall => format!("recall {}", scope.name()),
        Measure::Faithfulness => format!("faithfulness {}", scope.name()),
    };
    let heads = ["model", "minus model"].into_iter().map(str::to_owned).chain(columns.iter().map(name));
    let title = "Difference of two models by level, over the queries that both have";
    let mut table = plain_table("hamlet-model-difference", title, "HAMLET, Table 6", heads);
    for (idx, first) in models.iter().enumerate() {
        for second in &models[idx + 1..] {
            let (a, b) = (of_model(summaries, first), of_model(summaries, second));
            let cell = |(measure, scope): &(Measure, Scope)| match paired_difference(&a, &b, *measure, *scope) {
                Some((difference, n)) => share(Some(difference), n, ""),
                None => missing("no query in common has this level"),
            };
            table.rows.push([text(second), text(first)].into_iter().chain(columns.iter().map(cell)).collect());
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::{ErrorCategory, Level};
    use super::*;
    use closeread_eval::testing::summary;

    fn at(model: &str, item: usize, position: f64, matched: bool) -> SummaryEvaluation {
        let facts = [(Level::Root, true), (Level::Leaf, matched)];
        let mut summary = summary(&format!("q{item}"), &facts, &[(&[Level::Root], ErrorCategory::NoError)]);
        summary.model = model.to_owned();
        summary.position = Some(position);
        summary
    }

    fn table(summaries: &[SummaryEvaluation], id: &str) -> Table {
        tables(summaries).into_iter().find(|table| table.id == id).unwrap()
    }

    #[test]
    fn every_row_is_as_long_as_the_heads() {
        let summaries: Vec<_> = (0..5).flat_map(|i| [at("x", i, 0.1, true), at("y", i, 0.9, false)]).collect();
        let tables = tables(&summaries);
        assert_eq!(tables.len(), 9);
        for table in tables {
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.id);
        }
    }

    #[test]
    fn the_gap_wants_every_bin() {
        let some: Vec<_> = (0..4).map(|i| at("x", i, 0.2 * i as f64 + 0.1, i == 0)).collect();
        assert!(matches!(table(&some, "hamlet-recall-gap").rows[0][4], Value::Missing { .. }));
        let all: Vec<_> = (0..5).map(|i| at("x", i, 0.2 * i as f64 + 0.1, i == 0)).collect();
        assert_eq!(table(&all, "hamlet-recall-gap").rows[0][4], Value::Share { value: 1.0, n: 5 });
    }

    #[test]
    fn a_model_is_held_against_another_on_the_same_queries() {
        let summaries: Vec<_> =
            (0..3).flat_map(|i| [at("base", i, 0.1, false), at("reasoning", i, 0.1, true)]).collect();
        let row = &table(&summaries, "hamlet-model-difference").rows[0];
        assert_eq!(row[0], text("reasoning"));
        assert_eq!(row[4], Value::Share { value: 1.0, n: 3 });
    }
}
