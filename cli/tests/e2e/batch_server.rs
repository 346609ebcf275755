//! A server with the batch APIs of OpenAI and Anthropic.

use crate::http::{Answered, Asked, HttpServer, ok};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The end of a request of a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum End {
    Answered,
    /// Asked and billed, without an answer.
    Blocked,
    Refused,
    Expired,
}

/// The server's content, and how it is to behave.
pub(crate) struct World {
    /// Uploaded files, by number.
    files: Vec<String>,
    /// Entries and name of each batch.
    pub(crate) batches: Vec<(Vec<Value>, Value)>,
    /// Whether batches stay in progress.
    held: bool,
    /// Whether results hold one of a request that nobody handed in.
    pub(crate) foreign: bool,
    /// Whether the file of errors tells of answered requests as well, as expired.
    pub(crate) twice: bool,
    /// Whether somebody has cancelled batches of which one request was answered.
    pub(crate) cancelled: bool,
    /// Number of results that are cut short from now on, and times that a batch has ended whose files are not there yet.
    pub(crate) cut: usize,
    pub(crate) late: usize,
    /// What the name of every batch holds before its number.
    pub(crate) suffix: String,
    /// Whether the provider knows of no batch any more.
    pub(crate) gone: bool,
    /// Whether the next batch is taken, and the client hears of a server error.
    pub(crate) broken_create: bool,
    /// Most requests that may wait at the provider.
    pub(crate) enqueued: usize,
    /// Returns how a request ends, by its text and the number of its batch.
    end: fn(&str, usize) -> End,
}

pub(crate) struct BatchServer {
    pub(crate) http: HttpServer,
    pub(crate) world: Arc<Mutex<World>>,
}

impl BatchServer {
    pub(crate) fn start(end: fn(&str, usize) -> End) -> Self {
        let (files, batches) = (Vec::new(), Vec::new());
        let (held, foreign, twice, cancelled, gone, broken_create) = (false, false, false, false, false, false);
        let (cut, late, suffix, enqueued) = (0, 0, String::new(), usize::MAX);
        let world = World {
            files,
            batches,
            held,
            foreign,
            twice,
            cancelled,
            cut,
            late,
            suffix,
            gone,
            broken_create,
            enqueued,
            end,
        };
        let world = Arc::new(Mutex::new(world));
        let served = Arc::clone(&world);
        Self { http: HttpServer::start(move |asked| served.lock().unwrap().answer(asked)), world }
    }

    pub(crate) fn n_batches(&self) -> usize {
        self.world.lock().unwrap().batches.len()
    }

