//! Weights from the ONNX files that `embed/onnx/graph.rs` writes: its names, its shapes.

use super::layers::{Checkpoint, Dense, Layer, Norm};
use super::tables::{Table, Tables};
use super::values::Values;
use crate::onnx::Activation;
use half::f16;
use std::collections::BTreeMap;

/// Reads the whole file; the error says what is wrong with it.
pub(super) fn read(onnx: &[u8]) -> Result<Checkpoint, String> {
    let graph = Graph::read(onnx)?;
    let words = graph.table("words")?;
    let hidden = words.n_columns;
    let positions = graph.table("positions")?;
    let heads = graph.tensor("split_heads")?.ints()?;
    let n_heads = match heads[..] {
        [0, 0, n_heads, size] if n_heads > 0 && size > 0 && n_heads.checked_mul(size) == i64::try_from(hidden).ok() => {
            usize::try_from(n_heads).map_err(|_| "its heads do not fit this machine")?
        }
        _ => return Err(format!("its heads {heads:?} do not divide a hidden state of {hidden}")),
    };
    if hidden == 0 || positions.n_columns != hidden || words.n_rows == 0 || positions.n_rows == 0 {
        return Err("its embeddings have no rows, or positions of another size than words".to_owned());
    }
    let mut layers = Vec::new();
    while graph.tensors.contains_key(format!("layer{}_query_bias", layers.len()).as_str()) {
        layers.push(graph.layer(layers.len(), hidden)?);
    }
    if layers.is_empty() {
        return Err("it has no layer that closeread wrote".to_owned());
    }
    let activation = graph.activation.ok_or("it has no activation that the encoder knows")?;
    let epsilon = graph.epsilon.ok_or("it has no layer normalisation")?;
    Ok(Checkpoint {
        hidden,
        n_heads,
        activation,
        epsilon,
        tables: Tables { words, positions },
        norm: graph.norm("embeddings", hidden)?,
        layers,
    })
}

/// Returns whether the file names closeread as its producer and has the tensors that [`read`] begins with.
pub(super) fn is_ours(onnx: &[u8]) -> bool {
    Graph::read(onnx).is_ok_and(|graph| ["split_heads", "layer0_query_bias"].iter().all(|t| graph.tensor(t).is_ok()))
}

/// The content of the file, still where it is.
struct Graph<'a> {
    tensors: BTreeMap<&'a str, Tensor<'a>>,
    activation: Option<Activation>,
    epsilon: Option<f32>,
}

#[derive(Default)]
struct Tensor<'a> {
    name: &'a str,
    shape: Vec<usize>,
    element_type: u64,
    data: &'a [u8],
}

/// Number of the type of f32 in `TensorProto.DataType`.
const F32: u64 = 1;
const INT8: u64 = 3;
const INT64: u64 = 7;
const F16: u64 = 10;

impl<'a> Graph<'a> {
    fn read(onnx: &'a [u8]) -> Result<Self, String> {
        let mut found = Self { tensors: BTreeMap::new(), activation: None, epsilon: None };
        let mut producer: &[u8] = &[];
        for field in Fields(onnx) {
            match field? {
                (2, Field::Bytes(name)) => producer = name,
                (7, Field::Bytes(graph)) => found.read_graph(graph)?,
                _ => {}
            }
        }
        if producer != b"closeread" {
            return Err("it was not written by closeread".to_owned());
        }
        Ok(found)
    }

