//! `cargo xtask test`: every check there is, one after the other, with a table at the end.

use crate::conformance::{self, NotYet, Target};
use crate::machine;
use crate::process::{cargo, listen, program, root, run as run_program};
use anyhow::{Result, ensure};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the steps named, in the usual order.
    #[arg(long, value_name = "STEP", value_delimiter = ',',
          value_parser = clap::builder::PossibleValuesParser::new(STEPS.map(|step| step.name)))]
    only: Vec<String>,
}

/// One check. It sets up what it needs, and its failure does not keep the later ones from running.
struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&mut Vec<String>) -> Result<Done>,
}

/// How a step ended that did not fail; the text goes into the table.
enum Done {
    Passed(String),
    Skipped(String),
}

const STEPS: [Step; 7] = [
    Step { name: "format", about: "rustfmt agrees with every file", run: format },
    Step { name: "lints", about: "clippy finds nothing, in tests and benches neither", run: lints },
    Step { name: "wasm", about: "core and its skin compile to wasm32", run: wasm },
    Step { name: "tests", about: "all tests of the workspace, the binary end to end among them", run: tests },
    Step { name: "conformance", about: "the vectors, natively", run: |skips| vectors(Target::Native, skips) },
    Step { name: "conformance-wasm", about: "the vectors, in WebAssembly", run: |skips| vectors(Target::Wasm, skips) },
    Step { name: "pages", about: "the web pages in headless Chromium", run: pages },
];

/// Runs the steps and prints their table; false if any failed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut skips = vec![];
    let mut rows = vec![];
    for step in STEPS {
        if !args.only.is_empty() && !args.only.iter().any(|name| name == step.name) {
            continue;
        }
        println!("\n== {}: {}", step.name, step.about);
        let start = Instant::now();
        let result = (step.run)(&mut skips);
        if let Err(error) = &result {
            println!("error: {error:#}");
        }
        rows.push((step.name, result, start.elapsed()));
    }
    let (text, clean) = summary(&rows, &skips);
    println!("{text}");
    Ok(clean)
}

/// The table of steps, and whether none failed.
fn summary(rows: &[(&str, Result<Done>, Duration)], skips: &[String]) -> (String, bool) {
    let mut text = String::from("\n");
    if !skips.is_empty() {
        text += "Left out on this machine:\n";
        for skip in skips {
            text += &format!("  {skip}\n");
        }
        text += "\n";
    }
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, result, time) in rows {
        let (outcome, detail) = match result {
            Ok(Done::Passed(detail)) => (&mut passed, ("passed", detail.clone())),
            Ok(Done::Skipped(why)) => (&mut skipped, ("skipped", why.clone())),
            Err(error) => (&mut failed, ("FAILED", error.to_string())),
        };
        *outcome += 1;
        text += &format!("{name:<17} {:<8} {:>7.1} s  {}\n", detail.0, time.as_secs_f64(), detail.1);
    }
    text += &format!("{passed} passed, {failed} failed, {skipped} skipped");
    (text, failed == 0)
}

fn format(_: &mut Vec<String>) -> Result<Done> {
    machine::component("fmt", "rustfmt")?;
    run_program(cargo().args(["fmt", "--all", "--check"]))?;
    Ok(Done::Passed(String::new()))
}

fn lints(_: &mut Vec<String>) -> Result<Done> {
    machine::component("clippy", "clippy")?;
    // The program works without its encoder too, on tract.
    for what in [["--workspace", "--all-targets"], ["--package=closeread", "--no-default-features"]] {
        run_program(cargo().arg("clippy").args(what).args(["--", "--deny", "warnings"]))?;
    }
    Ok(Done::Passed(String::new()))
}

fn wasm(_: &mut Vec<String>) -> Result<Done> {
    crate::web::compile()?;
    Ok(Done::Passed(String::new()))
}

