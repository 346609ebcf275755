//! Pages of the documentation, which an installed program does not have beside it.

/// Returns the address of a page by its place in the repository, such as `docs/costs.md`.
pub fn page(path: &str) -> String {
    format!("{}/blob/main/{path}", env!("CARGO_PKG_REPOSITORY"))
}