    /// The ids of all requests of all batches.
    pub(crate) fn ids(&self) -> Vec<String> {
        let world = self.world.lock().unwrap();
        let entries = world.batches.iter().flat_map(|(entries, _)| entries);
        entries.map(|entry| entry["custom_id"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn hold(&self, held: bool) {
        self.world.lock().unwrap().held = held;
    }
}

impl World {
    fn answer(&mut self, asked: &Asked) -> Answered {
        let path = asked.path.split('?').next().unwrap().trim_start_matches("/v1/");
        let parts: Vec<&str> = path.split('/').collect();
        match (asked.method.as_str(), parts.as_slice()) {
            ("POST", ["files"]) => {
                assert!(asked.body.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{}", asked.body);
                let file = asked.body.split("application/jsonl\r\n\r\n").nth(1).unwrap();
                self.files.push(file.split("\r\n--").next().unwrap().to_owned());
                ok(&json!({"id": format!("file-{}", self.files.len() - 1), "object": "file", "purpose": "batch"}))
            }
            ("POST", ["batches"]) => {
                let body = asked.json();
                assert_eq!(body["endpoint"], "/v1/chat/completions");
                let file = &self.files[number(body["input_file_id"].as_str().unwrap())];
                let entries =
                    file.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap());
                self.created(entries.collect(), body["metadata"].clone(), Self::openai)
            }
            ("POST", ["messages", "batches"]) => {
                assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
                let entries = asked.json()["requests"].as_array().unwrap().clone();
                self.created(entries, Value::Null, Self::anthropic)
            }
            ("GET", ["batches"]) => self.list(Self::openai),
            ("GET", ["messages", "batches"]) => self.list(Self::anthropic),
            ("GET", ["batches", _]) if self.gone => ("404 Not Found", Vec::new(), String::new()),
            ("GET", ["batches", id]) => {
                let mut batch = self.openai(number(id));
                if batch["status"] == "completed" && self.late > 0 {
                    self.late -= 1;
                    batch["output_file_id"] = Value::Null;
                }
                ok(&batch)
            }
            ("GET", ["messages", "batches", id]) => ok(&self.anthropic(number(id))),
            ("GET", ["files", id, "content"]) => {
                let is_output = id.starts_with("out");
                let wanted = |end: End| matches!(end, End::Answered | End::Blocked) == is_output;
                let lines = self.results(number(id)).into_iter().filter(|(_, end)| wanted(*end)).map(openai_line);
                let again = self.results(number(id)).into_iter().filter(|_| self.twice && !is_output);
                let lines = lines.chain(again.map(|(entry, _)| openai_line((entry, End::Expired)))).collect();
                self.sent(lines)
            }
            ("GET", ["messages", "batches", id, "results"]) => {
                let foreign = self.foreign.then(|| (json!({"custom_id": "0123"}), End::Answered));
                let lines = foreign.into_iter().chain(self.results(number(id))).map(anthropic_line).collect();
                self.sent(lines)
            }
            _ => ("404 Not Found", Vec::new(), String::new()),
        }
    }

    /// The results, or half of them.
    fn sent(&mut self, lines: String) -> Answered {
        let is_cut = self.cut > 0 && !lines.is_empty();
        self.cut -= usize::from(is_cut);
        let half = lines[..lines.len() / 2].to_owned();
        ("200 OK", Vec::new(), if is_cut { half } else { lines })
    }

    /// Number of requests of a batch that were answered.
    fn n_answered(&self, number: usize) -> usize {
        self.results(number).iter().filter(|(_, end)| matches!(end, End::Answered | End::Blocked)).count()
    }

    fn created(&mut self, entries: Vec<Value>, name: Value, tell: fn(&Self, usize) -> Value) -> Answered {
        self.batches.push((entries, name));
        if std::mem::take(&mut self.broken_create) {
            return ("502 Bad Gateway", Vec::new(), "<html>bad gateway</html>".to_owned());
        }
        ok(&tell(self, self.batches.len() - 1))
    }

    fn list(&self, tell: fn(&Self, usize) -> Value) -> Answered {
        let newest_first: Vec<Value> = (0..self.batches.len()).rev().map(|number| tell(self, number)).collect();
        ok(&json!({"object": "list", "data": newest_first, "has_more": false}))
    }

    fn openai(&self, number: usize) -> Value {
        let (entries, name) = &self.batches[number];
        let mut batch = json!({"id": format!("batch{}_{number}", self.suffix), "object": "batch", "metadata": name,
            "status": if self.held { "in_progress" } else { "completed" },
            "request_counts": {"total": entries.len(), "completed": if self.held { 0 } else { self.n_answered(number) }, "failed": 0}});
        if entries.len() > self.enqueued {
            let error = json!({"code": "token_limit_exceeded", "message": "Enqueued token limit reached for tiny"});
            batch["status"] = json!("failed");
            batch["errors"] = json!({"object": "list", "data": [error]});
        } else if !self.held {
            batch["output_file_id"] = json!(format!("out-{number}"));
            batch["error_file_id"] = json!(format!("err-{number}"));
            if self.cancelled {
                batch["status"] = json!("cancelled");
            }
            if self.results(number).iter().any(|(_, end)| *end == End::Expired) {
                batch["status"] = json!("expired");
            }
        }
        batch
    }

    fn anthropic(&self, number: usize) -> Value {
        let n = self.batches[number].0.len();
        let answered = if self.held { 0 } else { self.n_answered(number) };
        let counts = |processing| {
            let errored = n - processing - answered;
            json!({"processing": processing, "succeeded": answered, "errored": errored, "canceled": 0, "expired": 0})
        };
        json!({"id": format!("msgbatch_{number}"), "type": "message_batch",
            "processing_status": if self.held { "in_progress" } else { "ended" },
            "request_counts": counts(if self.held { n } else { 0 })})
    }

    /// The requests of a batch, the last first, and how they ended.
    fn results(&self, number: usize) -> Vec<(Value, End)> {
        let entries = self.batches[number].0.iter().rev().take(if self.cancelled { 1 } else { usize::MAX });
        entries.map(|entry| (entry.clone(), (self.end)(&entry.to_string(), number))).collect()
    }
}

fn number(id: &str) -> usize {
    id.rsplit(['-', '_']).next().unwrap().parse().unwrap()
}

fn openai_line((entry, end): (Value, End)) -> String {
    let body = match end {
        End::Answered => {
            json!({"choices": [{"message": {"content": "Answer: [[1]] a copper key"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 10}})
        }
        End::Blocked => json!({"choices": [{"message": {"content": "A"}, "finish_reason": "content_filter"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 10}}),
        End::Refused => json!({"error": {"message": "this field is not known", "type": "invalid_request_error"}}),
        End::Expired => Value::Null,
    };
    let response = match end {
        End::Answered | End::Blocked => json!({"status_code": 200, "request_id": "r", "body": body}),
        End::Refused => json!({"status_code": 400, "request_id": "r", "body": body}),
        End::Expired => Value::Null,
    };
    let error = if end == End::Expired { json!({"code": "batch_expired", "message": "too late"}) } else { Value::Null };
    format!("{}\n", json!({"id": "x", "custom_id": entry["custom_id"], "response": response, "error": error}))
}

fn anthropic_line((entry, end): (Value, End)) -> String {
    let result = match end {
        End::Answered => json!({"type": "succeeded", "message": {
            "content": [{"type": "text", "text": "Answer: [[1]] a copper key"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 1000, "output_tokens": 10}}}),
        End::Blocked => json!({"type": "succeeded", "message": {"content": [], "stop_reason": "refusal",
            "usage": {"input_tokens": 1000, "output_tokens": 10}}}),
        End::Refused => json!({"type": "errored", "error": {"type": "error",
            "error": {"type": "invalid_request_error", "message": "this field is not known"}}}),
        End::Expired => json!({"type": "expired"}),
    };
    format!("{}\n", json!({"custom_id": entry["custom_id"], "result": result}))
}
