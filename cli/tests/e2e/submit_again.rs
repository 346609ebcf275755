//! Submissions that find parts of an earlier one, and parts that are waited for.

use crate::http::HttpServer;
use crate::submit::{OPTIONS, SBATCH, program, with_engines};
use crate::support::{Ended, Sandbox, tales, timeless};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A cluster that is full: arrays get numbers and wait, and `squeue` has what the file `queue` holds.
const FULL: &str = r#"#!/bin/bash
echo "$(basename "$0") $*" >>"$SLURM_LOG"
case $(basename "$0") in
  sbatch) case "$*" in *--wrap=*) [ ! -e no-more ] || { echo 'job limit reached' >&2; exit 1; } ;; esac
    n=$(($(cat number 2>/dev/null || echo 6) + 1)); echo $n >number; echo $n; cp spread/submit.sh "handed-in-$n" ;;
  squeue) cat queue ;;
esac
"#;

/// A desk at a full cluster, and what `submit` says there.
fn full_cluster() -> (Sandbox, impl Fn(&Sandbox, &[&str]) -> Ended) {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    for name in ["sbatch", "squeue", "scancel"] {
        program(&sandbox.path("bin").join(name), FULL);
    }
    let submit = |sandbox: &Sandbox, more: &[&str]| {
        let args = [&["submit", "slurm", "--parts", "3", "--out", "spread"], more, &["--"], &OPTIONS[..]].concat();
        Ended(with_engines(sandbox, sandbox.command(&args)).output().unwrap())
    };
    (sandbox, submit)
}

#[test]
fn parts_that_wait_in_slurms_queue_are_not_handed_in_twice() {
    let (sandbox, submit) = full_cluster();
    submit(&sandbox, &[]).exits(0);
    sandbox.write("queue", "7 0 PENDING\n7 1 PENDING\n7 2 RUNNING\n9 0 PENDING\n8 N/A PENDING\n");
    let again = submit(&sandbox, &[]).exits(0);
    assert!(again.err().contains("parts in Slurm's queue, which are not handed in again: 3"), "{}", again.err());
    assert!(!sandbox.path("handed-in-9").exists());

    sandbox.write("queue", "7 1 PENDING\n7 2 COMPLETING\n");
    let script = submit(&sandbox, &["--dry-run"]).exits(0).out();
    assert!(script.contains("#SBATCH --array=0,2\n"), "{script}");
    submit(&sandbox, &[]).exits(0);
    let script = std::fs::read_to_string(sandbox.path("handed-in-9")).unwrap();
    assert!(script.contains("#SBATCH --array=0,2\n"), "{script}");
    let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(log.contains("--dependency=afterany:9:7 "), "the second joins what the first left: {log}");
    assert!(log.contains("scancel --state=PENDING 8\n"), "and the first does not join beside it: {log}");

    sandbox.write("queue", "7 1 PENDING\n9 0 PENDING\n9 2 PENDING\n");
    let third = submit(&sandbox, &[]).exits(0);
    assert!(third.err().contains("not handed in again: 3"), "{}", third.err());
    sandbox.write("queue", "7 1 PENDING\n9 2 PENDING\n");
    submit(&sandbox, &[]).exits(0);
    let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(log.ends_with("scancel --state=PENDING 10\n"), "the job that joins both: {log}");
}

#[test]
fn options_of_another_engine_and_names_that_kubernetes_refuses_are_refused() {
    let sandbox = Sandbox::new();
    let dry = |engine: &[&str]| {
        sandbox.run(&[&["submit"], engine, &["--parts", "2", "--dry-run", "--"], &OPTIONS[..]].concat())
    };
    for option in ["--image", "--claim", "--secret"] {
        dry(&["slurm", "--out", "o", option, "x"]).refuses(&[option, "is for Kubernetes"]);
    }
    let pods = ["kubernetes", "--image", "i", "--claim", "c", "--out"];
    for option in ["--partition", "--account"] {
        dry(&[&pods[..], &["/o", option, "x"]].concat()).refuses(&[option, "is for Slurm"]);
    }
    for secret in ["", "a b", "My_keys"] {
        dry(&[&pods[..], &["/o", "--secret", secret]].concat()).refuses(&["--secret is `", "expected small letters"]);
    }
    for out in ["/", "/runs:1"] {
        dry(&[&pods[..], &[out]].concat()).refuses(&["no volume is mounted there"]);
    }
}

