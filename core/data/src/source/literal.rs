//! Python literals: LooGLE stores lists of dictionaries as their `repr`.

use serde_json::{Map, Number, Value};

/// Nesting beyond which a literal is refused; published files have three levels.
const MAX_DEPTH: usize = 64;

/// The reason why a text is no literal; characters count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LiteralError {
    #[error("expected {what} at character {at}, found {}", shown(*.found))]
    Expected { what: String, at: usize, found: Option<char> },
    #[error("more than {MAX_DEPTH} brackets inside each other at character {0}")]
    Depth(usize),
    #[error("the string begun at character {0} has no end")]
    OpenString(usize),
    #[error("the escape at character {at} needs {n_digits} digits of a character")]
    Escape { at: usize, n_digits: usize },
    #[error("a backslash ends the text")]
    Backslash,
}

fn shown(character: Option<char>) -> String {
    character.map_or_else(|| "the end".to_owned(), |character| format!("`{character}`"))
}

/// Reads one Python literal: dictionaries, lists, tuples, strings with their escapes and prefixes, numbers, `None`,
/// `True`, `False`; also JSON's words for these. A tuple becomes a list, a key that is no string its text.
///
/// # Errors
/// [`LiteralError`]: what was expected, and at which character.
pub(crate) fn parse(text: &str) -> Result<Value, LiteralError> {
    let mut parser = Parser { chars: text.chars().collect(), at: 0 };
    let value = parser.value(0)?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.expected("the end")),
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
}

