//! Running any method: on questions, and on books before the first of them.

use crate::Host;
use crate::method::Method;
use crate::questions::Questions;
use crate::session::Session;
use crate::trial::{MethodError, Preparation, Stop, Trial};
use closeread_eval::{Item, Outcome};

/// Tries to answer `items`, which are about the books of the session, with one trial each, in their order. Each call is
/// made in a session like `session`, of its own.
///
/// # Errors
/// [`MethodError`] if the method cannot run at all. What goes wrong with one item is an outcome.
pub async fn run<M: Method, H: Host>(
    method: &M,
    session: &Session<'_, H>,
    items: &[&Item],
    prepared: Option<&M::Prepared>,
) -> Result<Vec<Trial>, MethodError> {
    let mut trials: Vec<(&Item, Trial)> = Vec::with_capacity(items.len());
    for questions in batches(method, items) {
        let mut session = session.anew();
        let end = match method.declines(questions.first()) {
            Some(reason) => Err(Stop::Outcome(Outcome::NotAsked { reason: reason.to_owned() })),
            None => method.answer(&mut session, &questions, prepared).await,
        };
        trials.extend(questions.items().iter().copied().zip(session.into_trials(&questions, end)?));
    }
    let mut in_order = Vec::with_capacity(items.len());
    for item in items {
        let place = trials.iter().position(|(other, _)| std::ptr::eq(*other, *item));
        in_order.extend(place.map(|place| trials.remove(place).1));
    }
    Ok(in_order)
}

/// The items of each call.
pub(super) fn batches<'q, M: Method>(method: &M, items: &[&'q Item]) -> Vec<Questions<'q>> {
    match method.asks_together() {
        true => Questions::by_task(items),
        false => Questions::one_each(items),
    }
}

/// Makes of the books of the session what all questions on them share; `None` if the method asks at once.
///
/// # Errors
/// [`MethodError`] if the method cannot run at all. A call that fails is part of the preparation.
pub async fn prepare<M: Method, H: Host>(
    method: &M,
    session: &Session<'_, H>,
) -> Result<Option<Preparation<M::Prepared>>, MethodError> {
    let mut session = session.anew();
    let end = match method.prepare(&mut session).await {
        Ok(None) => return Ok(None),
        Ok(Some(prepared)) => Ok(prepared),
        Err(stop) => Err(stop),
    };
    session.into_preparation(end).map(Some)
}
