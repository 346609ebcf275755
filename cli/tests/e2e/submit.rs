//! Runs in parts on an engine: a `sbatch` that runs the tasks here and now, and a Ray that does.

use crate::moto::Store;
use crate::support::{Ended, Sandbox, tales, timeless};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Runs an array's tasks in turn, but for one that is cancelled, and what `--wrap` says; each as Slurm would start it.
pub(crate) const SBATCH: &str = r#"#!/bin/bash
for argument; do
  case $argument in
    --wrap=*) bash -c "${argument#--wrap=}" >>"$SLURM_LOG" 2>&1; echo 8; exit 0 ;;
    --*) echo "$argument" >>"$SLURM_LOG" ;;
    *) script=$argument ;;
  esac
done
ids=$(sed -n 's/^#SBATCH --array=//p' "$script" | tr , ' ')
echo "array $ids" >>"$SLURM_LOG"
for range in $ids; do
  for id in $(seq "${range%-*}" "${range#*-}"); do
    [ "$id" = "$CANCELLED" ] || SLURM_ARRAY_TASK_ID=$id bash "$script" >>"$SLURM_LOG" 2>&1
  done
done
echo 7
"#;

/// A cluster with the job of a file `job`, which holds the conditions that are true of it, and of a file `place`, where its parts are.
const KUBECTL: &str = r#"#!/bin/bash
echo "$@" >>"$SLURM_LOG"
case "$*" in get*annotations*) cat place 2>/dev/null || true ;; get*) cat job ;; esac
"#;

/// A module `ray` that runs tasks where they are asked for.
const RAY: &str = "
class Task:
    def __init__(self, call): self.call = call
    def remote(self, *given): return self.call(*given)
def remote(**options): return Task
def init(): pass
def get(values): return values
";

pub(crate) const OPTIONS: [&str; 6] = ["--benchmark", "tales", "--method", "closed-book,dos-rag", "--budget", "60"];

pub(crate) fn submit(sandbox: &Sandbox, engine: &[&str]) -> Ended {
    let args = [&["submit"], engine, &["--parts", "3", "--out", "spread", "--"], &OPTIONS[..]].concat();
    Ended(with_engines(sandbox, sandbox.command(&args)).output().unwrap())
}

/// The command where it finds the engines of these tests.
pub(crate) fn with_engines(sandbox: &Sandbox, mut command: Command) -> Command {
    let path = format!("{}:{}", sandbox.path("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("SLURM_LOG", sandbox.path("slurm.log")).env("PYTHONPATH", sandbox.path("python"));
    command
}

pub(crate) fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_slurm_array_runs_the_parts_that_are_not_finished_and_joins_them() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("bin/sbatch"), SBATCH);
    program(&sandbox.path("bin/squeue"), "#!/bin/bash\n");
    let whole = sandbox.run(&[&["run", "--json", "--out", "whole"], &OPTIONS[..]].concat()).exits(0).json();

    submit(&sandbox, &["slurm"]).exits(0);
    let joined = sandbox.run(&[&["run", "--json", "--out", "spread/whole"], &OPTIONS[..]].concat()).exits(0).json();
    assert_eq!(timeless(&joined), timeless(&whole));
    let items = |run: &str| std::fs::read_to_string(sandbox.path(run).join("items.jsonl")).unwrap();
    assert_eq!(items("spread/whole"), items("whole"), "parts are books in turn, and items come in their order");
    let status = sandbox.run(&["status", "spread", "--json"]).exits(0).json();
    assert_eq!(status[2]["state"], "finished", "{status}");
    let args = [&["submit", "slurm", "--parts", "2", "--out", "spread", "--"], &OPTIONS[..]].concat();
    sandbox.run(&args).refuses(&["is one of 3 parts: give --parts 3"]);
    assert_eq!(status[2]["trials"], status[2]["trials_planned"]);

    let records = sandbox.path("spread/parts/1/records.jsonl");
    let first = std::fs::read_to_string(&records).unwrap().lines().next().unwrap().to_owned();
    std::fs::write(&records, first + "\n").unwrap();
    let status = sandbox.run(&["status", "spread"]).exits(1);
    assert!(status.out().contains("STOPPED") && status.out().contains("2 of 3 parts finished"), "{}", status.out());
    submit(&sandbox, &["slurm"]).exits(0);
    let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert_eq!(log.matches("array ").collect::<Vec<_>>().len(), 2, "{log}");
    assert!(log.contains("array 0-2\n") && log.contains("array 1\n"), "only the part that lacked trials: {log}");
    let again = sandbox.run(&[&["run", "--json", "--out", "spread/whole"], &OPTIONS[..]].concat()).exits(0).json();
    assert_eq!(timeless(&again), timeless(&whole));
    assert!(submit(&sandbox, &["slurm"]).exits(0).err().contains("all 3 parts are finished"));
    // Joining failed, or its job was cancelled: the same command joins.
    std::fs::remove_dir_all(sandbox.path("spread/whole")).unwrap();
    let joined = submit(&sandbox, &["slurm"]).exits(0);
    assert!(joined.err().contains("whole has not all of them"), "{}", joined.err());
    assert!(sandbox.path("spread/whole/records.jsonl").exists(), "{}", joined.err());
}

