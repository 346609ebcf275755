//! The weights are inside a build of the sources, packed. A package of a registry, which is too small for them, leaves them
//! out, and WebAssembly gets them from elsewhere.

#![expect(clippy::disallowed_methods, reason = "what builds core may read and write files")]

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-check-cfg=cfg(has_weights)");
    let weights = "all-MiniLM-L6-v2/model.onnx";
    println!("cargo::rerun-if-changed={weights}");
    let is_wasm = env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm");
    if Path::new(weights).is_file() && !is_wasm {
        // Higher levels pack them no smaller.
        let packed = zstd::bulk::compress(&fs::read(weights)?, 3)?;
        let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?;
        fs::write(Path::new(&out).join("model.onnx.zst"), packed)?;
        println!("cargo::rustc-cfg=has_weights");
    }
    Ok(())
}
