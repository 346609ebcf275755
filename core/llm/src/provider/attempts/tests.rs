//! Scenarios by hand, and laws that hold for every sequence of faults.

use super::*;
use crate::provider::http::TokenLimit;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn failed(message: &str) -> HostError {
    HostError::Failed(message.to_owned())
}

fn busy(asked: Option<u64>) -> Fault {
    let retry_after = asked.map(Duration::from_secs);
    Fault::Transient { load: ServerLoad::Server, message: "busy".to_owned(), retry_after }
}

fn refused(adjustment: Adjustment) -> Fault {
    Fault::Refused { adjustment, message: "unsupported".to_owned() }
}

/// Returns what a driver with nothing else to do sends, waits and is told when it meets these faults in turn: the steps
/// until the call ends or, the faults used up, the try that would go out.
fn steps(limits: Limits, account: &mut AccountState, faults: impl IntoIterator<Item = Fault>) -> Vec<Step> {
    let mut attempts = Attempts::new(limits);
    let mut faults = faults.into_iter();
    let mut steps = Vec::new();
    let mut waited = Duration::ZERO;
    loop {
        let step = attempts.next(account);
        steps.push(step.clone());
        match step {
            Step::Send(_) => match faults.next() {
                Some(fault) => drop(attempts.failed(fault, account, waited, 0.5)),
                None => return steps,
            },
            Step::Wait(wait) => waited = wait,
            Step::Ended(_) => return steps,
        }
    }
}

fn sends(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step, Step::Send(_))).count()
}

fn waits(steps: &[Step]) -> Vec<Duration> {
    steps.iter().filter_map(|step| if let Step::Wait(wait) = step { Some(*wait) } else { None }).collect()
}

#[test]
fn a_page_or_a_success_without_an_answer_is_not_asked_for_eight_times() {
    for load in [ServerLoad::Page, ServerLoad::NoAnswer] {
        let (mut attempts, mut account) = (Attempts::new(Limits::default()), AccountState::default());
        let mut fail = || attempts.failed(Fault::transient(load, "it"), &mut account, Duration::ZERO, 0.5);
        for tries in 1..=2 {
            assert!(matches!(fail(), Notice::Again { tries: n, .. } if n == tries));
        }
        let ended = fail();
        let words = |error: &HostError| error.to_string().contains("it, after 3 tries");
        assert!(matches!(&ended, Notice::Ended { error, .. } if words(error)), "{ended:?}");
    }
}

