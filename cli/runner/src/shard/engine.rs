//! Engines of arrays: where each says which part of an array a process is. Each row names its source; docs/runs.md
//! repeats the table.

use super::number::Shard;
use anyhow::{Result, bail, ensure};

/// The number that an engine counts its parts from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    /// This number, always.
    Base(usize),
    /// The number that the user wrote, as these variables tell: the least, the greatest, the step.
    Range { least: &'static str, greatest: &'static str, step: &'static str },
    /// The number that the user wrote, which no variable tells.
    Unknown,
}

/// The variables of an engine.
struct Engine {
    name: &'static str,
    index: &'static str,
    /// Variable with the number of parts; `None` where there is none.
    count: Option<&'static str>,
    from: From,
}

const SLURM: From =
    From::Range { least: "SLURM_ARRAY_TASK_MIN", greatest: "SLURM_ARRAY_TASK_MAX", step: "SLURM_ARRAY_TASK_STEP" };
const GRID_ENGINE: From = From::Range { least: "SGE_TASK_FIRST", greatest: "SGE_TASK_LAST", step: "SGE_TASK_STEPSIZE" };

#[rustfmt::skip]
const ENGINES: [Engine; 13] = [
    // slurm.schedmd.com/job_array.html
    Engine { name: "Slurm", index: "SLURM_ARRAY_TASK_ID", count: Some("SLURM_ARRAY_TASK_COUNT"), from: SLURM },
    // kubernetes.io/docs/concepts/workloads/controllers/job (completion mode)
    Engine { name: "Kubernetes", index: "JOB_COMPLETION_INDEX", count: None, from: From::Base(0) },
    // docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html
    Engine { name: "AWS Batch", index: "AWS_BATCH_JOB_ARRAY_INDEX", count: Some("AWS_BATCH_JOB_ARRAY_SIZE"), from: From::Base(0) },
    // cloud.google.com/batch/docs (predefined variables)
    Engine { name: "Google Batch", index: "BATCH_TASK_INDEX", count: Some("BATCH_TASK_COUNT"), from: From::Base(0) },
    // cloud.google.com/run/docs/container-contract (jobs)
    Engine { name: "Cloud Run", index: "CLOUD_RUN_TASK_INDEX", count: Some("CLOUD_RUN_TASK_COUNT"), from: From::Base(0) },
    // qsub(1) of Grid Engine, option -t
    Engine { name: "Grid Engine", index: "SGE_TASK_ID", count: None, from: GRID_ENGINE },
    // bsub -J "name[1-N]" of IBM Spectrum LSF; 0 where the job is no array
    Engine { name: "LSF", index: "LSB_JOBINDEX", count: None, from: From::Base(1) },
    // qsub -J of PBS Professional
    Engine { name: "PBS", index: "PBS_ARRAY_INDEX", count: None, from: From::Unknown },
    // it4innovations.github.io/hyperqueue (task arrays)
    Engine { name: "HyperQueue", index: "HQ_TASK_ID", count: None, from: From::Unknown },
    // docs.gitlab.com/ci/variables (parallel)
    Engine { name: "GitLab", index: "CI_NODE_INDEX", count: Some("CI_NODE_TOTAL"), from: From::Base(1) },
    // circleci.com/docs/variables
    Engine { name: "CircleCI", index: "CIRCLE_NODE_INDEX", count: Some("CIRCLE_NODE_TOTAL"), from: From::Base(0) },
    // buildkite.com/docs/pipelines/environment-variables
    Engine { name: "Buildkite", index: "BUILDKITE_PARALLEL_JOB", count: Some("BUILDKITE_PARALLEL_JOB_COUNT"), from: From::Base(0) },
    // docs.skypilot.co/en/latest/running-jobs/environment-variables.html
    Engine { name: "SkyPilot", index: "SKYPILOT_NODE_RANK", count: Some("SKYPILOT_NUM_NODES"), from: From::Base(0) },
];

/// Hint on what to do where the environment does not settle it.
const BY_HAND: &str = "give the part itself, as in --shard 3/16";

