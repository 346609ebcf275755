//! What a light build says of what it lacks.

/// `what` is what was asked for, `feature` the feature of this package that has it.
pub fn lacking(what: &str, feature: &str) -> String {
    format!("this closeread was built without {what}: install it by `cargo install closeread --features {feature}`")
}
