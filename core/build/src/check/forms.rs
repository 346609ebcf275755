//! Questions that people write by forms (NovelQA, section 3 and Table 8): sentences with slots, filled in on the page.

use crate::slots::{filled, slots};
use closeread_data::novelqa::{ASPECTS, COMPLEXITIES};
use closeread_eval::{Evidence, Item, Task};
use closeread_llm::price::toml_problem;
use closeread_text::hash::name_hash;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The forms that ship.
const BUILT_IN: &str = include_str!("../../assets/novelqa/forms.toml");

/// A question with slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// Name of the form.
    pub id: String,
    /// Aspect of most of the form's questions: one of NovelQA's aspects.
    pub aspect: String,
    /// Complexity of most of the form's questions: `multi-hop`, `single-hop` or `detail`.
    pub complexity: String,
    /// Form of an answer, such as `a number`; empty where that is left open.
    #[serde(default)]
    pub format: String,
    /// The question; a slot stands in braces and is called as who fills it in reads it.
    pub question: String,
}

/// The reason why forms cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// The file does not have the form of a file of forms.
    #[error("{0}; expected tables [[form]] with id, aspect, complexity, question and, where it helps, format")]
    File(String),
    /// An id that is there twice.
    #[error("two forms have the id `{0}`: rename one")]
    Twice(String),
    /// A form has no slot to fill in.
    #[error("form `{0}`: its question has no slot: put what is filled in into braces, as in `Where is {{a place}}?`")]
    NoSlot(String),
    /// A label that NovelQA does not know.
    #[error("form `{id}`: there is no {label} `{value}`: expected one of {}", expected.join(", "))]
    Label {
        /// Name of the form.
        id: String,
        /// Name of the label, `aspect` or `complexity`.
        label: &'static str,
        /// Value as written.
        value: String,
        /// Values that are known.
        expected: &'static [&'static str],
    },
}

impl Form {
    /// The forms that ship, of every aspect and complexity.
    pub fn built_in() -> Vec<Self> {
        Self::read(BUILT_IN).expect("the forms that ship are in form: a test reads them")
    }

    /// Reads forms written in TOML.
    ///
    /// # Errors
    /// [`FormError`].
    pub fn read(text: &str) -> Result<Vec<Self>, FormError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            form: Vec<Form>,
        }
        let File { form } = toml::from_str(text).map_err(|error| FormError::File(toml_problem(text, &error)))?;
        let mut ids = BTreeSet::new();
        for one in &form {
            if !ids.insert(one.id.as_str()) {
                return Err(FormError::Twice(one.id.clone()));
            }
            if one.slots().is_empty() {
                return Err(FormError::NoSlot(one.id.clone()));
            }
            known(&one.id, "aspect", &one.aspect, &ASPECTS)?;
            known(&one.id, "complexity", &one.complexity, &COMPLEXITIES)?;
        }
        Ok(form)
    }

    /// The question as a person reads it, with dots about its slots.
    pub fn shown(&self) -> String {
        filled(&self.question, |slot| format!("… {slot} …"))
    }

    /// Returns the slots to fill in, in the order of the question.
    pub fn slots(&self) -> Vec<&str> {
        slots(&self.question)
    }
}

fn known(id: &str, label: &'static str, value: &str, expected: &'static [&'static str]) -> Result<(), FormError> {
    match expected.contains(&value) {
        true => Ok(()),
        false => Err(FormError::Label { id: id.to_owned(), label, value: value.to_owned(), expected }),
    }
}

/// The sheet that a page offers to people: the forms, and the books that they may ask about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// The forms of the sheet.
    pub forms: Vec<Form>,
    /// Ids and titles of the books.
    pub books: Vec<(String, String)>,
}

/// A form filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Name of the form.
    pub form: String,
    /// Id of the book.
    pub book: String,
    /// Text of each slot.
    pub slots: BTreeMap<String, String>,
    /// Aspect of the question.
    pub aspect: String,
    /// Complexity of the question.
    pub complexity: String,
    /// Right answers, best first.
    pub answers: Vec<String>,
    /// Words of the book that hold the answer.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// The reason why a form filled in is no question.
