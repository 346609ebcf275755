//! Requests to servers of embedding models, and their responses, as values.

use super::fault::{Fault, classify, error_in, inside};
use super::http::{HttpResponse, Request};
use super::json;
use super::message::page_words;
use crate::HostError;
use serde_json::{Value, json};

/// The languages that servers of embedding models speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EmbeddingProtocol {
    /// OpenAI's embeddings: OpenAI itself, vLLM, SGLang, llama.cpp, Ollama, infinity ...
    OpenAi,
    /// Text-Embeddings-Inference's own route, which can be told not to cut.
    Tei,
}

/// The response of a server: one vector a text, not normalised.
#[derive(Debug, Clone, PartialEq)]
pub struct EmbeddingResponse {
    /// The vectors' numbers, one vector after the other, in the order of the texts.
    pub values: Vec<f32>,
    /// Number of values in each vector.
    pub dimension: usize,
    /// Tokens the server counted; `None` where its body does not say.
    pub tokens: Option<u64>,
}

/// Description that a Text-Embeddings-Inference server gives of itself (`GET /info`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeiInfo {
    /// Name of the model that it serves, as it was started with.
    pub model: String,
    /// Tokens of its longest input, special tokens included.
    pub max_tokens: Option<usize>,
    /// Most texts that one request may have.
    pub max_texts: Option<usize>,
}

impl EmbeddingProtocol {
    /// The request for the vectors of `texts`, which hold their prefixes.
    pub fn request(self, model: &str, texts: &[&str]) -> Request {
        let (path, body) = match self {
            Self::OpenAi => ("/embeddings", json!({ "model": model, "input": texts })),
            Self::Tei => ("/embed", json!({ "inputs": texts, "truncate": false })),
        };
        Request { path: path.to_owned(), headers: Vec::new(), body }
    }

    /// Reads the vectors of `n_texts` texts.
    ///
    /// # Errors
    /// A [`Fault`]: an error status, an error inside a response that claims success, and finally a number of vectors
    /// that is not the number of texts, vectors that are not in their order, not of one length, or hold what is no
    /// finite number.
    pub fn read(self, response: HttpResponse<'_>, n_texts: usize) -> Result<EmbeddingResponse, Fault> {
        let value = json_of(response)?;
        match self {
            Self::OpenAi => {
                let Some(data) = value["data"].as_array() else {
                    return Err(refused("the server's response holds no `data`, where OpenAI's has the vectors"));
                };
                check_count(data.len(), n_texts)?;
                for (place, entry) in data.iter().enumerate() {
                    let index = &entry["index"];
                    if !index.is_null() && index.as_f64() != Some(place as f64) {
                        return Err(refused(format!(
                            "vector {place} of the response says it is number {index}: the server does not keep the order of \
                             the texts"
                        )));
                    }
                }
                let rows: Vec<&Value> = data.iter().map(|entry| &entry["embedding"]).collect();
                vectors_of(&rows, tokens_of(&value))
            }
            Self::Tei => {
                let Some(rows) = value.as_array() else {
                    return Err(refused("the server's response is no list of vectors"));
                };
                check_count(rows.len(), n_texts)?;
                vectors_of(&rows.iter().collect::<Vec<_>>(), None)
            }
        }
    }
}

impl TeiInfo {
    /// Path of the description, behind the address.
    pub const PATH: &'static str = "/info";

    /// Reads the description from the response.
    ///
    /// # Errors
    /// A [`Fault`]: an error status, or a response that is not of Text-Embeddings-Inference.
    pub fn read(response: HttpResponse<'_>) -> Result<Self, Fault> {
        let value = json_of(response)?;
        let number = |name: &str| value[name].as_u64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
        let Some(model) = value["model_id"].as_str() else {
            return Err(refused("its /info names no `model_id`: it is not Text-Embeddings-Inference"));
        };
        Ok(Self {
            model: model.to_owned(),
            max_tokens: number("max_input_length"),
            max_texts: number("max_client_batch_size"),
        })
    }

