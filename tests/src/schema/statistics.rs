//! Agreement, correlation, intervals and tests.

use super::compare;
use super::kind::Schema;
use crate::report::FileReport;
use closeread_metrics::stats::agreement::{Ac1, Weights, cohen_kappa, fleiss_kappa, gwet_ac1, weighted_kappa};
use closeread_metrics::stats::bootstrap::{Percentile, exhaustive_means, percentile};
use closeread_metrics::stats::clustered::{clustered_mean, clustered_z_test};
use closeread_metrics::stats::correlation::{kendall, kendall_asymptotic_p, kendall_exact_p, pearson, ranks, spearman};
use closeread_metrics::stats::multiple::{benjamini_hochberg, bonferroni, holm};
use closeread_metrics::stats::paired::{mcnemar_chi_squared, mcnemar_exact, paired_t};
use closeread_metrics::stats::proportion::{agresti_coull, clopper_pearson, jeffreys, normal, wilson};
use closeread_metrics::stats::{Divisor, Observation, mean, permutation, standard_deviation, wilcoxon};
use serde::Deserialize;
use serde_json::Value;

pub(super) const SCHEMA: Schema = Schema { name: "statistics", version: "1", run };

/// Relative tolerance of everything but p-values and AC1.
const RELATIVE: f64 = 1e-9;
/// Relative tolerance of p-values, which have fewer digits below the smallest normal number.
const P_RELATIVE: f64 = 1e-8;
/// Absolute tolerance of AC1: irrCAC rounds to 14 digits.
const AC1_ABSOLUTE: f64 = 1e-9;
/// Absolute tolerance where ours is exactly 0 and the reference has rounding of values near 1.
const ROUNDING: f64 = 1e-14;
/// Absolute tolerance of standard errors: the reference takes the root of a difference, which leaves rounding of 1e-16.
const ROOT_OF_ROUNDING: f64 = 1e-7;

type Group = fn(&Value) -> Result<(), String>;

const GROUPS: [(&str, Group); 11] = [
    ("two_raters", two_raters),
    ("many_raters", many_raters),
    ("correlation", correlation),
    ("proportion", proportion),
    ("clustered_se", clustered_se),
    ("paired_clustered", paired_clustered),
    ("mcnemar", mcnemar),
    ("paired_permutation", paired_permutation),
    ("exhaustive_bootstrap", exhaustive_bootstrap),
    ("percentiles", percentiles),
    ("multiple_comparison", multiple_comparison),
];

fn run(file: &Value, report: &mut FileReport) {
    for (name, group) in GROUPS {
        report.cases(file, name, group);
    }
    for (name, value) in file.as_object().into_iter().flatten() {
        let cases = value.as_array().map_or(0, Vec::len);
        if cases > 0 && GROUPS.iter().all(|(known, _)| known != name) {
            report.not_yet(&format!("statistics: group {name} has no code yet"), cases);
        }
    }
}

/// A rater's label. Numbers stand before texts, in their order.
#[derive(Clone, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(untagged)]
enum Label {
    Number(i64),
    Text(String),
}

/// Compares results with the expected values that a case has.
struct Expected<'a>(&'a Value);

impl<'a> Expected<'a> {
    fn of(case: &'a Value) -> Result<Self, String> {
        case.get("expected").map(Self).ok_or_else(|| "case has no `expected`".to_owned())
    }

    fn at(&self, field: &str) -> Result<Self, String> {
        self.0.get(field).map(Self).ok_or_else(|| format!("expected has no `{field}`"))
    }

    fn value(&self, field: &str, got: Option<f64>) -> Result<(), String> {
        self.with(field, got, RELATIVE, ROUNDING)
    }

    fn p(&self, field: &str, got: Option<f64>) -> Result<(), String> {
        self.with(field, got, P_RELATIVE, f64::MIN_POSITIVE)
    }

    fn with(&self, field: &str, got: Option<f64>, relative: f64, absolute: f64) -> Result<(), String> {
        close(field, got, &self.at(field)?.0.clone(), relative, absolute)
    }

    /// Calls [`Self::with`] if the case has the field.
    fn if_there(&self, field: &str, got: Option<f64>, relative: f64, absolute: f64) -> Result<(), String> {
        if self.0.get(field).is_some() { self.with(field, got, relative, absolute) } else { Ok(()) }
    }

    fn list(&self, field: &str, got: &[Option<f64>], relative: f64, absolute: f64) -> Result<(), String> {
        let expected = self.at(field)?;
        let expected = expected.0.as_array().ok_or_else(|| format!("expected `{field}` is no list"))?;
        if expected.len() != got.len() {
            return Err(format!("{field}: expected {} numbers, got {}", expected.len(), got.len()));
        }
        let pairs = got.iter().zip(expected).enumerate();
        pairs.into_iter().try_for_each(|(i, (g, e))| close(&format!("{field} {i}"), *g, e, relative, absolute))
    }
}

