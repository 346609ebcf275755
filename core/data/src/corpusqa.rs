//! CorpusQA: questions on hundreds of documents at once.

use super::source::collect::{Collector, language_of, stem, words};
use super::{Adapter, Dataset, LabelValues, Texts};
use closeread_eval::answer::corpusqa::domain;
use closeread_eval::published::{Part, Published};
use closeread_eval::rows::{Row, WrongRow, rows, scalar};
use closeread_eval::{InputFile, Item, Task};
use closeread_text::hash::name_hash;
use serde_json::Value;

/// Reads the prompt files that `src/infer.py` asks for.
///
/// Layout: README.md of github.com/Tongyi-Zhiwen/CorpusQA@45b31ceaf0ff and `src/infer.py` @03a979eba3a6; the headings
/// inside a prompt are those of the paper's appendix C.
pub const ADAPTER: Adapter = Adapter {
    name: "corpusqa",
    source: "CorpusQA; github.com/Tongyi-Zhiwen/CorpusQA@45b31ceaf0ff",
    wants: "JSON Lines with id, prompt, question and answer, such as financial_en_set1.jsonl; or a folder with documents.jsonl and items.jsonl, as `closeread build corpusqa` makes",
    texts: Texts::Fields,
    task: Some(Task::Generative),
    labels: &[LabelValues { name: "difficulty", values: &["easy", "medium", "hard"] }],
    in_parts: true,
    read,
};

/// Beginning of a document in a prompt, before its number.
const DOCUMENT: &str = "# Document ";
/// Beginning of the part behind the documents.
const QUESTION: &str = "# Question:";

/// Reads one open question a row; its documents are the parts of the prompt under `# Document k:`, each stored once by
/// content, under the id `doc-<hash>`, however many questions are asked about it.
///
/// Headings count from 1 without a gap: a line of that form inside a document is part of it. The instructions behind
/// `# Question:` are not read; the methods here bring their own prompts. An item keeps the row's own messages as
/// [`Published`], where they are one of the user and at most one of the system before it: `prompt=published` sends them.
/// A prompt without headings is one document, which is noted. A gold answer that is a list, as it is for questions with several or no answers, is kept as JSON.
///
/// Labels: `domain`, the beginning of the id where it is one of the paper's, or as the row says; `length_set`, from the row or the file's name (`set1` to `set4`, or
/// `128K`, `1M`, `4M`, `10M`); `difficulty` (or `level`), where a row has it. Item ids are those of the rows.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    for file in out.files_with(ADAPTER.name, ADAPTER.wants, files, &["jsonl", "json"], "prompt") {
        let mut n_undivided = 0;
        for row in rows(file) {
            let Some(row) = out.keep(row) else { continue };
            let (line, id) = (row.line, row.text("id"));
            match add(&mut out, file, row) {
                Ok(is_divided) => n_undivided += usize::from(!is_divided),
                Err(why) => out.dropped(file, Some(line), id.as_deref(), why),
            }
        }
        if n_undivided > 0 {
            let message = format!(
                "{n_undivided} prompts have no line `{DOCUMENT}1:`: what stands before the question is one document"
            );
            out.note(file, None, None, message);
        }
    }
    out.finish()
}

/// Adds a row; false if its prompt was not divided into documents.
fn add(out: &mut Collector, file: &InputFile, mut row: Row) -> Result<bool, WrongRow> {
    let id = row.text("id").ok_or("no `id`: the row is skipped, as by the reference")?;
    let question = row.text("question").ok_or("no `question`: expected text")?;
    let answer = match row.fields.get("answer") {
        Some(list @ Value::Array(_)) => list.to_string(),
        Some(value) => scalar(value).ok_or("no `answer`: expected a text, a number or a list")?,
        None => return Err("no `answer`: expected a text, a number or a list".into()),
    };
    let prompt = row.fields.shift_remove("prompt");
    let system = prompt.as_ref().and_then(system_of);
    let prompt = prompt.and_then(text_of);
    let prompt = prompt.ok_or("no `prompt`: expected a text, or messages with `role` and `content`")?;
    let Parts { documents, is_divided } = Parts::of(&prompt, &question);
    if documents.is_empty() {
        return Err("the prompt holds no document: expected text before the question".into());
    }
    let domain = domain(&id).map(str::to_owned).or(row.text("domain")).unwrap_or_default();
    let mut item = Item::new(&id, "", question, Task::Generative)
        .label("domain", &domain)
        .label("length_set", &row.text("length_set").or(row.text("set")).or(length_set(file)).unwrap_or_default())
        .label("difficulty", &row.text("difficulty").or(row.text("level")).unwrap_or_default().to_lowercase());
    item.documents.clear();
    if let Some(system) = system {
        Published { system, user: by_reference(&prompt, &documents) }.put(&mut item);
    }
    for text in documents {
        let language = match domain.rsplit_once('_') {
            Some((_, language @ ("zh" | "en"))) => language,
            _ => language_of(text),
        };
        let document = format!("doc-{}", name_hash(text));
        item.documents.push(out.document(&document, "", language, text.to_owned()));
    }
    item.answers = vec![answer];
    out.item(file, Some(row.line), item);
    Ok(is_divided)
}

