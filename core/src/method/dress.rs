//! Which paper's clothes a reading wears: its prompt, the layout of its passages, the form of its answer.

use crate::answer::corpusqa;
use crate::answer::novelqa::{answer_lines, chosen, evidence_lines};
use crate::answer::tag::{AnswerBlock, answer_block};
use crate::answer::{Form, ShortAnswer, after_thinking, choice_marker, short_answer};
use crate::benchmark::{Item, Task};
use crate::record::Outcome;
use serde::{Deserialize, Serialize};

/// The paper whose prompt and answer form a method uses.
///
/// Summaries are HAMLET's alone: an item of that task gets the prompts `read-summary` and `closed-book-summary` in every
/// dress. SagaScale and CorpusQA have no choices; options stand there below the question, numbered from 0, and the
/// number is the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dress {
    /// Stronger Baselines, figures A.1 and A.2: `[[n]]`, or 1 to 20 words.
    #[default]
    DosRag,
    /// SagaScale §4.1: `<answer>` ... `</answer>`; contexts with their `idx`, and `NONE` where they do not hold it.
    Sagascale,
    /// NovelQA §4.1, table 11: `Answer0: ...`.
    Novelqa,
    /// CorpusQA, appendix C: `# Document k:` blocks, `The answer is: ...`.
    Corpusqa,
    /// HAMLET §3, stage 2: a summary. It has no questions; what is no summary is asked as in [`Dress::DosRag`].
    Hamlet,
}

/// What of the books a prompt shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// The text, whole or cut.
    Whole,
    /// Passages that were retrieved.
    Passages,
    /// The title at most.
    Nothing,
}

/// A stretch of text as a prompt shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// Where it comes from, for the layouts that say so.
    pub place: Option<Place>,
    /// Its text.
    pub text: String,
}

/// Where an excerpt comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Number of its document among those of the item, from 0.
    pub document: usize,
    /// Number of the passage among all of the item, from 0.
    pub idx: usize,
}

impl From<String> for Excerpt {
    fn from(text: String) -> Self {
        Self { place: None, text }
    }
}

/// What a reply says about one question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// The answer, or why there is none.
    pub outcome: Outcome,
    /// The sentences it cites, where it was asked for them.
    pub evidence: Option<Vec<String>>,
}

impl From<Outcome> for Said {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, evidence: None }
    }
}

impl Dress {
    /// The prompt, and the form of the reply it asks for.
    pub(super) fn of(self, view: View, task: Task, evidence: bool) -> (&'static str, Form) {
        use Dress::{Corpusqa, DosRag, Hamlet, Novelqa, Sagascale};
        use Task::{Choice, Generative, Summary};
        use View::{Nothing, Passages, Whole};
        match (self, view, task) {
            (_, Nothing, Summary) => ("closed-book-summary", Form::Marked),
            (_, Whole | Passages, Summary) => ("read-summary", Form::Marked),
            (DosRag | Hamlet, Nothing, Choice) => ("closed-book-choice", Form::Marked),
            (DosRag | Hamlet, Nothing, Generative) => ("closed-book-question", Form::Marked),
            (DosRag | Hamlet, Whole | Passages, Choice) => ("read-choice", Form::Marked),
            (DosRag | Hamlet, Whole | Passages, Generative) => ("read-question", Form::Marked),
            (Sagascale, Whole, _) => ("sagascale-text", Form::Tags),
            (Sagascale, Passages, _) => ("sagascale-contexts", Form::Tags),
            (Sagascale, Nothing, _) => ("sagascale-closed-book", Form::Tags),
            (Novelqa, Whole | Passages, _) if evidence => ("novelqa-evidence", Form::EvidencedLines),
            (Novelqa, Nothing, Choice) => ("novelqa-closed-book-choices", Form::Lines),
            (Novelqa, Nothing, Generative) => ("novelqa-closed-book-questions", Form::Lines),
            (Novelqa, Whole | Passages, Choice) => ("novelqa-choices", Form::Lines),
            (Novelqa, Whole | Passages, Generative) => ("novelqa-questions", Form::Lines),
            (Corpusqa, Nothing, _) => ("corpusqa-closed-book", Form::Announced),
            (Corpusqa, Whole | Passages, _) => ("corpusqa-documents", Form::Announced),
        }
    }

    /// True if every document stands under its heading, also a single one.
    pub(super) fn heads_documents(self) -> bool {
        self == Self::Corpusqa
    }

    /// The excerpts as the prompt shows them.
    ///
    /// Between them stands a blank line, as between the nodes of RAPTOR's code. SagaScale's contexts each show their
    /// `idx`; CorpusQA's stand under the heading of their document, which is repeated where the document changes.
    pub(super) fn layout(self, excerpts: &[Excerpt]) -> String {
        let mut under = None;
        let shown = excerpts.iter().map(|Excerpt { place, text }| match (self, place) {
            (Self::Sagascale, Some(Place { idx, .. })) => format!("[idx {idx}]\n{text}"),
            (Self::Corpusqa, Some(Place { document, .. })) if under.replace(*document) != Some(*document) => {
                format!("{}{text}", heading(*document))
            }
            _ => text.clone(),
        });
        shown.collect::<Vec<_>>().join("\n\n")
    }
}

/// The line above a document, numbered from 1 (CorpusQA, appendix C).
pub(super) fn heading(document: usize) -> String {
    format!("# Document {}:\n", document + 1)
}

