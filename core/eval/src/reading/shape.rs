//! The form of a response as a server can be held to it, and back: what a prompt expects decides it.

use super::{Expected, ExtractiveInput};
use crate::Task;
use crate::answer::tag::NONE;
use crate::answer::{Form, after_ended_reasoning};
use serde_json::{Map, Value, json};

/// The shape of a response: words that stand in it as they are, and places for what the model says.
///
/// A server is held to it by a JSON schema, whose response [`Shape::render`] puts into the form that the prompt asks for, or by
/// a grammar or a pattern of that form itself. Either way the same parser reads the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// The alternatives, of which a response is one, each with its name.
    alternatives: Vec<(&'static str, Vec<Part>)>,
}

/// A part of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Words(String),
    Place { name: String, content: Content },
}

/// The content of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// A line of reasoning before an answer.
    Said,
    /// An answer of some words, on one line.
    Line,
    /// An answer that may be long, on one line: a list, sentences of the book, a summary.
    Text,
    /// One of these words.
    OneOf(Vec<String>),
    /// Whole numbers below `below`, at most `at_most` of them; none is `STOP`.
    Numbers { at_most: usize, below: usize },
}

/// Word with which a reader of pages asks for none.
const STOP: &str = "STOP";
/// Words before an answer: enough to think aloud, too few to get lost.
const SAID: &str = "said ::= [^\\[\\]{}\\n]{0,240}";
/// An answer of some words, between tags or braces or on a line of its own.
const WORDS: &str = "words ::= [^<>{}$\\n]{1,160}";
/// An answer of any length on a line of its own: to cut it would change it.
const TEXT: &str = "text ::= [^<>{}\\n]+";
/// The field that says which alternative was chosen.
const CHOSEN: &str = "kind";

fn words(words: &str) -> Part {
    Part::Words(words.to_owned())
}

fn place(name: &str, content: Content) -> Part {
    Part::Place { name: name.to_owned(), content }
}

fn said() -> Part {
    place("explanation", Content::Said)
}

