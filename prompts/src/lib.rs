//! Prompts: templates, one file each in `prompts/`, their variables, their hashes.
//!
//! A prompt file is front matter in TOML between two lines `+++`, then a minijinja template. Each carries the
//! requirements and the output format of its paper in our own words, and lists them with their sources; what it adds of
//! its own it lists with the reason. Where its paper has a system message, that is a second template, `system`.
//!
//! Each file has a type, whose fields are the variables: a prompt is rendered from a value of it, so none can lack a
//! variable.

#![forbid(unsafe_code)]

use closeread_text::hash::sha256;
use minijinja::{Environment, UndefinedBehavior};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

#[macro_use]
mod prompt;
pub mod builds;
pub mod judges;
pub mod readers;
pub mod variables;

pub use prompt::{Prompt, ReaderPrompt};

use prompt::Shipped;

/// The prompts that ship.
fn shipped() -> impl Iterator<Item = &'static Shipped> {
    [readers::SHIPPED, judges::SHIPPED, builds::SHIPPED].into_iter().flatten()
}

/// A set of prompts, by name.
#[derive(Debug, Clone)]
pub struct Prompts {
    environment: Environment<'static>,
    /// Without front matter. They are compiled when they are filled: few of them ever are.
    templates: BTreeMap<String, Cow<'static, str>>,
    /// Of those that have one.
    systems: BTreeMap<String, String>,
    hashes: BTreeMap<String, String>,
}

/// Front matter of a prompt file: what it says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontMatter {
    /// The paper that it follows, with its section, table or figure.
    pub paper: String,
    /// What it is filled with.
    pub variables: BTreeSet<String>,
    /// The form of the response that it asks for.
    pub response: String,
    /// What it demands because its paper does; a user's own file need not say.
    #[serde(default)]
    pub requirements: Vec<Requirement>,
    /// What it says that its paper does not.
    #[serde(default)]
    pub adds: Vec<Addition>,
    /// Template of the system's message, of the same variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
}

/// Something that a prompt demands because a paper does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The requirement, in a few words.
    pub what: String,
    /// Where it stands: the paper, and its section, table, figure or file.
    pub source: String,
}

/// Something that a prompt says and its paper does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addition {
    /// What is added, in a few words.
    pub what: String,
    /// Why.
    pub why: String,
}

impl FrontMatter {
    /// The front matter of the shipped prompt `name`.
    ///
    /// # Errors
    /// [`PromptError::Unknown`] if there is none of that name.
    pub fn of(name: &str) -> Result<Self, PromptError> {
        let Some(Shipped { source, .. }) = shipped().find(|shipped| shipped.name == name) else {
            let mut names: Vec<&str> = shipped().map(|shipped| shipped.name).collect();
            names.sort_unstable();
            return Err(PromptError::Unknown { name: name.to_owned(), known: names.join(", ") });
        };
        front_matter(name, &parts(name, source)?.0)
    }
}

/// Why a prompt cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// No prompt of that name.
    #[error("there is no prompt `{name}`; the names are: {known}")]
    Unknown {
        /// As asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// The front matter is missing or wrong.
    #[error(
        "prompt `{name}`: {problem}; expected TOML with paper, variables and response between two lines `+++` at the top"
    )]
    FrontMatter {
        /// Name of the prompt.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// The template does not parse, or names a variable that does not exist.
    #[error("prompt `{name}`: {problem}")]
    Template {
        /// Name of the prompt.
        name: String,
        /// What is wrong, with its line.
        problem: String,
    },
}

impl Default for Prompts {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Prompts {
    /// The prompts that ship.
    pub fn built_in() -> Self {
        let mut environment = Environment::empty();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let (templates, systems, hashes) = Default::default();
        let mut prompts = Self { environment, templates, systems, hashes };
        for Shipped { name, source, .. } in shipped() {
            let (front, body) = parts(name, source).expect("the shipped prompts are tested");
            // Few have one, and reading all of them would take longer than all else.
            let has_system = front.contains("\nsystem = ");
            let system = has_system.then(|| front_matter(name, &front).expect("as above").system).flatten();
            prompts.put(name, body, system);
        }
        prompts
    }

