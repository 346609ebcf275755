//! Every table and figure of the five papers, and where each of them is made.

use super::exhibit::{Exhibit, Made};
use super::need::Need::{
    Budgets, Configurations, Evidence, EvidencePlaces, Judges, KeyFacts, Label, Labels, Lengths, Method, People, Tasks,
    Verdicts, Words,
};
use super::number::Number::{Equations, Figure, Section, Table};
use Made::{By, Runs, Wordless};
use closeread_eval::{Paper, Task};

/// Marks an exhibit that is drawn or worded and holds no number.
const DRAWN: Made = Wordless("an illustration");
const WORDED: Made = Wordless("a prompt: ours are files of the folder prompts/");
const LEARNED: Made = Wordless("compares benchmarks by hand");
const CLASSIC: &[&str] = &["naive-rag", "agentic-rag", "full-document"];

const fn all(number: super::number::Number, section: &'static str, title: &'static str, made: Made) -> Exhibit {
    Exhibit { number, section, title, made }
}

/// The tables and figures of a paper, in their order, then what stands in its text alone.
pub fn exhibits(paper: Paper) -> &'static [Exhibit] {
    match paper {
        Paper::SagaScale => SAGASCALE,
        Paper::NovelQa => NOVELQA,
        Paper::DosRag => STRONGER_BASELINES,
        Paper::CorpusQa => CORPUSQA,
        Paper::Hamlet => HAMLET,
    }
}

#[rustfmt::skip]
static SAGASCALE: &[Exhibit] = &[
    all(Table(1), "2", "benchmarks compared", LEARNED),
    all(Table(2), "3.3", "questions and novels by length", Runs(&[Lengths])),
    all(Table(3), "4.2", "accuracy over all items", Runs(&[Method(CLASSIC), Verdicts])),
    all(Table(4), "3.2", "accuracy without the book", Runs(&[Method(&["closed-book"]), Verdicts])),
    all(Table(5), "4.2", "accuracy in the window", Runs(&[Method(CLASSIC), Verdicts])),
    all(Table(6), "4.2", "responses without a readable answer", Runs(&[Method(&["full-document"])])),
    all(Table(7), "4.2", "calibration error", Runs(&[Method(&["naive-rag", "agentic-rag"]), Verdicts])),
    all(Table(8), "4.2", "polarization", Runs(&[Method(CLASSIC), Configurations(2), Verdicts])),
    all(Table(9), "3.3", "the novels", Runs(&[Lengths])),
    all(Figure(1), "3.1", "the pipeline", DRAWN),
    all(Figure(2), "3.2", "questions by type", Runs(&[Label("question_type")])),
    all(Figure(3), "4.2", "accuracy over the length of books", Runs(&[Method(CLASSIC), Lengths, Verdicts])),
    all(Figure(4), "4.2", "accuracy by the number of searches", Runs(&[Method(&["agentic-rag"]), Verdicts])),
    all(Figure(5), "3.3", "lengths of books by language", Runs(&[Lengths])),
    all(Figure(6), "A.2.1", "questions kept and left out", Wordless("examples of questions")),
    all(Figure(7), "A.2.2", "questions with their answers", Wordless("examples of questions")),
    all(Figure(8), "A.3", "classifying a question", WORDED),
    all(Figure(9), "A.4.1", "filtering a segment", WORDED),
    all(Figure(10), "A.4.1", "summaries of a segment", WORDED),
    all(Figure(11), "A.4.1", "writing a pair", WORDED),
    all(Figure(12), "A.4.1", "checking a pair", WORDED),
    all(Figure(13), "A.4.1", "keywords of a question", WORDED),
    all(Figure(14), "A.4.1", "answering without the book", WORDED),
    all(Figure(15), "A.4.2", "judging an answer", WORDED),
    all(Figure(16), "A.4.2", "reading the whole book", WORDED),
    all(Figure(17), "A.4.2", "reading contexts", WORDED),
    all(Figure(18), "A.4.2", "searching", WORDED),
    all(Section("4.2"), "4.2", "gaps in the window, items that only searching solves, rank correlations",
        Runs(&[Method(CLASSIC), Verdicts])),
];