impl ExtractiveInput {
    /// The shape of the response that is asked for; `None` where it is free text. No paper holds its readers to one: what is
    /// so answered is not comparable with what is not.
    pub fn shape(&self) -> Option<Shape> {
        let one = |parts: Vec<Part>| Some(Shape { alternatives: vec![("answer", parts)] });
        match self.expected {
            Expected::Answer(form) => one(self.answer(form)?),
            Expected::Turn { must_search } => {
                let answer = if self.task == Task::Summary { Content::Text } else { Content::Line };
                let answer = self.options(0, 0).unwrap_or(answer);
                let block = |tag: &'static str| {
                    let content = if tag == "answer" { answer.clone() } else { Content::Line };
                    // A search and an answer share their place, so that a schema has one.
                    let content = if must_search || tag == "query" { Content::Line } else { content };
                    (tag, vec![words(&format!("<{tag}>\n")), place("text", content), words(&format!("\n</{tag}>"))])
                };
                let query = block("query");
                let alternatives = if must_search { vec![query] } else { vec![query, block("answer")] };
                Some(Shape { alternatives })
            }
            Expected::Break if !self.options.is_empty() => {
                one(vec![words("Break point: "), place("label", Content::OneOf(self.options.clone()))])
            }
            Expected::Pages(at_most) if at_most > 0 && !self.context.is_empty() => {
                let pages = Content::Numbers { at_most, below: self.context.len() };
                one(vec![words("I want to look up Page ["), place("pages", pages), words("]")])
            }
            Expected::Break | Expected::Pages(_) | Expected::Memory | Expected::Gist | Expected::Node => None,
        }
    }

    fn answer(&self, form: Form) -> Option<Vec<Part>> {
        let is_choice = self.task == Task::Choice;
        let by_number = |first: usize| self.options(0, first);
        let short = || by_number(0).unwrap_or(Content::Line);
        let by_letter = || {
            let letters = ('A'..='Z').take(self.options.len()).map(String::from).collect();
            if is_choice { Content::OneOf(letters) } else { Content::Text }
        };
        Some(match form {
            Form::Marked | Form::FirstMarked => {
                vec![said(), words(" [["), place("option", by_number(1)?), words("]]")]
            }
            Form::Lettered if !is_choice => return None,
            Form::Lettered => vec![words("Answer: ("), place("option", by_letter()), words(")")],
            Form::Tags | Form::TagsOrNone => {
                let mut content = short();
                if let (Form::TagsOrNone, Content::OneOf(numbers)) = (form, &mut content) {
                    numbers.push(NONE.to_owned());
                }
                vec![words("<answer>\n"), place("answer", content), words("\n</answer>")]
            }
            Form::Announced => {
                vec![said(), words("\nThe answer is: "), place("result", by_number(0).unwrap_or(Content::Text))]
            }
            Form::Boxed | Form::BoxedOrAnnounced if self.task == Task::Summary => return None,
            Form::Boxed | Form::BoxedOrAnnounced => {
                vec![said(), words("\n\\boxed{"), place("result", by_letter()), words("}")]
            }
            Form::Lines | Form::EvidencedLines => {
                let of_question = |n: usize| {
                    let start = if n == 0 { String::new() } else { "\n".to_owned() };
                    let content = self.options(n, 0).unwrap_or(Content::Line);
                    let answer = [words(&format!("{start}Answer{n}: ")), place(&format!("answer{n}"), content)];
                    let evidence = [words("$ "), place(&format!("evidence{n}"), Content::Text)];
                    answer.into_iter().chain(evidence.into_iter().filter(|_| form == Form::EvidencedLines))
                };
                (0..=self.further.len()).flat_map(of_question).collect()
            }
        })
    }

    /// The numbers of the options of a question of the call, counted from `first`; `None` if it has none.
    fn options(&self, question: usize, first: usize) -> Option<Content> {
        let options = if question == 0 { &self.options } else { &self.further[question - 1].options };
        let numbers = (first..first + options.len()).map(|number| number.to_string());
        (self.task == Task::Choice && !options.is_empty()).then(|| Content::OneOf(numbers.collect()))
    }
}

impl Shape {
    /// A JSON schema of an object with a field a place, all of them required and no other. An explanation comes
    /// before what it explains, by alphabet as well, for servers that order fields so.
    pub fn schema(&self) -> Value {
        let mut fields = Map::new();
        if self.alternatives.len() > 1 {
            let names: Vec<&str> = self.alternatives.iter().map(|(name, _)| *name).collect();
            fields.insert(CHOSEN.to_owned(), json!({ "type": "string", "enum": names }));
        }
        for part in self.alternatives.iter().flat_map(|(_, parts)| parts) {
            let Part::Place { name, content } = part else { continue };
            let schema = match content {
                Content::OneOf(_) if self.alternatives.len() > 1 => json!({ "type": "string" }),
                Content::Said | Content::Line | Content::Text => json!({ "type": "string" }),
                Content::OneOf(words) => json!({ "type": "string", "enum": words }),
                Content::Numbers { .. } => json!({ "type": "array", "items": { "type": "integer" } }),
            };
            fields.entry(name).or_insert(schema);
        }
        let required: Vec<&String> = fields.keys().collect();
        json!({ "type": "object", "properties": fields, "required": required, "additionalProperties": false })
    }

    /// A response by the schema in the form that its prompt asks for. What is no such object stays as it is, and so does
    /// reasoning before one.
    pub fn render(&self, response: &str) -> String {
        let said = after_ended_reasoning(response);
        let reasoning = response.strip_suffix(said).unwrap_or_default();
        self.rendered(said).map_or_else(|| response.to_owned(), |text| format!("{reasoning}{text}"))
    }

