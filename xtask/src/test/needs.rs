//! Needs of tests, and which of them this machine meets.
//!
//! Such a test is ignored (`#[ignore = "needs CLOSEREAD_DATA"]`) and says so in its name, too: `needs_data_...`, or
//! `needs_llama_needs_data_...` where it needs two. The name is what tells them apart here: the reason of `ignore` is in no
//! listing.

use crate::machine::{self, FAKETIME, LAVAPIPE, NGINX, PYTHON};
use crate::process::{FULL, cargo, stdout_of, target_dir};
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A need of tests: something that the machine must have.
pub(crate) struct Need {
    /// Its name, which follows `needs_` in the names of tests.
    word: &'static str,
    pub(crate) what: &'static str,
    pub(crate) is_met: fn() -> bool,
}

pub(crate) const NEEDS: [Need; 15] = [
    Need { word: "data", what: "CLOSEREAD_DATA", is_met: || variable("CLOSEREAD_DATA").is_some() },
    Need { word: "vectors", what: "CLOSEREAD_VECTORS", is_met: || variable("CLOSEREAD_VECTORS").is_some() },
    Need { word: "llama", what: "CLOSEREAD_SERVERS with bin/llama-server", is_met: || server(&["bin/llama-server"]) },
    Need { word: "llmock", what: "CLOSEREAD_SERVERS with llmock", is_met: || server(&LLMOCK) },
    Need { word: "python", what: "python3", is_met: || (PYTHON.find)().is_some() },
    Need { word: "readers", what: "the readers of exports", is_met: || machine::readers().is_some() },
    Need { word: "stores", what: "moto and azurite", is_met: || machine::stores().is_some() },
    Need { word: "nginx", what: "nginx", is_met: || (NGINX.find)().is_some() },
    Need { word: "vulkan", what: "a Vulkan driver", is_met: machine::has_graphics },
    Need { word: "lavapipe", what: "lavapipe", is_met: || (LAVAPIPE.find)().is_some() },
    Need { word: "faketime", what: "libfaketime", is_met: || (FAKETIME.find)().is_some() },
    Need {
        word: "slurm",
        what: "Slurm, unpacked, and root",
        is_met: || machine::slurm().is_some() && machine::is_root(),
    },
    Need { word: "mount", what: "the right to mount a tmpfs", is_met: can_mount },
    Need { word: "user", what: "a user who is not root", is_met: || !machine::is_root() },
    Need { word: "time", what: "--nightly", is_met: || HAS_TIME.load(Ordering::Relaxed) },
];

/// Whether tests may take minutes each.
static HAS_TIME: AtomicBool = AtomicBool::new(false);

/// Allows tests that take minutes each.
pub(super) fn give_time() {
    HAS_TIME.store(true, Ordering::Relaxed);
}

const LLMOCK: [&str; 3] = ["venv/bin/llmock", "llmock/venv/bin/llmock", "../llmock/venv/bin/llmock"];

/// Arguments for the tests of the workspace, without examples, which have none.
pub(crate) const TARGETS: [&str; 3] = ["--workspace", "--tests", FULL];

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn server(programs: &[&str]) -> bool {
    variable("CLOSEREAD_SERVERS").is_some_and(|folder| programs.iter().any(|program| folder.join(program).is_file()))
}

/// Mounts a tmpfs and unmounts it; returns whether both were allowed.
fn can_mount() -> bool {
    let mounted = |folder: &Path| {
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16k", "tmpfs"]).arg(folder).output();
        mount.is_ok_and(|mount| mount.status.success())
            && Command::new("umount").arg(folder).status().is_ok_and(|status| status.success())
    };
    let folder = target_dir().map(|target| target.join("can-mount"));
    folder.is_ok_and(|folder| std::fs::create_dir_all(&folder).is_ok() && mounted(&folder))
}

/// The tests that do not run on this machine.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Unmet {
    /// Tests by their missing need; a test that lacks two is listed at the first.
    pub(crate) tests: BTreeMap<&'static str, usize>,
    /// A filter of nextest that leaves them out.
    pub(crate) filter: String,
}

/// Compiles and lists the tests, and finds those whose needs are not met.
///
/// # Errors
/// If they do not compile, or one is ignored without a need that is known here.
pub(crate) fn unmet() -> Result<Unmet> {
    let listing = stdout_of(cargo().args(["nextest", "list", "--message-format", "json"]).args(TARGETS))?;
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !(need.is_met)()).collect();
    sort_out(&listing, &missing)
}

fn sort_out(listing: &str, missing: &[&Need]) -> Result<Unmet> {
    let listing: Value = serde_json::from_str(listing).context("cargo nextest lists as JSON")?;
    let suites = listing["rust-suites"].as_object().context("a listing has suites")?;
    let mut unmet = Unmet::default();
    for (suite, facts) in suites {
        for (test, facts) in facts["testcases"].as_object().into_iter().flatten() {
            let needs = needs_of(test).with_context(|| format!("{suite} {test}"))?;
            let ignored = facts["ignored"].as_bool().context("a listing says what is ignored")?;
            ensure!(
                ignored != needs.is_empty(),
                "{suite} {test}: an ignored test begins with `needs_` and what it needs, and no other does"
            );
            if let Some(need) = missing.iter().find(|need| needs.contains(&need.word)) {
                *unmet.tests.entry(need.what).or_default() += 1;
            }
        }
    }
    let words: Vec<&str> = missing.iter().map(|need| need.word).collect();
    unmet.filter = match words.as_slice() {
        [] => "all()".to_owned(),
        _ => format!("not test(/(^|::)(needs_[a-z]+_)*needs_({})_/)", words.join("|")),
    };
    Ok(unmet)
}

/// Returns the needs that a test's name states.
fn needs_of(test: &str) -> Result<Vec<&'static str>> {
    let mut rest = test.rsplit("::").next().unwrap_or(test);
    let mut needs = vec![];
    while let Some(after) = rest.strip_prefix("needs_") {
        let (word, more) = after.split_once('_').unwrap_or((after, ""));
        match NEEDS.iter().find(|need| need.word == word) {
            Some(need) => needs.push(need.word),
            None => bail!("nothing is known of the need `{word}`"),
        }
        rest = more;
    }
    Ok(needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(tests: &[(&str, bool)]) -> String {
        let cases = tests.iter().map(|(name, ignored)| format!(r#""{name}": {{"ignored": {ignored}}}"#));
        format!(r#"{{"rust-suites": {{"a": {{"testcases": {{{}}}}}}}}}"#, cases.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn tests_are_counted_by_what_they_lack() {
        let tests = listing(&[
            ("laws::hold", false),
            ("novels::needs_data_obey", true),
            ("needs_llama_needs_data_built", true),
            ("needs_nginx_answers", true),
        ]);
        let [data, .., last] = &NEEDS;
        let unmet = sort_out(&tests, &[data, last]).unwrap();
        assert_eq!(unmet.tests, BTreeMap::from([("CLOSEREAD_DATA", 2)]));
        assert_eq!(unmet.filter, "not test(/(^|::)(needs_[a-z]+_)*needs_(data|time)_/)");
        assert_eq!(sort_out(&tests, &[]).unwrap(), Unmet { tests: BTreeMap::new(), filter: "all()".to_owned() });
    }

    #[test]
    fn a_name_and_its_ignore_belong_together() {
        for (name, ignored) in [("slow", true), ("needs_data_x", false), ("needs_luck_x", true)] {
            assert!(sort_out(&listing(&[(name, ignored)]), &[]).is_err(), "{name}");
        }
    }
}