#[test]
fn two_submissions_at_once_hand_in_each_part_once() {
    let (sandbox, submit) = full_cluster();
    let slow =
        FULL.replace("cp spread", "sleep 2; printf '7 0 PENDING\\n7 1 PENDING\\n7 2 PENDING\\n' >queue; cp spread");
    program(&sandbox.path("bin/sbatch"), &slow);
    sandbox.write("queue", "");
    let said = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| submit(&sandbox, &[]).exits(0).err()));
        both.map(|one| one.join().unwrap())
    });
    let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    let n_arrays = log.lines().filter(|line| line.starts_with("sbatch") && !line.contains("--wrap=")).count();
    assert_eq!(n_arrays, 1, "{said:?}");
    let waited = said.iter().find(|said| said.contains("hands in these parts now")).unwrap();
    assert!(waited.contains("not handed in again: 3"), "{waited}");
}

#[test]
fn parts_are_known_where_the_job_that_joins_them_was_refused_and_it_is_handed_in_later() {
    let (sandbox, submit) = full_cluster();
    sandbox.write("no-more", "");
    submit(&sandbox, &[]).refuses(&["sbatch: job limit reached", "give the same command again"]);
    sandbox.write("queue", "7 0 PENDING\n7 1 PENDING\n7 2 RUNNING\n");
    submit(&sandbox, &[]).refuses(&["sbatch: job limit reached"]);
    std::fs::remove_file(sandbox.path("no-more")).unwrap();
    let again = submit(&sandbox, &[]).exits(0);
    assert!(again.err().contains("parts in Slurm's queue, which are not handed in again: 3"), "{}", again.err());
    let handed_in = || {
        let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
        let calls = log.lines().filter(|line| line.starts_with("sbatch") && !line.contains("--wrap="));
        (calls.count(), log.matches("--dependency=afterany:7 ").count())
    };
    assert_eq!(handed_in(), (1, 3), "one array, and the third time its job is taken");
    submit(&sandbox, &[]).exits(0);
    assert_eq!(handed_in(), (1, 3), "nothing is handed in twice");
}

#[test]
fn an_array_whose_number_could_not_be_noted_is_known_by_its_comment() {
    let (sandbox, submit) = full_cluster();
    let killing = FULL.replace("cp spread", "[ -e no-kill ] || kill -9 $PPID; cp spread");
    program(&sandbox.path("bin/sbatch"), &killing);
    assert_eq!(submit(&sandbox, &[]).0.status.code(), None, "killed once the array was taken");
    assert!(!sandbox.path("spread/logs/jobs").exists());
    let script = std::fs::read_to_string(sandbox.path("spread/submit.sh")).unwrap();
    let comment = script.split_once("#SBATCH --comment=").unwrap().1.lines().next().unwrap();
    let queue =
        |comment: &str| ["7 0", "7 1", "7 2"].map(|task| format!("{task} PENDING closeread {comment}\n")).concat();
    let arrays = || {
        let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
        log.lines().filter(|line| line.starts_with("sbatch") && !line.contains("--wrap=")).count()
    };

    sandbox.write("no-kill", "");
    sandbox.write("queue", queue(comment));
    let again = submit(&sandbox, &[]).exits(0);
    assert!(again.err().contains("parts in Slurm's queue, which are not handed in again: 3"), "{}", again.err());
    let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(
        arrays() == 1 && log.contains(&format!("--comment={comment} --time=1:00:00 --dependency=afterany:7 ")),
        "{log}"
    );

    // Of two jobs that would join the array, the one that was not noted goes.
    std::fs::remove_file(sandbox.path("spread/logs/jobs")).unwrap();
    sandbox.write("queue", format!("{}8 N/A PENDING closeread-merge {comment}\n", queue(comment)));
    submit(&sandbox, &[]).exits(0);
    let log = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(arrays() == 1 && log.ends_with("scancel --state=PENDING 8\n"), "{log}");

    std::fs::remove_file(sandbox.path("spread/logs/jobs")).unwrap();
    sandbox.write("queue", queue("another-folder"));
    submit(&sandbox, &[]).exits(0);
    assert_eq!(arrays(), 2, "an array of another folder");
}

