//! What is wrong with a TOML file that a person wrote, in words that repeat nothing of it.

/// Says what is wrong with a TOML file, and in which line; the line itself, which can be long or hold a key, is not
/// repeated.
pub fn toml_problem(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |at| text[..at.start].matches('\n').count() + 1);
    format!("line {line}: {}", without_value(error.message()))
}

/// Says what is wrong with a TOML file, without the value in which it is wrong: that can be a key in a place where none
/// belongs. Nor is a field named whole that looks like one.
pub fn without_value(message: &str) -> String {
    if let Some((field, rest)) = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`')) {
        return format!("unknown field `{}`{rest}", name_or_beginning(field));
    }
    let of_type = [
        "invalid type: string",
        "invalid value: string",
        "invalid type: integer",
        "invalid value: integer",
        "invalid type: floating point",
        "invalid value: floating point",
        "unknown variant",
    ];
    match (of_type.iter().find(|kind| message.starts_with(**kind)), message.rfind(", expected ")) {
        (Some(kind), Some(at)) => format!("{kind}{}", &message[at..]),
        _ => message.to_owned(),
    }
}

/// A field that may be the name of one, mistyped; of what is long or has digits, as keys are and have, its beginning.
fn name_or_beginning(field: &str) -> String {
    let n_chars = field.chars().count();
    match n_chars > 24 || (n_chars > 12 && field.contains(|c: char| c.is_ascii_digit())) {
        true => field.chars().take(6).chain(['…']).collect(),
        false => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::PriceList;

    #[test]
    fn finding_15_what_is_wrong_in_a_list_is_placed_and_not_repeated() {
        let long = "[".repeat(100_000);
        for text in [
            "\nkey = 'sk-planted'\n",
            "\n['openai/x']\napi_key = 'sk-planted'",
            "\nsk-planted",
            "\n['openai/x']\nsk-or-v1-planted = 1",
            &format!("\n{long}"),
        ] {
            let said = PriceList::read(text).unwrap_err().to_string();
            let placed = said.contains("line 2: ") || said.contains("line 3: ");
            assert!(placed && !said.contains("planted") && said.len() < 500, "{said}");
        }
    }
}
