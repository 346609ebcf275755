//! HAMLET's evaluation of a summary (section 3, stage 3, appendix E): facts verified, key facts aligned.
//!
//! Both judges reply with a JSON list, in a fence or bare. The paper does not say what becomes of a list that lacks
//! entries or has too many. Here the last list of the right length is read in its order, be it behind a fence, and entries behind
//! it correct it by their words; without one an entry belongs to the sentence (the fact) whose words it repeats, white space,
//! case and typography aside. A fact that no entry repeats is not stated, for recall divides by the whole tree; a summary with a
//! sentence that no entry repeats has no faithfulness. A list that was cut or is broken is unparsed, as is one in which nothing
//! can be placed.

use super::ask::ask;
use super::ruling::{FactRuling, Ruling, SentenceRuling};
use super::submission::{JudgeResponse, Submission};
use closeread_eval::answer::Parsed;
use closeread_eval::answer::json::{json_behind_fences, json_values};
use closeread_eval::hamlet::{ErrorCategory, line_numbers, linearised};
use closeread_eval::rows::scalar;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::judges::{AlignKeyFacts, VerifyFacts};
use closeread_prompts::variables::Named;
use closeread_text::sentence::{Rules, split};
use serde_json::{Map, Value};

/// The sentences of a summary, by the rules of its language.
pub(super) fn sentences<'a>(submission: &Submission<'a>) -> Vec<&'a str> {
    let text = submission.said.text();
    split(text, Rules::of(submission.language)).into_iter().map(|span| text[span.range()].trim()).collect()
}

/// The facts of the item's tree.
pub(super) fn facts<'a>(submission: &Submission<'a>) -> Vec<&'a str> {
    let facts = submission.item.key_facts.as_ref().map(linearised).unwrap_or_default();
    facts.into_iter().map(|(_, fact)| fact).collect()
}

/// Tokens of an entry of a list beside the text that it repeats: its fields, and a reason of one sentence.
const BESIDE_TEXT: u64 = 100;

/// Returns the most tokens of a list that repeats `n` texts of `tokens` tokens in all, by a tokenizer that may need
/// twice as many.
pub(super) fn list_tokens(n: u64, tokens: u64) -> u64 {
    2 * tokens + n * BESIDE_TEXT
}

/// The settings with a limit of the response that has room for a list over `texts`: a tree has 27 facts on average, and
/// more than 40 in a rich chunk.
fn with_room<'s>(settings: Settings<'s>, texts: &[&str]) -> Settings<'s> {
    let tokens: usize = texts.iter().map(|text| settings.tokenizer.count(text)).sum();
    let needed = u32::try_from(list_tokens(texts.len() as u64, tokens as u64)).unwrap_or(u32::MAX);
    Settings { response_limit: settings.response_limit.at_least(needed), ..settings }
}

/// Asks for one of five categories a sentence, against the chunk.
pub(super) async fn verify_facts<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let sentences = sentences(submission);
    let named = |category: ErrorCategory| Named { name: category.name(), meaning: meaning(category) };
    let categories = CATEGORIES.map(named).to_vec();
    let prompt =
        VerifyFacts { chunk: submission.chunk, sentences: &sentences, n_sentences: sentences.len(), categories };
    let settings = with_room(settings, &sentences);
    ask(host, settings, &prompt, submission.chunk, |response| {
        let rulings = placed(response, "sentence", &sentences, |entry| {
            let category = ErrorCategory::of_name(&scalar(entry.get("category")?)?)?;
            Some(SentenceRuling { category, reason: entry.get("reason").and_then(scalar).unwrap_or_default() })
        });
        rulings.map(|sentences| Ruling::Sentences { sentences })
    })
    .await
}

/// Asks for yes or no a key fact, with the sentences that state it.
pub(super) async fn align_key_facts<H: Host>(
    host: &H,
    settings: Settings<'_>,
    submission: &Submission<'_>,
) -> Result<JudgeResponse, MethodError> {
    let (sentences, facts) = (sentences(submission), facts(submission));
    let prompt = AlignKeyFacts { facts: &facts, n_facts: facts.len(), sentences: &sentences };
    let settings = with_room(settings, &facts);
    ask(host, settings, &prompt, "", |response| {
        let rulings = placed(response, "key-fact", &facts, |entry| fact_ruling(entry, sentences.len()));
        rulings.map(|facts| Ruling::KeyFacts { facts })
    })
    .await
}

fn fact_ruling(entry: &Map<String, Value>, n_sentences: usize) -> Option<FactRuling> {
    let stated = match scalar(entry.get("response")?)?.to_lowercase().trim_end_matches('.') {
        "yes" | "true" | "是" => true,
        "no" | "false" | "否" => false,
        _ => return None,
    };
    let mut sentences = line_numbers(entry);
    sentences.retain(|number| stated && (1..=n_sentences).contains(number));
    sentences.sort_unstable();
    sentences.dedup();
    Some(FactRuling { stated, sentences })
}

