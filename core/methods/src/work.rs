//! Work that keeps a processor busy: methods cut it into jobs, hosts spread these over threads.

/// A piece of work that depends on no other.
pub type Job<T> = Box<dyn FnOnce() -> T + Send>;

/// The workers that do the jobs.
#[allow(async_fn_in_trait, reason = "as the futures of `Host`, these are deliberately not Send")]
pub trait Workers {
    /// Does `jobs` and returns their results in order. Between jobs the work can be given up, by dropping the future.
    async fn all<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T>;

    /// Does a job and returns its result.
    async fn one<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        self.all(vec![Box::new(job) as Job<T>]).await.remove(0)
    }
}

/// Workers on this thread, one job after the other; their futures never wait.
#[derive(Debug, Clone, Copy)]
pub struct Inline;

impl Workers for Inline {
    async fn all<T: Send + 'static>(&self, jobs: Vec<Job<T>>) -> Vec<T> {
        jobs.into_iter().map(|job| job()).collect()
    }
}
