//! Stages: units of work that do not wait for each other, each leaving a line.

use super::funnel::Funnel;
use super::line::{End, Line};
use closeread_books::TextError;
use closeread_methods::MethodError;
use closeread_methods::record::CallTrace;
use closeread_text::hash::sha256_of_parts;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::future::ready;

/// The result of the work on a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Made<T> {
    /// End of the work.
    pub end: End<T>,
    /// Calls that the work took.
    pub calls: Vec<CallTrace>,
}

impl<T> Made<T> {
    /// Makes the result of work without a call.
    pub fn of(end: End<T>) -> Self {
        Self { end, calls: Vec::new() }
    }
}

/// A unit that a stage works on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unit<I> {
    /// Name of the unit, unique in the stage.
    pub id: String,
    /// Input of the work on the unit.
    pub input: I,
}

/// The store of the lines of stages: files, or a test's memory.
pub trait StageStore {
    /// The lines of a stage that was made, or begun, from input of this hash; none of one that was not. What was begun from
    /// other input counts as not begun.
    ///
    /// # Errors
    /// [`BuildError::Store`], or [`BuildError::Stale`] if the stage was finished from other input.
    fn read(&self, stage: &'static str, made_from: &str) -> Result<Stored, BuildError>;

    /// Notes that work on a stage of `units` units begins, of which `done` are finished.
    fn begin(&self, stage: &'static str, units: usize, done: usize);

    /// Adds a line to a stage that is not finished; once this returns, a kill cannot undo it.
    ///
    /// # Errors
    /// [`BuildError::Store`].
    fn append(&self, stage: &'static str, made_from: &str, line: &str) -> Result<(), BuildError>;

    /// Notes that the stage is finished with these lines, in their order.
    ///
    /// # Errors
    /// [`BuildError::Store`].
    fn finish(&self, stage: &'static str, made_from: &str, lines: &[String]) -> Result<(), BuildError>;
}

/// The content of a store for one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// Lines of the stage.
    pub lines: Vec<String>,
    /// True if no more lines are to come.
    pub finished: bool,
}

/// The reason why a build ends before its end.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A prompt is unusable, or the books cannot be ranked.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The text of a book cannot be had.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The store cannot be read or written.
    #[error("{0}")]
    Store(String),
    /// A finished stage was made from something else than what is before it now.
    #[error("stage `{stage}` was made from other lines than those before it now; make it anew")]
    Stale {
        /// Name of the stage.
        stage: &'static str,
    },
    /// A line of a stage cannot be read.
    #[error("stage `{stage}`, line {line}: {problem}; correct the line, or make the stage anew")]
    Line {
        /// Name of the stage.
        stage: &'static str,
        /// Number of the line, from 1.
        line: usize,
        /// Problem with the line.
        problem: String,
    },
    /// Calls of a stage failed, retries included.
    #[error("stage `{stage}`: {failed} of {units} failed, the first with: {error}; the same command makes them again")]
    Failed {
        /// Name of the stage.
        stage: &'static str,
        /// Number of units that failed.
        failed: usize,
        /// Number of all units.
        units: usize,
        /// Error of the first that failed.
        error: String,
    },
    /// The build was to end at this stage.
    #[error("stopped after stage `{stage}`, as was asked")]
    Stopped {
        /// Name of the stage.
        stage: &'static str,
    },
}

/// A build under way.
pub struct Building<'a, S> {
    store: &'a S,
    concurrency: usize,
    until: Option<&'a str>,
    funnel: Funnel,
}

impl<'a, S: StageStore> Building<'a, S> {
    /// Begins a build that leaves its lines in `store`, works on `concurrency` units at once and ends after stage
    /// `until`.
    pub fn new(store: &'a S, concurrency: usize, until: Option<&'a str>) -> Self {
        Self { store, concurrency: concurrency.max(1), until, funnel: Funnel::default() }
    }

