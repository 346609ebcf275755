//! `closeread model`: which embedding models, rerankers and tokenizers there are, and how to get more.

mod calibrate;
mod convert;
mod download;
mod list;
mod pull;
mod reference;
mod verify;

use clap::{Args, Subcommand, ValueEnum};
use closeread_embed::onnx::WeightFormat;
use std::path::PathBuf;
use std::process::ExitCode;

/// List, pull, verify and convert embedders, rerankers, tokenizers
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what is installed, and what can be pulled
    List {
        /// Print one JSON value
        #[arg(long)]
        json: bool,
    },
    /// Check files against their hashes, and vectors against known ones
    Verify {
        /// Only this model, by name or folder
        name: Option<String>,
        /// Print one JSON value
        #[arg(long)]
        json: bool,
    },
    /// Measure the range of a model's channels on a text, for `--backend encoder-int8`
    ///
    /// Writes calibration.json beside the model. Use text of the language and kind that you will embed.
    Calibrate {
        /// An installed model, by name or folder
        name: String,
        /// A book, or a folder of them [default: the English story of the sample benchmark]
        #[arg(long = "text", value_name = "FILE")]
        texts: Vec<PathBuf>,
    },
    /// Fetch a model from the Hugging Face hub and convert it, or a tokenizer
    ///
    /// An interrupted download resumes where it stopped. HF_ENDPOINT names another hub.
    Pull {
        /// A model that is described out of the box, a reranker or a tokenizer (`model list`); or any name with --spec
        name: String,
        /// How weights are stored
        #[arg(long, value_enum, default_value_t = Weights::F16)]
        weights: Weights,
        /// Description of the model, with a [hub] table
        #[arg(long, value_name = "TOML")]
        spec: Option<PathBuf>,
    },
    /// Turn the published files of a BERT or XLM-RoBERTa encoder into a model folder
    Convert {
        /// Folder with config.json, model.safetensors and tokenizer.json
        dir: PathBuf,
        /// How weights are stored
        #[arg(long, value_enum, default_value_t = Weights::F16)]
        weights: Weights,
        /// Where to write [default: the folder of installed models]
        #[arg(long)]
        out: Option<PathBuf>,
        /// Name of the model [default: that of --spec, or of DIR]
        #[arg(long)]
        name: Option<String>,
        /// Description of the model [default: the built-in one of that name, or what DIR says itself]
        #[arg(long, value_name = "TOML")]
        spec: Option<PathBuf>,
    },
}

/// [`WeightFormat`], as an argument.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Weights {
    /// 32-bit floats, as published
    F32,
    /// 16-bit floats: half the size, the same vectors to six digits
    F16,
    /// 8-bit integers: a quarter of the size, cosine to f32 above 0.998
    W8,
}

impl From<Weights> for WeightFormat {
    fn from(weights: Weights) -> Self {
        match weights {
            Weights::F32 => Self::F32,
            Weights::F16 => Self::F16,
            Weights::W8 => Self::W8,
        }
    }
}

/// Runs the command; exit code 1 if a model failed its verification.
pub(crate) async fn run(args: ModelArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::List { json } => list::run(json),
        Command::Verify { name, json } => verify::run(name.as_deref(), json),
        Command::Calibrate { name, texts } => calibrate::run(&name, &texts),
        Command::Pull { name, weights, spec } => pull::run(&name, weights.into(), spec.as_deref()).await,
        Command::Convert { dir, weights, out, name, spec } => {
            convert::run(&dir, weights.into(), out, name, spec.as_deref())
        }
    }
}
