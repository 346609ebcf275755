//! The weights are inside a build of the sources. A package of a registry, which is too small for them, leaves them out.

use std::path::Path;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_weights)");
    let weights = "all-MiniLM-L6-v2/model.onnx";
    println!("cargo::rerun-if-changed={weights}");
    if Path::new(weights).is_file() {
        println!("cargo::rustc-cfg=has_weights");
    }
}
