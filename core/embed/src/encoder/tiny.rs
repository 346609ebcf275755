//! Models of random weights, for tests; those of closeread-tract and closeread-gpu read this file too.

use super::ModelSpec;

/// Sizes of a tiny model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) family: &'static str,
    pub(crate) act: &'static str,
    pub(crate) hidden: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) layers: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Self { family: "bert", act: "gelu", hidden: 8, heads: 2, inner: 12, layers: 2 }
    }
}

/// Every family and every activation, with hidden states of 8 to 128 numbers.
#[allow(dead_code, reason = "the tests of closeread-gpu have widths of their own")]
pub(crate) const SHAPES: [Shape; 4] = [
    Shape { family: "bert", act: "gelu", hidden: 8, heads: 2, inner: 12, layers: 2 },
    Shape { family: "xlm-roberta", act: "gelu", hidden: 48, heads: 3, inner: 100, layers: 2 },
    Shape { family: "roberta", act: "gelu_new", hidden: 70, heads: 2, inner: 33, layers: 1 },
    Shape { family: "bert", act: "relu", hidden: 128, heads: 1, inner: 600, layers: 1 },
];

/// Token ids below this are in the vocabulary.
pub(crate) const VOCABULARY: u32 = 11;
/// Most tokens of a text, in either family.
pub(crate) const POSITIONS: usize = 130;

/// Makes `config.json` and `model.safetensors` of this shape.
pub(crate) fn published(shape: &Shape) -> (Vec<u8>, Vec<u8>) {
    published_for(shape, VOCABULARY, 1.0)
}

/// Makes `config.json` and `model.safetensors` with `vocabulary` tokens, and biases within `bias`: what all texts have
/// in common.
pub(crate) fn published_for(shape: &Shape, vocabulary: u32, bias: f32) -> (Vec<u8>, Vec<u8>) {
    let &Shape { family, act, hidden, heads, inner, layers } = shape;
    let all_positions = POSITIONS + 2;
    let config = serde_json::json!({
        "model_type": family, "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": inner, "hidden_act": act, "layer_norm_eps": 1e-5,
        "max_position_embeddings": all_positions, "vocab_size": vocabulary, "type_vocab_size": 2, "pad_token_id": 1
    });
    let mut shapes = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![vocabulary as usize, hidden]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![all_positions, hidden]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, hidden]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![hidden]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![hidden]),
    ];
    for layer in 0..layers {
        for (part, shape) in [
            ("attention.self.query", vec![hidden, hidden]),
            ("attention.self.key", vec![hidden, hidden]),
            ("attention.self.value", vec![hidden, hidden]),
            ("attention.output.dense", vec![hidden, hidden]),
            ("attention.output.LayerNorm", vec![hidden]),
            ("intermediate.dense", vec![inner, hidden]),
            ("output.dense", vec![hidden, inner]),
            ("output.LayerNorm", vec![hidden]),
        ] {
            shapes.push((format!("encoder.layer.{layer}.{part}.bias"), vec![shape[0]]));
            shapes.push((format!("encoder.layer.{layer}.{part}.weight"), shape));
        }
    }
    let (mut header, mut data) = (serde_json::Map::new(), Vec::<u8>::new());
    let mut noise = noise(1);
    for (name, shape) in shapes {
        let start = data.len();
        // Sums over many inputs stay as large as those over few.
        let scale = match shape.len() {
            2 => (4.0 / shape[1] as f32).sqrt(),
            _ if name.ends_with("bias") => bias,
            _ => 1.0,
        };
        for _ in 0..shape.iter().product::<usize>() {
            data.extend((noise() * scale).to_le_bytes());
        }
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert(name, entry);
    }
    let header = serde_json::to_vec(&header).expect("plain");
    (config.to_string().into_bytes(), [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat())
}

/// Returns the model's description.
pub(crate) fn spec(shape: &Shape, pooling: &str) -> ModelSpec {
    let toml = format!("name = 't'\ndimension = {}\nmax_tokens = {POSITIONS}\npooling = '{pooling}'", shape.hidden);
    ModelSpec::from_toml("t", &toml).expect("valid")
}

/// 1 - cosine.
pub(crate) fn distance(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    1.0 - dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Numbers in -1..1 from a seed.
pub(crate) fn noise(seed: u32) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}
