//! Generation of pairs of question and answer from an article's segments (section 3.1, stages 2 and 3.1).

use super::subject::{Part, SagaScale, Subject};
use crate::ask;
use crate::ask::{asked, made};
use crate::line::End;
use crate::stage::Made;
use closeread_books::Book;
use closeread_eval::answer::boxed::{QaPair, boxed_label, qa_pair};
use closeread_eval::answer::tag::sub_queries as read_queries;
use closeread_methods::Host;
use closeread_methods::{MethodError, Session, Settings, Stop};
use closeread_prompts::builds::{SagaScalePair, SagaScaleSegment, SagaScaleSubQueries};
use closeread_prompts::variables;
use serde::{Deserialize, Serialize};

/// The sub-queries of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubQueries {
    /// Sub-queries of one or two sentences each, in the language of the book.
    pub queries: Vec<String>,
}

/// A question with its answer, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// The question.
    pub question: String,
    /// Answer to the question.
    pub answer: String,
    /// The sub-query whose passages it was written from.
    pub query: String,
    /// Numbers of these passages in the book, best first.
    pub passages: Vec<usize>,
}

/// The pairs that one context gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// The sub-query.
    pub query: String,
    /// Pairs in the order of writing.
    pub pairs: Vec<Pair>,
    /// Reason why there are no more pairs.
    pub ended: Ended,
}

/// The reason why a context gives no more pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The model said `END`.
    End,
    /// [`SagaScale::most_pairs`] were written.
    Limit,
    /// The model wrote a question again that was there.
    Repetition,
    /// The response could not be read.
    Unreadable,
}

/// The pairs that the contexts of a segment gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// Contexts, one a sub-query.
    pub contexts: Vec<Context>,
}

/// The reason why a response cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ResponseError {
    #[error("it does not end with \\boxed{{{0}}} or \\boxed{{{1}}}")]
    Verdict(&'static str, &'static str),
    #[error("it holds no <summary> ... </summary>")]
    Summary,
    #[error("it holds neither a question and an answer in two \\boxed{{}} nor \\boxed{{END}} alone")]
    Pair,
    #[error("it holds no keyword in \\boxed{{}}")]
    Keyword,
}

/// The prompt of the filter.
pub(super) fn filter_prompt<'p>(book: &'p Book, part: &'p Part) -> SagaScaleSegment<'p> {
    SagaScaleSegment { title: &book.title, heading: &part.segment.heading, segment: &part.segment.text }
}

/// Keeps a segment that is an objective summary of what the book tells (figure 9).
pub(super) async fn filter<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    part: &Part,
) -> Result<Made<Part>, MethodError> {
    let mut session = Session::new(host, settings);
    let end = asked(&mut session, &filter_prompt(book, part), "", |response, _| {
        boxed_label(response, &["YES", "NO"]).answer().ok_or(ResponseError::Verdict("YES", "NO"))
    })
    .await;
    let end = end.map(|read| match read {
        Ok(0) => End::Kept { value: part.clone() },
        Ok(_) => End::dropped("no summary", ""),
        Err(problem) => End::dropped("unreadable", problem.to_string()),
    });
    made(session, end)
}

/// The prompt of the sub-queries.
pub(super) fn queries_prompt<'p>(book: &'p Book, part: &'p Part) -> SagaScaleSubQueries<'p> {
    SagaScaleSubQueries { title: &book.title, segment: &part.segment.text, language: book.language }
}

/// Breaks a segment into parts and summarises each (figure 10).
pub(super) async fn sub_queries<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    part: &Part,
) -> Result<Made<SubQueries>, MethodError> {
    ask::one(host, settings, &queries_prompt(book, part), "", |response, _| {
        let mut queries: Vec<String> = Vec::new();
        for query in read_queries(response) {
            // One that is repeated would have its calls paid again, on the same passages.
            if !queries.iter().any(|known| folded(known) == folded(query)) {
                queries.push(query.to_owned());
            }
        }
        match queries.is_empty() {
            true => Err(ResponseError::Summary),
            false => Ok(SubQueries { queries }),
        }
    })
    .await
}

/// Writes pairs from each context, the segment and the passages nearest to a sub-query, until the model says `END`
/// (figure 11). It is shown the pairs that the segment gave before; one that comes again ends its context.
pub(super) async fn pairs<H: Host>(
    host: &H,
    settings: Settings<'_>,
    subject: &Subject,
    part: &Part,
    queries: &SubQueries,
    parameters: &SagaScale,
) -> Result<Made<Pairs>, MethodError> {
    let mut session = Session::new(host, settings);
    let end = contexts(&mut session, subject, part, queries, parameters).await;
    let end = end.map(|contexts| match contexts.iter().all(|context| context.pairs.is_empty()) {
        true => {
            End::dropped("no pair", contexts.iter().map(|c| format!("{:?}", c.ended)).collect::<Vec<_>>().join(", "))
        }
        false => End::Kept { value: Pairs { contexts } },
    });
    made(session, end)
}

async fn contexts<H: Host>(
    session: &mut Session<'_, H>,
    subject: &Subject,
    part: &Part,
    queries: &SubQueries,
    parameters: &SagaScale,
) -> Result<Vec<Context>, Stop> {
    let mut contexts: Vec<Context> = Vec::new();
    for query in &queries.queries {
        let vector = match subject.retriever.needs_vectors() {
            true => Some(session.embed_query(query).await?),
            false => None,
        };
        let ranking = subject.passage_index.ranking(subject.retriever, query, vector.as_deref())?;
        let passages: Vec<usize> = ranking.iter().take(parameters.top_k).map(|ranked| ranked.idx).collect();
        let texts = subject.passage_index.texts(passages.iter().copied(), Book::text).map_err(MethodError::from)?;
        let mut context = Context { query: query.clone(), pairs: Vec::new(), ended: Ended::Limit };
        while context.pairs.len() < parameters.most_pairs {
            let earlier: Vec<&Pair> = contexts.iter().flat_map(|c| &c.pairs).chain(&context.pairs).collect();
            let prompt = pair_prompt(&subject.book, part, &texts, &earlier);
            let read = asked(session, &prompt, "", |response, _| match qa_pair(response).answer() {
                Some(QaPair::End) => Ok(None),
                Some(QaPair::Pair { question, answer }) => Ok(Some((question.to_owned(), answer.to_owned()))),
                None => Err(ResponseError::Pair),
            });
            match read.await? {
                Ok(Some((question, _))) if earlier.iter().any(|pair| folded(&pair.question) == folded(&question)) => {
                    context.ended = Ended::Repetition;
                    break;
                }
                Ok(Some((question, answer))) => {
                    context.pairs.push(Pair { question, answer, query: query.clone(), passages: passages.clone() });
                }
                Ok(None) => {
                    context.ended = Ended::End;
                    break;
                }
                Err(_) => {
                    context.ended = Ended::Unreadable;
                    break;
                }
            }
        }
        contexts.push(context);
    }
    Ok(contexts)
}

/// The prompt of a pair.
pub(super) fn pair_prompt<'p>(
    book: &'p Book,
    part: &'p Part,
    passages: &'p [String],
    earlier: &[&'p Pair],
) -> SagaScalePair<'p> {
    let earlier = earlier.iter().map(|pair| variables::Pair { question: &pair.question, answer: &pair.answer });
    SagaScalePair {
        title: &book.title,
        segment: &part.segment.text,
        passages,
        earlier: earlier.collect(),
        language: book.language,
    }
}

/// A question as it is compared with others: its letters and digits.
pub(super) fn folded(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