#[rustfmt::skip]
static NOVELQA: &[Exhibit] = &[
    all(Table(1), "3.1", "questions by complexity and aspect", Runs(&[Label("complexity"), Label("aspect")])),
    all(Table(2), "4.2", "accuracy in both settings", Runs(&[Tasks(&[Task::Generative, Task::Choice]), Verdicts])),
    all(Table(3), "4.3", "generative accuracy by complexity and aspect",
        Runs(&[Tasks(&[Task::Generative]), Label("complexity"), Label("aspect"), Verdicts])),
    all(Table(4), "4.4", "accuracy before and behind 100K tokens", Runs(&[EvidencePlaces, Verdicts])),
    all(Table(5), "4.5", "marks of the cited evidence", Runs(&[Evidence])),
    all(Table(6), "4.6", "accuracy without the book", Runs(&[Method(&["closed-book"]), Method(&["full-document"]), Verdicts])),
    all(Table(7), "4.1", "agreement of the judge with two people", Runs(&[Tasks(&[Task::Generative]), Verdicts, Labels("verdicts")])),
    all(Table(8), "C.2.1", "templates of questions", Wordless("examples of templates")),
    all(Table(9), "C.2.2", "shares of questions", Runs(&[Label("complexity"), Label("aspect")])),
    all(Table(10), "C.2.2", "abilities by type of question", LEARNED),
    all(Table(11), "C.2.3", "the prompts", WORDED),
    all(Table(12), "C.2.4", "evidence by tokens", Runs(&[EvidencePlaces])),
    all(Table(13), "C.2.4", "evidence by tenths", Runs(&[EvidencePlaces])),
    all(Table(14), "C.4.3", "multichoice accuracy by complexity and aspect",
        Runs(&[Tasks(&[Task::Choice]), Label("complexity"), Label("aspect")])),
    all(Table(15), "C.4.2", "two judges on the same answers", Runs(&[Tasks(&[Task::Generative]), Judges(2)])),
    all(Table(16), "C.4.5", "accuracy by the distance of evidence",
        Runs(&[Tasks(&[Task::Generative]), Label("complexity"), EvidencePlaces, Verdicts])),
    all(Table(17), "C.4.6", "kinds of errors", Runs(&[Labels("kinds of errors")])),
    all(Figure(1), "1", "context windows and lengths of benchmarks", DRAWN),
    all(Figure(2), "1", "two questions", DRAWN),
    all(Figure(3), "3.1", "tokens of novels with their questions", Runs(&[Lengths])),
    all(Figure(4), "4.4", "generative accuracy by the place of evidence",
        Runs(&[Tasks(&[Task::Generative]), EvidencePlaces, Verdicts])),
    all(Figure(5), "C.1", "benchmarks compared", LEARNED),
    all(Figure(6), "C.4.4", "multichoice accuracy by the place of evidence", Runs(&[Tasks(&[Task::Choice]), EvidencePlaces])),
    all(Figure(7), "C.4.4", "multichoice accuracy by tenths, by length of novel",
        Runs(&[Tasks(&[Task::Choice]), EvidencePlaces, Lengths])),
];

#[rustfmt::skip]
static STRONGER_BASELINES: &[Exhibit] = &[
    all(Table(1), "C", "InfiniteBench, GPT-4o-mini", Runs(&[Budgets])),
    all(Table(2), "C", "InfiniteBench, GPT-4o", Runs(&[Budgets])),
    all(Table(3), "C", "QuALITY, GPT-4o-mini", Runs(&[Budgets])),
    all(Table(4), "C", "QuALITY, GPT-4o", Runs(&[Budgets])),
    all(Table(5), "C", "NarrativeQA, five metrics", Runs(&[Budgets, Words])),
    all(Figure(1), "1", "InfiniteBench over tokens, GPT-4o", Runs(&[Budgets])),
    all(Figure(2), "2", "pipelines of one stage and of several", DRAWN),
    all(Figure(3), "3", "QuALITY over tokens, GPT-4o", Runs(&[Budgets])),
    all(Figure(4), "3", "NarrativeQA over tokens, GPT-4o-mini", Runs(&[Budgets])),
    all(Figure(5), "B", "InfiniteBench over tokens, two readers", Runs(&[Budgets])),
    all(Figure(6), "C", "QuALITY over tokens, GPT-4o-mini", Runs(&[Budgets])),
];

