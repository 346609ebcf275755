//! SagaScale's collection of questions (section 3.1, figure 1; appendix A.3).
//!
//! A book and an article about it: the article's sections that summarise the fiction give questions, which a model writes
//! from the section together with the passages of the book that it speaks of. Three filters follow: is the answer right,
//! does anybody care, and does no model know it without the book.

mod cost;
mod filter;
mod generate;
mod search;
mod subject;
mod tables;

pub use cost::cost;
use filter::base_item;
pub use filter::{Candidate, Checked, Knower, Known, Popular};
pub use generate::{Context, Ended, Pair, Pairs, SubQueries};
pub use search::{Found, SearchHost};
pub(crate) use subject::{Part, parts};
pub use subject::{SagaScale, Segment, Subject};

use super::line::{End, Line};
use super::stage::{BuildError, Building, Made, StageStore, Unit, kept};
use super::{Built, Question};
use closeread_books::{Book, TextError};
use closeread_judges::QuestionType;
use closeread_methods::Host;
use closeread_methods::Settings;
use closeread_prompts::builds::{
    BuildAgain, SagaScaleCheckPair, SagaScaleKeywords, SagaScalePair, SagaScaleSegment, SagaScaleSubQueries,
};
use closeread_prompts::judges::{ClassifyQuestion, JudgeSagaScale};
use closeread_prompts::readers::SagaScaleClosedBook;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The stages, in their order.
pub const STAGES: [&str; 9] = [
    "segments",
    "segment-filter",
    "sub-queries",
    "pairs",
    "correctness",
    "keywords",
    "realism",
    "contamination",
    "types",
];
/// The prompts by which they ask.
pub const PROMPTS: [&str; 9] = [
    SagaScaleSegment::NAME,
    SagaScaleSubQueries::NAME,
    SagaScalePair::NAME,
    SagaScaleCheckPair::NAME,
    SagaScaleKeywords::NAME,
    SagaScaleClosedBook::NAME,
    JudgeSagaScale::NAME,
    ClassifyQuestion::NAME,
    BuildAgain::NAME,
];

/// The models that are asked, by task.
#[derive(Debug)]
pub struct Crew<'a, H, S> {
    /// Model that judges segments, writes sub-queries, pairs and keywords, names types.
    pub writer: &'a H,
    /// Says whether an answer is right.
    pub checker: &'a H,
    /// Finds what `checker` is shown. Without it `checker` is a model that searches by itself, as in the paper.
    pub lookup: Option<&'a S>,
    /// Counts the results of a question's keywords. Without it the filter of realism keeps everything.
    pub search: Option<&'a S>,
    /// The models that must not know the answers, by their names; four in the paper.
    pub knowers: Vec<(&'a str, &'a H)>,
    /// Says whether an answer without the book is correct.
    pub judge: &'a H,
}

/// Makes questions about the books of `subjects`.
///
/// # Errors
/// [`BuildError`].
pub async fn sagascale<H: Host, P: SearchHost, S: StageStore>(
    crew: &Crew<'_, H, P>,
    settings: Settings<'_>,
    building: Building<'_, S>,
    subjects: &[Subject],
    parameters: &SagaScale,
) -> Result<Built, BuildError> {
    let by_id: HashMap<&str, &Subject> = subjects.iter().map(|subject| (subject.book.id.as_str(), subject)).collect();
    let mut collection = Collection { crew, settings, building, by_id: &by_id, parameters };
    let candidates = collection.generate(subjects).await?;
    let correct = collection.correct(&candidates).await?;
    let (realistic, popular) = collection.realistic(&correct).await?;
    let unknown = collection.unknown(&realistic).await?;
    let (types, n_untyped) = collection.types(&unknown).await?;

    let mut items = Vec::new();
    let mut questions = Vec::new();
    for Unit { id, input: candidate } in &unknown {
        let Some(kind) = types.get(id) else { continue };
        let subject = by_id[candidate.document.as_str()];
        let language = subject.book.language.code();
        let mut item = base_item(id, candidate).label("question_type", kind.name()).label("language", language);
        let popular = popular.get(id);
        item.other.insert("segment".to_owned(), json!(candidate.segment));
        item.other.insert("keywords".to_owned(), json!(popular.map(|popular| &popular.keywords)));
        item.other.insert("popularity".to_owned(), json!(popular.and_then(|popular| popular.score)));
        questions.extend(questions_on(id, candidate, subject)?);
        items.push(item);
    }
    let books: Vec<&Arc<Book>> = subjects.iter().map(|subject| &subject.book).collect();
    let language = |document: &str| by_id[document].book.language.code().to_owned();
    let steps = [("generated", &candidates), ("right", &correct), ("realistic", &realistic), ("kept", &unknown)];
    let mut tables = vec![tables::types(&items, n_untyped), tables::by_language(&steps, language)];
    tables.extend(tables::lengths(&books, settings.tokenizer, &items)?);
    let funnel = collection.building.into_funnel();
    Ok(Built { items, funnel, tables, questions, sheet: None, about: Default::default() })
}

