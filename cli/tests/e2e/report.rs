//! `closeread report`, as a user meets it.

use crate::support::{Sandbox, rewrite_lines, run_tales, tales};
use expect_test::expect;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

fn small_run() -> Sandbox {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book,dos-rag", "--budget", "15,30"]);
    sandbox
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns every file below a folder, by its path from there.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            found.insert(name);
        }
    }
    found
}

#[test]
fn the_tables_of_a_run() {
    let ended = small_run().run(&["report", "r"]).exits(0);
    expect![[r#"
        Scores in percent with 95% intervals
        method       budget   n              accuracy                 F1       evidence recall  prompt tokens  seconds
        --------------------------------------------------------------------------------------------------------------
        closed-book       -  18       8.3 [0.0, 29.8]   0.0 [0.0, 39.0]*                     -             79      9.0
        dos-rag          15  18  100.0 [75.8, 100.0]*  52.3 [45.3, 59.4]  100.0 [75.8, 100.0]*            111      9.0
        dos-rag          30  18  100.0 [75.8, 100.0]*  52.3 [45.3, 59.4]  100.0 [75.8, 100.0]*            127      9.0
        accuracy: over 12 items
        F1: over 6 items
        evidence recall: over 12 items
        closed-book: 12 answered, 6 not found
        * 95% interval over items: fewer than five books to cluster by, or scores all alike

        How the trials ended
        method       budget  trials  answered  not found
        ------------------------------------------------
        closed-book       -      18        12          6
        dos-rag          15      18        18          0
        dos-rag          30      18        18          0

        Scores under both policies
        method       budget  accuracy, failures wrong   n  accuracy, failures left out   n  F1, failures wrong  n  F1, failures left out  n
        -----------------------------------------------------------------------------------------------------------------------------------
        closed-book       -           8.3 [0.0, 29.8]  12              8.3 [0.0, 29.8]  12    0.0 [0.0, 39.0]*  6       0.0 [0.0, 39.0]*  6
        dos-rag          15      100.0 [75.8, 100.0]*  12         100.0 [75.8, 100.0]*  12   52.3 [45.3, 59.4]  6      52.3 [45.3, 59.4]  6
        dos-rag          30      100.0 [75.8, 100.0]*  12         100.0 [75.8, 100.0]*  12   52.3 [45.3, 59.4]  6      52.3 [45.3, 59.4]  6
        failures wrong: a trial in which the model never got to answer (overflow, cut short, blocked, failed, missing) scores 0
        failures left out: these trials are not in the denominator; what the model did not find or could not put into the agreed form stays wrong
        * 95% interval over items: fewer than five books to cluster by, or scores all alike

        Scores on the items that the closed book missed
        method   budget              accuracy   n                 F1  n
        ---------------------------------------------------------------
        dos-rag      15  100.0 [74.1, 100.0]*  11  52.3 [45.3, 59.4]  6
        dos-rag      30  100.0 [74.1, 100.0]*  11  52.3 [45.3, 59.4]  6
        closed-book missed 11 of 12 by accuracy, 6 of 6 by F1 (a score below 0.5)
        * 95% interval over items: fewer than five books to cluster by, or scores all alike

        What it took
        method       budget  calls  remembered  prompt tokens  % cached  response tokens  dollars  s median  s most
        -----------------------------------------------------------------------------------------------------------
        closed-book       -     18           0              -         -                -   0.0000       0.5     0.5
        dos-rag          15     18           0              -         -                -   0.0000       0.5     0.5
        dos-rag          30     18           0              -         -                -   0.0000       0.5     0.5
        r: 54 of 54 calls did not tell their tokens and are in none of the sums

        Paired differences, accuracy
        A              B               n  books  A scores  B scores                  B - A       p  p (Holm)
        ----------------------------------------------------------------------------------------------------
        closed-book    dos-rag at 30  12      6       8.3     100.0  +91.7 [+70.2, +100.0]  0.0001    0.0002
        dos-rag at 15  dos-rag at 30  12      6     100.0     100.0    0.0 [-14.0, +14.0]*  1.0000    1.0000
        By accuracy 1 of the 2 pairs differ by more than chance would explain (p (Holm) below 0.05).
        Items that both cells scored; p: t test clustered by book; with fewer than five books McNemar's exact test, or a permutation test where scores are not all 0 or 1; p (Holm): corrected over the 2 rows
        * 95% interval over items: fewer than five books to cluster by, or scores all alike

        Paired differences, F1
        A              B              n  books  A scores  B scores                 B - A        p  p (Holm)
        ---------------------------------------------------------------------------------------------------
        closed-book    dos-rag at 30  6      6       0.0      52.3  +52.3 [+45.3, +59.4]  <0.0001   <0.0001
        dos-rag at 15  dos-rag at 30  6      6      52.3      52.3   0.0 [-24.5, +24.5]*   1.0000    1.0000
        By F1 1 of the 2 pairs differ by more than chance would explain (p (Holm) below 0.05).
        Items that both cells scored; p: t test clustered by book; with fewer than five books McNemar's exact test, or a permutation test where scores are not all 0 or 1; p (Holm): corrected over the 2 rows
        * 95% interval over items: fewer than five books to cluster by, or scores all alike

        F1 over the token budget, mean ± deviation over repeats, % (Stronger Baselines, Tables 1 to 4)
                     Maximum Retrieval Token Budget
        Method             15                    30
        -------------------------------------------
        DOS RAG      **52.3**              **52.3**
        closed-book      0.0 (Avg. Tokens: 79)
        policy failures_left_out: overflow, responses cut short, refusals, failed calls and missing trials are not in the denominator
        best of all in bold; n counts repeats

        F1 over the tokens spent, % (Stronger Baselines, Figures 1 and 3 to 6)
        Method       Budget  mean tokens    F1
        --------------------------------------
        DOS RAG          15        103.8  52.3
        DOS RAG          30        116.2  52.3
        closed-book     all         49.2   0.0
        tokens: mean over all trials that made a prompt

        Accuracy over the token budget, mean ± deviation over repeats, % (Stronger Baselines, Tables 1 to 4)
                     Maximum Retrieval Token Budget
        Method              15                   30
        -------------------------------------------
        DOS RAG      **100.0**            **100.0**
        closed-book      8.3 (Avg. Tokens: 79)
        policy failures_left_out: overflow, responses cut short, refusals, failed calls and missing trials are not in the denominator
        best of all in bold; n counts repeats

        Accuracy over the tokens spent, % (Stronger Baselines, Figures 1 and 3 to 6)
        Method       Budget  mean tokens  accuracy
        ------------------------------------------
        DOS RAG          15        115.2     100.0
        DOS RAG          30        132.3     100.0
        closed-book     all         93.2       8.3
        tokens: mean over all trials that made a prompt

        F1 over the token budget, failures as wrong, mean ± deviation over repeats, % (Stronger Baselines, Tables 1 to 4)
                     Maximum Retrieval Token Budget
        Method             15                    30
        -------------------------------------------
        DOS RAG      **52.3**              **52.3**
        closed-book      0.0 (Avg. Tokens: 79)
        policy failures_wrong: overflow, responses cut short, refusals, failed calls and missing trials count as wrong
        best of all in bold; n counts repeats

        F1 over the tokens spent, failures as wrong, % (Stronger Baselines, Figures 1 and 3 to 6)
        Method       Budget  mean tokens    F1
        --------------------------------------
        DOS RAG          15        103.8  52.3
        DOS RAG          30        116.2  52.3
        closed-book     all         49.2   0.0
        tokens: mean over all trials that made a prompt

        Accuracy over the token budget, failures as wrong, mean ± deviation over repeats, % (Stronger Baselines, Tables 1 to 4)
                     Maximum Retrieval Token Budget
        Method              15                   30
        -------------------------------------------
        DOS RAG      **100.0**            **100.0**
        closed-book      8.3 (Avg. Tokens: 79)
        policy failures_wrong: overflow, responses cut short, refusals, failed calls and missing trials count as wrong
        best of all in bold; n counts repeats

        Accuracy over the tokens spent, failures as wrong, % (Stronger Baselines, Figures 1 and 3 to 6)
        Method       Budget  mean tokens  accuracy
        ------------------------------------------
        DOS RAG          15        115.2     100.0
        DOS RAG          30        132.3     100.0
        closed-book     all         93.2       8.3
        tokens: mean over all trials that made a prompt

        accuracy by asked
        method       budget                 again                 first
        ---------------------------------------------------------------
        closed-book       -      16.7 [0.0, 59.5]      0.0 [0.0, 39.0]*
        dos-rag          15  100.0 [61.0, 100.0]*  100.0 [61.0, 100.0]*
        dos-rag          30  100.0 [61.0, 100.0]*  100.0 [61.0, 100.0]*
        items: again 6; first 6
        * 95% interval over items: fewer than five books to cluster by, or scores all alike

        F1 by asked
        method       budget  again              first
        ---------------------------------------------
        closed-book       -      -   0.0 [0.0, 39.0]*
        dos-rag          15      -  52.3 [45.3, 59.4]
        dos-rag          30      -  52.3 [45.3, 59.4]
        items: first 6
        * 95% interval over items: fewer than five books to cluster by, or scores all alike
    "#]].assert_eq(&ended.out());
    assert_eq!(ended.err(), "");
}

#[test]
fn json_says_what_the_run_said() {
    let sandbox = small_run();
    let report = sandbox.run(&["report", "r", "--json"]).exits(0).json();
    let of_run: Value = serde_json::from_str(&read(&sandbox, "r/report.json")).unwrap();
    for (ours, theirs) in report["runs"][0]["cells"].as_array().unwrap().iter().zip(of_run["cells"].as_array().unwrap())
    {
        assert_eq!(ours["metrics"], theirs["metrics"]);
        assert_eq!(ours["ledger"], theirs["ledger"]);
    }
    assert_eq!(report["complete"], true);
    let ids: BTreeSet<&str> = report["charts"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert!(ids.contains("accuracy-by-budget") && ids.contains("accuracy-by-asked"), "{ids:?}");
}

#[test]
fn a_site_has_a_page_a_cell_and_links_that_lead_somewhere() {
    let sandbox = small_run();
    let ended = sandbox.run(&["report", "r", "--html", "site"]).exits(0);
    assert_eq!(ended.out(), "");
    assert!(ended.err().contains("index.html"), "{}", ended.err());
    let there = files(&sandbox.path("site"));
    for name in ["index.html", "cell-3.html", "items.html", "style.css", "charts/accuracy-by-budget.svg"] {
        assert!(there.contains(name), "{name} is not in {there:?}");
    }
    for page in there.iter().filter(|name| name.ends_with(".html")) {
        let html = read(&sandbox, &format!("site/{page}"));
        let is_board = page == "leaderboard.html";
        assert_eq!(html.matches("<script").count(), usize::from(is_board), "{page}: only the board has its element");
        assert!(is_board || !html.contains("src="), "{page}");
        for rest in html.split("href=\"").skip(1) {
            let path = rest.split(['"', '#']).next().unwrap();
            assert!(path.is_empty() || there.contains(path), "{page} leads to {path}");
        }
    }
    // A smaller report into the same folder leaves no page of the larger one.
    run_tales(&sandbox, "small", &["--method", "closed-book"]);
    sandbox.run(&["report", "small", "--html", "site"]).exits(0);
    assert!(!files(&sandbox.path("site")).contains("cell-2.html"));
    sandbox.write("site/notes.txt", "mine");
    sandbox.run(&["report", "r", "--html", "site"]).refuses(&["notes.txt", "--html"]);
    assert_eq!(read(&sandbox, "site/notes.txt"), "mine");
}

#[test]
fn runs_stand_side_by_side() {
    let sandbox = small_run();
    run_tales(&sandbox, "other/r", &["--method", "dos-rag", "--budget", "30"]);
    let ended = sandbox.run(&["report", "r", "other/r", "--latex"]).exits(0);
    assert!(ended.out().contains("other/r & dos-rag & 30 & 18"), "{}", ended.out());
    assert!(ended.out().contains("r: dos-rag at 30 & other/r: dos-rag at 30"), "{}", ended.out());
    sandbox.run(&["report", "r", "r"]).refuses(&["r is given twice"]);
}

#[test]
fn runs_are_pooled_under_names() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "a", &["--method", "dos-rag", "--budget", "30"]);
    run_tales(&sandbox, "b", &["--method", "dos-rag", "--budget", "30"]);
    run_tales(&sandbox, "c", &["--method", "closed-book"]);
    let report = sandbox.run(&["report", "a=int4", "b=full", "c=full", "--json"]).exits(0).json();
    let table = report["tables"].as_array().unwrap().iter().find(|table| table["id"] == "scores").unwrap();
    assert_eq!(table["columns"][0], "run");
    let heads: Vec<(&Value, &Value)> =
        table["rows"].as_array().unwrap().iter().map(|row| (&row[0]["text"], &row[1]["text"])).collect();
    assert_eq!(
        heads,
        [
            (&json!("int4"), &json!("dos-rag")),
            (&json!("full"), &json!("dos-rag")),
            (&json!("full"), &json!("closed-book"))
        ]
    );
    assert_eq!(report["runs"][1]["cells"].as_array().unwrap().len(), 1, "each run has its own cells");
    sandbox.run(&["report", "a=x", "b=x"]).refuses(&["x: dos-rag at 30", "give them different names"]);
}

#[test]
fn pooled_runs_stand_under_the_names_of_their_configurations() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let rag = ["--method", "dos-rag", "--budget", "30"];
    run_tales(&sandbox, "a", &[&rag[..], &["--name", "int4 server"]].concat());
    run_tales(&sandbox, "b", &rag);
    run_tales(&sandbox, "c", &["--method", "closed-book", "--name", "int4 server"]);
    let heads = |runs: &[&str]| {
        let report = sandbox.run(&[&["report", "--json"], runs].concat()).exits(0).json();
        let table = report["tables"].as_array().unwrap().iter().find(|table| table["id"] == "scores").unwrap().clone();
        let rows: Vec<[String; 2]> = table["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| [0, 1].map(|at| row[at]["text"].as_str().unwrap().to_owned()))
            .collect();
        rows
    };
    let of = |run: &str, method: &str| [run.to_owned(), method.to_owned()];
    let pooled = [of("int4 server", "dos-rag"), of("b", "dos-rag"), of("int4 server", "closed-book")];
    assert_eq!(heads(&["a", "b", "c"]), pooled, "the folder's name where the run has none");
    assert_eq!(heads(&["a=full", "b"]), [of("full", "dos-rag"), of("b", "dos-rag")], "a name that is given wins");
    run_tales(&sandbox, "b", &[&rag[..], &["--name", "int4 server"]].concat());
    let same = ["int4 server: dos-rag at 30", "give them different names", "hint: RUN=NAME"];
    sandbox.run(&["report", "a", "b"]).refuses(&same);
}

#[test]
fn the_order_of_pooled_runs_changes_no_score() {
    let sandbox = Sandbox::new();
    let run = ["run", "--method", "closed-book", "--retriever", "bm25"];
    sandbox.run(&[&run[..], &["--out", "plain"]].concat()).exits(0);
    sandbox.run(&[&run[..], &["--out", "judged", "--judge-model", "builtin/rule"]].concat()).exits(0);
    let scores = |runs: [&str; 2]| {
        let report = sandbox.run(&[&["report", "--json"][..], &runs].concat()).exits(0).json();
        let table = report["tables"].as_array().unwrap().iter().find(|table| table["id"] == "scores").unwrap();
        let mut rows = table["rows"].as_array().unwrap().clone();
        rows.sort_by_key(|row| row[0]["text"].to_string());
        rows
    };
    assert_eq!(scores(["plain", "judged"]), scores(["judged", "plain"]));
}

#[test]
fn an_incomplete_run_says_so_in_every_rendering() {
    let sandbox = small_run();
    let records = read(&sandbox, "r/records.jsonl");
    let kept: Vec<&str> = records.lines().take(50).collect();
    sandbox.write("r/records.jsonl", format!("{}\n{{\"item\":\"cut sho", kept.join("\n")));
    let text = sandbox.run(&["report", "r"]).exits(1);
    assert!(text.out().contains("INCOMPLETE: 4 of 54 trials have no record"), "{}", text.out());
    assert!(text.err().contains("INCOMPLETE"), "{}", text.err());
    let latex = sandbox.run(&["report", "r", "--latex"]).exits(1).out();
    assert_eq!(latex.matches("\\caption{").count(), latex.matches("(incomplete)").count());
    assert_eq!(sandbox.run(&["report", "r", "--json"]).exits(1).json()["complete"], false);
    sandbox.run(&["report", "r", "--csv", "all.csv", "--html", "site"]).exits(1);
    sandbox.run(&["report", "r", "--csv", "tables"]).exits(1);
    for name in ["all.csv", "tables/scores.csv", "tables/ledger.csv"] {
        assert!(read(&sandbox, name).lines().skip(1).all(|line| line.ends_with(",no")), "{name}");
    }
    for page in files(&sandbox.path("site")).iter().filter(|name| name.ends_with(".html") || name.ends_with(".svg")) {
        assert!(read(&sandbox, &format!("site/{page}")).contains("(incomplete)"), "{page}");
    }
}

#[test]
fn hostile_text_is_text_everywhere() {
    let sandbox = small_run();
    let hostile = "=1+1</td><script>alert('x')</script>\u{202e}\u{1b}[2J\",\n&_%\\{}$#^~";
    rewrite_lines(&sandbox, "r/items.jsonl", |item| {
        item["question"] = json!(hostile);
        item["labels"]["asked"] = json!(format!("{hostile}{}", item["labels"]["asked"]));
    });
    rewrite_lines(&sandbox, "r/records.jsonl", |record| {
        if record.get("answer").is_some() {
            record["answer"] = json!(hostile);
        }
    });
    // Who forges a folder forges what its manifest says of the items as well.
    let mut manifest: serde_json::Value = serde_json::from_str(&read(&sandbox, "r/manifest.json")).unwrap();
    manifest.as_object_mut().unwrap().remove("stored_items");
    sandbox.write("r/manifest.json", manifest.to_string());
    let text = sandbox.run(&["report", "r"]).exits(0).out();
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    assert!(text.contains("<U+001B>[2J"), "{text}");
    let latex = sandbox.run(&["report", "r", "--latex"]).exits(0).out();
    assert!(latex.contains("\\&\\_\\%\\textbackslash{}\\{\\}\\$\\#\\textasciicircum{}\\textasciitilde{}"), "{latex}");
    sandbox.run(&["report", "r", "--html", "site", "--csv", "all.csv"]).exits(0);
    let own = "<script defer src=\"elements/closeread-site.js\"></script>";
    for page in files(&sandbox.path("site")).iter().filter(|name| name.ends_with(".html") || name.ends_with(".svg")) {
        let content = read(&sandbox, &format!("site/{page}")).replacen(own, "", 1);
        assert!(!content.contains("<script") && !content.contains(['\u{202e}', '\u{1b}']), "{page}");
    }
    let csv = read(&sandbox, "all.csv");
    assert!(!csv.lines().any(|line| line.starts_with("=") || line.contains(",=")), "{csv}");
}

#[test]
fn a_damaged_run_is_refused_with_its_line() {
    let sandbox = small_run();
    sandbox.run(&["report", "nowhere"]).refuses(&["nowhere", "closeread run --out"]);
    let items = read(&sandbox, "r/items.jsonl");
    sandbox.write("r/items.jsonl", items.replacen("\"t0-3\"", "3", 1));
    sandbox.run(&["report", "r"]).refuses(&["items.jsonl:3", "expected an item"]);
    sandbox.write("r/items.jsonl", items);
    let manifest = read(&sandbox, "r/manifest.json");
    sandbox.write("r/manifest.json", manifest.replacen("\"format\": 2", "\"format\": 99", 1));
    sandbox.run(&["report", "r"]).refuses(&["manifest.json", "format 99"]);
    sandbox.write("r/manifest.json", manifest);
    std::fs::remove_dir_all(sandbox.path("r/texts")).unwrap();
    let ended = sandbox.run(&["report", "r"]).exits(0);
    assert!(ended.err().contains("no lengths and positions for document `tale-0`"), "{}", ended.err());
}
