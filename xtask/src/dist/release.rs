//! Files beside the packages of a release: the model's weights, checksums, the bill of materials, Homebrew's formula.

use super::build::Target;
use super::{REPOSITORY, VERSION, archive, licences, write};
use crate::process::root;
use anyhow::{Context as _, Result};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fs;
use std::path::{Path, PathBuf};

const CHECKSUMS: &str = "SHA256SUMS";
const FORMULA: &str = "closeread.rb";

/// Copies the weights that a program from a registry fetches.
pub(super) fn weights(out: &Path) -> Result<PathBuf> {
    let to = out.join("all-MiniLM-L6-v2.onnx");
    fs::copy(root().join("models/all-MiniLM-L6-v2/model.onnx"), &to).context("cannot copy the model's weights")?;
    Ok(to)
}

/// CycloneDX: the crates of others with their licences.
pub(super) fn bill_of_materials(out: &Path) -> Result<PathBuf> {
    let components: Vec<_> = licences::others()?
        .iter()
        .map(|other| {
            json!({
                "type": "library", "name": other.name, "version": other.version,
                "purl": format!("pkg:cargo/{}@{}", other.name, other.version),
                "licenses": [{"expression": other.licence.replace('/', " OR ")}],
            })
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": {"type": "application", "name": "closeread", "version": VERSION,
            "purl": format!("pkg:cargo/closeread@{VERSION}")}},
        "components": components,
    });
    let path = out.join("closeread.cdx.json");
    write(&path, format!("{bill:#}\n"))?;
    Ok(path)
}

fn sha256(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The packages of a release, without the files about them.
fn files(out: &Path) -> Result<Vec<PathBuf>> {
    let all = fs::read_dir(out)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let about = |path: &PathBuf| path.file_name().is_some_and(|name| name == CHECKSUMS || name == FORMULA);
    let mut files: Vec<PathBuf> = all.into_iter().filter(|path| path.is_file() && !about(path)).collect();
    files.sort();
    Ok(files)
}

/// The checksums, in the form that `sha256sum --check` reads.
pub(super) fn checksums(out: &Path) -> Result<PathBuf> {
    let mut sums = String::new();
    for file in files(out)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        sums += &format!("{}  {name}\n", sha256(&file)?);
    }
    let path = out.join(CHECKSUMS);
    write(&path, sums)?;
    Ok(path)
}

/// Homebrew's formula, for the archives that are there.
pub(super) fn formula(out: &Path) -> Result<PathBuf> {
    let mut by_system = String::new();
    let systems = [
        ("on_macos", "on_arm", Target::Mac),
        ("on_linux", "on_intel", Target::LinuxStatic),
        ("on_linux", "on_arm", Target::LinuxStaticArm),
    ];
    for (system, processor, target) in systems {
        let file = archive::file(target);
        if !out.join(&file).is_file() {
            continue;
        }
        by_system += &format!(
            "  {system} do\n    {processor} do\n      url \"{REPOSITORY}/releases/download/v{VERSION}/{file}\"\n      \
             sha256 \"{}\"\n    end\n  end\n",
            sha256(&out.join(&file))?
        );
    }
    let text = format!(
        "class Closeread < Formula
  desc \"How well do language models read whole books?\"
  homepage \"{REPOSITORY}\"
  version \"{VERSION}\"
  license any_of: [\"MIT\", \"Apache-2.0\"]
{by_system}
  def install
    bin.install \"closeread\"
    man1.install Dir[\"man/*.1\"]
    bash_completion.install \"completions/closeread.bash\" => \"closeread\"
    fish_completion.install \"completions/closeread.fish\"
    zsh_completion.install \"completions/_closeread\"
  end

  test do
    assert_match \"closed-book\", shell_output(\"#{{bin}}/closeread run --method closed-book --out run\")
  end
end
"
    );
    let path = out.join(FORMULA);
    write(&path, text)?;
    Ok(path)
}
