pub(crate) mod data;
