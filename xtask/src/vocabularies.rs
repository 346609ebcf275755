//! `cargo xtask vocabularies`: makes the vocabularies of cl100k and o200k again from the published files.
//!
//! The format stands in core/books/assets/README.md; core/books/src/tokens/byte_pairs.rs reads what this writes.

use crate::process::{program, root, run as run_program};
use anyhow::{Context as _, Result, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder with cl100k_base.tiktoken and o200k_base.tiktoken.
    #[arg(value_name = "DIR")]
    published: PathBuf,
}

/// Writes the two assets; needs gzip.
pub(crate) fn run(args: &Args) -> Result<bool> {
    for name in ["cl100k_base", "o200k_base"] {
        let path = args.published.join(format!("{name}.tiktoken"));
        let published = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let packed = packed(&published).with_context(|| format!("{} is no vocabulary", path.display()))?;
        let asset = root().join("core/books/assets/tokens").join(format!("{name}.bin"));
        std::fs::write(&asset, packed).with_context(|| format!("cannot write {}", asset.display()))?;
        run_program(program("gzip").args(["-9nf"]).arg(&asset))?;
        println!("{}.gz", asset.display());
    }
    Ok(true)
}

/// The lengths of all tokens, and their bytes.
fn packed(published: &str) -> Result<Vec<u8>> {
    let (mut lengths, mut bytes) = (Vec::new(), Vec::new());
    for (n, line) in published.lines().enumerate() {
        let (token, rank) = line.split_once(' ').with_context(|| format!("line {}: no rank", n + 1))?;
        ensure!(rank.parse() == Ok(n), "line {}: rank {rank} where {n} was expected", n + 1);
        let token = BASE64_STANDARD.decode(token).with_context(|| format!("line {}: no base64", n + 1))?;
        lengths.push(u8::try_from(token.len()).with_context(|| format!("line {}: more than 255 bytes", n + 1))?);
        bytes.extend(token);
    }
    Ok([lengths, bytes].concat())
}

#[cfg(test)]
mod tests {
    use super::packed;

    #[test]
    fn tokens_lie_behind_their_lengths() {
        assert_eq!(packed("IQ== 0\nIQ8= 1\n").unwrap(), b"\x01\x02!!\x0f");
        assert!(packed("IQ== 1\n").unwrap_err().to_string().contains("rank 1 where 0 was expected"));
    }
}
