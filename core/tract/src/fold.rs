//! Stored weights become f32 once, on loading, instead of in every batch.

use half::f16;
use std::collections::{HashMap, HashSet};
use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::pb::{GraphProto, ModelProto, NodeProto, TensorProto};
use tract_onnx::prelude::{TractError, TractResult};

/// Replaces every `DequantizeLinear` of 8-bit weights and every `Cast` of half-precision weights to f32 by its result.
///
/// tract would run them in every batch, which costs 10 to 15% of the time. Nodes of another kind (blocked
/// quantisation, other types) stay as they are: tract computes them or says that it cannot.
pub(super) fn store_weights_as_f32(model: &mut ModelProto) -> TractResult<()> {
    let Some(graph) = model.graph.as_mut() else { return Ok(()) };
    let weights: HashMap<&str, &TensorProto> = graph.initializer.iter().map(|t| (t.name.as_str(), t)).collect();
    let mut folded = HashMap::new();
    for node in &graph.node {
        if let (Some(values), [output]) = (result(node, &weights)?, &node.output[..]) {
            folded.insert(output.clone(), values);
        }
    }
    graph.node.retain(|node| node.output.first().is_none_or(|output| !folded.contains_key(output)));
    graph.initializer.extend(folded.into_values());
    drop_unused(graph);
    Ok(())
}

/// The f32 tensor a node computes from stored weights alone, if it is one of those two kinds.
fn result(node: &NodeProto, weights: &HashMap<&str, &TensorProto>) -> TractResult<Option<TensorProto>> {
    let input = |idx: usize| weights.get(node.input.get(idx)?.as_str()).copied();
    let int = |name: &str, default: i64| {
        node.attribute.iter().find(|attribute| attribute.name == name).map_or(default, |attribute| attribute.i)
    };
    let Some(stored) = input(0) else { return Ok(None) };
    let output = &node.output[0];
    match node.op_type.as_str() {
        "Cast" if int("to", 0) == DataType::Float as i64 && stored.data_type == DataType::Float16 as i32 => {
            let halves = stored.raw_data.as_chunks::<2>().0;
            tensor(output, stored, halves.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32())).map(Some)
        }
        "DequantizeLinear" if int("block_size", 0) == 0 => {
            let signed = stored.data_type == DataType::Int8 as i32;
            if !signed && stored.data_type != DataType::Uint8 as i32 {
                return Ok(None);
            }
            let Some(scale) = input(1).filter(|scale| scale.data_type == DataType::Float as i32) else {
                return Ok(None);
            };
            let scales: Vec<f32> = scale.raw_data.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
            let zeros: &[u8] = match (node.input.get(2).is_some_and(|name| !name.is_empty()), input(2)) {
                (false, _) => &[],
                (true, Some(zeros)) => &zeros.raw_data,
                (true, None) => return Ok(None),
            };
            let (n_scales, stride) = axis(stored, int("axis", 1), scales.len())
                .ok_or_else(|| TractError::msg(format!("{output}: {} scales do not fit its weights", scales.len())))?;
            if !zeros.is_empty() && zeros.len() != n_scales {
                return Err(TractError::msg(format!("{output}: {} zero points, {n_scales} scales", zeros.len())));
            }
            let widen = |byte: u8| if signed { f32::from(byte.cast_signed()) } else { f32::from(byte) };
            let values = stored.raw_data.iter().enumerate().map(|(idx, &byte)| {
                let row = idx / stride % n_scales;
                (widen(byte) - zeros.get(row).map_or(0.0, |&zero| widen(zero))) * scales[row]
            });
            tensor(output, stored, values).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns how many scales there are along `axis`, and how many values lie between two of its steps.
fn axis(stored: &TensorProto, axis: i64, n_scales: usize) -> Option<(usize, usize)> {
    if n_scales == 1 {
        return Some((1, 1));
    }
    let rank = stored.dims.len() as i64;
    let axis = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()?;
    let stride = stored.dims.get(axis + 1..)?.iter().product::<i64>();
    let fits = stored.dims[axis] == n_scales as i64 && stride > 0;
    fits.then_some((n_scales, stride as usize))
}

fn tensor(name: &str, like: &TensorProto, values: impl ExactSizeIterator<Item = f32>) -> TractResult<TensorProto> {
    if values.len() as i64 != like.dims.iter().product::<i64>() {
        return Err(TractError::msg(format!("{name}: {} values do not fill shape {:?}", values.len(), like.dims)));
    }
    let mut raw_data = Vec::with_capacity(values.len() * size_of::<f32>());
    values.for_each(|x| raw_data.extend(x.to_le_bytes()));
    let (dims, data_type) = (like.dims.clone(), DataType::Float as i32);
    Ok(TensorProto { dims, data_type, raw_data, name: name.to_owned(), ..TensorProto::default() })
}

/// Drops what is unused: without this the file's own copies of the weights would stay in memory.
fn drop_unused(graph: &mut GraphProto) {
    let used: HashSet<&str> = graph.node.iter().flat_map(|node| node.input.iter().map(String::as_str)).collect();
    graph.initializer.retain(|tensor| used.contains(tensor.name.as_str()));
}
