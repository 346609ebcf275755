//! FairytaleQA: questions by experts on fairy tales, with the sections that hold the answer.

use super::source::collect::{Collector, base_name, by_name, push_new};
use super::source::table::{Record, records};
use super::{Adapter, Dataset, Texts};
use closeread_eval::rows::WrongRow;
use closeread_eval::{Evidence, InputFile, Item, Task};
use closeread_text::Span;
use std::collections::{HashMap, HashSet};

/// Reads `<tale>-questions.csv` and `<tale>-story.csv` in any folders.
pub const ADAPTER: Adapter = Adapter {
    name: "fairytaleqa",
    source: "Xu et al. 2022, Fantastic Questions and Where to Find Them; github.com/uci-soe/FairytaleQAData",
    wants: "the folders with <tale>-questions.csv and <tale>-story.csv",
    texts: Texts::Fields,
    task: Some(Task::Generative),
    labels: &[],
    in_parts: false,
    read,
};

/// Reads one document a tale: its sections, stripped and with CRLF and lone CR as LF, joined by a blank line; the
/// evidence of a question is the sections that `cor_section` names.
///
/// Gold answers are those of both annotators: `answer1` and `answer4` first, then the others, each once. Labels:
/// `local-or-sum`, `attribute`, `attribute2`, `ex-or-im`. Item ids are `<tale>/<question_id>`.
pub fn read(files: &[InputFile]) -> Dataset {
    let mut out = Collector::default();
    let is_story = |file: &&InputFile| tale(file, "-story.csv").is_some();
    let mut stories = by_name(files.iter().filter(is_story), |file| tale(file, "-story.csv").unwrap_or_default());
    let mut seen: HashMap<&str, &InputFile> = HashMap::new();
    for file in files {
        let Some(tale) = tale(file, "-questions.csv") else { continue };
        if let Some(first) = seen.insert(tale, file) {
            out.dropped(
                file,
                None,
                None,
                format!("the questions of this tale are also in {}: give one of them", first.name),
            );
            continue;
        }
        let questions = records(file, &["question_id", "question", "cor_section", "answer1"], out.problems());
        let story = stories.get_mut(tale).and_then(|files| out.first(files));
        let story = story.and_then(|story| Story::read(story, &mut out));
        match story {
            Some(story) => add(&mut out, tale, story, file, &questions),
            None => out.dropped(
                file,
                None,
                None,
                format!("no text for {} questions: expected {tale}-story.csv among the files", questions.len()),
            ),
        }
    }
    if seen.is_empty() {
        out.missing("fairytaleqa", format!("no questions: expected {}", ADAPTER.wants));
    }
    out.finish()
}

fn tale<'f>(file: &'f InputFile, ending: &str) -> Option<&'f str> {
    base_name(file).strip_suffix(ending)
}

fn add(out: &mut Collector, tale: &str, story: Story, file: &InputFile, questions: &[Record]) {
    let document = out.document(tale, &tale.replace('-', " "), "en", story.text);
    let mut ids = HashSet::new();
    for row in questions {
        let number = row.text("question_id");
        let id = format!("{tale}/{}", if number.is_empty() { row.line.to_string() } else { number.to_owned() });
        if row.text("question").is_empty() {
            out.dropped(file, Some(row.line), Some(&id), "no question: expected text in the column `question`");
            continue;
        }
        let mut item = Item::new(&id, &document, row.text("question"), Task::Generative)
            .label("local-or-sum", row.text("local-or-sum"))
            .label("attribute", row.text("attribute1"))
            .label("attribute2", row.text("attribute2"))
            .label("ex-or-im", row.text("ex-or-im1"));
        for column in ["answer1", "answer4", "answer2", "answer3", "answer5", "answer6"] {
            push_new(&mut item.answers, row.text(column));
        }
        if item.answers.is_empty() {
            out.dropped(file, Some(row.line), Some(&id), "no gold answer: expected text in `answer1` to `answer6`");
            continue;
        }
        if !ids.insert(number) {
            out.note(file, Some(row.line), Some(&id), "a second question with this question_id");
        }
        match section_numbers(row.text("cor_section")) {
            Ok(numbers) => {
                for number in numbers {
                    match story.sections.get(&number) {
                        Some(span) => item.evidence.push(Evidence {
                            document: None,
                            quote: String::new(),
                            start: Some(span.start),
                            end: Some(span.end),
                        }),
                        None => out.note(
                            file,
                            Some(row.line),
                            Some(&id),
                            format!("section {number} is not in {tale}-story.csv: it is no evidence"),
                        ),
                    }
                }
            }
            Err(why) => out.note(file, Some(row.line), Some(&id), why),
        }
        out.item(file, Some(row.line), item);
    }
}

