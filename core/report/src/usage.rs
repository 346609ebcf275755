//! Usage of a run: calls, tokens, money, time.

mod table;

pub(crate) use table::usage_table;

use super::{Arm, PreparationCalls};
use closeread_eval::Outcome;
use closeread_judges::{Judge, Judgement, JudgementKey};
use closeread_llm::price::{Dollars, PriceList};
use closeread_methods::record::{CallTrace, Record, TrialKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Usage of the trials of a cell, or of all preparations of a method with a model, or of all that a model was asked as
/// a judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Method, model, budget; no budget for preparations, which serve all of them. The name of the judge stands in the
    /// place of the method where `judging` is true.
    #[serde(flatten)]
    pub key: Arm,
    /// True for the preparations.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub preparation: bool,
    /// True for the calls of a judge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judging: bool,
    /// True of a log of another tool, of which no calls are read: all that is known are the seconds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untold: bool,
    /// Number of calls that were asked.
    pub calls: usize,
    /// Calls whose response was remembered: nothing was spent.
    pub remembered: usize,
    /// Calls of which the provider did not say how many tokens they took; they are in none of the sums.
    pub uncounted: usize,
    /// Calls of which closeread counted tokens, because the provider named none, or a number that cannot be.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub own_count: usize,
    /// Tokens of prompts, cached ones included, as the provider counted them.
    pub prompt_tokens: u64,
    /// Tokens of the prompts that were read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens of responses, reasoning included.
    pub completion_tokens: u64,
    /// Tokens of the responses that are reasoning, where the provider tells them apart.
    pub reasoning_tokens: u64,
    /// Cost of the calls whose price is known.
    pub dollars: Dollars,
    /// Calls whose cost is not known.
    pub unpriced: usize,
    /// Median wall time of a trial in seconds, waiting included; absent for preparations and without a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_median: Option<f64>,
    /// Longest wall time of a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_most: Option<f64>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

impl Usage {
    /// Share of the prompts' tokens that came from the provider's cache; `None` without a token.
    pub(crate) fn cached_share(&self) -> Option<f64> {
        (self.prompt_tokens > 0).then(|| self.cached_tokens as f64 / self.prompt_tokens as f64)
    }

    fn none(key: Arm) -> Self {
        Self {
            key,
            preparation: false,
            judging: false,
            untold: false,
            calls: 0,
            remembered: 0,
            uncounted: 0,
            own_count: 0,
            prompt_tokens: 0,
            cached_tokens: 0,
            completion_tokens: 0,
            reasoning_tokens: 0,
            dollars: Dollars::default(),
            unpriced: 0,
            seconds_median: None,
            seconds_most: None,
        }
    }

    /// What is left where no calls are known: the seconds, if a trial states any.
    pub(crate) fn without_calls(self) -> Self {
        let Self { key, seconds_median, seconds_most, .. } = self;
        let seconds_median = seconds_median.filter(|_| seconds_most > Some(0.0));
        let seconds_most = seconds_most.filter(|most| *most > 0.0);
        Self { untold: true, seconds_median, seconds_most, ..Self::none(key) }
    }

    /// Counts the calls of a trial, of a preparation or of a judgement; `blocked` are the tokens of all its prompts where the
    /// last response was blocked.
    fn count_all(&mut self, calls: &[CallTrace], blocked: Option<usize>, prices: &PriceList) {
        calls.iter().for_each(|call| self.count(call, prices));
        if let Some(usage) = blocked.and_then(|tokens| blocked_call(calls, tokens)) {
            self.add(&usage, prices);
        }
    }

    fn count(&mut self, call: &CallTrace, prices: &PriceList) {
        if call.cached {
            self.remembered += 1;
            return;
        }
        self.add(&call.usage, prices);
    }

    /// Counts a call that was sent.
    fn add(&mut self, usage: &closeread_llm::Usage, prices: &PriceList) {
        self.calls += 1;
        self.uncounted += usize::from(usage.prompt_tokens.is_none() || usage.completion_tokens.is_none());
        self.own_count += usize::from(usage.own_count);
        let add = |sum: &mut u64, n: Option<u64>| *sum = sum.saturating_add(n.unwrap_or(0));
        add(&mut self.prompt_tokens, usage.prompt_tokens);
        add(&mut self.cached_tokens, usage.cached_tokens);
        add(&mut self.completion_tokens, usage.completion_tokens);
        add(&mut self.reasoning_tokens, usage.reasoning_tokens);
        match prices.cost(&self.key.model, usage) {
            Some(dollars) => self.dollars += dollars,
            None => self.unpriced += 1,
        }
    }
}

/// What is known of a call whose response was blocked: the tokens of its prompt, as closeread counted them, are those of all
/// prompts less those of `calls`, which have a response. `None` where no prompt is left.
pub fn blocked_call(calls: &[CallTrace], prompt_tokens: usize) -> Option<closeread_llm::Usage> {
    let answered: usize = calls.iter().map(|call| call.counted_tokens).sum();
    let asked = prompt_tokens.checked_sub(answered).filter(|asked| *asked > 0)?;
    let (prompt_tokens, completion_tokens) = (Some(asked as u64), Some(0));
    Some(closeread_llm::Usage { prompt_tokens, completion_tokens, own_count: true, ..Default::default() })
}

/// Returns the usage of each cell of `plan`, in its order, then the preparations, then the judges; of several records
/// of one trial, and of several judgements with one key, the last counts.
pub fn usage(
    plan: &[Arm],
    records: &[Record],
    preparations: &[PreparationCalls],
    judgements: &[Judgement],
    prices: &PriceList,
) -> Vec<Usage> {
    let mut latest: BTreeMap<&TrialKey, &Record> = BTreeMap::new();
    for record in records {
        latest.insert(&record.key, record);
    }
    let of_cell = |key: &Arm| {
        let mut usage = Usage::none(key.clone());
        let mut seconds = Vec::new();
        for record in latest.values().filter(|record| Arm::of(&record.key) == *key) {
            usage.count_all(&record.calls, record.blocked_tokens(), prices);
            // A trial that asked nothing, or that another asked for, took no time of its own.
            let is_own = record.shared_call.is_none() && !matches!(record.outcome, Outcome::NotAsked { .. });
            seconds.extend(is_own.then_some(record.seconds));
        }
        seconds.sort_by(f64::total_cmp);
        usage.seconds_median = median(&seconds);
        usage.seconds_most = seconds.last().copied();
        usage
    };
    let mut all: Vec<Usage> = plan.iter().map(of_cell).collect();
    let mut prepared: BTreeMap<(&str, &str), Usage> = BTreeMap::new();
    for preparation in preparations {
        let PreparationCalls { method, model, calls, blocked_tokens } = preparation;
        let key = Arm { method: method.clone(), model: model.clone(), budget: None };
        let usage = prepared.entry((method, model)).or_insert_with(|| Usage { preparation: true, ..Usage::none(key) });
        usage.count_all(calls, *blocked_tokens, prices);
    }
    all.extend(prepared.into_values());
    all.extend(of_judges(judgements, prices));
    all
}

/// Returns the usage of each model as each judge; rules, which ask nobody, are not there.
fn of_judges(judgements: &[Judgement], prices: &PriceList) -> Vec<Usage> {
    let latest: BTreeMap<&JudgementKey, &Judgement> = judgements.iter().map(|one| (&one.key, one)).collect();
    let mut judges: BTreeMap<(Judge, &str), Usage> = BTreeMap::new();
    let was_sent = |one: &&&Judgement| !one.calls.is_empty() || one.blocked_tokens.is_some();
    for judgement in latest.values().filter(was_sent) {
        let JudgementKey { judge, judge_model, .. } = &judgement.key;
        let key = Arm { method: judge.name().to_owned(), model: judge_model.clone(), budget: None };
        let usage = judges.entry((*judge, judge_model)).or_insert_with(|| Usage { judging: true, ..Usage::none(key) });
        usage.count_all(&judgement.calls, judgement.blocked_tokens, prices);
    }
    judges.into_values().collect()
}

fn median(ascending: &[f64]) -> Option<f64> {
    let n = ascending.len();
    (n > 0).then(|| (ascending[(n - 1) / 2] + ascending[n / 2]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::testing::{answered, key, record};
    use closeread_judges::Judging;
    use closeread_table::render::text;
    use expect_test::expect;

    fn call(prompt: u64, cached: u64, response: u64) -> CallTrace {
        CallTrace {
            prompt: "read-choice".to_owned(),
            usage: closeread_llm::Usage {
                prompt_tokens: Some(prompt),
                completion_tokens: Some(response),
                cached_tokens: Some(cached),
                ..closeread_llm::Usage::default()
            },
            ..CallTrace::default()
        }
    }

    #[test]
    fn the_table_says_what_was_spent_and_what_is_not_known() {
        let plan = [key("full-document", None), key("dos-rag", Some(500)), key("raptor", Some(500))];
        let mut first = record(&plan[0], "a", answered(), &[]);
        first.calls = vec![call(1_000_000, 0, 10)];
        let mut second = record(&plan[0], "b", answered(), &[]);
        second.calls = vec![call(1_000_000, 900_000, 10)];
        second.seconds = 1.5;
        let mut third = record(&plan[1], "a", answered(), &[]);
        third.calls = vec![CallTrace { cached: true, ..call(5, 0, 5) }, call(500, 0, 5)];
        third.calls.push(CallTrace { usage: closeread_llm::Usage::default(), ..call(0, 0, 0) });
        let not_asked = Outcome::NotAsked { reason: "no summary".to_owned() };
        let unasked = ["c", "d"].map(|item| record(&plan[0], item, not_asked.clone(), &[]));
        let unasked = unasked.map(|record| Record { seconds: 0.0, ..record });
        let failed = record(&plan[2], "a", Outcome::Failed { error: "busy".to_owned() }, &[]);
        let prices = PriceList::read(
            "['p/x']\nsource = 'a contract'\ndate = '2026-01-02'\n\
             price = { input = 2, cached_input = 0.5, output = 8 }",
        )
        .unwrap();
        let run = Run {
            name: "r".to_owned(),
            benchmark: "b".to_owned(),
            plan: plan.to_vec(),
            items: Vec::new(),
            records: [vec![first, second, third, failed], unasked.to_vec()].concat(),
            repeats: 1,
            books: BTreeMap::new(),
            texts: BTreeMap::new(),
            data: Vec::new(),
            asked: crate::HowAsked::default(),
            facts: Vec::new(),
            judging: Judging::default(),
            preparations: vec![PreparationCalls {
                method: "raptor".to_owned(),
                model: "p/x".to_owned(),
                calls: vec![call(3_000, 0, 100)],
                blocked_tokens: None,
            }],
            prices,
            served: Vec::new(),
            is_log: false,
            gaps: Vec::new(),
        };
        let usages = usage(&run.plan, &run.records, &run.preparations, &run.judging.judgements, &run.prices);
        expect![[r#"
            What it took
            method                budget  calls  remembered  prompt tokens  % cached  response tokens  dollars  s median  s most
            --------------------------------------------------------------------------------------------------------------------
            full-document              -      2           0      2,000,000      45.0               20   2.6502       1.0     1.5
            dos-rag                  500      2           1            500       0.0                5   0.0010       0.5     0.5
            raptor                   500      0           0              -         -                -   0.0000       0.5     0.5
            raptor (preparation)       -      1           0          3,000       0.0              100   0.0068         -       -
            r: 1 of 5 calls did not tell their tokens and are in none of the sums
            r: 1 of 5 calls have no known cost and are not in the dollars
            r: trials that failed before their first response: 1; calls of a preparation that failed are in journal/ and in no line
            r: prices of p/x as of 2026-01-02, a contract
        "#]]
        .assert_eq(&text::table(&usage_table(&[(&run, &usages)])));
    }

    #[test]
    fn a_blocked_response_costs_its_prompt() {
        let plan = [key("agentic-rag", None)];
        let mut record = record(&plan[0], "a", Outcome::Blocked { reason: "content_filter".to_owned() }, &[]);
        record.calls = vec![CallTrace { counted_tokens: 90, ..call(100, 0, 10) }];
        record.prompt_tokens = 290;
        let prices =
            PriceList::read("['p/x']\nsource = 'a contract'\ndate = '2026-01-02'\nprice = { input = 1, output = 10 }");
        let kept = r#"{"method": "raptor", "model": "p/x", "calls": [], "prompt_tokens": 40,
            "prepared": {"Err": {"outcome": "blocked", "reason": "content_filter"}}}"#;
        let preparation: PreparationCalls = serde_json::from_str(kept).unwrap();
        let all = usage(&plan, &[record], &[preparation], &[], &prices.unwrap());
        let told = |usage: &Usage| (usage.calls, usage.own_count, usage.prompt_tokens, usage.dollars.0);
        assert_eq!(told(&all[0]), (2, 1, 300, 0.0004));
        assert_eq!(told(&all[1]), (1, 1, 40, 0.00004));
    }
}
