//! Random files against everything that reads what others wrote: `fuzz --seconds N [--seed S] [--save DIR]`.
//!
//! No input may panic; every ledger adds up to its items; every scorecard's JSON reads back as what was written. The
//! same seed makes the same inputs. An input that fails is written to DIR with the name of its target, and the exit
//! code is 1. `cargo xtask fuzz` starts it.

mod mutate;
mod target;

use mutate::Random;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};
use target::TARGETS;

struct Args {
    time: Duration,
    seed: u64,
    save: PathBuf,
}

fn main() -> ExitCode {
    let Some(args) = args() else {
        eprintln!("usage: fuzz --seconds N [--seed S] [--save DIR]");
        return ExitCode::from(2);
    };
    // The message comes back through the unwinding; printed for each of thousands of inputs it would hide the rest.
    set_hook(Box::new(|_| {}));
    println!("seed {}", args.seed);
    let started = Instant::now();
    let (mut n_cases, mut n_failed) = ([0_u64; TARGETS.len()], 0);
    'time: for case in 0_u64.. {
        for (target, n) in TARGETS.iter().zip(&mut n_cases) {
            if started.elapsed() >= args.time {
                break 'time;
            }
            // One generator a case: a failing case can be made again without those before it.
            let mut random = Random::new(args.seed ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let input = (target.make)(&mut random);
            *n += 1;
            let outcome = catch_unwind(AssertUnwindSafe(|| (target.check)(&input))).unwrap_or_else(|panic| {
                let said = panic.downcast_ref::<String>().cloned();
                let said = said.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                Err(format!("panicked: {}", said.unwrap_or_default()))
            });
            if let Err(why) = outcome {
                n_failed += 1;
                println!("{}: case {case} of seed {}: {why}", target.name, args.seed);
                save(&args.save, &format!("{}-{}-{case}", target.name, args.seed), &input);
                if n_failed >= MAX_FAILURES {
                    break 'time;
                }
            }
        }
    }
    for (target, n) in TARGETS.iter().zip(n_cases) {
        println!("{:<12} {n} cases", target.name);
    }
    println!("{} cases in {} s, {n_failed} failed", n_cases.iter().sum::<u64>(), started.elapsed().as_secs());
    if n_failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// One defect fails again and again: more failures than that say nothing new.
const MAX_FAILURES: usize = 20;

fn args() -> Option<Args> {
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut args = Args { time: Duration::ZERO, seed: clock, save: PathBuf::from("target/fuzz") };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word.as_str() {
            "--seconds" => args.time = Duration::from_secs(value.parse().ok()?),
            "--seed" => args.seed = value.parse().ok()?,
            "--save" => args.save = PathBuf::from(value),
            _ => return None,
        }
    }
    (args.time > Duration::ZERO).then_some(args)
}

fn save(folder: &Path, name: &str, input: &[Vec<u8>]) {
    for (n, bytes) in input.iter().enumerate() {
        let path = folder.join(format!("{name}-{n}"));
        match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, bytes)) {
            Ok(()) => println!("    saved {}", path.display()),
            Err(error) => println!("    cannot save {}: {error}", path.display()),
        }
    }
}
