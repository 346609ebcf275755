//! Wrong options for open questions (NovelQA, appendix C.3): three, none equal in meaning to the gold answer.
//!
//! The paper has GPT-4 write them and permutes the order. Here a judge also says of each whether it means the same as a
//! gold answer; one that does, repeats another or could not be judged is written anew.

mod response;

use super::ask::{ATTEMPTS, asked, made};
use super::line::End;
use super::stage::{BuildError, Building, Made, StageStore, Unit, kept};
use super::{Built, Question, StageCost};
use closeread_books::Book;
use closeread_eval::{Item, Task};
use closeread_judges::{self as judges, Judge, Ruling, Submission, SubmittedAnswer, Verdict};
use closeread_methods::Host;
use closeread_methods::record::CallTrace;
use closeread_methods::{MethodError, Session, Settings, Stop};
use closeread_metrics::random::SplitMix64;
use closeread_prompts::builds::{BuildAgain, OptionsDistractors};
use closeread_prompts::judges::JudgeCorpusQa;
use closeread_prompts::variables::Rejected;
use closeread_text::Language;
use response::read;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// The stages, in their order.
pub const STAGES: [&str; 2] = ["distractors", "options"];
/// The prompts by which they ask.
pub const PROMPTS: [&str; 3] = [OptionsDistractors::NAME, JudgeCorpusQa::NAME, BuildAgain::NAME];

/// Parameters of [`options`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Number of wrong options an item.
    pub n: usize,
    /// Number of times that new options are written in the place of those that were refused.
    pub rounds: usize,
    /// Decides the order of the options.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { n: 3, rounds: 3, seed: 1 }
    }
}

/// The models that are asked.
#[derive(Debug)]
pub struct Asked<'a, H> {
    /// Model that writes the options.
    pub writer: &'a H,
    /// Says whether two answers mean the same.
    pub judge: &'a H,
}

impl<H> Clone for Asked<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for Asked<'_, H> {}

/// The wrong options of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distractors {
    /// Wrong options in the order of writing.
    pub wrong: Vec<String>,
    /// Options that were refused on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
}

/// An option that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Text of the option.
    pub text: String,
    /// Reason of the refusal.
    pub why: String,
}

/// The options of an item in their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ordered {
    /// Texts of all options.
    pub options: Vec<String>,
    /// Index of the right one.
    pub correct: usize,
}

/// Returns whether an item gets options: an open question with a gold answer and without options.
pub fn wants_options(item: &Item) -> bool {
    item.is_open() && item.options.is_empty()
}

/// Gives options to every item that [`wants_options`] and makes it a choice; the others stay as they are, and so do those
/// for which not enough options were found.
///
/// # Errors
/// [`BuildError`].
pub async fn options<H: Host, S: StageStore>(
    hosts: Asked<'_, H>,
    settings: Settings<'_>,
    mut building: Building<'_, S>,
    books: &[Arc<Book>],
    items: &[Item],
    parameters: &Options,
) -> Result<Built, BuildError> {
    let open: Vec<Unit<Item>> = items
        .iter()
        .filter(|item| wants_options(item))
        .map(|item| Unit { id: item.id.clone(), input: item.clone() })
        .collect();
    let distractors = building
        .stage("distractors", &open, async |unit: &Unit<Item>| {
            distract(hosts, settings, &title(books, &unit.input), &unit.input, parameters).await
        })
        .await?;
    let by_id: HashMap<&str, &Item> = items.iter().map(|item| (item.id.as_str(), item)).collect();
    let found: Vec<Unit<(String, Distractors)>> = kept(distractors)
        .into_iter()
        .filter_map(|Unit { id, input }| {
            let gold = by_id.get(id.as_str())?.answers.first()?.clone();
            Some(Unit { id, input: (gold, input) })
        })
        .collect();
    let ordered = building
        .stage("options", &found, async |unit: &Unit<(String, Distractors)>| {
            let (gold, distractors) = &unit.input;
            Ok(Made::of(End::Kept { value: ordered(&unit.id, gold, &distractors.wrong, parameters.seed) }))
        })
        .await?;
    let ordered: HashMap<String, Ordered> = kept(ordered).into_iter().map(|unit| (unit.id, unit.input)).collect();
    let mut questions = Vec::new();
    let items = items.iter().map(|item| match ordered.get(&item.id) {
        None => {
            questions.extend(questions_on(item, &[], 0));
            item.clone()
        }
        Some(Ordered { options, correct }) => {
            questions.extend(questions_on(item, options, *correct));
            Item { task: Task::Choice, options: options.clone(), correct: Some(*correct), ..item.clone() }
        }
    });
    let items = items.collect();
    Ok(Built {
        items,
        funnel: building.into_funnel(),
        tables: Vec::new(),
        questions,
        sheet: None,
        about: Default::default(),
    })
}