/// Returns the system's message before the one message of the user, empty in most rows; `None` for other dialogues.
fn system_of(prompt: &Value) -> Option<String> {
    let Value::Array(messages) = prompt else { return prompt.is_string().then(String::new) };
    let said = |message: &Value, role: &str| match message.get("role")?.as_str()? == role {
        true => message.get("content")?.as_str().map(str::to_owned),
        false => None,
    };
    match messages.as_slice() {
        [user] => said(user, "user").map(|_| String::new()),
        [system, user] => said(user, "user").and_then(|_| said(system, "system")),
        _ => None,
    }
}

/// A prompt with its documents, which are stretches of it, by reference.
fn by_reference(prompt: &str, documents: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut end = 0;
    let words = |words: &str| (!words.is_empty()).then(|| Part::Words(words.to_owned()));
    for (number, document) in documents.iter().enumerate() {
        let start = document.as_ptr() as usize - prompt.as_ptr() as usize;
        parts.extend(words(&prompt[end..start]));
        parts.push(Part::Document(number));
        end = start + document.len();
    }
    parts.extend(words(&prompt[end..]));
    parts
}

/// The text of a prompt: itself, or what its messages say but for those of the system, joined by a line break.
fn text_of(prompt: Value) -> Option<String> {
    let parts = match prompt {
        Value::String(text) => vec![text],
        Value::Array(messages) => {
            let said = messages.into_iter().filter(|message| message.get("role") != Some(&Value::from("system")));
            said.filter_map(|mut message| content(message.get_mut("content")?.take())).collect()
        }
        _ => Vec::new(),
    };
    let text = parts.join("\n");
    (!text.trim().is_empty()).then_some(text)
}

/// The content of a message: a text, or parts of which those with a text count.
fn content(content: Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        _ => None,
    }
}

/// A prompt, taken apart into its documents.
struct Parts<'p> {
    documents: Vec<&'p str>,
    is_divided: bool,
}

impl<'p> Parts<'p> {
    fn of(prompt: &'p str, question: &str) -> Self {
        // The question comes last; what looks like its heading before is part of a document.
        let asked = line_starts(prompt).rfind(|at| prompt[*at..].starts_with(QUESTION));
        let end = asked.or_else(|| prompt.rfind(question)).unwrap_or(prompt.len());
        let body = &prompt[..end];
        let mut starts: Vec<(usize, usize)> = Vec::new();
        for at in line_starts(body) {
            let heading = format!("{DOCUMENT}{}:", starts.len() + 1);
            if body[at..].starts_with(&heading) {
                starts.push((at, at + heading.len()));
            }
        }
        let is_divided = !starts.is_empty();
        let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let documents: Vec<&str> = match is_divided {
            true => starts.iter().zip(ends).map(|((_, start), end)| body[*start..end].trim()).collect(),
            false => vec![body.trim()],
        };
        Self { documents: documents.into_iter().filter(|text| !text.is_empty()).collect(), is_divided }
    }
}

/// Returns the offsets where lines begin.
fn line_starts(text: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1))
}

