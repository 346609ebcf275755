//! The checks of a pull request.

use super::needs::{self, TARGETS};
use super::outcome::{Done, LeftOut};
use crate::conformance::{self, NotYet, Runner, Target};
use crate::machine::{
    CHROMIUM, CLIPPY, DENY, FAKETIME, HEADLESS_SHELL, LAVAPIPE, LINTERS, MDBOOK, NEXTEST, NGINX, PYTHON, READERS,
    RUSTFMT, SLURM, STORES, Tool, WASM, linters,
};
use crate::process::{BUILD_PROGRAMS, FULL, cargo, listen, program, root, run as run_program, stdout_of, target_dir};
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::EXE_SUFFIX;

pub(super) fn format(_: &mut LeftOut) -> Result<Done> {
    RUSTFMT.require()?;
    run_program(cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Done::Passed(String::new()))
}

pub(super) fn lints(_: &mut LeftOut) -> Result<Done> {
    CLIPPY.require()?;
    run_program(cargo().args(["clippy", "--workspace", "--all-targets", FULL, "--", "--deny", "warnings"]))?;
    Ok(Done::Passed(String::new()))
}

/// Checks that the crates that score compile no crate that reads books, whatever their features, and that for WebAssembly the
/// vectors and the page compile every crate once.
pub(super) fn layers(_: &mut LeftOut) -> Result<Done> {
    const OF_BOOKS: [&str; 6] = ["chardetng", "closeread-books", "encoding_rs", "html5ever", "tokenizers", "whatlang"];
    let sets: [&[&str]; 3] = [
        &["--package", "closeread-metrics", "--all-features"],
        &["--package", "closeread-data", "--no-default-features", "--features", "other-formats"],
        &["--package", "closeread-wasm", "--no-default-features", "--features", "scorer", "--target", WASM],
    ];
    for set in sets {
        let tree = ["tree", "--quiet", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"];
        let tree = stdout_of(cargo().args(tree).args(set))?;
        let found = packages_of(&tree, &OF_BOOKS);
        ensure!(found.is_empty(), "{} is compiled with {}", set[1], found.join(", "));
    }
    let page = crate::web::page_in_development();
    let compiled = |packages: &[&str]| -> Result<BTreeSet<String>> {
        let tree = ["tree", "--quiet", "--edges", "normal,build", "--prefix", "none", "--format", "{p} {f}"];
        let tree = stdout_of(cargo().args(tree).args(packages).args(&page).args(["--target", WASM]))?;
        Ok(tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
    };
    let with_vectors = compiled(&["--package", "closeread-tests"])?;
    let twice: Vec<String> = compiled(&[])?.difference(&with_vectors).cloned().collect();
    ensure!(twice.is_empty(), "other features than of the vectors' runner, so compiled twice: {}", twice.join(", "));
    Ok(Done::Passed(format!("{} packages", sets.len())))
}

/// Checks external crates by `deny.toml`.
pub(super) fn crates(_: &mut LeftOut) -> Result<Done> {
    if let Err(error) = DENY.require() {
        return Ok(Done::Skipped(format!("{error:#}")));
    }
    run_program(cargo().args(["deny", "--log-level", "error", "check", "bans", "licenses", "sources"]))?;
    Ok(Done::Passed(String::new()))
}

/// Checks spelling in all files, and the workflows of hosted CI by their schema and by actionlint.
pub(super) fn texts(_: &mut LeftOut) -> Result<Done> {
    if let Err(error) = LINTERS.require() {
        return Ok(Done::Skipped(format!("{error:#}")));
    }
    let folder = linters().context("they were found")?;
    run_program(program(folder.join("bin/typos")).args(["--format", "brief", "."]))?;
    let workflows = std::fs::read_dir(root().join(".github/workflows"))?.map(|entry| Ok(entry?.path()));
    let workflows = workflows.collect::<Result<Vec<_>>>()?;
    let schema = ["--quiet", "--builtin-schema", "vendor.github-workflows"];
    run_program(program(folder.join("bin/check-jsonschema")).args(schema).args(&workflows))?;
    run_program(program("node").arg(".github/lint.mjs").arg(&folder))?;
    Ok(Done::Passed(format!("{} workflows", workflows.len())))
}

/// Returns which of `wanted` are in the output of `cargo tree`, which has a package and its version on each line.
fn packages_of<'w>(tree: &str, wanted: &[&'w str]) -> Vec<&'w str> {
    let is_there = |name: &&str| tree.lines().any(|line| line.split(' ').next() == Some(*name));
    wanted.iter().copied().filter(is_there).collect()
}

