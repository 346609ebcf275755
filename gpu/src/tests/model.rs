use super::adapter;
use super::tiny::{POSITIONS, Shape, VOCABULARY, distance, noise, published, spec};
use super::ways;
use crate::arithmetic::Arithmetic;
use crate::device::Device;
use crate::{Adapter, GpuError, GpuModel, Precision};
use closeread_embed::encoder::{self, BertBackend, EncoderOptions};
use closeread_embed::onnx::{WeightFormat, convert};
use closeread_embed::{Backend, EmbedError, ModelSpec, TextTokenizer, Vectors};
use closeread_models::all_minilm_l6_v2 as shipped;
use pollster::block_on;
use std::path::PathBuf;

const SHAPES: [Shape; 4] = [
    Shape { family: "bert", act: "gelu", hidden: 64, heads: 2, inner: 100, layers: 2 },
    Shape { family: "xlm-roberta", act: "gelu", hidden: 128, heads: 2, inner: 200, layers: 2 },
    Shape { family: "roberta", act: "gelu_new", hidden: 70, heads: 2, inner: 33, layers: 1 },
    Shape { family: "bert", act: "relu", hidden: 8, heads: 2, inner: 12, layers: 1 },
];

fn texts(lengths: &[usize], seed: u32) -> Vec<Vec<u32>> {
    let mut noise = noise(seed);
    let mut id = || ((noise() + 1.0) / 2.0 * VOCABULARY as f32) as u32 % VOCABULARY;
    lengths.iter().map(|&n| (0..n).map(|_| id()).collect()).collect()
}

fn slices(texts: &[Vec<u32>]) -> Vec<&[u32]> {
    texts.iter().map(Vec::as_slice).collect()
}

fn encoder(spec: &ModelSpec, onnx: &[u8]) -> BertBackend {
    let options = EncoderOptions { precision: Some(encoder::Precision::F32), ..EncoderOptions::default() };
    BertBackend::from_onnx(spec, onnx, options).expect("loads")
}

fn assert_agree(found: &Vectors, expected: &Vectors, slack: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.rows().zip(expected.rows()) {
        let distance = distance(found, expected);
        assert!(distance < slack, "{what}: 1 - cos = {distance:e}");
    }
}

fn loaded(adapter: &Adapter, spec: &ModelSpec, onnx: &[u8], way: Arithmetic) -> GpuModel {
    let device = block_on(Device::open(adapter)).expect("opens");
    block_on(GpuModel::load_onto(device, adapter, spec, onnx, way)).expect("loads")
}