    fn rendered(&self, response: &str) -> Option<String> {
        let said: Value = serde_json::from_str(response.trim()).ok()?;
        let chosen = said.get(CHOSEN).and_then(Value::as_str);
        let (_, parts) = self.alternatives.iter().find(|(name, _)| chosen.is_none_or(|chosen| chosen == *name))?;
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Words(words) => text.push_str(words),
                Part::Place { name, content } => match (content, said.get(name)?) {
                    (Content::Said | Content::Line | Content::Text | Content::OneOf(_), Value::String(said)) => {
                        text.push_str(&said.split_whitespace().collect::<Vec<_>>().join(" "));
                    }
                    (Content::Numbers { .. }, Value::Array(said)) if said.is_empty() => return Some(STOP.to_owned()),
                    (Content::Numbers { at_most, .. }, Value::Array(said)) => {
                        let numbers: Vec<String> =
                            said.iter().filter_map(Value::as_u64).map(|n| n.to_string()).collect();
                        text.push_str(&numbers[..numbers.len().min(*at_most)].join(", "));
                    }
                    _ => return None,
                },
            }
        }
        Some(text)
    }

    /// A grammar of the form in GBNF, which llama.cpp and wllama read.
    pub fn grammar(&self) -> String {
        let one_of = |words: &[String]| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" | ");
        let part = |part: &Part| match part {
            Part::Words(words) => quoted(words),
            Part::Place { content, .. } => match content {
                Content::Said => "said".to_owned(),
                Content::Line => "words".to_owned(),
                Content::Text => "text".to_owned(),
                Content::OneOf(words) => format!("({})", one_of(words)),
                Content::Numbers { at_most, .. } => format!("page (\", \" page){{0,{}}}", at_most - 1),
            },
        };
        let of = |parts: &[Part]| parts.iter().map(part).collect::<Vec<_>>().join(" ");
        let mut root: Vec<String> = self.alternatives.iter().map(|(_, parts)| of(parts)).collect();
        let mut rules = Vec::new();
        for place in self.alternatives.iter().flat_map(|(_, parts)| parts) {
            let rule = match place {
                Part::Place { content: Content::Said, .. } => SAID.to_owned(),
                Part::Place { content: Content::Line, .. } => WORDS.to_owned(),
                Part::Place { content: Content::Text, .. } => TEXT.to_owned(),
                Part::Place { content: Content::Numbers { below, .. }, .. } => {
                    root.push(quoted(STOP));
                    let pages: Vec<String> = (0..*below).map(|page| page.to_string()).collect();
                    format!("page ::= {}", one_of(&pages))
                }
                _ => continue,
            };
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules.insert(0, format!("root ::= {}", root.join(" | ")));
        rules.join("\n")
    }

    /// A pattern of the form, which vLLM reads.
    pub fn pattern(&self) -> String {
        let escaped = |text: &str| {
            text.chars().fold(String::new(), |mut escaped, c| {
                match c {
                    '\n' => escaped.push_str("\\n"),
                    c if c.is_alphanumeric() || matches!(c, ' ' | ':' | ',' | '<' | '>' | '/') => escaped.push(c),
                    c => escaped.extend(['\\', c]),
                }
                escaped
            })
        };
        let part = |part: &Part| match part {
            Part::Words(words) => escaped(words),
            Part::Place { content, .. } => match content {
                Content::Said | Content::Line | Content::Text => "[^\\n]+".to_owned(),
                Content::OneOf(words) => {
                    format!("({})", words.iter().map(|word| escaped(word)).collect::<Vec<_>>().join("|"))
                }
                Content::Numbers { at_most, .. } => format!("[0-9]{{1,6}}(, [0-9]{{1,6}}){{0,{}}}", at_most - 1),
            },
        };
        let of = |parts: &Vec<Part>| parts.iter().map(part).collect::<String>();
        match self.alternatives.as_slice() {
            [(_, parts)] => of(parts),
            several => format!("({})", several.iter().map(|(_, parts)| of(parts)).collect::<Vec<_>>().join("|")),
        }
    }
}

