//! `xtask-bindgen INPUT.wasm FOLDER`: writes JavaScript, types and WebAssembly for a page.

use anyhow::{Context as _, bail};
use std::path::PathBuf;
use wasm_bindgen_cli_support::Bindgen;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [input, folder] = &arguments[..] else {
        bail!("expected two arguments, INPUT.wasm and FOLDER, found {}", arguments.len());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).typescript(true).omit_default_module_path(false).remove_name_section(true).web(true)?;
    bindgen.generate(folder).with_context(|| format!("wasm-bindgen fails on {}", input.display()))
}
