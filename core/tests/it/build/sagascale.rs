//! SagaScale: segments, pairs, three filters, types.

use super::{Memory, funnel, survives_any_death, with_setting};
use crate::support::{STORY, ScriptedHost, book};
use closeread_books::Book;
use closeread_books::chunk::Chunker;
use closeread_books::tokens::Tokenizer;
use closeread_build::sagascale::{Crew, Found, SagaScale, SearchHost, Segment, Subject, cost, sagascale};
use closeread_build::{BuildError, Building, Built};
use closeread_llm::{Call, HostError};
use closeread_retrieve::{PassageIndex, Retriever};
use closeread_table::Value;
use serde_json::json;

/// The article's sections: heading and text.
const ARTICLE: [(&str, &str); 2] = [
    ("Plot", "Ana hides a key under the stair. Ben finds it and keeps it for nine years."),
    ("Reception", "Critics praised the book and it sold a million copies in its first year."),
];

/// Knows nothing of lanterns, little of the stair.
struct Library;

impl SearchHost for Library {
    async fn hits(&self, query: &str) -> Result<u64, HostError> {
        Ok(match query {
            "Ben the key" => 100_000,
            "the stair" => 40,
            _ => 3,
        })
    }

    async fn find(&self, query: &str) -> Result<Vec<Found>, HostError> {
        assert!(query.starts_with("The Key "));
        Ok(vec![Found { title: "The Key".to_owned(), text: "A story of a key.".to_owned() }])
    }
}

fn parameters() -> SagaScale {
    SagaScale { least_tokens: 5, passage_tokens: 16, top_k: 2, ..SagaScale::default() }
}

fn subject() -> Subject {
    let (book, tokenizer) = (book("story", "The Key", STORY), Tokenizer::cl100k());
    let passage_index = PassageIndex::new(vec![book.clone()], Chunker::Window, 16, &tokenizer, Book::text).unwrap();
    let segment = |(heading, text): (&str, &str)| Segment { heading: heading.to_owned(), text: text.to_owned() };
    Subject { book, passage_index, retriever: Retriever::Bm25, segments: ARTICLE.map(segment).to_vec() }
}

