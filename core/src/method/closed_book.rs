//! Closed book: the question without the text. What is answered here was known before (NovelQA, section 4.1).

use super::ask::Asking;
use super::read::{Shown, read};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::host::Host;
use serde::{Deserialize, Serialize};

/// Parameters of [`closed_book`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClosedBook {}

/// Asks the question with the title of the work and nothing of its text, one question a call.
///
/// NovelQA puts all questions of a book into one call; one a call is what the other methods here do, and makes the
/// difference between them the text alone.
///
/// # Errors
/// [`MethodError::Prompt`] if the prompt cannot be filled.
pub async fn closed_book<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    _parameters: &ClosedBook,
) -> Result<Trial, MethodError> {
    let titles: Vec<&str> = material.books.iter().map(|b| b.title.as_str()).filter(|t| !t.is_empty()).collect();
    let title = titles.join("; ");
    let language = material.language();
    let shown = Shown { prompt: "closed-book", title: &title, passages: Vec::new(), context: None, language };
    let mut asking = Asking::new(host, setting);
    let end = read(&mut asking, item, shown).await;
    asking.finish(end)
}
