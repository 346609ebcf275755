//! Reading weights: the safetensors format, <https://huggingface.co/docs/safetensors>.

use super::format::ConvertError;
use half::{bf16, f16};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// The tensors of a safetensors file, still where they are.
pub(crate) struct Weights<'a> {
    tensors: BTreeMap<String, Entry>,
    data: &'a [u8],
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// A tensor as 32-bit floats, rows first.
pub(crate) struct Matrix {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f32>,
}

impl<'a> Weights<'a> {
    /// Reads the header and checks that every tensor lies inside the file and has the size of its shape.
    pub(crate) fn read(file: &'a [u8]) -> Result<Self, ConvertError> {
        let broken = |problem: &str| ConvertError::Safetensors { problem: problem.to_owned() };
        let (length, rest) = file.split_first_chunk::<8>().ok_or_else(|| broken("it is shorter than its header"))?;
        let n_header = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|&n| n <= rest.len());
        let n_header = n_header
            .ok_or_else(|| broken("its header is cut off (an incomplete download, or a pointer file of git LFS?)"))?;
        let (header, data) = rest.split_at(n_header);
        let mut header: BTreeMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|error| broken(&format!("its header is not JSON: {error}")))?;
        header.remove("__metadata__");
        let mut tensors = BTreeMap::new();
        for (name, value) in header {
            let entry: Entry =
                serde_json::from_value(value).map_err(|error| broken(&format!("tensor `{name}`: {error}")))?;
            entry.check(data.len()).map_err(|problem| broken(&format!("tensor `{name}`: {problem}")))?;
            tensors.insert(name, entry);
        }
        Ok(Self { tensors, data })
    }

    /// The names of all tensors, ascending.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// Returns the first of `names` that exists, which must have `shape`.
    pub(crate) fn matrix(&self, names: &[String], shape: &[usize]) -> Result<Matrix, ConvertError> {
        let found = names.iter().find_map(|name| Some((name, self.tensors.get(name)?)));
        let (name, entry) = found.ok_or_else(|| ConvertError::Missing { tensor: names.join("` or `") })?;
        if entry.shape != shape {
            let (found, expected) = (entry.shape.clone(), shape.to_vec());
            return Err(ConvertError::Shape { tensor: name.clone(), found, expected });
        }
        let bytes = &self.data[entry.range()];
        let values = match entry.dtype.as_str() {
            "F32" => read(bytes, f32::from_le_bytes),
            "F16" => read(bytes, |bytes| f16::from_le_bytes(bytes).to_f32()),
            "BF16" => read(bytes, |bytes| bf16::from_le_bytes(bytes).to_f32()),
            _ => return Err(ConvertError::Type { tensor: name.clone(), dtype: entry.dtype.clone() }),
        };
        Ok(Matrix { shape: shape.to_vec(), values })
    }
}

impl Entry {
    fn range(&self) -> Range<usize> {
        self.data_offsets.0..self.data_offsets.1
    }

    fn check(&self, n_data: usize) -> Result<(), String> {
        let Range { start, end } = self.range();
        if start > end || end > n_data {
            return Err(format!("bytes {start}..{end} lie outside the {n_data} that follow the header"));
        }
        let width = match self.dtype.as_str() {
            "F32" => 4,
            "F16" | "BF16" => 2,
            // Others are refused when asked for: a file may carry integer buffers that no encoder needs.
            _ => return Ok(()),
        };
        let n_bytes = self.shape.iter().try_fold(width, |n: usize, &dim| n.checked_mul(dim));
        if n_bytes != Some(end - start) {
            return Err(format!("{} bytes do not hold {} of shape {:?}", end - start, self.dtype, self.shape));
        }
        Ok(())
    }
}

fn read<const N: usize>(bytes: &[u8], value: impl Fn([u8; N]) -> f32) -> Vec<f32> {
    bytes.as_chunks::<N>().0.iter().map(|chunk| value(*chunk)).collect()
}

/// A file of f32 tensors, for tests.
#[cfg(test)]
pub(crate) fn write(tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, shape, values) in tensors {
        let start = data.len();
        data.extend(values.iter().flat_map(|x| x.to_le_bytes()));
        let entry = serde_json::json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        header.insert((*name).to_owned(), entry);
    }
    let header = serde_json::to_vec(&header).expect("plain JSON");
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    #[test]
    fn reads_what_was_written() {
        let file = write(&[("a", &[2, 2], &[1.0, 2.0, 3.0, 4.0]), ("b", &[1], &[-0.5])]);
        let weights = Weights::read(&file).expect("valid");
        assert_eq!(weights.matrix(&names("a"), &[2, 2]).expect("there").values, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(weights.matrix(&names("b"), &[1]).expect("there").values, [-0.5]);
        assert!(matches!(weights.matrix(&names("c"), &[1]), Err(ConvertError::Missing { .. })));
        assert!(matches!(weights.matrix(&names("b"), &[2]), Err(ConvertError::Shape { .. })));
    }

    #[test]
    fn a_truncated_file_is_refused_at_every_length() {
        let file = write(&[("a", &[2, 2], &[1.0, 2.0, 3.0, 4.0])]);
        for n_bytes in 0..file.len() {
            assert!(Weights::read(&file[..n_bytes]).is_err(), "{n_bytes} of {} bytes were accepted", file.len());
        }
    }
}
