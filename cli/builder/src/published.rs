//! CorpusQA's output in the layout that its authors publish: a file a domain and set, a line a question with the whole
//! prompt in it (README of github.com/Tongyi-Zhiwen/CorpusQA).

use anyhow::{Context, Result};
use closeread_books::Book;
use closeread_eval::Item;
use closeread_methods::messages;
use closeread_prompts::Prompts;
use closeread_prompts::readers::CorpusQaDocuments;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// The folder of these files.
pub const PUBLISHED: &str = "published";

/// Writes `published/<domain>_<set>.jsonl`; gives the paths relative to `out`. The prompts are ours, with the documents under
/// `# Document k:` and the question under `# Question:`, as `--benchmark corpusqa` reads them.
pub fn write_published(
    out: &Path,
    books: &[Arc<Book>],
    items: &[Item],
    prompts: &Prompts,
    canary: &str,
) -> Result<Vec<String>> {
    let folder = out.join(PUBLISHED);
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let by_id: HashMap<&str, &Arc<Book>> = books.iter().map(|book| (book.id.as_str(), book)).collect();
    let label = |item: &Item, name: &str| item.labels.get(name).cloned().unwrap_or_else(|| "all".to_owned());
    let mut files: BTreeMap<String, Vec<&Item>> = BTreeMap::new();
    for item in items {
        let name = format!("{PUBLISHED}/{}_{}.jsonl", label(item, "domain"), label(item, "length_set"));
        files.entry(name).or_default().push(item);
    }
    for (name, items) in &files {
        let path = out.join(name);
        let named = || format!("cannot write {}", path.display());
        let mut file = BufWriter::new(File::create(&path).with_context(named)?);
        for item in items {
            serde_json::to_writer(&mut file, &row(item, &by_id, prompts, canary)?).with_context(named)?;
            file.write_all(b"\n").with_context(named)?;
        }
        file.flush().with_context(named)?;
    }
    Ok(files.into_keys().collect())
}

fn row(item: &Item, books: &HashMap<&str, &Arc<Book>>, prompts: &Prompts, canary: &str) -> Result<Value> {
    let mut context = String::new();
    for (at, id) in item.documents.iter().enumerate() {
        let book = books.get(id.as_str()).with_context(|| format!("there is no document `{id}`"))?;
        let gap = if at > 0 { "\n\n" } else { "" };
        context += &format!("{gap}# Document {}:\n{}", at + 1, book.text()?.flow().text());
    }
    let prompt = CorpusQaDocuments { context: &context, question: &item.question, options: &[] };
    let messages = messages(&prompt, prompts, "")?;
    let messages: Vec<Value> =
        messages.iter().map(|said| json!({"role": said.role, "content": said.content})).collect();
    let gold = item.answers.first().map_or("", String::as_str);
    let answer = serde_json::from_str(gold).ok().filter(Value::is_array).unwrap_or_else(|| json!(gold));
    let mut row =
        json!({"id": item.id, "prompt": messages, "question": item.question, "answer": answer, "canary": canary});
    for name in ["length_set", "domain", "difficulty"] {
        if let Some(value) = item.labels.get(name) {
            row[name] = json!(value);
        }
    }
    Ok(row)
}
