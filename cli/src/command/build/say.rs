//! Output of builds, and how they end.

use super::args::BuildOptions;
use crate::command::agreement::raters;
use crate::command::people::labels;
use crate::hint::typed_path;
use anyhow::Result;
use closeread_books::Book;
use closeread_build::{BuildError, Built, StageCost};
use closeread_builder::context::BuildContext;
use closeread_builder::dataset::{self, Written};
use closeread_builder::folder::BuildFolder;
use closeread_builder::review::{Kept, review};
use closeread_builder::sheet::Collected;
use closeread_builder::{Ended, by_hand, check, dry_run, work};
use closeread_llm::price::Dollars;
use closeread_runner::journal::Journal;
use closeread_runner::texts::BookTexts;
use closeread_table::Table;
use closeread_table::number::counted;
use closeread_table::render::text;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tracing::info;

/// Works until the build is finished, fails or is to end: then says what it took, and how to go on. What is finished goes
/// to `write`, which gives the exit code; only then is removed what was for going on.
pub(super) async fn finish<T>(
    folder: &BuildFolder,
    journal: &Journal,
    context: &BuildContext,
    build: impl Future<Output = Result<T, BuildError>>,
    write: impl FnOnce(T) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let ended = work(folder, context, build).await;
    say_spending(context, folder)?;
    match ended? {
        Ended::Built(built) => {
            let code = write(built)?;
            folder.tidy(journal)?;
            return Ok(code);
        }
        Ended::OutOfMoney => info!(
            "stopped: --max-cost leaves no money for another call; what was finished is kept; give the same command again with a higher --max-cost to resume"
        ),
        Ended::Interrupted => info!("stopped; what was finished is kept; give the same command again to resume"),
        Ended::Early(error @ BuildError::Stopped { .. }) => {
            info!("{error}; the same command without --until resumes");
            return Ok(ExitCode::SUCCESS);
        }
        Ended::Early(error) => info!("{error}"),
    }
    Ok(ExitCode::from(1))
}

/// Says what the calls of this session took, where some were made.
fn say_spending(context: &BuildContext, folder: &BuildFolder) -> Result<()> {
    let (taken, total, open) = context.taken(folder)?;
    if taken.prompt_tokens + taken.response_tokens > 0 {
        let unknown = match taken.unpriced {
            0 => String::new(),
            n => format!(" and {} of unknown price", counted(n, "call")),
        };
        let earlier = if total > taken.dollars { format!("; {total} with earlier commands") } else { String::new() };
        let lost = match open > Dollars::default() {
            true => format!(", and up to {open} for calls whose end is not known"),
            false => String::new(),
        };
        info!(
            "{} tokens of prompts, {} of responses; {}{unknown}{earlier}{lost}",
            taken.prompt_tokens, taken.response_tokens, taken.dollars
        );
    }
    Ok(())
}

/// Writes what came out and prints its report. Exits with 1 if nothing came out.
pub(super) fn write(
    folder: &BuildFolder,
    options: &BuildOptions,
    pipeline: &str,
    (books, texts): (&[Arc<Book>], &BookTexts),
    built: &Built,
) -> Result<ExitCode> {
    let out = folder.path();
    let Written { report, tables, items, documents, page } =
        dataset::write(folder, pipeline, (books, texts), built, options.check, options.seed)?;
    if options.json {
        outln!("{report}");
    } else {
        print_tables(&tables)?;
    }
    info!("{} on {} in {}", counted(items, "item"), counted(documents, "document"), out.display());
    if items == 0 {
        info!("nothing came out: the lines in {} say what dropped what", out.join("stages").display());
        return Ok(ExitCode::from(1));
    }
    info!("closeread run --benchmark {} runs it; {} is for people", typed_path(out), page.display());
    Ok(ExitCode::SUCCESS)
}

/// `--checked`: prints how often people and pipeline agree, and says what was written; of several people how far they agree with
/// each other, and what of the pipeline they bear out. Exits with 1 if answers could not be used.
pub(super) fn checked(options: &BuildOptions) -> Result<ExitCode> {
    let [file] = options.checked.as_slice() else { return checked_by_several(options) };
    let (found, n_questions, collected) = check::checked(&options.out, file)?;
    if options.json {
        let mut said = json!(found);
        if let Some(Collected { n, all, folder, problems }) = &collected {
            said["written"] =
                json!({"items": n, "all": all, "folder": folder.display().to_string(), "problems": problems});
        }
        outln!("{said}");
    } else if n_questions > 0 {
        print_tables(std::slice::from_ref(&found.table))?;
    }
    if found.open > 0 {
        info!("{} of {n_questions} questions are not answered", found.open);
    }
    let mut problems = found.problems;
    if let Some(mut collected) = collected.filter(|collected| collected.all > 0 || !collected.problems.is_empty()) {
        let folder = collected.folder.display();
        info!(
            "{} questions were written, {} are in {folder}: a benchmark for `run` and `build options`",
            collected.n, collected.all
        );
        problems.append(&mut collected.problems);
    }
    Ok(say_problems(file, &problems))
}

