//! Work spread over all cores.

use pollster::block_on;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Returns how many threads there are to compute on.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Does `work(0)` to `work(n - 1)` on a number of threads, taken in order; `done` hears on this thread which is
/// finished.
pub(crate) fn spread<T: Send>(
    n_threads: usize,
    n: usize,
    work: impl AsyncFn(usize) -> T + Sync,
    mut done: impl FnMut(usize),
) -> Vec<T> {
    let mut results: Vec<Option<T>> = (0..n).map(|_| None).collect();
    if n <= 1 || n_threads == 1 {
        return block_on(async {
            let mut results = Vec::with_capacity(n);
            for idx in 0..n {
                results.push(work(idx).await);
                done(idx);
            }
            results
        });
    }
    let (next, (sender, receiver)) = (AtomicUsize::new(0), mpsc::channel());
    std::thread::scope(|scope| {
        for _ in 0..n_threads.min(n) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let all = async move || {
                loop {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    if idx >= n || sender.send((idx, work(idx).await)).is_err() {
                        break;
                    }
                }
            };
            scope.spawn(move || block_on(all()));
        }
        drop(sender);
        for (idx, result) in receiver {
            results[idx] = Some(result);
            done(idx);
        }
    });
    results.into_iter().map(|result| result.expect("a scope ends when all its threads have sent")).collect()
}
