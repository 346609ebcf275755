//! Embedding models on servers: which providers there are, and whether a model embeds as it should.

use anyhow::{Result, bail};
use closeread_embed::Role;
use closeread_providers::is_served;
use closeread_runner::embedder::{Embedder, EmbedderOptions};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

/// A question, a text that answers it, and one that has nothing to do with it.
pub(super) const QUESTION: &str = "Where did the keeper of the lighthouse hide the key?";
pub(super) const ANSWER: &str = "The lighthouse keeper had hidden the key under the third stair.";
pub(super) const OTHER: &str = "Wheat prices rose again in the spring of that year.";

/// The result of one look at a model.
struct Seen {
    dimension: usize,
    max_tokens: Option<usize>,
    cuts: bool,
    prefixes: [String; 2],
    /// Cosines of the question with the text that answers it, and with the other.
    cosines: [f64; 2],
    tokens: Option<u64>,
}

/// Embeds a question and two texts, and explains what came back.
/// Embeds three texts and says what came back; `options` say where the model is.
pub(super) fn check(model: &str, options: &EmbedderOptions, as_json: bool) -> Result<ExitCode> {
    if !is_served(model) {
        bail!(
            "--embeddings: `{}` is no model on a server: expected openai/MODEL, openai-compatible/MODEL or tei/MODEL",
            model
        );
    }
    let started = Instant::now();
    let seen = look(model, options);
    let seconds = started.elapsed().as_secs_f64();
    if as_json {
        let mut value = json!({"model": model, "ok": seen.is_ok(), "seconds": seconds});
        match &seen {
            Ok(seen) => {
                value["dimension"] = json!(seen.dimension);
                value["max_tokens"] = json!(seen.max_tokens);
                value["cuts"] = json!(seen.cuts);
                value["prefixes"] = json!(seen.prefixes);
                value["cosine"] = json!(seen.cosines);
                value["tokens"] = json!(seen.tokens);
            }
            Err(error) => value["error"] = json!(format!("{error:#}")),
        }
        outln!("{value}");
    } else {
        match &seen {
            Ok(seen) => say(model, seen, seconds)?,
            Err(error) => outln!("{} did not embed: {error:#}", model),
        }
    }
    Ok(if seen.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn look(model: &str, options: &EmbedderOptions) -> Result<Seen> {
    let embedder = Embedder::named(Some(model), options)?;
    let vectors = [(Role::Query, QUESTION), (Role::Passage, ANSWER), (Role::Passage, OTHER)]
        .map(|(role, text)| embedder.embed_anew(role, &[text]));
    let [question, answer, other] = vectors;
    let (question, answer, other) = (question?, answer?, other?);
    let cosine = |text: &closeread_embed::Vectors| -> f64 {
        question.row(0).iter().zip(text.row(0)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let calls = embedder.calls();
    let spec = embedder.server().map(|(_, spec)| spec.clone()).unwrap_or_default();
    Ok(Seen {
        dimension: embedder.dimension(),
        max_tokens: spec.max_tokens,
        cuts: spec.tokenizer.is_some(),
        prefixes: [spec.query_prefix, spec.passage_prefix],
        cosines: [cosine(&answer), cosine(&other)],
        tokens: calls
            .iter()
            .map(|call| call.tokens.filter(|_| !call.own_count))
            .try_fold(0, |sum: u64, tokens| Some(sum.saturating_add(tokens?))),
    })
}

fn say(model: &str, seen: &Seen, seconds: f64) -> Result<()> {
    let Seen { dimension, max_tokens, cuts, prefixes: [query, passage], cosines: [near, far], tokens } = seen;
    outln!("{model} embeds, in {seconds:.1} s: vectors of {dimension} numbers.");
    match (max_tokens, cuts) {
        (Some(n), true) => outln!("Texts of more than {n} tokens are cut, and counted."),
        (Some(n), false) => {
            outln!("Texts of more than {n} tokens are the server's to refuse: no tokenizer is described.")
        }
        _ => outln!("The longest input is not described: texts that are too long are the server's business."),
    }
    outln!("Prefixes: {query:?} before questions, {passage:?} before passages.");
    outln!("A question is {near:.3} near a text that answers it, and {far:.3} near one that does not.");
    if near <= far {
        outln!("That is the wrong way round: check the model's name and its prefixes.");
    }
    match tokens {
        Some(tokens) => outln!("Tokens: {tokens}."),
        None => outln!("Tokens: the server does not count them."),
    }
    Ok(())
}
