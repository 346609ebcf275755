//! What people say of what was made: a page to tick through, and what it says of the filters.

mod forms;
mod page;
mod question;
mod review;

pub use forms::{Form, FormError, Sheet, Written};
pub use page::check_page;
pub use question::{AgainstFilter, CheckAnswers, CheckError, Question, against_filter, sample};
pub use review::{Reviewed, reviewed};
