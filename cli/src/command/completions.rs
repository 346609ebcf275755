//! `closeread completions`: what a shell needs to complete closeread's words.

use anyhow::{Context, Result};
use clap_complete::env::Shells;
use std::process::ExitCode;

/// Print completions for a shell
///
/// bash: `source <(closeread completions bash)` in ~/.bashrc. zsh: the same in ~/.zshrc. fish: `closeread completions fish |
/// source` in config.fish. PowerShell: `closeread completions powershell | Out-String | Invoke-Expression` in $PROFILE.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_enum)]
    shell: Shell,
}

/// The shells that can be helped.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    #[value(name = "powershell")]
    Power,
    Zsh,
}

impl Shell {
    fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Elvish => "elvish",
            Self::Fish => "fish",
            Self::Power => "powershell",
            Self::Zsh => "zsh",
        }
    }
}

/// Prints the script, which asks `closeread` on the path for every completion.
pub(crate) fn run(args: CompletionsArgs) -> Result<ExitCode> {
    const NAME: &str = "closeread";
    let shells = Shells::builtins();
    let completer = shells.completer(args.shell.name()).context("clap_complete knows this shell")?;
    let mut script = Vec::new();
    completer.write_registration(crate::completion::VARIABLE, NAME, NAME, NAME, &mut script)?;
    // As it is: its control characters are those that the shell is to see.
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(ExitCode::SUCCESS)
}
