//! Passages from text: offsets only, the text is never copied.
