//! `builtin/rule`: judging without a model.
//!
//! Where an answer has a form (a choice, a number, a percentage, a month, a list) a rule can say whether it agrees with
//! the gold answer, strictly as the form was asked for and tolerantly. Where it has none, the rule compares texts, and
//! takes every paraphrase for wrong. Of summaries it counts words, as `builtin/extractive` does of books: that lets every
//! benchmark be judged end to end with no key and no network, and says little about the summaries.

pub(crate) mod by_rule;
mod quantity;
mod words;

pub use by_rule::{AnswerForm, ByRule};
use quantity::figures;
pub use quantity::{Quantity, quantity};
pub(super) use words::{align_key_facts, question_type, verify_facts};

use super::simplified::simplified;
use super::submission::{Submission, SubmittedAnswer};
use closeread_eval::answer::Parsed;
use closeread_eval::answer::corpusqa;
use closeread_eval::answer::corpusqa::{Reading, Value, agrees, value};
use closeread_eval::answer::novelqa::chosen;
use closeread_eval::{Item, Task};
use closeread_metrics::Words;
use closeread_metrics::squad_normalize;
use closeread_text::{Language, composed};

/// Name of the judge without a model, as `--judge` takes it.
pub const BUILTIN_RULE: &str = "builtin/rule";

/// Version of the rules: a judgement under other rules is another judgement.
pub(super) const VERSION: &str = "rule-1";

impl AnswerForm {
    /// The form of a gold answer in words.
    fn of_gold(gold: &str) -> Self {
        match value(gold, Reading::Tolerant) {
            Parsed::Answer(Value::List(_)) => Self::List,
            Parsed::Answer(Value::Number(_)) => Self::Number,
            Parsed::Answer(Value::Percent(_)) => Self::Percentage,
            Parsed::Answer(Value::Date { .. }) => Self::Date,
            _ => match quantity(gold) {
                Some(quantity) if quantity.is_percentage() => Self::Percentage,
                Some(_) => Self::Number,
                None => Self::Text,
            },
        }
    }
}

/// Returns whether an answer agrees with a gold answer of its item. A response out of form never agrees strictly.
pub(super) fn answer(submission: &Submission<'_>) -> ByRule {
    let Submission { item, said, language, .. } = submission;
    if item.task == Task::Choice {
        return choice(item, *said);
    }
    let form = item.answers.first().map_or(AnswerForm::Text, |gold| AnswerForm::of_gold(gold));
    let (in_form, words) = match said {
        SubmittedAnswer::Nothing => return ByRule { form, strict: false, tolerant: false },
        SubmittedAnswer::Answer { text, .. } => (true, corpusqa::answer(text)),
        SubmittedAnswer::Unparsed { response, .. } => (false, corpusqa::answer(response)),
    };
    let strict = in_form && item.answers.iter().any(|gold| agrees_strictly(words, gold));
    let tolerant = strict || item.answers.iter().any(|gold| agrees_tolerantly(words, gold, *language));
    ByRule { form, strict, tolerant }
}

/// Returns whether an answer is the gold answer to the letter of its form.
fn agrees_strictly(said: &str, gold: &str) -> bool {
    agrees(said, gold, Reading::Strict) == Parsed::Answer(true)
}

/// Returns whether an answer is the gold answer apart from notation: by its type ([`Reading::Tolerant`]), as a
/// [`quantity`], or in the same words and figures, articles, punctuation, case and white space aside (SQuAD's; of Chinese
/// every mark).
fn agrees_tolerantly(said: &str, gold: &str, language: Language) -> bool {
    let by_type = agrees(said, gold, Reading::Tolerant) == Parsed::Answer(true);
    let as_quantity = || quantity(said).zip(quantity(gold)).is_some_and(|(said, gold)| said.agrees(&gold));
    let in_words = || {
        let words = Words::for_language(language);
        let (said, gold) = (&*composed(said), &*composed(gold));
        let (said_words, gold_words) = (squad_normalize(said, words), squad_normalize(gold, words));
        !gold_words.is_empty() && said_words == gold_words && figures(said) == figures(gold)
    };
    by_type || as_quantity() || in_words()
}

