//! The three filters, and the type of what is left (section 3.1, stage 3.2; appendix A.3).

use super::SearchHost;
use super::generate::{Pair, ResponseError};
use crate::ask;
use crate::ask::{asked, made};
use crate::line::{End, Line};
use crate::stage::{Made, Unit};
use closeread_books::Book;
use closeread_eval::Outcome;
use closeread_eval::answer::after_reasoning;
use closeread_eval::answer::boxed::{boxed_label, boxed_texts};
use closeread_eval::{Item, Task};
use closeread_judges::{self as judges, Judge, QuestionType, Ruling, Submission, SubmittedAnswer, Verdict};
use closeread_methods::Host;
use closeread_methods::record::CallTrace;
use closeread_methods::{ClosedBook, MethodError, PromptStyle, Session, Settings, run};
use closeread_prompts::builds::{SagaScaleCheckPair, SagaScaleKeywords};
use closeread_prompts::variables::Titled;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// A pair on its way through the filters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Id of the book.
    pub document: String,
    /// Heading of the segment that it was written from.
    pub segment: String,
    /// Pair of question and answer.
    #[serde(flatten)]
    pub pair: Pair,
}

/// The item of a candidate, without labels.
pub(super) fn base_item(id: &str, candidate: &Candidate) -> Item {
    let mut item = Item::new(id, &candidate.document, &candidate.pair.question, Task::Generative);
    item.answers = vec![candidate.pair.answer.clone()];
    item
}

/// Most results of a search to show the checker.
const SHOWN: usize = 5;

/// The finding that an answer is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checked {
    /// Reason that the checker gave last.
    pub reason: String,
}

/// The popularity of a question: how much it is cared for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Popular {
    /// Keywords of what the question is about.
    pub keywords: Vec<String>,
    /// Results of one search for all keywords; absent where nobody searches.
    pub score: Option<u64>,
}

/// The finding that no model knows the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// Answers of each model without the book.
    pub knowers: Vec<Knower>,
}

/// The answer of a model without the book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knower {
    /// Name of the model.
    pub model: String,
    /// Answer of the model; empty if it gave none.
    pub answer: String,
}

/// A question with its score and the highest one of its book.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Scored {
    popular: Popular,
    highest: u64,
}

/// The prompt of the checker.
pub(super) fn correctness_prompt<'p>(
    book: &'p Book,
    candidate: &'p Candidate,
    results: Option<&'p [super::Found]>,
) -> SagaScaleCheckPair<'p> {
    let found = results.unwrap_or_default().iter();
    SagaScaleCheckPair {
        title: &book.title,
        question: &candidate.pair.question,
        answer: &candidate.pair.answer,
        searched: results.is_some(),
        results: found.map(|super::Found { title, text }| Titled { title, text: text.into() }).collect(),
    }
}

/// Keeps a pair whose answer a search bears out (figure 12); nothing found is not right.
pub(super) async fn correctness<H: Host, P: SearchHost>(
    host: &H,
    lookup: Option<&P>,
    settings: Settings<'_>,
    book: &Book,
    candidate: &Candidate,
) -> Result<Made<Checked>, MethodError> {
    let mut session = Session::new(host, settings);
    let results = match lookup {
        None => None,
        Some(lookup) => match lookup.find(&format!("{} {}", book.title, candidate.pair.question)).await {
            Ok(found) => Some(found.into_iter().take(SHOWN).collect::<Vec<_>>()),
            Err(error) => return made(session, Err(error.into())),
        },
    };
    let prompt = correctness_prompt(book, candidate, results.as_deref());
    let end = asked(&mut session, &prompt, "", |response, _| {
        let label = boxed_label(response, &["PASS", "FAIL"]).answer();
        let label = label.ok_or(ResponseError::Verdict("PASS", "FAIL"))?;
        Ok::<_, ResponseError>((label, response.trim().to_owned()))
    })
    .await;
    let end = end.map(|read| match read {
        Ok((0, reason)) => End::Kept { value: Checked { reason } },
        Ok((_, reason)) => End::dropped("not borne out", reason),
        Err(problem) => End::dropped("unreadable", problem.to_string()),
    });
    made(session, end)
}

/// The prompt of the keywords.
pub(super) fn keyword_prompt<'p>(book: &'p Book, candidate: &'p Candidate) -> SagaScaleKeywords<'p> {
    SagaScaleKeywords { title: &book.title, question: &candidate.pair.question }
}

/// The keywords of a question (figure 13) and how many results one search for all of them has; `join` stands between them.
pub(super) async fn popularity<H: Host, P: SearchHost>(
    host: &H,
    search: Option<&P>,
    join: &str,
    settings: Settings<'_>,
    book: &Book,
    candidate: &Candidate,
) -> Result<Made<Popular>, MethodError> {
    let made = ask::one(host, settings, &keyword_prompt(book, candidate), "", |response, _| {
        let mut keywords: Vec<String> = Vec::new();
        for keyword in boxed_texts(response).into_iter().filter(|keyword| !keyword.is_empty()) {
            if !keywords.iter().any(|known| known == keyword) {
                keywords.push(keyword.to_owned());
            }
        }
        match keywords.is_empty() {
            true => Err(ResponseError::Keyword),
            false => Ok(Popular { keywords, score: None }),
        }
    })
    .await?;
    let (Some(search), End::Kept { value }) = (search, &made.end) else { return Ok(made) };
    let end = match search.hits(&value.keywords.join(join)).await {
        Ok(score) => End::Kept { value: Popular { score: Some(score), ..value.clone() } },
        Err(error) => End::Failed { error: error.to_string() },
    };
    Ok(Made { end, ..made })
}