/// The options in an order that seed and item decide.
fn ordered(id: &str, gold: &str, wrong: &[String], seed: u64) -> Ordered {
    let mut options: Vec<String> = std::iter::once(gold.to_owned()).chain(wrong.iter().cloned()).collect();
    let of_item = u64::from_str_radix(&closeread_text::hash::name_hash(id), 16).expect("twelve hex digits");
    SplitMix64(seed ^ of_item).shuffle(&mut options);
    let correct = options.iter().position(|option| option == gold).expect("shuffling loses nothing");
    Ordered { options, correct }
}

fn title(books: &[Arc<Book>], item: &Item) -> String {
    match item.documents.as_slice() {
        [only] => books.iter().find(|book| book.id == *only).map_or_else(String::new, |book| book.title.clone()),
        _ => String::new(),
    }
}

/// Returns what people are asked about an item: of the question itself by NovelQA's criteria (section 3), and of each
/// wrong option.
fn questions_on(item: &Item, options: &[String], correct: usize) -> Vec<Question> {
    let shown = [format!("Question: {}", item.question), format!("Right: {}", item.answers.join(" / "))];
    let of = |id: String, group: &str, more: Option<String>, asks: &str| Question {
        id: format!("{}/{id}", item.id),
        group: group.to_owned(),
        about: item.id.clone(),
        context: String::new(),
        shows: shown.iter().cloned().chain(more).collect(),
        asks: asks.to_owned(),
        expected: true,
    };
    let itself = "Is the question clear, about facts of the book and no matter of opinion, and is the answer right?";
    let plausible = "Is the option wrong, and plausible to somebody who has not read the book?";
    let wrong = options.iter().enumerate().filter(|(at, _)| *at != correct);
    let wrong =
        wrong.map(|(at, option)| of(at.to_string(), "wrong option", Some(format!("Option: {option}")), plausible));
    [of("question".to_owned(), "question", None, itself)].into_iter().chain(wrong).collect()
}

async fn distract<H: Host>(
    hosts: Asked<'_, H>,
    settings: Settings<'_>,
    title: &str,
    item: &Item,
    parameters: &Options,
) -> Result<Made<Distractors>, MethodError> {
    let mut session = Session::new(hosts.writer, settings);
    let mut judged = Vec::new();
    let end = write(&mut session, &mut judged, hosts, settings, title, item, parameters).await;
    let mut made = made(session, end)?;
    made.calls.extend(judged);
    Ok(made)
}

async fn write<H: Host>(
    session: &mut Session<'_, H>,
    judged: &mut Vec<CallTrace>,
    hosts: Asked<'_, H>,
    settings: Settings<'_>,
    title: &str,
    item: &Item,
    parameters: &Options,
) -> Result<End<Distractors>, Stop> {
    let mut found = Distractors { wrong: Vec::new(), refused: Vec::new() };
    for _ in 0..parameters.rounds.max(1) {
        let missing = parameters.n - found.wrong.len();
        let prompt = prompt(title, item, missing, &found);
        let written = match asked(session, &prompt, "", |response, _| read(response)).await? {
            Ok(written) => written,
            Err(problem) => return Ok(End::dropped("unreadable", problem.to_string())),
        };
        let mut n_judged = 0;
        for option in written {
            // No more are judged than the cost counts at most.
            if found.wrong.len() == parameters.n || n_judged == ATTEMPTS * parameters.n {
                break;
            }
            if let Some(why) = equal_in_form(&option, item, &found) {
                found.refused.push(Refused { text: option, why });
                continue;
            }
            n_judged += 1;
            let said = SubmittedAnswer::Answer { text: &option, choice: None };
            // This judge is not told the language.
            let language = Language::ENGLISH;
            let submission = Submission { item, title, language, said, cited: &[], chunk: "" };
            let response =
                judges::ask(Judge::CorpusQa, hosts.judge, settings, &submission).await.map_err(Stop::Error)?;
            judged.extend(response.calls);
            match response.verdict {
                Verdict::Ruled { ruling: Ruling::Correctness { correct: false } } => found.wrong.push(option),
                Verdict::Ruled { .. } => {
                    found.refused.push(Refused { text: option, why: "it means the same as a right answer".to_owned() });
                }
                Verdict::Failed { error } => return Ok(End::Failed { error }),
                _ => found.refused.push(Refused { text: option, why: "it could not be judged".to_owned() }),
            }
        }
        if found.wrong.len() == parameters.n {
            return Ok(End::Kept { value: found });
        }
    }
    let detail = format!("{} of {} after {} rounds", found.wrong.len(), parameters.n, parameters.rounds);
    Ok(End::dropped("too few", detail))
}

