//! Requests to servers of rerankers, and their responses, as values.
//!
//! Shapes: Cohere's `POST /v2/rerank` (docs.cohere.com/reference/rerank), which vLLM (`RerankRequest` in
//! vllm/entrypoints/pooling/score/protocol.py at 08a48e2b), llama.cpp, infinity and OpenVINO serve below `/v1`; Jina's
//! `/v1/rerank` (jina.ai/reranker); Text-Embeddings-Inference's `POST /rerank` (its README, and its API's description).

use super::embeddings::{json_of, tokens_of};
use super::fault::Fault;
use super::http::{HttpResponse, Request};
use crate::HostError;
use serde_json::{Value, json};

/// The languages that servers of rerankers speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RerankProtocol {
    /// Cohere's route: Cohere itself, vLLM, llama.cpp, infinity ...
    Cohere,
    /// Jina's route, which is Cohere's but for the texts that it sends back unless told not to.
    Jina,
    /// Text-Embeddings-Inference's own route, which can be told not to cut.
    Tei,
}

/// The response of a reranker: one score a text, as a server gave them, in the order of the texts.
#[derive(Debug, Clone, PartialEq)]
pub struct RerankResponse {
    /// Scores of the texts, higher for a better one.
    pub scores: Vec<f64>,
    /// Tokens the server counted; `None` where its body does not say.
    pub tokens: Option<u64>,
    /// Searches the server bills; `None` where its body does not say.
    pub searches: Option<u64>,
}

impl RerankProtocol {
    /// The request for the scores of `texts`, all of them.
    pub fn request(self, model: &str, query: &str, texts: &[&str]) -> Request {
        let body = match self {
            Self::Cohere => json!({ "model": model, "query": query, "documents": texts, "top_n": texts.len() }),
            Self::Jina => json!({ "model": model, "query": query, "documents": texts, "top_n": texts.len(),
                "return_documents": false }),
            // Not squeezed into 0 to 1, where good ones would be alike.
            Self::Tei => json!({ "query": query, "texts": texts, "raw_scores": true, "return_text": false,
                "truncate": false }),
        };
        Request { path: "/rerank".to_owned(), headers: Vec::new(), body }
    }

    /// Reads the scores of `n_texts` texts, in whatever order the server has them.
    ///
    /// # Errors
    /// A [`Fault`]: an error status, an error inside a response that claims success, and finally results that are not one a
    /// text, name none, one that was not sent or one twice, or hold what is no finite number.
    pub fn read(self, response: HttpResponse<'_>, n_texts: usize) -> Result<RerankResponse, Fault> {
        let value = json_of(response)?;
        let (results, score) = match self {
            Self::Cohere | Self::Jina => (&value["results"], "relevance_score"),
            Self::Tei => (&value, "score"),
        };
        let Some(results) = results.as_array() else {
            let place = if self == Self::Tei { "is no list" } else { "holds no `results`" };
            return Err(refused(format!("the server's response {place} of scores")));
        };
        Ok(RerankResponse {
            scores: by_index(results, score, n_texts).map_err(refused)?,
            tokens: tokens_of(&value),
            searches: value["meta"]["billed_units"]["search_units"].as_f64().filter(|n| *n >= 0.0).map(|n| n as u64),
        })
    }
}

fn refused(message: String) -> Fault {
    Fault::Final(HostError::Reranking(message))
}