/// The categories in the order of the prompt (Table 22).
const CATEGORIES: [ErrorCategory; 5] = [
    ErrorCategory::OutOfArticle,
    ErrorCategory::Entity,
    ErrorCategory::Relation,
    ErrorCategory::Sentence,
    ErrorCategory::NoError,
];

/// Returns what the prompt says of a category (Tables 12 and 22).
const fn meaning(category: ErrorCategory) -> &'static str {
    match category {
        ErrorCategory::OutOfArticle => {
            "a fact, an opinion or information that neither stands in the excerpt nor can reasonably be inferred from it"
        }
        ErrorCategory::Entity => {
            "a key subject or object is not the right one, as with a wrong name, number or pronoun"
        }
        ErrorCategory::Relation => {
            "a relation of meaning is mistaken, as with an incorrect verb, preposition or adjective"
        }
        ErrorCategory::Sentence => "several errors at once make the sentence as a whole contradict the excerpt",
        ErrorCategory::NoError => "what the sentence states is in line with the excerpt",
    }
}

/// The entries of a response's JSON list, each beside the text that it is about; see the head of this file.
fn placed<T>(
    response: &str,
    field: &str,
    texts: &[&str],
    read: impl Fn(&Map<String, Value>) -> Option<T>,
) -> Parsed<Vec<Option<T>>> {
    let mut values = json_values(response);
    let whole = |value: &Value| -> Option<Vec<Option<T>>> {
        let entries = list(value).filter(|entries| entries.len() == texts.len())?;
        entries.iter().map(|entry| read(entry).map(Some)).collect()
    };
    let behind = json_behind_fences(response);
    if values.iter().chain(&behind).any(|value| whole(value).is_some()) {
        values.extend(behind);
    }
    if let Some((at, mut found)) = values.iter().enumerate().rev().find_map(|(at, value)| Some((at, whole(value)?))) {
        let behind = values[at + 1..].iter();
        let behind = behind.flat_map(|value| list(value).unwrap_or_else(|| objects(std::slice::from_ref(value))));
        for (place, corrected) in found.iter_mut().zip(by_words(behind, field, texts, &read)) {
            *place = corrected.or_else(|| place.take());
        }
        return Parsed::Answer(found);
    }
    let Some(entries) = entries(&values, texts.len()) else { return Parsed::Unparsed };
    let found: Vec<Option<T>> = match entries.len() == texts.len() {
        true => entries.iter().map(&read).collect(),
        false => by_words(entries, field, texts, &read),
    };
    if found.iter().all(Option::is_none) { Parsed::Unparsed } else { Parsed::Answer(found) }
}

/// What entries say of the texts whose words they repeat; of several entries on a text the first counts.
fn by_words<T>(
    entries: impl IntoIterator<Item = Map<String, Value>>,
    field: &str,
    texts: &[&str],
    read: impl Fn(&Map<String, Value>) -> Option<T>,
) -> Vec<Option<T>> {
    let mut found: Vec<Option<T>> = texts.iter().map(|_| None).collect();
    let texts: Vec<String> = texts.iter().map(|text| folded(text)).collect();
    let mut taken = vec![false; texts.len()];
    for entry in entries {
        let words = ["sentence", "key-fact", "key_fact", "key fact", "fact"].iter();
        let words = [field].iter().chain(words).find_map(|name| entry.get(*name)).and_then(scalar);
        let words = words.map(|words| folded(&words)).unwrap_or_default();
        if let Some(at) = (0..texts.len()).find(|&at| !taken[at] && texts[at] == words) {
            taken[at] = true;
            found[at] = read(&entry);
        }
    }
    found
}

/// The objects of the last list in a response; else the objects without a list, if they are `n`: fewer are what can be read of a
/// list that was cut or is broken.
fn entries(values: &[Value], n: usize) -> Option<Vec<Map<String, Value>>> {
    values.iter().rev().find_map(list).or_else(|| Some(objects(values)).filter(|entries| entries.len() == n))
}

/// The objects of a list, or of one in an object, as servers that enforce an object make models reply.
fn list(value: &Value) -> Option<Vec<Map<String, Value>>> {
    let list = match value {
        Value::Object(fields) => fields.values().filter_map(Value::as_array).find(|list| holds_objects(list)),
        list => list.as_array(),
    };
    list.map(|list| objects(list)).filter(|entries| !entries.is_empty())
}

fn objects(values: &[Value]) -> Vec<Map<String, Value>> {
    values.iter().filter_map(Value::as_object).cloned().collect()
}

fn holds_objects(values: &[Value]) -> bool {
    !values.is_empty() && values.iter().all(Value::is_object)
}

/// Words without what copying changes: white space, case, quotes, a number or full stop at the ends.
fn folded(text: &str) -> String {
    let numbered = text.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '[' | ']' | ' '));
    numbered.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
