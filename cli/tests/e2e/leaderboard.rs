//! `closeread leaderboard`: submissions in a repository, by several people at once.

use crate::support::{Ended, Sandbox, rewrite_lines, run_tales, tales};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MAKE: [&str; 6] = ["leaderboard", "site", "--runs", "runs/*", "--gold", "tales"];

/// Makes a folder with the tales, and of `names` predictions that have the first items right, as many as each says.
fn submitted(names: &[(&str, usize)]) -> Sandbox {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    for (name, right) in names {
        predictions(&sandbox, name, *right);
    }
    sandbox
}

fn predictions(sandbox: &Sandbox, name: &str, right: usize) {
    let gold = std::fs::read_to_string(sandbox.path("tales/items.jsonl")).unwrap();
    let row = |(n, line): (usize, &str)| {
        let item: Value = serde_json::from_str(line).unwrap();
        let row = match item["correct"].as_u64() {
            Some(correct) => json!({"item": item["id"], "choice": if n < right { correct } else { 3 }}),
            None if n < right => json!({"item": item["id"], "answer": item["answers"][0]}),
            None => json!({"item": item["id"], "answer": "nowhere"}),
        };
        format!("{row}\n")
    };
    sandbox.write(&format!("runs/{name}/predictions.jsonl"), gold.lines().enumerate().map(row).collect::<String>());
    let about = format!("date = 2026-01-{:02}\nabout = \"The system <b>{name}</b>.\"\n", right % 28 + 1);
    sandbox.write(&format!("runs/{name}/submission.toml"), about);
}

/// The files of a site.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(
                files(&path).into_iter().map(|(name, text)| (Path::new(path.file_name().unwrap()).join(name), text)),
            );
        } else {
            found.insert(
                path.file_name().unwrap().into(),
                String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned(),
            );
        }
    }
    found
}

/// The rows of the board: names and whether they are complete.
fn rows(sandbox: &Sandbox) -> Vec<(String, bool)> {
    let results: Value = serde_json::from_slice(&std::fs::read(sandbox.path("site/results.json")).unwrap()).unwrap();
    let rows = results["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row["scorecard"]["complete"].as_bool().unwrap()))
        .collect()
}

fn git(folder: &Path, args: &[&str]) -> Output {
    let who = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
    let mut git = Command::new("git");
    git.current_dir(folder).args(who).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.output().unwrap()
}

fn done(folder: &Path, args: &[&str]) {
    let ended = git(folder, args);
    assert!(ended.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, name) = (entry.as_ref().unwrap().path(), entry.as_ref().unwrap().file_name());
        if path.is_dir() { copy(&path, &to.join(name)) } else { std::fs::copy(&path, to.join(name)).map(drop).unwrap() }
    }
}

#[test]
fn two_pushes_at_once_both_land_and_the_site_is_the_same_whoever_came_first() {
    let all = submitted(&[("ada", 12), ("bert", 15)]);
    run_tales(&all, "runs/own", &["--method", "closed-book,dos-rag", "--budget", "30"]);
    let site_of = |order: [&str; 2]| {
        let sandbox = Sandbox::new();
        done(sandbox.dir.path(), &["init", "--quiet", "--bare", "hub.git"]);
        let clone = |name: &str| {
            done(sandbox.dir.path(), &["clone", "--quiet", "hub.git", name]);
            sandbox.path(name)
        };
        let commit = |folder: &Path, what: &str| {
            copy(&all.path(what), &folder.join(what));
            done(folder, &["add", "--all"]);
            done(folder, &["commit", "--quiet", "--message", what]);
        };
        let first = clone("first");
        commit(&first, "tales");
        commit(&first, "runs/own");
        done(&first, &["push", "--quiet", "origin", "HEAD:main"]);
        let clones = order.map(|name| (name, clone(name)));
        for (name, folder) in &clones {
            commit(folder, &format!("runs/{name}"));
        }
        // Both began with the same state: git refuses whoever comes second, who takes the other's in and pushes again.
        std::thread::scope(|scope| {
            for (_, folder) in &clones {
                scope.spawn(move || {
                    let lands = || git(folder, &["push", "--quiet", "origin", "HEAD:main"]).status.success();
                    let again = || {
                        done(folder, &["pull", "--quiet", "--rebase", "origin", "main"]);
                        lands()
                    };
                    assert!(lands() || (0..5).any(|_| again()), "{} never landed", folder.display());
                });
            }
        });
        let published = clone("published");
        let mut command = sandbox.command(&MAKE);
        Ended(command.current_dir(&published).output().unwrap()).exits(0);
        files(&published.join("site"))
    };
    let (site, other) = (site_of(["ada", "bert"]), site_of(["bert", "ada"]));
    assert_eq!(site.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, text) in &site {
        assert!(other[name] == *text, "{} depends on who came first", name.display());
    }
    let results: Value = serde_json::from_str(&site[Path::new("results.json")]).unwrap();
    let names: Vec<&str> =
        results["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    for who in ["ada", "bert", "own: closed-book", "own: dos-rag"] {
        assert!(names.iter().any(|name| name.starts_with(who)), "{who} is lost: {names:?}");
    }
}

