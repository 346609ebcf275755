//! Shipped prompts, and a user's replacements for them.

use crate::error::PromptError;
use crate::front_matter::{FrontMatter, front_matter, parts};
use crate::prompt::Shipped;
use crate::templates::Prompts;
use crate::{builds, judges, readers};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The prompts that ship.
fn shipped() -> impl Iterator<Item = &'static Shipped> {
    [readers::SHIPPED, judges::SHIPPED, builds::SHIPPED].into_iter().flatten()
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

impl Default for Prompts {
    fn default() -> Self {
        Self::built_in()
    }
}

impl Prompts {
    /// The prompts that ship.
    pub fn built_in() -> Self {
        let mut prompts = Self::none();
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
            let used = self.variables(template).map_err(|e| unusable(e.to_string()))?;
            if let Some(unknown) = used.iter().find(|variable| !filled.contains(&variable.as_str())) {
                let known = filled.into_iter().copied().collect::<Vec<_>>().join(", ");
                return Err(unusable(format!("there is no variable `{unknown}` here; it is filled with: {known}")));
            }
        }
        self.put(name, Cow::Owned(body.into_owned()), system);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front_matter::Requirement;
    use crate::prompt::Prompt;
    use crate::readers::{ReadChoice, ReadQuestion};

    #[test]
    fn options_count_from_one_on_their_own_lines() {
        let options = ["Ana", "Ben"].map(str::to_owned);
        let text = ReadChoice { context: "C", question: "Who?", options: &options, portal: false }
            .render(&Prompts::built_in())
            .unwrap();
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

    /// Words of which the front matter's `response` must contain one.
    fn words_of(expects: &str) -> &'static [&'static str] {
        const SUMMARY: &str = "summary alone";
        const WORDS: &str = "1 to 20 words";
        match expects.split([' ', '{']).next().unwrap_or_default() {
            "" => &[],
            // Of the first mark or of the last, by who asks.
            "Answer(if" => &["[[1]]"],
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
        const SOURCES: [&str; 13] = [
            "SagaScale, ",
            "HAMLET, ",
            "NovelQA, ",
            "Stronger Baselines, ",
            "CorpusQA, ",
            "MemAgent",
            "ReadAgent, ",
            "RAPTOR, ",
            "alex-laitenberger/",
            "BytedTsinghua-SIA/MemAgent",
            "read-agent/read-agent.github.io",
            "Tongyi-Zhiwen/CorpusQA",
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
    fn the_papers_pages_name_every_variable_of_their_prompts() {
        let pages = [
            include_str!("../../docs/papers/sagascale.md"),
            include_str!("../../docs/papers/novelqa.md"),
            include_str!("../../docs/papers/stronger-baselines.md"),
            include_str!("../../docs/papers/corpusqa.md"),
            include_str!("../../docs/papers/hamlet.md"),
        ];
        for page in pages {
            let (_, section) = page.split_once("\n## Prompts\n").unwrap();
            let section = section.split("\n## ").next().unwrap();
            let has = |name: &str| section.contains(&format!("`{name}`"));
            let prompts: Vec<&str> = shipped().map(|shipped| shipped.name).filter(|name| has(name)).collect();
            assert!(prompts.len() > 4, "{prompts:?}");
            for name in prompts {
                let unsaid: Vec<String> =
                    FrontMatter::of(name).unwrap().variables.into_iter().filter(|variable| !has(variable)).collect();
                assert!(unsaid.is_empty(), "{name}: {unsaid:?}");
            }
        }
    }

    #[test]
    fn a_system_message_is_filled_hashed_and_replaced_with_its_prompt() {
        let mut prompts = Prompts::built_in();
        let asked = ReadQuestion { context: "C", question: "Q", portal: false };
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
        let prompt = ReadQuestion { context: "{{ question }} <b>&", question: "Q", portal: false };
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
            message.contains("no variable `quetsion` here; it is filled with: context, options, portal, question"),
            "{message}"
        );
    }
}
