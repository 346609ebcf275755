//! Calibration of a model, which says how large its channels get, kept beside it: `calibration.json`.

use super::{Installed, ONNX};
use anyhow::{Context, ensure};
use closeread_embed::encoder::Calibration;
use closeread_models::all_minilm_l6_v2;
use serde::{Deserialize, Serialize};

/// Name of the calibration's file.
pub const CALIBRATION: &str = "calibration.json";

/// The content of the calibration's file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationFile {
    /// Format of this file, 1.
    pub version: u32,
    /// SHA-256 of the `model.onnx` that was calibrated.
    pub weights: String,
    /// SHA-256 of each text that it was calibrated on, by name.
    pub texts: std::collections::BTreeMap<String, String>,
    /// Number of passages of the texts.
    pub n_passages: usize,
    /// Largest magnitudes, layer by layer, to four digits.
    pub layers: Calibration,
}

impl Installed {
    /// The bytes of the model's calibration.
    pub(crate) fn calibration_file(&self) -> anyhow::Result<Vec<u8>> {
        let Some(folder) = &self.folder else { return Ok(all_minilm_l6_v2::CALIBRATION.to_vec()) };
        let path = folder.join(CALIBRATION);
        closeread_files::read_file(&path).with_context(|| {
            let hint = format!("`closeread model calibrate {}` makes it", folder.display());
            format!("{} cannot be read, which 8-bit integers need: {hint}", path.display())
        })
    }

    /// Reads the model's calibration.
    pub fn calibration(&self) -> anyhow::Result<Calibration> {
        let file = || format!("{CALIBRATION} of {} ({})", self.spec.name, self.place());
        let read: CalibrationFile = serde_json::from_slice(&self.calibration_file()?).with_context(file)?;
        ensure!(read.version == 1, "{} has version {}: 1 is expected, calibrate the model again", file(), read.version);
        ensure!(
            read.weights == self.sha256(ONNX)?,
            "{} is of other weights than the {ONNX} beside it: run `closeread model calibrate` again",
            file()
        );
        Ok(read.layers)
    }
}
