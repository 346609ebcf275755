pub(super) mod rows;
