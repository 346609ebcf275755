//! Full document, also called long context: the whole text in one prompt.

use super::ask::{Asking, End};
use super::dress::{Dress, View};
use super::read::{Shown, read_all, title_of};
use super::whole::{Kept, TooLong, keep};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::Item;
use crate::host::Host;
use crate::record::{Context, Outcome};
use crate::text::Book;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Parameters of [`full_document`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullDocument {
    /// What happens to a prompt that exceeds the window.
    pub overflow: WindowPolicy,
    /// Whose prompt and answer form.
    pub dress: Dress,
    /// All questions on a book go into one call, as NovelQA does; in its dress alone.
    pub together: bool,
    /// The sentences that hold the answer are asked for as well (NovelQA's evidence recall); in its dress alone.
    pub evidence: bool,
}

/// What is done with a prompt that exceeds the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowPolicy {
    /// The trial ends as an overflow, nothing is asked (SagaScale, section 4.1).
    #[default]
    Fail,
    /// The end of the text is cut off; questions and instructions stay whole (NovelQA, section 4.1).
    TruncateEnd,
    /// First and last half of what fits are kept, the middle is cut out (LongBench).
    TruncateMiddle,
}

/// Hands the reader the whole text of the items' books; `items` are several only where they go into one call, and then of
/// one task.
///
/// # Errors
/// [`MethodError::Prompt`] if the prompt cannot be filled.
pub async fn full_document<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    items: &[&Item],
    parameters: &FullDocument,
) -> Result<Vec<Trial>, MethodError> {
    let setting = setting.for_questions(items.len(), parameters.evidence);
    let mut asking = Asking::new(host, setting);
    let end = async {
        let title = title_of(material.books);
        let mut shown = Shown {
            dress: parameters.dress,
            view: View::Whole,
            title: &title,
            passages: Vec::new(),
            context: None,
            language: material.language(),
            evidence: parameters.evidence,
        };
        // The prompt with nothing in the place of the text.
        let around = setting.tokenizer.count(&shown.render(setting.prompts, items, "\n\n")?);
        let headed = material.books.len() > 1 || parameters.dress.heads_documents();
        let kept = fitting(setting, around, material.books, headed, parameters.overflow)?;
        shown.passages = kept.stretches.into_iter().map(Into::into).collect();
        shown.context = Some(Context {
            retriever: None,
            n_tokens: shown.passages.iter().map(|excerpt| setting.tokenizer.count(&excerpt.text)).sum(),
            passages: kept.references,
        });
        read_all(&mut asking, items, shown).await
    }
    .await;
    asking.finish_all(items, end)
}

/// As much of the books' text as the window leaves room for beside the prompt `around` it and the reply.
fn fitting(
    setting: Setting<'_>,
    around: usize,
    books: &[Arc<Book>],
    headed: bool,
    policy: WindowPolicy,
) -> Result<Kept, End> {
    let around = around + setting.max_output_tokens as usize;
    let available = setting.window.map(|window| window.saturating_sub(around));
    // Where not even the question fits, nothing is cut, so that the whole is counted.
    let policy = if available == Some(0) { WindowPolicy::Fail } else { policy };
    keep(books, headed, setting.tokenizer, available, policy).map_err(|TooLong(n_tokens)| {
        End::Outcome(Outcome::Overflow { needed: Some(around + n_tokens), window: setting.window })
    })
}
