//! The encoder as a graph of ONNX operators.

use super::config::Config;
use super::format::{ConvertError, WeightFormat};
use super::proto::{Attribute, ElementType, Message};
use super::safetensors::{Matrix, Weights};
use closeread_kernels::Activation;
use half::f16;

/// The first operator set with `LayerNormalization`.
const OPSET: i64 = 17;
/// The format version that came with it.
const IR_VERSION: i64 = 8;
/// Number that is added to the attention scores of padding: far below any score, and exp of it is exactly 0.
const MASKED: f32 = -1e9;

/// Builds the whole file.
pub(super) fn build(config: &Config, weights: &Weights<'_>, format: WeightFormat) -> Result<Vec<u8>, ConvertError> {
    let word = "embeddings.word_embeddings.weight";
    let prefix = weights.names().find_map(|name| name.strip_suffix(word));
    let prefix = prefix.ok_or_else(|| ConvertError::Missing { tensor: word.to_owned() })?;
    let mut graph = Graph { proto: Message::default(), weights, prefix, config, format };
    graph.proto.text(2, "encoder");
    let mut state = graph.embeddings()?;
    graph.mask();
    graph.attention_shapes();
    for layer in 0..config.num_hidden_layers {
        state = graph.layer(layer, &state)?;
    }
    graph.proto.node("Identity", &[&state], "last_hidden_state", &[]);
    let tokens = [Err("batch"), Err("sequence")];
    let hidden = [Err("batch"), Err("sequence"), Ok(config.hidden_size)];
    graph
        .proto
        .message(11, &Message::value("input_ids", ElementType::I64, &tokens))
        .message(11, &Message::value("attention_mask", ElementType::I64, &tokens))
        .message(12, &Message::value("last_hidden_state", ElementType::F32, &hidden));
    graph.proto.into_model(IR_VERSION, OPSET)
}

struct Graph<'a> {
    proto: Message,
    weights: &'a Weights<'a>,
    /// Prefix of every weight's name.
    prefix: &'a str,
    config: &'a Config,
    format: WeightFormat,
}

