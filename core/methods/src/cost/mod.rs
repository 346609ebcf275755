//! Cost of a method, told before it runs: calls and tokens, exact where the method determines them and a range where
//! the model decides.
//!
//! Each method says it beside its answer, of the same prompts, which are filled in and counted without the text; [`Sizes`]
//! has what the text comes to.

mod calls;
mod counting;
mod money;
mod sizes;

pub use calls::{BookSize, Calls, Cost, Range, Shared, Stage};
pub use counting::calls_of;
pub use money::Tariff;
pub use sizes::Sizes;