    fn read_graph(&mut self, graph: &'a [u8]) -> Result<(), String> {
        for field in Fields(graph) {
            match field? {
                (1, Field::Bytes(node)) => self.read_node(node)?,
                (5, Field::Bytes(tensor)) => {
                    let tensor = Tensor::read(tensor)?;
                    self.tensors.insert(tensor.name, tensor);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_node(&mut self, node: &'a [u8]) -> Result<(), String> {
        let (mut op, mut epsilon): (&[u8], _) = (&[], None);
        for field in Fields(node) {
            match field? {
                (4, Field::Bytes(name)) => op = name,
                (5, Field::Bytes(attribute)) => {
                    for field in Fields(attribute) {
                        if let (2, Field::Fixed32(value)) = field? {
                            epsilon = Some(f32::from_bits(value));
                        }
                    }
                }
                _ => {}
            }
        }
        match op {
            b"Erf" => self.activation = Some(Activation::Gelu),
            b"Tanh" => self.activation = Some(Activation::GeluTanh),
            b"Relu" => self.activation = Some(Activation::Relu),
            b"LayerNormalization" => self.epsilon = epsilon,
            _ => {}
        }
        Ok(())
    }

    fn layer(&self, layer: usize, hidden: usize) -> Result<Layer, String> {
        let at = |part: &str| format!("layer{layer}_{part}");
        let up = self.dense(&at("wide"), hidden, None)?;
        let inner = up.bias.len();
        Ok(Layer {
            query: self.dense(&at("query"), hidden, Some(hidden))?,
            key: self.dense(&at("key"), hidden, Some(hidden))?,
            value: self.dense(&at("value"), hidden, Some(hidden))?,
            output: self.dense(&at("attended"), hidden, Some(hidden))?,
            attention_norm: self.norm(&at("middle"), hidden)?,
            up,
            down: self.dense(&at("narrow"), inner, Some(hidden))?,
            output_norm: self.norm(&at("output"), hidden)?,
        })
    }

    /// A linear layer, with as many outputs as its bias has if it is not said.
    fn dense(&self, at: &str, n_inputs: usize, n_outputs: Option<usize>) -> Result<Dense, String> {
        let bias = self.tensor(&format!("{at}_bias"))?.floats()?;
        if bias.is_empty() || n_outputs.is_some_and(|n| n != bias.len()) {
            return Err(format!("`{at}_bias` has {} numbers, expected {n_outputs:?}", bias.len()));
        }
        let weight = self.matrix(&format!("{at}_weight"), Some([n_inputs, bias.len()]), 1)?.2;
        Ok(Dense { n_inputs, weight, bias })
    }

    fn norm(&self, at: &str, hidden: usize) -> Result<Norm, String> {
        let read = |part: &str| {
            let values = self.tensor(&format!("{at}_{part}"))?.floats()?;
            if values.len() == hidden { Ok(values) } else { Err(format!("`{at}_{part}` has {} numbers", values.len())) }
        };
        Ok(Norm { scale: read("scale")?, shift: read("shift")? })
    }

    fn table(&self, at: &str) -> Result<Table, String> {
        let (n_rows, n_columns, values) = self.matrix(at, None, 0)?;
        Ok(Table { n_rows, n_columns, values })
    }

    /// A matrix in whichever format it is stored, and its shape; 8-bit ones have a scale a step of `axis`.
    fn matrix(&self, at: &str, shape: Option<[usize; 2]>, axis: usize) -> Result<(usize, usize, Values), String> {
        let (tensor, stored) = match self.tensors.get(at) {
            Some(tensor) => (tensor, false),
            None => (self.tensor(&format!("{at}_stored"))?, true),
        };
        let [n_rows, n_columns] = tensor.shape[..] else {
            return Err(format!("`{}` has {} axes, expected 2", tensor.name, tensor.shape.len()));
        };
        if shape.is_some_and(|shape| shape != [n_rows, n_columns]) {
            return Err(format!("`{}` has shape {:?}, expected {shape:?}", tensor.name, tensor.shape));
        }
        if !stored || tensor.element_type != INT8 {
            return Ok((n_rows, n_columns, Values::F32(tensor.floats()?)));
        }
        let scales = self.tensor(&format!("{at}_row_scale"))?.floats()?;
        if scales.len() != tensor.shape[axis] || tensor.data.len() != n_rows * n_columns {
            return Err(format!("`{}` has {} scales or is incomplete", tensor.name, scales.len()));
        }
        let values = tensor.data.iter().map(|byte| byte.cast_signed()).collect();
        Ok((n_rows, n_columns, Values::Int8 { values, scales }))
    }

    fn tensor(&self, name: &str) -> Result<&Tensor<'a>, String> {
        self.tensors.get(name).ok_or_else(|| format!("it has no tensor `{name}`"))
    }
}

impl<'a> Tensor<'a> {
    fn read(proto: &'a [u8]) -> Result<Self, String> {
        let mut tensor = Self::default();
        for field in Fields(proto) {
            match field? {
                (1, Field::Int(dim)) => tensor.shape.push(usize::try_from(dim).map_err(|_| "a tensor is too large")?),
                (2, Field::Int(kind)) => tensor.element_type = kind,
                (8, Field::Bytes(name)) => tensor.name = str::from_utf8(name).map_err(|_| "a name is not UTF-8")?,
                (9, Field::Bytes(data)) => tensor.data = data,
                _ => {}
            }
        }
        let width = match tensor.element_type {
            INT8 => 1,
            F16 => 2,
            F32 => 4,
            INT64 => 8,
            other => return Err(format!("`{}` has element type {other}", tensor.name)),
        };
        let n_bytes = tensor.shape.iter().try_fold(width, |n: usize, &dim| n.checked_mul(dim));
        if n_bytes != Some(tensor.data.len()) {
            return Err(format!("`{}` of shape {:?} has {} bytes", tensor.name, tensor.shape, tensor.data.len()));
        }
        Ok(tensor)
    }

    fn floats(&self) -> Result<Vec<f32>, String> {
        match self.element_type {
            F32 => Ok(self.data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
            F16 => Ok(self.data.as_chunks::<2>().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect()),
            other => Err(format!("`{}` has element type {other}, expected floats", self.name)),
        }
    }

    fn ints(&self) -> Result<Vec<i64>, String> {
        if self.element_type != INT64 {
            return Err(format!("`{}` has element type {}, expected 64-bit integers", self.name, self.element_type));
        }
        Ok(self.data.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect())
    }
}

/// The fields of a protobuf message, one after the other.
struct Fields<'a>(&'a [u8]);

enum Field<'a> {
    Int(u64),
    Fixed32(u32),
    Fixed64,
    Bytes(&'a [u8]),
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Field<'a>), String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            // Nothing after it can be read either.
            self.0 = &[];
        }
        Some(field.ok_or_else(|| "it is cut off or is no protobuf message".to_owned()))
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u64, Field<'a>)> {
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Int(self.varint()?),
            1 => self.take(8).map(|_| Field::Fixed64)?,
            2 => {
                let n = usize::try_from(self.varint()?).ok()?;
                Field::Bytes(self.take(n)?)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            _ => return None,
        };
        Some((key >> 3, field))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }
}