#[test]
fn each_kind_of_fault_is_followed_by_what_may_mend_it() {
    let limits = Limits { tries: 3, unreached_tries: 2, longest_wait: 100 * SECOND };
    let unreached = || Fault::transient(ServerLoad::Unreached, "refused");
    let first = Step::Send(Dialect::default());
    let ended = |message: &str| Step::Ended(failed(message));
    /// A scenario: what happens, the faults, the tries made, the waits in seconds, the step at the end.
    type Scenario = (&'static str, Vec<Fault>, usize, Vec<f64>, Step);
    let scenarios: Vec<Scenario> = vec![
        ("a response at once", vec![], 1, vec![], first.clone()),
        ("a fault that passes", vec![busy(None)], 2, vec![1.6], first.clone()),
        ("waits double", vec![busy(None), busy(None)], 3, vec![1.6, 3.2], first.clone()),
        ("tries are used up", vec![busy(None); 3], 3, vec![1.6, 3.2], ended("busy, after 3 tries")),
        ("the wait asked for", vec![busy(Some(9)), busy(None)], 3, vec![9.275, 11.59375], first.clone()),
        ("no wait asked for", vec![busy(Some(0))], 2, vec![0.275], first.clone()),
        ("no wait asked for again", vec![busy(Some(0)), busy(Some(0))], 3, vec![0.275, 1.275], first.clone()),
        (
            "a wait that is too long",
            vec![busy(Some(7200))],
            1,
            vec![],
            ended("busy; the server asks to wait more than 100 s (7200 s), which is not waited for"),
        ),
        (
            "an endless wait",
            vec![busy(Some(u64::MAX))],
            1,
            vec![],
            ended("busy; the server asks to wait more than 100 s, which is not waited for"),
        ),
        ("nobody there", vec![unreached(); 2], 2, vec![1.6], ended("refused, after 2 tries")),
        ("a final fault", vec![Fault::Final(failed("no"))], 1, vec![], ended("no")),
        ("a final fault later", vec![busy(None), Fault::Final(failed("no"))], 2, vec![1.6], ended("no")),
        ("a closed account", vec![Fault::Closed(failed("no credit"))], 1, vec![], ended("no credit")),
        ("a field refused twice", vec![refused(Adjustment::NoSeed); 2], 2, vec![], ended("unsupported")),
        (
            "both names of a field refused in turn",
            [TokenLimit::MaxCompletionTokens, TokenLimit::MaxTokens]
                .map(|limit| refused(Adjustment::TokenLimit(limit)))
                .into_iter()
                .cycle()
                .take(9)
                .collect(),
            3,
            vec![],
            ended("unsupported"),
        ),
    ];
    for (name, faults, n_sends, seconds, last) in scenarios {
        let steps = steps(limits, &mut AccountState::default(), faults);
        assert_eq!(sends(&steps), n_sends, "{name}: {steps:?}");
        let waited: Vec<f64> = waits(&steps).iter().map(Duration::as_secs_f64).collect();
        assert!(waited.len() == seconds.len(), "{name}: {waited:?}");
        assert!(waited.iter().zip(&seconds).all(|(a, b)| (a - b).abs() < 1e-6), "{name}: {waited:?}");
        assert_eq!(steps.last(), Some(&last), "{name}");
    }
}

#[test]
fn one_refusal_teaches_all_calls_of_the_account_and_fails_none_under_way() {
    let mut account = AccountState::default();
    let (mut first, mut second) = (Attempts::new(Limits::default()), Attempts::new(Limits::default()));
    let asked = [first.next(&account), second.next(&account)];
    assert_eq!(asked, [Step::Send(Dialect::default()), Step::Send(Dialect::default())]);
    for attempts in [&mut first, &mut second] {
        let notice = attempts.failed(refused(Adjustment::OwnTemperature), &mut account, Duration::ZERO, 0.5);
        assert_eq!(notice.to_string(), "unsupported; asked again without it");
        let told = Step::Send(Dialect { own_temperature: true, ..Dialect::default() });
        assert_eq!(attempts.next(&account), told);
    }
    let mut third = Attempts::new(Limits::default());
    assert_eq!(third.next(&account), Step::Send(account.dialect));
    assert!(account.dialect.own_temperature);
}

#[test]
fn a_closed_account_ends_every_other_call_with_the_reason() {
    let mut account = AccountState::default();
    let (mut waiting, mut closing) = (Attempts::new(Limits::default()), Attempts::new(Limits::default()));
    waiting.failed(busy(None), &mut account, Duration::ZERO, 0.5);
    let notice = closing.failed(Fault::Closed(failed("no credit")), &mut account, Duration::ZERO, 0.5);
    assert_eq!(notice.to_string(), "the call failed: no credit; nothing more is asked");
    let reason = Step::Ended(failed("not sent, because a call before it failed for good: no credit"));
    assert_eq!(waiting.next(&account), reason, "though it was about to wait");
    assert_eq!(Attempts::new(Limits::default()).next(&account), reason);
    assert_eq!(closing.next(&account), Step::Ended(failed("no credit")));
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let load = prop::sample::select(vec![
        ServerLoad::RateLimit,
        ServerLoad::Server,
        ServerLoad::Connection,
        ServerLoad::Unreached,
    ]);
    let asked = prop::option::of(prop_oneof![0u64..5000, Just(u64::MAX)].prop_map(Duration::from_secs));
    let adjustment = prop::sample::select(vec![
        Adjustment::NoSeed,
        Adjustment::OwnTemperature,
        Adjustment::NoStreamOptions,
        Adjustment::NoStream,
        Adjustment::TokenLimit(TokenLimit::MaxTokens),
        Adjustment::TokenLimit(TokenLimit::MaxCompletionTokens),
    ]);
    prop_oneof![
        6 => (load, asked).prop_map(|(load, retry_after)| {
            Fault::Transient { load, message: "x".to_owned(), retry_after }
        }),
        2 => adjustment.prop_map(refused),
        1 => Just(Fault::Final(failed("final"))),
        1 => Just(Fault::Closed(failed("closed"))),
    ]
}

proptest! {
    #[test]
    fn laws_of_every_call(
        faults in prop::collection::vec((any_fault(), any::<u64>(), prop_oneof![0.0f64..1.0, Just(f64::NAN), Just(9.0)]), 0..40),
        tries in 0u32..10,
        unreached_tries in 0u32..10,
    ) {
        let limits = Limits { tries, unreached_tries, longest_wait: 3600 * SECOND };
        let mut account = AccountState::default();
        let mut attempts = Attempts::new(limits);
        let (mut n_sends, mut n_refused, mut asked, mut over) = (0, 0, None, None);
        let mut faults = faults.into_iter();
        loop {
            match attempts.next(&account) {
                Step::Send(dialect) => {
                    prop_assert!(over.is_none(), "nothing is sent after the end");
                    prop_assert_eq!(attempts.next(&account), Step::Send(dialect), "to ask twice changes nothing");
                    n_sends += 1;
                    let Some((fault, waited, chance)) = faults.next() else { break };
                    n_refused += usize::from(matches!(fault, Fault::Refused { .. }));
                    asked = if let Fault::Transient { retry_after, .. } = &fault { *retry_after } else { None };
                    let is_final = matches!(fault, Fault::Final(_) | Fault::Closed(_));
                    let closes = matches!(fault, Fault::Closed(_));
                    let notice = attempts.failed(fault, &mut account, Duration::from_secs(waited), chance);
                    prop_assert_eq!(account.closed.is_some(), closes);
                    let ended = matches!(notice, Notice::Ended { .. } | Notice::Closed { .. });
                    prop_assert!(ended || !is_final, "what is final is not tried again");
                    over = ended.then_some(());
                }
                Step::Wait(wait) => {
                    prop_assert!(over.is_none());
                    match asked {
                        Some(asked) => prop_assert!(
                            asked <= wait && wait <= asked.max(16 * SECOND) + MAX_SPREAD && asked <= limits.longest_wait,
                            "the server's wait is kept: {:?} for {:?}", wait, asked
                        ),
                        None => prop_assert!(SECOND <= wait && wait <= MAX_BACKOFF, "{:?}", wait),
                    }
                }
                Step::Ended(_) => {
                    prop_assert!(matches!(attempts.next(&account), Step::Ended(_)), "the end is the end");
                    break;
                }
            }
        }
        // A field is refused in six ways at most.
        prop_assert!(n_sends <= tries.max(1) as usize + n_refused.min(6), "{} sent", n_sends);
        if account.closed.is_some() {
            let next = Attempts::new(limits).next(&account);
            prop_assert!(matches!(next, Step::Ended(_)), "a closed account sends nothing: {:?}", next);
        }
    }
}
