//! Messages of a light build on what it lacks.

/// Says what a build lacks: `what` is what was asked for, `feature` the feature of this package that has it.
pub fn lacking(what: &str, feature: &str) -> String {
    format!(
        "this closeread was built without {what}: `cargo install --path cli --features {feature}` in its source folder builds it \
         with, `--features full` with all there is"
    )
}
