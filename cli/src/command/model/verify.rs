//! `closeread model verify`: is a model what it says it is?

use super::reference::reference;
use anyhow::Context;
use closeread_embed::encoder::EncoderOptions;
use closeread_embed::{Backend, EmbeddingModel, Role};
use closeread_runner::models::rerankers::{InstalledReranker, find_reranker, installed_rerankers};
use closeread_runner::models::{Installed, MANIFEST, ONNX, TOKENIZER, find, installed, models_dir};
use closeread_text::hash::sha256;
use pollster::block_on;
use serde::Serialize;
use serde_json::Value;
use std::process::ExitCode;

/// Two sentences of one meaning with hardly a word in common, and one of another.
const RELATED: [&str; 2] =
    ["The ship left the harbour before dawn.", "At first light the vessel had already sailed from the port."];
const UNRELATED: &str = "Tax returns must be filed by the end of April.";
/// Tolerance of one model's cosine between machines.
const SAME: f64 = 1e-4;

/// The finding on one thing that was checked.
#[derive(Debug, Serialize)]
struct Finding {
    check: String,
    ok: bool,
    detail: String,
}

pub(super) fn run(name: Option<&str>, json: bool) -> anyhow::Result<ExitCode> {
    let dir = models_dir()?;
    let (mut models, mut rerankers) = (Vec::new(), Vec::new());
    match name {
        Some(name) => match find_reranker(name) {
            Ok(reranker) => rerankers.push(reranker),
            Err(_) => models.push(Ok(find(name)?)),
        },
        None => (models, rerankers) = (installed(&dir)?, installed_rerankers(&dir)?),
    }
    let mut reports = Vec::new();
    let models = models.into_iter().map(|model| match model {
        Ok(model) => (model.spec.name.clone(), model.place(), verify(&model)),
        Err(error) => (String::new(), String::new(), vec![finding("folder", false, format!("{error:#}"))]),
    });
    let rerankers = rerankers.iter().map(|model| (model.name.clone(), model.place(), verify_reranker(model)));
    for (name, place, findings) in models.chain(rerankers) {
        let ok = findings.iter().all(|finding| finding.ok);
        if !json {
            outln!("{name} ({place}): {}", if ok { "passed" } else { "FAILED" });
            for Finding { check, ok, detail } in &findings {
                outln!("  {} {check}: {detail}", if *ok { "ok    " } else { "FAILED" });
            }
        }
        reports.push(serde_json::json!({"name": name, "place": place, "ok": ok, "checks": findings}));
    }
    let ok = reports.iter().all(|report| report["ok"] == true);
    if json {
        outln!("{:#}", serde_json::json!({"ok": ok, "models": reports}));
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn verify(model: &Installed) -> Vec<Finding> {
    let mut findings: Vec<Finding> = model
        .manifest
        .files
        .iter()
        .map(|(name, expected)| match model.file(name).map(|bytes| sha256(&bytes)) {
            Ok(found) if found == *expected => finding(name, true, format!("SHA-256 {found}")),
            Ok(found) => finding(name, false, format!("SHA-256 {found}, the manifest says {expected}")),
            Err(error) => finding(name, false, format!("{error:#}")),
        })
        .collect();
    if let Err(error) = vectors(model, &mut findings) {
        findings.push(finding("vectors", false, format!("{error:#}")));
    }
    findings
}

fn verify_reranker(model: &InstalledReranker) -> Vec<Finding> {
    let mut findings = Vec::new();
    let manifest = closeread_files::read_text(&model.folder.join(MANIFEST)).ok().flatten();
    let manifest: Value = manifest.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    for (name, expected) in manifest["files"].as_object().into_iter().flatten() {
        findings.push(match model.file(name).map(|bytes| sha256(&bytes)) {
            Ok(found) if *found == *expected => finding(name, true, format!("SHA-256 {found}")),
            Ok(found) => finding(name, false, format!("SHA-256 {found}, the manifest says {expected}")),
            Err(error) => finding(name, false, format!("{error:#}")),
        });
    }
    let scored = model
        .load(EncoderOptions::default())
        .and_then(|encoder| Ok(encoder.score(RELATED[0], &[RELATED[1], UNRELATED])?));
    findings.push(match scored.as_ref().map(|scored| &*scored.scores) {
        Ok(scores) => {
            let (related, unrelated) = (scores[0], scores[1]);
            let detail = format!("{related:.4} for a sentence of the same meaning, {unrelated:.4} for one of another");
            finding("order", related > unrelated, detail)
        }
        Err(error) => finding("order", false, format!("{error:#}")),
    });
    findings
}

fn vectors(model: &Installed, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let spec = &model.spec;
    let backend = reference(spec, &model.file(ONNX)?)?;
    let encoder = EmbeddingModel::new(spec.clone(), &model.file(TOKENIZER)?, backend)?;
    let vectors = block_on(encoder.encode(Role::Passage, &[RELATED[0], RELATED[1], UNRELATED]))?.vectors;
    findings.push(finding("dimension", true, format!("{} numbers a vector", vectors.dimension())));
    if spec.normalize {
        let worst = vectors.rows().map(|row| (dot(row, row).sqrt() - 1.0).abs()).fold(0.0, f64::max);
        findings.push(finding("norm", worst < 1e-5, format!("at most {worst:.1e} from 1")));
    }
    let (related, unrelated) = (dot(vectors.row(0), vectors.row(1)), dot(vectors.row(0), vectors.row(2)));
    let detail = format!("{related:.4} between two sentences of one meaning, {unrelated:.4} to one of another");
    findings.push(finding("order", related > unrelated, detail));
    let expected = model.manifest.cosine;
    let detail = format!("{related:.4}, {expected:.4} when the folder was made");
    findings.push(finding("similarity", (related - expected).abs() <= SAME, detail));
    if let Some(check) = &spec.check {
        let pair = block_on(encoder.encode(Role::Passage, &[&check.a, &check.b]))?.vectors;
        let found = dot(pair.row(0), pair.row(1));
        let detail = format!("{found:.4}, {:.4} +- {} by the published weights", check.cosine, check.tolerance);
        findings.push(finding("known similarity", (found - check.cosine).abs() <= check.tolerance, detail));
    }
    Ok(())
}

/// The cosine of the two related sentences.
pub(super) fn related_cosine<B: Backend>(encoder: &EmbeddingModel<B>) -> anyhow::Result<f64> {
    let vectors =
        block_on(encoder.encode(Role::Passage, &RELATED)).context("the converted model does not run")?.vectors;
    Ok(dot(vectors.row(0), vectors.row(1)))
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn finding(check: &str, ok: bool, detail: String) -> Finding {
    Finding { check: check.to_owned(), ok, detail }
}