/// The numbers of `6`, `6,7`, `6, 7` or, where a spreadsheet has been at work, `6.0`; each once.
fn section_numbers(field: &str) -> Result<Vec<u32>, WrongRow> {
    let mut numbers = Vec::new();
    for part in field.split([',', ';', ' ']).filter(|part| !part.is_empty()) {
        let number = section_number(part);
        let number = number.ok_or_else(|| {
            format!("cor_section `{field}`: expected section numbers like `6` or `6,7`; the question has no evidence")
        })?;
        if !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    if numbers.is_empty() {
        return Err("cor_section is empty: the question has no evidence".into());
    }
    Ok(numbers)
}

fn section_number(field: &str) -> Option<u32> {
    field.strip_suffix(".0").unwrap_or(field).parse().ok()
}

struct Story {
    text: String,
    sections: HashMap<u32, Span>,
}

impl Story {
    fn read(file: &InputFile, out: &mut Collector) -> Option<Self> {
        let mut story = Self { text: String::new(), sections: HashMap::new() };
        for row in records(file, &["section", "text"], out.problems()) {
            let text = row.text("text").replace("\r\n", "\n").replace('\r', "\n");
            let Some(number) = section_number(row.text("section")) else {
                let found = row.text("section");
                out.dropped(file, Some(row.line), None, format!("section `{found}`: expected a number from 1"));
                continue;
            };
            if text.is_empty() {
                out.dropped(file, Some(row.line), None, format!("section {number} is empty: expected text"));
                continue;
            }
            if !story.text.is_empty() {
                story.text.push_str("\n\n");
            }
            let span = Span::new(story.text.len(), story.text.len() + text.len());
            story.text.push_str(&text);
            if story.sections.contains_key(&number) {
                out.note(file, Some(row.line), None, format!("a second section {number}: evidence means the first"));
            }
            story.sections.entry(number).or_insert(span);
        }
        (!story.text.is_empty()).then_some(story)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, file, text};
    use super::*;

    const HEADER: &str = "question_id,local-or-sum,cor_section,attribute1,attribute2,question,ex-or-im1,answer1,answer2,answer3,ex-or-im2,answer4,answer5,answer6\n";

    #[test]
    fn sections_become_the_text_and_the_evidence() {
        let story = "section,text\n1,\" One.\rTwo.\r\n\"\n2,Three.\n3,Four.\n";
        let questions = format!(
            "{HEADER}1,summary,\"1, 3\",action,setting,\"Who, then?\",explicit,Ana,,,implicit,\"Ana, she\",Ana,Bo\n"
        );
        let dataset = read(&[file("q/mill-questions.csv", &questions), file("s/mill-story.csv", story)]);
        assert!(dataset.problems.is_empty(), "{:?}", dataset.problems);
        assert_eq!(text(&dataset, 0), "One.\nTwo.\n\nThree.\n\nFour.");
        let item = &dataset.items[0];
        assert_eq!((item.id.as_str(), item.question.as_str()), ("mill/1", "Who, then?"));
        assert_eq!(item.answers, ["Ana", "Ana, she", "Bo"]);
        assert_eq!(item.labels["attribute2"], "setting");
        let spans: Vec<_> = item.evidence.iter().map(|e| (e.start.unwrap(), e.end.unwrap())).collect();
        assert_eq!(spans, [(0, 9), (19, 24)]);
    }

    #[test]
    fn wrong_rows_are_named() {
        let story = "section,text\n1,One.\nx,Two.\n";
        let questions = format!(
            "{HEADER}1,local,1,action,,,explicit,Ana,,,explicit,Ana,,\n2,local,9,action,,Who?,explicit,Ana,,,,,,\n3,local,,action,,Who?,explicit,,,,,,,\n4,local\n5,local,a,action,,Who?,explicit,Ana,,,,,,\n"
        );
        let files = [
            file("mill-questions.csv", &questions),
            file("mill-story.csv", story),
            file("crow-questions.csv", &format!("{HEADER}1,local,1,action,,Who?,explicit,Ana,,,,,,\n")),
        ];
        check(
            &read(&files),
            2,
            &[
                "mill-questions.csv:5: 2 fields: expected 14, as in the header [left out]",
                "mill-story.csv:3: section `x`: expected a number from 1 [left out]",
                "mill-questions.csv:2 (mill/1): no question: expected text in the column `question` [left out]",
                "mill-questions.csv:3 (mill/2): section 9 is not in mill-story.csv: it is no evidence",
                "mill-questions.csv:4 (mill/3): no gold answer: expected text in `answer1` to `answer6` [left out]",
                "mill-questions.csv:6 (mill/5): cor_section `a`: expected section numbers like `6` or `6,7`; the question has no evidence",
                "crow-questions.csv: no text for 1 questions: expected crow-story.csv among the files [left out]",
            ],
        );
        check(
            &read(&[]),
            0,
            &[
                "fairytaleqa: no questions: expected the folders with <tale>-questions.csv and <tale>-story.csv [left out]",
            ],
        );
    }
}
