//! Tests of what a run folder keeps, refuses and takes up again.

use super::*;
use crate::judging::JUDGEMENTS;
use crate::judging::JUDGING;
use crate::spending::CHARGES;
use closeread_files::run_files::SUPERSEDED;
use closeread_judges::Judging;
use closeread_llm::Usage;
use closeread_methods::record::CallTrace;
use std::fs::OpenOptions;
use std::io::Write as _;

fn record(item: &str, outcome: Outcome) -> Record {
    let (method, model) = ("m".to_owned(), "p/x".to_owned());
    Record::ended(TrialKey { item: item.to_owned(), method, model, budget: Some(500), repeat: 0 }, outcome)
}

#[test]
fn finding_01_a_folder_that_is_no_run_folder_is_left_as_it_is() {
    for (name, content) in [
        ("items.jsonl", "mine\n"),
        ("manifest.json", "{\"name\": \"a web app\"}"),
        ("records.jsonl", "mine\n"),
        ("journal/diary.txt", "mine\n"),
        ("texts/novel.txt", "mine\n"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        for opening in [Opening::Resume, Opening::Fresh, Opening::Extend(&[])] {
            let error = RunFolder::open(dir.path(), &json!({}), None, opening).err().unwrap().to_string();
            assert!(error.contains("no manifest.json of closeread: name an empty or a new folder"), "{name}: {error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
        assert_eq!(files::entries(dir.path()).unwrap().len(), 1, "nothing is added");
    }
    assert!(refuse_foreign(Path::new("/"), MANIFEST).is_err());
    let error = RunFolder::open(Path::new(""), &json!({}), None, Opening::Resume).err().unwrap().to_string();
    assert!(error.contains("--out is empty"), "as a config file can say it: {error}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("mine");
    fs::write(&file, "mine").unwrap();
    for path in [file.clone(), file.join("run")] {
        let error = RunFolder::open(&path, &json!({}), None, Opening::Resume).err().unwrap().to_string();
        assert!(error.ends_with("mine is a file: name a folder by --out"), "{error}");
    }
}

#[test]
fn finding_01_what_a_kill_left_before_the_manifest_was_whole_is_ours() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".lock"), "").unwrap();
    fs::create_dir(dir.path().join(TEXTS)).unwrap();
    // As `write_atomically` calls what it writes.
    fs::write(dir.path().join(".aB3dE6.partial"), "{\"form").unwrap();
    RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).unwrap();
}

#[test]
fn finding_04_a_folder_of_another_format_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).unwrap());
    let path = dir.path().join(MANIFEST);
    let mut manifest = read_manifest(&path).unwrap().unwrap();
    manifest["format"] = json!(FORMAT + 1);
    fs::write(&path, pretty(&manifest)).unwrap();
    fs::write(dir.path().join("records.jsonl"), "of tomorrow\n").unwrap();
    for opening in [Opening::Resume, Opening::Fresh, Opening::Extend(&[])] {
        let error = RunFolder::open(dir.path(), &json!({}), None, opening).err().unwrap().to_string();
        assert!(error.contains(&format!("has format {}", FORMAT + 1)) && error.contains("--out"), "{error}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("records.jsonl")).unwrap(), "of tomorrow\n");
}

#[test]
fn finding_06_damaged_prices_are_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(PRICES), "{\"models\": [").unwrap();
    let error = prices(dir.path()).unwrap_err().to_string();
    assert!(error.contains("give the run's command again"), "{error}");
    write_prices(dir.path(), PriceList::default()).unwrap();
    assert!(prices(dir.path()).is_ok());
}

#[test]
#[cfg(unix)]
fn finding_03_a_pipe_in_the_place_of_the_lock_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).unwrap());
    fs::remove_file(dir.path().join(".lock")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(dir.path().join(".lock")).status().unwrap().success());
    let error = RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).err().unwrap().to_string();
    assert!(error.contains(".lock is no file: remove it"), "{error}");
}

