//! Fallback: one backend in the place of another that fails.

use super::plan::Unit;
use super::{Backend, EmbedError, Vectors};
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Loads the second backend of a [`Fallback`], told why the first no longer computes.
pub type LoadSecond<B> = Box<dyn Fn(&str) -> Result<B, EmbedError> + Send + Sync>;

/// The first backend until its device fails ([`EmbedError::Device`]), then the second for good.
///
/// A batch that fails on the way is computed again, so that nothing is lost. The second is loaded when it is first needed,
/// once, however many threads wait for it. All other errors are those of the backend that computes.
pub struct Fallback<A, B, L = LoadSecond<B>> {
    first: Option<A>,
    /// The second backend, with the reason why the first no longer computes.
    second: OnceLock<(String, B)>,
    load: L,
    /// Lock by which the second is loaded once.
    loading: Mutex<()>,
}

impl<A, B, L: Fn(&str) -> Result<B, EmbedError>> Fallback<A, B, L> {
    /// `first` is a backend or the reason why there is none; then the second is loaded at once.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn new(first: Result<A, String>, load: L) -> Result<Self, EmbedError> {
        let (first, missing) = match first {
            Ok(first) => (Some(first), None),
            Err(reason) => (None, Some(reason)),
        };
        let both = Self { first, second: OnceLock::new(), load, loading: Mutex::default() };
        if let Some(reason) = missing {
            both.replace(reason)?;
        }
        Ok(both)
    }

    /// The second backend from now on.
    fn replace(&self, reason: String) -> Result<&B, EmbedError> {
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, second)) = self.second.get() {
            return Ok(second);
        }
        let second = (self.load)(&reason)?;
        Ok(&self.second.get_or_init(|| (reason, second)).1)
    }
}

impl<A, B, L> Fallback<A, B, L> {
    /// Returns the first backend, whether it still computes or not.
    pub fn first(&self) -> Option<&A> {
        self.first.as_ref()
    }

    /// The second backend, once it computes.
    pub fn second(&self) -> Option<&B> {
        self.second.get().map(|(_, second)| second)
    }

    /// Returns why the second backend computes, if it does.
    pub fn reason(&self) -> Option<&str> {
        self.second.get().map(|(reason, _)| reason.as_str())
    }
}

impl<A: Backend, B: Backend, L: Fn(&str) -> Result<B, EmbedError>> Backend for Fallback<A, B, L> {
    fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
        match (&self.first, self.second()) {
            (Some(first), None) => first.plan(lengths),
            (_, second) => second.expect(ONE_OF_THEM).plan(lengths),
        }
    }

    async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
        let second = match (&self.first, self.second()) {
            (Some(first), None) => match first.forward(batch).await {
                Err(EmbedError::Device(reason)) => self.replace(reason)?,
                computed => return computed,
            },
            (_, second) => second.expect(ONE_OF_THEM),
        };
        second.forward(batch).await
    }
}

const ONE_OF_THEM: &str = "without a first backend there is a second";

impl<A: fmt::Debug, B: fmt::Debug, L> fmt::Debug for Fallback<A, B, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fallback").field("first", &self.first).field("second", &self.second).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A backend that gives its number as the vector of every text; fails after a number of batches, and for texts of
    /// no token at once.
    #[derive(Debug)]
    struct Numbered {
        number: f32,
        lasts: usize,
        n_batches: AtomicUsize,
    }

    impl Numbered {
        fn new(number: f32, lasts: usize) -> Self {
            Self { number, lasts, n_batches: AtomicUsize::new(0) }
        }
    }

    impl Backend for Numbered {
        fn plan(&self, lengths: &[usize]) -> Vec<Unit> {
            vec![Unit { texts: vec![self.number as usize; lengths.len()], bucket: None }]
        }

        async fn forward(&self, batch: &[&[u32]]) -> Result<Vectors, EmbedError> {
            if batch.iter().any(|ids| ids.is_empty()) {
                return Err(EmbedError::Load("no token".to_owned()));
            }
            match self.n_batches.fetch_add(1, Ordering::Relaxed) < self.lasts {
                true => Ok(Vectors::new(1, vec![self.number; batch.len()])),
                false => Err(EmbedError::Device(format!("device {} was lost", self.number))),
            }
        }
    }

    fn forward(backend: &impl Backend, batch: &[&[u32]]) -> Result<Vec<f32>, EmbedError> {
        pollster::block_on(backend.forward(batch)).map(Vectors::into_values)
    }

    #[test]
    fn the_second_goes_on_with_the_batch_that_failed_and_is_loaded_once() {
        let n_loaded = AtomicUsize::new(0);
        let load = |reason: &str| {
            assert_eq!(reason, "device 1 was lost");
            n_loaded.fetch_add(1, Ordering::Relaxed);
            Ok(Numbered::new(2.0, usize::MAX))
        };
        let both = Fallback::new(Ok(Numbered::new(1.0, 2)), load).expect("loads");
        let batch: [&[u32]; 2] = [&[7], &[8, 9]];
        assert_eq!(both.plan(&[1, 2])[0].texts, [1, 1]);
        for _ in 0..2 {
            assert_eq!(forward(&both, &batch).expect("runs"), [1.0, 1.0]);
        }
        assert!(both.reason().is_none() && both.second().is_none() && n_loaded.load(Ordering::Relaxed) == 0);
        #[allow(clippy::disallowed_methods, reason = "a test of what happens on several threads")]
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..4).map(|_| scope.spawn(|| forward(&both, &batch))).collect();
            for handle in handles {
                assert_eq!(handle.join().expect("ends").expect("runs"), [2.0, 2.0]);
            }
        });
        assert_eq!((both.reason(), n_loaded.load(Ordering::Relaxed)), (Some("device 1 was lost"), 1));
        assert_eq!(both.plan(&[1])[0].texts, [2]);
        assert!(both.first().is_some_and(|first| first.n_batches.load(Ordering::Relaxed) <= 6));
    }

    #[test]
    fn a_text_at_fault_fails_without_a_change_of_backends() {
        let load: LoadSecond<Numbered> = Box::new(|reason| panic!("the device works: {reason}"));
        let both = Fallback::new(Ok(Numbered::new(1.0, 1)), load).expect("nothing is loaded");
        assert_eq!(forward(&both, &[&[]]), Err(EmbedError::Load("no token".to_owned())));
        assert_eq!((forward(&both, &[&[3]]), both.reason()), (Ok(vec![1.0]), None));
    }

    #[test]
    fn without_a_first_the_second_computes_at_once_and_its_failures_are_told() {
        let none = || Err::<Numbered, _>("no adapter".to_owned());
        let both = Fallback::new(none(), |_: &str| Ok(Numbered::new(2.0, 1))).expect("loads");
        assert_eq!((both.reason(), both.plan(&[1])[0].texts[0]), (Some("no adapter"), 2));
        assert_eq!(forward(&both, &[&[1]]), Ok(vec![2.0]));
        assert_eq!(forward(&both, &[&[1]]), Err(EmbedError::Device("device 2 was lost".to_owned())));
        let broken = |_: &str| Err::<Numbered, _>(EmbedError::Load("cut off".to_owned()));
        assert_eq!(Fallback::new(none(), broken).err(), Some(EmbedError::Load("cut off".to_owned())));
        let both = Fallback::new(Ok(Numbered::new(1.0, 0)), broken).expect("not loaded yet");
        assert_eq!(forward(&both, &[&[1]]), Err(EmbedError::Load("cut off".to_owned())));
    }
}
