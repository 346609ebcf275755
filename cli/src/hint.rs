//! Hints on what to type where an error of core says what is wrong: core names no option.

use closeread_books::{DecodeError, TextError};
use closeread_build::BuildError;
use closeread_data::scoring::format::FormatError;
use closeread_eval::observations::PoolError;
use closeread_methods::MethodError;
use closeread_report::compare::ChoiceError;
use std::borrow::Cow;
use std::error::Error;
use std::path::Path;

/// Quotes a value for a shell.
pub(crate) fn typed(value: &str) -> Cow<'_, str> {
    shlex::try_quote(value).unwrap_or(Cow::Borrowed(value))
}

/// Quotes a path for a shell.
pub(crate) fn typed_path(path: &Path) -> String {
    typed(&path.display().to_string()).into_owned()
}

/// The option that helps; `None` where the message says all there is to do.
pub(crate) fn hint(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(of)
}

fn of(error: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<FormatError>() {
        return match error {
            FormatError::NoGold { .. } => Some("--gold FILE names the gold answers".to_owned()),
            FormatError::OwnGold { .. } => Some("leave --gold away".to_owned()),
            FormatError::NoTask { .. } => Some("--task TASK names it".to_owned()),
            FormatError::UnknownTask { tasks: [], .. } => Some("leave --task away".to_owned()),
            FormatError::WhichSystem { .. } => Some("--system NAME names it".to_owned()),
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<BuildError>() {
        return match error {
            BuildError::Stale { stage } | BuildError::Line { stage, .. } => {
                Some(format!("--from {stage} makes it and what comes after it anew"))
            }
            _ => None,
        };
    }
    if let Some(error) = error.downcast_ref::<ChoiceError>() {
        return match error {
            ChoiceError::Values { name, .. } => Some(format!("--{name} A,B")),
            ChoiceError::NoCell { .. } | ChoiceError::NoCommonCell { .. } => {
                Some("--method, --model and --budget choose cells, A's value before B's".to_owned())
            }
            ChoiceError::OneRun { .. } => Some("such as --method vanilla-rag,dos-rag --budget 500".to_owned()),
            _ => None,
        };
    }
    if let Some(PoolError::EqualCells(_)) = error.downcast_ref() {
        return Some("RUN=NAME names a run, over the name that `run --name` gave it".to_owned());
    }
    match (error.downcast_ref(), error.downcast_ref(), error.downcast_ref()) {
        (Some(MethodError::Unprepared(_)), ..) => Some("--fresh starts anew".to_owned()),
        (_, Some(TextError::OnlyFrame { .. }), _) => Some("--keep-frame reads it with its frame".to_owned()),
        (.., Some(DecodeError::Binary { .. } | DecodeError::InvalidUtf8 { .. } | DecodeError::Undetected { .. })) => {
            Some("--encoding NAME names the encoding of a text".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_below_its_context_has_its_hint() {
        let error = Err::<(), _>(BuildError::Stale { stage: "queries" }).context("cannot build").unwrap_err();
        assert_eq!(hint(&error).as_deref(), Some("--from queries makes it and what comes after it anew"));
        assert_eq!(hint(&anyhow::anyhow!("no file")), None);
    }
}
