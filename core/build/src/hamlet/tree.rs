//! Key-fact trees: roots, branches, leaves (section 3.1.2).

use super::chunks::chunk_text;
use super::pronoun::pronoun;
use super::{Chunk, Unit};
use crate::ask;
use crate::stage::Made;
use closeread_books::Book;
use closeread_eval::KeyFact;
use closeread_eval::answer::json::json_values;
use closeread_eval::hamlet::{Level, Perspective};
use closeread_methods::Host;
use closeread_methods::{MethodError, Settings};
use closeread_prompts::Prompt;
use closeread_prompts::builds::{HamletTreeAnalytical, HamletTreeNarrative};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Facts with pronouns that a model is told of when it is asked again.
const NAMED: usize = 5;

/// A tree of key facts about a chunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tree {
    /// Chunk that the tree is about.
    pub chunk: Chunk,
    /// Perspective, the kind of facts that the tree holds.
    pub perspective: Perspective,
    /// Facts of the tree.
    pub roots: Vec<KeyFact>,
}

/// A fact of a tree with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    /// Id of the fact: `1` for the first root, `1.2` for its second branch, `1.2.3` for the third leaf of that.
    pub id: String,
    /// Level of the fact.
    pub level: Level,
    /// Text of the fact.
    pub fact: String,
}

/// A chunk seen from one perspective.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Perceived {
    pub(super) chunk: Chunk,
    pub(super) perspective: Perspective,
}

/// Makes one unit a chunk and perspective.
pub(super) fn units(chunks: &[Unit<Chunk>], perspectives: &[Perspective]) -> Vec<Unit<Perceived>> {
    let of = |unit: &Unit<Chunk>| {
        let Unit { id, input } = unit.clone();
        perspectives.iter().map(move |&perspective| Unit {
            id: format!("{id}-{}", perspective.name()),
            input: Perceived { chunk: input.clone(), perspective },
        })
    };
    chunks.iter().flat_map(of).collect()
}

/// The facts of a tree, depth first.
pub fn numbered(roots: &[KeyFact]) -> Vec<Numbered> {
    fn walk(facts: &[KeyFact], above: &str, depth: usize, into: &mut Vec<Numbered>) {
        for (idx, fact) in facts.iter().enumerate() {
            let id = number(above, idx);
            let level = Level::ALL[depth.min(Level::ALL.len() - 1)];
            into.push(Numbered { id: id.clone(), level, fact: fact.fact.clone() });
            walk(&fact.children, &id, depth + 1, into);
        }
    }
    let mut list = Vec::new();
    walk(roots, "", 0, &mut list);
    list
}

/// The number of a fact that stands at `idx` below the fact `above`.
pub(super) fn number(above: &str, idx: usize) -> String {
    if above.is_empty() { format!("{}", idx + 1) } else { format!("{above}.{}", idx + 1) }
}

/// A tree as prompts show it, in the form in which it is asked for; where it is `numbered`, each fact has its number.
pub(super) fn as_json(roots: &[KeyFact], is_numbered: bool) -> String {
    const BELOW: [&str; 2] = ["branches", "leaves"];
    fn list(facts: &[KeyFact], above: &str, depth: usize, is_numbered: bool) -> Value {
        let node = |(idx, KeyFact { fact, children }): (usize, &KeyFact)| {
            let (id, fact) = (number(above, idx), Value::from(fact.as_str()));
            let mut node = Map::new();
            match BELOW.get(depth) {
                None if !is_numbered => return fact,
                below => {
                    if is_numbered {
                        node.insert("id".to_owned(), Value::from(id.as_str()));
                    }
                    node.insert("fact".to_owned(), fact);
                    if let Some(below) = below {
                        node.insert((*below).to_owned(), list(children, &id, depth + 1, is_numbered));
                    }
                }
            }
            Value::Object(node)
        };
        facts.iter().enumerate().map(node).collect()
    }
    json!({"roots": list(roots, "", 0, is_numbered)}).to_string()
}

/// The prompt of a tree.
pub(super) fn prompt<'p>(book: &Book, chunk: &'p str, perspective: Perspective) -> Box<dyn Prompt + 'p> {
    let language = book.language;
    match perspective {
        Perspective::Analytical => Box::new(HamletTreeAnalytical { chunk, language }),
        Perspective::Narrative => Box::new(HamletTreeNarrative { chunk, language }),
    }
}

