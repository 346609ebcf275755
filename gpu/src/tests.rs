//! The kernels against plain loops, models against the encoder; on any adapter, one in software too.

mod kernels;
mod model;
#[path = "../../core/embed/src/encoder/tiny.rs"]
mod tiny;

use crate::{Adapter, Wanted};
use closeread_embed::ModelSpec;
use pollster::block_on;

fn adapter() -> Adapter {
    block_on(Adapter::find(&Wanted::Any)).expect("there is an adapter, one in software at least")
}