pub(super) fn tests(left_out: &mut LeftOut) -> Result<Done> {
    NEXTEST.require()?;
    get_optional(&[NGINX, LAVAPIPE, FAKETIME, READERS, STORES, SLURM]);
    let unmet = needs::unmet()?;
    let slots = 4 * std::thread::available_parallelism().map_or(1, usize::from);
    let mut nextest = cargo();
    nextest.args(["nextest", "run", "--profile", "xtask", "--test-threads", &slots.to_string()]).args(TARGETS);
    let heard = listen(nextest.args(["--run-ignored", "all", "--filterset", &unmet.filter]))?;
    let summary = heard.lines.iter().rev().find_map(|line| count_in(line)).unwrap_or("the tests did not end");
    ensure!(heard.success, "{summary}");
    let n_left_out: usize = unmet.tests.values().sum();
    for (lacking, n) in unmet.tests {
        left_out.add(lacking, tests_in_words(n, ""));
    }
    let (ran, _) = summary.split_once(" run").context("nextest says how many tests it ran")?;
    Ok(Done::Passed(if n_left_out == 0 { ran.to_owned() } else { format!("{ran}, {n_left_out} left out") }))
}

/// Gets tools if that is allowed; without them a step does less, or takes longer, and they are printed.
fn get_optional(tools: &[Tool]) {
    for tool in tools {
        if let Err(error) = tool.require() {
            println!("{}: {error:#}", tool.used_by);
        }
    }
}

/// Returns the counts that nextest prints at its end: `5 tests run: 5 passed, 2 skipped`.
fn count_in(line: &str) -> Option<&str> {
    let (_, counts) = line.trim().strip_prefix("Summary [")?.split_once("] ")?;
    Some(counts.trim())
}

fn tests_in_words(n: usize, of_what: &str) -> String {
    format!("{n} {}{of_what}", if n == 1 { "test" } else { "tests" })
}

pub(super) fn doctests(_: &mut LeftOut) -> Result<Done> {
    run_program(cargo().args(["test", "--workspace", "--doc", FULL]))?;
    Ok(Done::Passed(String::new()))
}

/// Runs the commands of README, tutorials and how-to pages, builds the site and searches its index. What the sources link to is
/// checked by tests.
pub(super) fn docs(left_out: &mut LeftOut) -> Result<Done> {
    PYTHON.require()?;
    run_program(cargo().args(BUILD_PROGRAMS))?;
    let ran = crate::docs::run_examples(&target_dir()?.join("debug"))?;
    for (needs, n) in ran.left_out {
        left_out.add(&needs, format!("{n} blocks of commands in the documentation"));
    }
    match MDBOOK.require() {
        Ok(_) => {
            let (pages, questions) = crate::docs::build_and_search()?;
            Ok(Done::Passed(format!("{} commands, {pages} pages, {questions} questions", ran.n)))
        }
        Err(error) => {
            left_out.add("mdbook", format!("the site of the documentation: {error:#}"));
            Ok(Done::Passed(format!("{} commands", ran.n)))
        }
    }
}

pub(super) fn conformance(left_out: &mut LeftOut) -> Result<Done> {
    vectors(Target::Native, "the vectors, natively", left_out)
}

pub(super) fn conformance_wasm(left_out: &mut LeftOut) -> Result<Done> {
    vectors(Target::Wasm, "the vectors, in Node", left_out)
}

