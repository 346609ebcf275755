//! The batch APIs of OpenAI and Anthropic, as values: many requests handed in together, answered within a day, for half
//! the price.
//!
//! A batch is made of entries, one a request, each with an id of ours; results come back in any order under these ids.

use super::fault::{Adjustment, Fault, ServerLoad, classify, inside_value};
use super::http::{HttpResponse, Request, TokenLimit};
use super::json;
use super::protocol::Protocol;
use crate::{HostError, Response, Usage};
use serde_json::{Value, json};

/// The providers' ways to take a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchApi {
    /// A file of requests, a batch that names it, files of results.
    OpenAi,
    /// Anthropic's way: the requests in the batch itself, a stream of results.
    Anthropic,
}

/// A request of the batch API: a GET, or a POST with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchMessage {
    /// Path behind the base URL of the provider's own path, see [`Protocol::url`].
    pub path: String,
    /// Headers that are no secret.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Type and bytes of what is posted.
    pub body: Option<(String, Vec<u8>)>,
}

/// A batch as the provider tells of it.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchState {
    /// Name of the batch at the provider.
    pub id: String,
    /// Name that we gave the batch, where the provider keeps one.
    pub name: Option<String>,
    /// Status of the batch, in the provider's word.
    pub status: String,
    /// Phase of the batch.
    pub phase: BatchPhase,
    /// Requests that have come to an end, in one way or another.
    pub done: u64,
    /// Number of all requests; 0 while the provider has not counted them.
    pub total: u64,
    /// Requests that the model has answered, as the provider counts them: they are billed.
    pub answered: u64,
    /// Ids of the files of results (OpenAI).
    files: Vec<String>,
}

/// The phase of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchPhase {
    /// The batch is not done yet.
    Running,
    /// There are results, though perhaps not for every request.
    Ended,
    /// The batch was rejected, and none of its requests was asked.
    Rejected {
        /// Message of the provider.
        message: String,
        /// Whether more tokens wait at the provider than it allows: later, or in smaller batches, it may take them.
        too_much: bool,
    },
}

/// Name that an OpenAI batch gives its requests.
const NAME: &str = "closeread";
/// Boundary between the parts of an upload.
const BOUNDARY: &str = "closeread-entries-c2a9f0b1d47e";

/// The result of an entry of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchResult {
    /// Id of the entry.
    pub id: String,
    /// Response to the entry, or why there is none.
    pub result: Result<Response, Fault>,
    /// The tokens that the provider names where there is no response.
    pub told: Option<Usage>,
    /// Whether the model has answered the request, whatever came of that.
    pub answered: bool,
}

impl BatchApi {
    /// The batch API that goes with a protocol, if one is spoken here.
    pub fn of(protocol: Protocol) -> Option<Self> {
        match protocol {
            Protocol::OpenAi => Some(Self::OpenAi),
            Protocol::Anthropic => Some(Self::Anthropic),
            Protocol::Gemini => None,
        }
    }

    /// Returns the most requests of a batch, and its most bytes; a little below what the provider takes.
    pub fn limits(self) -> (usize, usize) {
        match self {
            Self::OpenAi => (50_000, 190_000_000),
            Self::Anthropic => (100_000, 240_000_000),
        }
    }

    /// A request as one entry of a batch, on a line.
    pub fn entry(self, id: &str, request: &Request) -> String {
        match self {
            Self::OpenAi => json!({
                "custom_id": id, "method": "POST", "url": format!("/v1{}", request.path), "body": request.body,
            }),
            Self::Anthropic => json!({ "custom_id": id, "params": request.body }),
        }
        .to_string()
    }

    /// The id of an entry.
    pub fn id_of(entry: &str) -> Option<String> {
        let value: Value = serde_json::from_str(entry).ok()?;
        value["custom_id"].as_str().map(str::to_owned)
    }

    /// The entry without what the model refused.
    pub fn adjusted(self, entry: &str, adjustment: Adjustment) -> Option<String> {
        let mut value: Value = serde_json::from_str(entry).ok()?;
        let body = value.get_mut(if self == Self::OpenAi { "body" } else { "params" })?.as_object_mut()?;
        match adjustment {
            Adjustment::TokenLimit(limit) => {
                let (from, to) = match limit {
                    TokenLimit::MaxTokens => ("max_completion_tokens", "max_tokens"),
                    TokenLimit::MaxCompletionTokens => ("max_tokens", "max_completion_tokens"),
                };
                let limit = body.remove(from)?;
                body.insert(to.to_owned(), limit);
            }
            Adjustment::OwnTemperature => drop(body.remove("temperature")?),
            Adjustment::NoSeed => drop(body.remove("seed")?),
            Adjustment::NoStreamOptions => drop(body.remove("stream_options")?),
            Adjustment::NoStream => drop(body.remove("stream")?),
        }
        Some(value.to_string())
    }

