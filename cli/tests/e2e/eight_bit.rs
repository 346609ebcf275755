//! `--backend encoder-int8` and the calibration that it needs.

use crate::support::{Ended, Sandbox};
use serde_json::{Value, json};
use std::path::Path;

const BOOK: &str = "Ana lit the lamp in the tower. The boats stayed in the harbour.\n\nNobody paid the ferryman, and he \
                    rowed home.\n\nRain fell for a week. The market stood empty, and gulls walked about in it.\n";

/// A folder with the model that ships, and without its calibration.
fn model(sandbox: &Sandbox) -> String {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/all-MiniLM-L6-v2");
    for name in ["model.toml", "model.onnx", "tokenizer.json", "manifest.json"] {
        sandbox.write(&format!("mini/{name}"), std::fs::read(shipped.join(name)).unwrap());
    }
    sandbox.path("mini").display().to_string()
}

/// The passages' numbers and scores.
fn search(sandbox: &Sandbox, model: &str, backend: &str) -> Ended {
    let book = sandbox.write("ferry.txt", BOOK);
    let args =
        ["search", book.to_str().unwrap(), "Who was not paid?", "--order", "score", "--passage-tokens", "16", "--json"];
    sandbox.run(&[&args[..], &["--embedder", model, "--backend", backend]].concat())
}

fn ranking(found: &Ended) -> Vec<(u64, f64)> {
    let found = found.json();
    let passages = found["passages"].as_array().unwrap();
    passages.iter().map(|p| (p["index"].as_u64().unwrap(), p["score"].as_f64().unwrap())).collect()
}

#[test]
fn the_shipped_model_is_calibrated() {
    let sandbox = Sandbox::with_own_cache();
    let exact = ranking(&search(&sandbox, "all-MiniLM-L6-v2", "encoder-f32").exits(0));
    let rounded = ranking(&search(&sandbox, "all-MiniLM-L6-v2", "encoder-int8").exits(0));
    assert_eq!(exact[0].0, rounded[0].0);
    for (passage, score) in &exact {
        let other = rounded.iter().find(|(other, _)| other == passage).expect("the same passages").1;
        assert!((score - other).abs() < 0.03 && score != &other, "{exact:?} {rounded:?}");
    }
    sandbox
        .run(&["model", "calibrate", "all-MiniLM-L6-v2"])
        .refuses(&["`all-MiniLM-L6-v2` is inside the program", "name a model's folder"]);
}

#[test]
fn another_model_is_calibrated_on_a_text_and_then_found_by() {
    let sandbox = Sandbox::with_own_cache();
    let model = model(&sandbox);
    search(&sandbox, &model, "encoder-int8").refuses(&["calibration.json", "closeread model calibrate"]);

    let text = sandbox.write("ferry.txt", BOOK).display().to_string();
    let told = sandbox.run(&["model", "calibrate", &model, "--text", &text]).exits(0);
    assert!(told.err().contains("calibration.json from 1 passages; --backend encoder-int8"), "{}", told.err());
    let path = sandbox.path("mini/calibration.json");
    let file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        (&file["version"], &file["n_passages"], file["texts"]["ferry"].is_string()),
        (&json!(1), &json!(1), true)
    );
    assert_eq!(file["layers"].as_array().unwrap().len(), 6);
    assert!(file["layers"][5]["output"].as_array().unwrap().iter().all(|x| x.as_f64() >= Some(0.0)));
    let exact = ranking(&search(&sandbox, &model, "encoder-f32").exits(0));
    let rounded = ranking(&search(&sandbox, &model, "encoder-int8").exits(0));
    assert_eq!(exact[0].0, rounded[0].0);
}

#[test]
fn a_calibration_of_other_weights_is_refused() {
    let sandbox = Sandbox::with_own_cache();
    let model = model(&sandbox);
    let text = sandbox.write("ferry.txt", BOOK).display().to_string();
    sandbox.run(&["model", "calibrate", &model, "--text", &text]).exits(0);
    let path = sandbox.path("mini/calibration.json");
    let mut file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    file["weights"] = json!("00");
    std::fs::write(&path, file.to_string()).unwrap();
    search(&sandbox, &model, "encoder-int8").refuses(&["of other weights", "model calibrate"]);
    std::fs::write(&path, "{").unwrap();
    search(&sandbox, &model, "encoder-int8").refuses(&["calibration.json of all-MiniLM-L6-v2"]);
    sandbox.run(&["model", "calibrate", &model, "--text", "nowhere.txt"]).refuses(&["nowhere.txt"]);
}
