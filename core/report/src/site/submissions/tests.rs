use super::*;
use crate::testing::item;
use closeread_eval::InputFile;

fn gold() -> Vec<Item> {
    ["a", "b", "c"].map(|id| item(id, "book")).to_vec()
}

/// Predictions of these options, one an item.
fn submitted(name: &str, date: Option<&str>, choices: &[usize]) -> Submission {
    let lines = |rows: String| InputFile { name: "p.jsonl".to_owned(), bytes: rows.into_bytes() };
    let rows = gold()
        .into_iter()
        .zip(choices)
        .map(|(item, choice)| format!("{{\"item\":\"{}\",\"choice\":{choice}}}\n", item.id));
    let run = of_predictions(name, None, &gold(), &lines(rows.collect()));
    let found = run.map_or_else(|error| Found::Broken(error.to_string()), |run| Found::Run(Box::new(run)));
    Submission { name: name.to_owned(), about: About { date: date.map(str::to_owned), ..About::default() }, found }
}

fn index(files: &[SiteFile]) -> &str {
    &files.iter().find(|file| file.path == "index.html").unwrap().content
}

#[test]
fn the_order_of_the_submissions_changes_nothing() {
    let all = || {
        vec![
            submitted("x", Some("2026-01-02"), &[0, 0, 1]),
            submitted("y", None, &[0, 1, 1]),
            submitted("z", Some("2026-01-01"), &[0, 0]),
        ]
    };
    let forth = leaderboard("T", &gold(), all()).unwrap();
    let back = leaderboard("T", &gold(), all().into_iter().rev().collect()).unwrap();
    assert_eq!(forth, back);
    let history = index(&forth).split("Submissions in their order").nth(1).unwrap();
    let places: Vec<usize> = ["y", "z", "x"].map(|name| history.find(&format!("<bdi>{name}</bdi>")).unwrap()).to_vec();
    assert!(places.is_sorted(), "what has no date stands first: {places:?}");
    assert!(history.contains("incomplete, or of no score"), "{history}");
}

#[test]
fn the_page_names_the_script_of_the_elements_once_with_a_board_and_without() {
    for submissions in [vec![submitted("x", None, &[0, 0, 1])], Vec::new()] {
        let files = leaderboard("T", &gold(), submissions).unwrap();
        assert_eq!(index(&files).matches(ELEMENTS).count(), 1);
    }
}

#[test]
fn what_cannot_be_scored_is_said_and_nothing_of_it_becomes_markup() {
    let hostile = "<script>alert(1)</script>";
    let broken = submitted("none", None, &[]);
    assert!(matches!(&broken.found, Found::Broken(why) if why.starts_with("no row of the predictions is on an item")));
    let withdrawn =
        Submission { name: hostile.to_owned(), about: About::default(), found: Found::Withdrawn(hostile.to_owned()) };
    let mut listed = submitted(hostile, Some(hostile), &[0, 0, 0]);
    listed.about.about = Some(hostile.to_owned());
    let files = leaderboard(hostile, &gold(), vec![broken, withdrawn, listed]).unwrap();
    for file in files.iter().filter(|file| file.path.ends_with(".html")) {
        assert!(!file.content.contains("<script>"), "{}", file.path);
    }
    assert!(index(&files).contains("left out: no row of the predictions"));
}

#[test]
fn a_run_is_held_to_the_items_of_the_board() {
    let run = read::unasked("r", &gold()[..2]);
    let held = held_to(run.clone(), &gold()).unwrap();
    assert_eq!(held.items.len(), 3, "what it did not ask is missing");
    let mut other = run.clone();
    other.items[1].question = "Another?".to_owned();
    assert!(
        held_to(other, &gold()).unwrap_err().to_string().starts_with("item `b` has another question or gold answer")
    );
    let mut questions = run.clone();
    questions.items[0].correct = None;
    let error = held_to(questions, &gold()).unwrap_err().to_string();
    assert!(error.starts_with("the run was asked item `a` without its gold answer"), "{error}");
    let mut more = run;
    more.items.push(item("d", "book"));
    assert!(
        held_to(more, &gold())
            .unwrap_err()
            .to_string()
            .starts_with("1 of its items are none of the leaderboard's, such as `d`")
    );
}
