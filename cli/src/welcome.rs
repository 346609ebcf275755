//! Welcome of `closeread` when it is told nothing: three things to do, none of which needs a key, a network or a book.

use closeread_serve::Page;
use closeread_terminal as terminal;
use std::io::Write;
use std::process::ExitCode;

const WITH_PAGE: &str =
    "  closeread serve runs/sample-*                       its report, its charts and every trial, in a browser";
const WITHOUT_PAGE: &str =
    "  closeread report runs/sample-* --html site          its report and charts as pages, into the folder site";

/// Prints the welcome; a closed output is no failure.
pub(crate) fn print() -> ExitCode {
    let third = if Page::find(None).is_ok() { WITH_PAGE } else { WITHOUT_PAGE };
    let _ = terminal::stdout().write_all(welcome(third).as_bytes());
    ExitCode::SUCCESS
}

fn welcome(third: &str) -> String {
    format!(
        "\
closeread finds out how well language models read whole books.

Three things to do next, with the sample benchmark that is inside the program:

  closeread search sample \"Who paid for the bell?\"    what retrieval finds in its story, within 1,500 tokens
  closeread run                                       every method on its questions, without a model; a minute
{third}

With a model:       closeread run --model openai/gpt-4.1 --limit 5 --max-cost 1
On your own books:  closeread help formats
All commands:       closeread help
"
    )
}