/// Compares two numbers. Where ours is absent, the reference has NaN.
fn close(what: &str, got: Option<f64>, expected: &Value, relative: f64, absolute: f64) -> Result<(), String> {
    let Some(number) = expected.as_f64() else {
        return match (expected.as_str(), got) {
            (Some("NaN"), None) => Ok(()),
            _ => Err(format!("{what}: expected {expected}, got {got:?}")),
        };
    };
    let got = got.ok_or_else(|| format!("{what}: expected {number}, got nothing"))?;
    compare::close(what, got, number, absolute.max(relative * number.abs()))
}

fn two_raters(case: &Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Case {
        rater_1: Vec<Label>,
        rater_2: Vec<Label>,
    }
    let Case { rater_1: first, rater_2: second } = compare::parse(case)?;
    let expected = Expected::of(case)?;
    let agreeing: Vec<f64> = first.iter().zip(&second).map(|(a, b)| f64::from(u8::from(a == b))).collect();
    expected.value("agreement", mean(&agreeing))?;
    let kappa = cohen_kappa(&first, &second);
    expected.value("cohen_kappa", kappa.as_ref().map(|k| k.kappa))?;
    let weighted = |weights| weighted_kappa(&first, &second, weights);
    expected.if_there("cohen_kappa_linear", weighted(Weights::Linear), RELATIVE, ROUNDING)?;
    expected.if_there("cohen_kappa_quadratic", weighted(Weights::Quadratic), RELATIVE, ROUNDING)?;
    // Where all agree, the reference's variance is rounding and may be negative: there ours is 0.
    let degenerate = kappa.as_ref().is_some_and(|k| k.standard_error == 0.0);
    let absolute = if degenerate { ROOT_OF_ROUNDING } else { ROUNDING };
    if !(degenerate && expected.at("kappa_standard_error").is_ok_and(|e| e.0.as_str() == Some("NaN"))) {
        let error = kappa.as_ref().map(|k| k.standard_error);
        expected.if_there("kappa_standard_error", error, RELATIVE, absolute)?;
        if expected.at("kappa_ci95").is_ok() {
            let uncut = kappa.as_ref().map(closeread_metrics::stats::agreement::Kappa::uncut);
            let ends = [uncut.map(|ends| ends.0), uncut.map(|ends| ends.1)];
            expected.list("kappa_ci95", &ends, RELATIVE, absolute)?;
        }
    }
    let rows: Vec<Vec<Label>> = first.into_iter().zip(second).map(|(a, b)| vec![a, b]).collect();
    ac1(&expected.at("gwet_ac1")?, gwet_ac1(&rows))
}

fn ac1(expected: &Expected<'_>, got: Option<Ac1>) -> Result<(), String> {
    let got = got.ok_or("AC1: expected a value, got nothing")?;
    expected.with("ac1", Some(got.ac1), 0.0, AC1_ABSOLUTE)?;
    expected.with("pa", Some(got.observed), 0.0, AC1_ABSOLUTE)?;
    expected.with("pe", Some(got.expected), 0.0, AC1_ABSOLUTE)?;
    expected.with("se", got.standard_error, 0.0, AC1_ABSOLUTE)?;
    // The reference has no interval where all items have the same value; if it gives one, it must be ours.
    expected.if_there("p", got.p_value, 0.0, AC1_ABSOLUTE)?;
    let z = got.standard_error.filter(|_| got.interval.is_some()).map(|error| got.ac1 / error);
    expected.if_there("z", z, RELATIVE, AC1_ABSOLUTE)?;
    if expected.at("ci95").is_ok() {
        expected.list("ci95", &[got.interval.map(|i| i.0), got.interval.map(|i| i.1)], 0.0, AC1_ABSOLUTE)?;
    }
    Ok(())
}

fn many_raters(case: &Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Case {
        ratings: Vec<Vec<Label>>,
    }
    let Case { ratings } = compare::parse(case)?;
    let expected = Expected::of(case)?;
    expected.value("fleiss_kappa", fleiss_kappa(&ratings))?;
    ac1(&expected.at("gwet_ac1")?, gwet_ac1(&ratings))
}