fn prompt<'p>(title: &'p str, item: &'p Item, n: usize, found: &'p Distractors) -> OptionsDistractors<'p> {
    let refused = found.refused.iter().map(|Refused { text, why }| Rejected { text, why });
    let there = found.wrong.iter().map(|text| Rejected { text, why: "it is there already" });
    let quotes = item.evidence.iter().map(|evidence| evidence.quote.as_str()).filter(|quote| !quote.is_empty());
    let (answer, others) = item.answers.split_first().map_or(("", &[][..]), |(first, others)| (first.as_str(), others));
    OptionsDistractors {
        title,
        question: &item.question,
        answer,
        others,
        evidence: quotes.collect(),
        n,
        rejected: refused.chain(there).collect(),
    }
}

/// Returns why an option is none, by its form alone.
fn equal_in_form(option: &str, item: &Item, found: &Distractors) -> Option<String> {
    let form = folded(option);
    let is = |other: &String| folded(other) == form;
    if form.is_empty() {
        Some("it says nothing".to_owned())
    } else if item.answers.iter().any(is) {
        Some("it is a right answer".to_owned())
    } else if found.wrong.iter().any(is) || found.refused.iter().any(|refused| is(&refused.text)) {
        Some("it was given before".to_owned())
    } else {
        None
    }
}

/// Letters and digits without case, with the signs and the decimal points that tell numbers apart.
fn folded(text: &str) -> String {
    let text = text.replace('−', "-");
    let (mut before, mut behind) = (' ', text.chars().skip(1));
    let tells = |c: &char| {
        let (last, next) = (std::mem::replace(&mut before, *c), behind.next().unwrap_or(' '));
        match c {
            '-' => !last.is_alphanumeric() && next.is_numeric(),
            '.' => !last.is_alphabetic() && next.is_numeric(),
            _ => c.is_alphanumeric(),
        }
    };
    text.chars().filter(tells).flat_map(char::to_lowercase).collect()
}

/// Returns what giving options will ask for: at least one call to write and one to judge each, at most a whole round
/// more often.
///
/// # Errors
/// [`MethodError`] if a prompt cannot be filled.
pub fn cost(
    settings: Settings<'_>,
    books: &[Arc<Book>],
    items: &[Item],
    parameters: &Options,
) -> Result<Vec<StageCost>, MethodError> {
    use super::assumed::{Prompt, tokens_of};
    let (mut write, mut judge) = (Vec::new(), Vec::new());
    let nothing = Distractors { wrong: Vec::new(), refused: Vec::new() };
    for item in items.iter().filter(|item| wants_options(item)) {
        let responses = u64::from(settings.response_limit.reserved());
        let known = tokens_of(settings, &prompt(&title(books, item), item, parameters.n, &nothing))?;
        write.push(Prompt { known, responses });
        let (question, answers) = (item.question.as_str(), item.answers.as_slice());
        let known = tokens_of(settings, &JudgeCorpusQa { question, answers, several: false, answer: "" })?;
        judge.extend((0..parameters.n).map(|_| Prompt { known, responses }));
    }
    let rounds = parameters.rounds.max(1) as u64;
    let stages = [("distractors", write), ("distractors: judge", judge)];
    Ok(stages
        .map(|(stage, prompts)| StageCost::of(stage, &prompts, settings.response_limit.reserved()).at_most(rounds))
        .to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_another_sign_or_another_point_are_not_equal_in_form() {
        let form = folded("5");
        assert!(["-5", "−5", "0.5", ".5"].iter().all(|other| folded(other) != form));
        assert_eq!(folded("05"), "05");
        for (one, other) in [("1,000", "1000"), ("−5", "-5"), ("The Well.", "the well"), ("well-worn", "Well worn")] {
            assert_eq!(folded(one), folded(other));
        }
    }

    #[test]
    fn the_order_is_the_seeds_and_the_items() {
        let wrong = ["b", "c", "d"].map(str::to_owned);
        let places: Vec<usize> = (0..40).map(|n| ordered(&format!("q{n}"), "a", &wrong, 1).correct).collect();
        for place in 0..4 {
            assert!(places.contains(&place), "{places:?}");
        }
        assert_eq!(ordered("q1", "a", &wrong, 1), ordered("q1", "a", &wrong, 1));
        assert!((0..40).any(|seed| ordered("q1", "a", &wrong, seed) != ordered("q1", "a", &wrong, 1)));
    }
}