/// Has a model write the tree. With `enforce_names`, one with pronouns is asked for once more.
pub(super) async fn grow<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    chunk: &Chunk,
    perspective: Perspective,
    enforce_names: bool,
) -> Result<Made<Tree>, MethodError> {
    let text = chunk_text(book, chunk)?;
    let language = book.language;
    ask::one(host, settings, &*prompt(book, &text, perspective), "", |response, last| {
        let roots = read(response)?;
        if last || !enforce_names {
            return Ok(Tree { chunk: chunk.clone(), perspective, roots });
        }
        let laden: Vec<String> = numbered(&roots)
            .iter()
            .filter_map(|fact| Some(format!("`{}` has the pronoun `{}`", fact.fact, pronoun(&fact.fact, language)?)))
            .collect();
        match laden.is_empty() {
            true => Ok(Tree { chunk: chunk.clone(), perspective, roots }),
            false => Err(TreeError::Pronouns(laden)),
        }
    })
    .await
}

/// The reason why a response gives no tree.
#[derive(Debug, PartialEq, thiserror::Error)]
enum TreeError {
    #[error("it holds no JSON object with roots")]
    NoObject,
    #[error("the tree has no fact on the level of the {}", .0.name())]
    Level(Level),
    #[error("the tree is deeper than three levels: `{0}`")]
    Deep(String),
    #[error("facts must stand alone, with names in the place of pronouns, but {}", named(.0))]
    Pronouns(Vec<String>),
}

fn named(laden: &[String]) -> String {
    let more = if laden.len() > NAMED { " and others as well" } else { "" };
    format!("{}{more}", laden[..laden.len().min(NAMED)].join(", "))
}

/// The roots that a response gives: the JSON value in it that holds a tree of three levels.
fn read(response: &str) -> Result<Vec<KeyFact>, TreeError> {
    let mut problem = TreeError::NoObject;
    for value in json_values(response).into_iter().rev() {
        match whole(roots(&value)) {
            Ok(roots) => return Ok(roots),
            Err(why) => problem = why,
        }
    }
    Err(problem)
}

fn whole(roots: Vec<KeyFact>) -> Result<Vec<KeyFact>, TreeError> {
    let roots = each_once(roots);
    let facts = numbered(&roots);
    let depth = |id: &str| id.split('.').count();
    if let Some(missing) = Level::ALL.iter().find(|level| !facts.iter().any(|fact| fact.level == **level)) {
        return Err(TreeError::Level(*missing));
    }
    match facts.iter().find(|fact| depth(&fact.id) > Level::ALL.len()) {
        Some(deep) => Err(TreeError::Deep(deep.fact.clone())),
        None => Ok(roots),
    }
}

/// Facts without those that repeat one beside them; what stands below those stands below the first. A model that falls into repeating
/// itself writes one leaf many times.
fn each_once(facts: Vec<KeyFact>) -> Vec<KeyFact> {
    let mut once: Vec<KeyFact> = Vec::new();
    for fact in facts {
        match once.iter_mut().find(|known| known.fact == fact.fact) {
            Some(known) => known.children.extend(fact.children),
            None => once.push(fact),
        }
    }
    for fact in &mut once {
        fact.children = each_once(std::mem::take(&mut fact.children));
    }
    once
}

fn roots(value: &Value) -> Vec<KeyFact> {
    let listed = |value: &Value| match value {
        Value::Array(nodes) => nodes.iter().filter_map(node).collect(),
        one => node(one).into_iter().collect(),
    };
    match value {
        Value::Object(fields) => {
            match ["roots", "tree", "key_facts", "key-facts"].iter().find_map(|name| fields.get(*name)) {
                Some(Value::Object(inner)) if inner.contains_key("roots") => listed(&inner["roots"]),
                Some(inner) => listed(inner),
                None => node(value).into_iter().collect(),
            }
        }
        _ => listed(value),
    }
}

/// Reads a fact with the facts below it; `None` for a value that says nothing.
fn node(value: &Value) -> Option<KeyFact> {
    match value {
        Value::String(fact) => fact_of(fact, Vec::new()),
        Value::Object(fields) => {
            let text = |name: &&str| fields.get(*name).and_then(Value::as_str);
            let fact = ["fact", "key-fact", "key_fact", "root", "branch", "leaf", "text"].iter().find_map(text)?;
            fact_of(fact, below(fields))
        }
        _ => None,
    }
}