/// Builds with one model in every part; `knowing` are the models of the last filter.
fn build_with(
    host: &ScriptedHost<'_>,
    knowing: &[(&str, &ScriptedHost<'_>)],
    (lookup, search): (Option<&Library>, Option<&Library>),
    store: &Memory,
    parameters: &SagaScale,
) -> Result<Built, BuildError> {
    let subjects = [subject()];
    let knowers = knowing.iter().map(|(name, _)| (*name, host)).collect();
    let crew = Crew { writer: host, checker: host, lookup, search, knowers, judge: host };
    with_setting(async |settings| {
        sagascale(&crew, settings, Building::new(store, 2, None), &subjects, parameters).await
    })
}

pub(crate) fn build(host: &ScriptedHost<'_>, store: &Memory) -> Result<Built, BuildError> {
    build_with(host, &[("p/knower", host)], (Some(&Library), Some(&Library)), store, &parameters())
}

fn said(call: &Call) -> &str {
    &call.messages[0].content
}

/// A model that does all that it is asked for: two pairs from the first sub-query, then one.
pub(crate) fn able(call: &Call) -> Result<String, HostError> {
    let said = said(call);
    Ok(match call.prompt.as_str() {
        "sagascale-segment" => {
            if said.contains("Critics") {
                r"\boxed{NO}"
            } else {
                r"\boxed{YES}"
            }
        }
        "sagascale-sub-queries" => "<summary>\nAna hides a key.\n</summary>\n<summary>Ben keeps the key.</summary>",
        "sagascale-pair" if said.contains("(nine)") => r"\boxed{END}",
        "sagascale-pair" if said.contains("(Ben)") => r"\boxed{For how many years is the key kept?} \boxed{nine}",
        "sagascale-pair" if said.contains("(third)") => r"\boxed{Who finds the key?} \boxed{Ben}",
        "sagascale-pair" => r"\boxed{Under which stair lies the key?} \boxed{third}",
        "sagascale-check-pair" => r"It is so. \boxed{PASS}",
        "sagascale-keywords" if said.contains("stair") => r"\boxed{the stair}",
        "sagascale-keywords" if said.contains("years") => r"\boxed{nine years}",
        "sagascale-keywords" => r"\boxed{Ben} \boxed{the key}",
        "sagascale-closed-book" => "<answer>\nCleo\n</answer>",
        "judge-sagascale" => r"\boxed{INCORRECT}",
        "classify-question" if said.contains("Who finds") => r"\boxed{Character}",
        "classify-question" => r"\boxed{Location}",
        other => panic!("{other} is asked for"),
    }
    .to_owned())
}

/// The contexts of the only segment, and how often a pair was asked for.
fn contexts(response: impl Fn(&Call) -> Option<String>) -> (serde_json::Value, usize) {
    let store = Memory::default();
    let host = ScriptedHost::scripted(|call, _| match response(call) {
        Some(response) if call.prompt == "sagascale-pair" => Ok(response),
        _ => able(call),
    });
    build(&host, &store).unwrap();
    let asked = host.transcript().matches("chat sagascale-pair ").count();
    (store.lines("pairs").remove(0), asked)
}

#[test]
fn a_model_that_ends_at_once_gives_nothing() {
    let (line, asked) = contexts(|_| Some(r"\boxed{END}".to_owned()));
    assert_eq!((&line["reason"], asked), (&json!("no pair"), 2));
}

#[test]
fn a_model_that_never_ends_is_stopped() {
    let (line, asked) = contexts(|call| {
        let n = said(call).matches("- Question ").count();
        Some(format!(r"\boxed{{Question {n}?}} \boxed{{{n}}}"))
    });
    let contexts = &line["value"]["contexts"];
    assert_eq!((&contexts[0]["ended"], contexts[1]["pairs"].as_array().unwrap().len()), (&json!("limit"), 10));
    assert_eq!(asked, 20);
}

#[test]
fn a_pair_that_comes_again_or_cannot_be_read_ends_its_context() {
    let (line, _) = contexts(|_| Some(r"\boxed{Who?} \boxed{Ben}".to_owned()));
    let ended = |line: &serde_json::Value| {
        let contexts = line["value"]["contexts"].as_array().unwrap().clone();
        contexts.iter().map(|context| context["ended"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ended(&line), ["repetition", "repetition"]);
    let (line, asked) = contexts(|call| said(call).contains("(third)").then(|| "A question comes to mind.".to_owned()));
    assert_eq!(
        (ended(&line), asked),
        (vec!["unreadable".to_owned(), "unreadable".to_owned()], 5),
        "each is asked again"
    );
}

#[test]
fn each_filter_drops_by_its_own_rule() {
    let with = |prompt: &'static str, response: &'static str| {
        let script = move |call: &Call, _| if call.prompt == prompt { Ok(response.to_owned()) } else { able(call) };
        funnel(&build(&ScriptedHost::scripted(script), &Memory::default()).unwrap())
    };
    assert_eq!(
        with("sagascale-check-pair", r"Nothing is said. \boxed{FAIL}")[4],
        "correctness 3 -> 0, not borne out 3"
    );
    assert_eq!(with("sagascale-check-pair", "Hm.")[4], "correctness 3 -> 0, unreadable 3");
    assert_eq!(with("sagascale-keywords", "none")[5], "keywords 3 -> 0, unreadable 3");
    assert_eq!(with("judge-sagascale", r"\boxed{CORRECT}")[7], "contamination 2 -> 0, known 2");
    assert_eq!(with("judge-sagascale", "Hm.")[7], "contamination 2 -> 0, not judged 2");
    assert_eq!(with("sagascale-closed-book", "<answer>\nNONE\n</answer>")[7], "contamination 2 -> 2");
    let knower = |response: Result<&'static str, HostError>| {
        let script = move |call: &Call, _| match call.prompt.as_str() {
            "sagascale-closed-book" => response.clone().map(str::to_owned),
            "judge-sagascale" => Ok(r"\boxed{CORRECT}".to_owned()),
            _ => able(call),
        };
        funnel(&build(&ScriptedHost::scripted(script), &Memory::default()).unwrap())[7].clone()
    };
    assert_eq!(knower(Ok("It is Cleo.")), "contamination 2 -> 0, known 2", "a response without the form is judged");
    assert_eq!(knower(Err(HostError::Blocked { reason: "no".to_owned() })), "contamination 2 -> 0, no answer 2");
    assert_eq!(with("sagascale-sub-queries", "Ana hides a key.")[2], "sub-queries 1 -> 0, unreadable 1");
    assert_eq!(with("classify-question", "Hm.")[8], "types 2 -> 2", "what is no type is Miscellaneous");
}

#[test]
fn a_summary_that_a_model_repeats_is_one_sub_query() {
    let script = |call: &Call, _| match call.prompt.as_str() {
        "sagascale-sub-queries" => {
            Ok("<summary>Ana hides a key.</summary>\n".repeat(50) + "<summary>ana hides a KEY</summary>")
        }
        _ => able(call),
    };
    let store = Memory::default();
    build(&ScriptedHost::scripted(script), &store).unwrap();
    assert_eq!(store.lines("sub-queries")[0]["value"]["queries"], json!(["Ana hides a key."]));
}

#[test]
fn a_question_that_two_sections_give_is_asked_once() {
    let script = |call: &Call, _| match call.prompt.as_str() {
        "sagascale-segment" => Ok(r"\boxed{YES}".to_owned()),
        _ => able(call),
    };
    let built = build(&ScriptedHost::scripted(script), &Memory::default()).unwrap();
    assert_eq!(funnel(&built)[4..6], ["correctness 6 -> 6", "keywords 6 -> 3, asked already 3"]);
    assert_eq!(built.items.len(), 2);
}

#[test]
fn questions_whose_type_no_response_names_are_counted() {
    let notes = |response: &'static str| {
        let script = move |call: &Call, _| match call.prompt.as_str() {
            "classify-question" => Ok(response.to_owned()),
            _ => able(call),
        };
        let built = build(&ScriptedHost::scripted(script), &Memory::default()).unwrap();
        built.tables.into_iter().find(|table| table.id == "types").unwrap().notes
    };
    assert_eq!(notes(""), ["questions whose type no response named, which count as Miscellaneous: 2"]);
    assert!(notes(r"\boxed{Miscellaneous}").is_empty());
}

#[test]
fn without_a_search_the_checker_searches_and_every_question_is_popular_enough() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build_with(&host, &[], (None, None), &Memory::default(), &parameters()).unwrap();
    assert!(host.transcript().contains("by what you find on the web"));
    assert_eq!(funnel(&built)[6..8], ["realism 3 -> 3", "contamination 3 -> 3"]);
    assert_eq!(built.items[0].other["popularity"], json!(null));
}

#[test]
fn a_checker_that_searches_by_itself_stands_beside_counted_realism() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build_with(&host, &[], (None, Some(&Library)), &Memory::default(), &parameters()).unwrap();
    assert!(host.transcript().contains("by what you find on the web"));
    assert_eq!(funnel(&built)[6], "realism 3 -> 2, unpopular 1");
    let table = built.tables.iter().find(|table| table.id == "languages").unwrap();
    let rows: Vec<String> =
        table.rows.iter().map(|row| row.iter().map(Value::shown).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(rows, ["en 3 3 2 2 66.7", "all 3 3 2 2 66.7"]);
}

#[test]
fn keywords_are_counted_by_one_search_joined_as_was_said() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let parameters = SagaScale { keyword_join: "\" \"".to_owned(), ..parameters() };
    let built = build_with(&host, &[], (None, Some(&Library)), &Memory::default(), &parameters).unwrap();
    assert_eq!(funnel(&built)[6], "realism 3 -> 3", "no query is known: 3 for `Ben\" \"the key`, 40 at the most");
    let built = build(&host, &Memory::default()).unwrap();
    assert_eq!(built.items[1].other["popularity"], json!(100_000), "not the sum over `Ben` and `the key`");
}

