//! HAMLET's tables and figures on judged summaries, as the paper prints them.

use super::{ERROR_SHARES, FIFTHS, Hamlet, Measure, Perspective, Row, Scope, difference};
use crate::paper::grid::{Grid, Number, Place, average};
use crate::paper::tabulate::{policy_ends, policy_note};
use closeread_eval::observations::{FailurePolicy, Out};
use closeread_table::{Table, Value};

const POOLED: &str = "pooled over the key facts or sentences of all summaries; a summary that failed, or is none, adds its tree's \
                      facts with none covered, and no sentence";
const BY_FIFTH: &str = "a chunk belongs to the fifth of its book in which it begins";
const SEVERAL_LEVELS: &str = "a sentence aligned with facts of several levels counts in each of them";

/// Columns of a level, as Table 13 calls them.
const SHORT_LEVELS: [&str; 4] = ["Rt", "Br", "Lf", "W"];
const SHORT_PERSPECTIVES: [&str; 2] = ["Ana.", "Nar."];
/// Reasons to be in no mean, as the heads of their columns.
const OUT: [(Out, &str); 4] = [
    (Out::Failure, "failed"),
    (Out::Unjudged, "unjudged"),
    (Out::Unscored, "not asked"),
    (Out::NotApplicable, "nothing to score"),
];

fn of_facts(scope: Scope) -> &'static str {
    match scope {
        Scope::Root => "Root-level Key-fact",
        Scope::Branch => "Branch-level Key-fact",
        Scope::Leaf => "Leaf-level Key-fact",
        _ => "All-level Key-fact",
    }
}

/// Returns the name of a scope in Table 5, whose own row All follows from the sentences that are aligned with some
/// fact.
fn of_sentences(scope: Scope) -> &'static str {
    match scope {
        Scope::Root => "Root",
        Scope::Branch => "Branch",
        Scope::Leaf => "Leaf",
        Scope::None => "None",
        Scope::Aligned => "All (aligned)",
        Scope::All => "all sentences",
    }
}

