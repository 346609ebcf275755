//! A rewritten graph computes what tract computes from the file.

#[path = "../../embed/src/encoder/tiny.rs"]
mod tiny;

use super::*;
use closeread_embed::encoder::{BertBackend, EncoderOptions, Precision};
use closeread_embed::onnx::{WeightFormat, convert};
use closeread_models::all_minilm_l6_v2::onnx;
use fused::Attention;
use tiny::{SHAPES, Shape, VOCABULARY, distance, published, spec};
use tract_onnx::tract_core::internal::{EvalContext, EvalOp, rctensor0};
use tract_onnx::tract_core::ops::einsum::EinSum;

/// Largest difference between hidden states, which are of the order of 1.
const ROUNDING: f32 = 1e-5;

fn states(model: TypedModel, batch: &[&[u32]], padded: usize) -> Vec<f32> {
    let inputs = input_names(&model);
    let plan = model.into_optimized().expect("optimises").into_runnable().expect("runs");
    let outputs = plan.run(fill(&inputs, batch, padded).expect("fills")).expect("runs");
    outputs[0].to_plain_array_view::<f32>().expect("floats").iter().copied().collect()
}

fn count(model: &TypedModel, name: &str) -> usize {
    model.nodes().iter().filter(|node| node.op.name() == name).count()
}

#[test]
fn every_layer_of_the_shipped_model_is_recognised_and_its_states_stay() {
    let plain = read(onnx()).expect("reads");
    let mut rewritten = plain.clone();
    rewrite(&mut rewritten).expect("rewrites");
    assert_eq!(count(&rewritten, "closeread.Attention"), 6);
    assert_eq!(count(&rewritten, "closeread.LayerNorm"), 13);
    assert_eq!(count(&rewritten, "OptMatMul"), 36);
    assert!(!rewritten.nodes().iter().any(|node| node.op_is::<EinSum>()), "every product is rewritten");

    let long: Vec<u32> = (0..61).map(|idx| 1_000 + idx * 7_919 % 20_000).collect();
    let batch: [&[u32]; 3] = [&long, &long[7..30], &[101, 102]];
    let (plain, rewritten) = (states(plain, &batch, 61), states(rewritten, &batch, 61));
    for (text, ids) in batch.iter().enumerate() {
        let of_text = text * 61 * 384..(text * 61 + ids.len()) * 384;
        let largest = plain[of_text.clone()].iter().zip(&rewritten[of_text]).map(|(a, b)| (a - b).abs());
        let largest = largest.fold(0.0, f32::max);
        assert!(largest <= ROUNDING, "text {text}: {largest:e}");
    }
}

#[test]
fn a_mask_that_hides_tokens_in_between_is_obeyed() {
    // Two tokens of two heads of two numbers; the first is hidden in the second text.
    let shape = [2, 2, 2, 2];
    let numbers = |seed: usize| -> Vec<f32> { (0..16).map(|idx| ((idx * 7 + seed) % 11) as f32 / 5.0 - 1.0).collect() };
    let tensor = |seed| Tensor::from_shape(&shape, &numbers(seed)).expect("fits").into_tvalue();
    let mask = Tensor::from_shape(&[2, 1, 1, 2], &[0.0_f32, -1e9, -1e9, 0.0]).expect("fits").into_tvalue();
    let op = Attention { scale: rctensor0(0.5_f32) };
    let inputs = tvec!(tensor(1), tensor(2), tensor(3), mask);
    let context = op.eval(&EvalContext::out_of_plan(), inputs).expect("runs").remove(0);
    let context: Vec<f32> = context.to_plain_array_view::<f32>().expect("floats").iter().copied().collect();
    let values = numbers(3);
    // Each token sees one only, and so takes its values as they are.
    assert_eq!(context[..4], values[..4], "the first text's first token sees itself");
    for token in 0..2 {
        let seen: Vec<f32> = values[12..].to_vec();
        assert_eq!(context[8 + token * 4..][..4], seen, "the second text's tokens see its second");
    }
}

#[test]
fn finding_06_a_token_that_the_model_does_not_know_is_an_error() {
    let shape = Shape::default();
    let (config, weights) = published(&shape);
    for format in [WeightFormat::F32, WeightFormat::F16, WeightFormat::W8] {
        let onnx = convert(&config, &weights, format).expect("converts");
        let backend = TractBackend::new(&spec(&shape, "mean"), &onnx).expect("loads");
        let vectors = |id| pollster::block_on(backend.forward(&[&[0, 2], &[0, id, 2]]));
        vectors(VOCABULARY - 1).expect("the last that it knows");
        let error = vectors(VOCABULARY).expect_err("refused").to_string();
        assert!(
            error.ends_with("token id 11, the model knows 11: are tokenizer.json and the weights of one model?"),
            "{error}"
        );
    }
}

#[test]
fn vectors_equal_the_encoders() {
    let exact = || EncoderOptions { precision: Some(Precision::F32), ..EncoderOptions::default() };
    for shape in &SHAPES {
        let (config, weights) = published(shape);
        for format in [WeightFormat::F32, WeightFormat::F16, WeightFormat::W8] {
            let onnx = convert(&config, &weights, format).expect("converts");
            for pooling in ["mean", "cls"] {
                let spec = spec(shape, pooling);
                let ours = BertBackend::from_onnx(&spec, &onnx, exact()).expect("loads");
                let tract = TractBackend::with_buckets(&spec, &onnx, Vec::new()).expect("loads");
                for length in [1, 3, 20, 77, 128] {
                    let text: Vec<u32> = (0..length).map(|place| place * place % VOCABULARY).collect();
                    let found = pollster::block_on(ours.forward(&[&text])).expect("runs");
                    let expected = pollster::block_on(tract.forward(&[&text])).expect("runs");
                    let distance = distance(found.values(), expected.values());
                    assert!(distance < 1e-9, "{shape:?} {format:?} {pooling} {length}: 1 - cos = {distance:e}");
                }
            }
        }
    }
}
