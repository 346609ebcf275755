//! The published data sets, and what each has to say of itself.

use super::Dataset;
use closeread_eval::{InputFile, Item, Problem, Task};
use closeread_text::counted;

/// A published data set that can be read as it is.
#[derive(Debug, Clone, Copy)]
pub struct Adapter {
    /// The name a user asks for.
    pub name: &'static str,
    /// The paper and where the files are published.
    pub source: &'static str,
    /// Files to pass by `--data`, in words that are shown where they are missing.
    pub wants: &'static str,
    /// Kind of texts that the documents are.
    pub texts: Texts,
    /// Task of the items, where it is one for all.
    pub task: Option<Task>,
    /// Labels that the paper's tables go by, with the values that they know.
    pub labels: &'static [LabelValues],
    /// Whether the rows can be read some at a time: documents are named by their content, so that the same ids come out
    /// however many rows are read together. A row may hold a whole corpus.
    pub in_parts: bool,
    /// Turns the files into documents, items and problems. Files of other kinds among them are skipped.
    pub read: fn(&[InputFile]) -> Dataset,
}

/// A label with the values that the paper's tables know, whatever their case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelValues {
    /// Name of the label.
    pub name: &'static str,
    /// Values of the label.
    pub values: &'static [&'static str],
}

impl Adapter {
    /// Holds items in closeread's own format to what the benchmark needs: those of another task are left out, labels get the
    /// case that the paper's tables know, and those that they do not know are noted, once a label. What [`Self::read`] makes
    /// of published files is as they are.
    pub fn check(&self, dataset: &mut Dataset) {
        check_task(self, dataset);
        let recased = self.labels.iter().filter_map(|label| recase(self.name, label, &mut dataset.items));
        dataset.problems.extend(recased);
        dataset.problems.extend(check_labels(self, &dataset.items));
    }
}

/// The place where a data set keeps its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// Files of their own: books as somebody typeset them, whose frame is set aside and whose wraps are undone.
    Files,
    /// Fields of the rows: what is published is the text, line breaks included, and is read as it is.
    Fields,
}

/// Leaves out items of another task than the benchmark's, each named.
fn check_task(adapter: &Adapter, dataset: &mut Dataset) {
    let Some(task) = adapter.task else { return };
    let Dataset { items, problems, .. } = dataset;
    items.retain(|item| {
        if item.task != task {
            let message = format!(
                "the task is {}: expected {}, the only one of this benchmark",
                name_of(item.task),
                name_of(task)
            );
            problems.push(Problem::dropped(adapter.name, None, Some(&item.id), message));
        }
        item.task == task
    });
}

fn name_of(task: Task) -> &'static str {
    match task {
        Task::Generative => "generative",
        Task::Choice => "choice",
        Task::Summary => "summary",
    }
}

/// Writes the values of a label as the paper's tables do where only their case differs, and says so in one note.
fn recase(adapter: &str, label: &LabelValues, items: &mut [Item]) -> Option<Problem> {
    let (mut first, mut n) = (None, 0);
    for item in items {
        let Some(value) = item.labels.get_mut(label.name) else { continue };
        let known = label.values.iter().find(|known| known.eq_ignore_ascii_case(value));
        if let Some(known) = known.filter(|known| *known != value) {
            let found = std::mem::replace(value, (*known).to_owned());
            first.get_or_insert_with(|| (item.id.clone(), found, known));
            n += 1;
        }
    }
    let (id, found, known) = first?;
    let items = counted(n, "item");
    let message = format!("the `{}` of {items} differs in case: `{found}` is read as `{known}`", label.name);
    Some(Problem::note(adapter, None, Some(&id), message))
}

/// Notes for labels that the paper's tables go by and that items lack or have with values unknown to them: one note a
/// label, since such items are asked and scored all the same.
pub(super) fn check_labels(adapter: &Adapter, items: &[Item]) -> Vec<Problem> {
    let note = |label: &LabelValues| {
        let known = |item: &&Item| {
            let value = item.labels.get(label.name);
            value.is_some_and(|value| label.values.iter().any(|known| known.eq_ignore_ascii_case(value)))
        };
        let strange: Vec<&Item> = items.iter().filter(|item| !known(item)).collect();
        let first = strange.first()?;
        let found = first.labels.get(label.name).map_or("no value".to_owned(), |value| format!("`{value}`"));
        let message = format!(
            "{} of {} items stand in no row of the paper's table by `{}`: here it has {found}, expected one of {}",
            strange.len(),
            items.len(),
            label.name,
            label.values.join(", ")
        );
        Some(Problem::note(adapter.name, None, Some(&first.id), message))
    };
    adapter.labels.iter().filter_map(note).collect()
}
