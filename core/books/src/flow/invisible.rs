//! Invisible characters.

/// True for characters that never show: they are dropped from the flow.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, SOFT_HYPHEN | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
}

/// Marks where a word may be broken; shows only at a line end.
pub(super) const SOFT_HYPHEN: char = '\u{AD}';
