//! Prompt styles: the paper's prompt, the layout of its passages, the form of its answer.

use super::Questions;
use closeread_eval::{Item, Task};
use closeread_prompts::ReaderPrompt;
use closeread_prompts::readers::{
    ClosedBookChoice, ClosedBookQuestion, ClosedBookSummary, CorpusQaClosedBook, CorpusQaDocuments, NovelQaChoices,
    NovelQaClosedBookChoices, NovelQaClosedBookQuestions, NovelQaEvidence, NovelQaQuestions, ReadChoice, ReadQuestion,
    ReadSummary, SagaScaleClosedBook, SagaScaleContexts, SagaScaleText,
};
use closeread_prompts::variables::QuestionOf;
use closeread_text::{Language, python};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The part of the books that a prompt shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The text, whole or cut.
    Whole,
    /// Passages that were retrieved.
    Passages,
    /// Nothing, or the title at most.
    Nothing,
}

/// A stretch of text as a prompt shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Place that the excerpt comes from, for the layouts that say so.
    pub place: Option<Place>,
    /// Text of the excerpt.
    pub text: String,
}

/// The place that an excerpt comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
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

/// The paper whose prompt and answer form a method uses.
///
/// Summaries are HAMLET's alone: an item of that task gets the prompts `read-summary` and `closed-book-summary` in every
/// style. SagaScale and CorpusQA have no choices; options stand there below the question, numbered from 0, and the
/// number is the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PromptStyle {
    /// Stronger Baselines, figures A.1 and A.2: `[[n]]`, or 1 to 20 words.
    #[default]
    DosRag,
    /// Stronger Baselines' prompts as its authors send and read them (dos-rag-eval): with a short system line, the
    /// passages on a line each, and by the first `[[n]]` of a response.
    StrongerBaselines,
    /// SagaScale §4.1: `<answer>` ... `</answer>`; contexts with their `idx`, and `NONE` where they do not hold it.
    Sagascale,
    /// NovelQA §4.1, table 11: `Answer0: ...`.
    Novelqa,
    /// CorpusQA, appendix C: `# Document k:` blocks, `The answer is: ...`.
    Corpusqa,
    /// HAMLET §3, stage 2: a summary. It has no questions; what is no summary is asked as in [`PromptStyle::DosRag`].
    Hamlet,
}