impl Parser {
    /// The next character that is not white space.
    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.chars.get(self.at).copied();
        self.at += 1;
        c
    }

    fn expected(&self, what: &str) -> LiteralError {
        LiteralError::Expected { what: what.to_owned(), at: self.at + 1, found: self.chars.get(self.at).copied() }
    }

    fn value(&mut self, depth: usize) -> Result<Value, LiteralError> {
        if depth > MAX_DEPTH {
            return Err(LiteralError::Depth(self.at + 1));
        }
        match self.peek() {
            Some('{') => self.dictionary(depth),
            Some('[') => self.list(']', depth),
            Some('(') => self.list(')', depth),
            Some('\'' | '"') => self.strings(),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            Some(c) if c.is_alphabetic() => self.word(),
            _ => Err(self.expected("a value")),
        }
    }

    fn dictionary(&mut self, depth: usize) -> Result<Value, LiteralError> {
        self.at += 1;
        let mut fields = Map::new();
        loop {
            if self.peek() == Some('}') {
                self.at += 1;
                return Ok(Value::Object(fields));
            }
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            if self.peek() != Some(':') {
                return Err(self.expected("`:` after a key"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            fields.insert(key, value);
            self.separator('}')?;
        }
    }

    fn list(&mut self, close: char, depth: usize) -> Result<Value, LiteralError> {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            if self.peek() == Some(close) {
                self.at += 1;
                return Ok(Value::Array(values));
            }
            values.push(self.value(depth + 1)?);
            self.separator(close)?;
        }
    }

    fn separator(&mut self, close: char) -> Result<(), LiteralError> {
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Ok(())
            }
            Some(c) if c == close => Ok(()),
            _ => Err(self.expected(&format!("`,` or `{close}`"))),
        }
    }

    fn word(&mut self) -> Result<Value, LiteralError> {
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        let word: String = self.chars[start..self.at].iter().collect();
        let is_prefix = matches!(word.to_ascii_lowercase().as_str(), "u" | "b" | "r" | "br" | "rb");
        match (word.as_str(), self.chars.get(self.at)) {
            (_, Some('\'' | '"')) if is_prefix => {
                self.at = start;
                self.strings()
            }
            ("None" | "null" | "nan", _) => Ok(Value::Null),
            ("True" | "true", _) => Ok(Value::Bool(true)),
            ("False" | "false", _) => Ok(Value::Bool(false)),
            _ => {
                self.at = start;
                Err(self.expected("a value"))
            }
        }
    }

    fn number(&mut self) -> Result<Value, LiteralError> {
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')) {
            self.at += 1;
        }
        let text: String = self.chars[start..self.at].iter().filter(|c| **c != '_').collect();
        let integer = text.parse::<i64>().ok().map(Number::from);
        integer.or_else(|| text.parse().ok().and_then(Number::from_f64)).map(Value::Number).ok_or_else(|| {
            self.at = start;
            self.expected("a number")
        })
    }

    /// Reads strings; those that stand side by side are one.
    fn strings(&mut self) -> Result<Value, LiteralError> {
        let mut text = String::new();
        loop {
            let is_raw = self.prefix();
            self.string(is_raw, &mut text)?;
            self.peek();
            let here = self.at;
            self.prefix();
            let follows = matches!(self.chars.get(self.at), Some('\'' | '"'));
            self.at = here;
            if !follows {
                return Ok(Value::String(text));
            }
        }
    }

    /// Skips `u`, `b`, `r` before a quotation mark; true if the string is raw.
    fn prefix(&mut self) -> bool {
        let start = self.at;
        while self.at < start + 2
            && self.chars.get(self.at).is_some_and(|c| matches!(c.to_ascii_lowercase(), 'u' | 'b' | 'r'))
        {
            self.at += 1;
        }
        self.chars[start..self.at].iter().any(|c| c.eq_ignore_ascii_case(&'r'))
    }

    fn string(&mut self, is_raw: bool, text: &mut String) -> Result<(), LiteralError> {
        let open = self.at;
        let quote = self.next();
        let is_triple = self.chars.get(self.at) == quote.as_ref() && self.chars.get(self.at + 1) == quote.as_ref();
        self.at += if is_triple { 2 } else { 0 };
        loop {
            match self.next() {
                None => return Err(LiteralError::OpenString(open + 1)),
                Some('\\') if is_raw => {
                    text.push('\\');
                    text.extend(self.next());
                }
                Some('\\') => self.escape(text)?,
                c if c == quote && !is_triple => return Ok(()),
                c if c == quote
                    && self.chars.get(self.at) == c.as_ref()
                    && self.chars.get(self.at + 1) == c.as_ref() =>
                {
                    self.at += 2;
                    return Ok(());
                }
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), LiteralError> {
        let start = self.at;
        match self.next() {
            Some('\n') => {}
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            Some('a') => text.push('\u{7}'),
            Some('b') => text.push('\u{8}'),
            Some('f') => text.push('\u{c}'),
            Some('v') => text.push('\u{b}'),
            Some(c @ ('\\' | '\'' | '"')) => text.push(c),
            Some('x') => text.push(self.code(start, 16, 2)?),
            Some('u') => text.push(self.code(start, 16, 4)?),
            Some('U') => text.push(self.code(start, 16, 8)?),
            Some('0'..='7') => {
                self.at = start;
                let n = self.chars[start..].iter().take(3).take_while(|c| c.is_digit(8)).count();
                text.push(self.code(start, 8, n)?);
            }
            // Python keeps the backslash before any other character.
            Some(c) => text.extend(['\\', c]),
            None => return Err(LiteralError::Backslash),
        }
        Ok(())
    }

    fn code(&mut self, start: usize, radix: u32, n_digits: usize) -> Result<char, LiteralError> {
        let digits: String = self.chars[self.at..].iter().take(n_digits).collect();
        let code = u32::from_str_radix(&digits, radix).ok().filter(|_| digits.len() == n_digits);
        self.at += n_digits;
        match code {
            // Half of a surrogate pair: Python keeps it, UTF-8 has no place for it.
            Some(0xd800..=0xdfff) => Ok(char::REPLACEMENT_CHARACTER),
            code => code.and_then(char::from_u32).ok_or(LiteralError::Escape { at: start, n_digits }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn literals_are_read_as_python_reads_them() {
        let check = |text: &str, expected| assert_eq!(parse(text), Ok(expected), "{text}");
        check(
            r#"[{'Q': "It's\n1. a", 'A': '3', 'S': ['x "y"', 'don\'t'], 'n': None, 't': True}, ]"#,
            json!([{"Q": "It's\n1. a", "A": "3", "S": ["x \"y\"", "don't"], "n": null, "t": true}]),
        );
        check(r"'\x41\u00e9\U0001F600\101\0\\\q\ud83d'", json!("A\u{e9}\u{1f600}A\0\\\\q\u{fffd}"));
        check("('a' \n \"b\", r'\\n', u'c', b\"d\")", json!(["ab", "\\n", "c", "d"]));
        check("'''a'b\"\nc''' ''", json!("a'b\"\nc"));
        check("{1: -2, 'f': 1.5e3, True: 1_000}", json!({"1": -2, "f": 1500.0, "true": 1000}));
        check("[]", json!([]));
        check("{\"a\": null, \"b\": [true, false]}", json!({"a": null, "b": [true, false]}));
        check("[[(), {}], '\u{4e2d}']", json!([[[], {}], "\u{4e2d}"]));
    }

    #[test]
    fn what_is_no_literal_says_where() {
        let check = |text: &str, expected: &str| assert_eq!(parse(text).unwrap_err().to_string(), expected, "{text}");
        check("", "expected a value at character 1, found the end");
        check("none", "expected a value at character 1, found `n`");
        check("[1 2]", "expected `,` or `]` at character 4, found `2`");
        check("{'a' 1}", "expected `:` after a key at character 6, found `1`");
        check("['abc", "the string begun at character 2 has no end");
        check(r"'\u00'", "the escape at character 2 needs 4 digits of a character");
        check("[1] x", "expected the end at character 5, found `x`");
        check("1.2.3", "expected a number at character 1, found `1`");
        assert!(parse(&"[".repeat(100_000)).is_err_and(|why| why.to_string().starts_with("more than 64 brackets")));
    }

    proptest! {
        #[test]
        fn json_strings_are_literals_too(texts in prop::collection::vec("[a-z'\"\\\\\n\u{e9}\u{4e2d}]{0,12}", 0..5)) {
            // Python and JSON agree on these escapes.
            prop_assert_eq!(parse(&json!(texts).to_string()), Ok(json!(texts)));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[\\[\\](){}'\"\\\\,:urbxU0-9a ]{0,40}") {
            let _ = parse(&text);
        }
    }
}