#[test]
fn a_part_with_failed_trials_or_judgements_is_not_finished_and_is_handed_in_again() {
    let (sandbox, submit) = full_cluster();
    let server = HttpServer::start(|_| ("400 Bad Request", Vec::new(), "{}".to_owned()));
    let url = format!("{}/v1", server.url);
    let asked = ["--model", "openai-compatible/m", "--base-url", &url];
    let judged = ["--judge-model", "openai-compatible/j", "--judge-base-url", &url];
    let by_rule = ["--judge-model", "builtin/rule"];
    for (part, more, code) in [("0", &asked[..], 1), ("1", &judged, 1), ("2", &by_rule, 0)] {
        let (shard, out) = (format!("{}/3", part.parse::<u8>().unwrap() + 1), format!("spread/parts/{part}"));
        // Twice: a trial that fails again gets a second record.
        for _ in 0..2 {
            let args = [&["run", "--shard", &shard, "--out", &out], &OPTIONS[..], more].concat();
            sandbox.run(&args).exits(code);
        }
    }
    let states = |code: i32| -> Vec<String> {
        let status = sandbox.run(&["status", "spread", "--json"]).exits(code).json();
        status.as_array().unwrap().iter().map(|part| part["state"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(states(1), ["stopped", "stopped", "finished"]);
    let script = submit(&sandbox, &["--dry-run"]).exits(0).out();
    assert!(script.contains("#SBATCH --array=0-1\n"), "{script}");
    std::fs::remove_file(sandbox.path("spread/parts/2/report.json")).unwrap();
    assert_eq!(states(1)[2], "stopped", "it was killed while it was judged");
}

#[test]
fn status_says_whether_a_job_is_to_join_parts_that_are_finished() {
    let (sandbox, submit) = full_cluster();
    submit(&sandbox, &[]).exits(0);
    for part in 0..3 {
        let (shard, out) = (format!("{}/3", part + 1), format!("spread/parts/{part}"));
        sandbox.run(&[&["run", "--shard", &shard, "--out", &out], &OPTIONS[..]].concat()).exits(0);
    }
    let status = || Ended(with_engines(&sandbox, sandbox.command(&["status", "spread"])).output().unwrap()).out();
    let script = std::fs::read_to_string(sandbox.path("spread/submit.sh")).unwrap();
    let comment = script.split_once("--comment=").unwrap().1.lines().next().unwrap();
    sandbox.write("queue", format!("8 N/A PENDING closeread-merge {comment}\n"));
    assert!(status().contains("not joined yet: a job in Slurm's queue is to join them"), "{}", status());
    sandbox.write("queue", "");
    assert!(status().contains("not joined: no job in Slurm's queue joins them"), "{}", status());
    assert!(!sandbox.run(&["status", "spread/parts/0"]).exits(0).out().contains("joined"));
    sandbox.run(&["merge", "spread/parts/0", "spread/parts/1", "spread/parts/2", "--out", "spread/whole"]).exits(0);
    assert!(!status().contains("joined"), "{}", status());
}

#[test]
fn a_part_has_time_for_its_share_of_the_requests() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let minutes = |parts: &str| -> u32 {
        let fixed = ["submit", "slurm", "--parts", parts, "--out", "spread", "--dry-run", "--"];
        let limited =
            ["--model", "openai-compatible/m", "--base-url", "http://127.0.0.1:1", "--repeats", "50", "--rpm", "4"];
        let script = sandbox.run(&[&fixed[..], &OPTIONS, &limited].concat()).exits(0).out();
        let time = script.split_once("#SBATCH --time=").unwrap().1.split_once(":00\n").unwrap().0;
        let (hours, minutes) = time.split_once(':').unwrap();
        hours.parse::<u32>().unwrap() * 60 + minutes.parse::<u32>().unwrap()
    };
    let alone = minutes("1");
    assert!(alone > 240, "{alone}");
    assert_eq!(minutes("4"), alone, "a quarter of the calls, at a quarter of the rate");
}

#[test]
fn a_wrong_option_of_the_run_is_told_as_one_message() {
    let (sandbox, submit) = full_cluster();
    let wrong = |run: &[&str]| sandbox.run(&[&["submit", "slurm", "--parts", "3", "--out", "x", "--"], run].concat());
    let said = wrong(&["--bugdet", "60"]).exits(2).err();
    assert!(said.starts_with("error: after `--`: unexpected argument '--bugdet' found\n"), "{said}");
    assert!(said.contains("'--budget'") && said.matches("error:").count() == 1 && !said.contains("u000a"), "{said}");
    assert!(wrong(&["--help"]).exits(0).out().contains("--budget"));
    submit(&sandbox, &[]).exits(0);
}

#[test]
fn a_queue_that_cannot_be_read_is_no_reason_to_hand_in_twice() {
    let (sandbox, submit) = full_cluster();
    submit(&sandbox, &[]).exits(0);
    program(&sandbox.path("bin/squeue"), "#!/bin/bash\necho 'Unable to contact slurm controller' >&2; exit 1\n");
    submit(&sandbox, &[]).refuses(&["squeue: Unable to contact slurm controller"]);
    submit(&sandbox, &["--dry-run"]).exits(0);
}

#[test]
fn a_dry_run_into_a_store_asks_for_no_credentials() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    for (engine, run) in [("slurm", "tales"), ("ray", "tales"), ("slurm", "s3://evals/tales")] {
        let args =
            ["submit", engine, "--parts", "3", "--out", "s3://evals/spread", "--dry-run", "--", "--benchmark", run];
        let ended = sandbox.run(&args).exits(0);
        assert!(ended.out().contains("s3://evals/spread/parts"), "{}", ended.out());
        assert!(ended.err().contains("s3://evals/spread is not asked in a dry run"), "{}", ended.err());
        let said = ended.err().contains("the benchmark is not fetched in a dry run");
        assert_eq!(said, run != "tales", "{}", ended.err());
    }
}

#[test]
fn limits_hold_over_all_parts_wherever_they_are_given() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    sandbox.write("limits.toml", "tpm = 3000\n");
    for engine in [&["slurm"][..], &["ray"], &["kubernetes", "--image", "i", "--claim", "c"]] {
        let fixed = ["--parts", "3", "--minutes", "9", "--memory", "500", "--out", "x", "--dry-run", "--"];
        let run = ["--config", "limits.toml", "--max-cost", "2"];
        let mut command = sandbox.command(&[&["submit"], engine, &fixed, &OPTIONS, &run].concat());
        let script = Ended(command.env("CLOSEREAD_RUN_RPM", "7").output().unwrap()).exits(0).out();
        for (option, share) in [("--max-cost", "0.666666"), ("--rpm", "2"), ("--tpm", "1000")] {
            let given = script.split(option).nth(1).unwrap_or_default();
            let said = script.contains(&format!("over 3 parts is {share} for each"));
            let passed =
                script.split(option).any(|after| after.trim_start_matches(['"', ',', ' ', '\n']).starts_with(share));
            assert!(said && passed, "{option}: {given}\n{script}");
        }
    }
}