    /// Returns the funnel of the units so far.
    pub(crate) fn into_funnel(self) -> Funnel {
        self.funnel
    }

    /// Works on every unit that has no line yet, and gives all lines of the stage in the order of the units.
    ///
    /// A finished stage is taken as it lies there, edited or not: lines that were removed are gone, lines that were added
    /// go on with the rest. Each has an id of its own.
    ///
    /// # Errors
    /// [`BuildError`]; [`BuildError::Failed`] only after every other unit was worked on.
    pub async fn stage<I, T>(
        &mut self,
        stage: &'static str,
        units: &[Unit<I>],
        work: impl AsyncFn(&Unit<I>) -> Result<Made<T>, MethodError>,
    ) -> Result<Vec<Line<T>>, BuildError>
    where
        I: Serialize,
        T: Serialize + DeserializeOwned,
    {
        let made_from = fingerprint(units);
        let stored = self.store.read(stage, &made_from)?;
        let known: Vec<Line<T>> = read_lines(stage, &stored.lines)?;
        let lines = match stored.finished {
            true => of_own_ids(stage, known)?,
            false => self.work(stage, &made_from, units, known, work).await?,
        };
        self.funnel.count(stage, &lines);
        match self.until {
            Some(until) if until == stage => Err(BuildError::Stopped { stage }),
            _ => Ok(lines),
        }
    }