/// The part that the environment names; `of` is the number of parts where the command line gives it.
pub(super) fn part(of: Option<usize>, variable: impl Fn(&str) -> Option<String>) -> Result<Shard> {
    let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty() && value != "undefined");
    let is_array = |engine: &&Engine| set(engine.index).is_some_and(|id| engine.name != "LSF" || id.trim() != "0");
    let found: Vec<&Engine> = ENGINES.iter().filter(is_array).collect();
    let engine = match found.as_slice() {
        [engine] => *engine,
        [] => bail!(
            "--shard auto: this is no part of an array: none of the variables of {} is set; {BY_HAND}",
            ENGINES.map(|engine| engine.name).join(", ")
        ),
        several => {
            let names: Vec<String> = several.iter().map(|e| format!("{} ({})", e.name, e.index)).collect();
            bail!("--shard auto: two engines name a part, {}; {BY_HAND}", names.join(" and "))
        }
    };
    let number = |name: &str| -> Result<usize> {
        let text = set(name).unwrap_or_default();
        let found = if text.is_empty() { "not set".to_owned() } else { format!("`{text}`") };
        let number = text.trim().parse().ok().filter(|number: &usize| u32::try_from(*number).is_ok());
        number.ok_or_else(|| anyhow::anyhow!("--shard auto: {name} is {found}, expected a number; {BY_HAND}"))
    };
    let id = number(engine.index)?;
    match of {
        Some(of) => counted(engine, id, of),
        None => in_array(engine, id, number),
    }
}

/// Returns the shard among `of` parts: IDs that the user chose count from 0.
fn counted(engine: &Engine, id: usize, of: usize) -> Result<Shard> {
    let base = if let From::Base(base) = engine.from { base } else { 0 };
    let index = (id + 1).checked_sub(base).filter(|index| (1..=of).contains(index));
    let Some(index) = index else {
        let last = (base + of).saturating_sub(1);
        bail!(
            "--shard auto/{of}: {} is {id}, but the parts of {} go from {base} to {last}; number the array so, or {BY_HAND}",
            engine.index,
            engine.name
        )
    };
    Ok(Shard { index, of })
}

