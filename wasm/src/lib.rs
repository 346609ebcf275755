//! closeread-core for JavaScript.