#[test]
#[ignore = "needs python"]
fn needs_python_ray_runs_the_parts_as_tasks() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("python/ray.py"), RAY);
    let whole = sandbox.run(&[&["run", "--json", "--out", "whole"], &OPTIONS[..]].concat()).exits(0).json();
    submit(&sandbox, &["ray"]).exits(0);
    let joined = sandbox.run(&[&["run", "--json", "--out", "spread/whole"], &OPTIONS[..]].concat()).exits(0).json();
    assert_eq!(timeless(&joined), timeless(&whole));
}

#[test]
fn scripts_share_limits_keep_signals_and_quote_what_a_shell_would_read() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let dry = |engine: &[&str], run: &[&str]| {
        let args = [&["submit"], engine, &["--parts", "4", "--out", "my runs", "--dry-run", "--"], &OPTIONS[..], run];
        sandbox.run(&args.concat())
    };
    let limits = ["--rpm=10", "--max-cost", "2", "--name", "it's a test"];
    let script = dry(&["slurm", "--minutes", "90", "--partition", "gpu"], &limits).exits(0);
    for line in [
        "#SBATCH --array=0-3\n",
        "#SBATCH --time=1:30:00\n",
        "#SBATCH --partition=gpu\n",
        "#SBATCH --signal=B:TERM@120\n",
        "# --max-cost 2 over 4 parts is 0.500000 for each\n",
        "# --rpm 10 over 4 parts is 2 for each\n",
        "\nexec ",
        " --max-cost 0.500000 --rpm 2 --shard \"$((SLURM_ARRAY_TASK_ID + 1))/4\" --out '",
        "\"it's a test\"",
    ] {
        assert!(script.out().contains(line), "{line}: {}", script.out());
    }
    assert!(!script.out().contains("--rpm=10") && !sandbox.path("my runs").exists());

    let manifest = dry(&["kubernetes", "--image", "i", "--claim", "c", "--secret", "keys"], &[]).exits(0).json();
    let spec = &manifest["items"][0]["spec"];
    assert_eq!((spec["completionMode"].as_str(), spec["completions"].as_u64()), (Some("Indexed"), Some(4)));
    let container = &spec["template"]["spec"]["containers"][0];
    let args: Vec<&str> = container["args"].as_array().unwrap().iter().filter_map(|a| a.as_str()).collect();
    assert!(
        args.join(" ").contains("--shard auto/4 --out")
            && args.last().unwrap().ends_with("/parts/$(JOB_COMPLETION_INDEX)")
    );
    assert_eq!(container["envFrom"][0]["secretRef"]["name"], "keys");

    for (run, words) in [
        (&["--rpm", "3"][..], "--rpm 3 cannot be shared by 4 parts"),
        (&["--shard", "1/2"], "--shard is submit's own"),
        (&["--method-of", "x"], "--method-of"),
        (&["--items", "nope"], "nope"),
    ] {
        let refused = dry(&["slurm"], run);
        assert!(refused.exits(2).err().contains(words), "{run:?}");
    }
    let away = sandbox.run(&["status", "tales"]).exits(2);
    assert!(away.err().contains("holds no parts"), "{}", away.err());
}

