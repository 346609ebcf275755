//! The numbers that a device computes with.

/// Numbers between the layers of a model. Sums, states and normalisations are f32 in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// f32: 1 - cosine to the encoder in f32 below 1e-9.
    #[default]
    F32,
    /// Half precision, weights too: half the memory, and all of the speed of units for small matrices. 1 - cosine to f32 below
    /// 1e-4.
    F16,
}

impl Precision {
    /// Bytes of a number.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 => 2,
        }
    }
}