    /// The upload of the entries (OpenAI); `None` where they are part of the batch.
    pub fn upload(self, name: &str, entries: &[String]) -> Option<BatchMessage> {
        if self != Self::OpenAi {
            return None;
        }
        let mut body = format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{BOUNDARY}\r\n\
             content-disposition: form-data; name=\"file\"; filename=\"{name}.jsonl\"\r\ncontent-type: application/jsonl\
             \r\n\r\n"
        )
        .into_bytes();
        for entry in entries {
            body.extend_from_slice(entry.as_bytes());
            body.push(b'\n');
        }
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        Some(BatchMessage { body: Some((kind, body)), ..self.get("/files".to_owned()) })
    }

    /// The id of an uploaded file.
    ///
    /// # Errors
    /// A [`Fault`] as for every response.
    pub fn read_upload(self, response: HttpResponse<'_>) -> Result<String, Fault> {
        let value = json_of(response)?;
        value["id"].as_str().map(str::to_owned).ok_or_else(|| unexpected("the uploaded file has no `id`"))
    }

    /// Hands a batch in: of the uploaded file, or of the entries.
    pub fn create(self, name: &str, file: Option<&str>, entries: &[String]) -> BatchMessage {
        match self {
            Self::OpenAi => self.post(
                "/batches",
                &json!({
                    "input_file_id": file, "endpoint": "/v1/chat/completions", "completion_window": "24h",
                    "metadata": { NAME: name },
                })
                .to_string(),
            ),
            Self::Anthropic => self.post("/v1/messages/batches", &format!("{{\"requests\":[{}]}}", entries.join(","))),
        }
    }

    /// Asks how a batch is doing.
    pub fn look(self, id: &str) -> BatchMessage {
        match self {
            Self::OpenAi => self.get(format!("/batches/{id}")),
            Self::Anthropic => self.get(format!("/v1/messages/batches/{id}")),
        }
    }

    /// Asks for the batches that there are, the newest first; `after` is the last one of the page before.
    pub fn list(self, after: Option<&str>) -> BatchMessage {
        let (path, cursor) = match self {
            Self::OpenAi => ("/batches", "after"),
            Self::Anthropic => ("/v1/messages/batches", "after_id"),
        };
        self.get(after.map_or_else(|| format!("{path}?limit=100"), |id| format!("{path}?limit=100&{cursor}={id}")))
    }

    /// Asks for the results of a batch that has ended.
    pub fn results(self, state: &BatchState) -> Vec<BatchMessage> {
        match self {
            Self::OpenAi => state.files.iter().map(|file| self.get(format!("/files/{file}/content"))).collect(),
            Self::Anthropic => vec![self.get(format!("/v1/messages/batches/{}/results", state.id))],
        }
    }

    /// Reads what the provider says of a batch.
    ///
    /// # Errors
    /// A [`Fault`] as for every response.
    pub fn read_state(self, response: HttpResponse<'_>) -> Result<BatchState, Fault> {
        self.state(&json_of(response)?)
    }

    /// Reads a list of batches, and whether there are more.
    ///
    /// # Errors
    /// A [`Fault`] as for every response.
    pub fn read_list(self, response: HttpResponse<'_>) -> Result<(Vec<BatchState>, bool), Fault> {
        let value = json_of(response)?;
        let Some(data) = value["data"].as_array() else {
            return Err(unexpected("the list of batches holds no `data`"));
        };
        let states = data.iter().map(|batch| self.state(batch)).collect::<Result<_, _>>()?;
        Ok((states, value["has_more"].as_bool().unwrap_or(false)))
    }

    /// Reads results, each under the id of its entry; lines that are no JSON or have no id are skipped. The ids
    /// may be of requests of others.
    ///
    /// # Errors
    /// A [`Fault`] for what is not a success.
    pub fn read_results(self, response: HttpResponse<'_>) -> Result<Vec<BatchResult>, Fault> {
        if !(200..300).contains(&response.status) {
            return Err(classify(response));
        }
        let lines = response.body.lines().filter_map(|line| json::parse(line).ok());
        let read = |line: Value| {
            let result = self.result(&line);
            let told = if result.is_err() { self.told(&line) } else { None };
            let answered = self.is_answered(&line);
            Some(BatchResult { id: line["custom_id"].as_str()?.to_owned(), result, told, answered })
        };
        Ok(lines.filter_map(read).collect())
    }

    fn result(self, line: &Value) -> Result<Response, Fault> {
        let expired = || Fault::transient(ServerLoad::Server, "the batch expired before the request was answered");
        let cancelled = || Fault::Final(HostError::Failed("the batch was cancelled".to_owned()));
        match self {
            Self::OpenAi => match line["error"]["code"].as_str() {
                Some("batch_expired") => Err(expired()),
                Some("batch_cancelled") => Err(cancelled()),
                _ if line["response"]["status_code"].is_u64() => {
                    let status = line["response"]["status_code"].as_u64().and_then(|n| u16::try_from(n).ok());
                    let body = line["response"]["body"].to_string();
                    Protocol::OpenAi.read(HttpResponse {
                        status: status.unwrap_or(500),
                        retry_after: None,
                        body: &body,
                    })
                }
                _ => Err(inside_value(&line["error"])),
            },
            Self::Anthropic => match line["result"]["type"].as_str() {
                Some("succeeded") => {
                    let body = line["result"]["message"].to_string();
                    Protocol::Anthropic.read(HttpResponse { status: 200, retry_after: None, body: &body })
                }
                Some("expired") => Err(expired()),
                Some("canceled") => Err(cancelled()),
                _ => {
                    let error = &line["result"]["error"];
                    Err(inside_value(if error["error"].is_object() { &error["error"] } else { error }))
                }
            },
        }
    }

    /// Whether a line is of a request that the model has answered.
    fn is_answered(self, line: &Value) -> bool {
        match self {
            Self::OpenAi => line["response"]["status_code"].as_u64().is_some_and(|status| (200..300).contains(&status)),
            Self::Anthropic => line["result"]["type"] == "succeeded",
        }
    }

    /// The tokens that a line names of a request that the model has answered.
    fn told(self, line: &Value) -> Option<Usage> {
        let usage = match self {
            Self::OpenAi if !self.is_answered(line) => return None,
            Self::OpenAi => Protocol::OpenAi.usage(&line["response"]["body"].to_string()),
            Self::Anthropic => Protocol::Anthropic.usage(&line["result"]["message"].to_string()),
        };
        usage.map(|usage| Usage { batch: true, ..usage })
    }

    fn state(self, value: &Value) -> Result<BatchState, Fault> {
        let status_field = if self == Self::OpenAi { "status" } else { "processing_status" };
        let (Some(id), Some(status)) = (value["id"].as_str(), value[status_field].as_str()) else {
            return Err(unexpected("the batch has no `id` or no status"));
        };
        let count = |name: &str| value["request_counts"][name].as_u64().unwrap_or(0);
        let (phase, answered, done, total) = match self {
            Self::OpenAi => {
                let phase = match status {
                    "failed" => rejected(&value["errors"]["data"]),
                    "completed" | "expired" | "cancelled" => BatchPhase::Ended,
                    _ => BatchPhase::Running,
                };
                let answered = count("completed");
                (phase, answered, answered.saturating_add(count("failed")), count("total"))
            }
            Self::Anthropic => {
                let answered = count("succeeded");
                let done =
                    ["errored", "canceled", "expired"].into_iter().map(count).fold(answered, u64::saturating_add);
                let phase = if status == "ended" { BatchPhase::Ended } else { BatchPhase::Running };
                (phase, answered, done, done.saturating_add(count("processing")))
            }
        };
        let files = ["output_file_id", "error_file_id"].iter().filter_map(|name| value[*name].as_str());
        Ok(BatchState {
            id: id.to_owned(),
            name: value["metadata"][NAME].as_str().map(str::to_owned),
            status: status.to_owned(),
            phase,
            done,
            total,
            answered,
            files: files.map(str::to_owned).collect(),
        })
    }

    fn get(self, path: String) -> BatchMessage {
        let headers = match self {
            Self::OpenAi => Vec::new(),
            Self::Anthropic => vec![("anthropic-version", super::anthropic::VERSION)],
        };
        BatchMessage { path, headers, body: None }
    }

    fn post(self, path: &str, body: &str) -> BatchMessage {
        let body = Some(("application/json".to_owned(), body.as_bytes().to_vec()));
        BatchMessage { body, ..self.get(path.to_owned()) }
    }
}

fn rejected(errors: &Value) -> BatchPhase {
    let errors = errors.as_array().map_or(&[][..], Vec::as_slice);
    let words = |error: &Value| error["message"].as_str().or(error["code"].as_str()).unwrap_or("no reason").to_owned();
    let message = errors.first().map_or_else(|| "no reason was given".to_owned(), words);
    let too_much = errors.iter().any(|error| error["code"] == "token_limit_exceeded");
    BatchPhase::Rejected { message, too_much }
}

fn json_of(response: HttpResponse<'_>) -> Result<Value, Fault> {
    if !(200..300).contains(&response.status) {
        return Err(classify(response));
    }
    json::parse(response.body)
}

fn unexpected(message: &str) -> Fault {
    Fault::transient(ServerLoad::Server, message)
}

#[cfg(test)]
mod tests;
