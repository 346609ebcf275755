//! The options of a response, in the forms that models write.

use closeread_eval::answer::json::json_value;
use closeread_eval::rows::scalar;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Most options of a response that are read: three are asked for, and each is compared with all.
const MOST_READ: usize = 100;
/// Places from which on names are letters; numbers of two digits are below.
const LETTERS: u32 = 100;

/// The reason why a response gives no options.
#[derive(Debug, PartialEq, thiserror::Error)]
pub(super) enum OptionsError {
    #[error("it holds no JSON object with options")]
    NoObject,
    #[error("it lists no options")]
    NoOptions,
}

pub(super) fn read(response: &str) -> Result<Vec<String>, OptionsError> {
    let value = json_value(response).answer().ok_or(OptionsError::NoObject)?;
    let list = match &value {
        Value::Object(fields) => {
            fields.get("options").or_else(|| fields.get("distractors")).ok_or(OptionsError::NoOptions)?
        }
        list => list,
    };
    let list: Vec<&Value> = match list {
        Value::Array(list) => list.iter().take(MOST_READ).collect(),
        // Options by their letters or numbers.
        Value::Object(by_name) if by_name.keys().all(|name| name.len() <= 2) => {
            by_name.values().take(MOST_READ).collect()
        }
        one => vec![one],
    };
    let mut options: Vec<String> = list.iter().copied().filter_map(scalar).collect();
    if options.is_empty() {
        // Options as objects with a text.
        options = list.iter().filter_map(|option| scalar(option.get("text")?)).collect();
    }
    if options.is_empty() { Err(OptionsError::NoOptions) } else { Ok(without_names(options)) }
}

/// Options without the letters or numbers in their order, such as `A.` and `B.`, that a model wrote before all of them: the
/// right answer has none, so that it would be known by its form.
fn without_names(options: Vec<String>) -> Vec<String> {
    let named: Option<Vec<(u32, &str)>> = options.iter().map(|option| split_name(option)).collect();
    let in_order = |named: &Vec<(u32, &str)>| named.windows(2).all(|two| two[0].0 + 1 == two[1].0);
    let named = named.filter(|named| named.len() > 1 && in_order(named) && !are_ordinals(named));
    let bare: Option<Vec<String>> = named.map(|named| named.into_iter().map(|(_, text)| text.to_owned()).collect());
    bare.unwrap_or(options)
}

/// Returns whether the numbers before options are theirs, such as those of days (`1. Mai`, `2. Mai`) and centuries.
fn are_ordinals(named: &[(u32, &str)]) -> bool {
    static MONTH: LazyLock<Regex> = LazyLock::new(|| {
        let names = "jan(uary?)?|jänner|feb(ruary?)?|märz|mars|marts|march|apr(il)?|ma[ijy]|ju[nl][iey]|\
                     aug(ust)?|sept?(ember)?|o[kc]t(ober)?|nov(ember)?|de[csz](ember)?";
        Regex::new(&format!(r"^(?i:{names})(?:$|[\s.,])")).expect("a valid pattern")
    });
    let first = named.first().map_or(0, |(place, _)| *place);
    let are_days = named.iter().all(|(_, text)| MONTH.is_match(text));
    let are_alike = named.windows(2).all(|two| two[0].1 == two[1].1);
    // The right answer may be meant as the first.
    first < LETTERS && (first > 2 || are_days || are_alike)
}

/// Returns the place that an option's name stands for, and the rest of the option.
fn split_name(option: &str) -> Option<(u32, &str)> {
    static NAME: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[(（]?([A-Z]|[0-9]{1,2})(?:[.:)]\s+|[、．：）]\s*)").expect("a valid pattern"));
    let found = NAME.captures(option)?;
    let name = &found[1];
    let place = name.parse().unwrap_or_else(|_| LETTERS + u32::from(name.as_bytes()[0]));
    Some((place, &option[found[0].len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_the_forms_that_models_write() {
        let expected = Ok(["x", "y"].map(str::to_owned).to_vec());
        assert_eq!(read(r#"{"options": ["x", " y "]}"#), expected);
        assert_eq!(read(r#"["x", "y"]"#), expected);
        assert_eq!(read(r#"{"options": [{"text": "x"}, {"text": "y"}]}"#), expected);
        assert_eq!(read(r#"{"options": {"A": "x", "B": "y"}}"#), expected);
        assert_eq!(read("x, y"), Err(OptionsError::NoObject));
        assert_eq!(read(r#"{"options": []}"#), Err(OptionsError::NoOptions));
        assert_eq!(read(r#"{"options": {}}"#), Err(OptionsError::NoOptions));
        assert_eq!(read("{}"), Err(OptionsError::NoOptions));
    }

    #[test]
    fn no_option_is_known_by_its_letter() {
        let expected = Ok(["x", "y"].map(str::to_owned).to_vec());
        for response in [
            r#"["A. x", "B. y"]"#,
            r#"["B) x", "C) y"]"#,
            r#"["(1) x", "(2) y"]"#,
            r#"["2. x", "3. y"]"#,
            r#"["A、x", "B、y"]"#,
            r#"{"options": [{"text": "1. x"}, {"text": "2. y"}]}"#,
        ] {
            assert_eq!(read(response), expected, "{response}");
        }
        let dates = [["1. Mai", "2. Mai"], ["1. May 1990", "2. June 1991"], ["17. Jahrhundert", "18. Jahrhundert"]];
        let wars = [["1. Weltkrieg", "2. Weltkrieg"], ["2. Sept.", "3. Okt."]];
        let names = [["A. Milne", "C. Lewis"], ["A. Milne", "Lewis"], ["9:30", "10:30"], ["1.5", "2.5"]];
        for names in names.into_iter().chain(dates).chain(wars) {
            let response = serde_json::to_string(&names).unwrap();
            assert_eq!(read(&response), Ok(names.map(str::to_owned).to_vec()));
        }
    }

    #[test]
    fn finding_09_of_options_without_end_the_first_are_read() {
        assert_eq!(read(&format!("[{}1]", "1,".repeat(100_000))).unwrap().len(), MOST_READ);
    }
}
