//! Why a graphics processor does not compute.

use closeread_embed::EmbedError;

/// What can go wrong between an adapter and a vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GpuError {
    /// There is no adapter that may be used.
    #[error("no graphics processor: {0}")]
    NoAdapter(String),
    /// The adapter was found and cannot be used for this model.
    #[error("{adapter} cannot be used: {problem}")]
    Unusable {
        /// The adapter's name.
        adapter: String,
        /// What is missing.
        problem: String,
    },
    /// The device was there and is gone: taken away, reset after an error, given back.
    #[error("{adapter} was lost: {problem}")]
    Lost {
        /// The adapter's name.
        adapter: String,
        /// The driver's words.
        problem: String,
    },
    /// The device's memory does not suffice.
    #[error("{adapter} has too little memory")]
    OutOfMemory {
        /// The adapter's name.
        adapter: String,
    },
    /// The model or a text is at fault; the encoder would say the same.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

/// [`EmbedError::Device`] where the encoder on the processor may succeed.
impl From<GpuError> for EmbedError {
    fn from(error: GpuError) -> Self {
        match error {
            GpuError::Embed(error) => error,
            of_device => Self::Device(of_device.to_string()),
        }
    }
}
