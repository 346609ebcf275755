//! The rule: what an observation counts for under a metric.

use super::{Applies, Ending, ItemFacts, MetricName, Observation, Score};
use serde::{Deserialize, Serialize};

/// What counts for trials in which the model never got to answer ([`Ending::is_failure`]), missing ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum FailurePolicy {
    /// Failures count as 0.
    #[default]
    #[serde(rename = "failures_wrong")]
    Wrong,
    /// Failures are in no denominator.
    #[serde(rename = "failures_left_out")]
    LeftOut,
}

/// The exceptions of a protocol: where it counts otherwise than closeread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Counting {
    /// The model said that its context does not hold the answer.
    pub not_found: NotFoundAs,
    /// Responses without an answer in the agreed form.
    pub unparsed: Treatment,
    /// Answers that the judges left without a verdict.
    pub unjudged: Treatment,
    /// Trials that ended [`Ending::Unanswered`].
    pub empty: Treatment,
}

/// What "not found" counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotFoundAs {
    /// "Not found" counts as 0.
    Zero,
    /// The score of its words, as if they were an answer.
    AsText,
}

/// What an observation without a score counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    /// The observation counts as 0.
    Zero,
    /// The observation is in no denominator.
    Out,
    /// The observation counts as the score it has nevertheless, or as 0 without one.
    Scored,
}

impl Default for Counting {
    fn default() -> Self {
        let (not_found, zero) = (NotFoundAs::Zero, Treatment::Zero);
        Self { not_found, unparsed: zero, unjudged: Treatment::Out, empty: zero }
    }
}

/// What an observation counts as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Counted<'a> {
    /// The observation counts with its score.
    Score(&'a Score),
    /// The observation counts as 0, by the rule.
    Zero,
    /// The observation is in no denominator, for this reason.
    Out(Out),
}

/// The reason why an observation is in no denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Out {
    /// The trial failed, and failures are left out.
    Failure,
    /// No judge gave a verdict.
    Unjudged,
    /// There is nothing to score, or the protocol does not count such endings.
    Unscored,
    /// The metric does not apply to the item or to the answer.
    NotApplicable,
}

impl FailurePolicy {
    /// Both policies, the default first.
    pub const ALL: [Self; 2] = [Self::Wrong, Self::LeftOut];

    /// Returns the policy's name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrong => "failures_wrong",
            Self::LeftOut => "failures_left_out",
        }
    }

    /// Returns what an observation of `item` counts for under a metric. Nothing else decides it; the first that holds
    /// counts:
    ///
    /// 1. no gold answer, or not asked: out;
    /// 2. the metric does not apply to the item: out;
    /// 3. a metric [of the context](MetricName::is_of_context) that was measured: its score, whatever came of the answer,
    ///    unless it failed and failures are left out;
    /// 4. a failure: 0, or out by this policy;
    /// 5. not found, unanswered, unparsed: 0, or what `counting` says; of the context: out, as nothing was measured;
    /// 6. an answer: its score. Without an entry, or as a share of nothing, the metric does not apply; without a verdict it is
    ///    out, or what `counting` says.
    pub fn counted<'a, C, I>(
        self,
        counting: Counting,
        item: &ItemFacts,
        observation: &'a Observation<C, I>,
        metric: &MetricName,
    ) -> Counted<'a> {
        let zero_or = |treatment: Treatment, out: Out| match treatment {
            Treatment::Zero | Treatment::Scored => Counted::Zero,
            Treatment::Out => Counted::Out(out),
        };
        let ending = observation.outcome;
        let measured = observation.scores.get(metric).filter(|_| metric.is_of_context());
        match ending {
            _ if ending.is_never_scored() => return Counted::Out(Out::Unscored),
            _ if item.applies(metric) == Applies::Not => return Counted::Out(Out::NotApplicable),
            _ if ending.is_failure() && self == Self::LeftOut => return Counted::Out(Out::Failure),
            _ if measured.is_some() => {}
            _ if ending.is_failure() => return Counted::Zero,
            _ if metric.is_of_context() => return Counted::Out(Out::NotApplicable),
            Ending::NotFound if counting.not_found == NotFoundAs::Zero => return Counted::Zero,
            Ending::Unparsed if counting.unparsed == Treatment::Scored && observation.scores.contains_key(metric) => {}
            Ending::Unparsed => return zero_or(counting.unparsed, Out::Unscored),
            Ending::Unanswered => return zero_or(counting.empty, Out::Unscored),
            _ => {}
        }
        match observation.scores.get(metric) {
            None | Some(Score::Ratio { of: 0, .. }) => Counted::Out(Out::NotApplicable),
            Some(score) if score.value(metric).is_some() => Counted::Score(score),
            Some(_) => zero_or(counting.unjudged, Out::Unjudged),
        }
    }
}

impl Out {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Failure, Self::Unjudged, Self::Unscored, Self::NotApplicable];

    /// Returns the reason's name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failure => "failure",
            Self::Unjudged => "unjudged",
            Self::Unscored => "unscored",
            Self::NotApplicable => "not_applicable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::item;
    use super::*;

    #[test]
    fn what_was_shown_counts_whatever_came_of_the_answer() {
        let recall = MetricName::from("evidence_recall");
        let counted = |ending, score: Option<f64>| {
            let mut row = Observation::new((), (), 0, ending);
            row.scores.extend(score.map(|score| (recall.clone(), Score::Value(score))));
            FailurePolicy::ALL.map(|policy| match policy.counted(Counting::default(), &item("a"), &row, &recall) {
                Counted::Score(score) => score.value(&recall),
                Counted::Zero => Some(0.0),
                Counted::Out(_) => None,
            })
        };
        assert_eq!(counted(Ending::NotFound, Some(0.5)), [Some(0.5), Some(0.5)]);
        assert_eq!(counted(Ending::Overflow, Some(0.5)), [Some(0.5), None]);
        assert_eq!(counted(Ending::Missing, None), [Some(0.0), None]);
        assert_eq!(counted(Ending::Unparsed, None), [None, None]);
    }

    #[test]
    fn what_is_no_number_has_no_verdict() {
        let mut row = Observation::new((), (), 0, Ending::Answered);
        row.scores.insert("f1".into(), Score::Value(f64::NAN));
        let counting = Counting::default();
        let counted = FailurePolicy::Wrong.counted(counting, &item("a"), &row, &"f1".into());
        assert_eq!(counted, Counted::Out(Out::Unjudged));
        row.scores.insert("f1".into(), Score::Ratio { hit: 0, of: 0 });
        let counted = FailurePolicy::Wrong.counted(counting, &item("a"), &row, &"f1".into());
        assert_eq!(counted, Counted::Out(Out::NotApplicable));
    }

    #[test]
    fn a_protocol_writes_down_only_what_differs() {
        let counting: Counting = serde_json::from_str(r#"{"unjudged": "zero", "not_found": "as_text"}"#).unwrap();
        let differs = Counting { not_found: NotFoundAs::AsText, unjudged: Treatment::Zero, ..Counting::default() };
        assert_eq!(counting, differs);
        assert_eq!(serde_json::to_value(FailurePolicy::Wrong).unwrap(), FailurePolicy::Wrong.name());
    }
}