/// The steps of figure 1; each takes what the one before it left.
struct Collection<'a, H, P, S> {
    crew: &'a Crew<'a, H, P>,
    settings: Settings<'a>,
    building: Building<'a, S>,
    by_id: &'a HashMap<&'a str, &'a Subject>,
    parameters: &'a SagaScale,
}

impl<H: Host, P: SearchHost, S: StageStore> Collection<'_, H, P, S> {
    /// Pairs of a question and an answer, from each part of an article that summarises the fiction and the passages that it
    /// speaks of.
    async fn generate(&mut self, subjects: &[Subject]) -> Result<Vec<Unit<Candidate>>, BuildError> {
        let Self { crew, settings, by_id, parameters, .. } = *self;
        let long_enough = async |unit: &Unit<Part>| {
            let tokens = settings.tokenizer.count(&unit.input.segment.text);
            Ok(Made::of(match tokens < parameters.least_tokens {
                true => End::dropped("short", format!("{tokens} tokens of at least {}", parameters.least_tokens)),
                false => End::Kept { value: unit.input.clone() },
            }))
        };
        let found: Vec<Unit<Part>> = kept(self.building.stage("segments", &parts(subjects), long_enough).await?);
        for Unit { input: Part { document, .. }, .. } in &found {
            if !by_id.contains_key(document.as_str()) {
                let problem = format!("a stage names the book `{document}`, which is not among those given");
                return Err(BuildError::Store(problem));
            }
        }

        let about_fiction = async |unit: &Unit<Part>| {
            generate::filter(crew.writer, settings, &by_id[unit.input.document.as_str()].book, &unit.input).await
        };
        let filtered: Vec<Unit<Part>> = kept(self.building.stage("segment-filter", &found, about_fiction).await?);

        let sub_queries = async |unit: &Unit<Part>| {
            generate::sub_queries(crew.writer, settings, &by_id[unit.input.document.as_str()].book, &unit.input).await
        };
        let queries: Vec<Unit<SubQueries>> = kept(self.building.stage("sub-queries", &filtered, sub_queries).await?);
        let part_of: HashMap<&str, &Part> = filtered.iter().map(|unit| (unit.id.as_str(), &unit.input)).collect();
        let with_part = |Unit { id, input: queries }: Unit<SubQueries>| {
            let part = (*part_of.get(id.as_str())?).clone();
            Some(Unit { id, input: (part, queries) })
        };
        let sources: Vec<Unit<(Part, SubQueries)>> = queries.into_iter().filter_map(with_part).collect();

        let pairs = async |unit: &Unit<(Part, SubQueries)>| {
            let (part, queries) = &unit.input;
            generate::pairs(crew.writer, settings, by_id[part.document.as_str()], part, queries, parameters).await
        };
        Ok(candidates(kept(self.building.stage("pairs", &sources, pairs).await?), &part_of))
    }

    /// Candidates whose answer is right.
    async fn correct(&mut self, candidates: &[Unit<Candidate>]) -> Result<Vec<Unit<Candidate>>, BuildError> {
        let Self { crew, settings, by_id, .. } = *self;
        let check = async |unit: &Unit<Candidate>| {
            let book = &by_id[unit.input.document.as_str()].book;
            filter::correctness(crew.checker, crew.lookup, settings, book, &unit.input).await
        };
        let checked: Vec<Line<Checked>> = self.building.stage("correctness", candidates, check).await?;
        Ok(only(candidates, &checked))
    }

    /// Candidates that anybody cares for, and how much each is cared for.
    async fn realistic(
        &mut self,
        correct: &[Unit<Candidate>],
    ) -> Result<(Vec<Unit<Candidate>>, HashMap<String, Popular>), BuildError> {
        let Self { crew, settings, by_id, parameters, .. } = *self;
        let again = asked_already(correct);
        let search = async |unit: &Unit<Candidate>| {
            if let Some(first) = again.get(unit.id.as_str()) {
                return Ok(Made::of(End::dropped("asked already", format!("as {first}"))));
            }
            let book = &by_id[unit.input.document.as_str()].book;
            filter::popularity(crew.writer, crew.search, &parameters.keyword_join, settings, book, &unit.input).await
        };
        let popular: Vec<Line<Popular>> = self.building.stage("keywords", correct, search).await?;
        let scored = filter::scored(correct, &popular);
        let compare =
            async |unit: &Unit<filter::Scored>| Ok(Made::of(filter::realistic(&unit.input, parameters.popularity)));
        let realistic: Vec<Line<Popular>> = self.building.stage("realism", &scored, compare).await?;
        let wanted = only(correct, &realistic);
        Ok((wanted, kept(realistic).into_iter().map(|unit| (unit.id, unit.input)).collect()))
    }

    /// Candidates that no model answers without the book.
    async fn unknown(&mut self, realistic: &[Unit<Candidate>]) -> Result<Vec<Unit<Candidate>>, BuildError> {
        let Self { crew, settings, by_id, .. } = *self;
        let ask = async |unit: &Unit<Candidate>| {
            let book = &by_id[unit.input.document.as_str()].book;
            filter::contamination(&crew.knowers, crew.judge, settings, book, &unit.id, &unit.input).await
        };
        let known: Vec<Line<Known>> = self.building.stage("contamination", realistic, ask).await?;
        Ok(only(realistic, &known))
    }

    /// Type of each candidate's question, by the candidate's id, and how many of them no response named.
    async fn types(
        &mut self,
        unknown: &[Unit<Candidate>],
    ) -> Result<(BTreeMap<String, QuestionType>, usize), BuildError> {
        let Self { crew, settings, by_id, .. } = *self;
        let classify = async |unit: &Unit<Candidate>| {
            let book = &by_id[unit.input.document.as_str()].book;
            filter::classify(crew.writer, settings, book, &unit.id, &unit.input).await
        };
        let types: Vec<Line<QuestionType>> = self.building.stage("types", unknown, classify).await?;
        let n_untyped = types.iter().filter(|line| filter::is_untyped(line)).count();
        Ok((kept(types).into_iter().map(|unit| (unit.id, unit.input)).collect(), n_untyped))
    }
}

