//! Closed book: the question without the text. What is answered here was known before (NovelQA, section 4.1).

use super::read::{Shown, read};
use super::{MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::host::Host;
use crate::text::Book;

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
    books: &[impl AsRef<Book>],
    item: &Item,
) -> Result<Trial, MethodError> {
    let titles: Vec<&str> = books.iter().map(|b| b.as_ref().title.as_str()).filter(|t| !t.is_empty()).collect();
    let language = books.first().map_or("en", |b| b.as_ref().language.code());
    let shown =
        Shown { prompt: "closed-book", title: &titles.join("; "), passages: Vec::new(), context: None, language };
    read(host, setting, item, shown).await
}