fn below(fields: &Map<String, Value>) -> Vec<KeyFact> {
    let lists = ["branches", "leaves", "children", "branch", "leaf"];
    let facts = |name: &&str| -> Vec<KeyFact> {
        match fields.get(*name) {
            Some(Value::Array(nodes)) => nodes.iter().filter_map(node).collect(),
            // One alone may stand without a list.
            Some(one @ Value::Object(_)) => node(one).into_iter().collect(),
            _ => Vec::new(),
        }
    };
    lists.iter().map(facts).find(|facts| !facts.is_empty()).unwrap_or_default()
}

fn fact_of(fact: &str, children: Vec<KeyFact>) -> Option<KeyFact> {
    let fact = fact.split_whitespace().collect::<Vec<_>>().join(" ");
    (!fact.is_empty()).then_some(KeyFact { fact, children })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(response: &str) -> Result<Vec<String>, TreeError> {
        Ok(numbered(&read(response)?).into_iter().map(|fact| format!("{} {}", fact.id, fact.fact)).collect())
    }

    #[test]
    fn trees_are_read_in_the_forms_that_models_write() {
        let expected = ["1 R", "1.1 B", "1.1.1 x", "1.1.2 y"].map(str::to_owned).to_vec();
        for response in [
            r#"{"roots": [{"fact": "R", "branches": [{"fact": "B", "leaves": ["x", "y"]}]}]}"#,
            "Here:\n```json\n[{\"root\": \"R\", \"branches\": [{\"branch\": \"B\", \"leaves\": [{\"leaf\": \"x\"}, \" y \"]}]}]\n```",
            r#"{"tree": {"roots": [{"fact": "R", "children": [{"fact": "B", "children": [{"fact": "x"}, {"fact": "y"}, ""]}]}]}}"#,
            r#"{"fact": "R", "branches": [{"fact": "B", "leaves": ["x", "y"]}]}"#,
            r#"{"roots": {"fact": "R", "leaves": [], "branches": {"fact": "B", "branches": [], "leaves": ["x", "y"]}}}"#,
        ] {
            assert_eq!(lines(response), Ok(expected.clone()), "{response}");
        }
    }

    #[test]
    fn a_fact_that_is_repeated_beside_itself_is_one() {
        let branch = |leaves: &str| format!(r#"{{"fact": "B", "leaves": [{leaves}]}}"#);
        let root = |branches: &str| format!(r#"{{"fact": "R", "branches": [{branches}]}}"#);
        let (one, other) = (root(&branch(r#""x", "x", "y""#)), root(&format!("{}, \"C\"", branch(r#""x", "z""#))));
        let expected = ["1 R", "1.1 B", "1.1.1 x", "1.1.2 y", "1.1.3 z", "1.2 C"].map(str::to_owned).to_vec();
        assert_eq!(lines(&format!(r#"{{"roots": [{one}, {other}]}}"#)), Ok(expected));
    }

    #[test]
    fn a_tree_is_shown_in_the_form_in_which_it_is_asked_for() {
        let response =
            r#"{"roots":[{"fact":"R","branches":[{"fact":"B","leaves":["x","y"]},{"fact":"C","leaves":[]}]}]}"#;
        let roots = read(response).unwrap();
        assert_eq!(as_json(&roots, false), response);
        assert_eq!(
            as_json(&roots, true),
            r#"{"roots":[{"id":"1","fact":"R","branches":[{"id":"1.1","fact":"B","leaves":[{"id":"1.1.1","fact":"x"},{"id":"1.1.2","fact":"y"}]},{"id":"1.2","fact":"C","leaves":[]}]}]}"#
        );
    }

    #[test]
    fn what_is_no_tree_of_three_levels_says_what_is_missing() {
        let problem = |response: &str| lines(response).unwrap_err().to_string();
        assert_eq!(problem("I cannot."), "it holds no JSON object with roots");
        assert_eq!(problem(r#"{"roots": [{"fact": "R""#), "it holds no JSON object with roots");
        assert_eq!(problem("{}"), "the tree has no fact on the level of the root");
        assert_eq!(problem(r#"{"roots": [{"fact": "R"}]}"#), "the tree has no fact on the level of the branch");
        let no_leaf = r#"{"roots": [{"fact": "R", "branches": ["B"]}]}"#;
        assert_eq!(problem(no_leaf), "the tree has no fact on the level of the leaf");
        let deep =
            r#"{"roots": [{"fact": "R", "branches": [{"fact": "B", "leaves": [{"fact": "L", "children": ["D"]}]}]}]}"#;
        assert!(problem(deep).starts_with("the tree is deeper than three levels"));
    }
}
