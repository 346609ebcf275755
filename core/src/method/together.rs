//! Several questions in one call, as NovelQA asks them (§4.1, table 11).

use super::Setting;
use crate::benchmark::{Item, Task};

/// Tokens that each question after the first adds to the longest reply.
///
/// NovelQA names no limit. The run's limit is for one question; a line of a few words takes far less than that, and the
/// run's limit times the questions of a book is more than most models can write.
const LINE_TOKENS: u32 = 64;
/// The same where the line also cites sentences.
const EVIDENCED_LINE_TOKENS: u32 = 256;

/// The items that one call can ask: those of one task, in their order, choices and open questions; a summary stands alone.
///
/// All of NovelQA's questions about a book go into one prompt, and each of its settings asks all of them in one way; a
/// benchmark that has choices and open questions on one book gets a call for either.
pub fn batches<'a>(items: &[&'a Item]) -> Vec<Vec<&'a Item>> {
    let of = |task: Task| items.iter().copied().filter(move |item| item.task == task);
    let mut batches: Vec<Vec<&Item>> = [Task::Choice, Task::Generative].map(|task| of(task).collect()).into();
    batches.retain(|batch| !batch.is_empty());
    batches.extend(of(Task::Summary).map(|item| vec![item]));
    batches
}

impl Setting<'_> {
    /// The same with room in the reply for `n` questions.
    pub(super) fn for_questions(self, n: usize, evidence: bool) -> Self {
        let line = if evidence { EVIDENCED_LINE_TOKENS } else { LINE_TOKENS };
        let further = u32::try_from(n.saturating_sub(1)).unwrap_or(u32::MAX);
        let max_output_tokens = self.max_output_tokens.saturating_add(further.saturating_mul(line));
        Self { max_output_tokens, ..self }
    }
}