/// Section 3.2: solvable from the book's text alone, objective and verifiable, no factual error in question or answer.
#[test]
fn people_are_asked_by_the_papers_three_criteria() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build(&host, &Memory::default()).unwrap();
    let asked: Vec<(&str, &str)> = built.questions[..3].iter().map(|one| (&*one.group, &*one.asks)).collect();
    let expected = [
        ("answerability", "Can the question be answered from the text of the book alone?"),
        ("objectivity", "Is the question objective, with an answer that can be verified?"),
        ("correctness", "Are both the question and the answer free of factual errors?"),
    ];
    assert_eq!(asked, expected);
    let types = built.tables.iter().find(|table| table.id == "types").unwrap();
    assert_eq!(types.source, "SagaScale, Figure 2", "Figure 8 is the prompt");
}

#[test]
fn the_papers_statistics_of_the_data_are_in_the_report() {
    let host = ScriptedHost::scripted(|call, _| able(call));
    let built = build(&host, &Memory::default()).unwrap();
    let sources: Vec<&str> = built.tables.iter().map(|table| table.source.as_str()).collect();
    let expected = ["Figure 2", "section 3.3", "Table 2", "Table 9", "Figure 5"];
    assert_eq!(sources, expected.map(|exhibit| format!("SagaScale, {exhibit}")));
}

#[test]
fn a_build_that_dies_anywhere_comes_back_with_the_same_questions() {
    survives_any_death(&able, &|host, store| build(host, store));
}

#[test]
fn the_cost_of_the_first_stages_is_that_of_the_calls_which_are_made() {
    let subjects = [subject()];
    let stages = with_setting(async |settings| cost(settings, &subjects, 2, &parameters()).unwrap());
    let n = |at: usize| stages[at].cost.n().low;
    assert_eq!(
        (n(0), n(1), n(2), n(5), n(6)),
        (2, 2, 8, 4, 4),
        "two segments, two sub-queries each, a pair and END, an answer and a judge"
    );
    let most = parameters().most_pairs as u64;
    assert_eq!(stages[3].cost.n().high, 4 * 2 * most, "as many pairs as may be, each asked about twice");
}
