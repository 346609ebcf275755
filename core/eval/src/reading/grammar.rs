//! The form of a response as a grammar, for servers and pages that can hold a model to one.

use super::{Expected, ExtractiveInput};
use crate::Task;
use crate::answer::Form;

/// Words before a marked answer: enough to think aloud, too few to get lost.
const SAID: &str = "said ::= [^\\[\\]{}\\n]{0,240}";
/// An answer of some words, between tags or braces or on a line of its own.
const WORDS: &str = "words ::= [^<>{}$\\n]{1,160}";

impl ExtractiveInput {
    /// What the response must look like, in llama.cpp's notation (GBNF); `None` where any text will do.
    ///
    /// It is at least as narrow as what [`Expected::parse`] reads, so that a response that keeps to it is understood. No paper
    /// constrains its readers: what is so answered is not comparable with what is not.
    pub fn grammar(&self) -> Option<String> {
        let n = self.options.len();
        let rules = match self.expected {
            Expected::Answer(form) => self.answered(form)?,
            Expected::Turn { must_search: true } => vec![query("root"), WORDS.to_owned()],
            Expected::Turn { must_search: false } => {
                let answer = format!("answer ::= \"<answer>\" {} \"</answer>\"", numbered(n));
                vec!["root ::= query | answer".to_owned(), query("query"), answer, WORDS.to_owned()]
            }
            Expected::Break if n > 0 => {
                let labels: Vec<String> = self.options.iter().map(|label| quoted(label)).collect();
                vec![format!("root ::= \"Break point: \" ({})", labels.join(" | "))]
            }
            Expected::Pages(at_most) if at_most > 0 && !self.context.is_empty() => {
                let page = numbers(0, self.context.len());
                let more = at_most - 1;
                vec![
                    format!("root ::= \"STOP\" | \"I want to look up Page [\" page (\", \" page){{0,{more}}} \"]\""),
                    format!("page ::= {page}"),
                ]
            }
            Expected::Break | Expected::Pages(_) | Expected::Memory | Expected::Gist | Expected::Node => return None,
        };
        Some(rules.join("\n"))
    }

    fn answered(&self, form: Form) -> Option<Vec<String>> {
        let n = self.options.len();
        let is_choice = n > 0;
        let root = match form {
            Form::Marked | Form::FirstMarked if is_choice => format!("root ::= said \"[[\" ({}) \"]]\"", numbers(1, n)),
            Form::Lettered if is_choice => format!("root ::= \"Answer: (\" {} \")\"", letters(n)),
            Form::Boxed | Form::BoxedOrAnnounced if self.task == Task::Summary => return None,
            Form::Boxed | Form::BoxedOrAnnounced => {
                format!(
                    "root ::= said \"\\\\boxed{{\" {} \"}}\"",
                    if is_choice { letters(n) } else { "words".to_owned() }
                )
            }
            Form::Tags | Form::TagsOrNone => format!("root ::= \"<answer>\" {} \"</answer>\"", numbered(n)),
            Form::Announced => "root ::= said \"\\nThe answer is: \" words".to_owned(),
            Form::Lines | Form::EvidencedLines => {
                let evidence = if form == Form::EvidencedLines { " \"$ \" words" } else { "" };
                let options = std::iter::once(n).chain(self.further.iter().map(|further| further.options.len()));
                let lines =
                    options.enumerate().map(|(place, n)| format!("\"Answer{place}: \" {}{evidence}", numbered(n)));
                format!("root ::= {}", lines.collect::<Vec<_>>().join(" \"\\n\" "))
            }
            Form::Marked | Form::FirstMarked | Form::Lettered => return None,
        };
        let mut rules = vec![root];
        for (name, rule) in [(" said ", SAID), (" words", WORDS)] {
            if rules[0].contains(name) {
                rules.push(rule.to_owned());
            }
        }
        Some(rules)
    }
}

/// The number of one of `n` options, from 0, or words where there are none.
fn numbered(n: usize) -> String {
    if n == 0 { "words".to_owned() } else { format!("({})", numbers(0, n)) }
}

fn query(name: &str) -> String {
    format!("{name} ::= \"<query>\" words \"</query>\"")
}

/// `n` numbers from `first`.
fn numbers(first: usize, n: usize) -> String {
    (first..first + n).map(|number| format!("\"{number}\"")).collect::<Vec<_>>().join(" | ")
}

/// One of the first `n` letters.
fn letters(n: usize) -> String {
    let last = ('A'..='Z').nth(n.saturating_sub(1)).unwrap_or('Z');
    format!("[A-{last}]")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_text::Language;

    fn input(expected: Expected, options: &[&str]) -> ExtractiveInput {
        let passages = vec!["one".to_owned(), "two".to_owned(), "three".to_owned()];
        let options: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        let task = if options.is_empty() { Task::Generative } else { Task::Choice };
        ExtractiveInput { task, options, ..ExtractiveInput::summary(passages, expected, Language::ENGLISH) }
    }

    #[test]
    fn a_choice_is_a_number_or_a_letter_of_its_options() {
        let grammar = |form| input(Expected::Answer(form), &["a", "b", "c"]).grammar().unwrap();
        let root = |form| grammar(form).lines().next().unwrap().to_owned();
        assert_eq!(root(Form::Marked), r#"root ::= said "[[" ("1" | "2" | "3") "]]""#);
        assert_eq!(root(Form::Tags), r#"root ::= "<answer>" ("0" | "1" | "2") "</answer>""#);
        assert_eq!(grammar(Form::Lettered), r#"root ::= "Answer: (" [A-C] ")""#);
        assert_eq!(root(Form::Boxed), r#"root ::= said "\\boxed{" [A-C] "}""#);
        assert_eq!(grammar(Form::Lines), r#"root ::= "Answer0: " ("0" | "1" | "2")"#);
        assert!(grammar(Form::EvidencedLines).starts_with(r#"root ::= "Answer0: " ("0" | "1" | "2") "$ " words"#));
        assert!(grammar(Form::Marked).contains("\nsaid ::= "));
    }

    #[test]
    fn an_agent_searches_or_answers_in_one_block() {
        let first = input(Expected::Turn { must_search: true }, &["a", "b"]).grammar().unwrap();
        assert!(first.starts_with(r#"root ::= "<query>" words "</query>""#) && !first.contains("answer"), "{first}");
        let later = input(Expected::Turn { must_search: false }, &[]).grammar().unwrap();
        assert!(later.contains(r#"answer ::= "<answer>" words "</answer>""#), "{later}");
    }

    #[test]
    fn breaks_and_pages_are_those_there_are() {
        let page = input(Expected::Break, &["<3>", "<7>"]).grammar().unwrap();
        assert_eq!(page, r#"root ::= "Break point: " ("<3>" | "<7>")"#);
        let pages = input(Expected::Pages(2), &[]).grammar().unwrap();
        assert!(pages.contains(r#"page (", " page){0,1} "]""#) && pages.contains(r#"page ::= "0" | "1" | "2""#));
    }

    #[test]
    fn prose_is_free() {
        for expected in [Expected::Memory, Expected::Gist, Expected::Node, Expected::Answer(Form::Marked)] {
            assert_eq!(input(expected, &[]).grammar(), None, "{expected:?}");
        }
    }
}
