//! The kernels against plain loops, models against the encoder; on any adapter, one in software too.

mod kernels;
mod model;
#[path = "../../core/src/embed/encoder/tiny.rs"]
mod tiny;

use crate::{Adapter, Wanted};
use closeread_core::embed::ModelSpec;

/// An adapter, or a line that says what this machine lacks.
fn adapter() -> Option<Adapter> {
    match Adapter::find_now(&Wanted::Any) {
        Ok(adapter) => Some(adapter),
        Err(error) => {
            eprintln!("skipped: kernels for graphics processors need a Vulkan driver (mesa-vulkan-drivers): {error}");
            None
        }
    }
}
