//! Packs the built page, with the feature `page`, so that the program has it inside.

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Weights of the model that ships, which the page has, and the program by crate closeread-models.
const WEIGHTS: &str = "models/all-MiniLM-L6-v2/model.onnx";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CLOSEREAD_PAGE");
    if env::var_os("CARGO_FEATURE_PAGE").is_none() {
        return Ok(());
    }
    let of_sources = || Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../web/dist");
    let page = env::var_os("CLOSEREAD_PAGE").filter(|folder| !folder.is_empty()).map_or_else(of_sources, PathBuf::from);
    if !page.join("closeread_wasm_bg.wasm").is_file() {
        return Err(format!(
            "the feature `page` puts the built page into the program, and {} holds none: build it by `cargo xtask web`, or \
             name its folder by CLOSEREAD_PAGE",
            page.display()
        )
        .into());
    }
    println!("cargo::rerun-if-changed={}", page.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let mut paths = Vec::new();
    list(&page, "", &mut paths)?;
    // What programs in JavaScript import, the page does not.
    paths.retain(|path| !path.ends_with(".d.ts"));
    paths.sort();
    let mut table = "Bundle { files: &[\n".to_owned();
    for (n, path) in paths.iter().enumerate() {
        let bytes = fs::read(page.join(path))?;
        let digest = Sha256::digest(&bytes);
        let tag: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let content = if path == WEIGHTS {
            "Content::Made(closeread_models::all_minilm_l6_v2::onnx)".to_owned()
        } else {
            let name = format!("{n}.gz");
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            packed.write_all(&bytes)?;
            fs::write(out.join(&name), packed.finish()?)?;
            format!("Content::Gzip(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\")))")
        };
        writeln!(table, "    Packed {{ path: {path:?}, tag: {tag:?}, content: {content} }},")?;
    }
    table += "] }\n";
    fs::write(out.join("page.rs"), table)?;
    Ok(())
}

/// The files below a folder, as paths with `/`.
fn list(folder: &Path, below: &str, paths: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            list(&entry.path(), &format!("{path}/"), paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
