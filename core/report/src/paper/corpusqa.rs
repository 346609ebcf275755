//! CorpusQA (section 4): accuracy by domain, length set and difficulty, human readers, and what retrieval can not reach.

use super::tabulate::{
    Group, count, filled, groups, number, policy_note, score_over_trials, share, table, text, values,
};
use crate::PASSAGES;
use closeread_eval::observations::{Ending, FailurePolicy, ItemFacts, Observation, Observations};
use closeread_table::{Table, Value};

/// Domains in the order of Table 3, as ids and labels begin.
pub const DOMAINS: [&str; 4] = ["financial_zh", "financial_en", "education_en", "real_estate_en"];
/// Length sets in order, as labels may write them.
pub const LENGTH_SETS: [&str; 8] = ["set1", "set2", "set3", "set4", "128K", "1M", "4M", "10M"];
/// Difficulties in order, as labels may write them.
pub const DIFFICULTIES: [&str; 6] = ["easy", "Easy", "medium", "Medium", "hard", "Hard"];
/// Minutes after which a question put to a human reader counts as timed out (section 4.5).
pub const TIME_LIMIT_MINUTES: f64 = 90.0;
/// The model name under which trials of human readers stand.
pub const HUMAN: &str = "human";

/// The domain that an id's prefix names (the reference script); `None` counts only in the overall figure.
pub fn domain_of_id(id: &str) -> Option<&'static str> {
    DOMAINS.into_iter().find(|domain| id.starts_with(domain))
}

/// Overall accuracy as the paper's tables have it: the unweighted mean of the domains that have any question.
pub fn mean_of_domains(accuracy_by_domain: &[f64]) -> Option<f64> {
    let n = accuracy_by_domain.len();
    (n > 0).then(|| accuracy_by_domain.iter().sum::<f64>() / n as f64)
}

/// True where retrieval can not have seen every document: fewer chunks than documents (Table 4, dagger).
pub fn cannot_be_complete(n_chunks: usize, n_documents: usize) -> bool {
    n_chunks < n_documents
}

/// What human readers did on the questions of one length set (section 4.5, Table 5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HumanStudy {
    /// Share of questions answered correctly in time.
    pub accuracy: f64,
    /// Mean minutes a question, a time-out counting as the whole limit.
    pub minutes: Option<f64>,
    /// Share of questions not answered in time.
    pub timeouts: f64,
    /// Questions.
    pub n: usize,
}

/// Accuracy, minutes and time-outs; each trial is (score, minutes if they were taken, gave up). `None` without trials.
///
/// A question not answered within [`TIME_LIMIT_MINUTES`] is a time-out and wrong, whatever was answered afterwards.
pub fn human_study(trials: &[(f64, Option<f64>, bool)]) -> Option<HumanStudy> {
    let n = trials.len();
    if n == 0 {
        return None;
    }
    let late = |(_, minutes, gave_up): &(f64, Option<f64>, bool)| {
        *gave_up || minutes.is_some_and(|minutes| minutes > TIME_LIMIT_MINUTES)
    };
    let in_time = trials.iter().filter(|trial| !late(trial)).map(|(score, ..)| score);
    let timed: Vec<f64> =
        trials.iter().filter_map(|trial| if late(trial) { Some(TIME_LIMIT_MINUTES) } else { trial.1 }).collect();
    Some(HumanStudy {
        accuracy: in_time.sum::<f64>() / n as f64,
        minutes: (!timed.is_empty()).then(|| timed.iter().sum::<f64>() / timed.len() as f64),
        timeouts: trials.iter().filter(|trial| late(trial)).count() as f64 / n as f64,
        n,
    })
}

/// The paper's tables for these trials; those for which the trials carry nothing are left out.
pub fn tables(trials: &Observations) -> Vec<Table> {
    let groups = groups(trials);
    let all = [by_domain(trials, &groups), by_difficulty(trials, &groups), reach(&groups), humans(trials, &groups)];
    all.into_iter().filter_map(filled).collect()
}

fn domain(item: &ItemFacts) -> Option<&str> {
    item.label("domain").or_else(|| domain_of_id(&item.id))
}