fn vectors(target: Target, what: &str, left_out: &mut LeftOut) -> Result<Done> {
    let mut dirs = vec![conformance::own_vectors()];
    match conformance::given_vectors() {
        Some(dir) => dirs.push(dir),
        None => left_out.add("CLOSEREAD_VECTORS", format!("{what}, but for tests/vectors")),
    }
    let (mut passed, mut wrong) = (0, 0);
    for dir in dirs {
        println!("{}", dir.display());
        for report in conformance::reports(&dir, target, Runner::WithAll)? {
            report.print(NotYet::Listed);
            passed += report.passed();
            wrong += report.wrong();
        }
    }
    ensure!(wrong == 0, "{wrong} cases failed, {passed} passed");
    Ok(Done::Passed(format!("{passed} cases")))
}

/// Runs the tests of web/ against the binary of the other tests; by Playwright Test, which records what was left out.
pub(super) fn pages(left_out: &mut LeftOut) -> Result<Done> {
    let chromium = CHROMIUM.require()?;
    get_optional(&[HEADLESS_SHELL]);
    crate::web::build(true)?;
    let web = root().join("web");
    run_program(program("npm").args(["run", "--silent", "lint"]).current_dir(&web))?;
    run_program(cargo().args(BUILD_PROGRAMS))?;
    let target = target_dir()?;
    let binary = target.join("debug").join(format!("closeread{EXE_SUFFIX}"));
    let (results, traces) = (target.join("pages.json"), target.join("traces"));
    let mut tests = program("npm");
    tests.args(["run", "--silent", "test"]).env("CLOSEREAD_CHROMIUM", chromium).env("CLOSEREAD_BINARY", binary);
    tests.env("CLOSEREAD_RESULTS", &results).env("CLOSEREAD_TRACES", &traces);
    // Results of an earlier run say nothing of this one.
    std::fs::write(&results, "")?;
    let ended = run_program(tests.current_dir(&web));
    let report = std::fs::read_to_string(&results)?;
    let report = serde_json::from_str::<PagesReport>(&report).context("Playwright says how the tests ended")?;
    let Stats { expected: passed, unexpected: failed, skipped, flaky } = report.stats;
    ensure!(
        ended.is_ok() && failed == 0,
        "{failed} of {} tests failed: {}; what they did: {}",
        passed + failed + flaky + skipped,
        report.titles("unexpected"),
        traces.display()
    );
    ensure!(passed > 0, "no test of the page ran");
    for (reason, n) in report.reasons() {
        left_out.add(reason.strip_prefix("needs ").unwrap_or(reason), tests_in_words(n, " of the page"));
    }
    let left = if skipped == 0 { String::new() } else { format!(", {skipped} left out") };
    let again =
        if flaky == 0 { String::new() } else { format!(", {flaky} at the second try: {}", report.titles("flaky")) };
    Ok(Done::Passed(format!("{} tests{left}{again}", passed + flaky)))
}

/// Runs examples/ as a user who has installed closeread; the page's modules only if they are built.
pub(super) fn examples(left_out: &mut LeftOut) -> Result<Done> {
    let target = target_dir()?;
    run_program(cargo().args(BUILD_PROGRAMS))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([target.join("debug")].into_iter().chain(std::env::split_paths(&path)))?;
    let mut done = vec!["Rust", "shell"];
    run_program(&mut program(target.join("debug/examples/own_host")))?;
    run_program(program("bash").arg("examples/compare.sh").env("PATH", &path))?;
    match PYTHON.require() {
        Ok(_) => {
            let python = crate::python::development()?;
            run_program(program("python3").arg("examples/scores.py").env("PYTHONPATH", python))?;
            done.push("Python");
        }
        Err(error) => left_out.add("python3", format!("the example in Python: {error:#}")),
    }
    let page = root().join("web/dist");
    if page.join("package.js").is_file() {
        let project = target.join("examples");
        let modules = project.join("node_modules/@closeread/page");
        crate::web::copy_tree(&page, &modules)?;
        std::fs::copy(root().join("examples/passages.mjs"), project.join("passages.mjs"))?;
        run_program(program("node").arg("passages.mjs").current_dir(&project))?;
        done.push("JavaScript");
    } else {
        left_out.add("the built page (step pages)", "the example in JavaScript".to_owned());
    }
    Ok(Done::Passed(done.join(", ")))
}

/// Playwright's report on the tests of the page.
#[derive(serde::Deserialize)]
struct PagesReport {
    stats: Stats,
    suites: Vec<Suite>,
}