/// The arguments of the container of a job, as the cluster fills them in for an index.
fn arguments(job: &serde_json::Value, index: &str) -> Vec<String> {
    let args = job["spec"]["template"]["spec"]["containers"][0]["args"].as_array().unwrap();
    args.iter().map(|a| a.as_str().unwrap().replace("$(JOB_COMPLETION_INDEX)", index).replace("$$", "$")).collect()
}

#[test]
fn the_pods_of_kubernetes_run_the_parts_and_the_last_joins_them_when_all_have_ended() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let whole = sandbox.run(&[&["run", "--json", "--out", "whole"], &OPTIONS[..]].concat()).exits(0).json();
    let out = sandbox.path("volume");
    let args = ["submit", "kubernetes", "--image", "i", "--claim", "c", "--parts", "3", "--dry-run", "--out"];
    let list = sandbox.run(&[&args[..], &[out.to_str().unwrap(), "--"], &OPTIONS].concat()).exits(0).json();
    let pod = |job: usize, index: &str| -> Command {
        let args = arguments(&list["items"][job], index);
        let mut command = sandbox.command(&args.iter().map(String::as_str).collect::<Vec<_>>());
        command.env("JOB_COMPLETION_INDEX", index);
        command
    };
    let mut merge = pod(1, "").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for index in ["2", "0"] {
        assert!(pod(0, index).output().unwrap().status.success());
    }
    std::thread::sleep(Duration::from_millis(300));
    assert!(merge.try_wait().unwrap().is_none(), "a part that has not begun is waited for");
    let status = sandbox.run(&["status", out.to_str().unwrap(), "--json"]).exits(1).json();
    assert_eq!(status[1]["state"], "waiting", "the others know how many parts there are: {status}");
    assert!(pod(0, "1").output().unwrap().status.success());
    assert!(merge.wait().unwrap().success());
    let joined = sandbox.run(&[&["run", "--json", "--out", "volume/whole"], &OPTIONS[..]].concat()).exits(0).json();
    assert_eq!(timeless(&joined), timeless(&whole));
}

#[test]
fn a_part_that_was_killed_before_its_first_record_keeps_no_other_from_being_joined() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    for (part, shard) in [("parts/0", "1/2"), ("parts/1", "2/2")] {
        sandbox.run(&[&["run", "--shard", shard, "--out", part], &OPTIONS[..]].concat()).exits(0);
    }
    std::fs::remove_file(sandbox.path("parts/1/records.jsonl")).unwrap();
    let told = sandbox.run(&["status", ".", "--json"]).exits(1).json();
    assert_eq!((&told[0]["state"], &told[1]["state"]), (&"finished".into(), &"stopped".into()), "{told}");
    let joined = sandbox.run(&["merge", "parts/0", "parts/1", "--out", "whole"]).exits(1);
    assert!(joined.err().contains("have no record"), "{}", joined.err());
}

