//! Queries: one a tree, self-contained, without a word of the tree (section 3.1.3).

use super::chunks::chunk_text;
use super::tree::as_json;
use super::{Pruned, numbered};
use crate::ask;
use crate::stage::Made;
use closeread_books::Book;
use closeread_eval::answer::json::json_value;
use closeread_eval::hamlet::Perspective;
use closeread_eval::rows::scalar;
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::Prompt;
use closeread_prompts::builds::{HamletQueryAnalytical, HamletQueryNarrative};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// The query that a model wrote for a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Text of the query.
    pub query: String,
}

/// The prompt: the text of the chunk and the tree in JSON.
pub(super) fn prompt<'p>(book: &Book, perspective: Perspective, chunk: &'p str, tree: &'p str) -> Box<dyn Prompt + 'p> {
    let language = book.language;
    match perspective {
        Perspective::Analytical => Box::new(HamletQueryAnalytical { chunk, tree, language }),
        Perspective::Narrative => Box::new(HamletQueryNarrative { chunk, tree, language }),
    }
}

/// Has a model write the query. One that mentions the tree is asked for once more, then refused.
pub(super) async fn ask<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    pruned: &Pruned,
) -> Result<Made<Query>, MethodError> {
    let facts: Vec<String> = numbered(&pruned.roots).into_iter().map(|fact| fact.fact).collect();
    let (text, tree) = (chunk_text(book, &pruned.chunk)?, as_json(&pruned.roots, false));
    ask::one(host, settings, &*prompt(book, pruned.perspective, &text, &tree), "", |response, _| {
        let query = read(response).ok_or(QueryError::NoObject)?;
        match mention(&query, &facts) {
            Some(word) => Err(QueryError::Mention(word)),
            None => Ok(Query { query }),
        }
    })
    .await
}

/// The reason why a response gives no query.
#[derive(Debug, thiserror::Error)]
enum QueryError {
    #[error("it holds no JSON object with a query")]
    NoObject,
    #[error("the query mentions `{0}`: somebody who has the book alone cannot know of it")]
    Mention(String),
}

fn read(response: &str) -> Option<String> {
    let value = json_value(response).answer()?;
    let fields = value.as_object()?;
    let query = ["query", "question"].iter().find_map(|name| fields.get(*name)).and_then(scalar)?;
    Some(query.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Returns what a query says of the tree it was made from. `tree`, `leaf`, `passage` and the like are words of novels
/// as well: they count only where no fact has them.
fn mention(query: &str, facts: &[String]) -> Option<String> {
    static ALWAYS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\bkey[- ]facts?\b|\bfact tree\b|\btree of (key )?facts\b|\b(root|branch|leaf) (node|fact)s?\b|关键事实|事实树|根节点|叶节点|分支节点")
            .expect("a valid pattern")
    });
    static UNLESS_IN_FACTS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(trees?|leaf|leaves|branch(es)?|roots?|chunks?|excerpts?|passages?|facts?)\b|节选|片段|上文|本段|事实")
            .expect("a valid pattern")
    });
    if let Some(found) = ALWAYS.find(query) {
        return Some(found.as_str().to_owned());
    }
    let facts: Vec<String> = facts.iter().map(|fact| fact.to_lowercase()).collect();
    let strange = |word: &str| !facts.iter().any(|fact| fact.contains(&word.to_lowercase()));
    UNLESS_IN_FACTS.find_iter(query).map(|found| found.as_str().to_owned()).find(|word| strange(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_does_not_mention_what_its_reader_cannot_know() {
        let facts = ["Ana climbs the tree.".to_owned()];
        let of = |query| mention(query, &facts);
        assert_eq!(of("What do the key facts say of Ana?").as_deref(), Some("key facts"));
        assert_eq!(of("What happens to Ana in this passage?").as_deref(), Some("passage"));
        assert_eq!(of("What does Ana do in the tree?"), None, "a tree of the novel");
        assert_eq!(of("What does Ana do under the leaves?").as_deref(), Some("leaves"));
        assert_eq!(of("Why does Ana climb?"), None);
        assert_eq!(of("这个片段说了什么？").as_deref(), Some("片段"));
    }

    #[test]
    fn a_query_stands_in_an_object() {
        assert_eq!(read("```json\n{\"query\": \" Why  so? \"}\n```").as_deref(), Some("Why so?"));
        assert_eq!(read("Why so?"), None);
        assert_eq!(read("{\"query\": \"\"}"), None);
    }
}