#[test]
fn parts_on_kubernetes_may_lie_in_an_object_store_and_need_no_volume_there() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let dry = |engine: &[&str], out: &str| {
        let fixed = ["--parts", "2", "--minutes", "9", "--dry-run", "--out", out, "--"];
        sandbox.run(&[&["submit"], engine, &fixed[..], &OPTIONS].concat())
    };
    let manifest = dry(&["kubernetes", "--image", "i"], "s3://evals/spread").exits(0).json();
    let pod = &manifest["items"][0]["spec"]["template"]["spec"];
    let args = pod["containers"][0]["args"].as_array().unwrap();
    assert_eq!(args.last().unwrap(), "s3://evals/spread/parts/$(JOB_COMPLETION_INDEX)");
    assert!(pod["volumes"].is_null() && pod["containers"][0]["volumeMounts"].is_null(), "{pod}");
    assert_eq!(manifest["items"][0]["metadata"]["name"], "closeread-spread");
    assert_eq!(manifest["items"][1]["metadata"]["name"], "closeread-spread-merge");
    assert!(!sandbox.path("s3:").exists());
    dry(&["kubernetes", "--image", "i", "--claim", "c"], "s3://evals/spread").refuses(&["--claim is for a folder"]);
    dry(&["kubernetes", "--image", "i"], "spread").refuses(&["--claim names the volume claim"]);
    dry(&["kubernetes", "--image", "i", "--logs", "l"], "s3://evals/spread")
        .refuses(&["--logs: `kubectl logs` prints"]);
    dry(&["slurm"], "s3://evals/spr*").refuses(&["s3://evals/spr* names any number of folders"]);
    dry(&["ray"], "s3://evals").refuses(&["s3://evals: expected BUCKET/PATH"]);
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_parts_of_an_array_lie_in_a_store_and_only_those_that_lack_trials_are_handed_in_again() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    tales(&sandbox);
    program(&sandbox.path("bin/sbatch"), SBATCH);
    program(&sandbox.path("bin/squeue"), "#!/bin/bash\n");
    let submit = |machine: &str, cancelled: &str, parts: &str| {
        let fixed = ["submit", "slurm", "--parts", parts, "--out", "s3://evals/spread/", "--"];
        let mut command = with_engines(&sandbox, store.command(&sandbox, machine, &[&fixed[..], &OPTIONS].concat()));
        Ended(command.env("CANCELLED", cancelled).output().unwrap())
    };
    let states = || {
        let status = store.command(&sandbox, "watcher", &["status", "s3://evals/spread", "--json"]).output().unwrap();
        let parts: Vec<serde_json::Value> = serde_json::from_slice(&status.stdout).unwrap();
        parts.iter().map(|part| part["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let run = [&["run", "--json"], &OPTIONS[..]].concat();
    let whole = store.run(&sandbox, "a", &[&run[..], &["--out", "whole"]].concat()).exits(0).json();

    submit("a", "1", "3").exits(0);
    assert_eq!(states(), ["finished", "waiting", "finished"]);
    let log = || std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(log().contains("parts that are missing: 2/3"), "the others are joined: {}", log());
    assert!(store.names().contains("spread/whole/records.jsonl"), "{:?}", store.names());
    let script = std::fs::read_to_string(sandbox.path("submit.sh")).unwrap();
    assert!(script.contains("/spread-logs/%a.log") && sandbox.path("spread-logs").is_dir(), "{script}");
    assert!(!script.contains("geheim") && !log().contains("geheim"), "{script}{}", log());

    let records = store.object("spread/parts/2/records.jsonl");
    store.put("spread/parts/2/records.jsonl", records.split_inclusive('\n').next().unwrap());
    assert_eq!(states(), ["finished", "waiting", "stopped"]);
    submit("b", "1", "2").refuses(&["s3://evals/spread/parts/0 is one of 3 parts: give --parts 3"]);
    submit("b", "", "3").exits(0);
    assert!(log().contains("array 0-2\n") && log().contains("array 1-2\n"), "only what lacked trials: {}", log());
    assert_eq!(states(), ["finished"; 3]);
    let joined = store.run(&sandbox, "c", &[&run[..], &["--out", "s3://evals/spread/whole"]].concat()).exits(0).json();
    assert_eq!(timeless(&joined), timeless(&whole));
    let done = submit("c", "", "3").exits(0);
    assert!(
        done.err().contains("all 3 parts are finished") && done.err().contains("parts/*' --fresh"),
        "{}",
        done.err()
    );
}

#[test]
#[ignore = "needs moto and azurite"]
fn needs_stores_needs_python_rays_tasks_write_into_a_store_and_print_or_log_where_they_are_told_to() {
    let (store, sandbox) = (Store::start(), Sandbox::new());
    tales(&sandbox);
    program(&sandbox.path("python/ray.py"), RAY);
    let submit = |out: &str, more: &[&str]| {
        let args = [&["submit", "ray", "--parts", "2", "--out", out], more, &["--"], &OPTIONS[..]].concat();
        Ended(with_engines(&sandbox, store.command(&sandbox, "a", &args)).output().unwrap())
    };
    let run = [&["run", "--json"], &OPTIONS[..]].concat();
    let whole = store.run(&sandbox, "a", &[&run[..], &["--out", "whole"]].concat()).exits(0).json();
    let printed = submit("s3://evals/printed", &[]).exits(0);
    assert!(printed.err().contains("s3://evals/printed/parts/1 is written by way of"), "{}", printed.err());
    let logged = submit("s3://evals/logged", &["--logs", "my logs"]).exits(0);
    assert!(!logged.err().contains("/parts/1 is written by way of"), "{}", logged.err());
    let log = std::fs::read_to_string(sandbox.path("my logs/1.log")).unwrap();
    assert!(log.contains("s3://evals/logged/parts/1 is written by way of"), "{log}");
    for out in ["s3://evals/printed/whole", "s3://evals/logged/whole"] {
        let joined = store.run(&sandbox, "b", &[&run[..], &["--out", out]].concat()).exits(0).json();
        assert_eq!(timeless(&joined), timeless(&whole));
    }
}

#[test]
fn finding_01_a_script_of_a_persons_stays_and_no_script_holds_a_key() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    sandbox.write("spread/submit.sh", "#!/bin/bash\ncloseread run --shard auto\n");
    submit(&sandbox, &["slurm"]).refuses(&["submit.sh is not closeread's"]);
    assert!(std::fs::read_to_string(sandbox.path("spread/submit.sh")).unwrap().contains("--shard auto"));
    let model = ["--model", "openai-compatible/tiny", "--base-url"];
    for (url, words) in [
        ("http://me:sk-planted@127.0.0.1:1/v1", Some("--base-url holds what may be a key")),
        ("http://127.0.0.1:1/v1?key=sk-planted", Some("--base-url holds what may be a key")),
        ("http://127.0.0.1:1/v1", None),
        ("http://127.0.0.1:1", None),
    ] {
        let submit = ["submit", "ray", "--parts", "2", "--minutes", "60", "--out", "x", "--dry-run", "--"];
        let ended = sandbox.run(&[&submit[..], &OPTIONS, &model, &[url]].concat());
        assert!(!ended.out().contains("planted") && !ended.err().contains("planted"), "{}", ended.err());
        match words {
            Some(words) => ended.refuses(&[words]),
            None => drop(ended.exits(0)),
        }
    }
}

/// The folder into which the packages were unpacked, below that of the programs that cargo builds.
fn slurm() -> std::path::PathBuf {
    let programs = Path::new(env!("CARGO_BIN_EXE_closeread"));
    programs.ancestors().map(|folder| folder.join("slurm")).find(|folder| folder.join("root").is_dir()).unwrap()
}

#[test]
#[ignore = "needs Slurm, unpacked, and root"]
fn needs_slurm_a_killed_part_and_one_that_never_began_are_resubmitted_alone() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/engines/slurm_cases.py");
    let mut python = std::process::Command::new("python3");
    python.arg(cases).arg(slurm()).arg(env!("CARGO_BIN_EXE_closeread")).args(["killed", "cancelled"]);
    let ended = Ended(python.output().unwrap()).exits(0);
    assert!(ended.out().contains("killed: passed") && ended.out().contains("cancelled: passed"), "{}", ended.out());
}

