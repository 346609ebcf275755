//! `builtin/extractive`: the floor that a language model must beat.
//!
//! It reads without a language model, by counting words. It knows no synonyms, resolves no pronoun, adds nothing up and
//! understands nothing; on QuALITY's plausible distractors it does no better than chance. Its use is that every
//! benchmark can be run end to end with no key and no network, and that its score is what retrieval alone is worth.

use closeread_eval::Task;
use closeread_eval::answer::{Form, NOT_FOUND};
use closeread_eval::reading::{Expected, ExtractiveInput};
use closeread_retrieve::{Bm25, WordRule};
use closeread_text::hash::sha256;
use closeread_text::sentence;
use closeread_text::sentence::Rules;
use std::cell::OnceCell;
use std::collections::HashSet;

/// Most words of an open answer, as the prompt demands (Stronger Baselines, figure A.2).
const MAX_WORDS: usize = 20;
/// Number of sentences of a summary.
const SUMMARY_SENTENCES: usize = 5;

/// Answer where nothing was found and the form has no words for that.
const UNKNOWN: &str = "unknown";

/// The response to a call, in the form its prompt asks for. The same input always gets the same response.
///
/// - Choice: every option is put behind the question and searched for among the context's sentences, each taken with
///   its neighbours; the option with the highest BM25 score wins, the earlier one on a tie. Without a context there is
///   nothing to count, and the option is drawn by the hash of the question: a guess.
/// - Open question: of the sentence that matches the question best, the clause with the best match that says something
///   the question does not, without the question's own words at its ends.
/// - Summary: the five sentences that match the query best, in their order.
/// - Pages to read again: those passages, few as they are, whose words match the question and its options best.
/// - A break point: the last label.
///
/// Where a form asks for evidence, it is the sentence that matches best. A search is for the question itself. Where
/// nothing is found, it says so if the form has words for it, else `unknown`.
pub fn answer(input: &ExtractiveInput) -> String {
    match input.expected {
        Expected::Answer(form) => answer_in(form, input),
        Expected::Turn { must_search: true } => format!("<query>\n{}\n</query>", input.question),
        Expected::Turn { must_search: false } => answer_in(Form::Tags, input),
        Expected::Break => format!("Break point: {}", input.options.last().map_or("", String::as_str)),
        Expected::Pages(at_most) => pages(input, at_most),
        Expected::Memory | Expected::Gist | Expected::Node => answer_in(Form::Marked, input),
    }
}

fn answer_in(form: Form, input: &ExtractiveInput) -> String {
    let text = Text::new(input);
    let further = input.further.iter().map(|asked| (&asked.question, &asked.options));
    let asked = std::iter::once((&input.question, &input.options)).chain(further);
    let found: Vec<Found> = asked.map(|(question, options)| text.find(input.task, question, options)).collect();
    written(form, input.task, &found)
}

/// The answer that was found for a question; what it could not find is `None`.
#[derive(Debug, Default)]
struct Found {
    /// Number of the option, from 0.
    choice: Option<usize>,
    /// The words of an open answer or a summary.
    words: Option<String>,
    /// The sentence that matches best.
    evidence: Option<String>,
}

impl Found {
    /// The answer where options are numbered from 0.
    fn short(&self) -> Option<String> {
        self.choice.map(|choice| choice.to_string()).or_else(|| self.words.clone())
    }
}

