//! `closeread export every-eval-ever`.

use super::{Folders, OutFolder, about, each_row, exit_code, open, trials};
use anyhow::{Context as _, Result};
use closeread_export::every_eval_ever::{Publisher, Record, Rows};
use closeread_text::hash::hex;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    folders: Folders,
    /// The organisation that evaluated
    #[arg(long, value_name = "NAME")]
    organization: String,
    /// Relationship of the evaluator to the model's maker
    #[arg(long, value_name = "NAME", value_parser = ["first_party", "third_party", "collaborative", "other"])]
    relationship: String,
    /// Who served the model
    #[arg(long, value_name = "NAME", default_value = "unknown", value_parser = ["self_deployed", "externally_managed", "unknown"])]
    deployment: String,
    /// Whether the model's weights are published
    #[arg(long, value_name = "NAME", default_value = "unknown", value_parser = ["open_weights", "closed_weights", "unknown"])]
    availability: String,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    let publisher = Publisher {
        organization: args.organization.clone(),
        relationship: args.relationship.clone(),
        deployment: args.deployment.clone(),
        availability: args.availability.clone(),
    };
    let mut out = OutFolder::open(&args.folders.out)?;
    let mut complete = true;
    for folder in &args.folders.runs {
        let mut streamed = open(folder)?;
        complete &= streamed.lacks.is_empty();
        let plan = streamed.run.plan.clone();
        let models: BTreeSet<&String> = plan.iter().map(|arm| &arm.model).collect();
        for model in models {
            let path = Record { about: about(&streamed), model, publisher: &publisher }.path();
            let samples = format!("{path}_samples.jsonl");
            let mut file = BufWriter::new(out.create(&samples)?);
            let (mut hash, mut n, mut cells) = (Sha256::new(), 0, Vec::new());
            for arm in plan.iter().filter(|arm| arm.model == *model) {
                let cell = trials(&mut streamed, arm)?;
                each_row(&mut streamed, &cell, |about, row| {
                    let rows = Record { about, model, publisher: &publisher }.rows(&cell, row);
                    n += rows.iter().filter(|byte| **byte == b'\n').count();
                    hash.update(&rows);
                    file.write_all(&rows).with_context(|| format!("cannot write {samples}"))
                })?;
                cells.push(cell.without_trials());
            }
            file.flush().with_context(|| format!("cannot write {samples}"))?;
            drop(file);
            out.finish(&samples)?;
            let rows = Rows { sha256: hex(&hash.finalize()), n };
            let entry = Record { about: about(&streamed), model, publisher: &publisher }.finish(&cells, &rows);
            out.write(&entry.name, &entry.bytes)?;
        }
    }
    out.close("records of Every Eval Ever")?;
    Ok(exit_code(complete))
}
