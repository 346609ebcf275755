//! Prompts of the methods that read books.

use crate::variables::{Lettered, QuestionOf, in_novel};
use closeread_text::language::Language;

prompts! { self:
    AgenticRag<'a> "agentic-rag" {
        title: &'a str,
        question: &'a str,
        options: &'a [String],
        summary: bool,
        #[serde(serialize_with = "in_novel")]
        language: Language,
        top_k: usize,
        ranked_by: &'static str,
        max_searches: usize,
        tell_budget: bool,
    } expects Turn { must_search: self.max_searches > 0 };
    // What is asked for stays what the prompt before asked for.
    AgenticRagAgain "agentic-rag-again" {};
    AgenticRagResults<'a> "agentic-rag-results" { context: &'a str, searches_left: usize, tell_budget: bool }
        expects Turn { must_search: false };

    ClosedBookChoice<'a> "closed-book-choice" { title: &'a str, question: &'a str, options: &'a [String] }
        expects Answer(Marked);
    ClosedBookQuestion<'a> "closed-book-question" { title: &'a str, question: &'a str } expects Answer(Marked);
    ClosedBookSummary<'a> "closed-book-summary" { title: &'a str, question: &'a str } expects Answer(Marked);
    ReadChoice<'a> "read-choice" { context: &'a str, question: &'a str, options: &'a [String], portal: bool }
        expects Answer(if self.portal { FirstMarked } else { Marked });
    ReadQuestion<'a> "read-question" { context: &'a str, question: &'a str, portal: bool } expects Answer(Marked);
    ReadSummary<'a> "read-summary" { context: &'a str, question: &'a str } expects Answer(Marked);

    SagaScaleClosedBook<'a> "sagascale-closed-book" {
        title: &'a str,
        question: &'a str,
        options: &'a [String],
        #[serde(serialize_with = "in_novel")]
        language: Language,
    } expects Answer(Tags);
    SagaScaleContexts<'a> "sagascale-contexts" {
        title: &'a str,
        context: &'a str,
        question: &'a str,
        options: &'a [String],
        #[serde(serialize_with = "in_novel")]
        language: Language,
    } expects Answer(TagsOrNone);
    SagaScaleText<'a> "sagascale-text" {
        title: &'a str,
        context: &'a str,
        question: &'a str,
        options: &'a [String],
        #[serde(serialize_with = "in_novel")]
        language: Language,
    } expects Answer(Tags);

    NovelQaChoices<'a> "novelqa-choices" {
        title: &'a str,
        context: &'a str,
        questions: Vec<QuestionOf<'a>>,
        n_questions: usize,
    } expects Answer(Lines);
    NovelQaClosedBookChoices<'a> "novelqa-closed-book-choices" {
        title: &'a str,
        questions: Vec<QuestionOf<'a>>,
        n_questions: usize,
    } expects Answer(Lines);
    NovelQaClosedBookQuestions<'a> "novelqa-closed-book-questions" {
        title: &'a str,
        questions: Vec<QuestionOf<'a>>,
        n_questions: usize,
    } expects Answer(Lines);
    NovelQaEvidence<'a> "novelqa-evidence" {
        title: &'a str,
        context: &'a str,
        questions: Vec<QuestionOf<'a>>,
        n_questions: usize,
    } expects Answer(EvidencedLines);
    NovelQaQuestions<'a> "novelqa-questions" {
        title: &'a str,
        context: &'a str,
        questions: Vec<QuestionOf<'a>>,
        n_questions: usize,
    } expects Answer(Lines);

    CorpusQaClosedBook<'a> "corpusqa-closed-book" { title: &'a str, question: &'a str, options: &'a [String] }
        expects Answer(Announced);
    CorpusQaDocuments<'a> "corpusqa-documents" { context: &'a str, question: &'a str, options: &'a [String] }
        expects Answer(Announced);
    CorpusQaProblem<'a> "corpusqa-problem" { question: &'a str };
    CorpusQaPublished<'a> "corpusqa-published" { system: &'a str, user: &'a str } expects Answer(Announced);

    MemoryAgentUpdate<'a> "memory-agent-update" {
        question: &'a str,
        options: Vec<Lettered<'a>>,
        memory: &'a str,
        section: &'a str,
    } expects Memory;
    MemoryAgentChoice<'a> "memory-agent-choice" { question: &'a str, options: Vec<Lettered<'a>>, memory: &'a str }
        expects Answer(Boxed);
    MemoryAgentQuestion<'a> "memory-agent-question" { question: &'a str, memory: &'a str } expects Answer(Boxed);
    MemoryAgentSummary<'a> "memory-agent-summary" { question: &'a str, memory: &'a str } expects Answer(Boxed);

    RaptorSummary<'a> "raptor-summary" { passages: &'a str } expects Node;

    ReadAgentPaginate<'a> "read-agent-paginate" { preceding: &'a str, passage: &'a str, following: &'a str }
        expects Break;
    ReadAgentGist<'a> "read-agent-gist" { passage: &'a str } expects Gist;
    ReadAgentLookUp<'a> "read-agent-lookup" {
        memory: &'a str,
        question: &'a str,
        options: Vec<Lettered<'a>>,
        lettered: bool,
        max_pages: usize,
        read: &'a [usize],
    } expects Pages(self.max_pages);
    ReadAgentLookUpNext<'a> "read-agent-lookup-next" {
        memory: &'a str,
        question: &'a str,
        options: Vec<Lettered<'a>>,
        max_pages: usize,
        read: &'a [usize],
    } expects Pages(self.max_pages);
    ReadAgentChoice<'a> "read-agent-choice" { memory: &'a str, question: &'a str, options: Vec<Lettered<'a>> }
        expects Answer(Lettered);
    ReadAgentQuestion<'a> "read-agent-question" { memory: &'a str, question: &'a str } expects Answer(Lettered);
    ReadAgentSummary<'a> "read-agent-summary" { memory: &'a str, question: &'a str } expects Answer(Lettered);
}
