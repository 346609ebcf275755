//! NarrativeQA: questions on whole books and film scripts.

use super::source::collect::{Collector, base_name, by_name, has_extension, push_new, stem};
use super::source::decoded::text_of;
use super::source::table::{Record, records};
use super::{Adapter, Dataset, Texts};
use closeread_books::html;
use closeread_eval::{InputFile, Item, Task};
use std::collections::{BTreeMap, HashMap};

/// Reads the tables and the stories, which are downloaded apart.
pub const ADAPTER: Adapter = Adapter {
    name: "narrativeqa",
    source: "Kočiský et al. 2018, The NarrativeQA Reading Comprehension Challenge; github.com/google-deepmind/narrativeqa",
    wants: "qaps.csv, documents.csv and the folder with the stories (<document_id>.content)",
    texts: Texts::Files,
    task: Some(Task::Generative),
    labels: &[],
    in_parts: false,
    read,
};

/// Reads one document a story that has questions; one open question a row of `qaps.csv` with both answers.
///
/// Stories are `<document_id>.content` (or `.txt`) in any folder; film scripts are saved as web pages, whose markup is
/// removed. A story that is missing or empty is named once, with the number of its questions. `documents.csv` gives
/// titles and the label `kind`; without it there are none, which is noted. Labels: `set`, `kind`. Item ids are
/// `<document_id>/<number within the story>`.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    let named = |name: &'static str| files.iter().filter(move |file| base_name(file) == name);
    let mut about: HashMap<String, Record> = HashMap::new();
    for file in named("documents.csv") {
        let records = records(file, &["document_id"], out.problems());
        about.extend(records.into_iter().map(|row| (row.text("document_id").to_owned(), row)));
    }
    let is_story = |file: &&InputFile| has_extension(file, &["content", "txt"]);
    let mut stories = by_name(files.iter().filter(is_story), stem);
    let mut n_files = 0;
    for file in named("qaps.csv") {
        n_files += 1;
        if about.is_empty() {
            out.note(file, None, None, "no documents.csv beside it: stories have no title and no kind");
        }
        let mut by_story: BTreeMap<usize, (String, Vec<Record>)> = BTreeMap::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for row in records(file, &["document_id", "question", "answer1"], out.problems()) {
            let story = row.text("document_id").to_owned();
            let n = places.len();
            let place = *places.entry(story.clone()).or_insert(n);
            by_story.entry(place).or_insert_with(|| (story, Vec::new())).1.push(row);
        }
        for (story, questions) in by_story.into_values() {
            let text = stories.get_mut(story.as_str()).and_then(|files| out.first(files));
            add_story(&mut out, file, &story, &questions, text, about.get(&story));
        }
    }
    if n_files == 0 {
        out.missing(ADAPTER.name, format!("no qaps.csv: expected {}", ADAPTER.wants));
    }
    out.finish()
}

fn add_story(
    out: &mut Collector,
    file: &InputFile,
    story: &str,
    questions: &[Record],
    content: Option<&InputFile>,
    about: Option<&Record>,
) {
    let n = questions.len();
    let line = questions.first().map(|row| row.line);
    let text = match content.map(|content| (content, story_text(content, out))) {
        Some((_, Ok(text))) => text,
        Some((content, Err(why))) => {
            let message = format!("no story for {n} questions: {why}; download it again");
            return out.dropped(content, None, Some(story), message);
        }
        None => {
            let message = format!("no story for {n} questions: expected {story}.content among the files");
            return out.dropped(file, line, Some(story), message);
        }
    };
    let of_story = |column: &str| about.map_or("", |row| row.text(column)).to_owned();
    let document = out.document(story, &of_story("wiki_title"), "en", text);
    for (n, row) in questions.iter().enumerate() {
        let id = format!("{story}/{}", n + 1);
        let mut item = Item::new(&id, &document, row.text("question"), Task::Generative)
            .label("set", row.text("set"))
            .label("kind", &of_story("kind"));
        push_new(&mut item.answers, row.text("answer1"));
        push_new(&mut item.answers, row.text("answer2"));
        if item.question.is_empty() {
            out.dropped(file, Some(row.line), Some(&id), "no question: expected text in the column `question`");
        } else if item.answers.is_empty() {
            out.dropped(file, Some(row.line), Some(&id), "no gold answer: expected text in `answer1` or `answer2`");
        } else {
            out.item(file, Some(row.line), item);
        }
    }
}

fn story_text(content: &InputFile, out: &mut Collector) -> Result<String, String> {
    let text = html::without_markup(&text_of(content, out).map_err(|error| error.to_string())?);
    if text.trim().is_empty() { Err("the page has no text".into()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, text};
    use super::*;

    const QAPS: &str = "document_id,set,question,answer1,answer2,question_tokenized,answer1_tokenized,answer2_tokenized\n\
        a1,train,Who came?,Ana,Ana did,,,\nb2,test,Who slept?,Bo,Bo,,,\na1,train,,Ana,,,,\na1,train,Why?,,,,,\nc3,valid,Who?,Cy,,,,\nc3,valid,Why?,Cy,,,,\nd4,valid,Who?,Di,,,,\n";
    const DOCUMENTS: &str =
        "document_id,set,kind,story_url,wiki_title\na1,train,gutenberg,x,The Mill\nb2,test,movie,x,Bo\n";

    #[test]
    fn stories_and_questions_are_joined_and_gaps_are_named() {
        let dataset = read(&[
            file("qaps.csv", QAPS),
            file("documents.csv", DOCUMENTS),
            file("tmp/a1.content", "Ana\r\ncame."),
            file("tmp/b2.content", "<html><pre>BO\n  sleeps\n</pre></html>"),
            file("tmp/d4.content", "\n"),
            file("tmp/unused.content", "x"),
        ]);
        check(
            &dataset,
            2,
            &[
                "qaps.csv:4 (a1/2): no question: expected text in the column `question` [left out]",
                "qaps.csv:5 (a1/3): no gold answer: expected text in `answer1` or `answer2` [left out]",
                "qaps.csv:6 (c3): no story for 2 questions: expected c3.content among the files [left out]",
                "tmp/d4.content (d4): no story for 1 questions: the file is empty (1 bytes, none of them text): expected a book's text; download it again [left out]",
            ],
        );
        assert_eq!((text(&dataset, 0), dataset.documents[0].title.as_str()), ("Ana\r\ncame.", "The Mill"));
        assert_eq!(text(&dataset, 1), "BO\n  sleeps");
        let item = &dataset.items[0];
        assert_eq!(
            (item.id.as_str(), item.answers.as_slice()),
            ("a1/1", ["Ana".to_owned(), "Ana did".to_owned()].as_slice())
        );
        assert_eq!((item.labels["kind"].as_str(), item.labels["set"].as_str()), ("gutenberg", "train"));
        assert_eq!(dataset.items[1].answers, ["Bo"]);
    }

    #[test]
    fn titles_may_be_missing_but_questions_may_not() {
        check(
            &read(&[file("qaps.csv", "document_id,question,answer1\na,Who?,Ana\n"), file("a.txt", "Ana.")]),
            1,
            &["qaps.csv: no documents.csv beside it: stories have no title and no kind"],
        );
        check(
            &read(&[]),
            0,
            &[
                "narrativeqa: no qaps.csv: expected qaps.csv, documents.csv and the folder with the stories (<document_id>.content) [left out]",
            ],
        );
    }
}
