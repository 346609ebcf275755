//! The kernels against plain loops, models against the encoder; on any adapter, one in software too.

mod kernels;
mod model;
#[path = "../../core/embed/src/encoder/tiny.rs"]
mod tiny;

use crate::arithmetic::Arithmetic;
use crate::device::Device;
use crate::{Adapter, Precision, Wanted};
use closeread_embed::ModelSpec;
use pollster::block_on;

fn adapter() -> Adapter {
    block_on(Adapter::find(&Wanted::Any)).expect("there is an adapter, one in software at least")
}

/// All ways in which the adapter computes: in both precisions, without what not every adapter has and with it.
fn ways() -> Vec<Arithmetic> {
    let device = block_on(Device::open(&adapter())).expect("opens");
    let fastest =
        [Precision::F32, Precision::F16].into_iter().filter_map(|precision| device.arithmetic(precision).ok());
    let both = fastest.flat_map(|fastest| [Arithmetic { lanes: None, matrices: None, ..fastest }, fastest]);
    let mut ways: Vec<Arithmetic> = both.collect();
    ways.dedup();
    ways
}
