//! Fields that are merged into requests: into all, into those of a method, into those made from one prompt.

use crate::account::{PROVIDERS, keys};
use crate::outgoing::texts;
use anyhow::{Context, Result, bail};
use closeread_books::tokens::Tokenizer;
use closeread_llm::provider::{Secret, merge, words_like_keys};
use closeread_methods::METHODS;
use closeread_prompts::Prompts;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The extra fields of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtraBodies {
    /// Extra fields of every request.
    pub all: Map<String, Value>,
    /// Extra fields by the name of a method or of a prompt; a judge is asked by a prompt of its name.
    pub named: BTreeMap<String, Map<String, Value>>,
}

impl ExtraBodies {
    /// Reads the options `{...}`, `FILE`, `NAME={...}` and `NAME=@FILE`; each is merged over those before it, and all of
    /// them over `tables`, the `[extra-bodies.NAME]` of a config file.
    ///
    /// # Errors
    /// If an option is no JSON object and no file with one, or a name is neither a method's nor a prompt's.
    pub fn read(options: &[String], tables: &BTreeMap<String, Map<String, Value>>) -> Result<Self> {
        let mut bodies = Self { all: Map::new(), named: tables.clone() };
        for option in options {
            let (name, source) = split(option);
            // What is no name of a file is not repeated: it may hold a key.
            let shown = if is_name(source) { source } else { "{...}" };
            let shown = name.map_or_else(|| shown.to_owned(), |name| format!("{name}={shown}"));
            let fields = fields(source).with_context(|| format!("--extra-body {shown}"))?;
            let place = match name {
                Some(name) => bodies.named.entry(name.to_owned()).or_default(),
                None => &mut bodies.all,
            };
            merge(place, &fields);
        }
        bodies.check()?;
        Ok(bodies)
    }

    /// The fields for a request: those for all, over them those of the method, over them those of the prompt.
    pub fn of(&self, method: Option<&str>, prompt: &str) -> Map<String, Value> {
        let mut fields = self.all.clone();
        for name in method.into_iter().chain([prompt]) {
            if let Some(more) = self.named.get(name) {
                merge(&mut fields, more);
            }
        }
        fields
    }

    /// Counts the tokens of the texts in the fields for a request, such as tools.
    pub fn tokens(&self, method: Option<&str>, prompt: &str, tokenizer: &Tokenizer) -> u64 {
        tokenizer.count(&texts(&self.of(method, prompt))) as u64
    }