    /// Puts `source` in the place of the prompt `name`.
    ///
    /// # Errors
    /// [`PromptError`] if there is no such prompt to replace, or the text is no prompt.
    pub fn replace(&mut self, name: &str, source: &str) -> Result<(), PromptError> {
        let shipped = shipped().find(|shipped| shipped.name == name).ok_or_else(|| self.unknown(name))?;
        let (front, body) = parts(name, source)?;
        let system = front_matter(name, &front)?.system;
        let unusable = |problem: String| PromptError::Template { name: name.to_owned(), problem };
        // What it is filled with: a replacement may use no more.
        let filled = BTreeSet::from_iter(shipped.variables);
        for template in [Some(&*body), system.as_deref()].into_iter().flatten() {
            let template = self.environment.template_from_str(template).map_err(|e| unusable(e.to_string()))?;
            let used = template.undeclared_variables(false);
            if let Some(unknown) = used.iter().find(|variable| !filled.contains(&variable.as_str())) {
                let known = filled.into_iter().copied().collect::<Vec<_>>().join(", ");
                return Err(unusable(format!("there is no variable `{unknown}` here; it is filled with: {known}")));
            }
        }
        self.put(name, Cow::Owned(body.into_owned()), system);
        Ok(())
    }

    fn unknown(&self, name: &str) -> PromptError {
        let known = self.hashes.keys().cloned().collect::<Vec<_>>().join(", ");
        PromptError::Unknown { name: name.to_owned(), known }
    }

    fn put(&mut self, name: &str, body: Cow<'static, str>, system: Option<String>) {
        let hash = match &system {
            None => sha256(body.as_bytes()),
            Some(system) => sha256(format!("{system}\n+++\n{body}").as_bytes()),
        };
        self.hashes.insert(name.to_owned(), hash);
        self.templates.insert(name.to_owned(), body);
        match system {
            None => self.systems.remove(name),
            Some(system) => self.systems.insert(name.to_owned(), system),
        };
    }

    /// SHA-256 of each template, with that of the system's message, in hex, by name: what the manifest of a run holds.
    pub fn hashes(&self) -> &BTreeMap<String, String> {
        &self.hashes
    }

    /// The prompt `name`, filled with the fields of `variables`.
    pub(crate) fn filled(&self, name: &str, variables: &impl Serialize) -> Result<String, PromptError> {
        let Some(template) = self.templates.get(name) else {
            return Err(self.unknown(name));
        };
        self.filled_in(name, template, variables)
    }

    /// The system's message of the prompt `name`, filled likewise; `None` without one, or if nothing is in it.
    pub(crate) fn system(&self, name: &str, variables: &impl Serialize) -> Result<Option<String>, PromptError> {
        let filled = self.systems.get(name).map(|template| self.filled_in(name, template, variables)).transpose()?;
        Ok(filled.filter(|text| !text.is_empty()))
    }

    fn filled_in(&self, name: &str, template: &str, variables: &impl Serialize) -> Result<String, PromptError> {
        let problem = |e: minijinja::Error| PromptError::Template { name: name.to_owned(), problem: e.to_string() };
        let filled = || {
            let template = self.environment.template_from_named_str(name, template)?;
            let variables = minijinja::Value::from(minijinja::value::Serde(variables));
            // A book is written into memory of its size, in the place of memory that doubles until it fits.
            let mut text = Vec::with_capacity(template.source().len() + text_of(&variables));
            template.render_captured_to(variables, &mut text)?;
            Ok(text)
        };
        Ok(String::from_utf8(filled().map_err(problem)?).expect("templates and values are strings"))
    }
}

/// Front matter and template of a prompt file.
fn parts<'s>(name: &str, source: &'s str) -> Result<(Cow<'s, str>, Cow<'s, str>), PromptError> {
    let bad = |problem: &str| PromptError::FrontMatter { name: name.to_owned(), problem: problem.to_owned() };
    if source.contains("\r\n") {
        let source = source.replace("\r\n", "\n");
        let (front, body) = parts(name, &source)?;
        return Ok((Cow::Owned(front.into_owned()), Cow::Owned(body.into_owned())));
    }
    let rest = source.strip_prefix("+++\n").ok_or_else(|| bad("no front matter"))?;
    let (front, body) = rest.split_once("\n+++\n").ok_or_else(|| bad("the front matter has no end"))?;
    Ok((Cow::Borrowed(front), Cow::Borrowed(body.trim())))
}

