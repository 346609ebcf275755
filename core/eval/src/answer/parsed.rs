//! The result of parsing a response.

/// The result of parsing a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parsed<T> {
    /// The response follows the form and says this.
    Answer(T),
    /// The response does not follow the form.
    Unparsed,
}

impl<T> Parsed<T> {
    /// Returns what the response says, if it follows the form.
    pub fn answer(self) -> Option<T> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Unparsed => None,
        }
    }

    /// Maps what the response says to another view of it.
    pub fn map<U>(self, view: impl FnOnce(T) -> U) -> Parsed<U> {
        self.answer().map(view).into()
    }
}

impl<T> From<Option<T>> for Parsed<T> {
    fn from(answer: Option<T>) -> Self {
        answer.map_or(Self::Unparsed, Self::Answer)
    }
}
