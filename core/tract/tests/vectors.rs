//! The shipped model's vectors against other implementations': `vectors/embedding.py` says which.

use closeread_embed::onnx::{WeightFormat, convert};
use closeread_embed::{Bucket, EmbeddingModel, ModelSpec, Role};
use closeread_models::all_minilm_l6_v2::{TOKENIZER, onnx};
use closeread_tract::TractBackend;
use pollster::block_on;
use serde::Deserialize;

/// 1 - cosine to onnxruntime on the same file: float noise, both compute in f32.
const SAME_FILE: f64 = 1e-6;

#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    ids: Vec<u32>,
    cut: bool,
    vector: Vec<f64>,
    cosine_f32: f64,
}

fn cases() -> Vec<Case> {
    let vectors: Vectors = serde_json::from_str(include_str!("vectors/embedding.json")).expect("valid");
    vectors.cases
}

fn encoder(buckets: Option<Vec<Bucket>>) -> EmbeddingModel<TractBackend> {
    let spec = ModelSpec::named("all-MiniLM-L6-v2").expect("built in");
    let backend = match buckets {
        Some(buckets) => TractBackend::with_buckets(&spec, onnx(), buckets),
        None => TractBackend::new(&spec, onnx()),
    };
    EmbeddingModel::new(spec, TOKENIZER, backend.expect("loads")).expect("valid")
}

fn cosine(a: &[f32], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(&a, b)| f64::from(a) * b).sum()
}

#[test]
fn tokens_are_those_of_the_models_own_tokenizer() {
    let encoder = encoder(None);
    for case in cases() {
        let tokens = encoder.tokenize(Role::Passage, 0, &case.text).expect("tokenises");
        assert_eq!((tokens.ids, tokens.cut), (case.ids, case.cut), "{:?}", case.text);
    }
}

#[test]
fn vectors_equal_onnxruntimes_alone_and_in_every_shape() {
    let cases = cases();
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let n_cut = cases.iter().filter(|case| case.cut).count();
    for buckets in [
        None,
        Some(vec![]),
        Some(vec![Bucket { n_tokens: 64, n_texts: 3 }, Bucket { n_tokens: 256, n_texts: 1 }]),
        Some(vec![Bucket { n_tokens: 256, n_texts: 5 }]),
    ] {
        let embedded = block_on(encoder(buckets.clone()).encode(Role::Passage, &texts)).expect("encodes");
        assert_eq!(embedded.n_cut, n_cut);
        for (row, case) in embedded.vectors.rows().zip(&cases) {
            let distance = 1.0 - cosine(row, &case.vector);
            assert!(distance.abs() <= SAME_FILE, "{:?} in {buckets:?}: 1 - cos = {distance:e}", case.text);
        }
    }
}

#[test]
fn eight_bit_weights_stay_close_to_the_published_ones() {
    let cases = cases();
    // An empty text is two tokens, with nothing to average rounding over.
    assert!(cases.iter().all(|case| case.cosine_f32 > if case.ids.len() < 10 { 0.995 } else { 0.999 }));
}

/// A RoBERTa of one layer whose word and position vectors tell tokens and positions apart.
fn tiny(model_type: &str, act: &str, prefix: &str) -> (Vec<u8>, Vec<u8>) {
    let config = serde_json::json!({
        "model_type": model_type, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2,
        "intermediate_size": 12, "hidden_act": act, "layer_norm_eps": 1e-5, "max_position_embeddings": 20,
        "vocab_size": 11, "type_vocab_size": 2, "pad_token_id": 1
    });
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![11, 8]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![20, 8]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, 8]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![8]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![8]),
    ];
    for (part, shape) in [
        ("attention.self.query", vec![8, 8]),
        ("attention.self.key", vec![8, 8]),
        ("attention.self.value", vec![8, 8]),
        ("attention.output.dense", vec![8, 8]),
        ("attention.output.LayerNorm", vec![8]),
        ("intermediate.dense", vec![12, 8]),
        ("output.dense", vec![8, 12]),
        ("output.LayerNorm", vec![8]),
    ] {
        shapes.push((format!("encoder.layer.0.{part}.bias"), vec![shape[0]]));
        shapes.push((format!("encoder.layer.0.{part}.weight"), shape));
    }
    let (mut header, mut data) = (serde_json::Map::new(), Vec::<u8>::new());
    let mut seed = 1_u32;
    for (name, shape) in shapes {
        let start = data.len();
        for _ in 0..shape.iter().product::<usize>() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            data.extend(((seed >> 8) as f32 / (1 << 23) as f32 - 1.0).to_le_bytes());
        }
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(format!("{prefix}{name}"), entry);
    }
    let header = serde_json::to_vec(&header).expect("plain");
    (config.to_string().into_bytes(), [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat())
}

fn vector(model_type: &str, act: &str, prefix: &str, format: WeightFormat) -> Vec<f64> {
    use closeread_embed::Backend;
    let (config, weights) = tiny(model_type, act, prefix);
    let spec =
        ModelSpec::from_toml("t", "name = 't'\ndimension = 8\nmax_tokens = 16\npooling = 'mean'").expect("valid");
    let onnx = convert(&config, &weights, format).expect("converts");
    let backend = TractBackend::new(&spec, &onnx).expect("loads");
    let vector = block_on(backend.forward(&[&[0, 5, 3, 2], &[0, 5, 2]])).expect("runs");
    vector.row(0).iter().map(|&x| f64::from(x)).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn prefixes_of_weight_names_make_no_difference_and_families_do() {
    let plain = vector("xlm-roberta", "gelu", "", WeightFormat::F32);
    assert_eq!(plain, vector("xlm-roberta", "gelu", "roberta.", WeightFormat::F32));
    let bert = vector("bert", "gelu", "bert.", WeightFormat::F32);
    assert!(distance(&plain, &bert) > 1e-2, "XLM-RoBERTa's first position is behind the padding token's");
}

#[test]
fn storage_formats_differ_by_rounding_only() {
    let exact = vector("xlm-roberta", "gelu", "", WeightFormat::F32);
    assert!(distance(&exact, &vector("xlm-roberta", "gelu", "", WeightFormat::F16)) < 5e-3);
    assert!(distance(&exact, &vector("xlm-roberta", "gelu", "", WeightFormat::W8)) < 8e-2);
}

#[test]
fn activations_are_those_of_their_names() {
    let exact = vector("bert", "gelu", "", WeightFormat::F32);
    let tanh = distance(&exact, &vector("bert", "gelu_new", "", WeightFormat::F32));
    assert!(tanh > 0.0 && tanh < 1e-2, "tanh approximates gelu: {tanh}");
    assert!(distance(&exact, &vector("bert", "relu", "", WeightFormat::F32)) > 1e-2);
}