fn candidates(pairs: Vec<Unit<Pairs>>, parts: &HashMap<&str, &Part>) -> Vec<Unit<Candidate>> {
    let mut candidates = Vec::new();
    for Unit { id, input } in pairs {
        let Some(part) = parts.get(id.as_str()) else { continue };
        for (at, pair) in input.contexts.into_iter().flat_map(|context| context.pairs).enumerate() {
            let (document, segment) = (part.document.clone(), part.segment.heading.clone());
            candidates.push(Unit { id: format!("{id}-{:03}", at + 1), input: Candidate { document, segment, pair } });
        }
    }
    candidates
}

/// The candidates whose question another one of the same book has before them, each with the id of the first: two sections of an
/// article may tell the same.
fn asked_already(candidates: &[Unit<Candidate>]) -> HashMap<&str, &str> {
    let mut first: HashMap<(&str, String), &str> = HashMap::new();
    let mut again = HashMap::new();
    for Unit { id, input: Candidate { document, pair, .. } } in candidates {
        let known = *first.entry((document.as_str(), generate::folded(&pair.question))).or_insert(id.as_str());
        if known != id {
            again.insert(id.as_str(), known);
        }
    }
    again
}

/// The candidates whose line was kept.
fn only<T>(candidates: &[Unit<Candidate>], lines: &[Line<T>]) -> Vec<Unit<Candidate>> {
    let is_kept: HashMap<&str, bool> =
        lines.iter().map(|line| (line.id.as_str(), matches!(line.end, End::Kept { .. }))).collect();
    candidates.iter().filter(|unit| is_kept.get(unit.id.as_str()).copied().unwrap_or(false)).cloned().collect()
}

/// Returns what people are asked about a question (section 3.2): the criteria that a filter cannot settle.
fn questions_on(id: &str, candidate: &Candidate, subject: &Subject) -> Result<Vec<Question>, TextError> {
    let passages = candidate.pair.passages.iter().copied().filter(|at| *at < subject.passage_index.passages().len());
    let texts = subject.passage_index.texts(passages, Book::text)?;
    let of = |(name, asks): (&str, &str)| Question {
        id: format!("{id}/{name}"),
        group: name.to_owned(),
        about: id.to_owned(),
        context: texts.join("\n"),
        shows: vec![format!("Question: {}", candidate.pair.question), format!("Answer: {}", candidate.pair.answer)],
        asks: asks.to_owned(),
        expected: true,
    };
    Ok([
        ("answerability", "Can the question be answered from the text of the book alone?"),
        ("objectivity", "Is the question objective, with an answer that can be verified?"),
        ("correctness", "Are both the question and the answer free of factual errors?"),
    ]
    .map(of)
    .to_vec())
}
