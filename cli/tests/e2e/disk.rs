//! Faults around a run: no room on the disk, a clock that jumps.

use crate::crashes::{start, wait_until};
use crate::fault_server::{Act, FaultServer, cases, records, response, run_cases};
use crate::provider::answer;
use crate::support::{Ended, Sandbox, run_tales, tales};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const N: usize = 100;

/// A server whose responses are long, so that they fill what there is.
fn wordy(sandbox: &Sandbox) -> FaultServer {
    cases(sandbox, &(0..N).map(|n| format!("q{n}")).collect::<Vec<_>>());
    FaultServer::start(|_, _, _| response("200 OK", "", &answer(&format!("{} [[1]]", "Let me think. ".repeat(300)))))
}

/// Holds a run that found no room to what it says and leaves, and then to what it does where there is.
fn check(sandbox: &Sandbox, server: &FaultServer, ended: &Ended, reason: &str, again: impl FnOnce() -> Ended) {
    assert_eq!(ended.0.status.code(), Some(2), "{}", ended.err());
    for words in ["records.jsonl", reason, "what was finished before is kept", "give the same command again"] {
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
    }
    let (finished, asked) = (records(sandbox), server.asked());
    assert!(finished.len() > 5 && finished.len() < N, "{} records", finished.len());
    again().exits(0);
    let all = records(sandbox);
    assert_eq!(all.len(), N);
    for (name, record) in &finished {
        assert_eq!((&all[name], server.asked()[name]), (record, asked[name]), "what was finished is not asked again");
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_may_not_grow_ends_the_run_and_loses_nothing() {
    let sandbox = Sandbox::with_own_cache();
    let server = wordy(&sandbox);
    let arguments = run_cases("openai-compatible/tiny", &server.url, &["--concurrency", "4"]);
    let ended = Ended(sandbox.command_after("ulimit -f 200", &arguments).output().unwrap());
    check(&sandbox, &server, &ended, "File too large", || sandbox.run(&arguments));
    assert!(server.asked().values().all(|n| *n == 1), "what was in flight is kept: {:?}", server.asked());
}

#[test]
fn a_cache_that_cannot_be_written_is_told_of_once_with_what_it_costs() {
    let sandbox = Sandbox::new();
    let server = wordy(&sandbox);
    sandbox.write("full/responses", "a file in the place of the folder");
    let mut command = sandbox.command(&run_cases("openai-compatible/tiny", &server.url, &[]));
    let said = Ended(command.env("CLOSEREAD_CACHE", sandbox.path("full")).output().unwrap()).exits(0).err();
    let words = "responses are not remembered: equal prompts are asked again, in this run and the next";
    assert_eq!(said.matches(words).count(), 1, "{said}");
}

#[test]
fn finding_05_a_run_that_ended_before_its_items_were_stored_is_not_finished() {
    let sandbox = Sandbox::new();
    tales(&sandbox);
    run_tales(&sandbox, "r", &["--method", "closed-book"]);
    sandbox.run(&["status", "r"]).exits(0);
    for name in ["items.jsonl", "records.jsonl", "report.json"] {
        std::fs::remove_file(sandbox.path("r").join(name)).unwrap();
    }
    assert_eq!(sandbox.run(&["status", "r", "--json"]).exits(1).json()[0]["state"], "stopped");
}

#[test]
#[cfg(unix)]
fn an_export_that_finds_no_room_leaves_no_file_cut_short() {
    let sandbox = Sandbox::new();
    cases(&sandbox, &(0..N).map(|n| format!("q{n}")).collect::<Vec<_>>());
    sandbox.run(&["run", "--benchmark", "cases", "--method", "closed-book", "--out", "r"]).exits(0);
    let eee = ["--organization", "x", "--relationship", "other"];
    for (format, more) in [("inspect", &[][..]), ("parquet", &[][..]), ("every-eval-ever", &eee[..])] {
        let arguments = [&["export", format, "r", "--out", format][..], more].concat();
        let ended = Ended(sandbox.command_after("ulimit -f 4", &arguments).output().unwrap()).exits(2);
        assert!(ended.err().contains("File too large"), "{format}: {}", ended.err());
        for path in files_below(&sandbox.path(format)) {
            let is_whole_table = || std::fs::read(&path).unwrap().ends_with(b"PAR1");
            assert!(path.ends_with("export-files.json") || is_whole_table(), "{}", path.display());
        }
        sandbox.run(&arguments).exits(0);
        let all = files_below(&sandbox.path(format));
        assert!(all.iter().all(|path| path.extension().is_none_or(|ending| ending != "partial")), "{all:?}");
    }
    // The library that writes archives prints by itself where it finds no room for the end of one.
    for blocks in 1..=12 {
        let arguments = ["export", "inspect", "r", "--out", &format!("i{blocks}")];
        let limit = format!("ulimit -f {blocks}");
        let said = Ended(sandbox.command_after(&limit, &arguments).output().unwrap()).err();
        assert!(said.lines().count() <= 1 && !said.contains("ZipWriter"), "{blocks}: {said}");
        assert_eq!(said.matches("File too large").count(), said.lines().count(), "{blocks}: {said}");
    }
    sandbox.write("c.zip", "old");
    sandbox.write("scorer", "#!/bin/sh\n");
    let arguments = "export codabench r --title T --start 2026-01-01 --scorer scorer --out c.zip";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    Ended(sandbox.command_after("ulimit -f 1", &arguments).output().unwrap()).exits(2);
    assert_eq!(std::fs::read_to_string(sandbox.path("c.zip")).unwrap(), "old", "whole, or as it was");
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Begins a run, takes its folder away in the middle, and holds it to how it ends.
#[cfg(unix)]
fn without_folder(sandbox: &Sandbox, arguments: &[&str], take: impl Fn(&Path)) {
    let mut run = start(sandbox.command(arguments));
    wait_until(&mut run, "records", || records_in(&sandbox.path("r")) > 4);
    take(&sandbox.path("r"));
    let ended = Ended(run.wait_with_output().unwrap());
    assert_eq!(ended.0.status.code(), Some(2), "{}", ended.err());
    for words in ["records.jsonl", "moved or deleted", "put the folder back, and give the same command again"] {
        assert!(ended.err().contains(words), "{words}: {}", ended.err());
    }
    assert!(!sandbox.path("r").exists(), "nothing is begun in its place");
}

#[cfg(unix)]
fn records_in(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("records.jsonl")).map_or(0, |lines| lines.lines().count())
}

#[test]
#[cfg(unix)]
fn a_run_whose_folder_is_taken_away_ends_and_says_so() {
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &(0..40).map(|n| format!("q{n}")).collect::<Vec<_>>());
    let delay = Duration::from_millis(60);
    let server =
        FaultServer::start(move |_, _, _| Act::After(delay, Box::new(response("200 OK", "", &answer("[[1]]")))));
    let arguments = run_cases("openai-compatible/tiny", &server.url, &["--concurrency", "2", "--no-cache"]);

    without_folder(&sandbox, &arguments, |folder| std::fs::rename(folder, sandbox.path("moved")).unwrap());
    let kept = records_in(&sandbox.path("moved"));
    std::fs::rename(sandbox.path("moved"), sandbox.path("r")).unwrap();
    sandbox.run(&arguments).exits(0);
    assert_eq!(records_in(&sandbox.path("r")), 40);
    let asked = server.asked().values().sum::<usize>();
    assert!(asked <= 42 && kept > 4, "what is in the moved folder is not asked again: {asked}, {kept}");

    std::fs::remove_dir_all(sandbox.path("r")).unwrap();
    without_folder(&sandbox, &arguments, |folder| {
        while folder.exists() {
            // The run may make a file in it meanwhile.
            let _ = std::fs::remove_dir_all(folder);
        }
    });
    sandbox.run(&arguments).exits(0);
    assert_eq!(records_in(&sandbox.path("r")), 40);
}

/// A small disk in memory; taken away when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: &Path) -> Self {
        std::fs::create_dir_all(path).unwrap();
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=300k", "tmpfs"]).arg(path).status().unwrap();
        assert!(mount.success());
        Self(path.to_owned())
    }

    fn grow(&self) {
        let grown = Command::new("mount").args(["-o", "remount,size=20m"]).arg(&self.0).status().unwrap();
        assert!(grown.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
#[ignore = "needs the right to mount a tmpfs"]
fn needs_mount_a_full_disk_ends_the_run_and_loses_nothing() {
    let sandbox = Sandbox::with_own_cache();
    let disk = SmallDisk::mount(&sandbox.path("r"));
    let server = wordy(&sandbox);
    let arguments = run_cases("openai-compatible/tiny", &server.url, &["--concurrency", "4"]);
    let ended = sandbox.run(&arguments);
    check(&sandbox, &server, &ended, "No space left on device", || {
        disk.grow();
        sandbox.run(&arguments)
    });
    assert!(!sandbox.path("r/journal").exists());
}

/// The library that fakes the time: `/usr/lib/x86_64-linux-gnu/faketime` on Debian, `/usr/lib64/faketime` on Fedora.
fn faketime() -> PathBuf {
    let below = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|folder| folder.path());
    let folders = below.chain(["/usr/lib", "/usr/lib64"].map(PathBuf::from));
    let mut files = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
    files.find(|path| path.is_file()).expect("libfaketime is installed")
}

#[test]
#[ignore = "needs libfaketime"]
fn needs_faketime_a_clock_that_jumps_changes_nothing() {
    let library = faketime();
    let sandbox = Sandbox::with_own_cache();
    cases(&sandbox, &(0..40).map(|n| format!("q{n}")).collect::<Vec<_>>());
    // The server's clock is right, and its dates are what waits are counted by.
    fn limited() -> Vec<u8> {
        let now = std::time::SystemTime::now();
        let [date, until] = [now, now + Duration::from_secs(2)].map(httpdate::fmt_http_date);
        format!("HTTP/1.1 429 Slow\r\ndate: {date}\r\nretry-after: {until}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            .into_bytes()
    }
    let server = FaultServer::start(|name, n, _| match (name, n) {
        ("q5" | "q20" | "q35", 0) => Act::Now(limited),
        _ => Act::After(Duration::from_millis(60), Box::new(response("200 OK", "", &answer("[[1]]")))),
    });
    let clock = sandbox.write("clock", "+0");
    let arguments = run_cases("openai-compatible/tiny", &server.url, &["--concurrency", "2"]);
    let mut command = sandbox.command(&arguments);
    command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", clock).env("FAKETIME_NO_CACHE", "1");
    command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    let mut run = start(command);
    for (n, clock) in [(8, "+40d"), (16, "-40d"), (24, "+0")] {
        wait_until(&mut run, "more requests", || server.n_requests() >= n);
        sandbox.write("clock", clock);
    }
    let ended = run.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    let records = records(&sandbox);
    assert_eq!((records.len(), server.n_requests()), (40, 43));
    for record in records.values() {
        let seconds = record["seconds"].as_f64().unwrap();
        assert!(record["outcome"] == "answered" && (0.0..60.0).contains(&seconds), "{record}");
    }
    for name in ["q5", "q20", "q35"] {
        assert!(server.waited(name) >= 1.0, "{name}: {}", server.waited(name));
    }
}
