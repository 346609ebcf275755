//! Numbers from answers and retrieved passages.

pub mod evidence;
