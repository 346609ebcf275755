//! Folders of submissions in the forms in which people type them, and parts that a cluster loses.

use crate::submit::{OPTIONS, program, with_engines};
use crate::support::{Ended, Sandbox, tales};

/// A module `ray` that loses the worker of each first part.
const LOSING_RAY: &str = "
class Task:
    def __init__(self, call): self.call = call
    def remote(self, index): return index, self.call
def remote(**options): return Task
def init(): pass
def get(task):
    index, call = task
    if index == 0: raise RuntimeError('the worker died')
    return call(index)
";

#[test]
#[ignore = "needs python"]
fn needs_python_a_part_that_ray_gives_up_stops_no_other() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("python/ray.py"), LOSING_RAY);
    let args = [&["submit", "ray", "--parts", "2", "--out", "spread", "--"], &OPTIONS[..]].concat();
    let ended = Ended(with_engines(&sandbox, sandbox.command(&args)).output().unwrap()).exits(1);
    assert!(ended.out().contains("part 0: the worker died"), "{}", ended.out());
    assert!(sandbox.path("spread/whole/records.jsonl").exists(), "the other part is joined: {}", ended.err());
}

#[test]
fn a_slash_at_the_end_of_a_folder_makes_no_other_submission() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let dry = |given: &[&str]| {
        let args = [&["submit", "--parts", "3", "--minutes", "9", "--dry-run"], given, &["--"], &OPTIONS[..]].concat();
        sandbox.run(&args).exits(0).out()
    };
    let script = dry(&["slurm", "--out", "spread"]);
    for out in ["spread/", "./spread/", "spread/."] {
        assert_eq!(dry(&["slurm", "--out", out]), script, "{out}");
    }
    let pods = ["kubernetes", "--image", "i", "--claim", "c", "--out"];
    let manifest = dry(&[&pods[..], &["/runs/spread"]].concat());
    assert!(manifest.contains("\"closeread-spread\""), "{manifest}");
    assert_eq!(dry(&[&pods[..], &["/runs/spread/"]].concat()), manifest);
}

#[test]
fn parts_that_would_split_the_one_call_of_a_book_are_refused_before_they_are_handed_in() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let together =
        ["--method", "closed-book", "--param", "closed-book.style=novelqa", "--param", "closed-book.together=true"];
    let dry = |parts: &str| {
        let args = ["submit", "slurm", "--parts", parts, "--dry-run", "--out", "spread", "--", "--benchmark", "tales"];
        sandbox.run(&[&args[..], &together].concat())
    };
    dry("7").refuses(&["closed-book asks all questions on a book in one call", "there are 6"]);
    dry("6").exits(0);
    // Where each book has one question, no call is split.
    let few = ["estimate", "--benchmark", "tales", "--items", "t0-3,t1-3", "--shard", "1/3"];
    sandbox.run(&[&few[..], &together].concat()).exits(0);
}

#[test]
fn parts_in_the_queue_are_found_by_a_folder_with_a_slash() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("bin/sbatch"), "#!/bin/bash\necho 7\n");
    program(
        &sandbox.path("bin/squeue"),
        "#!/bin/bash\n[ ! -e queued ] || printf '7 0 PENDING\\n7 1 PENDING\\n7 2 PENDING\\n'\n",
    );
    let submit = |out: &str| {
        let args = [&["submit", "slurm", "--parts", "3", "--out", out, "--"], &OPTIONS[..]].concat();
        Ended(with_engines(&sandbox, sandbox.command(&args)).output().unwrap())
    };
    submit("spread").exits(0);
    sandbox.write("queued", "");
    let again = submit("spread/").exits(0);
    assert!(again.err().contains("parts in Slurm's queue, which are not handed in again: 3"), "{}", again.err());
}

#[test]
fn a_share_of_tokens_a_minute_that_no_prompt_fits_is_said() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let told = |tokens: &str| {
        let submit = ["submit", "slurm", "--parts", "4", "--out", "spread", "--dry-run", "--", "--benchmark", "tales"];
        let model = ["--method", "full-document", "--model", "openai-compatible/x", "--max-output-tokens", "10"];
        sandbox.run(&[&submit[..], &model, &["--tpm", tokens]].concat()).exits(0).err()
    };
    let poor = told("200");
    assert!(poor.contains("18 requests can never fit the --tpm of a part") && poor.contains("fewer parts"), "{poor}");
    let rich = told("40000");
    assert!(!rich.contains("never fit"), "{rich}");
}

