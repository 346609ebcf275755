//! Calls on their way out, and what determines their responses. The beginning that many of them share, such as a book
//! that fifty questions are asked about, is held once and written as JSON once, however many are under way.

use bytes::Bytes;
use closeread_books::tokens::Tokenizer;
use closeread_llm::{Call, Message};
use closeread_text::hash::sha256;
use http_body::{Body, Frame, SizeHint};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use twox_hash::XxHash3_128;

/// Bytes from which on a beginning is worth holding once.
const LONG: usize = 4 << 10;
/// Beginnings that are remembered after the last call with them has ended.
const REMEMBERED: usize = 2;

/// A beginning that calls share.
struct Beginning {
    /// XXH3 of the text: tells it from others.
    hash: u128,
    /// The text as it stands inside a JSON string; a second copy of a book would only cost memory.
    json: Bytes,
    sha256: String,
}

impl Beginning {
    fn new(text: &str, hash: u128) -> Self {
        let mut json = serde_json::to_string(text).expect("a string can be written");
        json.truncate(json.len() - 1);
        Self { hash, json: Bytes::from(json).slice(1..), sha256: sha256(text.as_bytes()) }
    }

    fn text(&self) -> String {
        let string = [b"\"", &self.json[..], b"\""].concat();
        serde_json::from_slice(&string).expect("it was written as a string")
    }
}

/// The beginnings of the calls to one model.
pub struct Beginnings {
    /// Mark that stands for the beginning in a call, and in the JSON made of it: letters and digits drawn by chance,
    /// which no text holds.
    mark: String,
    /// Recent beginnings, the latest last.
    recent: RefCell<VecDeque<Rc<Beginning>>>,
}

impl Default for Beginnings {
    fn default() -> Self {
        let mark = std::iter::repeat_with(fastrand::alphanumeric).take(40).collect();
        Self { mark, recent: RefCell::default() }
    }
}

impl Beginnings {
    /// The call, its shared beginning taken out.
    pub fn take_out(&self, mut call: Call) -> Outgoing {
        let long = |message: &mut Message| message.shared_bytes.filter(|&n| n >= LONG && n <= message.content.len());
        let found = call.messages.iter_mut().find_map(|message| long(message).map(|n| (message, n)));
        let Some((message, n)) = found else { return call.into() };
        let beginning = self.held(&message.content[..n]);
        message.content = format!("{}{}", self.mark, &message.content[n..]);
        message.shared_bytes = Some(self.mark.len());
        Outgoing { beginning: Some((beginning, self.mark.clone())), ..call.into() }
    }

    fn held(&self, text: &str) -> Rc<Beginning> {
        let mut recent = self.recent.borrow_mut();
        let hash = XxHash3_128::oneshot(text.as_bytes());
        let known = recent.iter().position(|known| known.hash == hash).and_then(|at| recent.remove(at));
        let beginning = known.unwrap_or_else(|| Rc::new(Beginning::new(text, hash)));
        if recent.len() == REMEMBERED {
            recent.pop_front();
        }
        recent.push_back(Rc::clone(&beginning));
        beginning
    }
}

/// The source of a response: what determines it besides the call itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Name of the provider.
    pub provider: String,
    /// The model's name with it.
    pub model: String,
    /// The address, without user, password and query.
    pub base_url: String,
    /// Hash of what its query chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Sampling seed.
    pub seed: Option<u64>,
    /// Fields merged into the request.
    pub extra_body: Map<String, Value>,
}

/// A call as it is sent.
pub struct Outgoing {
    call: Call,
    /// Beginning that the call's mark stands for, and the mark.
    beginning: Option<(Rc<Beginning>, String)>,
    /// Tokens of a response, and responses, that fields of the user's own ask for.
    longest: Option<u64>,
    responses: u64,
    /// Tokens of thinking that they ask for, for which Anthropic's limit makes room.
    thinking: u64,
    /// Texts of theirs that a provider counts with the prompt, such as tools, schemas and a system prompt.
    texts: String,
}

impl From<Call> for Outgoing {
    fn from(call: Call) -> Self {
        Self { call, beginning: None, longest: None, responses: 1, thinking: 0, texts: String::new() }
    }
}