#[derive(Debug, thiserror::Error)]
enum WrittenError {
    #[error("there is no form `{0}`")]
    Form(String),
    #[error("there is no book `{0}`")]
    Book(String),
    #[error("`{0}` is not filled in")]
    Slot(String),
    #[error("it has no answer")]
    NoAnswer,
    #[error("there is no {label} `{value}`: expected one of {}", .expected.join(", "))]
    Label { label: &'static str, value: String, expected: &'static [&'static str] },
}

impl Sheet {
    /// The filled forms as open questions, and what is wrong with those that are none.
    pub fn items(&self, written: &[Written]) -> (Vec<Item>, Vec<String>) {
        let (mut items, mut problems) = (Vec::<Item>::new(), Vec::new());
        for (n, one) in written.iter().enumerate() {
            match self.item(one) {
                Err(why) => problems.push(format!("written question {}: {why}", n + 1)),
                Ok(item) if items.iter().any(|other| other.id == item.id) => {
                    problems.push(format!("written question {}: `{}` is there twice", n + 1, item.question));
                }
                Ok(item) => items.push(item),
            }
        }
        (items, problems)
    }

    fn item(&self, written: &Written) -> Result<Item, WrittenError> {
        let form = self.forms.iter().find(|form| form.id == written.form);
        let form = form.ok_or_else(|| WrittenError::Form(written.form.clone()))?;
        if !self.books.iter().any(|(id, _)| *id == written.book) {
            return Err(WrittenError::Book(written.book.clone()));
        }
        let said = |slot: &str| written.slots.get(slot).map_or("", |text| text.trim());
        if let Some(empty) = form.slots().into_iter().find(|slot| said(slot).is_empty()) {
            return Err(WrittenError::Slot(empty.to_owned()));
        }
        let texts = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
        };
        let answers = texts(&written.answers);
        if answers.is_empty() {
            return Err(WrittenError::NoAnswer);
        }
        for (label, value, expected) in
            [("aspect", &written.aspect, &ASPECTS[..]), ("complexity", &written.complexity, &COMPLEXITIES)]
        {
            if !expected.contains(&value.as_str()) {
                return Err(WrittenError::Label { label, value: value.clone(), expected });
            }
        }
        let question = filled(&form.question, |slot| said(slot).to_owned());
        let id = format!("{}/written-{}", written.book, name_hash(&question));
        let mut item = Item::new(id, &written.book, question, Task::Generative)
            .label("aspect", &written.aspect)
            .label("complexity", &written.complexity);
        item.answers = answers;
        let quoted = |quote| Evidence { document: None, quote, start: None, end: None };
        item.evidence = texts(&written.evidence).into_iter().map(quoted).collect();
        item.other.insert("form".to_owned(), json!(form.id));
        if !form.format.is_empty() {
            item.other.insert("format".to_owned(), json!(form.format));
        }
        Ok(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let form = Form::read(
            "[[form]]\nid = 'a'\naspect = 'plot'\ncomplexity = 'detail'\nformat = 'a reason'\nquestion = 'Why does {who} {act}?'",
        );
        Sheet { forms: form.unwrap(), books: vec![("story".to_owned(), "The Key".to_owned())] }
    }

    fn written(act: &str, answer: &str) -> Written {
        let slots = [("who", " Ana "), ("act", act)].map(|(slot, text)| (slot.to_owned(), text.to_owned()));
        Written {
            form: "a".to_owned(),
            book: "story".to_owned(),
            slots: slots.into(),
            aspect: "meaning".to_owned(),
            complexity: "detail".to_owned(),
            answers: vec![answer.to_owned(), " ".to_owned()],
            evidence: vec!["She ran.".to_owned(), String::new()],
        }
    }

    #[test]
    fn the_forms_that_ship_are_of_every_aspect_and_complexity() {
        let forms = Form::built_in();
        for aspect in ["times", "meaning", "span", "setting", "relation", "character", "plot"] {
            assert!(forms.iter().filter(|form| form.aspect == aspect).count() > 1, "{aspect}");
        }
        assert!(forms.iter().all(|form| !form.format.is_empty()));
        for complexity in COMPLEXITIES {
            assert!(forms.iter().filter(|form| form.complexity == complexity).count() > 3, "{complexity}");
        }
    }

    /// NovelQA, Table 8: what is asked is the paper's, the words are ours.
    #[test]
    fn every_template_of_the_paper_has_a_form_with_its_answer_format() {
        let forms = Form::built_in();
        let format = |id: &str| forms.iter().find(|form| form.id == id).map(|form| form.format.as_str());
        for times in ["times-happened", "times-done", "times-shared", "times-met", "times-together"] {
            assert_eq!(format(times), Some("yes or no, and a number"), "{times}");
        }
        for (id, wanted) in [
            ("meaning-symbol", "an explanation in one sentence"),
            ("meaning-chapter", "the number or the title of a chapter"),
            ("character-turn", "a plot in one sentence"),
            ("character-group", "a list of names"),
            ("character-names", "a list of names"),
            ("character-minor", "a description of the character"),
            ("span-places", "a list of countries or cities"),
            ("span-years", "two years"),
            ("relation-alias", "a relationship"),
        ] {
            assert_eq!(format(id), Some(wanted), "{id}");
        }
    }

    #[test]
    fn a_filled_form_is_an_open_question() {
        let (items, problems) = sheet().items(&[written("run", "fear")]);
        assert_eq!((items[0].question.as_str(), items[0].task), ("Why does Ana run?", Task::Generative));
        assert_eq!((items[0].answers.as_slice(), items[0].evidence.len()), (&["fear".to_owned()][..], 1));
        assert_eq!((items[0].labels["aspect"].as_str(), &items[0].other["form"]), ("meaning", &json!("a")));
        assert_eq!(items[0].other["format"], "a reason");
        assert_eq!((items[0].documents.as_slice(), problems.len()), (&["story".to_owned()][..], 0));
    }

    #[test]
    fn one_that_is_not_filled_in_is_named_and_the_others_stay() {
        let good = written("run", "fear");
        let bad = [
            Written { form: "b".to_owned(), ..good.clone() },
            Written { book: "tale".to_owned(), ..good.clone() },
            written(" ", "fear"),
            written("hide", " "),
            Written { aspect: "colour".to_owned(), ..good.clone() },
            good.clone(),
            good,
        ];
        let (items, problems) = sheet().items(&bad);
        assert_eq!(items.len(), 1);
        for (problem, words) in problems.iter().zip([
            "question 1: there is no form `b`",
            "question 2: there is no book `tale`",
            "question 3: `act` is not filled in",
            "question 4: it has no answer",
            "question 5: there is no aspect `colour`: expected one of times",
            "question 7: `Why does Ana run?` is there twice",
        ]) {
            assert!(problem.contains(words), "{problem}");
        }
        assert_eq!(problems.len(), 6);
    }

    #[test]
    fn forms_out_of_form_are_refused() {
        let refused = |text: &str| Form::read(text).unwrap_err().to_string();
        let form = |aspect: &str, question: &str| {
            format!("[[form]]\nid = 'a'\naspect = '{aspect}'\ncomplexity = 'detail'\nquestion = '{question}'\n")
        };
        assert!(refused("[[form]]\nid = 1").contains("expected tables [[form]]"));
        assert!(refused(&form("colour", "{x}?")).contains("no aspect `colour`: expected one of times"));
        assert!(refused(&form("plot", "Why?")).contains("has no slot"));
        assert!(refused(&[form("plot", "{x}?"), form("plot", "{y}?")].concat()).contains("two forms"));
    }
}