    /// Returns whether the server serves the model of that name: its whole name, or the last part of it.
    pub fn serves(&self, model: &str) -> bool {
        let served = self.model.trim_end_matches('/');
        served == model || served.rsplit('/').next() == model.rsplit('/').next()
    }
}

/// The tokens that the server of an embedding model or a reranker counted, where its response says so.
pub fn told_tokens(body: &str) -> Option<u64> {
    tokens_of(&json::parse(body).ok()?)
}

pub(super) fn tokens_of(value: &Value) -> Option<u64> {
    let places = ["/usage/prompt_tokens", "/usage/total_tokens", "/meta/tokens/input_tokens"];
    places.into_iter().find_map(|place| value.pointer(place)?.as_u64())
}

pub(super) fn json_of(response: HttpResponse<'_>) -> Result<Value, Fault> {
    if !(200..300).contains(&response.status) {
        return Err(classify(response));
    }
    let body = response.body.trim_start_matches('\u{feff}').trim_start();
    if body.starts_with('<') {
        let page = format!("the server sent a web page, so its address is not that of an API: {}", page_words(body));
        return Err(Fault::Closed(HostError::Failed(page)));
    }
    let value = json::parse(body)?;
    if error_in(&value).is_some() {
        return Err(inside(response, &value));
    }
    Ok(value)
}

fn check_count(n_vectors: usize, n_texts: usize) -> Result<(), Fault> {
    if n_vectors == n_texts { Ok(()) } else { Err(refused(format!("{n_vectors} vectors came for {n_texts} texts"))) }
}

fn vectors_of(rows: &[&Value], tokens: Option<u64>) -> Result<EmbeddingResponse, Fault> {
    let mut values = Vec::new();
    let mut dimension = None;
    for (place, row) in rows.iter().enumerate() {
        let Some(numbers) = row.as_array().filter(|numbers| !numbers.is_empty()) else {
            return Err(refused(format!("vector {place} of the response is no list of numbers")));
        };
        let expected = *dimension.get_or_insert(numbers.len());
        if numbers.len() != expected {
            let found = numbers.len();
            return Err(refused(format!(
                "vector {place} of the response has {found} numbers, those before it {expected}"
            )));
        }
        for number in numbers {
            let number = number.as_f64().map(|number| number as f32).filter(|number| number.is_finite());
            values.push(number.ok_or_else(|| refused(format!("vector {place} holds something that is no number")))?);
        }
    }
    Ok(EmbeddingResponse { values, dimension: dimension.unwrap_or(1), tokens })
}

