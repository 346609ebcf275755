//! Full document, also called long context: the whole text in one prompt.

use super::ask::{Asking, End};
use super::read::{Shown, prompt_name, read};
use super::whole::{Kept, TooLong, keep};
use super::{Material, MethodError, Setting, Trial};
use crate::benchmark::{Item, Task};
use crate::host::Host;
use crate::prompt::PromptError;
use crate::record::{Context, Outcome};
use crate::text::Book;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// Parameters of [`full_document`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FullDocument {
    /// What happens to a prompt that exceeds the window.
    pub overflow: WindowPolicy,
}

/// What is done with a prompt that exceeds the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowPolicy {
    /// The trial ends as an overflow, nothing is asked (SagaScale, section 4.1).
    #[default]
    Fail,
    /// The end of the text is cut off; question and instructions stay whole (NovelQA, section 4.1).
    TruncateEnd,
    /// First and last half of what fits are kept, the middle is cut out (LongBench).
    TruncateMiddle,
}

/// Hands the reader the whole text of the item's books.
///
/// # Errors
/// [`MethodError::Prompt`] if the prompt cannot be filled.
pub async fn full_document<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &FullDocument,
) -> Result<Trial, MethodError> {
    let mut asking = Asking::new(host, setting);
    let end = async {
        let kept = fitting(setting, item, "read", material.books, parameters.overflow)?;
        let context = Context {
            retriever: None,
            n_tokens: kept.stretches.iter().map(|p| setting.tokenizer.count(p)).sum(),
            passages: kept.references,
        };
        let (passages, context) = (kept.stretches, Some(context));
        let shown = Shown { prompt: "read", title: "", passages, context, language: material.language() };
        read(&mut asking, item, shown).await
    }
    .await;
    asking.finish(end)
}

/// As much of the books' text as the window leaves room for beside question, instructions and reply.
fn fitting(
    setting: Setting<'_>,
    item: &Item,
    prompt: &str,
    books: &[Arc<Book>],
    policy: WindowPolicy,
) -> Result<Kept, End> {
    let Some(window) = setting.window else {
        return Ok(keep(books, setting.tokenizer, None, policy).unwrap_or_default());
    };
    let around = setting.tokenizer.count(&skeleton(setting, item, prompt)?) + setting.max_output_tokens as usize;
    let available = window.saturating_sub(around);
    // Where not even the question fits, nothing is cut, so that the whole is counted.
    let policy = if available == 0 { WindowPolicy::Fail } else { policy };
    keep(books, setting.tokenizer, Some(available), policy).map_err(|TooLong(n_tokens)| {
        End::Outcome(Outcome::Overflow { needed: Some(around + n_tokens), window: Some(window) })
    })
}

/// The prompt with nothing in the place of the text.
fn skeleton(setting: Setting<'_>, item: &Item, prompt: &str) -> Result<String, PromptError> {
    let options: &[String] = if item.task == Task::Choice { &item.options } else { &[] };
    let variables = json!({ "context": "\n\n", "question": item.question, "options": options });
    setting.prompts.render(&prompt_name(prompt, item.task), &variables)
}