#[test]
fn finding_01_fresh_removes_only_files_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    drop(RunFolder::open(dir.path(), &json!({"seed": 1}), None, Opening::Resume).unwrap());
    let write = |name: &str| {
        fs::create_dir_all(dir.path().join(name).parent().unwrap()).unwrap();
        fs::write(dir.path().join(name), "x").unwrap();
    };
    let mine = ["notes.txt", "journal/diary.txt", "batches/list.csv", "preparations/plan.json"];
    let ours = ["journal/0123456789abcdef.jsonl", "batches/0001.json", "batches/0001.requests.jsonl.zst"];
    mine.iter().chain(&ours).for_each(|name| write(name));
    drop(RunFolder::open(dir.path(), &json!({"seed": 2}), None, Opening::Fresh).unwrap());
    assert!(mine.iter().all(|name| dir.path().join(name).is_file()), "what a person laid there stays");
    assert!(ours.iter().all(|name| !dir.path().join(name).exists()));
}

#[test]
fn a_merge_that_is_killed_at_any_moment_leaves_no_folder_that_passes_for_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let configuration = json!({"seed": 1});
    for opening in [Opening::Resume, Opening::Fresh, Opening::Remake(&[])] {
        drop(RunFolder::open_to_join(dir.path(), &configuration, opening).unwrap());
        assert!(is_half_joined(dir.path()), "{opening:?}");
        let error = RunFolder::open(dir.path(), &configuration, None, Opening::Resume).err().unwrap().to_string();
        assert!(error.contains("closeread merge"), "{error}");
    }
    let folder = RunFolder::open_to_join(dir.path(), &configuration, Opening::Fresh).unwrap();
    folder.note_joined().unwrap();
    drop(folder);
    assert!(RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap().records().is_empty());
    joining::mark_there(&dir.path().join(MANIFEST)).unwrap();
    assert!(is_half_joined(dir.path()), "before anything of it goes");
}

#[test]
fn a_line_cut_short_by_a_kill_is_dropped_and_the_rest_kept() {
    let dir = tempfile::tempdir().unwrap();
    let configuration = json!({"seed": 1});
    let mut folder = RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap();
    let done = record("a", Outcome::NotFound);
    folder.append(vec![done.clone()]).unwrap();
    drop(folder);
    let path = dir.path().join("records.jsonl");
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"item\":\"b\",\"meth").unwrap();

    let mut folder = RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap();
    assert_eq!(folder.records(), [done]);
    folder.append(vec![record("b", Outcome::NotFound)]).unwrap();
    drop(folder);
    assert_eq!(RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap().records().len(), 2);
}

#[test]
fn a_manifest_that_was_removed_while_the_run_went_on_is_there_at_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let configuration = json!({"seed": 1});
    let mut folder = RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap();
    folder.name("mine").unwrap();
    folder.write_items(&[]).unwrap();
    let manifest = dir.path().join(MANIFEST);
    let before = fs::read(&manifest).unwrap();
    fs::remove_file(&manifest).unwrap();
    folder.append(vec![record("a", Outcome::NotFound)]).unwrap();
    folder.write_report(&json!({})).unwrap();
    assert_eq!(fs::read(&manifest).unwrap(), before);
    drop(folder);
    assert_eq!(RunFolder::open(dir.path(), &configuration, None, Opening::Resume).unwrap().records().len(), 1);
}

#[test]
fn a_failed_trial_is_run_again_and_a_finished_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut folder = RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).unwrap();
    let failed = record("a", Outcome::Failed { error: "x".to_owned() });
    folder.append(vec![failed.clone()]).unwrap();
    assert!(!folder.is_done(&failed.key));
    folder.append(vec![record("a", Outcome::NotFound)]).unwrap();
    assert!(folder.is_done(&failed.key));
    assert_eq!(folder.records().len(), 1);
}