#[test]
fn two_who_write_one_site_at_once_leave_it_whole() {
    let sandbox = submitted(&[("ada", 12), ("bert", 15), ("cleo", 18)]);
    sandbox.run(&MAKE).exits(0);
    let alone = files(&sandbox.path("site"));
    let mut both: Vec<_> = (0..3).map(|_| sandbox.command(&MAKE).spawn().unwrap()).collect();
    for process in &mut both {
        assert!(process.wait().unwrap().success());
    }
    assert!(files(&sandbox.path("site")) == alone);
}

#[test]
fn a_site_has_systems_trials_history_and_a_scorer_and_loads_nothing_from_elsewhere() {
    let sandbox = submitted(&[("ada", 12), ("bert", 15)]);
    run_tales(&sandbox, "runs/own", &["--method", "closed-book,dos-rag", "--budget", "15,30"]);
    sandbox.write("runs/own/submission.toml", "date = 2026-02-01\nurl = \"https://example.org/own\"\n");
    sandbox.run(&[&MAKE[..], &["--title", "Tales <i>"]].concat()).exits(0);
    let site = files(&sandbox.path("site"));
    let index = &site[Path::new("index.html")];
    for part in [
        "<h1><bdi>Tales &lt;i&gt;",
        "<closeread-leaderboard src=\"results.json\">",
        "<closeread-scorer gold=\"items.jsonl\">",
        "Submissions in their order",
        "2026-01-16",
        "Scores in percent with 95% intervals",
        "charts/",
    ] {
        assert!(index.contains(part), "{part}: {index}");
    }
    for page in site.iter().filter(|(name, _)| name.extension().is_some_and(|ending| ending == "html")) {
        assert!(!page.1.contains("<b>ada"), "what submitters write is text");
        for link in page.1.split("href=\"").skip(1).chain(page.1.split("src=\"").skip(1)) {
            let link = link.split(['"', '#']).next().unwrap();
            let is_here = link.is_empty() || site.contains_key(Path::new(link)) || link.starts_with("elements/");
            assert!(is_here, "{}: {link}", page.0.display());
        }
    }
    // Each trial by reference: the hash of what was sent, and places in the texts.
    let system =
        site.iter().find(|(name, text)| name.starts_with("cell-2.html") && text.contains("items-2-1.html#item-1"));
    assert!(system.is_some(), "a system's page leads to its trials");
    let items = &site[Path::new("items-3-1.html")];
    assert!(items.contains("messages <code>") && items.contains("in bytes:"), "{items}");
    let results: Value = serde_json::from_str(&site[Path::new("results.json")]).unwrap();
    assert_eq!(results["rows"][0]["url"], "cell-1.html");
    // What the board says is what `closeread score` says.
    let card =
        sandbox.run(&["score", "--gold", "tales", "--predictions", "runs/ada/predictions.jsonl", "--json"]).json();
    assert_eq!(results["rows"][0]["scorecard"]["metrics"], card["metrics"]);
}