impl Outgoing {
    /// The call with fields that are merged into its request, which may ask for longer responses or for several, and hold
    /// texts.
    pub fn with_fields(self, fields: &Map<String, Value>) -> Self {
        // Google's servers take names in both spellings.
        let of_gemini =
            ["generationConfig", "generation_config"].map(|name| fields.get(name).and_then(Value::as_object));
        let places: Vec<&Map<String, Value>> = of_gemini.into_iter().flatten().chain([fields]).collect();
        let most = |names: &[&str]| {
            names.iter().flat_map(|name| places.iter().filter_map(move |place| number(place.get(*name)?))).max()
        };
        let longest = most(&["max_tokens", "max_completion_tokens", "maxOutputTokens", "max_output_tokens"]);
        let thinking = fields.get("thinking").and_then(|thinking| number(thinking.get("budget_tokens")?));
        let responses = most(&["n", "candidateCount", "candidate_count"]).unwrap_or(1).max(1);
        Self { longest, responses, thinking: thinking.unwrap_or(0), texts: texts(fields), ..self }
    }

    /// Returns the most tokens that may come back where a response may have `one`.
    pub fn most_response(&self, one: u64) -> u64 {
        let limit = self.longest.map_or(one, |longest| longest.max(one));
        let thinking = if limit <= self.thinking { self.thinking } else { 0 };
        limit.saturating_add(thinking).saturating_mul(self.responses)
    }

    /// Returns the number of responses that are asked for; one of them is read.
    pub fn n_responses(&self) -> u64 {
        self.responses
    }

    /// The call, with a mark in the place of a beginning that is held elsewhere: for requests, whose JSON goes through
    /// [`Outgoing::filled_in`].
    pub fn marked(&self) -> &Call {
        &self.call
    }

    /// JSON made of the marked call, with the beginning in the place of its mark: the pieces in their order.
    pub fn filled_in(&self, json: String) -> Vec<Bytes> {
        self.with_beginning(json, |beginning| beginning.json.clone())
    }

    /// Returns the call's pieces for a hash: the SHA-256 of the beginning, which is made once, in the beginning's
    /// place.
    pub(crate) fn hashed_parts(&self, json: String) -> Vec<Bytes> {
        self.with_beginning(json, |beginning| Bytes::copy_from_slice(beginning.sha256.as_bytes()))
    }

    fn with_beginning(&self, json: String, shown: impl Fn(&Beginning) -> Bytes) -> Vec<Bytes> {
        let json = Bytes::from(json);
        let Some((beginning, mark)) = &self.beginning else { return vec![json] };
        let text = std::str::from_utf8(&json).expect("it was a string");
        match text.find(mark) {
            // The user's own fields have taken the place of the messages.
            None => vec![json],
            Some(at) => vec![json.slice(..at), shown(beginning), json.slice(at + mark.len()..)],
        }
    }

    /// The call with its beginning in place.
    pub fn whole(&self) -> Cow<'_, Call> {
        let Some((beginning, mark)) = &self.beginning else { return Cow::Borrowed(&self.call) };
        let (mut call, text) = (self.call.clone(), beginning.text());
        for message in &mut call.messages {
            if let Some(rest) = message.content.strip_prefix(mark.as_str()) {
                message.content = format!("{text}{rest}");
                message.shared_bytes = Some(text.len());
            }
        }
        Cow::Owned(call)
    }

    /// Tokens that the prompt can have at most, which takes no time: hardly any text has one for less than two bytes.
    pub fn most_tokens(&self) -> u64 {
        let own: usize = self.call.messages.iter().map(|message| message.content.len()).sum();
        let shared = self.beginning.as_ref().map_or(0, |(beginning, _)| beginning.json.len());
        (own + shared + self.texts.len()).div_ceil(2) as u64
    }

    /// Counts those tokens of the prompt that are texts in fields; not every server counts all of them, such as a grammar.
    pub fn count_in_fields(&self, tokenizer: &Tokenizer) -> u64 {
        tokenizer.count(&self.texts) as u64
    }

    /// Counts the tokens of the prompt.
    pub fn count(&self, tokenizer: &Tokenizer) -> u64 {
        let whole = self.whole();
        let texts = whole.messages.iter().map(|message| &message.content).chain([&self.texts]);
        texts.map(|text| tokenizer.count(text) as u64).sum()
    }
}

/// The fields that hold texts, a line each. Numbers and switches are none.
pub(crate) fn texts(fields: &Map<String, Value>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => Some(value.to_string()),
        _ => None,
    };
    fields.values().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// A whole number, which may be written as 4e3 or 4000.0.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(|number| number.ceil() as u64))
}