#[test]
fn what_was_said_of_a_trial_without_a_record_does_not_outlast_it() {
    let dir = tempfile::tempdir().unwrap();
    let open = || RunFolder::open(dir.path(), &json!({}), None, Opening::Resume).unwrap();
    open().append(vec![record("a", Outcome::NotFound), record("b", Outcome::NotFound)]).unwrap();
    let judgement = |item: &str| {
        let TrialKey { method, model, budget, repeat, .. } = record(item, Outcome::NotFound).key;
        let trial = json!({"method": method, "model": model, "budget": budget, "repeat": repeat});
        json!({"item": item, "trial": trial}).to_string() + "\n"
    };
    let (a, b, question) = (judgement("a"), judgement("b"), "{\"item\":\"b\"}\n");
    let judged = [a.as_str(), &b, question].concat();
    fs::write(dir.path().join(JUDGEMENTS), &judged).unwrap();
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    drop(open());
    assert_eq!((read(JUDGEMENTS), read(SUPERSEDED)), (judged, String::new()));
    let first = read(RECORDS).lines().next().unwrap().to_owned() + "\n";
    fs::write(dir.path().join(RECORDS), first).unwrap();
    drop(open());
    assert_eq!((read(JUDGEMENTS), read(SUPERSEDED)), (a + question, b));
}

#[test]
fn another_configuration_and_a_second_run_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = RunFolder::open(dir.path(), &json!({"seed": 1}), None, Opening::Resume).unwrap();
    let error = RunFolder::open(dir.path(), &json!({"seed": 1}), None, Opening::Resume).err().unwrap().to_string();
    assert!(error.contains("another closeread is running"), "{error}");
    drop(folder);
    let error = RunFolder::open(dir.path(), &json!({"seed": 2}), None, Opening::Resume).err().unwrap().to_string();
    assert!(error.contains("seed: 1 there, 2 now"), "{error}");
    assert!(RunFolder::open(dir.path(), &json!({"seed": 2}), None, Opening::Fresh).is_ok());
}

#[test]
fn finding_01_an_extension_of_a_damaged_folder_changes_nothing() {
    let (one, two) = (json!({"repeats": 1}), json!({"repeats": 2}));
    for name in [
        "records.jsonl",
        judging::JUDGEMENTS,
        JUDGING,
        cut::CUT,
        CHARGES,
        EMBEDDINGS,
        RERANKING,
        "batches/0001.json",
        "preparations/0123456789abcdef.json",
    ] {
        let dir = tempfile::tempdir().unwrap();
        drop(RunFolder::open(dir.path(), &one, None, Opening::Resume).unwrap());
        let (manifest, damaged) = (dir.path().join(MANIFEST), dir.path().join(name));
        let before = fs::read_to_string(&manifest).unwrap();
        fs::create_dir_all(damaged.parent().unwrap()).unwrap();
        fs::write(&damaged, "[[]]\n").unwrap();
        let error = RunFolder::open(dir.path(), &two, None, Opening::Extend(&[])).err().map(|e| format!("{e:#}"));
        assert!(error.is_some_and(|error| !error.contains("there, ")), "{name}");
        assert_eq!(fs::read_to_string(&manifest).unwrap(), before, "{name}");
        fs::remove_file(&damaged).unwrap();
        assert!(RunFolder::open(dir.path(), &two, None, Opening::Extend(&[])).is_ok(), "{name}");
    }
}

#[test]
fn a_call_whose_tokens_nobody_named_costs_what_is_counted_here() {
    let dir = tempfile::tempdir().unwrap();
    let list = "['p/x']\nsource = 's'\ndate = '2026-01-02'\nprice = { input = 1, output = 100 }";
    let prices = PriceList::read(list).unwrap();
    let call = CallTrace { counted_tokens: 1_000_000, response: "Ann".to_owned(), ..CallTrace::default() };
    let cost = |call: CallTrace| {
        let record = Record { calls: vec![call], ..record("a", Outcome::NotFound) };
        spent(dir.path(), std::iter::once(&record), &Judging::default(), &prices).unwrap().calls.0
    };
    assert!((1.0001..1.001).contains(&cost(call.clone())), "{}", cost(call.clone()));
    let told = Usage { prompt_tokens: Some(500_000), completion_tokens: Some(0), ..Usage::default() };
    assert!((cost(CallTrace { usage: told, ..call.clone() }) - 0.5).abs() < 1e-9);
    assert_eq!(cost(CallTrace { cached: true, ..call }), 0.0);
}