    fn check(&self) -> Result<()> {
        let keys = keys()?;
        let known: Vec<Secret> = PROVIDERS.iter().filter_map(|provider| Some(keys.place(provider)?.1)).collect();
        for fields in self.named.values().chain([&self.all]) {
            check_fields(fields, &known)?;
        }
        let prompts = Prompts::built_in();
        let methods: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
        let known = |name: &str| methods.contains(&name) || prompts.hashes().contains_key(name);
        match self.named.keys().find(|name| !known(name)) {
            None => Ok(()),
            Some(unknown) => bail!(
                "an extra body is given for `{unknown}`, which is neither a method ({}) nor a prompt ({})",
                methods.join(", "),
                prompts.hashes().keys().cloned().collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

/// Fields that a request is made of: with other values the record would not say what was asked.
const OURS: [&str; 8] = ["contents", "messages", "model", "prompt", "stream", "system", "systeminstruction", "input"];
/// Parts of the names of fields that hold keys, in lower case and without what stands between words.
const KEYS: [&str; 13] = [
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authkey",
    "authorization",
    "authtoken",
    "bearer",
    "credential",
    "passwd",
    "password",
    "secret",
    "subscriptionkey",
];
/// Names that hold keys where they stand alone and a text follows.
const BARE_KEYS: [&str; 4] = ["auth", "key", "pwd", "token"];
/// Fewest characters of what a header for a key holds.
const SHORTEST: usize = 20;
const NO_FILE: &str =
    "there is no file of that name, and no JSON object stands there: expected one such as {\"top_p\": 0.9}";

fn check_fields(fields: &Map<String, Value>, known: &[Secret]) -> Result<()> {
    if let Some(name) = fields.keys().find(|name| OURS.contains(&bare(name).as_str())) {
        bail!(
            "an extra body may not set `{name}`: closeread writes it itself (--model names the model, --prompts changes prompts)"
        );
    }
    let is_known = |value: &Value| known.iter().any(|key| key.is_in(&value.to_string()));
    let known = || fields.iter().find(|(_, value)| is_known(value)).map(|(name, _)| name.clone());
    if let Some(name) = key_in(fields).or_else(known) {
        bail!(
            "an extra body holds a key, in `{name}`; it would be written into the run folder. Set the environment variable \
             that `closeread providers` names for the provider, or write it into a file .env"
        );
    }
    Ok(())
}

fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase()
}

/// Returns whether what has this name holds a key.
pub(crate) fn names_a_key(name: &str) -> bool {
    let bare = bare(name);
    KEYS.iter().any(|part| bare.contains(part)) || BARE_KEYS.contains(&&*bare)
}

/// The field that holds a key, by its name or by how the key begins.
fn key_in(fields: &Map<String, Value>) -> Option<String> {
    fields.iter().find_map(|(name, value)| {
        // A schema describes a field by an object; a key is a text.
        let is_key = names_a_key(name) && matches!(value, Value::String(text) if !text.is_empty());
        if is_key { Some(name.clone()) } else { key_below(name, value) }
    })
}

/// The field that holds a key, if one is below the value of the field `name`.
fn key_below(name: &str, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => holds_key(text).then(|| name.to_owned()),
        Value::Object(inner) => key_in(inner),
        Value::Array(items) => items.iter().find_map(|item| key_below(name, item)),
        _ => None,
    }
}

/// Returns whether a word of a text is a key by how it begins, or the text is what a header for a key holds.
fn holds_key(text: &str) -> bool {
    let scheme = text.trim_start().split_once(' ').map_or("", |(scheme, _)| scheme);
    let for_header = ["bearer", "basic"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (for_header && text.len() >= SHORTEST && text.split_whitespace().count() == 2)
        || words_like_keys(text).next().is_some()
}

/// Returns whether a text can be meant as the name of a file.
fn is_name(text: &str) -> bool {
    !text.contains(['{', '[', '"', '=', '\n']) && !holds_key(text)
}

/// The name that an option begins with, and what is left of it.
fn split(option: &str) -> (Option<&str>, &str) {
    let is_json = option.trim_start().starts_with('{');
    match option.split_once('=') {
        Some((name, source)) if !is_json && source.starts_with(['{', '@']) => (Some(name), source),
        _ => (None, option),
    }
}

/// The object in a text, or in the file that it names, with or without `@` before it.
fn fields(source: &str) -> Result<Map<String, Value>> {
    let text = match source.trim_start().starts_with('{') {
        true => source.to_owned(),
        false => {
            let path = source.strip_prefix('@').unwrap_or(source);
            let named = || if is_name(path) { format!("cannot read {path}") } else { NO_FILE.to_owned() };
            closeread_files::read_text_file(path).with_context(named)?
        }
    };
    let expected = "expected a JSON object such as {\"top_p\": 0.9}";
    match serde_json::from_str(&text).context(expected)? {
        Value::Object(fields) => Ok(fields),
        _ => bail!("{expected}, found another value"),
    }
}

/// An option of a config file in `folder`: the file that it names is looked for there.
pub fn beside(folder: &Path, option: &str) -> String {
    let (name, source) = split(option);
    if source.trim_start().starts_with('{') {
        return option.to_owned();
    }
    let path = folder.join(source.strip_prefix('@').unwrap_or(source));
    match name {
        Some(name) => format!("{name}=@{}", path.display()),
        None => format!("@{}", path.display()),
    }
}

/// Reads one option, or a list of them.
pub fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(option) => vec![option],
        OneOrMany::Many(options) => options,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(options: &[&str], tables: Value) -> Result<ExtraBodies> {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        ExtraBodies::read(&options, &serde_json::from_value(tables).unwrap())
    }

    #[test]
    fn a_prompt_wins_over_its_method_and_a_method_over_all() {
        let bodies = read(
            &[r#"{"top_p": 0.1, "a": {"x": 1}}"#, r#"dos-rag={"top_p": 0.2, "a": {"y": 2}}"#],
            json!({"read-choice": {"top_p": 0.3}, "dos-rag": {"min_p": 0.5, "top_p": 0.9}}),
        )
        .unwrap();
        let of = |method, prompt| Value::Object(bodies.of(method, prompt));
        assert_eq!(of(None, "closed-book-choice"), json!({"top_p": 0.1, "a": {"x": 1}}));
        let dos = json!({"top_p": 0.2, "min_p": 0.5, "a": {"x": 1, "y": 2}});
        assert_eq!(of(Some("dos-rag"), "read-question"), dos);
        assert_eq!(of(Some("dos-rag"), "read-choice")["top_p"], 0.3);
        assert_eq!(of(None, "read-choice"), json!({"top_p": 0.3, "a": {"x": 1}}));
    }

    #[test]
    fn files_are_read_with_and_without_a_name() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("b=c.json"), r#"{"seed": 1}"#).unwrap();
        let path = dir.path().join("b=c.json").display().to_string();
        let bodies = read(&[&path, &format!("read-choice=@{path}")], json!({})).unwrap();
        assert_eq!(json!([bodies.all, bodies.named]), json!([{"seed": 1}, {"read-choice": {"seed": 1}}]));
        assert_eq!(beside(dir.path(), "@b=c.json"), format!("@{path}"));
        assert_eq!(beside(dir.path(), "read-choice=@b=c.json"), format!("read-choice=@{path}"));
        assert_eq!(beside(dir.path(), "read-choice={}"), "read-choice={}");
    }

    #[test]
    fn finding_15_an_extra_body_that_replaces_what_is_asked_is_refused() {
        for name in ["messages", "model", "stream", "contents", "systemInstruction", "system_instruction", "Model"] {
            for option in [format!("{{\"{name}\": 1}}"), format!("dos-rag={{\"{name}\": 1}}")] {
                let error = format!("{:#}", read(&[&option], json!({})).unwrap_err());
                assert!(error.contains(&format!("may not set `{name}`")), "{error}");
            }
            assert!(read(&[], json!({"read-choice": {name: 1}})).is_err(), "in a config file, {name}");
        }
        assert!(read(&[r#"{"stream_options": {}, "response_format": {"model": 1}}"#], json!({})).is_ok());
    }

    #[test]
    fn finding_15_a_key_in_an_extra_body_is_refused_and_not_repeated() {
        let key = "sk-planted-5f0e77c1d2a94b6e";
        for body in [
            json!({"authorization": key}),
            json!({"api_key": key}),
            json!({"x-api-key": key}),
            json!({"extra_headers": {"Authorization": format!("Bearer {key}")}}),
            json!({"provider": [{"options": {"apiKey": key}}]}),
            json!({"user": key}),
            json!({"list": ["a", key]}),
            json!({"list": [["a", [key]]]}),
            json!({"headers": {"Ocp-Apim-Subscription-Key": "9f8e7d6c5b4a3928"}}),
            json!({"client_secret": "9f8e7d6c5b4a3928"}),
            json!({"metadata": {"openai_api_key": "9f8e7d6c5b4a3928"}}),
            json!({"Authorization2": "9f8e7d6c5b4a3928"}),
            json!({"apiKeyV2": "9f8e7d6c5b4a3928"}),
            json!({"X-Auth-Key": "9f8e7d6c5b4a3928"}),
            json!({"bearer_value": "9f8e7d6c5b4a3928"}),
            json!({"token": "9f8e7d6c5b4a3928"}),
            json!({"auth": "9f8e7d6c5b4a3928"}),
            json!({"key": "9f8e7d6c5b4a3928"}),
            json!({"proxy": format!("https://example.org/?key={key}")}),
            json!({"header": "Basic dXNlcjpwYXNzd29yZA=="}),
        ] {
            let error = format!("{:#}", read(&[&body.to_string()], json!({})).unwrap_err());
            assert!(error.contains("holds a key") && error.contains("file .env") && !error.contains(key), "{error}");
            let broken = format!("{}}}", body);
            let error = format!("{:#}", read(&[&broken], json!({})).unwrap_err());
            assert!(error.contains("--extra-body {...}: expected a JSON object") && !error.contains(key), "{error}");
        }
        for option in [
            format!("Authorization=Bearer {key}"),
            format!("[\"{key}\"]"),
            format!("\"api_key\": \"{key}\""),
            key.to_owned(),
        ] {
            let error = format!("{:#}", read(&[&option], json!({})).unwrap_err());
            assert!(
                error.contains("--extra-body {...}: there is no file of that name") && !error.contains(key),
                "{error}"
            );
        }
        let harmless = json!({
            "max_tokens": 5, "skip_special_tokens": true, "stop": ["sk-"], "bos_token": "<s>", "stop_token": "</s>",
            "prompt_cache_key": "a", "token_ids": [1], "logit_bias": {"7": 1}, "key_frames": "first", "author": "Ana",
            "response_format": {"schema": {"properties": {"password": {"type": "string"}, "token": {"type": "string"}}}},
            "system_fingerprint": "basic questions about risk-averse-investors-and-others",
        });
        assert!(read(&[&harmless.to_string()], json!({})).is_ok());
    }

    #[test]
    fn what_cannot_be_merged_is_refused() {
        for (option, words) in [
            ("nowhere.json", "cannot read nowhere.json"),
            ("[1]", "no JSON object stands there"),
            ("{\"a\"", "expected a JSON object"),
            ("dos={}", "neither a method (closed-book, "),
            ("reed-choice={}", "read-choice"),
        ] {
            let error = format!("{:#}", read(&[option], json!({})).unwrap_err());
            assert!(error.contains(words), "{option}: {error}");
        }
    }
}
