//! `xtask-bindgen INPUT.wasm FOLDER`: writes JavaScript, types and WebAssembly for a page.

use anyhow::{Context as _, bail, ensure};
use std::path::PathBuf;
use wasm_bindgen_cli_support::Bindgen;

/// How the function begins that takes every string, and the check that it lacks: the program would take what is no string for the
/// bytes of one, and end in a trap that leaves it unusable.
const STRING: &str = "function passStringToWasm0(arg, malloc, realloc) {\n";
const REFUSED: &str = "    if (typeof arg !== 'string') throw new TypeError(`expected a string, found ${arg === null ? null : typeof arg}`);\n";

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [input, folder] = &arguments[..] else {
        bail!("expected two arguments, INPUT.wasm and FOLDER, found {}", arguments.len());
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(input).typescript(true).omit_default_module_path(false).remove_name_section(true).web(true)?;
    bindgen.generate(folder).with_context(|| format!("wasm-bindgen fails on {}", input.display()))?;
    let script = folder.join(input.with_extension("js").file_name().context("the input has a name")?);
    let text = std::fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))?;
    ensure!(text.matches(STRING).count() == 1, "{} does not take strings as expected: {STRING}", script.display());
    let text = text.replace(STRING, &format!("{STRING}{REFUSED}"));
    std::fs::write(&script, text).with_context(|| format!("cannot write {}", script.display()))
}