/// What a reply in that form says about each of `items`, which have one task; forms for one answer take one item.
pub(super) fn read_reply(form: Form, items: &[&Item], reply: &str) -> Vec<Said> {
    let one = |said: &dyn Fn(&Item) -> Outcome| items.iter().map(|item| said(item).into()).collect();
    match form {
        Form::Marked => one(&|item| marked(item, reply)),
        Form::Tags | Form::Query => one(&|item| block_outcome(item, answer_block(reply).answer(), reply)),
        Form::Announced => {
            let answer = Some(corpusqa::answer(reply)).filter(|text| !text.is_empty());
            one(&|item| short_outcome(item, answer, reply))
        }
        Form::Lines => {
            let lines = answer_lines(after_thinking(reply), items.len());
            items.iter().zip(lines).map(|(item, line)| short_outcome(item, line.answer(), reply).into()).collect()
        }
        Form::EvidencedLines => {
            let lines = evidence_lines(after_thinking(reply), items.len());
            let said = items.iter().zip(lines).map(|(item, line)| {
                let (answer, evidence) = line.answer().map(|line| (line.answer, line.evidence)).unzip();
                let evidence = evidence.unwrap_or_default().into_iter().map(str::to_owned).collect();
                Said { outcome: short_outcome(item, answer, reply), evidence: Some(evidence) }
            });
            said.collect()
        }
        Form::Lettered | Form::Boxed | Form::Break | Form::Pages(_) => {
            unreachable!("no dress asks in these forms; the agents that do read their replies themselves")
        }
    }
}

/// What the answer block of a reply says about an item.
pub(super) fn block_outcome(item: &Item, block: Option<AnswerBlock<'_>>, reply: &str) -> Outcome {
    match block {
        Some(AnswerBlock::None) => Outcome::NotFound,
        Some(AnswerBlock::Text(text)) => short_outcome(item, Some(text), reply),
        None => unparsed(reply),
    }
}

/// What a short answer says about an item; of a choice it names the option by its number from 0, its letter or its text.
fn short_outcome(item: &Item, answer: Option<&str>, reply: &str) -> Outcome {
    match answer {
        None => unparsed(reply),
        Some(text) if item.task == Task::Choice => match chosen(text, &item.options) {
            Some(choice) => choice_of(item, choice),
            None => unparsed(reply),
        },
        Some(text) => Outcome::Answered { answer: text.to_owned(), choice: None },
    }
}

fn marked(item: &Item, reply: &str) -> Outcome {
    match item.task {
        Task::Choice => match choice_marker(reply, item.options.len()) {
            Some(choice) => choice_of(item, choice),
            None => unparsed(reply),
        },
        Task::Generative | Task::Summary => match short_answer(reply) {
            ShortAnswer::Text(answer) => Outcome::Answered { answer, choice: None },
            ShortAnswer::NotFound => Outcome::NotFound,
            ShortAnswer::Empty => unparsed(reply),
        },
    }
}

fn choice_of(item: &Item, choice: usize) -> Outcome {
    Outcome::Answered { answer: item.options[choice].clone(), choice: Some(choice) }
}

fn unparsed(reply: &str) -> Outcome {
    Outcome::Unparsed { reply: reply.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::Prompts;

    #[test]
    fn every_dress_has_its_prompts() {
        let prompts = Prompts::built_in();
        for dress in [Dress::DosRag, Dress::Sagascale, Dress::Novelqa, Dress::Corpusqa, Dress::Hamlet] {
            for view in [View::Whole, View::Passages, View::Nothing] {
                for task in [Task::Choice, Task::Generative, Task::Summary] {
                    for evidence in [false, true] {
                        let (name, _) = dress.of(view, task, evidence);
                        assert!(prompts.hashes().contains_key(name), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn excerpts_name_their_place_where_the_paper_does() {
        let excerpt =
            |document, idx, text: &str| Excerpt { place: Some(Place { document, idx }), text: text.to_owned() };
        let excerpts = [excerpt(1, 7, "b"), excerpt(1, 9, "c"), excerpt(0, 2, "a"), excerpt(1, 8, "d")];
        assert_eq!(Dress::DosRag.layout(&excerpts), "b\n\nc\n\na\n\nd");
        assert_eq!(Dress::Sagascale.layout(&excerpts[..2]), "[idx 7]\nb\n\n[idx 9]\nc");
        assert_eq!(Dress::Corpusqa.layout(&excerpts), "# Document 2:\nb\n\nc\n\n# Document 1:\na\n\n# Document 2:\nd");
        assert_eq!(Dress::Corpusqa.layout(&["whole".to_owned().into()]), "whole");
    }

    #[test]
    fn a_choice_is_read_in_every_form() {
        let mut item = Item::new("a", "b", "Where?", Task::Choice);
        item.options = ["In the river", "Under a stair"].map(str::to_owned).to_vec();
        let choice = |form, reply| match &read_reply(form, &[&item], reply)[0].outcome {
            Outcome::Answered { choice, .. } => *choice,
            _ => None,
        };
        assert_eq!(choice(Form::Marked, "So [[2]]."), Some(1));
        assert_eq!(choice(Form::Tags, "<answer>\n1\n</answer>"), Some(1));
        assert_eq!(choice(Form::Tags, "<answer>under a stair</answer>"), Some(1));
        assert_eq!(choice(Form::Lines, "Answer0: 1"), Some(1));
        assert_eq!(choice(Form::EvidencedLines, "Answer0: 1$ \"Ana hid it.\""), Some(1));
        assert_eq!(choice(Form::Announced, "Hm.\nThe answer is: 1"), Some(1));
        for form in [Form::Marked, Form::Tags, Form::Lines, Form::EvidencedLines, Form::Announced] {
            for reply in ["", "7", "[[7]]", "<answer>7</answer>", "Answer0: 7", "The answer is: 7"] {
                assert_eq!(choice(form, reply), None, "{form:?} {reply}");
            }
        }
    }
}
