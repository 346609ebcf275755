//! Least time that a run takes, under the limits that are given.

use super::cells::Work;
use super::scene::Scene;

/// Seconds that the calls of `model` take, at least and at most: the longest of what the number of calls at once, the
/// requests a minute and the tokens a minute allow. `None` for a model that is no server.
///
/// The books come one after the other, as in a run; the calls of one question wait for each other where a method makes
/// several. What the server itself holds back is not in it.
pub(super) fn seconds(scene: &Scene<'_>, model: &str, work: &[Work]) -> Option<(f64, f64)> {
    if scene.prices.is_free(model) && model.starts_with("builtin/") {
        return None;
    }
    let mine: Vec<&Work> = work.iter().filter(|work| work.model == model).collect();
    let at = |calls: fn(&Work) -> u64, chain: fn(&Work) -> u64, tokens: fn(&Work) -> u64| {
        let mut rounds = vec![0u64; scene.groups.len()];
        let mut chains = vec![0u64; scene.groups.len()];
        for work in &mine {
            rounds[work.group] += calls(work);
            chains[work.group] = chains[work.group].max(chain(work));
        }
        let at_once = scene.assumed.concurrency as u64;
        let rounds = rounds.iter().zip(&chains).map(|(calls, chain)| calls.div_ceil(at_once).max(*chain)).sum::<u64>();
        let n = mine.iter().map(|work| calls(work)).sum::<u64>();
        let tokens = mine.iter().map(|work| tokens(work)).sum::<u64>();
        let minutes = |n: u64, limit: Option<u64>| limit.map_or(0.0, |limit| 60.0 * n as f64 / limit.max(1) as f64);
        (rounds as f64 * scene.assumed.seconds_a_call)
            .max(minutes(n, scene.assumed.rpm.map(u64::from)))
            .max(minutes(tokens, scene.assumed.tpm))
    };
    Some((
        at(|work| work.calls.low, |work| work.chain.low, |work| work.tokens.low),
        at(|work| work.calls.high, |work| work.chain.high, |work| work.tokens.high),
    ))
}
