//! Reading a response about an item: one parser for each form of answer, one outcome for whatever it finds.

use super::boxed::{memagent_boxed, unmarked};
use super::corpusqa;
use super::novelqa::{answer_lines, chosen, evidence_lines};
use super::tag::{NONE, answer_block};
use super::{
    Form, ShortAnswer, after_reasoning, choice_marker, first_choice_marker, memagent_answer, readagent_choice,
    short_answer,
};
use crate::reading::Answer;
use crate::{Item, Outcome, Task};

/// Reads what a response in that form says about each of `items`, which have one task; forms for one answer take one item.
/// Reasoning up to `</think>` is not read.
pub(crate) fn read_response(form: Form, items: &[&Item], response: &str) -> Vec<Answer> {
    let said = after_reasoning(response);
    let one = |said: &dyn Fn(&Item) -> Outcome| items.iter().map(|item| said(item).into()).collect();
    match form {
        Form::Marked => one(&|item| marked(item, said, response, choice_marker)),
        Form::FirstMarked => one(&|item| marked(item, said, response, first_choice_marker)),
        Form::Tags => one(&|item| short_outcome(item, answer_block(said).answer(), response)),
        Form::TagsOrNone => one(&|item| match answer_block(said).answer() {
            Some(NONE) => Outcome::NotFound,
            text => short_outcome(item, text, response),
        }),
        Form::Announced => {
            let answer = Some(corpusqa::answer(said)).filter(|text| !text.is_empty());
            one(&|item| short_outcome(item, answer, response))
        }
        Form::Lines => {
            let lines = answer_lines(said, items.len());
            items.iter().zip(lines).map(|(item, line)| short_outcome(item, line.answer(), response).into()).collect()
        }
        Form::EvidencedLines => {
            let lines = evidence_lines(said, items.len());
            let read = items.iter().zip(lines).map(|(item, line)| {
                let (answer, evidence) = line.answer().map(|line| (line.answer, line.evidence)).unzip();
                let evidence = evidence.unwrap_or_default().into_iter().map(str::to_owned).collect();
                Answer { outcome: short_outcome(item, answer, response), evidence: Some(evidence) }
            });
            read.collect()
        }
        Form::Lettered => one(&|item| lettered(item, said, response)),
        Form::Boxed => one(&|item| boxed(item, said, response)),
        Form::BoxedOrAnnounced => one(&|item| match boxed(item, said, response) {
            Outcome::Unparsed { .. } if said.contains(corpusqa::ANNOUNCEMENT) => {
                let answer = Some(corpusqa::answer(said)).filter(|text| !text.is_empty());
                short_outcome(item, answer, response)
            }
            outcome => outcome,
        }),
    }
}

/// Returns the outcome of a short answer to an item; of a choice it names the option by its number from 0, its letter
/// or its text.
pub(crate) fn short_outcome(item: &Item, answer: Option<&str>, response: &str) -> Outcome {
    match answer {
        None => unparsed(response),
        Some(text) if item.task == Task::Choice => option(item, chosen(text, &item.options, 0), response),
        Some(text) => Outcome::Answered { answer: text.to_owned(), choice: None },
    }
}

fn marked(item: &Item, said: &str, response: &str, marker: impl Fn(&str, usize) -> Option<usize>) -> Outcome {
    match item.task {
        Task::Choice => option(item, marker(said, item.options.len()), response),
        Task::Generative | Task::Summary => worded(said, response),
    }
}

fn lettered(item: &Item, said: &str, response: &str) -> Outcome {
    let said = said.trim();
    match item.task {
        Task::Choice => option(item, readagent_choice(said, item.options.len()).answer(), response),
        Task::Generative | Task::Summary => worded(said, response),
    }
}

/// Reads what a response says in a box, without TeX's marks of text, or else behind "the answer is"; a summary is the whole
/// response.
fn boxed(item: &Item, said: &str, response: &str) -> Outcome {
    if item.task == Task::Summary {
        return worded(said, response);
    }
    let in_box = memagent_boxed(said).answer().map(|content| unmarked(content.trim()).to_owned());
    let boxed = in_box.or_else(|| memagent_answer(said).answer());
    match (item.task, boxed) {
        (_, None) => unparsed(response),
        (Task::Choice, Some(answer)) => option(item, named_by_letter(&answer, &item.options), response),
        (_, Some(answer)) => worded(&answer, response),
    }
}

