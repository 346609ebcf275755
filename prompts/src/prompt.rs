//! A prompt as a type: its variables are the fields, so one that lacks a variable does not compile.

use crate::error::PromptError;
use crate::templates::Prompts;
use closeread_eval::reading::Expected;

/// A prompt with a value for each of its variables.
pub trait Prompt {
    /// Its name, which is that of its file.
    fn name(&self) -> &'static str;

    /// Its text: the template that `prompts` holds, filled with its variables.
    ///
    /// # Errors
    /// [`PromptError::Template`] if a user's own template cannot be filled.
    fn render(&self, prompts: &Prompts) -> Result<String, PromptError>;

    /// Its system message: the filled template `system` of the file's front matter; `None` without one.
    ///
    /// # Errors
    /// As [`Prompt::render`].
    fn system(&self, prompts: &Prompts) -> Result<Option<String>, PromptError>;
}

/// A prompt of a method, with the format of its response. Judges and builds parse responses themselves.
pub trait ReaderPrompt: Prompt {
    /// The expected content of the response.
    fn expected(&self) -> Expected;
}

/// Name, text and variables of a prompt that ships.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shipped {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) variables: &'static [&'static str],
    /// Source text after `expects`; empty without it.
    #[cfg(test)]
    pub(crate) expects: &'static str,
}

/// Declares prompts. `Name "file" { variable: type, … }` makes a struct of the variables and implements [`Prompt`] for it;
/// with `expects`, also the expected response, in terms of [`Expected`]. All prompts together make the list `SHIPPED`.
macro_rules! prompts {
    ($this:ident: $(
        $prompt:ident $(<$life:lifetime>)? $name:literal {
            $($(#[$attribute:meta])* $variable:ident: $kind:ty),* $(,)?
        } $(expects $expected:expr)?;
    )+) => {
        $(
            #[doc = concat!("The variables of `", $name, ".md`.")]
            #[derive(Debug, Clone, serde::Serialize)]
            pub struct $prompt $(<$life>)? {
                $(
                    #[doc = concat!("`", stringify!($variable), "`.")]
                    $(#[$attribute])*
                    pub $variable: $kind,
                )*
            }

            impl $(<$life>)? $prompt $(<$life>)? {
                /// Its name, which is that of its file.
                pub const NAME: &'static str = $name;
            }

            impl $(<$life>)? $crate::Prompt for $prompt $(<$life>)? {
                fn name(&self) -> &'static str {
                    Self::NAME
                }

                fn render(&self, prompts: &$crate::Prompts) -> Result<String, $crate::PromptError> {
                    prompts.filled($name, self)
                }

                fn system(&self, prompts: &$crate::Prompts) -> Result<Option<String>, $crate::PromptError> {
                    prompts.system($name, self)
                }
            }

            $(
                impl $crate::ReaderPrompt for $prompt<'_> {
                    fn expected(&$this) -> closeread_eval::reading::Expected {
                        #[allow(unused_imports, reason = "not every prompt asks for an answer")]
                        use closeread_eval::{answer::Form::*, reading::Expected::*};
                        $expected
                    }
                }
            )?
        )+

        pub(crate) const SHIPPED: &[$crate::prompt::Shipped] = &[$(
            $crate::prompt::Shipped {
                name: $name,
                source: include_str!(concat!("../", $name, ".md")),
                variables: &[$(stringify!($variable)),*],
                #[cfg(test)]
                expects: concat!("" $(, stringify!($expected))?),
            }
        ),+];
    };
}
