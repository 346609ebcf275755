//! Versions of models that answered, as the providers named them.

use crate::record::Record;
use closeread_llm::ServedBy;
use std::collections::BTreeMap;

/// Returns by model the versions that its provider named in responses, and in how many; models whose provider named
/// none are left out.
pub fn versions(records: &[Record]) -> BTreeMap<&str, BTreeMap<&ServedBy, usize>> {
    let mut versions: BTreeMap<&str, BTreeMap<&ServedBy, usize>> = BTreeMap::new();
    for record in records {
        for call in record.calls.iter().filter(|call| !call.served_by.is_unnamed()) {
            *versions.entry(&record.key.model).or_default().entry(&call.served_by).or_default() += 1;
        }
    }
    versions
}