    async fn work<I, T>(
        &self,
        stage: &'static str,
        made_from: &str,
        units: &[Unit<I>],
        known: Vec<Line<T>>,
        work: impl AsyncFn(&Unit<I>) -> Result<Made<T>, MethodError>,
    ) -> Result<Vec<Line<T>>, BuildError>
    where
        T: Serialize,
    {
        let mut lines: HashMap<String, Line<T>> = known
            .into_iter()
            .filter(|line| !matches!(line.end, End::Failed { .. }))
            .map(|line| (line.id.clone(), line))
            .collect();
        let open: Vec<&Unit<I>> = units.iter().filter(|unit| !lines.contains_key(&unit.id)).collect();
        self.store.begin(stage, units.len(), units.len() - open.len());
        let (work, ended) = (&work, OnceCell::new());
        let mut made = stream::iter(open)
            .take_while(|_| ready(ended.get().is_none()))
            .map(|unit| async move { (unit.id.clone(), work(unit).await) })
            .buffer_unordered(self.concurrency);
        // After an error no unit begins; what is under way is paid, and kept where it can be.
        while let Some((id, made)) = made.next().await {
            let kept = made.map_err(BuildError::from).and_then(|Made { end, calls }| {
                let line = Line { id, end, calls };
                self.store.append(stage, made_from, &written(&line))?;
                Ok(line)
            });
            match kept {
                Ok(line) => drop(lines.insert(line.id.clone(), line)),
                Err(error) => drop(ended.set(error)),
            }
        }
        drop(made);
        if let Some(error) = ended.into_inner() {
            return Err(error);
        }
        let lines: Vec<Line<T>> = units.iter().filter_map(|unit| lines.remove(&unit.id)).collect();
        let mut errors = lines.iter().filter_map(|line| match &line.end {
            End::Failed { error } => Some(error.clone()),
            _ => None,
        });
        if let Some(error) = errors.next() {
            return Err(BuildError::Failed { stage, failed: 1 + errors.count(), units: units.len(), error });
        }
        drop(errors);
        self.store.finish(stage, made_from, &lines.iter().map(written).collect::<Vec<_>>())?;
        Ok(lines)
    }
}

/// Returns what was kept, with the names of the units.
pub(super) fn kept<T>(lines: Vec<Line<T>>) -> Vec<Unit<T>> {
    let kept = lines.into_iter().filter_map(|Line { id, end, .. }| match end {
        End::Kept { value } => Some(Unit { id, input: value }),
        _ => None,
    });
    kept.collect()
}

fn written<T: Serialize>(line: &Line<T>) -> String {
    serde_json::to_string(line).expect("the values of stages have string keys only")
}

fn read_lines<T: DeserializeOwned>(stage: &'static str, lines: &[String]) -> Result<Vec<Line<T>>, BuildError> {
    let read = |(idx, text): (usize, &String)| {
        serde_json::from_str(text).map_err(|error| BuildError::Line {
            stage,
            line: idx + 1,
            problem: error.to_string(),
        })
    };
    lines.iter().enumerate().map(read).collect()
}

/// Refuses two lines of one id: the calls of both would be paid, and one of the two results lost. A stage that is not
/// finished has a unit's line again where its calls failed at first.
fn of_own_ids<T>(stage: &'static str, lines: Vec<Line<T>>) -> Result<Vec<Line<T>>, BuildError> {
    let mut first = HashMap::new();
    for (idx, line) in lines.iter().enumerate() {
        if let Some(known) = first.insert(line.id.as_str(), idx + 1) {
            let problem = format!("its id `{}` is that of line {known} too: give it one of its own", line.id);
            return Err(BuildError::Line { stage, line: idx + 1, problem });
        }
    }
    drop(first);
    Ok(lines)
}

fn fingerprint<I: Serialize>(units: &[Unit<I>]) -> String {
    let parts: Vec<Vec<u8>> =
        units.iter().map(|unit| serde_json::to_vec(unit).expect("units have string keys only")).collect();
    sha256_of_parts(parts.iter().map(Vec::as_slice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::task::Poll;

    #[test]
    fn two_lines_of_one_id_are_refused_by_their_numbers() {
        let lines = |ids: &[&str]| -> Vec<Line<u32>> {
            let line = |id: &&str| Line { id: (*id).to_owned(), end: End::Kept { value: 1 }, calls: Vec::new() };
            ids.iter().map(line).collect()
        };
        let refused = of_own_ids("trees", lines(&["a", "b", "a"])).unwrap_err().to_string();
        assert!(refused.starts_with("stage `trees`, line 3: its id `a` is that of line 1 too"), "{refused}");
        assert_eq!(of_own_ids("trees", lines(&["a", "b"])).unwrap().len(), 2);
    }

    /// A store whose first line finds no room.
    #[derive(Default)]
    struct FullOnce {
        lines: RefCell<Vec<String>>,
        was_full: Cell<bool>,
    }

    impl StageStore for FullOnce {
        fn read(&self, _: &'static str, _: &str) -> Result<Stored, BuildError> {
            Ok(Stored::default())
        }

        fn begin(&self, _: &'static str, _: usize, _: usize) {}

        fn append(&self, _: &'static str, _: &str, line: &str) -> Result<(), BuildError> {
            if !self.was_full.replace(true) {
                return Err(BuildError::Store("no space left".to_owned()));
            }
            self.lines.borrow_mut().push(line.to_owned());
            Ok(())
        }

        fn finish(&self, _: &'static str, _: &str, _: &[String]) -> Result<(), BuildError> {
            unreachable!("the stage has failed")
        }
    }

    #[test]
    fn finding_01_units_under_way_are_finished_where_a_line_finds_no_room_and_no_other_begins() {
        let (store, n_begun) = (FullOnce::default(), Cell::new(0));
        let units: Vec<Unit<u32>> = (0..9).map(|n| Unit { id: n.to_string(), input: n }).collect();
        let mut building = Building::new(&store, 3, None);
        let work = async |unit: &Unit<u32>| {
            n_begun.set(n_begun.get() + 1);
            let mut waited = unit.input == 0;
            // The first is there at once, the others take a turn.
            std::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            Ok(Made::of(End::Kept { value: unit.input }))
        };
        let ended = pollster::block_on(building.stage("one", &units, work));
        assert!(matches!(ended, Err(BuildError::Store(_))));
        assert_eq!((n_begun.get(), store.lines.borrow().len()), (3, 2));
    }
}
