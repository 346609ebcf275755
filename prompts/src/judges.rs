//! Prompts of the judges.

use crate::variables::{Kind, Named};

prompts! { self:
    JudgeSagaScale<'a> "judge-sagascale" {
        title: &'a str,
        question: &'a str,
        answers: &'a [String],
        several: bool,
        answer: &'a str,
    };
    JudgeNovelQa<'a> "judge-novelqa" {
        title: &'a str,
        question: &'a str,
        evidence: Vec<&'a str>,
        answers: &'a [String],
        several: bool,
        answer: &'a str,
    };
    JudgeNovelQaEvidence<'a> "judge-novelqa-evidence" {
        title: &'a str,
        question: &'a str,
        answers: &'a [String],
        several: bool,
        answer: &'a str,
        evidence: Vec<&'a str>,
        cited: &'a [String],
    };
    JudgeCorpusQa<'a> "judge-corpusqa" { question: &'a str, answers: &'a [String], several: bool, answer: &'a str };
    VerifyFacts<'a> "verify-facts" {
        chunk: &'a str,
        sentences: &'a [&'a str],
        n_sentences: usize,
        categories: Vec<Named<'a>>,
    };
    AlignKeyFacts<'a> "align-key-facts" { facts: &'a [&'a str], n_facts: usize, sentences: &'a [&'a str] };
    ClassifyQuestion<'a> "classify-question" { question: &'a str, types: &'a [Kind<'a>] };
}
