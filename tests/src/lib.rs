//! Conformance of closeread-core with the reference implementations.