fn written(form: Form, task: Task, found: &[Found]) -> String {
    let unknown = |found: &Found| found.short().unwrap_or_else(|| UNKNOWN.to_owned());
    let first = &found[0];
    match form {
        Form::Marked | Form::FirstMarked => match (first.choice, &first.words) {
            (Some(choice), _) => format!("Chosen by counting words. [[{}]]", choice + 1),
            (None, Some(words)) => words.clone(),
            (None, None) => NOT_FOUND.to_owned(),
        },
        Form::Lettered => match (first.choice, &first.words) {
            (Some(choice), _) => format!("Answer: ({}) Chosen by counting words.", letter(choice)),
            (None, Some(words)) => words.clone(),
            (None, None) => NOT_FOUND.to_owned(),
        },
        Form::Boxed | Form::BoxedOrAnnounced => match (first.choice, &first.words) {
            (Some(choice), _) => format!("Chosen by counting words: \\boxed{{{}}}", letter(choice)),
            (None, Some(words)) if task == Task::Summary => words.clone(),
            (None, _) => format!("\\boxed{{{}}}", unknown(first)),
        },
        Form::Tags => format!("<answer>\n{}\n</answer>", unknown(first)),
        Form::TagsOrNone => {
            format!("<answer>\n{}\n</answer>", first.short().unwrap_or_else(|| "NONE".to_owned()))
        }
        Form::Announced => format!("Found by counting words.\nThe answer is: {}", unknown(first)),
        Form::Lines | Form::EvidencedLines => {
            let line = |(n, found): (usize, &Found)| {
                let evidence = found.evidence.as_ref().filter(|_| form == Form::EvidencedLines);
                format!("Answer{n}: {}{}", unknown(found), evidence.map_or(String::new(), |e| format!("$ {e}")))
            };
            found.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The letter of an option, counted from 0.
fn letter(choice: usize) -> char {
    ('A'..='Z').nth(choice).unwrap_or('?')
}

/// Names at most `at_most` passages by number, best first.
fn pages(input: &ExtractiveInput, at_most: usize) -> String {
    let query = format!("{} {}", input.question, input.options.join(" "));
    let ranking = Bm25::new(WordRule::of_language(input.language), &input.context).ranking(&query);
    let best = ranking.iter().filter(|ranked| ranked.score > 0.0).take(at_most);
    let best: Vec<String> = best.map(|ranked| ranked.idx.to_string()).collect();
    if best.is_empty() { "STOP".to_owned() } else { format!("I want to look up Page [{}]", best.join(", ")) }
}

/// A context as sentences.
struct Text {
    rule: WordRule,
    sentences: Vec<String>,
    index: Bm25,
    /// Every sentence with its neighbours, made for the first choice.
    windows: OnceCell<Bm25>,
}

impl Text {
    fn new(input: &ExtractiveInput) -> Self {
        let rules = Rules::of(input.language);
        let sentences = input.context.iter().flat_map(|passage| {
            sentence::split(passage, rules).into_iter().map(|span| {
                let words: Vec<&str> = passage[span.range()].split_whitespace().collect();
                words.join(" ")
            })
        });
        let (rule, sentences) = (WordRule::of_language(input.language), sentences.collect::<Vec<_>>());
        Self { rule, index: Bm25::new(rule, &sentences), sentences, windows: OnceCell::new() }
    }

    fn find(&self, task: Task, question: &str, options: &[String]) -> Found {
        let best = self.index.ranking(question).into_iter().next().filter(|ranked| ranked.score > 0.0);
        let best = best.map(|ranked| self.sentences[ranked.idx].clone());
        match task {
            Task::Choice => Found { choice: self.choose(question, options), words: None, evidence: best },
            Task::Generative => {
                let words = best.as_ref().and_then(|sentence| self.extract(question, sentence));
                Found { choice: None, evidence: best.filter(|_| words.is_some()), words }
            }
            Task::Summary => Found { words: self.summarize(question), ..Found::default() },
        }
    }

    fn choose(&self, question: &str, options: &[String]) -> Option<usize> {
        if options.is_empty() {
            return None;
        }
        if self.sentences.is_empty() {
            let hash = sha256(question.as_bytes());
            return Some(usize::from_str_radix(&hash[..8], 16).expect("hex digits") % options.len());
        }
        let index = self.windows.get_or_init(|| {
            let n = self.sentences.len();
            Bm25::new(self.rule, (0..n).map(|i| self.sentences[i.saturating_sub(1)..(i + 2).min(n)].join(" ")))
        });
        let support = |option: &String| {
            let ranking = index.ranking(&format!("{question} {option}"));
            ranking.first().map_or(0.0, |ranked| ranked.score)
        };
        let supports: Vec<f64> = options.iter().map(support).collect();
        Some((0..supports.len()).fold(0, |best, i| if supports[i] > supports[best] { i } else { best }))
    }

    fn extract(&self, question: &str, sentence: &str) -> Option<String> {
        let asked: HashSet<String> = self.rule.words(question).into_iter().collect();
        let clauses = clauses(sentence);
        let support = Bm25::new(self.rule, &clauses).ranking(question);
        let news = |clause: &str| self.rule.words(clause).iter().any(|word| !asked.contains(word));
        let clause = support.iter().map(|ranked| clauses[ranked.idx]).find(|clause| news(clause))?;
        Some(self.trimmed(clause, &asked)).filter(|text| !text.is_empty())
    }

    /// The clause without the question's words at its ends, at most [`MAX_WORDS`] long.
    fn trimmed(&self, clause: &str, asked: &HashSet<String>) -> String {
        if self.rule == WordRule::CharacterPairs {
            return clause.trim().to_owned();
        }
        let words: Vec<&str> = clause.split_whitespace().collect();
        let known = |word: &&str| self.rule.words(word).iter().all(|w| asked.contains(w));
        let start = words.iter().position(|w| !known(w)).unwrap_or(words.len());
        let end = words.iter().rposition(|w| !known(w)).map_or(start, |i| i + 1);
        let kept = &words[start..end.min(start + MAX_WORDS)];
        kept.join(" ").trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    }

    fn summarize(&self, query: &str) -> Option<String> {
        let ranking = self.index.ranking(query);
        let mut chosen: Vec<usize> = ranking.iter().take(SUMMARY_SENTENCES).map(|ranked| ranked.idx).collect();
        chosen.sort_unstable();
        let summary: Vec<&str> = chosen.iter().map(|&i| self.sentences[i].as_str()).collect();
        (!summary.is_empty()).then(|| summary.join(" "))
    }
}

/// A sentence cut at its inner punctuation; marks inside a word or number (`1,000`, `o'clock`, `well-kept`) do not cut.
fn clauses(sentence: &str) -> Vec<&str> {
    let mut clauses = Vec::new();
    let mut start = 0;
    let mut chars = sentence.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let ends_word = chars.peek().is_none_or(|(_, next)| !next.is_alphanumeric());
        let cuts = match c {
            ',' | ';' | ':' | '"' => ends_word,
            '，' | '；' | '：' | '。' | '？' | '！' | '“' | '”' | '—' | '…' => true,
            _ => false,
        };
        if cuts {
            clauses.push(&sentence[start..i]);
            start = i + c.len_utf8();
        }
    }
    clauses.push(&sentence[start..]);
    clauses.retain(|clause| clause.chars().any(char::is_alphanumeric));
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;
    use closeread_text::Language;

    fn input(task: Task, context: &[&str], question: &str, options: &[&str]) -> ExtractiveInput {
        let owned = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
        ExtractiveInput {
            context: owned(context),
            question: question.to_owned(),
            options: owned(options),
            further: Vec::new(),
            task,
            expected: Expected::Answer(Form::Marked),
            language: if question.is_ascii() { Language::ENGLISH } else { Language::CHINESE },
        }
    }

    const HARBOUR: [&str; 2] =
        ["The bell was cast in Orvik. Ines paid 1,200 marks for it, in silver.", "Tom swept the yard."];

    #[test]
    fn the_option_that_stands_beside_the_question_wins() {
        let r = input(Task::Choice, &HARBOUR, "Where was the bell cast?", &["In Lund", "In Orvik", "At sea"]);
        assert_eq!(answer(&r), "Chosen by counting words. [[2]]");
    }

    #[test]
    fn an_open_answer_is_a_clause_without_the_words_of_the_question() {
        let r = input(Task::Generative, &HARBOUR, "How many marks was it that Ines paid?", &[]);
        assert_eq!(answer(&r), "1,200 marks for");
        let r = input(Task::Generative, &["那口钟是在奥维克铸的，花了三年。"], "那口钟是在哪里铸的？", &[]);
        assert_eq!(answer(&r), "那口钟是在奥维克铸的");
    }

    #[test]
    fn without_a_context_choices_are_guesses_and_open_questions_stay_open() {
        let guess = answer(&input(Task::Choice, &[], "Who?", &["a", "b"]));
        assert_eq!(guess, answer(&input(Task::Choice, &[], "Who?", &["a", "b"])));
        assert_eq!(answer(&input(Task::Generative, &[], "Who?", &[])), NOT_FOUND);
        assert_eq!(answer(&input(Task::Generative, &["Rain fell."], "Who?", &[])), NOT_FOUND);
        assert_eq!(answer(&input(Task::Summary, &[], "Who?", &[])), NOT_FOUND);
    }

    #[test]
    fn every_form_is_kept_to() {
        use closeread_eval::reading::Question;
        let written = |form, task, question: &str, context: &[&str]| {
            answer(&ExtractiveInput {
                expected: Expected::Answer(form),
                ..input(task, context, question, &["In Lund", "In Orvik"])
            })
        };
        let cast = "Where was the bell cast?";
        let search =
            ExtractiveInput { expected: Expected::Turn { must_search: true }, ..input(Task::Choice, &[], cast, &[]) };
        assert_eq!(answer(&search), "<query>\nWhere was the bell cast?\n</query>");
        assert_eq!(written(Form::Tags, Task::Choice, cast, &HARBOUR), "<answer>\n1\n</answer>");
        assert_eq!(written(Form::Tags, Task::Generative, cast, &[]), "<answer>\nunknown\n</answer>");
        assert_eq!(written(Form::TagsOrNone, Task::Generative, cast, &[]), "<answer>\nNONE\n</answer>");
        assert!(written(Form::Announced, Task::Generative, cast, &HARBOUR).ends_with("\nThe answer is: in Orvik"));
        assert!(written(Form::Announced, Task::Generative, cast, &[]).ends_with("\nThe answer is: unknown"));
        let several = ExtractiveInput {
            expected: Expected::Answer(Form::EvidencedLines),
            further: vec![
                Question { question: "What did Tom sweep?".to_owned(), options: Vec::new() },
                Question { question: "Why?".to_owned(), options: Vec::new() },
            ],
            ..input(Task::Generative, &HARBOUR, cast, &[])
        };
        assert_eq!(
            answer(&several),
            "Answer0: in Orvik$ The bell was cast in Orvik.\nAnswer1: swept the yard$ Tom swept the yard.\nAnswer2: unknown"
        );
        let plain = ExtractiveInput { expected: Expected::Answer(Form::Lines), ..several };
        assert_eq!(answer(&plain), "Answer0: in Orvik\nAnswer1: swept the yard\nAnswer2: unknown");
    }

    #[test]
    fn a_letter_a_box_pages_and_a_break_are_written_as_asked_for() {
        let form = |task, context: &[&str], question, options: &[&str], expected| {
            answer(&ExtractiveInput { expected, ..input(task, context, question, options) })
        };
        let bell = "Where was the bell cast?";
        let options = ["In Lund", "In Orvik"];
        let answer = form(Task::Choice, &HARBOUR, bell, &options, Expected::Answer(Form::Lettered));
        assert_eq!(answer, "Answer: (B) Chosen by counting words.");
        assert!(form(Task::Choice, &HARBOUR, bell, &options, Expected::Answer(Form::Boxed)).ends_with("\\boxed{B}"));
        assert_eq!(form(Task::Generative, &[], bell, &[], Expected::Answer(Form::Boxed)), "\\boxed{unknown}");
        let pages = ["Rain fell.", "Tom rang the bell.", "They cast the bell in Orvik."];
        let look_up = |at_most, question| form(Task::Choice, &pages, question, &[], Expected::Pages(at_most));
        assert_eq!(look_up(6, bell), "I want to look up Page [2, 1]");
        assert_eq!(look_up(1, bell), "I want to look up Page [2]");
        assert_eq!(look_up(1, "Who?"), "STOP");
        assert_eq!(form(Task::Choice, &[], "", &["<3>", "<7>"], Expected::Break), "Break point: <7>");
    }

    #[test]
    fn a_summary_keeps_the_order_of_the_text() {
        let r = input(Task::Summary, &HARBOUR, "silver and the bell", &[]);
        assert!(answer(&r).starts_with("The bell was cast"));
    }
}
