//! The model as a backend that waits, for programs with threads.

use crate::{Adapter, GpuError, GpuModel, Storage, Wanted};
use closeread_embed::{ModelSpec, Vectors};
use std::sync::PoisonError;

impl Adapter {
    /// [`Adapter::find`], waited for.
    ///
    /// # Errors
    /// Those of [`Adapter::find`].
    pub fn find_now(wanted: &Wanted) -> Result<Self, GpuError> {
        pollster::block_on(Self::find(wanted))
    }
}

impl GpuModel {
    /// [`GpuModel::load`], waited for.
    ///
    /// # Errors
    /// Those of [`GpuModel::load`].
    pub fn load_now(
        adapter: &Adapter,
        spec: &ModelSpec,
        onnx: &[u8],
        storage: Option<Storage>,
    ) -> Result<Self, GpuError> {
        pollster::block_on(Self::load(adapter, spec, onnx, storage))
    }

    /// [`GpuModel::forward`], waited for; threads that ask at the same time take turns.
    ///
    /// # Errors
    /// Those of [`GpuModel::forward`].
    pub fn forward_now(&self, batch: &[&[u32]]) -> Result<Vectors, GpuError> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        pollster::block_on(self.forward(batch))
    }
}
