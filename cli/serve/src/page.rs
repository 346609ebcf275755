//! The built page: found, and its files.

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use tower_http::compression::Compression;
use tower_http::services::ServeDir;

/// Names the folder of the built page.
const VARIABLE: &str = "CLOSEREAD_PAGE";
/// What a built page has.
const NEEDED: [&str; 3] = ["index.html", "closeread_wasm.js", "closeread_wasm_bg.wasm"];

/// The folder of the built page: the one that was named, else by the environment, beside the program, in the sources.
///
/// # Errors
/// If none holds a built page.
pub fn folder(named: Option<&Path>) -> Result<PathBuf> {
    let given = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let asked = named.map(|folder| (folder.to_owned(), "--page"));
    let asked = asked.or_else(|| given.map(|folder| (folder, VARIABLE)));
    let is_built = |folder: &Path| NEEDED.iter().all(|name| folder.join(name).is_file());
    if let Some((folder, by)) = asked {
        if is_built(&folder) {
            return Ok(folder);
        }
        bail!(
            "{} (by {by}) holds no built page: expected {}, which `cargo xtask web` writes into web/dist",
            folder.display(),
            NEEDED.join(", ")
        );
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(Path::parent).map(|folder| folder.join("web"));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
    match beside.into_iter().chain([sources]).find(|folder| is_built(folder)) {
        Some(folder) => Ok(folder.canonicalize().unwrap_or(folder)),
        None => bail!(
            "the page is not built: run `cargo xtask web` in closeread's sources, or name the folder of a built page by \
             --page or {VARIABLE}"
        ),
    }
}

/// The files of the page, packed where the reader takes that, sent where they have changed.
pub(crate) fn files(folder: &Path) -> Compression<ServeDir> {
    Compression::new(ServeDir::new(folder).redirect_to_trailing_slash(false).ignore_multi_range_requests(true))
}
