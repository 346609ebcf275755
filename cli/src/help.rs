//! The two helps of a command: `-h` fits a screen and shows what most runs need; `--help` has everything, and examples.

mod examples;

use clap::{Arg, Command};
use examples::EXAMPLES;

/// Longest help of an option that `-h` shows whole.
const SHORT: usize = 64;

/// Options that `-h` shows of commands with many: the long names, or the names of places. `--help` shows all.
#[rustfmt::skip]
const COMMON: &[(&[&str], &[&str])] = &[
    (&["run", "estimate", "config"], &[
        "benchmark", "data", "limit", "method", "budget", "retriever", "model", "base-url", "judge-model", "max-cost", "dry-run",
        "out", "fresh", "json",
    ]),
    (&["index"], &[
        "data", "method", "passage-tokens", "retriever", "embedder", "embedder-base-url", "backend", "tokenizer", "one-book", "shard",
        "config", "json",
    ]),
    (&["judge"], &["judge-model", "judge", "votes", "panel", "base-url", "max-cost", "json"]),
    (&["corpusqa", "hamlet", "options", "sagascale"], &[
        "out", "model", "books", "documents", "table", "benchmark", "entity", "questions", "dry-run", "from", "until", "fresh",
        "base-url", "max-cost", "json",
    ]),
    (&["score"], &["gold", "predictions", "format", "task", "metric", "group-by", "write", "json"]),
    (&["report"], &["html", "csv", "latex", "json", "paper", "table", "list", "labels"]),
    (&["compare"], &["method", "model", "budget", "metric", "group-by", "json"]),
    (&["tree"], &["run", "model", "embedder", "retriever", "base-url", "max-cost", "json"]),
    (&["retrieve"], &[
        "benchmark", "data", "limit", "retriever", "chunker", "passage-tokens", "embedder", "reranker", "neighbours", "budget", "k",
        "out", "fresh", "json",
    ]),
    (&["search"], &["budget", "order", "retriever", "embedder", "max-cost", "json"]),
];

/// Where to read the pages that helps name: an installed program does not have them beside it.
pub(crate) const PAGES: &str = concat!("docs/ is at ", env!("CARGO_PKG_REPOSITORY"), "/tree/main/docs");

/// The command with both helps, and its subcommands.
pub(crate) fn explained(command: Command) -> Command {
    of(command, &[])
}

fn of(command: Command, way: &[String]) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_subcommands(|below| {
        let way: Vec<String> = way.iter().cloned().chain([below.get_name().to_owned()]).collect();
        of(below, &way)
    });
    let way = way.join(" ");
    let command = match EXAMPLES.iter().find(|(words, _)| *words == way) {
        Some((_, examples)) => {
            let before = command.get_after_help().map(|said| format!("{said}\n\n")).unwrap_or_default();
            let after = if names_pages(&command) { format!("\n\n{PAGES}") } else { String::new() };
            command.after_long_help(format!("{before}Examples:\n  {examples}{after}"))
        }
        None => command,
    };
    match COMMON.iter().find(|(names, _)| names.contains(&name.as_str())) {
        Some((_, common)) => command.mut_args(|arg| shortened(arg, common)),
        None => command,
    }
}

/// Returns whether the help of a command sends its reader to a page.
fn names_pages(command: &Command) -> bool {
    let options = command.get_arguments().flat_map(|arg| arg.get_help().into_iter().chain(arg.get_long_help()));
    let own = command.get_about().into_iter().chain(command.get_long_about()).chain(command.get_after_help());
    options.chain(own).any(|help| help.to_string().contains("docs/"))
}

/// An option as `-h` has it: not at all, or in a few words.
fn shortened(arg: Arg, common: &[&str]) -> Arg {
    if arg.get_long().is_some_and(|name| !common.contains(&name)) {
        return arg.hide_short_help(true);
    }
    let Some(whole) = arg.get_help().map(ToString::to_string).filter(|help| help.len() > SHORT) else { return arg };
    let ends = [" [default", "; ", ": ", ", see ", " ("].iter().filter_map(|end| whole.find(end));
    match ends.min() {
        Some(end) if arg.get_long_help().is_none() => arg.help(whole[..end].to_owned()).long_help(whole),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    /// Lines of a terminal that is not small.
    const SCREEN: usize = 50;

    /// Returns every command with the words that lead to it.
    fn all(command: &Command, way: &str) -> Vec<(String, Command)> {
        let below = command.get_subcommands().flat_map(|below| all(below, &format!("{way}-{}", below.get_name())));
        [(way.to_owned(), command.clone())].into_iter().chain(below).collect()
    }

    /// `UPDATE_EXPECT=1` writes them anew.
    #[test]
    fn the_help_pages_are_what_they_were_and_the_short_ones_fit_a_screen() {
        let mut command = crate::command().term_width(80);
        command.build();
        let pages = all(&command, "closeread");
        let mut too_long = Vec::new();
        for (name, mut command) in pages {
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            let lines = short.lines().count();
            if lines > SCREEN {
                too_long.push(format!("{name} -h has {lines} lines"));
            }
            for line in short.lines().chain(long.lines()) {
                // Usage lines are not wrapped.
                assert!(line.starts_with("Usage: ") || line.chars().count() <= 80, "{name}: {line}");
            }
            let explains_itself = command.has_subcommands() || long.contains("\nExamples:\n");
            assert!(explains_itself, "{name} has no examples: add them to help/examples.rs");
            expect_file![format!("{}/help/pages/{name}.txt", env!("CARGO_MANIFEST_DIR"))]
                .assert_eq(&format!("$ -h\n{short}\n$ --help\n{long}"));
        }
        assert!(too_long.is_empty(), "these take options into COMMON: {too_long:?}");
    }

    #[test]
    fn every_example_is_of_a_command_and_parses() {
        for (words, examples) in EXAMPLES {
            // Longer lines would be broken where no shell goes on.
            let wide = examples.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{words}");
            let command = crate::command();
            let found = words.split(' ').try_fold(&command, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "there is no `closeread {words}`");
            let lines = examples.split("\\\n").map(str::trim_start).collect::<Vec<_>>().join(" ");
            for example in lines.lines().flat_map(|line| line.split("; ")) {
                let given = example.split("   ").find(|part| !part.trim().is_empty()).expect("an example");
                let given: Vec<&str> = given.split_whitespace().collect();
                assert_eq!(given[0], "closeread", "{example}");
                let given: Vec<String> = joined(&given);
                if let Err(error) = crate::command().try_get_matches_from(&given) {
                    panic!("{example}: {error}");
                }
            }
        }
        for (names, common) in COMMON {
            for option in *common {
                let has = |command: &Command| command.get_arguments().any(|arg| arg.get_long() == Some(option));
                let mut command = crate::command();
                command.build();
                let pages = all(&command, "");
                let of_names = pages.iter().filter(|(_, command)| names.contains(&command.get_name()));
                assert!(of_names.into_iter().any(|(_, command)| has(command)), "--{option} of {names:?}");
            }
        }
    }

    /// Words in quotes as one.
    fn joined(words: &[&str]) -> Vec<String> {
        let mut joined: Vec<String> = Vec::new();
        let mut open = false;
        for word in words {
            match joined.last_mut() {
                Some(last) if open => *last = format!("{last} {word}"),
                _ => joined.push((*word).to_owned()),
            }
            if word.matches('"').count() == 1 {
                open = !open;
            }
        }
        joined.iter().map(|word| word.replace('"', "")).collect()
    }

    #[test]
    fn topics_fit_eighty_columns() {
        for (topic, text) in crate::command::help::TOPICS {
            let wide = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{topic}");
        }
    }
}