fn front_matter(name: &str, front: &str) -> Result<FrontMatter, PromptError> {
    toml::from_str(front)
        .map_err(|e| PromptError::FrontMatter { name: name.to_owned(), problem: e.message().to_owned() })
}

/// Bytes of the strings among the fields of a value.
fn text_of(fields: &minijinja::Value) -> usize {
    let names = fields.try_iter().into_iter().flatten();
    names.filter_map(|name| fields.get_item(&name).ok()?.as_str().map(str::len)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use readers::{ReadChoice, ReadQuestion};

    #[test]
    fn options_count_from_one_on_their_own_lines() {
        let options = ["Ana", "Ben"].map(str::to_owned);
        let text =
            ReadChoice { context: "C", question: "Who?", options: &options }.render(&Prompts::built_in()).unwrap();
        assert!(text.contains("Question: Who?\n\n[[1]] Ana\n[[2]] Ben\n=== QUESTION ENDS ==="), "{text}");
    }

    #[test]
    fn every_shipped_prompt_is_one() {
        let mut prompts = Prompts::built_in();
        let hashes = prompts.hashes().clone();
        for Shipped { name, source, .. } in shipped() {
            prompts.replace(name, source).unwrap_or_else(|error| panic!("{error}"));
            prompts.replace(name, &source.replace('\n', "\r\n")).unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(prompts.hashes(), &hashes);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "the folder holds what is held to the types")]
    fn every_file_has_one_type_and_every_type_has_the_variables_and_the_response_of_its_file() {
        let folder = std::fs::read_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
        let files = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = files.filter_map(|file| Some(file.strip_suffix(".md")?.to_owned())).collect();
        files.retain(|file| file != "README");
        files.sort();
        let mut names: Vec<&str> = shipped().map(|shipped| shipped.name).collect();
        names.sort_unstable();
        assert_eq!(names, files);
        for Shipped { name, source, variables, expects } in shipped() {
            let front = front_matter(name, &parts(name, source).unwrap().0).unwrap();
            let declared: BTreeSet<&str> = front.variables.iter().map(String::as_str).collect();
            assert_eq!(declared, BTreeSet::from_iter(variables.iter().copied()), "{name}");
            let worded = words_of(expects);
            assert!(
                worded.is_empty() || worded.iter().any(|words| front.response.contains(words)),
                "{name}: {expects}"
            );
        }
    }

    /// Words of which one must be in what a file says of its response.
    fn words_of(expects: &str) -> &'static [&'static str] {
        const SUMMARY: &str = "summary alone";
        const WORDS: &str = "1 to 20 words";
        match expects.split([' ', '{']).next().unwrap_or_default() {
            "" => &[],
            "Answer(Marked)" => &["[[1]]", WORDS, SUMMARY],
            "Answer(Tags)" => &["The answer alone between <answer>"],
            "Answer(TagsOrNone)" => &["or NONE, between <answer>"],
            "Answer(Lines)" => &["Answer0: the number", "Answer0: one or a few words"],
            "Answer(EvidencedLines)" => &["Answer0: the answer, $"],
            "Answer(Announced)" => &["The answer is:"],
            "Answer(Lettered)" => &["Answer: (A)", WORDS, SUMMARY],
            "Answer(Boxed)" => &["\\boxed{}", SUMMARY],
            "Turn" => &["<query>"],
            "Break" => &["Break point: <"],
            "Pages(self.max_pages)" => &["Page ["],
            "Memory" => &["memory"],
            "Gist" => &["shortened passage"],
            "Node" => &[SUMMARY],
            other => panic!("no words are known of {other}"),
        }
    }

    #[test]
    fn every_prompt_of_a_paper_says_what_it_demands_and_where_that_stands() {
        const SOURCES: [&str; 9] = [
            "SagaScale, ",
            "HAMLET, ",
            "NovelQA, ",
            "Stronger Baselines, ",
            "CorpusQA, ",
            "MemAgent",
            "ReadAgent, ",
            "RAPTOR, ",
            "closeread",
        ];
        for Shipped { name, .. } in shipped() {
            let FrontMatter { paper, requirements, adds, .. } = FrontMatter::of(name).unwrap();
            assert!(paper.starts_with("closeread: ") || !requirements.is_empty(), "{name} lists no requirement");
            for Requirement { what, source } in requirements {
                assert!(!what.is_empty() && SOURCES.iter().any(|known| source.starts_with(known)), "{name}: {source}");
            }
            assert!(adds.iter().all(|added| !added.what.is_empty() && !added.why.is_empty()), "{name}");
        }
        assert!(matches!(FrontMatter::of("read-choise"), Err(PromptError::Unknown { .. })));
    }

    #[test]
    fn a_system_message_is_filled_hashed_and_replaced_with_its_prompt() {
        let mut prompts = Prompts::built_in();
        let asked = ReadQuestion { context: "C", question: "Q" };
        assert_eq!(asked.system(&prompts).unwrap(), None);
        let front = "paper = 'x'\nvariables = []\nresponse = ''\n";
        let mut replace = |system: &str| {
            prompts.replace("read-question", &format!("+++\n{front}{system}+++\n{{{{ context }}}}")).unwrap();
            (asked.system(&prompts).unwrap(), prompts.hashes()["read-question"].clone())
        };
        let (system, hash) = replace("system = 'Of {{ question }}.'\n");
        assert_eq!(system.as_deref(), Some("Of Q."));
        let (other, other_hash) = replace("system = 'About {{ question }}.'\n");
        assert!(other.as_deref() == Some("About Q.") && other_hash != hash);
        let (none, no_hash) = replace("");
        assert!(none.is_none() && no_hash != hash);
        let unknown = format!("+++\n{front}system = '{{{{ quetsion }}}}'\n+++\n{{{{ context }}}}");
        assert!(prompts.replace("read-question", &unknown).unwrap_err().to_string().contains("no variable `quetsion`"));
    }

    #[test]
    fn a_book_full_of_braces_stays_as_it_is() {
        let prompt = ReadQuestion { context: "{{ question }} <b>&", question: "Q" };
        let text = prompt.render(&Prompts::built_in()).unwrap();
        assert!(text.contains("\n{{ question }} <b>&\n"), "{text}");
    }

    #[test]
    fn a_bad_replacement_says_what_is_wrong() {
        let mut prompts = Prompts::built_in();
        let message = |r: Result<(), PromptError>| r.unwrap_err().to_string();
        assert!(message(prompts.replace("read-choise", "")).contains("the names are: agentic-rag, "));
        assert!(message(prompts.replace("read-choice", "Hello")).contains("no front matter"));
        let front = "+++\npaper = 'x'\nvariables = []\nresponse = ''\n+++\n";
        assert!(message(prompts.replace("read-choice", &format!("{front}{{% if %}}"))).contains("read-choice"));
        let message = message(prompts.replace("read-choice", &format!("{front}{{{{ quetsion }}}}")));
        assert!(
            message.contains("no variable `quetsion` here; it is filled with: context, options, question"),
            "{message}"
        );
    }
}