/// A choice: strictly the option that the form names; tolerantly also the option whose index, letter or text a response out
/// of form gives in its last line.
fn choice(item: &Item, said: SubmittedAnswer<'_>) -> ByRule {
    let (named, first) = match said {
        SubmittedAnswer::Answer { choice, .. } => (choice, 0),
        SubmittedAnswer::Nothing => (None, 0),
        SubmittedAnswer::Unparsed { first, .. } => (None, first),
    };
    let strict = named.is_some() && named == item.correct;
    let tolerantly = || {
        let lines = || said.text().lines().map(str::trim);
        let last = lines().rev().find(|line| !line.is_empty())?;
        let announced = ["answer is", "Answer is", "Answer", "answer", "答案是", "答案"];
        let rest = match behind_label(last) {
            // Which question the item is cannot be told here.
            Some(_) if lines().filter(|line| behind_label(line).is_some()).count() > 1 => return None,
            Some(rest) => rest,
            None => announced.iter().find_map(|name| Some(last.rsplit_once(name)?.1)).unwrap_or(last),
        };
        let rest = rest.trim_start_matches([':', '：', ' ', '*', '"', '`', '“']);
        let rest = rest.trim_end_matches(['*', '。', '"', '`', '”']);
        chosen(rest, &item.options, first).or_else(|| loosely_chosen(rest, &item.options, first))
    };
    let tolerant = strict || named.is_none() && item.correct.is_some() && tolerantly() == item.correct;
    ByRule { form: AnswerForm::Choice, strict, tolerant }
}

/// What a line says behind NovelQA's label of a question, `Answer3:`, whose number is no option's.
fn behind_label(line: &str) -> Option<&str> {
    let marks = |c: char| c.is_whitespace() || "*>_#-•`[]".contains(c);
    let line = line.trim_start_matches(marks);
    let number = line.strip_prefix("Answer").or_else(|| line.strip_prefix("answer"))?.trim_start_matches(marks);
    let behind = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_label = behind.len() < number.len();
    behind.trim_start_matches(marks).strip_prefix([':', '：']).filter(|_| is_label)
}

/// The option of `b`, `(b)`, `Option 2` or `选B`.
fn loosely_chosen(text: &str, options: &[String], first: usize) -> Option<usize> {
    let names = ["option is", "Option is", "option", "Option", "选项", "选择", "选"];
    let text: String = text.chars().map(simplified).collect();
    let named = names.iter().filter_map(|name| text.rsplit_once(name)).min_by_key(|(_, behind)| behind.len());
    if named.is_some_and(|(before, _)| is_rejected(before)) {
        return None;
    }
    let marks = |c: char| c.is_whitespace() || "()[]*.:,（）。：，".contains(c);
    let name = named.map_or(&*text, |(_, behind)| behind).trim_matches(marks);
    let is_letter = name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_number = named.is_some() && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    if is_letter || is_number { chosen(&name.to_ascii_uppercase(), options, first) } else { None }
}