/// Text as GBNF writes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{Parsed, Question};
    use crate::{Item, Outcome};
    use closeread_text::Language;

    fn input(expected: Expected, task: Task, options: &[&str]) -> ExtractiveInput {
        ExtractiveInput {
            context: Vec::new(),
            question: "Where?".to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            further: Vec::new(),
            task,
            expected,
            language: Language::ENGLISH,
        }
    }

    fn item(task: Task, options: &[&str]) -> Item {
        let mut item = Item::new("a", "b", "Where?", task);
        item.options = options.iter().map(|option| (*option).to_owned()).collect();
        item
    }

    #[test]
    fn a_response_by_the_schema_is_read_by_the_parser_of_its_form() {
        let options = ["In Lund", "In Orvik"];
        let forms = [
            (Form::Marked, json!({"explanation": "It says\nso.", "option": "2"}), "It says so. [[2]]"),
            (Form::FirstMarked, json!({"explanation": "So", "option": "2"}), "So [[2]]"),
            (Form::Tags, json!({"answer": "1"}), "<answer>\n1\n</answer>"),
            (Form::TagsOrNone, json!({"answer": "1"}), "<answer>\n1\n</answer>"),
            (Form::Lines, json!({"answer0": "1"}), "Answer0: 1"),
            (Form::EvidencedLines, json!({"answer0": "1", "evidence0": "He went."}), "Answer0: 1$ He went."),
            (Form::Announced, json!({"explanation": "Hm", "result": "1"}), "Hm\nThe answer is: 1"),
            (Form::Lettered, json!({"option": "B"}), "Answer: (B)"),
            (Form::Boxed, json!({"explanation": "Hm", "result": "B"}), "Hm\n\\boxed{B}"),
            (Form::BoxedOrAnnounced, json!({"explanation": "Hm", "result": "B"}), "Hm\n\\boxed{B}"),
        ];
        for (form, said, expected) in forms {
            let expects = Expected::Answer(form);
            let shape = input(expects, Task::Choice, &options).shape().unwrap();
            let text = shape.render(&said.to_string());
            assert_eq!(text, expected, "{form:?}");
            let schema = shape.schema();
            let fields: Vec<&String> = said.as_object().unwrap().keys().collect();
            assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), fields, "{form:?}");
            let chosen = item(Task::Choice, &options);
            let Parsed::Answer(answers) = expects.parse(&[&chosen], 0, &text) else { panic!("{form:?}") };
            assert!(matches!(answers[0].outcome, Outcome::Answered { choice: Some(1), .. }), "{form:?}: {text}");
        }
        assert_eq!(input(Expected::Answer(Form::Marked), Task::Generative, &[]).shape(), None, "words are free");
        let shape = input(Expected::Answer(Form::Tags), Task::Generative, &[]).shape().unwrap();
        assert_eq!(shape.render("no object"), "no object");
        let reasoned = "<think>{}</think>\n{\"answer\": \"In Lund\"}";
        assert_eq!(shape.render(reasoned), "<think>{}</think>\n<answer>\nIn Lund\n</answer>");
        assert_eq!(shape.render("{\"other\": 1}"), "{\"other\": 1}");
    }

    #[test]
    fn a_grammar_holds_a_choice_to_a_number_or_a_letter_of_its_options() {
        let grammar = |form| input(Expected::Answer(form), Task::Choice, &["a", "b", "c"]).shape().unwrap().grammar();
        let root = |form| grammar(form).lines().next().unwrap().to_owned();
        assert_eq!(root(Form::Marked), r#"root ::= said " [[" ("1" | "2" | "3") "]]""#);
        assert_eq!(root(Form::Tags), r#"root ::= "<answer>\n" ("0" | "1" | "2") "\n</answer>""#);
        assert_eq!(root(Form::TagsOrNone), r#"root ::= "<answer>\n" ("0" | "1" | "2" | "NONE") "\n</answer>""#);
        assert_eq!(grammar(Form::Lettered), r#"root ::= "Answer: (" ("A" | "B" | "C") ")""#);
        assert_eq!(root(Form::Boxed), r#"root ::= said "\n\\boxed{" ("A" | "B" | "C") "}""#);
        assert_eq!(root(Form::EvidencedLines), r#"root ::= "Answer0: " ("0" | "1" | "2") "$ " text"#);
        let open = |form| input(Expected::Answer(form), Task::Generative, &[]).shape().unwrap().grammar();
        assert!(
            open(Form::Announced).ends_with(TEXT) && open(Form::Boxed).ends_with(TEXT),
            "a list has no least length"
        );
        assert!(open(Form::Tags).ends_with(WORDS));
        let summary = input(Expected::Turn { must_search: false }, Task::Summary, &[]).shape().unwrap().grammar();
        assert!(summary.contains(r#""<answer>\n" text "\n</answer>""#) && summary.ends_with(TEXT), "{summary}");
        assert_eq!(grammar(Form::Marked).lines().nth(1), Some(SAID));
    }

    #[test]
    fn several_questions_have_a_line_each() {
        let mut asked = input(Expected::Answer(Form::Lines), Task::Choice, &["a", "b"]);
        asked.further = vec![Question { question: "Who?".to_owned(), options: vec!["c".to_owned(); 3] }];
        let shape = asked.shape().unwrap();
        assert_eq!(shape.render(r#"{"answer0": "0", "answer1": "2"}"#), "Answer0: 0\nAnswer1: 2");
        assert_eq!(shape.schema()["properties"]["answer1"]["enum"], json!(["0", "1", "2"]));
        assert_eq!(shape.pattern(), "Answer0: (0|1)\\nAnswer1: (0|1|2)");
    }

    #[test]
    fn turns_pages_and_pauses_have_shapes_too() {
        let turn = input(Expected::Turn { must_search: false }, Task::Generative, &[]).shape().unwrap();
        assert_eq!(turn.render(r#"{"kind": "query", "text": "the key"}"#), "<query>\nthe key\n</query>");
        assert_eq!(turn.render(r#"{"kind": "answer", "text": "Ana"}"#), "<answer>\nAna\n</answer>");
        assert!(
            turn.grammar().starts_with(r#"root ::= "<query>\n" words "\n</query>" | "<answer>\n" words "\n</answer>""#)
        );
        let first = input(Expected::Turn { must_search: true }, Task::Choice, &["a", "b"]).shape().unwrap();
        assert!(!first.grammar().contains("answer"), "who must search does not answer: {}", first.grammar());
        let asked = input(Expected::Pages(2), Task::Generative, &[]);
        let pages = ExtractiveInput { context: vec!["a gist".to_owned()], ..asked }.shape().unwrap();
        assert_eq!(pages.render(r#"{"pages": [3, 1, 4]}"#), "I want to look up Page [3, 1]");
        assert_eq!(pages.render(r#"{"pages": []}"#), "STOP");
        assert_eq!(
            pages.grammar(),
            "root ::= \"I want to look up Page [\" page (\", \" page){0,1} \"]\" | \"STOP\"\npage ::= \"0\""
        );
        assert_eq!(pages.pattern(), "I want to look up Page \\[[0-9]{1,6}(, [0-9]{1,6}){0,1}\\]");
        let pause = input(Expected::Break, Task::Choice, &["<57>", "<58>"]).shape().unwrap();
        assert_eq!(pause.render(r#"{"label": "<57>"}"#), "Break point: <57>");
        assert_eq!(input(Expected::Memory, Task::Generative, &[]).shape(), None);
        let boxed = input(Expected::Answer(Form::Boxed), Task::Choice, &["a", "b"]).shape().unwrap();
        assert_eq!(boxed.pattern(), "[^\\n]+\\n\\\\boxed\\{(A|B)\\}");
    }
}
