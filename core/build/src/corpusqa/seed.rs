//! Seeds: one for each purpose, from the one of the build.

use closeread_text::hash::name_hash;

/// The seed of one purpose.
pub(super) fn seeded(seed: u64, purpose: &str) -> u64 {
    seed ^ u64::from_str_radix(&name_hash(purpose), 16).expect("hex digits")
}