/// Domains that occur, the paper's in its order first.
fn domains(trials: &Observations) -> Vec<String> {
    let mut domains: Vec<&str> = trials.items().filter_map(|(_, item)| domain(item)).collect();
    let rank = |name: &str| DOMAINS.iter().position(|known| *known == name).unwrap_or(DOMAINS.len());
    domains.sort_by_key(|name| (rank(name), *name));
    domains.dedup();
    domains.into_iter().map(str::to_owned).collect()
}

/// The length sets that occur, each with a name; one for everything where no item has the label.
fn length_sets(trials: &Observations) -> Vec<Option<String>> {
    let sets: Vec<Option<String>> = values(trials, "length_set", &LENGTH_SETS).into_iter().map(Some).collect();
    if sets.is_empty() { vec![None] } else { sets }
}

fn in_set(item: &ItemFacts, set: Option<&str>) -> bool {
    set.is_none_or(|set| item.label("length_set") == Some(set))
}

fn by_domain(trials: &Observations, groups: &[Group<'_>]) -> Table {
    let domains = domains(trials);
    let columns = ["length set", "policy"].into_iter().chain(domains.iter().map(String::as_str));
    let columns = columns.chain(["mean of domains", "correct / total"]);
    let title = "Accuracy by length set and domain, with both readings of overall";
    let mut table = table(groups, "corpusqa-domain", title, "CorpusQA, Tables 3 and 4", columns);
    for set in length_sets(trials) {
        for group in groups {
            let here = group.about(|item| in_set(item, set.as_deref()));
            if group.is_empty(&here) {
                continue;
            }
            for policy in FailurePolicy::ALL {
                let of = |name: &str| group.about(|item| in_set(item, set.as_deref()) && domain(item) == Some(name));
                let parts: Vec<Value> = domains.iter().map(|name| group.mean(&of(name), policy)).collect();
                let means = parts.iter().filter_map(|part| match part {
                    Value::Score { estimate } => Some(estimate.value),
                    _ => None,
                });
                let overall = mean_of_domains(&means.collect::<Vec<_>>());
                let all = group.mean(&here, policy);
                let n = if let Value::Score { estimate } = &all { estimate.n } else { 0 };
                let head = [text(set.as_deref().unwrap_or("-")), text(policy.name())];
                let tail = [share(overall, n, "no domain is known"), all];
                table.rows.push(group.row(head.into_iter().chain(parts).chain(tail)));
            }
        }
    }
    table
        .notes
        .push("the paper's overall is the unweighted mean of the domains, its script's is correct / total".to_owned());
    table.notes.extend(FailurePolicy::ALL.map(policy_note));
    table
}

fn by_difficulty(trials: &Observations, groups: &[Group<'_>]) -> Table {
    let difficulties = values(trials, "difficulty", &DIFFICULTIES);
    let columns = ["length set"].into_iter().chain(difficulties.iter().map(String::as_str));
    let title = "Accuracy by length set and difficulty";
    let mut table = table(groups, "corpusqa-difficulty", title, "CorpusQA, figure 3 and Table 2", columns);
    if difficulties.is_empty() {
        return table;
    }
    for set in length_sets(trials) {
        for group in groups {
            let here = |item: &ItemFacts| in_set(item, set.as_deref());
            if group.is_empty(&group.about(here)) {
                continue;
            }
            let mean = |value: &String| {
                let rows = group.about(|item| here(item) && item.label("difficulty") == Some(value));
                group.mean(&rows, FailurePolicy::Wrong)
            };
            let head = text(set.as_deref().unwrap_or("-"));
            table.rows.push(group.row([head].into_iter().chain(difficulties.iter().map(mean))));
        }
    }
    table.notes.push(policy_note(FailurePolicy::Wrong));
    table
}

fn reach(groups: &[Group<'_>]) -> Table {
    let columns = ["fewer chunks than documents", "score there", "score elsewhere"];
    let title = "Questions whose context holds fewer chunks than there are documents: no answer over all can be right";
    let mut table = table(groups, "corpusqa-reach", title, "CorpusQA, Table 4, dagger", columns);
    for group in groups {
        let several = |row: &&Observation| group.item(row.item).documents.len() > 1;
        let rows = group.rows();
        let retrieved = group.table.rows(&rows).filter(several);
        let retrieved: Vec<(&Observation, bool)> = retrieved
            .filter_map(|row| {
                let chunks = *row.measures.get(PASSAGES)? as usize;
                Some((row, cannot_be_complete(chunks, group.item(row.item).documents.len())))
            })
            .collect();
        if retrieved.is_empty() {
            continue;
        }
        let items = |wanted: bool| {
            let items = retrieved.iter().filter(|(_, short)| *short == wanted).map(|(row, _)| row.item);
            group.rows().items(items)
        };
        let flags = retrieved.iter().map(|(row, short)| (f64::from(*short), group.item(row.item)));
        table.rows.push(group.row([
            score_over_trials(flags, "no retrieval"),
            group.mean(&items(true), FailurePolicy::Wrong),
            group.mean(&items(false), FailurePolicy::Wrong),
        ]));
    }
    table
}

fn humans(trials: &Observations, groups: &[Group<'_>]) -> Table {
    let columns = ["length set", "accuracy", "minutes", "time-outs", "questions"];
    let mut table = table(groups, "corpusqa-human", "Human readers", "CorpusQA, section 4.5 and Table 5", columns);
    let is_human = |group: &&Group<'_>| [&*group.key.model, &*group.key.method].contains(&HUMAN);
    for set in length_sets(trials) {
        for group in groups.iter().filter(is_human) {
            let here = group.trials().into_iter().filter(|(row, _)| in_set(group.item(row.item), set.as_deref()));
            let trials: Vec<_> = here
                .map(|(row, score)| {
                    let minutes = Some(row.spent.seconds / 60.0).filter(|minutes| *minutes > 0.0);
                    (score, minutes, row.outcome == Ending::Unanswered)
                })
                .collect();
            let Some(study) = human_study(&trials) else { continue };
            table.rows.push(group.row([
                text(set.as_deref().unwrap_or("-")),
                share(Some(study.accuracy), study.n, ""),
                number(study.minutes, 1, "no times were taken"),
                share(Some(study.timeouts), study.n, ""),
                count(study.n),
            ]));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Case, case, table};

    #[test]
    fn the_two_readings_of_overall_differ() {
        let question = |id: &str, score: f64| case(id).scored("accuracy", score).label("difficulty", "easy");
        let cases = [
            question("financial_zh_1", 1.0),
            question("education_en_1", 0.0),
            question("education_en_2", 0.0),
            question("other_1", 0.0),
        ];
        let tables = tables(&table(&cases));
        let row = &tables[0].rows[0];
        assert_eq!(tables[0].columns[6..], ["financial_zh", "education_en", "mean of domains", "correct / total"]);
        assert_eq!(row[8], Value::Share { value: 0.5, n: 4 });
        assert!(matches!(&row[9], Value::Score { estimate } if estimate.value == 0.25));
        assert!(tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
    }

    #[test]
    fn missing_responses_are_in_one_denominator_only() {
        let missing = Case { ending: Ending::Missing, ..case("financial_en_2") };
        let cases = [case("financial_en_1").scored("accuracy", 1.0), missing];
        let rows = tables(&table(&cases)).remove(0).rows;
        assert!(matches!(&rows[0][8], Value::Score { estimate } if (estimate.value, estimate.n) == (0.5, 2)));
        assert!(matches!(&rows[1][8], Value::Score { estimate } if (estimate.value, estimate.n) == (1.0, 1)));
    }

    #[test]
    fn a_late_answer_is_a_time_out_and_wrong() {
        let study = human_study(&[(1.0, Some(30.0), false), (1.0, Some(120.0), false), (0.0, None, true)]).unwrap();
        assert_eq!(study, HumanStudy { accuracy: 1.0 / 3.0, minutes: Some(70.0), timeouts: 2.0 / 3.0, n: 3 });
        assert_eq!(human_study(&[]), None);
    }

    #[test]
    fn few_chunks_can_not_hold_many_documents() {
        let retrieved = |id: &str, chunks: usize| Case {
            n_passages: Some(chunks),
            n_documents: 5,
            ..case(id).scored("accuracy", 0.0)
        };
        let tables = tables(&table(&[retrieved("a", 3), retrieved("b", 5)]));
        let table = tables.iter().find(|table| table.id == "corpusqa-reach").unwrap();
        assert!(matches!(&table.rows[0][4], Value::Score { estimate } if estimate.value == 0.5));
    }
}
