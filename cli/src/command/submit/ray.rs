//! Ray: parts as tasks, through a few lines of Python.

use super::job::Job;
use anyhow::Result;

/// The script. A part whose worker is lost is asked to end, and starts again elsewhere in its folder.
pub(super) fn script(job: &Job<'_>) -> Result<String> {
    let literal = serde_json::to_string::<[String]>;
    let run = literal(&[&[job.program.clone(), "run".to_owned()], &job.run[..]].concat())?;
    let shares: String = job.shares.iter().map(|share| format!("# {share}\n")).collect();
    Ok(format!(
        r#"# Runs closeread in parts on a Ray cluster: RAY_ADDRESS names it; without, Ray starts on this machine.
import ctypes, os, signal, subprocess, time

import ray

RUN = {run}
MERGE = {merge}
PARTS, WANTED, OUT, LOGS = {parts}, {wanted:?}, {out}, {logs}
# Relative paths hold in this folder, where a machine has it.
FOLDER = {folder}
{shares}

def end_with_worker():
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def folder():
    return FOLDER if os.path.isdir(FOLDER) else None


@ray.remote(num_cpus={cpus}, {memory}max_retries=5)
def part(index):
    command = RUN + ["--shard", f"{{index + 1}}/{{PARTS}}", "--out", f"{{OUT}}/parts/{{index}}"]
    log = open(f"{{LOGS}}/{{index}}.log", "ab") if LOGS else None
    for wait in (10, 30, 60, None):
        code = subprocess.Popen(command, cwd=folder(), stdout=log, stderr=log, preexec_fn=end_with_worker).wait()
        # 2: unusable, or the process of a lost worker still finishes its calls in this folder.
        if code != 2 or wait is None:
            return code
        time.sleep(wait)


def ended(index, code):
    # A part that Ray gives up stops no other.
    try:
        return ray.get(code)
    except Exception as error:
        print(f"part {{index}}: {{error}}")
        return 1


ray.init()
parts = [part.remote(index) for index in WANTED]
codes = [ended(index, code) for index, code in zip(WANTED, parts)]
print("parts ended with", dict(zip(WANTED, codes)))
raise SystemExit(subprocess.call(MERGE, cwd=folder()))
"#,
        merge = literal(&job.merge())?,
        parts = job.args.parts,
        wanted = job.wanted,
        out = serde_json::to_string(&job.out)?,
        logs = job.logs.as_ref().map_or_else(|| Ok("None".to_owned()), serde_json::to_string)?,
        cpus = job.args.cpus,
        memory = job.memory.map_or_else(String::new, |mebibytes| format!("memory={mebibytes} << 20, ")),
        folder = serde_json::to_string(&job.working_folder)?,
    ))
}