fn by_index(results: &[Value], score: &str, n_texts: usize) -> Result<Vec<f64>, String> {
    let mut scores: Vec<Option<f64>> = vec![None; n_texts];
    for (place, result) in results.iter().enumerate() {
        let Some(index) = result["index"].as_u64().and_then(|index| usize::try_from(index).ok()) else {
            return Err(format!("result {place} of the response names no text: expected `index`, a number from 0"));
        };
        let Some(slot) = scores.get_mut(index) else {
            return Err(format!("result {place} of the response is for text {index}, and {n_texts} were sent, from 0"));
        };
        let Some(value) = result[score].as_f64().filter(|value| value.is_finite()) else {
            return Err(format!("result {place} of the response has no finite number as `{score}`"));
        };
        if slot.replace(value).is_some() {
            return Err(format!("the response scores text {index} twice"));
        }
    }
    let n_scored = scores.iter().flatten().count();
    let all: Option<Vec<f64>> = scores.into_iter().collect();
    all.ok_or_else(|| format!("{n_scored} of {n_texts} texts were scored: the server must score all that it is sent"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ServerLoad;
    use RerankProtocol::{Cohere, Jina, Tei};

    fn read(protocol: RerankProtocol, n_texts: usize, status: u16, body: &str) -> Result<RerankResponse, Fault> {
        protocol.read(HttpResponse { status, retry_after: None, body }, n_texts)
    }

    fn refusal(protocol: RerankProtocol, n_texts: usize, body: &str) -> String {
        match read(protocol, n_texts, 200, body) {
            Err(Fault::Final(HostError::Reranking(message))) => message,
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn each_server_is_asked_in_its_own_shape_for_all_scores_and_never_to_cut() {
        let body = |protocol: RerankProtocol| protocol.request("m", "q", &["a", "b"]).body.to_string();
        assert_eq!(body(Cohere), r#"{"model":"m","query":"q","documents":["a","b"],"top_n":2}"#);
        assert!(body(Jina).ends_with(r#""top_n":2,"return_documents":false}"#));
        assert_eq!(
            body(Tei),
            r#"{"query":"q","texts":["a","b"],"raw_scores":true,"return_text":false,"truncate":false}"#
        );
        assert_eq!(Tei.request("m", "q", &[]).path, "/rerank");
    }

    #[test]
    fn scores_come_in_the_order_of_the_texts_with_what_they_took() {
        let body = r#"{"id":"x","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":-2}],
            "meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1}}}"#;
        let response = read(Cohere, 2, 200, body).unwrap();
        assert_eq!(response, RerankResponse { scores: vec![-2.0, 0.9], tokens: None, searches: Some(1) });
        let body = r#"{"id":"rerank-1","model":"m","usage":{"total_tokens":56},"results":[
            {"index":0,"document":{"text":"a","multi_modal":null},"relevance_score":0.5}]}"#;
        let response = read(Cohere, 1, 200, body).unwrap();
        assert_eq!((response.tokens, response.searches), (Some(56), None));
        let response = read(Tei, 2, 200, r#"[{"index":1,"score":3.5},{"index":0,"score":-4.25}]"#).unwrap();
        assert_eq!((response.scores, response.tokens), (vec![-4.25, 3.5], None));
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let cohere = |n, results: &str| refusal(Cohere, n, &format!(r#"{{"results":{results}}}"#));
        let one = r#"{"index":0,"relevance_score":1}"#;
        assert_eq!(
            cohere(2, &format!("[{one}]")),
            "1 of 2 texts were scored: the server must score all that it is sent"
        );
        assert_eq!(cohere(2, &format!("[{one},{one}]")), "the response scores text 0 twice");
        assert!(cohere(1, r#"[{"relevance_score":1}]"#).contains("result 0 of the response names no text"));
        assert!(cohere(1, r#"[{"index":-1,"relevance_score":1}]"#).contains("names no text"));
        assert!(cohere(1, r#"[{"index":7,"relevance_score":1}]"#).contains("is for text 7, and 1 were sent"));
        for wrong in ["null", "\"0.5\"", "\"NaN\"", "1e999"] {
            let body = format!(r#"{{"results":[{{"index":0,"relevance_score":{wrong}}}]}}"#);
            let said = read(Cohere, 1, 200, &body).unwrap_err();
            // A number that no f64 holds is no JSON.
            assert!(wrong == "1e999" || matches!(said, Fault::Final(_)), "{wrong}: {said:?}");
        }
        assert!(refusal(Tei, 3, r#"[{"index":0,"score":1},{"index":2,"score":1}]"#).starts_with("2 of 3 texts"));
        assert!(refusal(Tei, 1, r#"{"results":[]}"#).contains("is no list of scores"));
        assert!(refusal(Cohere, 1, "{}").contains("holds no `results` of scores"));
    }

    #[test]
    fn errors_are_those_of_all_requests() {
        let busy = read(Tei, 1, 429, r#"{"error":"Model is overloaded","error_type":"Overloaded"}"#);
        assert!(matches!(busy, Err(Fault::Transient { load: ServerLoad::RateLimit, .. })));
        let closed = read(Cohere, 1, 401, r#"{"id":"x","message":"invalid api token"}"#);
        assert!(matches!(closed, Err(Fault::Closed(_))), "{closed:?}");
    }
}
