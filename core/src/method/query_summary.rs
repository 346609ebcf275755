//! Query-focused summary of a whole book (HAMLET, section 3, stage 2).

use super::{Dress, FullDocument, Material, MethodError, Setting, Trial, WindowPolicy, full_document};
use crate::benchmark::{Item, Task};
use crate::host::Host;
use crate::record::Outcome;
use serde::{Deserialize, Serialize};

/// Parameters of [`query_summary`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuerySummary {
    /// What happens to a book that exceeds the window. The paper's books fit (115K tokens at most).
    pub overflow: WindowPolicy,
}

/// Hands the reader the whole text and a query, and takes its reply as the summary, by the prompt `read-summary`.
///
/// An item of another task is not asked: it ends as [`Outcome::NotAsked`].
///
/// # Errors
/// [`MethodError::Prompt`] if the prompt cannot be filled.
pub async fn query_summary<H: Host>(
    host: &H,
    setting: Setting<'_>,
    material: &Material<'_>,
    item: &Item,
    parameters: &QuerySummary,
) -> Result<Trial, MethodError> {
    if item.task != Task::Summary {
        let reason = "query-summary answers items of task summary".to_owned();
        return Ok(Trial::ended(Outcome::NotAsked { reason }));
    }
    let parameters = FullDocument { overflow: parameters.overflow, dress: Dress::Hamlet, ..FullDocument::default() };
    Ok(full_document(host, setting, material, &[item], &parameters).await?.remove(0))
}