fn checked_by_several(options: &BuildOptions) -> Result<ExitCode> {
    let (people, pipeline, problems) = check::checked_by_several(&options.out, &options.checked)?;
    let folder = options.out.join("check");
    let people = labels::kept(&folder, "people.csv", "people", &people)?;
    let pipeline = labels::kept(&folder, "pipeline.csv", "the pipeline", &pipeline)?;
    let tables = raters::tables(&people, &[pipeline])?;
    if options.json {
        outln!("{}", json!({"tables": tables, "problems": problems}));
    } else {
        print_tables(&tables)?;
    }
    info!(
        "their labels are in {}: settle what divides them in rows of the rater consensus, and closeread agreement --raters {} --against {} counts them",
        folder.join("people.csv").display(),
        typed_path(&folder.join("people.csv")),
        typed_path(&folder.join("pipeline.csv"))
    );
    problems.iter().for_each(|problem| info!("{}", text::plain(problem)));
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// `--reviewed`: prints what each checker keeps. Exits with 1 if answers could not be used.
pub(super) fn kept(options: &BuildOptions, files: &[PathBuf]) -> Result<ExitCode> {
    let Kept { found, items, unchecked, folder } = review(&options.out, files)?;
    if options.json {
        outln!("{}", json!({"reviewed": found, "items": items, "unchecked": unchecked, "folder": folder}));
    } else {
        print_tables(std::slice::from_ref(&found.table))?;
    }
    if unchecked > 0 {
        info!("{unchecked} items were checked by nobody and are left out: --check N puts more of them on the page");
    }
    info!("{}: {} that most checkers keep", folder.display(), counted(items, "item"));
    for problem in &found.problems {
        info!("{}", text::plain(problem));
    }
    Ok(if found.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// `--hand-checked`: prints how often the extracted values agree with those in `file`, and once a second person has decided
/// (`--adjudicated`). Exits with 1 if lines cannot be used.
pub(super) fn hand_checked(options: &BuildOptions, file: &Path, second: Option<&Path>) -> Result<ExitCode> {
    let (found, n_lines) = by_hand::hand_checked(&options.out, file)?;
    let checked = n_lines - found.open - found.problems.len();
    let decided = second.map(|second| by_hand::second_round(&found, checked, second)).transpose()?;
    if options.json {
        outln!("{}", json!({"first": found, "second": decided}));
    } else {
        print_tables(std::slice::from_ref(&found.table))?;
        for line in &found.differ {
            outln!("{}", text::plain(line));
        }
        if let Some(decided) = &decided {
            print_tables(std::slice::from_ref(&decided.table))?;
        }
    }
    if found.open > 0 {
        info!("{} of {n_lines} lines have no value yet", found.open);
    }
    let disputes = options.out.join(by_hand::DISPUTES);
    if by_hand::write_disputes(&options.out, &found.disputes)? {
        info!(
            "{} values differ: another person decides in {}, and --adjudicated takes it",
            found.disputes.len(),
            disputes.display()
        );
    }
    let mut code = say_problems(file, &found.problems);
    if let (Some(decided), Some(second)) = (decided, second) {
        if decided.open > 0 {
            info!("{} of {} disputes are not decided", decided.open, found.disputes.len());
        }
        if say_problems(second, &decided.problems) != ExitCode::SUCCESS {
            code = ExitCode::from(1);
        }
    }
    Ok(code)
}

fn say_problems(file: &Path, problems: &[String]) -> ExitCode {
    for problem in problems {
        info!("{}: {}", file.display(), text::plain(problem));
    }
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// `--dry-run`: prints what each stage would take; `unknown` says what cannot be known before the build.
pub(super) fn show_costs(
    stages: &[(StageCost, &str)],
    unknown: &[&str],
    context: &BuildContext,
    options: &BuildOptions,
) -> Result<ExitCode> {
    let table = dry_run::table(stages, unknown, &context.prices, options.assume_response);
    if options.json {
        outln!("{}", json!({"stages": stages, "table": table}));
    } else {
        print_tables(&[table])?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints tables one after the other.
pub(super) fn print_tables(tables: &[Table]) -> Result<()> {
    for table in tables {
        outln!("{}", text::table(table));
    }
    Ok(())
}
