//! Ranges of the numbers that options take. A number outside its range hangs, takes all memory or means nothing; it is
//! refused, on the command line and in a config file, before anything is read.

use anyhow::{Result, bail};
use clap::builder::ValueParser;
use clap::{Arg, Command};
use closeread_table::number::thousands;
use std::any::TypeId;
use std::str::FromStr;
use tracing::warn;

/// Most tokens that a text, a response or a window may have.
const TOKENS: f64 = 1e9;
/// Most entries of what is listed: items, documents, questions.
const MANY: f64 = 1e7;
/// A week in seconds.
const WEEK: f64 = 604_800.0;

/// The long name of every numeric option, the least and the most it takes.
#[rustfmt::skip]
const RANGES: &[(&str, f64, f64)] = &[
    ("assume-response", 0.0, TOKENS),
    ("assume-seconds", 0.0, WEEK),
    ("batch-poll", 0.1, 86_400.0),
    ("budget", 1.0, TOKENS),
    ("check", 0.0, MANY),
    ("chunk-tokens", 1.0, TOKENS),
    ("concurrency", 1.0, 10_000.0),
    ("context-window", 1.0, TOKENS),
    ("coverage", 0.0, 100.0),
    ("cpus", 1.0, 1_024.0),
    ("detect", 0.01, 100.0),
    ("dispersion", 0.0, 100.0),
    ("documents", 1.0, MANY),
    ("draw", 1.0, MANY),
    ("expand", 1.0, 100.0),
    ("judge-max-output-tokens", 1.0, MANY),
    ("judge-temperature", 0.0, 2.0),
    ("k", 1.0, 10_000.0),
    ("least-density", 0.0, TOKENS),
    ("least-table-rows", 0.0, TOKENS),
    ("least-tokens", 0.0, TOKENS),
    ("limit", 1.0, MANY),
    ("longest-list", 1.0, 10_000.0),
    ("majority-of", 1.0, 1_000.0),
    ("margin", 0.0, 100.0),
    ("max-cost", 0.0, 1e9),
    ("max-output-tokens", 1.0, MANY),
    ("memory", 64.0, 1e7),
    ("minutes", 1.0, 525_600.0),
    ("model-port", 1.0, 65_535.0),
    ("most-empty", 0.0, 100.0),
    ("most-pairs", 1.0, 10_000.0),
    ("neighbours", 0.0, 1_000.0),
    ("older-than", 0.0, 36_500.0),
    ("parts", 1.0, 1_000.0),
    ("passage-tokens", 1.0, TOKENS),
    ("per-size", 1.0, MANY),
    ("port", 0.0, 65_535.0),
    ("queries", 1.0, 1_000.0),
    ("questions", 1.0, MANY),
    ("repeats", 1.0, 10_000.0),
    ("rerank-from", 1.0, 10_000.0),
    ("rounds", 1.0, 100.0),
    ("rpm", 1.0, 1e6),
    ("sets", 1.0, 1_000.0),
    ("sizes", 1.0, TOKENS),
    ("temperature", 0.0, 2.0),
    ("timeout", 1.0, WEEK),
    ("tokens-per-document", 1.0, TOKENS),
    ("tpm", 1.0, 1e12),
    ("votes", 1.0, 1_000.0),
    ("wait", 0.0, 10_080.0),
    ("wrong", 1.0, 25.0),
];

/// Numeric options that take every number.
#[cfg(test)]
const ANY: [&str; 1] = ["seed"];

fn range_of(name: &str) -> Option<(f64, f64)> {
    RANGES.iter().find(|(known, ..)| *known == name).map(|(_, least, most)| (*least, *most))
}

fn outside(least: f64, most: f64) -> String {
    let shown = |n: f64| if n.fract() == 0.0 { thousands(n as u64) } else { n.to_string() };
    format!("expected a number from {} to {}", shown(least), shown(most))
}

/// What to do about `4,096` and `0,5`, and about the `000` of a list that was meant as 1,000.
const COMMA: &str = "; no comma stands within a number: write 1000 for a thousand, and 0.5 for a half";

fn is_of_comma(text: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_behind_one = text.len() == 3 && text.starts_with('0') && is_number(text);
    is_behind_one || text.contains(',') && is_number(&text.replace([',', '.'], ""))
}

/// Warns of a list that looks like one number with a thousands separator: both numbers are run and paid for.
pub(crate) fn warn_of_thousands(option: &str, numbers: &[usize]) {
    // `10,100,1000` is a scale; with one number in the place of two, `1,500,2000` still ascends.
    let ascends = numbers.len() > 2 && numbers.is_sorted();
    for (at, pair) in numbers.windows(2).enumerate() {
        if let [few @ 1..20, rest @ 100..1000] = *pair {
            let one = few * 1000 + rest;
            let is_below_next = numbers.get(at + 2).is_some_and(|next| one < *next);
            if !ascends || is_below_next {
                warn!("--{option} {few},{rest} is two numbers, {few} and {rest}: write {one} if you mean one");
            }
        }
    }
}

/// The command with its numeric options held to their ranges, those of its subcommands too.
pub(crate) fn within(command: Command) -> Command {
    command.mut_args(held).mut_subcommands(within)
}