fn refused(message: impl Into<String>) -> Fault {
    Fault::Final(HostError::Embedding(message.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::ServerLoad;

    fn read(protocol: EmbeddingProtocol, n_texts: usize, status: u16, body: &str) -> Result<EmbeddingResponse, Fault> {
        protocol.read(HttpResponse { status, retry_after: None, body }, n_texts)
    }

    fn refusal(protocol: EmbeddingProtocol, n_texts: usize, body: &str) -> String {
        match read(protocol, n_texts, 200, body) {
            Err(Fault::Final(HostError::Embedding(message))) => message,
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn each_server_is_asked_in_its_own_shape_and_never_to_cut() {
        let openai = EmbeddingProtocol::OpenAi.request("m", &["a", "b"]);
        assert_eq!(
            (openai.path.as_str(), openai.body.to_string().as_str()),
            ("/embeddings", r#"{"model":"m","input":["a","b"]}"#)
        );
        let tei = EmbeddingProtocol::Tei.request("m", &["a", "b"]);
        assert_eq!(
            (tei.path.as_str(), tei.body.to_string().as_str()),
            ("/embed", r#"{"inputs":["a","b"],"truncate":false}"#)
        );
    }

    #[test]
    fn vectors_come_with_the_tokens_where_the_body_has_them() {
        let body = r#"{"object":"list","data":[{"index":0,"embedding":[0.5,1]},{"index":1,"embedding":[2,3e-1]}],
            "usage":{"prompt_tokens":7,"total_tokens":7}}"#;
        let response = read(EmbeddingProtocol::OpenAi, 2, 200, body).unwrap();
        assert_eq!((&response.values[..], response.tokens), (&[0.5, 1.0, 2.0, 0.3][..], Some(7)));
        let response = read(EmbeddingProtocol::Tei, 2, 200, "[[0.5,1],[2,0.3]]").unwrap();
        assert_eq!((&response.values[..], response.tokens), (&[0.5, 1.0, 2.0, 0.3][..], None));
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let openai = |n, data: &str| refusal(EmbeddingProtocol::OpenAi, n, &format!(r#"{{"data":{data}}}"#));
        assert_eq!(openai(2, r#"[{"index":0,"embedding":[1]}]"#), "1 vectors came for 2 texts");
        let shuffled = r#"[{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}]"#;
        for shuffled in [shuffled, &shuffled.replace('1', "1.0"), &shuffled.replace(":1", ":\"1\"")] {
            assert!(openai(2, shuffled).contains("vector 0 of the response says it is number "), "{shuffled}");
        }
        assert!(openai(2, r#"[{"embedding":[1,2]},{"embedding":[2]}]"#).contains("1 numbers, those before it 2"));
        assert!(openai(1, r#"[{"embedding":[1,null]}]"#).contains("vector 0 holds something that is no number"));
        assert!(openai(1, r#"[{"embedding":[1,1e39]}]"#).contains("no number"), "beyond what f32 holds");
        assert!(openai(1, r#"[{"embedding":"AAAA"}]"#).contains("no list of numbers"));
        assert!(refusal(EmbeddingProtocol::Tei, 3, "[[1],[2]]").contains("2 vectors came for 3 texts"));
    }

    #[test]
    fn finding_11_a_web_page_or_another_shape_is_not_asked_for_again() {
        for protocol in [EmbeddingProtocol::OpenAi, EmbeddingProtocol::Tei] {
            let page = read(protocol, 1, 200, "\u{feff} <!DOCTYPE html><title>Our wiki</title>").unwrap_err();
            assert!(matches!(&page, Fault::Closed(error) if error.to_string().ends_with("Our wiki")), "{page:?}");
        }
        assert!(refusal(EmbeddingProtocol::OpenAi, 1, "{}").contains("holds no `data`"));
        assert!(refusal(EmbeddingProtocol::Tei, 1, "{}").contains("is no list of vectors"));
    }

    #[test]
    fn errors_are_those_of_all_requests() {
        let too_long = r#"{"error":"Input validation error: `inputs` must have less than 512 tokens. Given: 612",
            "error_type":"Validation"}"#;
        let fault = read(EmbeddingProtocol::Tei, 1, 413, too_long).unwrap_err();
        assert!(matches!(&fault, Fault::Final(error) if error.to_string().contains("Given: 612")), "{fault:?}");
        let busy = read(EmbeddingProtocol::Tei, 1, 429, r#"{"error":"Model is overloaded","error_type":"Overloaded"}"#);
        assert!(matches!(busy, Err(Fault::Transient { load: ServerLoad::RateLimit, .. })));
        let own = r#"{"error":{"code":500,"message":"input (900 tokens) is too large to process. increase the physical
            batch size","type":"server_error"}}"#;
        assert!(matches!(read(EmbeddingProtocol::OpenAi, 1, 500, own), Err(Fault::Final(_))));
    }

    #[test]
    fn a_tei_server_says_what_it_serves() {
        let read = |body| TeiInfo::read(HttpResponse { status: 200, retry_after: None, body });
        let info = read(
            r#"{"model_id":"BAAI/bge-m3","model_type":{"embedding":{"pooling":"cls"}},"max_input_length":8192,
                "max_batch_tokens":16384,"max_client_batch_size":32,"auto_truncate":true}"#,
        )
        .unwrap();
        let (max_tokens, max_texts) = (Some(8192), Some(32));
        assert_eq!(info, TeiInfo { model: "BAAI/bge-m3".to_owned(), max_tokens, max_texts });
        assert!(info.serves("bge-m3") && info.serves("BAAI/bge-m3") && !info.serves("bge-large"));
        assert!(read("{}").is_err());
    }
}