/// True if the words before an option reject it: `I would not choose`, `better than`, `不能`.
fn is_rejected(before: &str) -> bool {
    const ENDS: [&str; 13] = [",", ".", ";", ":", "，", "。", "；", "：", " but ", " so ", "而", "但", "所以"];
    const HARMLESS: [&str; 8] = ["turns out", "out of", "不得不", "毫不", "不难", "不过", "不如", "不妨"];
    let lower = before.to_lowercase();
    let clause = ENDS.iter().fold(&*lower, |clause, end| clause.rsplit(*end).next().unwrap_or(clause));
    let clause = HARMLESS.iter().fold(clause.to_owned(), |clause, words| clause.replace(*words, " "));
    let rejects = |word: &str| {
        matches!(word, "not" | "cannot" | "never" | "than" | "out" | "except")
            || word.ends_with("n't")
            || word.ends_with("n’t")
    };
    clause.contains('不') || clause.split_whitespace().any(rejects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gold_answer_has_a_form() {
        for (gold, form) in [
            ("12", AnswerForm::Number),
            ("Eleven", AnswerForm::Number),
            ("十二天", AnswerForm::Number),
            ("45.20%", AnswerForm::Percentage),
            ("百分之三", AnswerForm::Percentage),
            ("2024-05", AnswerForm::Date),
            ("[\"A\", \"B\"]", AnswerForm::List),
            ("Mind the step", AnswerForm::Text),
            ("一只山羊", AnswerForm::Number),
        ] {
            assert_eq!(AnswerForm::of_gold(gold), form, "{gold}");
        }
    }

    #[test]
    fn both_readings_of_an_answer() {
        for (said, gold, language, strict, tolerant) in [
            ("3.10", "3.1", "en", true, true),
            ("1,234 marks", "1234", "en", false, true),
            ("eleven", "11", "en", false, true),
            ("eleven days", "11 years", "en", false, false),
            ("twelve", "11", "en", false, false),
            ("三十四", "34", "zh", false, true),
            ("百分之四十五", "45%", "zh", false, true),
            ("1.2亿元", "120000000", "zh", false, true),
            ("2024年5月", "2024-05", "zh", false, true),
            ("[\"b\", \"a\"]", "[\"a\", \"b\"]", "en", false, true),
            ("the Goat.", "Goat", "en", false, true),
            ("a goat in the yard", "Goat", "en", false, false),
            ("孔乙己。", "孔乙己", "zh", false, true),
            ("", "12", "en", false, false),
            ("5", "-5", "en", false, false),
            ("12.50", "-12.50%", "en", false, false),
            ("1.234", "1234", "en", false, false),
            ("1,23", "1.23", "en", false, false),
            (".5", "5", "en", false, false),
            ("202405", "2024-05", "en", false, false),
            ("35 to 40", "3.5 to 40", "en", false, false),
            ("(5)", "5", "en", false, true),
            ("12,34,567", "1234567", "en", false, true),
            ("in 1,234 BC.", "in 1234 BC", "en", false, true),
            ("Apollo-11", "Apollo11", "en", false, true),
            ("the cafe\u{301}!", "caf\u{e9}", "fr", false, true),
            ("第５章。", "第5章", "zh", false, true),
        ] {
            assert_eq!(agrees_strictly(said, gold), strict, "strict: {said} against {gold}");
            let either = strict || agrees_tolerantly(said, gold, language.parse().unwrap());
            assert_eq!(either, tolerant, "tolerant: {said} against {gold}");
        }
    }

    #[test]
    fn a_choice_out_of_form_counts_tolerantly() {
        let mut item = Item::new("q", "b", "?", Task::Choice);
        item.options = vec!["Rain".into(), "Snow".into()];
        item.correct = Some(1);
        let from = |first, response| choice(&item, SubmittedAnswer::Unparsed { response, first });
        let of = |response| from(0, response);
        let loose = [
            "b",
            "(b)",
            "b.",
            "The answer is **b**.",
            "Option 1",
            "option (b)",
            "选B",
            "所以选项是：选 B。",
            "所以選B",
            "不是A，所以选B",
            "不是选A而是选B",
            "不得不选B",
            "A也对，不过选B",
            "不如选B",
            "不妨选B",
            "It turns out option B",
            "I cannot be sure but I choose option B",
        ];
        for response in ["So it is.\nThe answer is (B).", "Snow", "答案：B", "Answer: 1"].into_iter().chain(loose) {
            let ByRule { strict, tolerant, .. } = of(response);
            assert!(!strict && tolerant, "{response}");
        }
        for response in ["a", "a b", "-1", "不选B", "not option B", "Option 1.5", "no other option", "Option 7"]
            .into_iter()
            .chain([
                "I would not choose option B",
                "It isn't option B",
                "better than option B",
                "所以不能选B",
                "而不是选B",
                "不过不选B",
                "It rules out option B",
            ])
        {
            assert!(!of(response).tolerant, "{response}");
        }
        assert!(!of("A").tolerant && !of("").tolerant && !of("Rain or snow").tolerant);
        for response in ["Answer0: `B`", "**Answer 0:** \"1\"", "Hm.\nAnswer[0]： Option B", "Answer 2: Snow"] {
            assert!(of(response).tolerant, "{response}");
        }
        for response in ["Answer1: I am not sure.", "Answer 1: \"A\"", "Answer0: x\nAnswer3: B", "Answer1:"] {
            assert!(!of(response).tolerant, "{response}");
        }
        assert!(from(1, "2").tolerant && from(1, "B").tolerant && !from(1, "1").tolerant && !from(1, "0").tolerant);
        assert!(choice(&item, SubmittedAnswer::Answer { text: "Snow", choice: Some(1) }).strict);
        assert!(!choice(&item, SubmittedAnswer::Answer { text: "Snow", choice: Some(0) }).tolerant);
    }
}