fn correlation(case: &Value) -> Result<(), String> {
    let (x, y) = (numbers(case, "x")?, numbers(case, "y")?);
    let expected = Expected::of(case)?;
    let measures = [("pearson", "r", pearson(&x, &y)), ("spearman", "rho", spearman(&x, &y))];
    for (name, coefficient, got) in measures.into_iter().chain([("kendall_tau_b", "tau", kendall(&x, &y))]) {
        let expected = expected.at(name)?;
        let named = |error| format!("{name}: {error}");
        expected.value(coefficient, got.map(|c| c.coefficient)).map_err(named)?;
        expected.p("p", got.and_then(|c| c.p_value)).map_err(named)?;
    }
    let tau = expected.at("kendall_tau_b")?;
    tau.if_there("p_asymptotic", kendall_asymptotic_p(&x, &y), P_RELATIVE, f64::MIN_POSITIVE)?;
    tau.if_there("p_exact", kendall_exact_p(&x, &y), P_RELATIVE, f64::MIN_POSITIVE)?;
    for (field, values) in [("ranks_x", &x), ("ranks_y", &y)] {
        let got: Vec<Option<f64>> = match ranks(values) {
            Some(ranks) => ranks.into_iter().map(Some).collect(),
            None => vec![None; values.len()],
        };
        expected.list(field, &got, 0.0, 0.0)?;
    }
    Ok(())
}

fn proportion(case: &Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Case {
        successes: usize,
        trials: usize,
    }
    let Case { successes, trials } = compare::parse(case)?;
    type Interval = fn(usize, usize, f64) -> (f64, f64);
    let intervals: [(&str, Interval); 5] = [
        ("wilson", wilson),
        ("clopper_pearson", clopper_pearson),
        ("normal", normal),
        ("agresti_coull", agresti_coull),
        ("jeffreys", jeffreys),
    ];
    let expected = Expected::of(case)?;
    let fields = expected.0.as_object().ok_or("`expected` is no object")?;
    for field in fields.keys() {
        let (name, level) = field.rsplit_once('_').ok_or_else(|| format!("`{field}` names no level"))?;
        let percent: f64 = level.parse().map_err(|_| format!("`{field}` names no level"))?;
        let known = intervals.iter().find(|(known, _)| *known == name);
        let (low, high) = known.ok_or_else(|| format!("no interval `{name}`"))?.1(successes, trials, percent / 100.0);
        expected.list(field, &[Some(low), Some(high)], RELATIVE, ROUNDING)?;
    }
    Ok(())
}

/// Values with the name of their cluster.
fn observed<'a>(values: &[f64], clusters: &'a [String]) -> Vec<Observation<'a>> {
    values.iter().zip(clusters).map(|(&value, cluster)| Observation { value, cluster }).collect()
}

fn cluster_names(case: &Value) -> Result<Vec<String>, String> {
    let names: Vec<Value> = compare::parse(case.get("clusters").unwrap_or(&Value::Null))?;
    Ok(names.iter().map(Value::to_string).collect())
}

fn clustered_se(case: &Value) -> Result<(), String> {
    let (values, clusters) = (numbers(case, "values")?, cluster_names(case)?);
    let got = clustered_mean(&observed(&values, &clusters)).ok_or("no mean")?;
    let expected = Expected::of(case)?;
    expected.value("mean", Some(got.mean))?;
    expected.value("se_iid_n_minus_1", got.standard_error_iid)?;
    let n = got.n as f64;
    expected.value("se_iid_n", standard_deviation(&values, Divisor::N).map(|sd| sd / n.sqrt()))?;
    expected.value("se_clustered", Some(got.standard_error))?;
    expected.value("se_clustered_small_sample", got.standard_error_small_sample)?;
    expected.value("n", Some(n))?;
    expected.value("clusters", Some(got.clusters as f64))
}

fn paired_clustered(case: &Value) -> Result<(), String> {
    let (differences, clusters) = (differences(case)?, cluster_names(case)?);
    let got = clustered_mean(&observed(&differences, &clusters)).ok_or("no mean")?;
    let test = clustered_z_test(&got);
    let expected = Expected::of(case)?;
    expected.value("mean_difference_b_minus_a", Some(got.mean))?;
    expected.value("se_clustered", Some(got.standard_error))?;
    expected.value("z", test.as_ref().map(|t| t.z))?;
    expected.p("p_two_sided_normal", test.as_ref().map(|t| t.p_value))?;
    // Without spread the ends are the mean.
    let ends = test.map_or([got.mean; 2], |t| [t.low, t.high]).map(Some);
    expected.list("ci95_normal", &ends, RELATIVE, ROUNDING)
}

