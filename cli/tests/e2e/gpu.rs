//! `--backend gpu`, on a graphics processor in software; and without one.

use crate::support::{Ended, Sandbox, tales};
use serde_json::Value;

const BOOK: &str = "Ana lit the lamp in the tower. The boats stayed in the harbour.\n\nNobody paid the ferryman, and he \
                    rowed home.\n\nRain fell for a week. The market stood empty, and gulls walked about in it.\n";

/// The ranking of the book's passages, and what is said beside it; `None` where there is no such adapter.
fn search(sandbox: &Sandbox, adapter: &str, backend: &str) -> (Vec<(u64, f64)>, String) {
    let book = sandbox.write("ferry.txt", BOOK);
    let args =
        ["search", book.to_str().unwrap(), "Who was not paid?", "--order", "score", "--passage-tokens", "16", "--json"];
    let mut command = sandbox.command(&[&args[..], &["--backend", backend]].concat());
    let ended = command.env("CLOSEREAD_GPU", adapter).output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success(), "{stderr}");
    let found: Value = serde_json::from_slice(&ended.stdout).unwrap();
    let passages = found["passages"].as_array().unwrap();
    let ranked = passages.iter().map(|p| (p["index"].as_u64().unwrap(), p["score"].as_f64().unwrap()));
    (ranked.collect(), stderr)
}

#[test]
fn without_an_adapter_the_encoder_computes_and_the_reason_is_said_once() {
    let sandbox = Sandbox::with_own_cache();
    let (expected, _) = search(&sandbox, "", "encoder");
    assert!(expected.len() > 1);
    let (found, stderr) = search(&sandbox, "an adapter that nobody makes", "gpu");
    assert_eq!(found, expected);
    assert_eq!(stderr.matches("--backend gpu: no graphics processor").count(), 1, "{stderr}");
}

#[test]
#[ignore = "needs the Vulkan driver lavapipe"]
fn needs_lavapipe_an_adapter_in_software_computes_if_it_is_named() {
    let sandbox = Sandbox::with_own_cache();
    let (found, stderr) = search(&sandbox, "llvmpipe", "gpu");
    assert!(!stderr.contains("no graphics processor"), "{stderr}");
    let (expected, _) = search(&sandbox, "", "encoder-f32");
    let indices = |ranking: &[(u64, f64)]| ranking.iter().map(|(index, _)| *index).collect::<Vec<_>>();
    assert_eq!(indices(&found), indices(&expected));
    assert!(found.iter().zip(&expected).all(|(a, b)| (a.1 - b.1).abs() < 1e-4), "{found:?} {expected:?}");
}

/// What `closeread run` is given.
const RUN: [&str; 9] =
    ["run", "--benchmark", "tales", "--method", "vanilla-rag", "--budget", "30", "--passage-tokens", "12"];

/// A run on this adapter, in this precision; ends with what its manifest says of the embedder.
fn embedder_of_run(sandbox: &Sandbox, adapter: &str, backend: &str, out: &str) -> Value {
    on(sandbox, adapter, &[&RUN[..], &["--backend", backend, "--out", out]].concat()).exits(0);
    embedder_in(sandbox, out)
}

fn embedder_in(sandbox: &Sandbox, run: &str) -> Value {
    let manifest = std::fs::read(sandbox.path(&format!("{run}/manifest.json"))).unwrap();
    serde_json::from_slice::<Value>(&manifest).unwrap()["configuration"]["embedder"].take()
}

fn on(sandbox: &Sandbox, adapter: &str, args: &[&str]) -> Ended {
    Ended(sandbox.command(args).env("CLOSEREAD_GPU", adapter).output().unwrap())
}

#[test]
#[ignore = "needs the Vulkan driver lavapipe"]
fn needs_lavapipe_a_run_names_its_adapter_and_is_verified_by_it_alone() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let embedder = embedder_of_run(&sandbox, "llvmpipe", "gpu", "r");
    assert_eq!(embedder["backend"], "gpu-f32");
    assert!(embedder["adapter"].as_str().unwrap().contains("llvmpipe"), "{embedder}");
    on(&sandbox, "llvmpipe", &["verify", "r"]).exits(0);
    on(&sandbox, "an adapter that nobody makes", &["verify", "r"])
        .refuses(&["gpu-f32 computed the vectors", "encoder"]);
}

#[test]
#[ignore = "takes minutes, and needs the Vulkan driver lavapipe"]
fn needs_time_needs_lavapipe_a_run_computes_in_half_precision_where_there_is_any() {
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    assert_eq!(embedder_of_run(&sandbox, "llvmpipe", "gpu-f16", "h")["backend"], "gpu-f16");
    on(&sandbox, "llvmpipe", &["verify", "h"]).exits(0);

    // Mesa has no arithmetic in half precision on a processor that converts no halves.
    let mut without_halves = sandbox.command(&[&RUN[..], &["--backend", "gpu-f16", "--out", "f"]].concat());
    without_halves.env("CLOSEREAD_GPU", "llvmpipe").env("GALLIUM_OVERRIDE_CPU_CAPS", "sse2");
    let told = Ended(without_halves.output().unwrap()).exits(0).err();
    assert!(told.contains("has no half precision, and computes in f32"), "{told}");
    assert_eq!(embedder_in(&sandbox, "f")["backend"], "gpu-f32");
}