impl PromptStyle {
    /// The prompt for the questions on the text of a frame.
    pub(super) fn prompt<'p>(
        self,
        &Frame { view, evidence, title, language, .. }: &'p Frame<'_>,
        asked: &'p Questions<'_>,
        context: &'p str,
    ) -> Box<dyn ReaderPrompt + 'p> {
        use PromptStyle::{Corpusqa, DosRag, Hamlet, Novelqa, Sagascale, StrongerBaselines};
        use Task::{Choice, Generative, Summary};
        use View::{Nothing, Passages, Whole};
        let question = asked.first().question.as_str();
        let options = options_of(asked.first());
        let n_questions = asked.items().len();
        let questions = || {
            let of = |item: &&'p Item| QuestionOf { question: &item.question, options: options_of(item) };
            asked.items().iter().map(of).collect()
        };
        match (self, view, asked.task()) {
            (_, Nothing, Summary) => Box::new(ClosedBookSummary { title, question }),
            (_, Whole | Passages, Summary) => Box::new(ReadSummary { context, question }),
            (DosRag | Hamlet | StrongerBaselines, Nothing, Choice) => {
                Box::new(ClosedBookChoice { title, question, options })
            }
            (DosRag | Hamlet | StrongerBaselines, Nothing, Generative) => {
                Box::new(ClosedBookQuestion { title, question })
            }
            (DosRag | Hamlet | StrongerBaselines, Whole | Passages, Choice) => {
                Box::new(ReadChoice { context, question, options, portal: self == StrongerBaselines })
            }
            (DosRag | Hamlet | StrongerBaselines, Whole | Passages, Generative) => {
                Box::new(ReadQuestion { context, question, portal: self == StrongerBaselines })
            }
            (Sagascale, Whole, _) => Box::new(SagaScaleText { title, context, question, options, language }),
            (Sagascale, Passages, _) => Box::new(SagaScaleContexts { title, context, question, options, language }),
            (Sagascale, Nothing, _) => Box::new(SagaScaleClosedBook { title, question, options, language }),
            (Novelqa, Whole | Passages, _) if evidence => {
                Box::new(NovelQaEvidence { title, context, questions: questions(), n_questions })
            }
            (Novelqa, Nothing, Choice) => {
                Box::new(NovelQaClosedBookChoices { title, questions: questions(), n_questions })
            }
            (Novelqa, Nothing, Generative) => {
                Box::new(NovelQaClosedBookQuestions { title, questions: questions(), n_questions })
            }
            (Novelqa, Whole | Passages, Choice) => {
                Box::new(NovelQaChoices { title, context, questions: questions(), n_questions })
            }
            (Novelqa, Whole | Passages, Generative) => {
                Box::new(NovelQaQuestions { title, context, questions: questions(), n_questions })
            }
            (Corpusqa, Nothing, _) => Box::new(CorpusQaClosedBook { title, question, options }),
            (Corpusqa, Whole | Passages, _) => Box::new(CorpusQaDocuments { context, question, options }),
        }
    }

    /// Refuses what only NovelQA's forms can: several questions in a call, sentences cited.
    pub(super) fn check(self, together: bool, evidence: bool) -> Result<(), &'static str> {
        match self {
            Self::Novelqa => Ok(()),
            _ if together => Err("together=true needs style=novelqa, the only form with a line for each answer"),
            _ if evidence => Err("evidence=true needs style=novelqa, the only form that cites sentences"),
            _ => Ok(()),
        }
    }

    /// True if every document stands under its heading, also a single one.
    pub(super) fn heads_documents(self) -> bool {
        self == Self::Corpusqa
    }

    /// Returns the most tokens of what stands before a passage: white space, and its number or its document's heading.
    pub(super) fn tokens_beside_passage(self) -> u64 {
        match self {
            Self::Sagascale | Self::Corpusqa => 10,
            Self::DosRag | Self::StrongerBaselines | Self::Novelqa | Self::Hamlet => 1,
        }
    }

    /// The excerpts as the prompt shows them.
    ///
    /// Between them stands a blank line, as between the nodes of RAPTOR's code. SagaScale's contexts each show their
    /// `idx`; CorpusQA's stand under the heading of their document, which is repeated where the document changes. In Stronger
    /// Baselines' code a passage is one line, with a blank behind it.
    pub(super) fn layout(self, excerpts: &[Excerpt]) -> Cow<'_, str> {
        // A whole book is not copied.
        if let [Excerpt { place: None, text }] = excerpts {
            return Cow::Borrowed(text);
        }
        let mut under = None;
        let shown = excerpts.iter().map(|Excerpt { place, text }| match (self, place) {
            (Self::Sagascale, Some(Place { idx, .. })) => format!("[idx {idx}]\n{text}"),
            (Self::Corpusqa, Some(Place { document, .. })) if under.replace(*document) != Some(*document) => {
                format!("{}{text}", heading(*document))
            }
            (Self::StrongerBaselines, _) => python::splitlines(text).collect::<Vec<_>>().join(" ") + " ",
            _ => text.clone(),
        });
        Cow::Owned(shown.collect::<Vec<_>>().join("\n\n"))
    }
}

/// The line above a document, numbered from 1 (CorpusQA, appendix C).
pub(super) fn heading(document: usize) -> String {
    format!("# Document {}:\n", document + 1)
}

/// A prompt of a style, but for the text in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'a> {
    pub style: PromptStyle,
    pub view: View,
    pub evidence: bool,
    pub title: &'a str,
    /// The language of the text.
    pub language: Language,
}

impl Frame<'_> {
    /// The prompt with `context` in the place of the text.
    pub(super) fn prompt<'p>(&'p self, questions: &'p Questions<'_>, context: &'p str) -> Box<dyn ReaderPrompt + 'p> {
        self.style.prompt(self, questions, context)
    }
}

/// The options that an item is asked with.
pub(super) fn options_of(item: &Item) -> &[String] {
    if item.task == Task::Choice { &item.options } else { &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_name_their_place_where_the_paper_does() {
        let excerpt =
            |document, idx, text: &str| Excerpt { place: Some(Place { document, idx }), text: text.to_owned() };
        let excerpts = [excerpt(1, 7, "b"), excerpt(1, 9, "c"), excerpt(0, 2, "a"), excerpt(1, 8, "d")];
        assert_eq!(PromptStyle::DosRag.layout(&excerpts), "b\n\nc\n\na\n\nd");
        let lines = ["a\nb".to_owned().into(), "c".to_owned().into()];
        assert_eq!(PromptStyle::StrongerBaselines.layout(&lines), "a b \n\nc ");
        assert_eq!(PromptStyle::Sagascale.layout(&excerpts[..2]), "[idx 7]\nb\n\n[idx 9]\nc");
        assert_eq!(
            PromptStyle::Corpusqa.layout(&excerpts),
            "# Document 2:\nb\n\nc\n\n# Document 1:\na\n\n# Document 2:\nd"
        );
        assert_eq!(PromptStyle::Corpusqa.layout(&["whole".to_owned().into()]), "whole");
    }
}