/// Returns each question with its score beside the highest of its book.
pub(super) fn scored(candidates: &[Unit<Candidate>], lines: &[Line<Popular>]) -> Vec<Unit<Scored>> {
    let popular: HashMap<&str, &Popular> = lines
        .iter()
        .filter_map(|line| match &line.end {
            End::Kept { value } => Some((line.id.as_str(), value)),
            _ => None,
        })
        .collect();
    let mut highest: HashMap<&str, u64> = HashMap::new();
    for unit in candidates {
        if let Some(score) = popular.get(unit.id.as_str()).and_then(|popular| popular.score) {
            let most = highest.entry(unit.input.document.as_str()).or_default();
            *most = score.max(*most);
        }
    }
    let of = |unit: &Unit<Candidate>| {
        let popular = (*popular.get(unit.id.as_str())?).clone();
        let highest = highest.get(unit.input.document.as_str()).copied().unwrap_or(0);
        Some(Unit { id: unit.id.clone(), input: Scored { popular, highest } })
    };
    candidates.iter().filter_map(of).collect()
}

/// Keeps a question whose score is at least `share` of the highest one of its book; where nobody searched, every one.
pub(super) fn realistic(scored: &Scored, share: f64) -> End<Popular> {
    let Scored { popular, highest } = scored;
    match popular.score {
        Some(score) if (score as f64) < share * *highest as f64 => {
            End::dropped("unpopular", format!("{score} results, {highest} for the highest of the book"))
        }
        _ => End::Kept { value: popular.clone() },
    }
}

/// Keeps a question that no model answers correctly without the book (figure 14). One whose answer could not be judged, or
/// did not come to its end, is dropped too: nobody knows whether it is known. A response without the form is judged as it stands.
pub(super) async fn contamination<H: Host>(
    knowers: &[(&str, &H)],
    judge: &H,
    settings: Settings<'_>,
    book: &Arc<Book>,
    id: &str,
    candidate: &Candidate,
) -> Result<Made<Known>, MethodError> {
    let item = base_item(id, candidate);
    let books = [Arc::clone(book)];
    let method = ClosedBook { style: PromptStyle::Sagascale, together: false };
    let mut calls: Vec<CallTrace> = Vec::new();
    let mut known = Known { knowers: Vec::new() };
    for (model, host) in knowers {
        let session = Session::new(*host, settings).about(&books);
        let trial = run(&method, &session, &[&item], None).await?.remove(0);
        let said = SubmittedAnswer::of(&trial.outcome, &trial.calls);
        let answer = said.text().to_owned();
        calls.extend(trial.calls);
        let silent = match &trial.outcome {
            Outcome::Failed { error } => Some(End::Failed { error: error.clone() }),
            Outcome::Blocked { .. } | Outcome::Overflow { .. } | Outcome::CutShort { .. } => {
                Some(End::dropped("no answer", format!("{model}: {}", trial.outcome.name().replace('_', " "))))
            }
            _ => None,
        };
        if let Some(end) = silent {
            return Ok(Made { end, calls });
        }
        if !answer.is_empty() {
            let response = judges::ask(Judge::SagaScale, judge, settings, &submission(&item, book, said)).await?;
            calls.extend(response.calls);
            let why = match response.verdict {
                Verdict::Ruled { ruling: Ruling::Correctness { correct: false } } => None,
                Verdict::Ruled { .. } => Some("known"),
                Verdict::Failed { error } => return Ok(Made { end: End::Failed { error }, calls }),
                _ => Some("not judged"),
            };
            if let Some(why) = why {
                return Ok(Made { end: End::dropped(why, format!("{model} says: {answer}")), calls });
            }
        }
        known.knowers.push(Knower { model: (*model).to_owned(), answer });
    }
    Ok(Made { end: End::Kept { value: known }, calls })
}

/// Asks what kind of thing a question asks for (figure 8).
pub(super) async fn classify<H: Host>(
    host: &H,
    settings: Settings<'_>,
    book: &Book,
    id: &str,
    candidate: &Candidate,
) -> Result<Made<QuestionType>, MethodError> {
    let item = base_item(id, candidate);
    let response =
        judges::ask(Judge::ClassifyQuestion, host, settings, &submission(&item, book, SubmittedAnswer::Nothing))
            .await?;
    let end = match response.verdict {
        Verdict::Ruled { ruling: Ruling::QuestionType { question_type } } => End::Kept { value: question_type },
        Verdict::Failed { error } => End::Failed { error },
        // A type that was not named is none of the others.
        _ => End::Kept { value: QuestionType::Miscellaneous },
    };
    Ok(Made { end, calls: response.calls })
}

/// True of a question that counts as Miscellaneous because no response named its type.
pub(super) fn is_untyped(line: &Line<QuestionType>) -> bool {
    let names = QuestionType::ALL.map(QuestionType::name);
    let named = |call: &CallTrace| boxed_label(after_reasoning(&call.response), &names).answer().is_some();
    matches!(line.end, End::Kept { .. }) && !line.calls.iter().any(named)
}

fn submission<'a>(item: &'a Item, book: &'a Book, said: SubmittedAnswer<'a>) -> Submission<'a> {
    Submission { item, title: &book.title, language: book.language, said, cited: &[], chunk: "" }
}