/// Returns the shard among as many parts as the array has, where the array is whole.
fn in_array(engine: &Engine, id: usize, number: impl Fn(&str) -> Result<usize>) -> Result<Shard> {
    let (index, of) = match engine.from {
        From::Base(base) => {
            let Some(count) = engine.count else {
                bail!("--shard auto: {} does not say how many parts there are; use --shard auto/N", engine.name)
            };
            (id.checked_sub(base).map(|index| index + 1), number(count)?)
        }
        From::Range { least, greatest, step } => {
            let (least, greatest, step) = (number(least)?, number(greatest)?, number(step)?.max(1));
            let of = greatest.saturating_sub(least) / step + 1;
            let count = engine.count.map_or(Ok(of), &number)?;
            ensure!(
                of == count && greatest == least + (of - 1) * step,
                "--shard auto: the array has {count} tasks from {least} to {greatest}, with gaps; which part of how many a \
                 task is cannot be told from that. Number all parts from 0 and use --shard auto/N, or {BY_HAND}"
            );
            (id.checked_sub(least).map(|past| past / step + 1), of)
        }
        From::Unknown => bail!(
            "--shard auto: {} does not say how many parts there are; number them from 0 and use --shard auto/N, or {BY_HAND}",
            engine.name
        ),
    };
    match index.filter(|index| (1..=of).contains(index)) {
        Some(index) => Ok(Shard { index, of }),
        None => bail!("--shard auto: {} is {id}, outside an array of {of} parts; {BY_HAND}", engine.index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(of: Option<usize>, variables: &[(&str, &str)]) -> Result<(usize, usize), String> {
        let find = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        part(of, find).map(|shard| (shard.index, shard.of)).map_err(|error| error.to_string())
    }

    fn slurm(id: &str, array: [&'static str; 4]) -> Result<(usize, usize), String> {
        let [count, least, greatest, step] = array;
        let variables = [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_COUNT", count),
            ("SLURM_ARRAY_TASK_MIN", least),
            ("SLURM_ARRAY_TASK_MAX", greatest),
            ("SLURM_ARRAY_TASK_STEP", step),
        ];
        found(None, &variables)
    }

    #[test]
    fn the_documentation_has_a_row_for_each_engine() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/runs.md")).unwrap();
        let table = page.split_once("| engine | part |").unwrap().1.lines().skip(2).take_while(|line| !line.is_empty());
        let rows = ENGINES.iter().map(|engine| {
            let (count, from) = match (engine.count, engine.from) {
                (Some(count), From::Base(base)) => (format!("`{count}`"), base.to_string()),
                (Some(count), _) => (format!("`{count}`"), "least, by steps".to_owned()),
                (None, From::Range { least, .. }) => {
                    (format!("`{least}`, `_LAST`, `_STEPSIZE`"), "first, by steps".to_owned())
                }
                (None, From::Base(base)) => ("`auto/N`".to_owned(), base.to_string()),
                (None, From::Unknown) => ("`auto/N`".to_owned(), "0".to_owned()),
            };
            format!("| {} | `{}` | {count} | {from} |", engine.name, engine.index)
        });
        assert_eq!(table.collect::<Vec<_>>(), rows.collect::<Vec<_>>());
    }

    #[test]
    fn a_whole_slurm_array_with_or_without_steps_numbers_its_parts() {
        assert_eq!(slurm("5", ["4", "3", "6", "1"]), Ok((3, 4)));
        let stepped = ["0", "2", "4"].map(|id| slurm(id, ["3", "0", "4", "2"]).unwrap());
        assert_eq!(stepped, [(1, 3), (2, 3), (3, 3)]);
    }

    #[test]
    fn finding_10_an_index_at_the_end_of_all_numbers_is_none() {
        let last = usize::MAX.to_string();
        assert!(slurm(&last, ["4", "3", "6", "1"]).unwrap_err().contains("expected a number"));
        assert!(found(Some(3), &[("SLURM_ARRAY_TASK_ID", &last)]).unwrap_err().contains("expected a number"));
    }

    #[test]
    fn resubmitted_tasks_of_a_slurm_array_are_refused_but_for_a_number_of_parts() {
        let resubmitted = ["2", "3", "7", "1"];
        assert!(slurm("7", resubmitted).unwrap_err().contains("with gaps"));
        for (id, part) in [("3", 4), ("7", 8)] {
            assert_eq!(found(Some(16), &[("SLURM_ARRAY_TASK_ID", id)]), Ok((part, 16)), "IDs count from 0");
        }
        assert!(found(Some(16), &[("SLURM_ARRAY_TASK_ID", "16")]).unwrap_err().contains("from 0 to 15"));
    }

    #[test]
    fn each_engine_counts_as_it_does() {
        for (index, count, from) in [
            ("AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", 0),
            ("BATCH_TASK_INDEX", "BATCH_TASK_COUNT", 0),
            ("CLOUD_RUN_TASK_INDEX", "CLOUD_RUN_TASK_COUNT", 0),
            ("CI_NODE_INDEX", "CI_NODE_TOTAL", 1),
            ("CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0),
            ("BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0),
            ("SKYPILOT_NODE_RANK", "SKYPILOT_NUM_NODES", 0),
        ] {
            for part in 1..=3 {
                let id = (part - 1 + from).to_string();
                assert_eq!(found(None, &[(index, &id), (count, "3")]), Ok((part, 3)), "{index}");
                assert_eq!(found(Some(3), &[(index, &id)]), Ok((part, 3)), "{index}");
            }
            let past = (3 + from).to_string();
            assert!(found(None, &[(index, &past), (count, "3")]).unwrap_err().contains("outside"), "{index}");
        }
        let grid = [("SGE_TASK_ID", "7"), ("SGE_TASK_FIRST", "3"), ("SGE_TASK_LAST", "9"), ("SGE_TASK_STEPSIZE", "2")];
        assert_eq!(found(None, &grid), Ok((3, 4)));
        for (index, part) in
            [("JOB_COMPLETION_INDEX", 4), ("LSB_JOBINDEX", 3), ("PBS_ARRAY_INDEX", 4), ("HQ_TASK_ID", 4)]
        {
            assert_eq!(found(Some(4), &[(index, "3")]), Ok((part, 4)), "{index}");
            assert!(found(None, &[(index, "3")]).unwrap_err().contains("auto/N"), "{index}");
        }
    }

    #[test]
    fn what_the_environment_leaves_open_is_refused_with_the_way_to_say_it() {
        let two = [("SLURM_ARRAY_TASK_ID", "1"), ("JOB_COMPLETION_INDEX", "1")];
        let error = found(Some(4), &two).unwrap_err();
        assert!(
            error.contains("Slurm (SLURM_ARRAY_TASK_ID) and Kubernetes") && error.contains("--shard 3/16"),
            "{error}"
        );
        for none in [vec![], vec![("SGE_TASK_ID", "undefined")], vec![("LSB_JOBINDEX", "0")]] {
            assert!(found(Some(4), &none).unwrap_err().contains("no part of an array"), "{none:?}");
        }
        assert!(found(Some(4), &[("JOB_COMPLETION_INDEX", "x")]).unwrap_err().contains("is `x`, expected a number"));
        let half = [("AWS_BATCH_JOB_ARRAY_INDEX", "1")];
        assert!(found(None, &half).unwrap_err().contains("AWS_BATCH_JOB_ARRAY_SIZE is not set"));
    }
}
