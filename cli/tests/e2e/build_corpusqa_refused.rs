//! `closeread build corpusqa` on what it cannot build from.

use crate::build_corpusqa::SAMPLE;
use crate::support::Sandbox;

#[test]
fn what_cannot_be_built_is_refused() {
    let sandbox = Sandbox::new();
    let table = format!("{SAMPLE}/table.csv");
    let run = |arguments: &[&str]| sandbox.run(&[&["build", "corpusqa", "--out", "c"][..], arguments].concat());
    run(&[]).refuses(&["--documents is missing"]);
    run(&["--documents", SAMPLE]).refuses(&["--model is missing"]);
    run(&["--documents", SAMPLE, "--model", "openai/x", "--queries", "1"])
        .refuses(&["agrees with nobody", "--extractor"]);
    run(&["--documents", SAMPLE, "--table", "gone.csv"]).refuses(&["cannot use --table gone.csv"]);
    run(&["--documents", SAMPLE, "--table", &table, "--lengths", "1G"]).refuses(&["128K, 1M"]);
    run(&["--documents", SAMPLE, "--table", &table, "--entity", "x"]).refuses(&["company,companies"]);
    sandbox.write("t.csv", "a,b\n1,2,3\n");
    run(&["--documents", SAMPLE, "--table", "t.csv"]).refuses(&["t.csv", "line 2: 3 cells: expected 2"]);
    run(&["--documents", SAMPLE, "--table", &table, "--templates", "t.csv"])
        .refuses(&["--templates t.csv", "[[template]]"]);
    run(&["--check-sql"]).refuses(&["expected the folder of a finished build corpusqa"]);
    let short = run(&["--documents", SAMPLE, "--table", &table]).exits(1);
    assert!(short.err().contains("nothing came out"), "{}", short.err());
}
