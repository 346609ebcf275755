//! Speed against a named peer, in the same run.

pub(crate) mod embed;
