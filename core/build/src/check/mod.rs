//! Checks by people: what they are asked of what was made, and what their answers say of the filters.

mod forms;
mod question;
mod review;

pub use forms::{Form, FormError, Sheet, Written};
pub use question::{AgainstFilter, CheckAnswers, CheckError, Question, against_filter, sample};
pub use review::{Reviewed, checkers, reviewed};