fn tests(skips: &mut Vec<String>) -> Result<Done> {
    // The tests that need it say that they are left out where it cannot be installed.
    for set_up in [machine::nginx, machine::vulkan] {
        if let Err(error) = set_up() {
            println!("set-up: {error:#}");
        }
    }
    let heard = listen(cargo().args(["test", "--workspace", "--no-fail-fast", "--", "--nocapture"]))?;
    let before = skips.len();
    skips.extend(heard.lines.iter().filter_map(|line| skip_in(line)));
    let counts: Vec<_> = heard.lines.iter().filter_map(|line| counts_in(line)).collect();
    let (ran, failed) = counts.iter().fold((0, 0), |sum, count| (sum.0 + count.0 + count.1, sum.1 + count.1));
    let left_out = skips.len() - before;
    ensure!(heard.success, "{failed} of {ran} tests failed, or a test did not compile");
    let detail = if left_out == 0 { String::new() } else { format!(", {left_out} of them left out, see above") };
    Ok(Done::Passed(format!("{ran} tests{detail}")))
}

/// The rest of a line after `skipped: `, by which a test says that it lacks something. Test names may precede it.
fn skip_in(line: &str) -> Option<String> {
    line.find("skipped: ").map(|at| line[at + "skipped: ".len()..].trim().to_owned())
}

/// Tests passed and failed, from libtest's line `test result: ok. 5 passed; 0 failed; ...`.
fn counts_in(line: &str) -> Option<(usize, usize)> {
    let line = line.strip_prefix("test result: ")?;
    let count_of = |what: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let at = words.iter().position(|word| word.trim_end_matches(';') == what)?;
        words[at.checked_sub(1)?].parse().ok()
    };
    Some((count_of("passed")?, count_of("failed")?))
}

fn vectors(target: Target, skips: &mut Vec<String>) -> Result<Done> {
    let mut dirs = vec![conformance::own_vectors()];
    match conformance::given_vectors() {
        Some(dir) => dirs.push(dir),
        None => {
            let skip = "the vectors of the reference implementations' authors need CLOSEREAD_VECTORS";
            println!("skipped: {skip}");
            if !skips.iter().any(|known| known == skip) {
                skips.push(skip.to_owned());
            }
        }
    }
    let (mut passed, mut wrong) = (0, 0);
    for dir in dirs {
        println!("{}", dir.display());
        for report in conformance::reports(&dir, target, conformance::Runner::WithAll)? {
            report.print(NotYet::Listed);
            passed += report.passed();
            wrong += report.wrong();
        }
    }
    ensure!(wrong == 0, "{wrong} cases failed, {passed} passed");
    Ok(Done::Passed(format!("{passed} cases")))
}

fn pages(_: &mut Vec<String>) -> Result<Done> {
    let web = root().join("web");
    let Ok(package) = std::fs::read_to_string(web.join("package.json")) else {
        return Ok(Done::Skipped("there is no web/package.json".to_owned()));
    };
    let package: serde_json::Value = serde_json::from_str(&package)?;
    if package["scripts"]["test"].is_null() {
        return Ok(Done::Skipped("web/package.json has no script `test`".to_owned()));
    }
    let chromium = machine::chromium()?;
    crate::web::build(true)?;
    run_program(program("npm").args(["run", "test"]).env("CLOSEREAD_CHROMIUM", chromium).current_dir(&web))?;
    Ok(Done::Passed(String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_results_are_counted() {
        let line = "test result: FAILED. 15 passed; 2 failed; 0 ignored; 0 measured; 1 filtered out; finished in 0.1s";
        assert_eq!(counts_in(line), Some((15, 2)));
        assert_eq!(counts_in("test sentences ... ok"), None);
    }

    #[test]
    fn a_skip_is_found_behind_a_test_name() {
        let line = "test novels ... skipped: novels needs CLOSEREAD_DATA";
        assert_eq!(skip_in(line).as_deref(), Some("novels needs CLOSEREAD_DATA"));
    }

    #[test]
    fn a_failed_step_fails_the_whole() {
        let row = |result| ("step", result, Duration::ZERO);
        assert!(summary(&[row(Ok(Done::Passed(String::new()))), row(Ok(Done::Skipped(String::new())))], &[]).1);
        let (text, clean) = summary(&[row(Err(anyhow::anyhow!("no"))), row(Ok(Done::Passed(String::new())))], &[]);
        assert!(!clean && text.ends_with("1 passed, 1 failed, 0 skipped"), "{text}");
    }
}
