//! The manifest of a folder that is begun.

use crate::shard::Shard;
use closeread_methods::protocol::Protocol;
use closeread_methods::record::FORMAT;
use serde_json::{Value, json};

/// Returns what is said of a run, or of a part of it, before anything is known of its items.
pub(super) fn manifest(configuration: &Value, shard: Option<Shard>) -> Value {
    let mut manifest = json!({
        "format": FORMAT,
        "closeread": env!("CARGO_PKG_VERSION"),
        "protocol": Protocol::of_run(configuration).kept(configuration),
        "configuration": configuration,
    });
    if let Some(shard) = shard {
        manifest["shard"] = json!(shard);
    }
    manifest
}