impl Graph<'_> {
    /// Adds the embeddings: word, position and token type, normalised.
    fn embeddings(&mut self) -> Result<String, ConvertError> {
        let hidden = self.config.hidden_size;
        let words = self.read("embeddings.word_embeddings.weight", &[self.config.vocab_size, hidden])?;
        let words = self.table("words", &words)?;
        let all = self.read("embeddings.position_embeddings.weight", &[self.config.max_position_embeddings, hidden])?;
        let types = self.read("embeddings.token_type_embeddings.weight", &[self.config.type_vocab_size, hidden])?;
        // A single text has token type 0 throughout, so that its vector can be added to every position's.
        let values: Vec<f32> = all.values[self.config.first_position() * hidden..]
            .chunks_exact(hidden)
            .flat_map(|position| position.iter().zip(&types.values).map(|(p, t)| p + t))
            .collect();
        let positions = self.table("positions", &Matrix { shape: vec![self.config.n_positions(), hidden], values })?;

        self.ints("zero", &[0]);
        self.ints("one", &[1]);
        self.ints("two", &[2]);
        self.proto
            .node("Gather", &[&words, "input_ids"], "word_states", &[])
            .node("Shape", &["input_ids"], "input_shape", &[])
            .node("Slice", &["input_shape", "one", "two"], "n_tokens", &[])
            .node("Slice", &[&positions, "zero", "n_tokens", "zero"], "position_states", &[])
            .node("Add", &["word_states", "position_states"], "embedding_sum", &[]);
        self.layer_norm("embeddings.LayerNorm", "embedding_sum", "embeddings")
    }

    /// Makes the numbers that are added to attention scores: 0 where the mask is 1.
    fn mask(&mut self) {
        self.scalar("f_one", 1.0);
        self.scalar("f_masked", MASKED);
        self.ints("mask_axes", &[1, 2]);
        self.proto
            .node("Cast", &["attention_mask"], "mask_float", &[Attribute::Int("to", ElementType::F32 as i64)])
            .node("Sub", &["f_one", "mask_float"], "mask_padding", &[])
            .node("Mul", &["mask_padding", "f_masked"], "mask_scores", &[])
            .node("Unsqueeze", &["mask_scores", "mask_axes"], "mask", &[]);
    }

    fn attention_shapes(&mut self) {
        let (hidden, heads) = (self.config.hidden_size as i64, self.config.num_attention_heads as i64);
        self.ints("split_heads", &[0, 0, heads, hidden / heads]);
        self.ints("join_heads", &[0, 0, hidden]);
        self.scalar("f_scale", 1.0 / ((hidden / heads) as f32).sqrt());
        match self.config.activation() {
            Ok(Activation::Gelu) => {
                self.scalar("f_sqrt2", std::f32::consts::SQRT_2);
                self.scalar("f_half", 0.5);
            }
            Ok(Activation::GeluTanh) => {
                self.scalar("f_half", 0.5);
                self.scalar("f_cubic", 0.044_715);
                self.scalar("f_sqrt2pi", std::f32::consts::FRAC_2_SQRT_PI * std::f32::consts::FRAC_1_SQRT_2);
            }
            Ok(Activation::Relu) | Err(_) => {}
        }
    }

    /// Adds one layer: attention and feed-forward, each added to its input and normalised.
    fn layer(&mut self, layer: usize, input: &str) -> Result<String, ConvertError> {
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let at = |part: &str| format!("layer{layer}_{part}");

        for (part, perm) in [("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])] {
            let mut states = self.linear(&name(&format!("attention.self.{part}")), &at(part), input, hidden, hidden)?;
            if part == "query" {
                let scaled = at("query_scaled");
                self.proto.node("Mul", &[&states, "f_scale"], &scaled, &[]);
                states = scaled;
            }
            let split = at(&format!("{part}_split"));
            self.proto.node("Reshape", &[&states, "split_heads"], &split, &[]).node(
                "Transpose",
                &[&split],
                &at(&format!("{part}_heads")),
                &[Attribute::Ints("perm", &perm)],
            );
        }
        self.proto
            .node("MatMul", &[&at("query_heads"), &at("key_heads")], &at("scores"), &[])
            .node("Add", &[&at("scores"), "mask"], &at("masked_scores"), &[])
            .node("Softmax", &[&at("masked_scores")], &at("attention"), &[Attribute::Int("axis", -1)])
            .node("MatMul", &[&at("attention"), &at("value_heads")], &at("context_heads"), &[])
            .node("Transpose", &[&at("context_heads")], &at("context_split"), &[Attribute::Ints("perm", &[0, 2, 1, 3])])
            .node("Reshape", &[&at("context_split"), "join_heads"], &at("context"), &[]);
        let attended = self.linear(&name("attention.output.dense"), &at("attended"), &at("context"), hidden, hidden)?;
        self.proto.node("Add", &[&attended, input], &at("attended_sum"), &[]);
        let middle = self.layer_norm(&name("attention.output.LayerNorm"), &at("attended_sum"), &at("middle"))?;

        let wide = self.linear(&name("intermediate.dense"), &at("wide"), &middle, hidden, inner)?;
        let active = self.activation(&at("active"), &wide)?;
        let narrow = self.linear(&name("output.dense"), &at("narrow"), &active, inner, hidden)?;
        self.proto.node("Add", &[&narrow, &middle], &at("output_sum"), &[]);
        self.layer_norm(&name("output.LayerNorm"), &at("output_sum"), &at("output"))
    }

    /// Adds `input` times the transposed weight plus the bias.
    fn linear(&mut self, name: &str, at: &str, input: &str, n_in: usize, n_out: usize) -> Result<String, ConvertError> {
        let stored = self.read(&format!("{name}.weight"), &[n_out, n_in])?;
        let weight = self.layer_weight(&format!("{at}_weight"), &stored)?;
        let bias = self.vector(&format!("{name}.bias"), n_out, &format!("{at}_bias"))?;
        let product = format!("{at}_product");
        self.proto.node("MatMul", &[input, &weight], &product, &[]).node("Add", &[&product, &bias], at, &[]);
        Ok(at.to_owned())
    }

    fn activation(&mut self, at: &str, x: &str) -> Result<String, ConvertError> {
        let part = |part: &str| format!("{at}_{part}");
        match self.config.activation()? {
            Activation::Relu => self.proto.node("Relu", &[x], at, &[]),
            Activation::Gelu => self
                .proto
                .node("Div", &[x, "f_sqrt2"], &part("scaled"), &[])
                .node("Erf", &[&part("scaled")], &part("erf"), &[])
                .node("Add", &[&part("erf"), "f_one"], &part("twice_share"), &[])
                .node("Mul", &[x, &part("twice_share")], &part("twice"), &[])
                .node("Mul", &[&part("twice"), "f_half"], at, &[]),
            Activation::GeluTanh => self
                .proto
                .node("Mul", &[x, x], &part("square"), &[])
                .node("Mul", &[&part("square"), x], &part("cube"), &[])
                .node("Mul", &[&part("cube"), "f_cubic"], &part("cubic"), &[])
                .node("Add", &[x, &part("cubic")], &part("sum"), &[])
                .node("Mul", &[&part("sum"), "f_sqrt2pi"], &part("scaled"), &[])
                .node("Tanh", &[&part("scaled")], &part("tanh"), &[])
                .node("Add", &[&part("tanh"), "f_one"], &part("twice_share"), &[])
                .node("Mul", &[x, &part("twice_share")], &part("twice"), &[])
                .node("Mul", &[&part("twice"), "f_half"], at, &[]),
        };
        Ok(at.to_owned())
    }

    fn layer_norm(&mut self, name: &str, input: &str, at: &str) -> Result<String, ConvertError> {
        let hidden = self.config.hidden_size;
        let (scale, shift) = (format!("{at}_scale"), format!("{at}_shift"));
        for (new, old, at) in [("weight", "gamma", &scale), ("bias", "beta", &shift)] {
            let names = [new, old].map(|part| format!("{}{name}.{part}", self.prefix));
            let values = self.weights.matrix(&names, &[hidden])?.values;
            self.floats(at, &[hidden], &values)?;
        }
        let epsilon = Attribute::Float("epsilon", self.config.layer_norm_eps);
        self.proto.node("LayerNormalization", &[input, &scale, &shift], at, &[Attribute::Int("axis", -1), epsilon]);
        Ok(at.to_owned())
    }

    fn read(&self, name: &str, shape: &[usize]) -> Result<Matrix, ConvertError> {
        self.weights.matrix(&[format!("{}{name}", self.prefix)], shape)
    }

    fn vector(&mut self, name: &str, n: usize, at: &str) -> Result<String, ConvertError> {
        let values = self.read(name, &[n])?.values;
        self.floats(at, &[n], &values)?;
        Ok(at.to_owned())
    }

    /// A table whose rows are looked up.
    fn table(&mut self, at: &str, matrix: &Matrix) -> Result<String, ConvertError> {
        self.stored(at, &matrix.shape, &matrix.values, row_scales(matrix), 0)
    }

    /// The weight of a layer, outputs x inputs as published, transposed for `MatMul`.
    fn layer_weight(&mut self, at: &str, matrix: &Matrix) -> Result<String, ConvertError> {
        let (n_out, n_in) = (matrix.shape[0], matrix.shape[1]);
        let transposed: Vec<f32> =
            (0..n_in).flat_map(|i| (0..n_out).map(move |o| matrix.values[o * n_in + i])).collect();
        self.stored(at, &[n_in, n_out], &transposed, row_scales(matrix), 1)
    }

    /// A matrix in the format asked for, `scales` along `axis`, and the name of its f32 form.
    fn stored(
        &mut self,
        at: &str,
        shape: &[usize],
        values: &[f32],
        scales: Vec<f32>,
        axis: usize,
    ) -> Result<String, ConvertError> {
        let (stored, scale) = (format!("{at}_stored"), format!("{at}_row_scale"));
        match self.format {
            WeightFormat::F32 => self.floats(at, shape, values)?,
            WeightFormat::F16 => {
                let halves: Vec<f16> = values.iter().map(|&x| f16::from_f32(x)).collect();
                self.finite(at, halves.iter().map(|x| x.to_f32()))?;
                let data: Vec<u8> = halves.iter().flat_map(|x| x.to_le_bytes()).collect();
                self.proto.initializer(&stored, ElementType::F16, shape, &data).node(
                    "Cast",
                    &[&stored],
                    at,
                    &[Attribute::Int("to", ElementType::F32 as i64)],
                );
            }
            WeightFormat::W8 => {
                self.finite(at, values.iter().copied())?;
                let scale_of = |idx: usize| scales[if axis == 0 { idx / shape[1] } else { idx % shape[1] }];
                let data: Vec<u8> = values
                    .iter()
                    .enumerate()
                    .map(|(idx, &x)| ((x / scale_of(idx)).round_ties_even() as i8).cast_unsigned())
                    .collect();
                self.proto.initializer(&stored, ElementType::I8, shape, &data);
                self.floats(&scale, &[scales.len()], &scales)?;
                self.proto.node("DequantizeLinear", &[&stored, &scale], at, &[Attribute::Int("axis", axis as i64)]);
            }
        }
        Ok(at.to_owned())
    }

    fn floats(&mut self, at: &str, shape: &[usize], values: &[f32]) -> Result<(), ConvertError> {
        self.finite(at, values.iter().copied())?;
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.proto.initializer(at, ElementType::F32, shape, &data);
        Ok(())
    }

    fn finite(&self, at: &str, mut values: impl Iterator<Item = f32>) -> Result<(), ConvertError> {
        if values.all(f32::is_finite) {
            return Ok(());
        }
        Err(ConvertError::NotFinite { tensor: at.to_owned(), format: self.format })
    }

    fn scalar(&mut self, at: &str, value: f32) {
        self.proto.initializer(at, ElementType::F32, &[], &value.to_le_bytes());
    }

    fn ints(&mut self, at: &str, values: &[i64]) {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.proto.initializer(at, ElementType::I64, &[values.len()], &data);
    }
}

/// Returns what 127 steps of each row come to; 1 for a row of zeros.
fn row_scales(matrix: &Matrix) -> Vec<f32> {
    let largest =
        matrix.values.chunks_exact(matrix.shape[1]).map(|row| row.iter().fold(0.0_f32, |m, x| m.max(x.abs())));
    largest.map(|largest| if largest == 0.0 { 1.0 } else { largest / 127.0 }).collect()
}
