//! Texts with slots in braces: `How many {things} are there?`

/// The slots of a text, in its order.
pub(super) fn slots(text: &str) -> Vec<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}').map(|(slot, _)| slot)).collect()
}

/// Puts values into the slots of a text.
pub(super) fn filled(text: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((slot, after)) = behind.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&value(slot));
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_found_and_filled() {
        assert_eq!(slots("{a} of {b c}, {"), ["a", "b c"]);
        assert_eq!(filled("{a} of {b}, {", |slot| slot.to_uppercase()), "A of B, {");
    }
}