#[test]
fn a_broken_submission_gets_one_message_and_the_rest_goes_on() {
    let sandbox = submitted(&[("ada", 12), ("bert", 15)]);
    run_tales(&sandbox, "runs/other", &["--method", "closed-book"]);
    rewrite_lines(&sandbox, "runs/other/items.jsonl", |item| item["question"] = json!("Another?"));
    sandbox.write("runs/damaged/manifest.json", "{");
    sandbox.write("runs/empty/notes.txt", "nothing");
    sandbox.write("runs/nobodys/predictions.jsonl", "{\"item\": \"none\", \"answer\": \"x\"}\n");
    sandbox.write("runs/unsaid/predictions.jsonl", "{}");
    sandbox.write("runs/unsaid/submission.toml", "dat = 2026-01-01\n");
    sandbox.write("runs/late/submission.toml", "date = 2026-01-01T10:00:00\n");
    sandbox.write("runs/wordy/submission.toml", "date = \"1 March 2026\"\n");
    sandbox.write("runs/dotted/submission.toml", "about = 'A date.'\ndate = 01.03.2026\n");
    sandbox.write("runs/within/ada/predictions.jsonl", "{}");
    sandbox.write("runs/script/submission.toml", "url = \"javascript:alert(1)\"\n");
    sandbox.write("runs/README.md", "no folder, no submission");
    let ended = sandbox.run(&MAKE).exits(1);
    let said = ended.err();
    for (name, words) in [
        ("other", "item `t0-1` has another question or gold answer than the leaderboard's"),
        ("damaged", "manifest.json"),
        ("empty", "holds neither a run (manifest.json) nor predictions.jsonl"),
        ("nobodys", "no row of the predictions is on an item of the leaderboard; the first problem"),
        ("unsaid", "unknown field `dat`"),
        ("late", "expected one, as in date = 2026-01-31"),
        ("wordy", "submission.toml: `date` is no day: expected one, as in date = 2026-01-31"),
        ("dotted", "; a day is written as in date = 2026-01-31"),
        ("within", "folders in it do: name them by --runs 'runs/within/*'"),
        ("script", "expected an address that begins with https://"),
    ] {
        let about: Vec<&str> = said.lines().filter(|line| line.contains(&format!("{name} is left out: "))).collect();
        assert_eq!(about.len(), 1, "{name}: {said}");
        assert!(said.contains(words), "{name}: {words}: {said}");
        assert!(files(&sandbox.path("site"))[Path::new("index.html")].contains(name));
    }
    assert!(said.contains("submissions: 2 read, 10 left out, 0 withdrawn"), "{said}");
    assert_eq!(rows(&sandbox).len(), 2);
}

#[test]
fn the_gold_answers_are_those_of_the_longest_run_where_none_are_named() {
    let sandbox = submitted(&[]);
    run_tales(&sandbox, "runs/part", &["--method", "closed-book", "--limit", "3"]);
    run_tales(&sandbox, "runs/whole", &["--method", "closed-book"]);
    rewrite_lines(&sandbox, "tales/items.jsonl", |item| {
        item.as_object_mut().unwrap().retain(|name, _| !["answers", "correct", "evidence"].contains(&&**name));
    });
    run_tales(&sandbox, "runs/asked", &["--method", "closed-book"]);
    sandbox.write("runs/damaged/manifest.json", "{");
    let said = sandbox.run(&["leaderboard", "site", "--runs", "runs/*"]).exits(1).err();
    assert!(said.contains("gold answers: those of whole, "), "{said}");
    assert!(said.contains("submissions: 2 read, 2 left out, 0 withdrawn"), "{said}");
}

#[test]
fn an_incomplete_submission_has_no_rank_and_a_withdrawn_one_only_its_history() {
    let sandbox = submitted(&[("ada", 12), ("bert", 15)]);
    let half = std::fs::read_to_string(sandbox.path("runs/bert/predictions.jsonl")).unwrap();
    sandbox
        .write("runs/half/predictions.jsonl", half.lines().take(9).map(|line| format!("{line}\n")).collect::<String>());
    sandbox.run(&MAKE).exits(0);
    let complete: BTreeMap<String, bool> = rows(&sandbox).into_iter().collect();
    assert_eq!(complete.values().filter(|complete| **complete).count(), 2, "{complete:?}");
    let before = files(&sandbox.path("site"));

    sandbox.write(
        "runs/bert/submission.toml",
        "date = 2026-01-16\nwithdrawn = \"The <b>test</b> was in its training.\"\n",
    );
    std::fs::remove_file(sandbox.path("runs/bert/predictions.jsonl")).unwrap();
    let said = sandbox.run(&MAKE).exits(0).err();
    assert!(said.contains("submissions: 2 read, 0 left out, 1 withdrawn"), "{said}");
    let after = files(&sandbox.path("site"));
    assert!(rows(&sandbox).iter().all(|(name, _)| !name.starts_with("bert")));
    assert!(after[Path::new("index.html")].contains("withdrawn: The &lt;b&gt;test&lt;/b&gt; was in its training."));
    // Where the page is built, each lies there as a script, too.
    let n_predictions = |site: &BTreeMap<PathBuf, String>| {
        let is_one =
            |name: &&PathBuf| name.starts_with("predictions") && name.extension().is_some_and(|end| end == "jsonl");
        site.keys().filter(is_one).count()
    };
    assert_eq!((n_predictions(&before), n_predictions(&after)), (3, 2), "what it said is gone");

    for name in ["ada", "half"] {
        std::fs::remove_dir_all(sandbox.path("runs").join(name)).unwrap();
    }
    sandbox.run(&MAKE).exits(0);
    let none = files(&sandbox.path("site"));
    assert!(none[Path::new("index.html")].contains("No system is on the board yet."));
    assert!(none[Path::new("items.html")].contains("What had Ana found?"), "readers see the items");
}