#[test]
fn what_this_machine_alone_says_of_a_run_is_not_lost_in_pods() {
    let sandbox = Sandbox::new();
    sandbox.write("conf/run.toml", "method = [\"closed-book\"]\nmax-cost = 3\n");
    let dry = |given: &[&str]| {
        let submit = ["submit", "kubernetes", "--image", "i", "--claim", "c", "--out", "/runs/x", "--parts", "2"];
        let mut command = sandbox.command(&[&submit[..], &["--dry-run", "--"], given].concat());
        command.env("CLOSEREAD_CONFIG", sandbox.path("conf")).env("CLOSEREAD_RUN_BUDGET", "300");
        Ended(command.output().unwrap())
    };
    let options = ["--method", "dos-rag", "--retriever", "bm25"];
    dry(&[]).refuses(&["--method", "--budget", "which the pods do not have: give it after `--`"]);
    dry(&options).refuses(&["error: --budget: set by the environment"]);
    dry(&[&options[..], &["--budget=300"]].concat()).exits(0);

    let own = "benchmark = \"quality\"\ndata = [\"q.jsonl\"]\nbatch = false\nretriever = \"dense\"\n";
    sandbox.write("conf/run.toml", own);
    sandbox.write("e.toml", "retriever = \"bm25\"\nmethod = [\"dos-rag\"]\n");
    dry(&["--benchmark", "sample", "--config", "e.toml", "--budget=300"]).exits(0);
}

#[test]
fn what_is_on_this_machine_alone_is_named_before_pods_and_nodes_look_for_it() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    sandbox.write("conf/run.toml", "method = [\"closed-book\"]\n");
    let told = |engine: &[&str], address: &str, given: &[&str]| {
        let ends = ["--parts", "2", "--dry-run", "--"];
        let mut command = sandbox.command(&[&["submit"], engine, &ends, given].concat());
        command.env("CLOSEREAD_CONFIG", sandbox.path("conf")).env("RAY_ADDRESS", address);
        Ended(command.output().unwrap()).exits(0).err()
    };
    let pods = ["kubernetes", "--image", "i", "--claim", "c", "--out", "/runs/x"];
    let benchmark = |name| told(&pods, "", &["--method", "dos-rag", "--benchmark", name]);
    let words = "--benchmark tales is on this machine, and a pod looks for it in its image";
    assert!(benchmark("tales").contains(words), "{}", benchmark("tales"));
    assert!(!benchmark("sample").contains("is on this machine"));
    let nodes = |address| told(&["ray", "--out", "spread"], address, &["--benchmark", "tales"]);
    let words = "warning: --method: set by the environment or by run.toml of this machine, which other nodes may lack";
    assert!(nodes("10.0.0.1:6379").contains(words), "{}", nodes("10.0.0.1:6379"));
    assert!(!nodes("").contains("other nodes"));
}

#[test]
fn an_option_of_submit_in_a_file_is_named_with_the_file() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let dry = |conf: &str, config: &[&str]| {
        let submit = ["submit", "slurm", "--parts", "2", "--out", "spread", "--dry-run", "--"];
        let mut command = sandbox.command(&[&submit[..], &OPTIONS, config].concat());
        Ended(command.env("CLOSEREAD_CONFIG", sandbox.path(conf)).output().unwrap())
    };
    sandbox.write("conf/run.toml", "out = 'mine'\n");
    sandbox.write("own.toml", "shard = '1/2'\n");
    dry("conf", &[]).refuses(&["`out` stands in ", "run.toml, and is submit's own here: take it out there"]);
    dry("none", &["--config", "own.toml"]).refuses(&["`shard` stands in own.toml"]);
    dry("none", &["--out", "mine"]).refuses(&["--out is submit's own here: give it before `--`"]);
}