#[test]
fn parts_that_do_not_come_are_waited_for_no_longer_than_asked() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    let merge = ["merge", "spread", "--wait", "0", "--fresh", "--out", "spread/whole"];
    sandbox.run(&merge).refuses(&["spread holds no parts"]);
    sandbox.run(&[&["run", "--shard", "1/2", "--out", "spread/parts/0"], &OPTIONS[..]].concat()).exits(0);
    let ended = sandbox.run(&merge).exits(1);
    assert!(ended.err().contains("parts that are missing: 2/2"), "{}", ended.err());
    assert!(sandbox.path("spread/whole/records.jsonl").exists());
    sandbox.run(&["merge", "a", "b", "--wait", "1", "--out", "c"]).refuses(&["--wait: expected one folder"]);
}

#[test]
fn memory_is_asked_for_by_what_such_runs_took() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    sandbox.write("long/long.txt", "It rained all day.\n".repeat(100_000));
    sandbox.write("long/documents.jsonl", r#"{"id": "long", "title": "Rain", "language": "en", "path": "long.txt"}"#);
    let item = r#"{"id": "q", "documents": ["long"], "task": "choice", "question": "Sun?", "options": ["a", "b"], "correct": 0}"#;
    sandbox.write("long/items.jsonl", item);
    let script = |engine: &[&str], run: &[&str]| {
        let fixed = ["--parts", "3", "--out", "spread", "--dry-run", "--", "--method", "full-document", "--benchmark"];
        let mut command = with_engines(&sandbox, sandbox.command(&[&["submit"], engine, &fixed, run].concat()));
        Ended(command.output().unwrap()).exits(0).out()
    };
    let asked = |script: &str, begin: &str| -> u32 {
        let after = script.split_once(begin).unwrap_or_else(|| panic!("{begin}: {script}")).1;
        after[..after.find(|c: char| !c.is_ascii_digit()).unwrap()].parse().unwrap()
    };
    let served = ["--model", "openai-compatible/tiny", "--base-url", "http://127.0.0.1:1"];
    let short = asked(&script(&["slurm"], &["tales"]), "#SBATCH --mem=");
    let sent = asked(&script(&["slurm"], &[&["long"], &served[..]].concat()), "#SBATCH --mem=");
    let read = asked(&script(&["slurm"], &["long"]), "#SBATCH --mem=");
    assert!((128..=320).contains(&short) && sent > short && read > sent, "{short} {sent} {read}");
    assert_eq!(asked(&script(&["ray"], &["long"]), "memory="), read);
    let kubernetes = script(&["kubernetes", "--image", "i", "--claim", "c"], &["long"]);
    let jobs: serde_json::Value = serde_json::from_str(&kubernetes).unwrap();
    let container = &jobs["items"][0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["resources"]["limits"]["memory"], format!("{read}Mi"));
    assert_eq!(asked(&script(&["slurm", "--memory", "777"], &["long"]), "#SBATCH --mem="), 777);

    let own = script(&["slurm"], &["tales", "--embedder", "bge-m3"]);
    assert!(!own.contains("--mem="), "how large another model is, is not known: {own}");
    program(&sandbox.path("bin/sinfo"), "#!/bin/bash\necho 1\n");
    assert!(
        !script(&["slurm"], &["long"]).contains("--mem="),
        "a Slurm that knows no memory refuses who asks for some"
    );
}

#[test]
fn following_ends_when_the_engine_has_no_part_any_more() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("bin/sbatch"), SBATCH);
    program(&sandbox.path("bin/squeue"), "#!/bin/bash\necho \"$@\" >>\"$SLURM_LOG\"\n");
    let args = ["submit", "slurm", "--follow", "--parts", "3", "--out", "spread", "--"];
    let mut command = with_engines(&sandbox, sandbox.command(&[&args[..], &OPTIONS].concat()));
    let ended = Ended(command.env("CANCELLED", "1").output().unwrap()).exits(1);
    assert!(ended.out().contains("2 of 3 parts finished, 0 running, 1 waiting"), "{}", ended.out());
    let asked = std::fs::read_to_string(sandbox.path("slurm.log")).unwrap();
    assert!(asked.contains("--noheader --jobs 7"), "{asked}");
}

#[test]
#[ignore = "needs python"]
fn needs_python_following_ends_with_rays_script() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    program(&sandbox.path("python/ray.py"), "raise SystemExit(7)\n");
    let ended = crate::submit::submit(&sandbox, &["ray", "--follow"]).exits(1);
    assert!(ended.out().contains("0 of 3 parts finished, 0 running, 3 waiting"), "{}", ended.out());
}
