//! Prompts for building benchmarks.

use crate::variables::{Column, Field, Pair, Rejected, Titled, in_novel, in_question, in_text};
use closeread_text::language::Language;

prompts! { self:
    BuildAgain<'a> "build-again" { problem: &'a str };

    HamletChunkSize<'a> "hamlet-chunk-size" { chunk: &'a str };
    HamletTreeAnalytical<'a> "hamlet-tree-analytical" {
        chunk: &'a str,
        #[serde(serialize_with = "in_text")]
        language: Language,
    };
    HamletTreeNarrative<'a> "hamlet-tree-narrative" {
        chunk: &'a str,
        #[serde(serialize_with = "in_text")]
        language: Language,
    };
    HamletVerifyTree<'a> "hamlet-verify-tree" { chunk: &'a str, criterion: &'a str, tree: &'a str };
    HamletQueryAnalytical<'a> "hamlet-query-analytical" {
        chunk: &'a str,
        tree: &'a str,
        #[serde(serialize_with = "in_text")]
        language: Language,
    };
    HamletQueryNarrative<'a> "hamlet-query-narrative" {
        chunk: &'a str,
        tree: &'a str,
        #[serde(serialize_with = "in_text")]
        language: Language,
    };

    SagaScaleSegment<'a> "sagascale-segment" { title: &'a str, heading: &'a str, segment: &'a str };
    SagaScaleSubQueries<'a> "sagascale-sub-queries" {
        title: &'a str,
        segment: &'a str,
        #[serde(serialize_with = "in_novel")]
        language: Language,
    };
    SagaScalePair<'a> "sagascale-pair" {
        title: &'a str,
        segment: &'a str,
        passages: &'a [String],
        earlier: Vec<Pair<'a>>,
        #[serde(serialize_with = "in_novel")]
        language: Language,
    };
    SagaScaleCheckPair<'a> "sagascale-check-pair" {
        title: &'a str,
        question: &'a str,
        answer: &'a str,
        searched: bool,
        results: Vec<Titled<'a>>,
    };
    SagaScaleKeywords<'a> "sagascale-keywords" { title: &'a str, question: &'a str };

    CorpusQaFields<'a> "corpusqa-fields" {
        documents: Vec<Titled<'a>>,
        n: usize,
        #[serde(serialize_with = "in_text")]
        language: Language,
    };
    CorpusQaFieldVotes<'a> "corpusqa-field-votes" { title: &'a str, text: &'a str, fields: Vec<Field<'a>> };
    CorpusQaExtract<'a> "corpusqa-extract" { title: &'a str, text: &'a str, entity: &'a str, fields: Vec<Field<'a>> };
    CorpusQaTemplates<'a> "corpusqa-templates" {
        english: &'a str,
        chinese: &'a str,
        sql: &'a str,
        scope: &'a str,
        answer: &'a str,
        difficulty: &'a str,
        n: usize,
    };
    CorpusQaParaphrase<'a> "corpusqa-paraphrase" {
        question: &'a str,
        literals: &'a [String],
        #[serde(serialize_with = "in_question")]
        language: Language,
    };
    CorpusQaSql<'a> "corpusqa-sql" {
        table: &'a str,
        entity: &'a str,
        columns: Vec<Column<'a>>,
        examples: Vec<Vec<String>>,
        question: &'a str,
        answer: &'a str,
    };

    OptionsDistractors<'a> "options-distractors" {
        title: &'a str,
        question: &'a str,
        answer: &'a str,
        others: &'a [String],
        evidence: Vec<&'a str>,
        n: usize,
        rejected: Vec<Rejected<'a>>,
    };
}
