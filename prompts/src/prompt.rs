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

    /// What the system says before it: the template `system` of the file's front matter, filled likewise; `None` without.
    ///
    /// # Errors
    /// As [`Prompt::render`].
    fn system(&self, prompts: &Prompts) -> Result<Option<String>, PromptError>;
}

/// A prompt of a method. Those of judges and builds are read by who asks them.
pub trait ReaderPrompt: Prompt {
    /// What the response is to hold.
    fn expected(&self) -> Expected;
}

/// Name, text and variables of a prompt that ships.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shipped {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) variables: &'static [&'static str],
    /// What follows `expects`; empty without.
    #[cfg(test)]
    pub(crate) expects: &'static str,
}

/// Makes of `Name "file" { variable: type, … }` the struct of a prompt's variables, its name, and [`Prompt`] for it; with
/// `expects` what the response is to hold as well, in words of [`Expected`]; and of all of them the list `SHIPPED`.
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
