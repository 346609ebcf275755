//! The Python package: its sources with the library that cargo built, and the fields of `pyproject.toml`.

use crate::process::{root, target_dir};
use anyhow::{Context as _, Result};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};

const SOURCES: &str = "cli/python";

/// Copies the package into `folder`, with the library under the name by which the system of `library` loads it.
pub(crate) fn lay_out(library: &Path, folder: &Path) -> Result<()> {
    let package = folder.join("closeread");
    fs::create_dir_all(&package).with_context(|| format!("cannot make {}", package.display()))?;
    for entry in fs::read_dir(root().join(SOURCES).join("closeread"))? {
        let from = entry?.path();
        if from.is_file() {
            let name = from.file_name().context("a file has a name")?;
            fs::copy(&from, package.join(name)).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    let is_windows = library.extension().is_some_and(|ending| ending == "dll");
    let to = package.join(if is_windows { "_native.pyd" } else { "_native.abi3.so" });
    let _ = fs::remove_file(&to);
    // In a development build it is large.
    fs::hard_link(library, &to)
        .or_else(|_| fs::copy(library, &to).map(drop))
        .with_context(|| format!("cannot copy {} to {}", library.display(), to.display()))
}

/// A folder for PYTHONPATH, with the package of the development build.
pub(crate) fn development() -> Result<PathBuf> {
    let target = target_dir()?;
    let folder = target.join("python");
    let library = target.join("debug").join(format!("{DLL_PREFIX}closeread_python{DLL_SUFFIX}"));
    lay_out(&library, &folder)?;
    Ok(folder)
}

/// The fields of `[project]`.
pub(crate) struct Project {
    pub(crate) description: String,
    pub(crate) requires_python: String,
    /// Optional dependencies: `pandas`, and its requirements.
    pub(crate) extras: Vec<(String, Vec<String>)>,
    /// Entry points, in the form of `entry_points.txt`.
    pub(crate) entry_points: String,
}

impl Project {
    pub(crate) fn read() -> Result<Self> {
        let path = root().join(SOURCES).join("pyproject.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let project = toml::from_str::<toml::Table>(&text)?;
        let project = project["project"].as_table().context("pyproject.toml has a table [project]")?;
        let text =
            |name: &str| anyhow::Ok(project[name].as_str().with_context(|| format!("{name} is a text"))?.to_owned());
        let mut entry_points = String::new();
        for (group, entries) in project["entry-points"].as_table().into_iter().flatten() {
            entry_points += &format!("[{group}]\n");
            for (name, place) in entries.as_table().into_iter().flatten() {
                entry_points += &format!("{name} = {}\n", place.as_str().context("an entry point names a module")?);
            }
        }
        let extra = |(name, packages): (&String, &toml::Value)| {
            let packages = packages.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
            (name.clone(), packages.map(str::to_owned).collect())
        };
        Ok(Self {
            description: text("description")?,
            requires_python: text("requires-python")?,
            extras: project["optional-dependencies"].as_table().into_iter().flatten().map(extra).collect(),
            entry_points,
        })
    }
}
