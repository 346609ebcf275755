//! The two rules of docs/style.md that a program can check: the length of sentences, and refused words.

use super::Page;
use super::markdown::prose;
use super::stage::{find, helps};
use anyhow::{Context as _, Result, ensure};
use std::path::Path;

const STYLE: &str = "docs/style.md";

/// Maximum words of a sentence.
const MOST_WORDS: usize = 45;

/// Returns every sentence that breaks a rule, a line each. The style guide, which quotes such sentences, and prompts
/// are left out.
pub(super) fn all(pages: &[Page]) -> Result<Vec<String>> {
    let style = find(pages, Path::new(STYLE)).context("docs/style.md is missing")?;
    let words = words(&style.text);
    ensure!(!words.is_empty(), "{STYLE} has no table under the heading `## Words`");
    let is_prompt = |path: &Path| path.starts_with("prompts") && path != Path::new("prompts/README.md");
    let read = pages.iter().filter(|page| page.path != Path::new(STYLE) && !is_prompt(&page.path));
    let of_helps = helps()?.into_iter().flat_map(|(name, text)| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        refused(&format!("the help of {name}"), &text, &words)
    });
    Ok(read.flat_map(|page| problems(&page.path, &page.text, &words)).chain(of_helps).collect())
}

/// The refused phrases and their replacements, from the table under `## Words`.
fn words(style: &str) -> Vec<(String, String)> {
    let (_, table) = style.split_once("## Words").unwrap_or_default();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    rows.skip(2).map(|(not, but)| (not.to_lowercase(), but.to_owned())).collect()
}

fn problems(path: &Path, text: &str, words: &[(String, String)]) -> Vec<String> {
    let mut problems = vec![];
    for (line, run) in prose(text) {
        let place = format!("{}:{line}", path.display());
        problems.extend(refused(&place, &run, words));
        for sentence in sentences(&run) {
            let n_words = sentence.split_whitespace().count();
            if n_words > MOST_WORDS {
                let start: Vec<&str> = sentence.split_whitespace().take(6).collect();
                problems.push(format!(
                    "{place}: a sentence of {n_words} words, \"{} ...\": cut it ({STYLE})",
                    start.join(" ")
                ));
            }
        }
    }
    problems
}

/// The refused phrases of a text.
fn refused(place: &str, text: &str, words: &[(String, String)]) -> Vec<String> {
    let lower = text.to_lowercase();
    let found = words.iter().filter(|(not, _)| has_phrase(&lower, not));
    found.map(|(not, but)| format!("{place}: `{not}`: write {but} ({STYLE})")).collect()
}

/// Returns whether a text has the phrase as whole words.
fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    text.match_indices(phrase)
        .any(|(at, _)| is_edge(text[..at].chars().next_back()) && is_edge(text[at + phrase.len()..].chars().next()))
}

/// Cuts a text behind full stops, question marks, colons and semicolons that white space follows.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end =
            rest.char_indices().zip(rest.chars().skip(1)).find(|((_, c), next)| ".?!:;".contains(*c) && *next == ' ');
        let end = end.map_or(rest.len(), |((at, _), _)| at + 1);
        let (sentence, after) = rest.split_at(end);
        rest = after;
        (!sentence.is_empty()).then_some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_keeps_the_rules() {
        let problems = all(&super::super::read_pages().unwrap()).unwrap();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn long_sentences_and_refused_words_are_named() {
        let words = words("## Words\n\n| not | but |\n| --- | --- |\n| go on with | resume |\n");
        assert_eq!(words, [("go on with".to_owned(), "resume".to_owned())]);
        let text = format!("# A\n\nGo on with it. Ergo on within. `go on with`\n\n{}end.\n", "word ".repeat(45));
        assert_eq!(
            problems(Path::new("a.md"), &text, &words),
            [
                "a.md:3: `go on with`: write resume (docs/style.md)",
                "a.md:5: a sentence of 46 words, \"word word word word word word ...\": cut it (docs/style.md)"
            ]
        );
    }
}