#[test]
fn nothing_of_a_persons_is_overwritten() {
    let sandbox = submitted(&[("ada", 12)]);
    sandbox.write("site/index.html", "mine");
    sandbox.run(&MAKE).refuses(&["`index.html`, which is no part of a site", "DIR"]);
    assert_eq!(std::fs::read(sandbox.path("site/index.html")).unwrap(), b"mine");
    std::fs::remove_file(sandbox.path("site/index.html")).unwrap();
    sandbox.run(&MAKE).exits(0);
    sandbox.write("site/mine.txt", "mine");
    sandbox.run(&MAKE).refuses(&["`mine.txt`"]);
    std::fs::remove_file(sandbox.path("site/mine.txt")).unwrap();
    sandbox.write("site/leaderboard-files.json", "[\"../tales/items.jsonl\"]");
    sandbox.run(&MAKE).refuses(&["names `../tales/items.jsonl`, which lies outside the folder"]);
    assert!(sandbox.path("tales/items.jsonl").exists());

    let workflow = [&MAKE[..], &["--workflow", "w.yml"]].concat();
    std::fs::remove_dir_all(sandbox.path("site")).unwrap();
    sandbox.write("w.yml", "mine");
    assert!(sandbox.run(&workflow).exits(0).err().contains("w.yml stays as it is"));
    assert_eq!(std::fs::read(sandbox.path("w.yml")).unwrap(), b"mine");
    sandbox.run(&["leaderboard", "site", "--runs", "nobody/*"]).refuses(&["nobody/*: no folder is called so"]);
    sandbox.run(&["leaderboard", "site", "--runs", "runs/*"]).refuses(&["name them by --gold ITEMS"]);
    let mistyped = ["leaderboard", "site", "--runs", "runs/*", "runs/adda", "--gold", "tales"];
    sandbox.run(&mistyped).refuses(&["--runs runs/adda: no folder is called so"]);
    let nobody = ["leaderboard", "site", "--runs", "runs/*", "others/*", "--gold", "tales"];
    assert!(sandbox.run(&nobody).exits(0).err().contains("--runs others/*: no folder is called so"));
    let outside = ["leaderboard", "site", "--runs", "../*", "--gold", "tales", "--workflow", "x.yml"];
    sandbox.run(&outside).refuses(&["--runs ../*: expected a path inside the repository"]);
}

/// The script of a step of a workflow.
fn step(workflow: &str, name: &str) -> String {
    let after = workflow.split(&format!("- name: {name}\n")).nth(1).unwrap();
    let script = after.split("run: |\n").nth(1).unwrap();
    script.lines().take_while(|line| line.starts_with("          ")).map(|line| format!("{}\n", &line[10..])).collect()
}

