//! Why a prompt cannot be used.

/// Why a prompt cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// No prompt of that name.
    #[error("there is no prompt `{name}`; the names are: {known}")]
    Unknown {
        /// As asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// The front matter is missing or wrong.
    #[error(
        "prompt `{name}`: {problem}; expected TOML with paper, variables and response between two lines `+++` at the top"
    )]
    FrontMatter {
        /// Name of the prompt.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The template does not parse, or names a variable that does not exist.
    #[error("prompt `{name}`: {problem}")]
    Template {
        /// Name of the prompt.
        name: String,
        /// What is wrong, with its line.
        problem: String,
    },
}
