//! Rerankers: which providers there are, and whether one puts an answer before something else.

use super::embeddings::{ANSWER, OTHER, QUESTION};
use anyhow::Result;
use closeread_methods::record::ServedCall;
use closeread_runner::reranker::{Reranker, RerankerOptions};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

/// Scores two texts by a question and says what came back.
pub(super) async fn check(model: &str, options: &RerankerOptions, as_json: bool) -> Result<ExitCode> {
    let started = Instant::now();
    let scored = match Reranker::named(model, options) {
        Ok(reranker) => reranker.score_anew(QUESTION, &[OTHER, ANSWER]).await,
        Err(error) => Err(error),
    };
    let seconds = started.elapsed().as_secs_f64();
    let tokens = |call: &ServedCall| call.tokens.filter(|_| !call.own_count);
    if as_json {
        let mut value = json!({"model": model, "ok": scored.is_ok(), "seconds": seconds});
        match &scored {
            Ok((scores, calls)) => {
                value["scores"] = json!([scores[1], scores[0]]);
                value["tokens"] = json!(calls.first().and_then(tokens));
                value["searches"] = json!(calls.first().and_then(|call| call.searches));
            }
            Err(error) => value["error"] = json!(format!("{error:#}")),
        }
        outln!("{value}");
    } else {
        match &scored {
            Ok((scores, calls)) => {
                let (answer, other) = (scores[1], scores[0]);
                outln!("{model} reranks, in {seconds:.1} s.");
                outln!("A text that answers a question scores {answer:.3}, one that does not {other:.3}.");
                if answer <= other {
                    outln!("That is the wrong way round: check the model's name.");
                }
                match calls.first().map(|call| (tokens(call), call.searches)) {
                    None => outln!("It is computed here and costs nothing."),
                    Some((_, Some(searches))) => outln!("Searches: {searches}."),
                    Some((Some(tokens), None)) => outln!("Tokens: {tokens}."),
                    Some((None, None)) => outln!("Tokens: the server does not count them."),
                }
            }
            Err(error) => outln!("{model} did not rerank: {error:#}"),
        }
    }
    Ok(if scored.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
