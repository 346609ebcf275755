//! Closed book: the question without the text. What is answered here was known before (NovelQA §4.1, SagaScale §3.2).

use super::ask::Asking;
use super::dress::{Dress, View};
use super::read::{Shown, read_all, title_of};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::host::Host;
use serde::{Deserialize, Serialize};

/// Parameters of [`closed_book`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedBook {
    /// Whose prompt and answer form.
    pub dress: Dress,
    /// All questions on a book go into one call, as NovelQA does; in its dress alone.
    pub together: bool,
}

/// Asks the questions with the title of the work and nothing of its text; `items` are several only where they go into
/// one call, and then of one task.
///
/// Stronger Baselines, CorpusQA and HAMLET have no closed-book setting; their prompts without the text are ours.
///
/// # Errors
/// [`MethodError::Prompt`] if the prompt cannot be filled.
pub async fn closed_book<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    items: &[&Item],
    parameters: &ClosedBook,
) -> Result<Vec<Trial>, MethodError> {
    let title = title_of(material.books);
    let shown = Shown {
        dress: parameters.dress,
        view: View::Nothing,
        title: &title,
        passages: Vec::new(),
        context: None,
        language: material.language(),
        evidence: false,
    };
    let mut asking = Asking::new(host, setting.for_questions(items.len(), false));
    let end = read_all(&mut asking, items, shown).await;
    asking.finish_all(items, end)
}
