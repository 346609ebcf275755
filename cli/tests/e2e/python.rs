//! The Python module, as `tests/python` imports it.

use crate::support::readers_python;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Installs what a wheel installs of the module, in `site-packages` of a folder.
fn install(folder: &Path) -> PathBuf {
    let sources = Path::new(ROOT).join("cli/python");
    // inspect_ai takes by its name what lies in a folder that is called so.
    let packages = folder.join("site-packages");
    let package = packages.join("closeread");
    std::fs::create_dir_all(&package).unwrap();
    for file in std::fs::read_dir(sources.join("closeread")).unwrap().map(Result::unwrap) {
        if file.file_type().unwrap().is_file() {
            std::fs::copy(file.path(), package.join(file.file_name())).unwrap();
        }
    }
    let ending = if cfg!(windows) { "pyd" } else { "abi3.so" };
    let (library, there) = (library(), package.join(format!("_native.{ending}")));
    std::fs::hard_link(&library, &there).or_else(|_| std::fs::copy(&library, &there).map(drop)).unwrap();

    let project = std::fs::read_to_string(sources.join("pyproject.toml")).unwrap();
    let project: toml::Table = toml::from_str(&project).unwrap();
    let entry = project["project"]["entry-points"]["inspect_ai"]["closeread"].as_str().unwrap();
    let about = packages.join(concat!("closeread-", env!("CARGO_PKG_VERSION"), ".dist-info"));
    std::fs::create_dir(&about).unwrap();
    std::fs::write(about.join("entry_points.txt"), format!("[inspect_ai]\ncloseread = {entry}\n")).unwrap();
    let metadata = concat!("Metadata-Version: 2.4\nName: closeread\nVersion: ", env!("CARGO_PKG_VERSION"), "\n");
    std::fs::write(about.join("METADATA"), metadata).unwrap();
    packages
}

/// Returns the path of what cargo made of the module for this test.
fn library() -> PathBuf {
    let name = format!("{}closeread_python{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    Path::new(env!("CARGO_BIN_EXE_closeread")).with_file_name("deps").join(name)
}

fn passes(python: &Path, script: &str) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut python = Command::new(python);
    python.arg(Path::new(ROOT).join("tests/python").join(script)).env("PYTHONPATH", install(folder.path()));
    python.env("CLOSEREAD_BINARY", env!("CARGO_BIN_EXE_closeread")).env("PYTHONDONTWRITEBYTECODE", "1");
    let ended = python.current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && !said.contains("skipped"), "{said}");
}

#[test]
#[ignore = "needs python3"]
fn needs_python_the_module_has_the_numbers_of_the_command_line() {
    passes(Path::new(if cfg!(windows) { "python" } else { "python3" }), "test_module.py");
}

#[test]
#[ignore = "needs the readers of exports"]
fn needs_readers_the_module_works_beside_pandas_polars_inspect_and_lm_eval() {
    passes(&readers_python(), "test_tools.py");
}