/// Most that 1 - cosine to the encoder in f32 may be.
fn slack(way: Arithmetic) -> f64 {
    match way.precision {
        Precision::F32 => 1e-9,
        Precision::F16 => 1e-4,
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_vectors_of_both_families_are_the_encoders() {
    let adapter = adapter();
    let texts = texts(&[1, 2, 63, 64, 65, POSITIONS, 5], 3);
    for shape in &SHAPES {
        let (config, weights) = published(shape);
        for format in [WeightFormat::F32, WeightFormat::F16, WeightFormat::W8] {
            let onnx = convert(&config, &weights, format).expect("converts");
            for pooling in ["mean", "cls"] {
                let spec = spec(shape, pooling);
                let expected = block_on(encoder(&spec, &onnx).forward(&slices(&texts))).expect("runs");
                for way in ways() {
                    let gpu = loaded(&adapter, &spec, &onnx, way);
                    let found = block_on(gpu.forward(&slices(&texts))).expect("runs");
                    assert_agree(&found, &expected, slack(way), &format!("{shape:?} {format:?} {pooling} {way:?}"));
                }
            }
        }
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_a_text_has_the_same_vector_in_every_batch_and_on_every_thread() {
    let adapter = adapter();
    let (config, weights) = published(&SHAPES[0]);
    let onnx = convert(&config, &weights, WeightFormat::W8).expect("converts");
    let texts = texts(&[90, 1, 17, 64, 128, 3, 70], 5);
    for way in ways() {
        let gpu = loaded(&adapter, &spec(&SHAPES[0], "mean"), &onnx, way);
        let together = block_on(gpu.forward(&slices(&texts))).expect("runs");
        let apart = std::thread::scope(|scope| {
            let handles: Vec<_> =
                texts.iter().map(|text| scope.spawn(|| block_on(gpu.forward(&[text])).expect("runs"))).collect();
            handles.into_iter().flat_map(|handle| handle.join().expect("ends").into_values()).collect::<Vec<f32>>()
        });
        assert!(apart == together.values(), "bit for bit on one device, {way:?}");
        assert!(block_on(gpu.forward(&[])).expect("runs").is_empty());
        let units: Vec<Vec<usize>> = gpu.plan(&[30_000, 2768, 1, 40_000]).into_iter().map(|unit| unit.texts).collect();
        assert_eq!(units, [vec![0, 1], vec![2], vec![3]]);
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_a_device_that_is_gone_is_told_from_a_text_that_is_wrong() {
    let adapter = adapter();
    let (config, weights) = published(&SHAPES[3]);
    let onnx = convert(&config, &weights, WeightFormat::F32).expect("converts");
    let spec = spec(&SHAPES[3], "mean");
    let broken = block_on(GpuModel::load(&adapter, &spec, &onnx[..100], Precision::F32)).expect_err("refused");
    assert!(matches!(broken, GpuError::Embed(_)), "{broken}");
    let gpu = block_on(GpuModel::load(&adapter, &spec, &onnx, Precision::F32)).expect("loads");
    let unknown = block_on(gpu.forward(&[&[1, VOCABULARY]])).expect_err("refused");
    assert!(!matches!(unknown, EmbedError::Device(_)) && unknown.to_string().contains("token id 11"), "{unknown}");
    block_on(gpu.forward(&[&[1, 2]])).expect("a wrong text leaves the device as it was");
    gpu.release();
    for _ in 0..2 {
        let lost = block_on(gpu.forward(&[&[1, 2]])).expect_err("lost");
        let of_device = matches!(lost, EmbedError::Device(_));
        assert!(of_device && lost.to_string().contains(&format!("{} was lost", adapter.name())), "{lost}");
    }
}

#[test]
#[ignore = "needs a graphics processor or the Vulkan driver lavapipe"]
fn needs_vulkan_the_model_that_ships_gives_the_encoders_vectors() {
    let adapter = adapter();
    let spec = ModelSpec::from_toml("model.toml", shipped::SPEC).expect("valid");
    let tokenizer = TextTokenizer::new(&spec.name, shipped::TOKENIZER, spec.max_tokens).expect("valid");
    let texts = ["The lighthouse keeper counted the ships.", "Tea.", "Nobody had asked him, so he said nothing."];
    let ids: Vec<Vec<u32>> = texts.iter().map(|text| tokenizer.tokenize(text).expect("splits").ids).collect();
    let expected = block_on(encoder(&spec, shipped::onnx()).forward(&slices(&ids))).expect("runs");
    for way in ways() {
        let gpu = loaded(&adapter, &spec, shipped::onnx(), way);
        let found = block_on(gpu.forward(&slices(&ids))).expect("runs");
        assert_agree(&found, &expected, slack(way), &format!("all-MiniLM-L6-v2 {way:?}"));
    }
}

/// The page's tests compute these models too, on SwiftShader.
#[test]
fn the_models_of_the_pages_tests_are_these() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../web/test/data");
    for (file, shape) in [
        ("tiny-bert.onnx", Shape { family: "bert", act: "gelu", hidden: 8, heads: 2, inner: 12, layers: 2 }),
        (
            "tiny-xlm-roberta.onnx",
            Shape { family: "xlm-roberta", act: "gelu", hidden: 64, heads: 2, inner: 70, layers: 1 },
        ),
    ] {
        let (config, weights) = published(&shape);
        let onnx = convert(&config, &weights, WeightFormat::W8).expect("converts");
        let path = folder.join(file);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::create_dir_all(&folder).expect("makes the folder");
            std::fs::write(&path, &onnx).expect("writes the model");
        }
        let there = std::fs::read(&path).unwrap_or_default();
        assert!(there == onnx, "{file} is not what is converted: run this test with UPDATE_EXPECT=1");
    }
}