#[rustfmt::skip]
static CORPUSQA: &[Exhibit] = &[
    all(Table(1), "1", "benchmarks compared", LEARNED),
    all(Table(2), "3.4", "instances by domain, set and difficulty", Runs(&[Lengths])),
    all(Table(3), "4.2", "the whole collection, by set and domain", Runs(&[Method(&["full-document"]), Verdicts])),
    all(Table(4), "4.2", "memory agent and retrieval, by set and domain",
        Runs(&[Method(&["memory-agent", "corpus-rag"]), Verdicts])),
    all(Table(5), "4.5", "people, the model, the memory agent", Runs(&[People, Verdicts])),
    all(Figure(1), "1", "retrieval and corpus-level questions", DRAWN),
    all(Figure(2), "3", "the pipeline", DRAWN),
    all(Figure(3), "4.4", "before and after training", Runs(&[Method(&["full-document"]), Verdicts])),
    all(Figure(4), "A", "thinking against instruct models", Runs(&[Method(&["full-document"]), Configurations(2), Verdicts])),
    all(Section("B"), "B", "accuracy by difficulty", Runs(&[Label("difficulty"), Verdicts])),
];

#[rustfmt::skip]
static HAMLET: &[Exhibit] = &[
    all(Table(1), "2", "benchmarks compared", LEARNED),
    all(Table(2), "4", "the filter's PASS and FAIL that experts bear out", By("`closeread build hamlet` of what people checked, then `closeread agreement` of the two files that it writes")),
    all(Table(3), "4", "binary accuracy of automated evaluation against experts", By("`closeread people read`, or `closeread agreement` of files of raters")),
    all(Table(4), "5.1.1", "recall gap", Runs(&[KeyFacts])),
    all(Table(5), "5.1.2", "faithfulness by level", Runs(&[KeyFacts])),
    all(Table(6), "5.2", "a reasoning model minus its base", Runs(&[KeyFacts, Configurations(2)])),
    all(Table(7), "5.2", "summary-level scores", Runs(&[KeyFacts])),
    all(Table(8), "A", "the novels with chunks and key facts", Runs(&[Lengths])),
    all(Table(9), "B", "sizes of chunks", By("`closeread build hamlet`, its study of chunk sizes")),
    all(Table(10), "C", "perspectives", Wordless("definitions")),
    all(Table(11), "D", "the models", Wordless("definitions")),
    all(Table(12), "E.1", "kinds of errors", Wordless("definitions")),
    all(Table(13), "G.1", "recall by place and level", Runs(&[KeyFacts, Lengths])),
    all(Table(14), "G.2", "errors by kind", Runs(&[KeyFacts])),
    all(Table(15), "C", "writing an analytical tree", WORDED),
    all(Table(16), "C", "writing a narrative tree", WORDED),
    all(Table(17), "C", "filtering for faithfulness", WORDED),
    all(Table(18), "C", "filtering for objectivity", WORDED),
    all(Table(19), "C", "filtering for significance", WORDED),
    all(Table(20), "C", "writing an analytical query", WORDED),
    all(Table(21), "C", "writing a narrative query", WORDED),
    all(Table(22), "E.1", "verifying facts", WORDED),
    all(Table(23), "E.2", "aligning key facts", WORDED),
    all(Table(24), "B", "judging sizes of chunks", WORDED),
    all(Figure(1), "1", "the pipeline", DRAWN),
    all(Figure(2), "3.1", "a key-fact tree", DRAWN),
    all(Figure(3), "5.1.1", "recall by place", Runs(&[KeyFacts, Lengths])),
    all(Section("5.2"), "5.2", "length of summaries and recall", Runs(&[KeyFacts])),
    all(Equations, "3.3", "recall and faithfulness with intervals, which the paper does not print", Runs(&[KeyFacts])),
];