#[test]
fn finding_01_no_value_breaks_out_of_its_place_in_a_script() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let dry = |engine: &[&str], out: &str, run: &[&str]| {
        let args = [
            &["submit"],
            engine,
            &["--parts", "2", "--minutes", "9", "--out", out, "--dry-run", "--"],
            &OPTIONS[..],
            run,
        ];
        sandbox.run(&args.concat())
    };
    let kubernetes = ["kubernetes", "--image", "i", "--claim", "c"];
    let broken = "x\n#SBATCH --uid=0";
    for engine in [&["slurm"][..], &["ray"], &kubernetes] {
        dry(engine, broken, &[]).refuses(&["--out is", "line break"]);
    }
    for option in ["--partition", "--account"] {
        dry(&["slurm", option, broken], "x", &[]).refuses(&[option, "line break"]);
    }
    for option in ["--image", "--claim", "--secret"] {
        let named = ["--image", "--claim", "--secret"].map(|name| [name, if name == option { broken } else { "x" }]);
        dry(&[&["kubernetes"], named.concat().as_slice()].concat(), "x", &[]).refuses(&[option, "line break"]);
    }

    let script = dry(&["slurm"], "my #1 100%", &[]).exits(0).out();
    let output = script.lines().find(|line| line.starts_with("#SBATCH --output=")).unwrap();
    assert!(output.starts_with("#SBATCH --output=\"/") && output.ends_with("/my #1 100%%/logs/%a.log\""), "{output}");

    let job = dry(&kubernetes, "雨 $(HOME)", &["--name", "$(OPENAI_API_KEY) $x"]).exits(0).json();
    let job = &job["items"][0];
    let args = job["spec"]["template"]["spec"]["containers"][0]["args"].to_string();
    assert!(args.contains("$$(OPENAI_API_KEY) $$x") && args.contains("雨 $$(HOME)/parts/$(JOB_"), "{args}");
    let name = job["metadata"]["name"].as_str().unwrap();
    assert!(name == "closeread-----home" || name.ends_with(|c: char| c.is_ascii_alphanumeric()), "{name}");
}

