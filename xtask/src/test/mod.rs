//! `cargo xtask test`: runs the checks of a pull request, or also the nightly ones, and prints a table.

mod needs;
mod nightly;
mod outcome;
mod steps;

use anyhow::Result;
use outcome::{Done, LeftOut};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the named steps, in the usual order.
    #[arg(long, value_name = "STEP", value_delimiter = ',',
          value_parser = clap::builder::PossibleValuesParser::new(STEPS.map(|step| step.name)))]
    only: Vec<String>,
    /// Also run what takes too long for every change: all features, all modules, the optimised page, aarch64, fuzzing, Miri.
    #[arg(long)]
    nightly: bool,
}

/// One check. Its failure does not keep the later ones from running.
struct Step {
    name: &'static str,
    about: &'static str,
    set: Set,
    run: fn(&mut LeftOut) -> Result<Done>,
}

/// The set to which a step belongs; it decides when the step runs without being named.
#[derive(Clone, Copy, PartialEq)]
enum Set {
    Always,
    Nightly,
}

const STEPS: [Step; 22] = [
    Step { name: "format", about: "rustfmt agrees with every file", set: Set::Always, run: steps::format },
    Step { name: "lints", about: "clippy finds nothing, in tests neither", set: Set::Always, run: steps::lints },
    Step { name: "layers", about: "scoring compiles nothing that opens a book", set: Set::Always, run: steps::layers },
    Step { name: "crates", about: "licences and sources of others' crates", set: Set::Always, run: steps::crates },
    Step { name: "texts", about: "spelling, and the workflows of hosted CI", set: Set::Always, run: steps::texts },
    Step { name: "tests", about: "all tests, the binary end to end among them", set: Set::Always, run: steps::tests },
    Step { name: "doctests", about: "the examples in the documentation", set: Set::Always, run: steps::doctests },
    Step { name: "docs", about: "the site is built and finds what newcomers ask", set: Set::Always, run: steps::docs },
    Step { name: "conformance", about: "the vectors, natively", set: Set::Always, run: steps::conformance },
    Step { name: "conformance-wasm", about: "the vectors, in Node", set: Set::Always, run: steps::conformance_wasm },
    Step { name: "pages", about: "the page's modules in Node and Chromium", set: Set::Always, run: steps::pages },
    Step { name: "examples", about: "what stands in examples/ runs", set: Set::Always, run: steps::examples },
    Step { name: "features", about: "each feature of each crate alone", set: Set::Nightly, run: nightly::features },
    Step { name: "modules", about: "each WebAssembly module alone", set: Set::Nightly, run: nightly::modules },
    Step {
        name: "optimised-page",
        about: "the page within its limits",
        set: Set::Nightly,
        run: nightly::optimised_page,
    },
    Step { name: "aarch64", about: "core and its kernels on aarch64", set: Set::Nightly, run: nightly::aarch64 },
    Step { name: "systems", about: "types on macOS and Windows", set: Set::Nightly, run: nightly::systems },
    Step { name: "engines", about: "parts on a real Slurm and Ray", set: Set::Nightly, run: nightly::engines },
    Step { name: "fuzz", about: "ten seconds of random files for each target", set: Set::Nightly, run: nightly::fuzz },
    Step {
        name: "packages",
        about: "each crate packed, and compiled alone",
        set: Set::Nightly,
        run: nightly::packages,
    },
    Step { name: "dist", about: "what people install, made and tried", set: Set::Nightly, run: nightly::dist },
    Step { name: "miri", about: "the kernels under Miri", set: Set::Nightly, run: nightly::miri },
];

/// Returns the needs of tests that this machine lacks.
pub(crate) fn lacking() -> Vec<&'static str> {
    needs::NEEDS.iter().filter(|need| !(need.is_met)()).map(|need| need.what).collect()
}

/// Runs the steps and prints their table; false if any failed.
pub(crate) fn run(args: &Args) -> Result<bool> {
    if args.nightly {
        needs::give_time();
    }
    println!("{}", crate::machine::room()?);
    let mut left_out = LeftOut::default();
    let mut rows = vec![];
    for step in STEPS {
        let wanted = match args.only.as_slice() {
            [] => step.set == Set::Always || args.nightly,
            only => only.iter().any(|name| name == step.name),
        };
        if !wanted {
            continue;
        }
        println!("\n== {}: {}", step.name, step.about);
        let start = Instant::now();
        let result = (step.run)(&mut left_out);
        if let Err(error) = &result {
            println!("error: {error:#}");
        }
        rows.push((step.name, result, start.elapsed()));
    }
    let (text, clean) = summary(&rows, &left_out);
    println!("{text}");
    Ok(clean)
}

/// Returns what was left out, the table of steps, and whether none failed.
fn summary(rows: &[(&str, Result<Done>, Duration)], left_out: &LeftOut) -> (String, bool) {
    let mut text = String::from("\n");
    if !left_out.0.is_empty() {
        text += "Left out, because this machine lacks something (`cargo xtask doctor`):\n";
        for (lacking, what) in &left_out.0 {
            text += &format!("  {lacking}: {}\n", what.join(", "));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_fails_the_whole() {
        let row = |result| ("step", result, Duration::ZERO);
        let none = LeftOut::default();
        assert!(summary(&[row(Ok(Done::Passed(String::new()))), row(Ok(Done::Skipped(String::new())))], &none).1);
        let (text, clean) = summary(&[row(Err(anyhow::anyhow!("no"))), row(Ok(Done::Passed(String::new())))], &none);
        assert!(!clean && text.ends_with("\n1 passed, 1 failed, 0 skipped"), "{text}");
    }

    #[test]
    fn the_nightly_workflow_names_every_step_once() {
        let workflow = std::fs::read_to_string(crate::process::root().join(".github/workflows/nightly.yml"));
        let workflow = workflow.expect("the nightly workflow is there");
        let lists = workflow.lines().filter_map(|line| line.trim().strip_prefix("steps: "));
        let mut named: Vec<&str> = lists.flat_map(|steps| steps.split(',')).collect();
        let mut steps = STEPS.map(|step| step.name).to_vec();
        named.sort_unstable();
        steps.sort_unstable();
        assert_eq!(named, steps);
    }

    #[test]
    fn what_is_left_out_stands_above_the_table() {
        let mut left_out = LeftOut::default();
        left_out.add("nginx", "1 test".to_owned());
        left_out.add("CLOSEREAD_DATA", "21 tests".to_owned());
        left_out.add("CLOSEREAD_DATA", "5 tests of the page".to_owned());
        let (text, clean) = summary(&[], &left_out);
        assert!(
            clean && text.contains("  CLOSEREAD_DATA: 21 tests, 5 tests of the page\n  nginx: 1 test\n\n"),
            "{text}"
        );
    }
}
