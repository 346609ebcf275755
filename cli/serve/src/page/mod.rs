//! The built page: a folder, or inside the program.

mod bundle;

pub(crate) use bundle::answer;
pub use bundle::{Bundle, Content, Packed};

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::extract::Request;
use axum::routing::get;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use tower_http::compression::Compression;
use tower_http::services::ServeDir;

/// Names the folder of the built page.
const VARIABLE: &str = "CLOSEREAD_PAGE";
/// Names of files that a built page has.
const NEEDED: [&str; 3] = ["index.html", "closeread_wasm.js", "closeread_wasm_bg.wasm"];

/// The page that is inside the program, with the feature `page`.
#[cfg(feature = "page")]
const INSIDE: Option<&Bundle> = Some(&include!(concat!(env!("OUT_DIR"), "/page.rs")));
#[cfg(not(feature = "page"))]
const INSIDE: Option<&Bundle> = None;

/// The place of a built page.
#[derive(Debug, Clone, Copy)]
enum Place<T> {
    Folder(T),
    Inside(&'static Bundle),
}

/// A built page, wherever it is.
#[derive(Debug, Clone)]
pub struct Page(Place<PathBuf>);

impl Page {
    /// The page that was named, else by the environment, beside the program, inside the program, in the sources.
    ///
    /// # Errors
    /// If there is none, or the one that was named is not built.
    pub fn find(named: Option<&Path>) -> Result<Self> {
        let given = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let asked = named.map(|folder| (folder.to_owned(), "--page"));
        let asked = asked.or_else(|| given.map(|folder| (folder, VARIABLE)));
        let is_built = |folder: &Path| NEEDED.iter().all(|name| folder.join(name).is_file());
        if let Some((folder, by)) = asked {
            if is_built(&folder) {
                return Ok(Self(Place::Folder(folder)));
            }
            bail!(
                "{} (by {by}) holds no built page: expected {}, which `cargo xtask web` writes into web/dist",
                folder.display(),
                NEEDED.join(", ")
            );
        }
        let program = std::env::current_exe().ok();
        let beside = program.as_deref().and_then(Path::parent).map(|folder| folder.join("web"));
        let in_sources = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist");
        let found = beside.filter(|folder| is_built(folder));
        let found = found.map(Place::Folder).or_else(|| INSIDE.map(Place::Inside));
        let found = found.or_else(|| Some(in_sources()).filter(|folder| is_built(folder)).map(Place::Folder));
        match found {
            Some(Place::Folder(folder)) => Ok(Self(Place::Folder(folder.canonicalize().unwrap_or(folder)))),
            Some(inside) => Ok(Self(inside)),
            None => bail!(
                "this build has no page: run `cargo xtask web` in closeread's sources, name the folder of a built page by \
                 --page or {VARIABLE}, or take a program of a release, which has it inside"
            ),
        }
    }

    /// Returns the place of the page, in words.
    pub fn place(&self) -> String {
        match &self.0 {
            Place::Folder(folder) => folder.display().to_string(),
            Place::Inside(_) => "the page inside the program".to_owned(),
        }
    }

    /// Returns one of the page's files.
    ///
    /// # Errors
    /// If it has none of that path, or it cannot be read.
    pub fn read(&self, path: &str) -> Result<Cow<'static, [u8]>> {
        match &self.0 {
            Place::Folder(folder) => {
                let file = folder.join(path);
                closeread_files::read_file(&file).map(Cow::Owned).with_context(|| {
                    format!("cannot read {}: `cargo xtask web` writes it into the built page", file.display())
                })
            }
            Place::Inside(bundle) => {
                bundle.read(path).with_context(|| format!("the page inside the program has no {path}"))
            }
        }
    }

    /// Returns the service of the page's files: packed where the reader takes that, sent where they have changed.
    pub(crate) fn service(&self) -> Router {
        match self.0 {
            Place::Folder(ref folder) => {
                let files = ServeDir::new(folder).redirect_to_trailing_slash(false).ignore_multi_range_requests(true);
                Router::new().fallback_service(Compression::new(files))
            }
            Place::Inside(bundle) => {
                Router::new().fallback(get(move |request: Request| async move { answer(bundle, &request) }))
            }
        }
    }
}