fn mcnemar(case: &Value) -> Result<(), String> {
    #[derive(Deserialize)]
    struct Case {
        table: [[u64; 2]; 2],
    }
    let Case { table: [[_, first], [second, _]] } = compare::parse(case)?;
    let expected = Expected::of(case)?;
    let exact = expected.at("exact")?;
    exact.value("statistic_min_discordant", Some(first.min(second) as f64))?;
    exact.p("p", Some(mcnemar_exact(first, second)))?;
    for (name, corrected) in [("chi2", false), ("chi2_corrected", true)] {
        if let Ok(expected) = expected.at(name) {
            let got = mcnemar_chi_squared(first, second, corrected);
            expected.value("statistic", got.map(|g| g.0))?;
            expected.p("p", got.map(|g| g.1))?;
        }
    }
    Ok(())
}

fn paired_permutation(case: &Value) -> Result<(), String> {
    let differences = differences(case)?;
    let expected = Expected::of(case)?;
    expected.value("mean_difference_b_minus_a", mean(&differences))?;
    let got = permutation(&differences);
    // The distribution of sign flips is symmetric, so both definitions agree.
    expected.p("p_two_sided", got.map(|g| g.two_sided))?;
    expected.p("p_two_sided_by_absolute_value", got.map(|g| g.two_sided))?;
    expected.p("p_greater", got.map(|g| g.greater))?;
    if let Ok(expected) = expected.at("wilcoxon") {
        let got = wilcoxon(&differences);
        expected.value("statistic", got.map(|g| g.statistic))?;
        expected.p("p", got.map(|g| g.p_value))?;
    }
    if let Ok(expected) = expected.at("paired_t") {
        let got = paired_t(&differences);
        expected.value("t", got.map(|g| g.0))?;
        expected.p("p", got.map(|g| g.1))?;
    }
    Ok(())
}

fn exhaustive_bootstrap(case: &Value) -> Result<(), String> {
    let got = exhaustive_means(&numbers(case, "values")?).ok_or("too many values to take all resamples of")?;
    let expected = Expected::of(case)?;
    expected.value("n_all_resamples", Some(got.total() as f64))?;
    expected.value("bootstrap_distribution_mean", Some(got.mean()))?;
    expected.value("bootstrap_distribution_sd", Some(got.standard_deviation()))?;
    let ends = |tail: f64, method| [tail, 1.0 - tail].map(|p| Some(got.percentile(p, method)));
    expected.list("percentile_95_linear", &ends(0.025, Percentile::Linear), RELATIVE, ROUNDING)?;
    expected.list("percentile_95_inverted_cdf", &ends(0.025, Percentile::InvertedCdf), RELATIVE, ROUNDING)?;
    expected.list("percentile_90_inverted_cdf", &ends(0.05, Percentile::InvertedCdf), RELATIVE, ROUNDING)
}

fn percentiles(case: &Value) -> Result<(), String> {
    let values = numbers(case, "values")?;
    let expected = Expected::of(case)?;
    let percents = numbers(expected.0, "p")?;
    for (field, method) in [("linear", Percentile::Linear), ("inverted_cdf", Percentile::InvertedCdf)] {
        let got: Vec<Option<f64>> = percents.iter().map(|p| percentile(&values, p / 100.0, method)).collect();
        expected.list(field, &got, RELATIVE, ROUNDING)?;
    }
    expected.value("mean", mean(&values))?;
    expected.value("sd_n_minus_1", standard_deviation(&values, Divisor::NMinusOne))?;
    expected.value("sd_n", standard_deviation(&values, Divisor::N))
}

fn multiple_comparison(case: &Value) -> Result<(), String> {
    let p = numbers(case, "p")?;
    let expected = Expected::of(case)?;
    let adjusted = [("holm", holm(&p)), ("bonferroni", bonferroni(&p)), ("benjamini_hochberg", benjamini_hochberg(&p))];
    for (field, got) in adjusted {
        let got: Vec<Option<f64>> = got.into_iter().map(|p| (!p.is_nan()).then_some(p)).collect();
        expected.list(field, &got, RELATIVE, 0.0)?;
    }
    Ok(())
}

/// `b` - `a`.
fn differences(case: &Value) -> Result<Vec<f64>, String> {
    let (a, b) = (numbers(case, "a")?, numbers(case, "b")?);
    if a.len() != b.len() {
        return Err(format!("{} values of `a`, {} of `b`", a.len(), b.len()));
    }
    Ok(a.iter().zip(&b).map(|(a, b)| b - a).collect())
}

/// A list of numbers. Strings stand for numbers that JSON cannot write, such as NaN.
fn numbers(case: &Value, field: &str) -> Result<Vec<f64>, String> {
    let list = case.get(field).and_then(Value::as_array).ok_or_else(|| format!("case has no list `{field}`"))?;
    let number = |value: &Value| match value.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        _ => value.as_f64(),
    };
    let numbers = list.iter().map(|value| number(value).ok_or_else(|| format!("`{field}` holds {value}")));
    numbers.collect()
}
