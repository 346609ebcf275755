//! Options under headings in the help of commands that have many, the same in all of them.

use clap::Command;

/// Number of options below which a command shows them as one list.
const MANY: usize = 14;

/// Headings and the long names of the options under them. What no heading has is the command's own.
#[rustfmt::skip]
const HEADINGS: &[(&str, &[&str])] = &[
    ("Benchmark", &[
        "benchmark", "data", "one-book", "task", "where", "draw", "by", "limit", "items", "repeats", "shard",
    ]),
    ("Books", &[
        "books", "documents", "encoding", "language", "keep-frame", "keep-wraps", "allow-outside",
    ]),
    ("Methods", &[
        "method", "param", "budget", "passage-tokens", "fill", "neighbours", "on-overflow", "prompts", "tokenizer",
    ]),
    ("Retrieval", &["retriever", "embedder", "embedder-base-url", "embedder-spec", "backend", "reranker", "rerank-from", "reranker-base-url"]),
    ("Models", &[
        "model", "preparer", "base-url", "context-window", "max-output-tokens", "reasoning", "constrain", "on-truncation", "temperature", "seed", "extra-body",
    ]),
    ("Judges", &[
        "judge-model", "judge", "votes", "panel", "judge-temperature", "judge-base-url", "judge-extra-body",
        "judge-max-output-tokens",
    ]),
    ("Calls", &["timeout", "concurrency", "rpm", "tpm", "batch", "batch-poll", "no-cache"]),
    ("Costs", &[
        "max-cost", "allow-unknown-price", "model-info", "dry-run", "assume-response", "assume-seconds", "detect",
    ]),
    ("Folder and output", &["out", "name", "fresh", "extend", "from", "until", "config", "json"]),
];

fn heading_of(name: &str) -> Option<&'static str> {
    HEADINGS.iter().find(|(_, names)| names.contains(&name)).map(|(heading, _)| *heading)
}

/// The command with its options under headings, and those of its subcommands.
pub(crate) fn under(command: Command) -> Command {
    let command = command.mut_subcommands(under);
    let options = command.get_arguments().filter(|arg| arg.get_long().is_some()).count();
    if options < MANY {
        return command;
    }
    command.mut_args(|arg| match arg.get_long().and_then(heading_of) {
        Some(heading) => arg.help_heading(heading),
        None => arg,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_option_of_run_has_a_heading_and_every_name_an_option() {
        fn names(command: &Command) -> Vec<String> {
            let own = command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned));
            own.chain(command.get_subcommands().flat_map(names)).collect()
        }
        let command = under(crate::Cli::command());
        let all = names(&command);
        for name in HEADINGS.iter().flat_map(|(_, names)| *names) {
            assert!(all.iter().any(|known| known == name), "no command has --{name}");
        }
        let run = command.find_subcommand("run").expect("a command");
        let bare: Vec<_> = run.get_arguments().filter(|arg| arg.get_help_heading().is_none()).collect();
        assert!(bare.is_empty(), "{bare:?}");
    }
}
