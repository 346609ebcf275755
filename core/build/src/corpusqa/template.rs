//! Query templates: questions with slots, by hand, and the SQL that answers them (section 3, step 3; appendix B).

use super::gold::AnswerKind;
use crate::slots::slots;
use closeread_llm::price::toml_problem;
use closeread_text::Language;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The templates that ship.
const BUILT_IN: &str = include_str!("../../assets/corpusqa/templates.toml");

/// The difficulty of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Difficulty {
    /// One aggregation, filter or ranking.
    Easy,
    /// A ratio, several conditions, a comparison of groups.
    Medium,
    /// Several steps, or a metric of its own.
    Hard,
}

impl Difficulty {
    /// All difficulties.
    pub const ALL: [Self; 3] = [Self::Easy, Self::Medium, Self::Hard];

    /// The label of the item.
    pub fn name(self) -> &'static str {
        match self {
            Self::Easy => "easy",
            Self::Medium => "medium",
            Self::Hard => "hard",
        }
    }

    /// Returns how many of the paper's 1,316 questions have this difficulty (Table 2).
    pub(super) fn in_paper(self) -> usize {
        match self {
            Self::Easy => 296,
            Self::Medium => 648,
            Self::Hard => 372,
        }
    }
}

/// A question with slots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Name of the template.
    pub id: String,
    /// Difficulty of the question.
    pub difficulty: Difficulty,
    /// The form of its answer.
    pub answer: AnswerKind,
    /// `k`: the answer lists as many as the slot `k` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<String>,
    /// Question in English; empty: it is not asked in English.
    #[serde(default)]
    pub en: String,
    /// Question in Chinese; empty: it is not asked in Chinese.
    #[serde(default)]
    pub zh: String,
    /// A condition on the rows that enter the answer; without it all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// SQL that answers the question; without it only a model can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// The reason why templates cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The file does not have the form of a file of templates.
    #[error("{0}; expected tables [[template]] with id, difficulty, answer, en or zh, and sql")]
    Form(String),
    /// A slot that there is not.
    #[error("template `{id}`: there is no slot `{{{slot}}}`; the slots are {}", SLOTS.join(", "))]
    Slot {
        /// Name of the template.
        id: String,
        /// Slot as written.
        slot: String,
    },
    /// The template has no question.
    #[error("template `{0}`: expected a question as en or zh")]
    Silent(String),
    /// An id that is there twice.
    #[error("two templates have the id `{0}`: rename one")]
    Twice(String),
}

/// The slots that a template may have.
pub(super) const SLOTS: [&str; 24] = [
    "entity", "entities", "name", "n", "m", "a", "b", "i", "e", "f", "g", "h", "p", "c", "v", "u", "d", "t", "x", "y",
    "q", "o", "z", "k",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    template: Vec<Template>,
}

impl Template {
    /// Returns the templates that ship.
    pub fn built_in() -> Vec<Self> {
        Self::read(BUILT_IN).expect("the templates that ship are in form: a test reads them")
    }

    /// Reads templates written in TOML.
    ///
    /// # Errors
    /// [`TemplateError`].
    pub fn read(text: &str) -> Result<Vec<Self>, TemplateError> {
        let File { template } =
            toml::from_str(text).map_err(|error| TemplateError::Form(toml_problem(text, &error)))?;
        let mut ids = BTreeSet::new();
        for one in &template {
            if !ids.insert(one.id.as_str()) {
                return Err(TemplateError::Twice(one.id.clone()));
            }
            if one.en.is_empty() && one.zh.is_empty() {
                return Err(TemplateError::Silent(one.id.clone()));
            }
            if let Some(slot) = one.slots().into_iter().find(|slot| !SLOTS.contains(slot)) {
                return Err(TemplateError::Slot { id: one.id.clone(), slot: slot.to_owned() });
            }
        }
        Ok(template)
    }

    /// Templates as a file that [`Template::read`] reads.
    pub fn written(templates: &[Self]) -> String {
        #[derive(Serialize)]
        struct Written<'t> {
            template: &'t [Template],
        }
        toml::to_string(&Written { template: templates }).unwrap_or_default()
    }

    /// The slots that it has anywhere.
    pub(super) fn slots(&self) -> BTreeSet<&str> {
        let texts = [Some(&self.en), Some(&self.zh), self.scope.as_ref(), self.sql.as_ref()];
        texts.into_iter().flatten().flat_map(|text| slots(text)).collect()
    }

    /// The question in a language; English for those that it does not know.
    pub(super) fn question(&self, language: Language) -> &str {
        let (first, second) = if language == Language::CHINESE { (&self.zh, &self.en) } else { (&self.en, &self.zh) };
        if first.is_empty() { second } else { first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_that_ship_are_of_every_difficulty_and_ask_in_both_languages() {
        let templates = Template::built_in();
        for difficulty in Difficulty::ALL {
            assert!(templates.iter().filter(|template| template.difficulty == difficulty).count() > 6);
        }
        for template in &templates {
            assert!(template.sql.is_some(), "{}", template.id);
            assert!(
                !template.en.contains(" a {") && !template.en.contains(" an {"),
                "{}: an area, a region",
                template.id
            );
            let shown = |text: &str| slots(text).into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
            let plain =
                |text: &str| shown(text).into_iter().filter(|slot| !slot.starts_with("entit")).collect::<BTreeSet<_>>();
            assert_eq!(plain(&template.en), plain(&template.zh), "{}", template.id);
        }
    }

    #[test]
    fn templates_out_of_form_are_refused() {
        let refused = |text: &str| Template::read(text).unwrap_err().to_string();
        let head = "[[template]]\nid = 'a'\ndifficulty = 'easy'\nanswer = 'list'\n";
        assert!(refused(&format!("{head}en = '{{w}}?'")).contains("no slot `{w}`; the slots are entity"));
        assert!(refused(head).contains("expected a question"));
        assert!(refused(&format!("{head}en = 'x'\n{head}en = 'y'")).contains("two templates"));
        assert!(refused("[[template]]\nid = 1").contains("expected tables [[template]]"));
    }
}