#[test]
#[cfg(unix)]
fn the_workflow_checks_what_a_pull_request_brings_and_makes_the_site() {
    let sandbox = submitted(&[("ada", 12), ("old", 3)]);
    let folder = sandbox.dir.path().to_owned();
    // What lies there already is not checked again, broken as it may be.
    sandbox.write("runs/broken/notes.txt", "nothing");
    let args = ["--title", "What's new", "--workflow", ".github/workflows/leaderboard.yml"];
    sandbox.run(&[&MAKE[..], &args].concat()).exits(1);
    std::fs::remove_dir_all(sandbox.path("site")).unwrap();
    let workflow = std::fs::read_to_string(sandbox.path(".github/workflows/leaderboard.yml")).unwrap();
    assert!(!workflow.contains("{options}") && !workflow.contains("{runs}"), "{workflow}");
    done(&folder, &["init", "--quiet"]);
    done(&folder, &["add", "--all"]);
    done(&folder, &["commit", "--quiet", "--message", "all"]);
    let bin = Path::new(env!("CARGO_BIN_EXE_closeread")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let run = |name: &str| {
        let mut bash = Command::new("bash");
        let dressed = sandbox.command(&[]);
        bash.envs(dressed.get_envs().filter_map(|(name, value)| Some((name, value?))));
        bash.args(["-e", "-c", &step(&workflow, name)]).current_dir(&folder).env("PATH", &path).env("BASE", "HEAD~1");
        Ended(bash.output().unwrap())
    };
    let pull_request = |change: &dyn Fn()| {
        change();
        done(&folder, &["add", "--all"]);
        done(&folder, &["commit", "--quiet", "--message", "more"]);
        run("Check what was submitted")
    };
    pull_request(&|| predictions(&sandbox, "bert", 15)).exits(0);
    let own = || run_tales(&sandbox, "runs/own", &["--method", "dos-rag", "--budget", "30"]);
    let checked = pull_request(&own).exits(0).out();
    assert!(checked.contains("18 trials parsed and scored again") && !checked.contains("runs/ada"), "{checked}");
    let better =
        || rewrite_lines(&sandbox, "runs/own/records.jsonl", |record| record["scores"] = json!({"accuracy": 1.0}));
    assert!(pull_request(&better).exits(1).out().contains("recomputed"), "scores that nobody scored");
    let half = || drop(sandbox.write("runs/half/predictions.jsonl", "{\"item\": \"t0-1\", \"choice\": 0}\n"));
    pull_request(&half).exits(1);
    let gone = || drop(sandbox.write("runs/half/submission.toml", "withdrawn = \"a mistake\"\n"));
    pull_request(&gone).exits(0);
    run("Make the site").exits(0);
    assert!(sandbox.path("site/index.html").exists(), "a broken submission keeps no site from being made");
}

#[test]
fn a_run_on_a_chinese_book_has_the_metrics_of_its_report() {
    let sandbox = Sandbox::new();
    let text = "那一年是1937年，船沉了。村里的人都在岸上。";
    sandbox.write("zh/documents.jsonl", format!("{}\n", json!({"id": "z", "text": text})));
    let items = ["1937", "Not found in context."].map(|answer| {
        let item = json!({"id": answer, "documents": ["z"], "question": "哪一年？", "answers": [answer]});
        format!("{item}\n")
    });
    sandbox.write("zh/items.jsonl", items.concat());
    sandbox.run(&["run", "--benchmark", "zh", "--method", "closed-book", "--out", "runs/r"]).exits(0);
    sandbox.run(&["leaderboard", "site", "--runs", "runs/*"]).exits(0);
    let names = |metrics: &Value| -> Vec<String> { metrics.as_object().unwrap().keys().cloned().collect() };
    let report = sandbox.run(&["report", "runs/r", "--json"]).json();
    assert_eq!(names(&report["runs"][0]["cells"][0]["metrics"]), ["infinitebench_zh_f1"]);
    let results: Value = serde_json::from_slice(&std::fs::read(sandbox.path("site/results.json")).unwrap()).unwrap();
    assert_eq!(names(&results["rows"][0]["scorecard"]["metrics"]), ["infinitebench_zh_f1", "exact_match"]);
    let told = |gold: &str| sandbox.run(&["leaderboard", "site", "--runs", "runs/*", "--gold", gold]).exits(0).err();
    let warned = "1 items are Chinese or Japanese in r, by their books, and the gold answers do not tell it";
    assert!(told("zh").contains(warned), "{}", told("zh"));
    assert!(!told("runs/r").contains("Chinese"), "the run's items tell their language");
}

#[test]
fn fields_of_ones_own_are_not_published_with_the_gold_answers() {
    let sandbox = submitted(&[("ada", 12)]);
    rewrite_lines(&sandbox, "tales/items.jsonl", |item| {
        item["context"] = "the whole book".into();
        item["canary"] = "guid".into();
    });
    sandbox.run(&MAKE).exits(0);
    let published = std::fs::read_to_string(sandbox.path("site/items.jsonl")).unwrap();
    assert!(!published.contains("the whole book") && published.contains("guid") && published.contains("had found"));
}