fn held(arg: Arg) -> Arg {
    let Some((least, most)) = arg.get_long().and_then(range_of) else { return arg };
    match parser_like(arg.get_value_parser(), least, most) {
        Some(parser) => arg.value_parser(parser),
        None => arg,
    }
}

/// A parser of the same type of numbers, in the range; `None` where the option takes something else.
fn parser_like(parser: &ValueParser, least: f64, most: f64) -> Option<ValueParser> {
    fn of<T: FromStr + Into<Number> + Copy + Send + Sync + 'static>(least: f64, most: f64) -> ValueParser {
        ValueParser::new(move |text: &str| match text.parse::<T>() {
            Ok(number) if (least..=most).contains(&number.into().0) => Ok(number),
            _ => Err(outside(least, most) + if is_of_comma(text) { COMMA } else { "" }),
        })
    }
    let is = |id: TypeId| parser.type_id() == id;
    macro_rules! first_of {
        ($($number:ty),*) => {
            $(if is(TypeId::of::<$number>()) {
                return Some(of::<$number>(least, most));
            })*
        };
    }
    first_of!(u8, u16, u32, u64, usize, f32, f64);
    None
}

/// A number of any type, near enough to be compared.
struct Number(f64);

macro_rules! number_from {
    ($($number:ty),*) => {
        $(impl From<$number> for Number {
            fn from(number: $number) -> Self {
                Self(number as f64)
            }
        })*
    };
}

number_from!(u8, u16, u32, u64, usize, f32, f64);

/// Refuses numbers of a config file that the command line would refuse.
pub(crate) fn check_file(options: &toml::Table) -> Result<()> {
    for (name, value) in options {
        let Some((least, most)) = range_of(name) else { continue };
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        let numbers = values.iter().filter_map(|value| value.as_float().or(value.as_integer().map(|n| n as f64)));
        for number in numbers {
            if !(least..=most).contains(&number) {
                bail!("{name} = {number}: {}", outside(least, most));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    fn is_numeric(arg: &Arg) -> bool {
        arg.get_action().takes_values() && parser_like(arg.get_value_parser(), 0.0, 0.0).is_some()
    }

    /// Returns every option with the way to it.
    fn options(command: &Command, way: &[String]) -> Vec<(Vec<String>, Arg)> {
        let way: Vec<String> = way.iter().cloned().chain([command.get_name().to_owned()]).collect();
        let own = command.get_arguments().map(|arg| (way.clone(), arg.clone()));
        own.chain(command.get_subcommands().flat_map(|below| options(below, &way))).collect()
    }

    #[test]
    fn finding_10_every_numeric_option_has_a_range_and_keeps_to_it() {
        let command = within(crate::Cli::command());
        let numeric: Vec<_> = options(&command, &[]).into_iter().filter(|(_, arg)| is_numeric(arg)).collect();
        assert!(numeric.len() > 30, "{}", numeric.len());
        for (way, arg) in numeric {
            let name = arg.get_long().unwrap_or_else(|| panic!("{way:?}: a number without a name")).to_owned();
            if ANY.contains(&name.as_str()) {
                continue;
            }
            let (least, most) = range_of(&name).unwrap_or_else(|| panic!("{way:?}: --{name} has no range"));
            let refused = |value: String| {
                let given = way.iter().cloned().chain([format!("--{name}={value}")]);
                let error = within(crate::Cli::command()).try_get_matches_from(given).err();
                error.is_some_and(|error| matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue))
            };
            for value in [least, most] {
                assert!(!refused(value.to_string()), "{way:?} --{name} {value} is within its range");
            }
            for value in ["-1", "18446744073709551615", "nan", "inf", "x"] {
                assert!(refused(value.to_owned()), "{way:?} --{name} {value}");
            }
            assert!(refused((most + 1.0).to_string()), "{way:?} --{name} above {most}");
            assert_eq!(refused("0".to_owned()), least > 0.0, "{way:?} --{name} 0");
        }
    }

    #[test]
    fn a_thousand_with_a_comma_is_told_from_a_number_out_of_range() {
        let told = |option: &str, value: &str| {
            within(crate::Cli::command())
                .try_get_matches_from(["closeread", "run", option, value])
                .unwrap_err()
                .to_string()
        };
        for (option, value) in [("--budget", "1,000"), ("--max-output-tokens", "4,096"), ("--max-cost", "0,5")] {
            assert!(told(option, value).contains("no comma stands within a number"), "{}", told(option, value));
        }
        assert!(!told("--budget", "1000,0").contains("comma"), "{}", told("--budget", "1000,0"));
    }

    #[test]
    fn finding_10_a_config_file_is_held_to_the_same_ranges() {
        let check = |text: &str| check_file(&text.parse().unwrap());
        assert!(check("timeout = 1\nbudget = [500, 1000]\nseed = 18\nmodel = 'x/y'").is_ok());
        for (text, words) in [
            ("timeout = 0", "timeout = 0: expected a number from 1 to 604,800"),
            ("budget = [500, 0]", "budget = 0"),
            ("neighbours = 4294967295", "from 0 to 1,000"),
            ("judge-temperature = nan", "from 0 to 2"),
            ("rpm = -3", "rpm = -3"),
        ] {
            assert!(check(text).unwrap_err().to_string().contains(words), "{text}");
        }
    }
}
