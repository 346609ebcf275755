//! Weights as published: `config.json` and `model.safetensors`.

use super::layers::{Checkpoint, Classifier, Dense, Layer, Norm};
use super::tables::{Table, Tables};
use super::values::Values;
use crate::onnx::ConvertError;
use crate::onnx::{Config, Weights};

/// The tensor whose name tells what stands before all others.
const WORDS: &str = "embeddings.word_embeddings.weight";

/// Reads and checks all weights of the model that `config_json` describes.
pub(super) fn read(config_json: &[u8], safetensors: &[u8]) -> Result<Checkpoint, ConvertError> {
    let weights = Weights::read(safetensors)?;
    encoder(&Config::read(config_json)?, &Reader::new(&weights)?)
}

/// Reads a checkpoint with the head that makes one number of a pair of texts.
pub(super) fn read_classifier(
    config_json: &[u8],
    safetensors: &[u8],
) -> Result<(Checkpoint, Classifier), ConvertError> {
    let config = Config::read(config_json)?;
    let weights = Weights::read(safetensors)?;
    let reader = Reader::new(&weights)?;
    let hidden = config.hidden_size;
    let types = reader.values("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, hidden])?;
    let (first, second) = (&types[..hidden], types.get(hidden..2 * hidden).unwrap_or(&types[..hidden]));
    let whole = Reader { prefix: "", ..reader };
    let (pooler, output) = match config.is_bert() {
        true => (reader.dense("pooler.dense", hidden, hidden)?, whole.dense("classifier", hidden, 1)?),
        false => (whole.dense("classifier.dense", hidden, hidden)?, whole.dense("classifier.out_proj", hidden, 1)?),
    };
    let classifier = Classifier {
        second: second.iter().zip(first).map(|(second, first)| second - first).collect(),
        pooler,
        output,
        sigmoid: config.scores_by_sigmoid()?,
    };
    Ok((encoder(&config, &reader)?, classifier))
}

fn encoder(config: &Config, reader: &Reader<'_>) -> Result<Checkpoint, ConvertError> {
    let (hidden, inner) = (config.hidden_size, config.intermediate_size);

    let all = reader.values("embeddings.position_embeddings.weight", &[config.max_position_embeddings, hidden])?;
    let types = reader.values("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, hidden])?;
    let rows = all[config.first_position() * hidden..].chunks_exact(hidden);
    let positions = rows.flat_map(|row| row.iter().zip(&types).map(|(p, t)| p + t)).collect();
    let layers = (0..config.num_hidden_layers).map(|layer| {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        Ok(Layer {
            query: reader.dense(&name("attention.self.query"), hidden, hidden)?,
            key: reader.dense(&name("attention.self.key"), hidden, hidden)?,
            value: reader.dense(&name("attention.self.value"), hidden, hidden)?,
            output: reader.dense(&name("attention.output.dense"), hidden, hidden)?,
            attention_norm: reader.norm(&name("attention.output.LayerNorm"), hidden)?,
            up: reader.dense(&name("intermediate.dense"), hidden, inner)?,
            down: reader.dense(&name("output.dense"), inner, hidden)?,
            output_norm: reader.norm(&name("output.LayerNorm"), hidden)?,
        })
    });
    Ok(Checkpoint {
        hidden,
        n_heads: config.num_attention_heads,
        activation: config.activation()?,
        epsilon: config.layer_norm_eps,
        tables: Tables {
            words: reader.table(WORDS, config.vocab_size, hidden)?,
            positions: Table { n_rows: config.n_positions(), n_columns: hidden, values: Values::F32(positions) },
        },
        norm: reader.norm("embeddings.LayerNorm", hidden)?,
        layers: layers.collect::<Result<_, _>>()?,
    })
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    weights: &'a Weights<'a>,
    /// Prefix of every weight's name.
    prefix: &'a str,
}

impl<'a> Reader<'a> {
    fn new(weights: &'a Weights<'a>) -> Result<Self, ConvertError> {
        let prefix = weights.names().find_map(|name| name.strip_suffix(WORDS));
        let prefix = prefix.ok_or_else(|| ConvertError::Missing { tensor: WORDS.to_owned() })?;
        Ok(Self { weights, prefix })
    }
}

impl Reader<'_> {
    fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ConvertError> {
        Ok(self.weights.matrix(&[format!("{}{name}", self.prefix)], shape)?.values)
    }

    fn table(&self, name: &str, n_rows: usize, n_columns: usize) -> Result<Table, ConvertError> {
        Ok(Table { n_rows, n_columns, values: Values::F32(self.values(name, &[n_rows, n_columns])?) })
    }

    /// Reads a layer, published as outputs x inputs; transposed here.
    fn dense(&self, name: &str, n_inputs: usize, n_outputs: usize) -> Result<Dense, ConvertError> {
        let published = self.values(&format!("{name}.weight"), &[n_outputs, n_inputs])?;
        let weight =
            (0..n_inputs).flat_map(|i| (0..n_outputs).map(move |o| o * n_inputs + i)).map(|at| published[at]).collect();
        let bias = self.values(&format!("{name}.bias"), &[n_outputs])?;
        Ok(Dense { n_inputs, weight: Values::F32(weight), bias })
    }

    fn norm(&self, name: &str, n: usize) -> Result<Norm, ConvertError> {
        let read = |new: &str, old: &str| {
            let names = [new, old].map(|part| format!("{}{name}.{part}", self.prefix));
            Ok(self.weights.matrix(&names, &[n])?.values)
        };
        Ok(Norm { scale: read("weight", "gamma")?, shift: read("bias", "beta")? })
    }
}
