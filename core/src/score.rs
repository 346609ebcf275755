//! Scoring, what answers are worth: metrics, the one evaluation table, prediction files, judges.

pub use closeread_data::scoring::format::{FORMATS, Format, FormatError, FormatInput};
pub use closeread_data::scoring::{Options, Scorecard, Submission, prediction, score as score_submission};
pub use closeread_eval::observations::{
    Aggregate, Aggregation, Cell, CellFacts, CellKey, Counting, Done, Ending, FailurePolicy, ItemFacts, Ledger,
    MetricName, Observation, Observations, PoolError, Rows, Score, Unit, Weighting,
};
pub use closeread_eval::{Answer, Evaluator, default_metrics, score};
pub use closeread_judges::{Agreement, Judge, Judgement, Judging, Panel, PanelRule, Ruling, Verdict};
pub use closeread_methods::{ShownOfBooks, recorded_scores};
pub use closeread_metrics::{Metric, UnknownMetric, Words, bleu, meteor, rouge, stats};
