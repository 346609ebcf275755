//! The models that answered, as providers name them in their responses.

use crate::Run;
use closeread_methods::record::CallTrace;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Most names that a note lists of one model.
const LISTED: usize = 5;

/// A note for each model of which the responses name several: a router asked another one, or its name leads to a new version by now.
/// With the run's name if it is one of `several` runs.
pub(crate) fn several_answerers(run: &Run, several: bool) -> Vec<String> {
    let records = run.records.iter().map(|record| (record.key.model.as_str(), record.calls.as_slice()));
    let preparations = run.preparations.iter().map(|made| (made.model.as_str(), made.calls.as_slice()));
    let judgements = run.judging.judgements.iter();
    let judgements = judgements.map(|judgement| (judgement.key.judge_model.as_str(), judgement.calls.as_slice()));
    let of = if several { format!("{}: ", run.name) } else { String::new() };
    let notes = notes(records.chain(preparations).chain(judgements));
    notes.into_iter().map(|note| format!("{of}{note}")).collect()
}

fn notes<'r>(asked: impl Iterator<Item = (&'r str, &'r [CallTrace])>) -> Vec<String> {
    let mut named: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (model, calls) in asked {
        for name in calls.iter().filter_map(|call| call.served_by.model.as_deref()) {
            *named.entry(model).or_default().entry(name).or_default() += 1;
        }
    }
    let note = |(model, names): (&str, BTreeMap<&str, usize>)| {
        let mut names: Vec<(&str, usize)> = names.into_iter().collect();
        names.sort_by_key(|(_, n)| Reverse(*n));
        let listed: Vec<String> = names.iter().take(LISTED).map(|(name, n)| format!("{name} ({n})")).collect();
        let more = match names.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (names.len() > 1)
            .then(|| format!("{model} answered as several models, by its responses: {}{more}", listed.join(", ")))
    };
    named.into_iter().filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_llm::ServedBy;

    #[test]
    fn a_model_that_answered_as_several_is_told_and_one_that_has_another_name_is_not() {
        let call = |name: Option<&str>| CallTrace {
            served_by: ServedBy { model: name.map(str::to_owned), fingerprint: None },
            ..CallTrace::default()
        };
        let [own, other, unnamed] = [Some("m"), Some("m-mini"), None].map(call);
        let mixed = [other.clone(), own.clone(), unnamed.clone(), own.clone()];
        let alias = [other, unnamed];
        let told = notes([("p/m", &mixed[..]), ("p/alias", &alias[..]), ("p/m", &[own][..])].into_iter());
        assert_eq!(told, ["p/m answered as several models, by its responses: m (3), m-mini (1)"]);
        let many: Vec<CallTrace> = (0..8).map(|n| call(Some(&format!("m{n}")))).collect();
        let told = notes(std::iter::once(("p/m", many.as_slice())));
        assert!(told[0].ends_with("m4 (1) and 3 more"), "{told:?}");
    }
}
