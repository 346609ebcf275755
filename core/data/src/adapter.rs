//! The published data sets, and what each has to say of itself.

use super::{Dataset, own};
use super::{corpusqa, hamlet, infinitebench, narrativeqa, novelqa, quality, sagascale};
#[cfg(feature = "other-formats")]
use super::{fairytaleqa, leval_quality, loogle, nocha, squality};
use closeread_eval::{InputFile, Task};

/// A published data set that can be read as it is.
#[derive(Debug, Clone, Copy)]
pub struct Adapter {
    /// The name a user asks for.
    pub name: &'static str,
    /// The paper and where the files are published.
    pub source: &'static str,
    /// What to pass by `--data`, to be shown where it is missing.
    pub wants: &'static str,
    /// What kind of texts its documents are.
    pub texts: Texts,
    /// What its items ask for, where it is one task.
    pub task: Option<Task>,
    /// Labels that the paper's tables go by, with the values that they know.
    pub labels: &'static [LabelValues],
    /// Its rows can be read some at a time: documents are named by their content, so that the same ids come out however
    /// many rows are read together. A row may hold a whole corpus.
    pub in_parts: bool,
    /// Turns the files into documents, items and problems. Files of other kinds among them are passed over.
    pub read: fn(&[InputFile]) -> Dataset,
}

/// A label with the values that the paper's tables know, whatever their case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabelValues {
    /// Name of the label.
    pub name: &'static str,
    /// Its values.
    pub values: &'static [&'static str],
}

impl Adapter {
    /// Holds items in closeread's own format to what the benchmark needs: those of another task are left out, labels that
    /// the paper's tables do not know are noted, once a label. What [`Self::read`] makes of published files is as they are.
    pub fn check(&self, dataset: &mut Dataset) {
        own::check_task(self, dataset);
        dataset.problems.extend(own::check_labels(self, &dataset.items));
    }
}

/// Where a data set keeps its texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// In files of their own: books as somebody typeset them, whose frame is set aside and whose wraps are undone.
    Files,
    /// In fields of its rows: what is published is the text, line breaks included, and is read as it is.
    Fields,
}

/// Every adapter, in the order in which help lists them.
pub static ADAPTERS: &[Adapter] = &[
    #[cfg(feature = "other-formats")]
    fairytaleqa::ADAPTER,
    #[cfg(feature = "other-formats")]
    loogle::ADAPTER,
    #[cfg(feature = "other-formats")]
    leval_quality::ADAPTER,
    quality::ADAPTER,
    #[cfg(feature = "other-formats")]
    nocha::ADAPTER,
    #[cfg(feature = "other-formats")]
    squality::ADAPTER,
    infinitebench::ADAPTER,
    narrativeqa::ADAPTER,
    novelqa::ADAPTER,
    sagascale::ADAPTER,
    corpusqa::ADAPTER,
    hamlet::ADAPTER,
];

/// The adapter of that name.
pub fn adapter(name: &str) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == name)
}