/// The body of a request, in pieces that need not lie together.
pub(crate) struct Pieces(VecDeque<Bytes>);

impl From<Vec<Bytes>> for Pieces {
    fn from(pieces: Vec<Bytes>) -> Self {
        Self(pieces.into_iter().filter(|piece| !piece.is_empty()).collect())
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the exact size, so that the length is sent and servers need not read chunks.
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_llm::provider::{Parameters, Protocol};
    use serde_json::json;

    fn call(book: &str, question: &str) -> Call {
        let message = Message::user(format!("Read this.\n{book}\n{question}")).sharing(book);
        Call { messages: vec![message], temperature: 0.0, max_output_tokens: Some(9), prompt: String::new() }
    }

    fn joined(pieces: &[Bytes]) -> String {
        String::from_utf8(pieces.concat()).expect("text")
    }

    #[test]
    fn what_is_sent_is_the_request_as_it_would_be_written_whole() {
        let book = "\"She\\ said\u{1}\"\n李 😀 ".repeat(400);
        for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini] {
            let beginnings = Beginnings::default();
            for question in ["Who?", "\"Where\"?", ""] {
                let call = call(&book, question);
                let request = |call: &Call| protocol.request(call, &Parameters::default()).body.to_string();
                let outgoing = beginnings.take_out(call.clone());
                let pieces = outgoing.filled_in(request(outgoing.marked()));
                assert_eq!((pieces.len(), joined(&pieces)), (3, request(&call)), "{protocol:?}");
                assert_eq!(*outgoing.whole(), call);
                let size = Pieces::from(pieces).size_hint().exact();
                assert_eq!(size, Some(request(&call).len() as u64));
            }
        }
    }

    #[test]
    fn calls_on_one_book_hold_it_together() {
        let (book, other) = ("A book. ".repeat(1_000), "Another. ".repeat(1_000));
        let beginnings = Beginnings::default();
        let of = |book: &str, question: &str| beginnings.take_out(call(book, question)).beginning.expect("long").0;
        let first = of(&book, "Who?");
        assert!(Rc::ptr_eq(&first, &of(&book, "Where?")));
        assert!(!Rc::ptr_eq(&first, &of(&other, "Who?")));
        assert!(Rc::ptr_eq(&first, &of(&book, "When?")), "the last two books are remembered");
    }

    #[test]
    fn finding_07_a_response_may_have_as_many_tokens_as_its_request_asks_for() {
        let most = |fields: Value| {
            let outgoing = Outgoing::from(call("A page.", "Who?")).with_fields(fields.as_object().unwrap());
            outgoing.most_response(100)
        };
        assert_eq!(most(json!({"thinking": {"type": "enabled", "budget_tokens": 24_576}})), 24_676);
        assert_eq!(most(json!({"thinking": {"budget_tokens": 24_576}, "max_tokens": 30_000})), 30_000);
        assert_eq!(most(json!({"thinking": {"type": "adaptive"}, "n": 2})), 200);
        assert_eq!(most(json!({"max_tokens": 4e3, "n": 2.0})), 8_000);
        assert_eq!(most(json!({"generationConfig": {"candidate_count": 3, "max_output_tokens": 400}})), 1_200);
        assert_eq!(most(json!({"generation_config": {"candidateCount": 2}, "max_tokens": null})), 200);
    }

    #[test]
    fn finding_07_texts_in_fields_count_with_the_prompt() {
        let (tokenizer, plain) = (Tokenizer::cl100k(), || Outgoing::from(call("A page.", "Who?")));
        let with = |fields: Value| {
            let outgoing = plain().with_fields(fields.as_object().unwrap());
            (outgoing.count(&tokenizer) - plain().count(&tokenizer), outgoing.most_tokens() - plain().most_tokens())
        };
        let long = "Look up a word. ".repeat(100);
        for fields in [json!({"tools": [{"description": long}]}), json!({"system": long})] {
            let (counted, most) = with(fields);
            assert!(counted >= 400 && most >= 800, "{counted} and {most}");
        }
        assert_eq!(with(json!({"n": 2, "top_p": 0.5, "stream": false})), (0, 0));
    }

    #[test]
    fn short_beginnings_stay_where_they_are() {
        let outgoing = Beginnings::default().take_out(call("A page.", "Who?"));
        assert_eq!(outgoing.marked(), &call("A page.", "Who?"));
        assert_eq!(outgoing.filled_in("{}".to_owned()), [Bytes::from("{}")]);
    }
}
