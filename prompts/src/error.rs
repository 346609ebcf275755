//! Errors of prompts: unknown name, bad front matter, bad template.

/// Errors of prompts: unknown name, bad front matter, bad template.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// No prompt of that name.
    #[error("there is no prompt `{name}`; the names are: {known}")]
    Unknown {
        /// The name that was requested.
        name: String,
        /// All names of prompts.
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