/// The length set that a file's name holds as a word: `financial_en_set1`, `education_128k`.
fn length_set(file: &InputFile) -> Option<String> {
    words(stem(file)).into_iter().find_map(|word| match word.as_str() {
        "set1" | "set2" | "set3" | "set4" => Some(word),
        "128k" | "1m" | "4m" | "10m" => Some(word.to_uppercase()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, text};
    use super::*;
    use serde_json::json;

    const CORPUS: &str = "Read the reports.\n\n# Document 1:\nThe mill has 3 rooms.\n\n# Document 1:\nquoted\n\n\
                          # Document 2:\n# Question: what is a mill?\nThe barn has 5 rooms.\n";

    fn row(id: &str, prompt: Value, answer: Value) -> String {
        json!({"id": id, "prompt": prompt, "question": "Which has most rooms?", "answer": answer}).to_string()
    }

    #[test]
    fn a_prompt_is_taken_apart_into_documents_that_are_stored_once() {
        let prompt = format!("{CORPUS}\n# Question:\nWhich has most rooms?\n\nThe answer is: xxx");
        let messages = json!([{"role": "system", "content": "Be exact."}, {"role": "user", "content": prompt}]);
        let parts = json!([{"role": "user", "content": [{"type": "text", "text": prompt}]}]);
        let rows = [
            row("financial_zh_1", json!(prompt), json!("the barn")),
            row("education_en_2", messages, json!(["the barn", "the mill"])),
            row("other_3", parts, json!([])),
        ];
        let dataset = read(&[file("data/mixed_SET2.jsonl", &rows.join("\n"))]);
        check(&dataset, 3, &[]);
        assert_eq!(text(&dataset, 0), "The mill has 3 rooms.\n\n# Document 1:\nquoted");
        assert_eq!(text(&dataset, 1), "# Question: what is a mill?\nThe barn has 5 rooms.");
        assert_eq!(dataset.documents.len(), 2);
        let answers: Vec<&str> = dataset.items.iter().map(|item| item.answers[0].as_str()).collect();
        assert_eq!(answers, ["the barn", r#"["the barn","the mill"]"#, "[]"]);
        let first = &dataset.items[0];
        assert_eq!(first.documents.len(), 2);
        assert_eq!((first.labels["domain"].as_str(), first.labels["length_set"].as_str()), ("financial_zh", "set2"));
        assert_eq!(dataset.items[2].labels.get("domain"), None);
        let published = |number: usize| {
            let item = &dataset.items[number];
            let Published { system, user } = Published::of(item)?;
            let text = |id: &str| text(&dataset, dataset.documents.iter().position(|d| d.id == id).unwrap());
            let said = user.iter().map(|part| match part {
                Part::Words(words) => words.as_str(),
                Part::Document(number) => text(&item.documents[*number]),
            });
            Some((system, said.collect::<String>()))
        };
        assert_eq!(published(0), Some((String::new(), prompt.clone())));
        assert_eq!(published(1), Some(("Be exact.".to_owned(), prompt)));
        assert_eq!(published(2), None, "a message in parts is not one text");
    }

    #[test]
    fn a_prompt_without_headings_is_one_document() {
        let prompt = json!("The mill has 3 rooms. Which has most rooms? Answer in one word.");
        let dataset = read(&[file("real_estate_en_128k.jsonl", &row("real_estate_en_1", prompt, json!(3)))]);
        check(
            &dataset,
            1,
            &[
                "real_estate_en_128k.jsonl: 1 prompts have no line `# Document 1:`: what stands before the question is one document",
            ],
        );
        assert_eq!(text(&dataset, 0), "The mill has 3 rooms.");
        assert_eq!(
            (dataset.items[0].labels["length_set"].as_str(), dataset.items[0].answers[0].as_str()),
            ("128K", "3")
        );
    }

    #[test]
    fn a_domain_that_is_none_of_the_papers_is_the_rows() {
        let row = |id: &str| {
            let prompt = format!("# Document 1:\n{id}：河边的磨坊有三个房间。\n\n# Question:\n?");
            json!({"id": id, "prompt": prompt, "question": "?", "answer": 3, "domain": "mills"}).to_string()
        };
        let dataset = read(&[file("x.jsonl", &[row("m_1"), row("education_en_1")].join("\n"))]);
        let domains: Vec<&str> = dataset.items.iter().map(|item| item.labels["domain"].as_str()).collect();
        assert_eq!((domains, dataset.documents[0].language.as_deref()), (vec!["mills", "education_en"], Some("zh")));
    }

    #[test]
    fn wrong_rows_are_named() {
        let rows = [
            row("", json!(CORPUS), json!("x")),
            json!({"id": "a", "prompt": CORPUS, "answer": "x"}).to_string(),
            row("b", json!(CORPUS), json!(" ")),
            row("c", json!([{"role": "user"}]), json!("x")),
            row("d", json!("Which has most rooms?"), json!("x")),
        ];
        check(
            &read(&[file("x.jsonl", &rows.join("\n"))]),
            0,
            &[
                "x.jsonl:1: no `id`: the row is skipped, as by the reference [left out]",
                "x.jsonl:2 (a): no `question`: expected text [left out]",
                "x.jsonl:3 (b): no `answer`: expected a text, a number or a list [left out]",
                "x.jsonl:4 (c): no `prompt`: expected a text, or messages with `role` and `content` [left out]",
                "x.jsonl:5 (d): the prompt holds no document: expected text before the question [left out]",
            ],
        );
    }
}