/// How many tests ended how.
#[derive(serde::Deserialize)]
struct Stats {
    expected: usize,
    unexpected: usize,
    flaky: usize,
    skipped: usize,
}

/// A file of tests, or a group in it.
#[derive(serde::Deserialize)]
struct Suite {
    #[serde(default)]
    suites: Vec<Suite>,
    specs: Vec<Spec>,
}

/// A test, once for each project that runs it.
#[derive(serde::Deserialize)]
struct Spec {
    title: String,
    tests: Vec<PageTest>,
}

/// How a test of the page ended.
#[derive(serde::Deserialize)]
struct PageTest {
    status: String,
    annotations: Vec<Annotation>,
}

/// What a test says about itself: why it was skipped.
#[derive(serde::Deserialize)]
struct Annotation {
    description: Option<String>,
}

impl PagesReport {
    /// All tests, with their titles.
    fn tests(&self) -> impl Iterator<Item = (&str, &PageTest)> {
        let mut suites: Vec<&Suite> = self.suites.iter().collect();
        let mut specs = Vec::new();
        while let Some(suite) = suites.pop() {
            suites.extend(&suite.suites);
            specs.extend(&suite.specs);
        }
        specs.into_iter().flat_map(|spec| spec.tests.iter().map(|test| (spec.title.as_str(), test)))
    }

    /// The titles of the tests that ended in a way.
    fn titles(&self, status: &str) -> String {
        let titles: Vec<&str> =
            self.tests().filter(|(_, test)| test.status == status).map(|(title, _)| title).collect();
        titles.join(", ")
    }

    /// How many tests were skipped for each reason.
    fn reasons(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for (_, test) in self.tests().filter(|(_, test)| test.status == "skipped") {
            let reason = test.annotations.iter().find_map(|said| said.description.as_deref());
            *reasons.entry(reason.unwrap_or("a reason, which the test does not say")).or_default() += 1;
        }
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextests_last_line_is_understood() {
        let line = "     Summary [   4.120s] 120 tests run: 119 passed (1 slow), 1 failed, 3 skipped";
        assert_eq!(count_in(line), Some("120 tests run: 119 passed (1 slow), 1 failed, 3 skipped"));
        assert_eq!(count_in("    PASS [ 0.1s] (1/2) core laws::hold"), None);
    }

    #[test]
    fn packages_are_found_by_their_whole_names() {
        let tree = "closeread-wasm v0.1.0 (/closeread/wasm)\nhtml5ever v0.40.1 (*)\nencoding_rs_io v0.1.7\n";
        assert_eq!(packages_of(tree, &["encoding_rs", "html5ever"]), ["html5ever"]);
    }

    #[test]
    fn reasons_of_skipped_tests_are_counted() {
        let needs = |what: &str| format!(r#"{{"type": "skip", "description": "needs {what}"}}"#);
        let spec = |status: &str, annotations: &str| {
            format!(r#"{{"title": "t", "tests": [{{"status": "{status}", "annotations": [{annotations}]}}]}}"#)
        };
        let (data, firefox) = (spec("skipped", &needs("CLOSEREAD_DATA")), spec("skipped", &needs("CLOSEREAD_FIREFOX")));
        let (passed, silent) = (spec("expected", ""), spec("skipped", ""));
        let report = format!(
            r#"{{"suites": [{{"specs": [{data}, {passed}], "suites": [{{"specs": [{firefox}, {data}]}}]}}, {{"specs": [{silent}]}}],
                "stats": {{"duration": 5.5, "expected": 1, "skipped": 4, "unexpected": 0, "flaky": 0}}}}"#
        );
        let report: PagesReport = serde_json::from_str(&report).unwrap();
        assert_eq!((report.stats.expected, report.stats.skipped), (1, 4));
        let silent = "a reason, which the test does not say";
        let reasons = [(silent, 1), ("needs CLOSEREAD_DATA", 2), ("needs CLOSEREAD_FIREFOX", 1)];
        assert_eq!(report.reasons(), BTreeMap::from(reasons));
        assert_eq!((report.titles("expected").as_str(), report.titles("flaky").as_str()), ("t", ""));
    }
}