#[test]
fn a_claim_is_mounted_in_pods_and_no_folder_of_its_name_is_made_here() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("bin/kubectl"), KUBECTL);
    let volume = sandbox.path("volume/spread");
    let submit = |more: &[&str]| {
        let place = ["--parts", "2", "--minutes", "9", "--out", volume.to_str().unwrap()];
        let args = [&["submit", "kubernetes", "--image", "i", "--claim", "c"], &place[..], more, &["--"], &OPTIONS];
        Ended(with_engines(&sandbox, sandbox.command(&args.concat())).output().unwrap())
    };
    let ended = submit(&[]).exits(0);
    assert!(!volume.exists() && ended.err().contains("where the volume is mounted"), "{}", ended.err());
    assert!(ended.err().contains("job closeread-spread-merge joins the parts"), "{}", ended.err());
    let asked = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(asked.contains("apply --filename") && sandbox.path("job.json").is_file(), "{asked}");
    submit(&["--follow"]).refuses(&["--follow:", "is in a volume"]);

    sandbox.write("job", "");
    let again = submit(&[]).exits(0);
    assert!(again.err().contains("job closeread-spread has not ended and is not handed in again"), "{}", again.err());
    sandbox.write("job", "Failed");
    submit(&[]).exits(0);
    let asked = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    let last: Vec<&str> = asked.lines().rev().take(3).collect();
    assert!(last[1].starts_with("delete job --ignore-not-found closeread-spread closeread-spread-merge"), "{asked}");
    assert!(last[0].starts_with("apply ") && asked.matches("apply ").count() == 2, "{asked}");

    let its = sandbox.run(&[
        "submit",
        "kubernetes",
        "--image",
        "i",
        "--claim",
        "c",
        "--parts",
        "2",
        "--dry-run",
        "--out",
        "/a/spread",
    ]);
    let its = its.exits(0).json()["items"][0]["metadata"]["annotations"]["closeread/place"].clone();
    assert_eq!(its, "c:/a/spread");
    sandbox.write("place", its.as_str().unwrap());
    submit(&[]).refuses(&["job closeread-spread has the parts in c:/a/spread", "another last name by --out"]);
    sandbox.write("place", format!("c:{}", volume.display()));
    submit(&[]).exits(0);
}

#[test]
fn a_thousand_parts_are_joined_by_a_line_that_a_program_takes() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("bin/sbatch"), "#!/bin/bash\necho \"$@\" >>\"$SLURM_LOG\"; echo 7\n");
    let name = "my spread ".repeat(15);
    let args = ["submit", "slurm", "--parts", "1000", "--minutes", "9", "--out", &name, "--"];
    let mut command = with_engines(&sandbox, sandbox.command(&[&args[..], &OPTIONS].concat()));
    Ended(command.output().unwrap()).exits(0);
    let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(log.contains("my spread /parts'/* --fresh --out '"), "{log}");
}