/// The option that is named by its letter, in parentheses or not, by its text, or by both.
fn named_by_letter(answer: &str, options: &[String]) -> Option<usize> {
    let same = |option: &String| option.trim().to_lowercase() == answer.trim().to_lowercase();
    let by_text = || options.iter().position(same);
    let mut named = answer.trim().trim_start_matches('(').chars();
    let letter = named.next().and_then(|letter| ('A'..='Z').position(|known| known == letter));
    let alone = !named.next().is_some_and(char::is_alphanumeric);
    by_text().or_else(|| letter.filter(|&choice| alone && choice < options.len()))
}

/// A few words, or that the context does not hold them.
fn worded(said: &str, response: &str) -> Outcome {
    match short_answer(said) {
        ShortAnswer::Text(answer) => Outcome::Answered { answer, choice: None },
        ShortAnswer::NotFound => Outcome::NotFound,
        ShortAnswer::Empty => unparsed(response),
    }
}

/// The option of that number, if there is one.
fn option(item: &Item, choice: Option<usize>, response: &str) -> Outcome {
    match choice {
        Some(choice) => Outcome::Answered { answer: item.options[choice].clone(), choice: Some(choice) },
        None => unparsed(response),
    }
}

fn unparsed(response: &str) -> Outcome {
    Outcome::Unparsed { response: response.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_in_every_form() {
        let mut item = Item::new("a", "b", "Where?", Task::Choice);
        item.options = ["In the river", "Under a stair"].map(str::to_owned).to_vec();
        let choice = |form, response| match &read_response(form, &[&item], response)[0].outcome {
            Outcome::Answered { choice, .. } => *choice,
            _ => None,
        };
        assert_eq!(choice(Form::Marked, "So [[2]]."), Some(1));
        assert_eq!(choice(Form::FirstMarked, "[[2]], though [[1]] is near."), Some(1));
        assert_eq!(choice(Form::Tags, "<answer>\n1\n</answer>"), Some(1));
        assert_eq!(choice(Form::Tags, "<answer>under a stair</answer>"), Some(1));
        assert_eq!(choice(Form::TagsOrNone, "<answer>1</answer>"), Some(1));
        assert_eq!(choice(Form::Lines, "Answer0: 1"), Some(1));
        assert_eq!(choice(Form::EvidencedLines, "Answer0: 1$ \"Ana hid it.\""), Some(1));
        assert_eq!(choice(Form::Announced, "Hm.\nThe answer is: 1"), Some(1));
        for form in [Form::Marked, Form::Tags, Form::Lines, Form::EvidencedLines, Form::Announced] {
            for response in ["", "7", "[[7]]", "<answer>7</answer>", "Answer0: 7", "The answer is: 7"] {
                assert_eq!(choice(form, response), None, "{form:?} {response}");
            }
        }
    }

    #[test]
    fn reasoning_is_read_in_no_form() {
        let mut item = Item::new("a", "b", "Where?", Task::Choice);
        item.options = ["In the river", "Under a stair"].map(str::to_owned).to_vec();
        let hidden = "[[1]] <answer>0</answer> Answer0: 0\nThe answer is: 0\n\\boxed{A} (A)";
        for (form, words) in [
            (Form::Marked, "[[2]]"),
            (Form::FirstMarked, "[[2]]"),
            (Form::Tags, "<answer>1</answer>"),
            (Form::TagsOrNone, "<answer>1</answer>"),
            (Form::Lines, "Answer0: 1"),
            (Form::EvidencedLines, "Answer0: 1$ \"Ana hid it.\""),
            (Form::Announced, "The answer is: 1"),
            (Form::Lettered, "Answer: (B)"),
            (Form::Boxed, "\\boxed{B}"),
            (Form::BoxedOrAnnounced, "The answer is: 1"),
        ] {
            let outcome = |response: &str| read_response(form, &[&item], response).remove(0).outcome;
            let closed = outcome(&format!("<think>{hidden}</think>\n{words}"));
            assert!(matches!(closed, Outcome::Answered { choice: Some(1), .. }), "{form:?}: {closed:?}");
            let cut = format!("<think>{hidden}\n{words}");
            assert_eq!(outcome(&cut), unparsed(&cut), "{form:?}");
        }
        item.task = Task::Generative;
        let answer = read_response(Form::Marked, &[&item], "<think>Maybe Bob.</think>\n\nAnn").remove(0).outcome;
        assert_eq!(answer, Outcome::Answered { answer: "Ann".to_owned(), choice: None });
    }

    #[test]
    fn none_says_that_nothing_was_found_where_contexts_are_shown_and_is_an_answer_elsewhere() {
        let item = Item::new("a", "b", "Who?", Task::Generative);
        let said = |form, response| read_response(form, &[&item], response).remove(0).outcome;
        let answered = |answer: &str| Outcome::Answered { answer: answer.to_owned(), choice: None };
        assert_eq!(said(Form::TagsOrNone, "<answer> NONE\n</answer>"), Outcome::NotFound);
        assert_eq!(said(Form::TagsOrNone, "<answer>None</answer>"), answered("None"));
        assert_eq!(said(Form::Tags, "<answer>NONE</answer>"), answered("NONE"));
    }

    #[test]
    fn an_announced_answer_stands_where_no_box_does() {
        let item = Item::new("a", "b", "Who?", Task::Generative);
        let said = |form, response| match read_response(form, &[&item], response).remove(0).outcome {
            Outcome::Answered { answer, .. } => Some(answer),
            _ => None,
        };
        let answered = |response| said(Form::BoxedOrAnnounced, response);
        assert_eq!(answered("\\boxed{Ana} The answer is: Ben").as_deref(), Some("Ana"));
        assert_eq!(answered("<think>x</think>So.\nThe answer is: [\"Ben\"]\n").as_deref(), Some("[\"Ben\"]"));
        assert_eq!(answered("The answer is: "), None);
        assert_eq!(answered("Ben"), None, "the whole response is no answer");
        assert_eq!(said(Form::Boxed, "The answer is: Ben"), None, "MemAgent's own words begin small");
    }

    #[test]
    fn marks_of_text_in_a_box_are_no_answer() {
        let mut item = Item::new("a", "b", "Where?", Task::Generative);
        let said = |item: &Item, response| read_response(Form::Boxed, &[item], response).remove(0).outcome;
        let answered = |answer: &str, choice| Outcome::Answered { answer: answer.to_owned(), choice };
        assert_eq!(said(&item, r"So $\boxed{\text{at dusk}}$."), answered("at dusk", None));
        assert_eq!(said(&item, r"\boxed{\mathbf{ 42 }}"), answered("42", None));
        assert_eq!(said(&item, r"\boxed{\frac{1}{2}}"), answered(r"\frac{1}{2}", None));
        assert_eq!(said(&item, r"\boxed{\text{}}"), unparsed(r"\boxed{\text{}}"));
        item.task = Task::Choice;
        item.options = ["In the river", "Under a stair"].map(str::to_owned).to_vec();
        for response in [r"\boxed{\text{B}}", r"\boxed{\textbf{(B)}}", r"$\boxed{\text{Under a stair}}$"] {
            assert_eq!(said(&item, response), answered("Under a stair", Some(1)), "{response}");
        }
    }

    #[test]
    fn a_boxed_option_is_named_by_letter_or_text() {
        let options = ["In the river".to_owned(), "Under a stair".to_owned(), "A".to_owned()];
        let choice = |answer: &str| named_by_letter(answer, &options);
        for answer in ["B", "(B)", " B. Under a stair", "(B) under", "under a stair "] {
            assert_eq!(choice(answer), Some(1), "{answer}");
        }
        assert_eq!(choice("A"), Some(2), "an option's own text comes first");
        for answer in ["", "D", "Be", "b", "stair", "2"] {
            assert_eq!(choice(answer), None, "{answer}");
        }
    }
}