impl Hamlet<'_> {
    pub(super) fn tables(&self) -> Vec<Table> {
        let mut all = vec![
            self.figure_3(),
            self.table_4(),
            self.table_5(),
            self.table_5_sentences(),
            self.table_6(),
            self.table_7(),
            self.summaries(),
            self.table_13(),
            self.table_13_other(),
            self.intervals(),
        ];
        // Failures write no sentences.
        if self.policy == FailurePolicy::Wrong {
            all.extend([self.table_14(), self.section_5_2()]);
        }
        all.into_iter().flatten().collect()
    }

    fn grid<S: Into<String>>(
        &self,
        id: &str,
        title: &str,
        source: &str,
        heads: &[&str],
        columns: impl IntoIterator<Item = S>,
    ) -> Grid {
        let (suffix, said) = policy_ends(self.policy);
        let grid = Grid::new(&format!("{id}{suffix}"), &format!("{title}{said}"), source, heads, columns);
        grid.decimals(3).note(policy_note(self.policy))
    }

    /// Returns the heads of the columns of Tables 4 and 5: the models, then the means over them.
    fn models(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.name.as_str()).chain(["Total"])
    }

    /// The columns of Tables 4 and 5: each model from both perspectives.
    fn by_model(&self) -> Vec<String> {
        self.models().flat_map(|name| SHORT_PERSPECTIVES.map(|short| format!("{name} {short}"))).collect()
    }

    /// Makes a row of Tables 4 and 5.
    fn across_models(&self, place: impl Fn(&Row, Perspective) -> Place) -> Vec<Place> {
        let mut places: Vec<Place> =
            self.rows.iter().flat_map(|row| Perspective::ALL.map(|perspective| place(row, perspective))).collect();
        let totals = [0, 1].map(|first| average(places.iter().skip(first).step_by(2).copied()));
        places.extend(totals);
        places
    }

    fn figure_3(&self) -> Option<Table> {
        let title = "Recall of key facts by fifth of the book";
        let heads = ["Perspective", "Level", "Model"];
        let mut grid = self.grid("hamlet-figure-3", title, "HAMLET, Figure 3", &heads, FIFTHS);
        for perspective in Perspective::ALL {
            for scope in Scope::OF_FACTS {
                for row in &self.rows {
                    let heads = [perspective.name(), scope.name(), &row.name].map(Value::text);
                    grid.row(heads, self.by_fifth(row, perspective, scope));
                }
            }
        }
        grid.note(POOLED).note(BY_FIFTH).finished()
    }

    fn table_4(&self) -> Option<Table> {
        let title = "Recall gap: highest minus lowest recall of the five fifths";
        let mut grid = self.grid("hamlet-table-4", title, "HAMLET, Table 4", &["Level"], self.by_model());
        for scope in Scope::OF_FACTS {
            let places = self.across_models(|row, perspective| self.gap(row, perspective, scope));
            grid.row([Value::text(of_facts(scope))], places);
        }
        let note = "fifths without facts take no part; Total: mean over the models that have a gap";
        grid.grouped(self.models(), 2).note(POOLED).note(BY_FIFTH).note(note).finished()
    }

    fn table_5(&self) -> Option<Table> {
        let title = "Faithfulness of summary sentences";
        let heads = ["Sentence Category"];
        let mut grid = self.grid("hamlet-table-5", title, "HAMLET, Table 5", &heads, self.by_model());
        for scope in Scope::OF_SENTENCES {
            let places = self.across_models(|row, perspective| self.faithfulness(&row.of(perspective), scope));
            grid.row([Value::text(of_sentences(scope))], places);
        }
        let note = "the paper's row All follows from the sentences that are aligned with a fact, so that is what All is here; \
                    its Table 7 counts all sentences; Total: mean over models";
        grid.grouped(self.models(), 2).note(POOLED).note(SEVERAL_LEVELS).note(note).finished()
    }

    /// Says how many sentences stand behind each place of Table 5.
    fn table_5_sentences(&self) -> Option<Table> {
        if self.policy == FailurePolicy::LeftOut {
            return None;
        }
        let columns = ["Sentence Category".to_owned()].into_iter().chain(self.by_model());
        let columns: Vec<String> = columns.filter(|name| !name.starts_with("Total ")).collect();
        let mut table = Table::new("hamlet-table-5-sentences", "Summary sentences that were judged", columns);
        "HAMLET, Table 5".clone_into(&mut table.source);
        let n = |place: Place| Value::count(place.map_or(0, |number| number.n));
        for scope in Scope::OF_SENTENCES {
            let counts = self
                .rows
                .iter()
                .flat_map(|row| Perspective::ALL.map(|perspective| n(self.faithfulness(&row.of(perspective), scope))));
            table.rows.push([Value::text(of_sentences(scope))].into_iter().chain(counts).collect());
        }
        let is_some = |value: &Value| matches!(value, Value::Count { count: 1.. });
        table.rows.iter().flatten().any(is_some).then_some(table)
    }

    fn table_6(&self) -> Option<Table> {
        let scopes = [Measure::Recall, Measure::Faithfulness]
            .into_iter()
            .flat_map(|measure| measure.scopes().iter().map(move |scope| (measure, *scope)));
        let scopes: Vec<(Measure, Scope)> = scopes.collect();
        let column = |(measure, scope): &(Measure, Scope)| match measure {
            Measure::Recall => format!("Recall {}", scope.name()),
            Measure::Faithfulness => format!("Faithfulness {}", scope.name()),
        };
        let title = "Recall and faithfulness of one model minus another's";
        let heads = ["Difference", "queries"];
        let mut grid =
            self.grid("hamlet-table-6", title, "HAMLET, Table 6", &heads, scopes.iter().map(column)).decimals(3);
        for (a, b) in self.pairs() {
            let n = self.asked_of_both(a, b).len();
            if n == 0 {
                continue;
            }
            let both: Vec<[Place; 2]> =
                scopes.iter().map(|(measure, scope)| self.held_against(a, b, *measure, *scope)).collect();
            let rows: [(String, Vec<Place>); 3] = [
                (format!("{} - {}", a.name, b.name), both.iter().map(|[a, b]| difference(*a, *b, n)).collect()),
                (a.name.clone(), both.iter().map(|[a, _]| *a).collect()),
                (b.name.clone(), both.iter().map(|[_, b]| *b).collect()),
            ];
            for (name, places) in rows {
                grid.row([Value::text(name), Value::count(n)], places);
            }
        }
        let note = "over the queries asked of both, both perspectives together; recall over those where both count; then what \
                    each of the two has there. Faithfulness aligned: of sentences aligned with a fact, all: of all";
        grid.note(POOLED).note(SEVERAL_LEVELS).note(note).finished()
    }

    fn table_7(&self) -> Option<Table> {
        let title = "Summary-level recall and faithfulness";
        let columns = ["Recall", "Faithfulness", "Mean"];
        let mut grid = self.grid("hamlet-table-7", title, "HAMLET, Table 7", &["Model"], columns);
        for row in &self.rows {
            let mean = |measure| {
                let estimate = self.summary_level(row, measure).estimate;
                estimate.map(|made| Number::new(made.value, made.n)).ok_or("no summary counts")
            };
            let (recall, faithfulness) = (mean(Measure::Recall), mean(Measure::Faithfulness));
            let both = match (recall, faithfulness) {
                (Ok(r), Ok(f)) => Ok(Number::new((r.value + f.value) / 2.0, r.n.min(f.n))),
                _ => Err("recall or faithfulness has no value"),
            };
            grid.row([Value::text(&row.name)], [recall, faithfulness, both]);
        }
        grid.note("means of the summaries' own ratios, both perspectives together").finished()
    }

    /// Says how many summaries stand behind Table 7, and why others do not.
    fn summaries(&self) -> Option<Table> {
        let counts = ["planned", "counted"].into_iter().chain(OUT.map(|(_, name)| name));
        let columns = ["Model", "score"].into_iter().chain(counts).map(str::to_owned).collect();
        let (suffix, said) = policy_ends(self.policy);
        let title = format!("Summaries behind the scores{said}");
        let mut table = Table::new(format!("hamlet-summaries{suffix}"), title, columns);
        "HAMLET, Table 7".clone_into(&mut table.source);
        for row in &self.rows {
            for measure in [Measure::Recall, Measure::Faithfulness] {
                let made = self.summary_level(row, measure);
                let of = |out: Out| made.out.get(&out).copied().unwrap_or(0);
                let counts = [made.planned(), made.counted].into_iter().chain(OUT.map(|(out, _)| of(out)));
                let heads = [Value::text(&row.name), Value::text(measure.metric(Scope::All).name())];
                table.rows.push(heads.into_iter().chain(counts.map(Value::count)).collect());
            }
        }
        table.notes.push(policy_note(self.policy));
        (!table.rows.is_empty()).then_some(table)
    }

    fn table_13(&self) -> Option<Table> {
        let title = "Recall by model, fifth of the book and level";
        let groups = FIFTHS.into_iter().chain(["Average"]);
        let columns = groups.flat_map(|group| SHORT_LEVELS.map(|level| format!("{group} {level}")));
        let heads = ["Perspective", "Model"];
        let grid = self.grid("hamlet-table-13", title, "HAMLET, Table 13", &heads, columns).decimals(2);
        let grid = self.by_perspective(grid, |row, perspective| {
            let of_level = Scope::OF_FACTS.map(|scope| self.by_fifth(row, perspective, scope));
            let fifths = (0..FIFTHS.len()).flat_map(|fifth| of_level.map(|level| level[fifth]));
            let all = Scope::OF_FACTS.map(|scope| self.recall(&row.of(perspective), scope));
            fifths.chain(all).collect()
        });
        let note = "the column Average is over all facts of the perspective, the row over models; Rt: root, Br: branch, Lf: \
                    leaf, W: whole";
        let groups = FIFTHS.into_iter().chain(["Average"]);
        grid.grouped(groups, SHORT_LEVELS.len()).note(POOLED).note(BY_FIFTH).note(note).finished()
    }

    fn table_13_other(&self) -> Option<Table> {
        let title = "Average of Table 13 as the mean of the fifths";
        let heads = ["Perspective", "Model"];
        let id = "hamlet-table-13-mean-of-fifths";
        let grid = self.grid(id, title, "HAMLET, Table 13", &heads, SHORT_LEVELS).decimals(2);
        let places =
            |row: &Row, perspective| Scope::OF_FACTS.map(|scope| self.mean_of_fifths(row, perspective, scope)).to_vec();
        let grid = self.by_perspective(grid, places);
        grid.note("the other reading: the paper's two decimals do not tell which one it is").finished()
    }

    /// The rows of Table 13: each perspective's models, then their average.
    fn by_perspective(&self, mut grid: Grid, places: impl Fn(&Row, Perspective) -> Vec<Place>) -> Grid {
        for perspective in Perspective::ALL {
            let own: Vec<Vec<Place>> = self.rows.iter().map(|row| places(row, perspective)).collect();
            for (row, places) in self.rows.iter().zip(&own) {
                grid.row([perspective.name(), &row.name].map(Value::text), places.iter().copied());
            }
            let n_columns = own.first().map_or(0, Vec::len);
            let means = (0..n_columns).map(|column| average(own.iter().map(|places| places[column])));
            grid.row([perspective.name(), "Average"].map(Value::text), means.collect::<Vec<_>>());
        }
        grid
    }

    /// Makes a table that the paper does not print: the pooled shares with intervals.
    fn intervals(&self) -> Option<Table> {
        let scopes = |measure: Measure| measure.scopes().iter().map(move |scope| measure.metric(*scope));
        let metrics: Vec<_> = scopes(Measure::Recall).chain(scopes(Measure::Faithfulness)).collect();
        let heads = ["Perspective", "Model"].into_iter().map(str::to_owned);
        let columns = heads.chain(metrics.iter().map(|metric| metric.name().replace('_', " "))).collect();
        let (suffix, said) = policy_ends(self.policy);
        let title = format!("Recall and faithfulness with 95% intervals, %{said}");
        let mut table = Table::new(format!("hamlet-intervals{suffix}"), title, columns);
        "HAMLET, Eq. 1 and 2".clone_into(&mut table.source);
        for perspective in Perspective::ALL {
            for row in &self.rows {
                let heads = [perspective.name(), &row.name].map(Value::text);
                let score = |metric: &closeread_eval::observations::MetricName| {
                    Value::score(
                        self.pool(&row.of(perspective), metric.clone()).estimate.as_ref(),
                        "nothing of this scope",
                    )
                };
                table.rows.push(heads.into_iter().chain(metrics.iter().map(score)).collect());
            }
        }
        table.notes.push(policy_note(self.policy));
        table.notes.push(POOLED.to_owned());
        table.explain_marks();
        let is_score = |value: &Value| matches!(value, Value::Score { .. });
        table.rows.iter().flatten().any(is_score).then_some(table)
    }

    fn table_14(&self) -> Option<Table> {
        let columns = self.rows.iter().map(|row| row.name.as_str()).chain(["average"]);
        let title = "Faithfulness errors by type, %";
        let mut grid = self.grid("hamlet-table-14", title, "HAMLET, Table 14", &["Category"], columns).decimals(0);
        for (name, metric) in ERROR_SHARES {
            let mut places: Vec<Place> = self.rows.iter().map(|row| self.error_share(row, metric)).collect();
            places.push(average(places.iter().copied()));
            grid.row([Value::text(name)], places);
        }
        let note = "(A) and (B) of all errors, the kinds of (B) of the intrinsic ones; average: over the models that have such \
                    errors, which alone the paper prints";
        grid.note(note).finished()
    }

    fn section_5_2(&self) -> Option<Table> {
        let title = "Pearson's correlation of a summary's words with its recall";
        let columns = Scope::OF_FACTS.map(Scope::name);
        let mut grid = self.grid("hamlet-length", title, "HAMLET, section 5.2", &["Model"], columns).decimals(2);
        for row in &self.rows {
            grid.row([Value::text(&row.name)], Scope::OF_FACTS.map(|scope| self.length_correlation(&[row], scope)));
        }
        let all: Vec<&Row> = self.rows.iter().collect();
        let together = Scope::OF_FACTS.map(|scope| self.length_correlation(&all, scope)).to_vec();
        grid.with_summary([Value::text("all models")], together).note("over judged summaries").finished()
    }
}
