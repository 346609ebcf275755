//! Judged summaries of a case as an evaluation table.

use closeread_eval::Task;
use closeread_eval::hamlet::{
    ErrorCategory, FIFTHS, FactVerdict, Level, Perspective, SentenceVerdict, SummaryVerdicts, applies, error_shares,
    fifth, scores,
};
use closeread_eval::observations::{Cell, CellFacts, CellKey, Done, Ending, ItemFacts, Observation, Observations};
use closeread_report::WORDS;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Deserialize)]
pub(super) struct Input {
    models: Vec<Model>,
    pub(super) books: Vec<Book>,
    pub(super) queries: Vec<Query>,
    summaries: Vec<Summary>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    /// Planned queries; all queries if absent.
    queries: Option<Vec<String>>,
}

/// A book of a case. The last fields are for Table 8.
#[derive(Clone, Deserialize)]
pub(super) struct Book {
    pub(super) id: String,
    pub(super) chunks: usize,
    pub(super) name: Option<String>,
    pub(super) author: Option<String>,
    pub(super) genre: Option<String>,
    pub(super) tokens: Option<usize>,
    pub(super) date: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Query {
    id: String,
    pub(super) book: String,
    chunk: usize,
    pub(super) perspective: Perspective,
    pub(super) facts: Vec<Fact>,
}

#[derive(Deserialize)]
pub(super) struct Fact {
    id: String,
    pub(super) level: Level,
}

#[derive(Deserialize)]
struct Summary {
    model: String,
    query: String,
    ending: Ending,
    words: usize,
    sentences: Option<Vec<Sentence>>,
    alignment: Option<Vec<Aligned>>,
}

#[derive(Deserialize)]
struct Sentence {
    label: Option<Label>,
}

/// Fault of a sentence, as the vectors name it.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Label {
    None,
    OutOfArticle,
    Entity,
    Relation,
    Sentence,
}

#[derive(Deserialize)]
struct Aligned {
    fact: String,
    covered: bool,
    sentences: Vec<usize>,
}

impl From<Label> for ErrorCategory {
    fn from(label: Label) -> Self {
        match label {
            Label::None => Self::NoError,
            Label::OutOfArticle => Self::OutOfArticle,
            Label::Entity => Self::Entity,
            Label::Relation => Self::Relation,
            Label::Sentence => Self::Sentence,
        }
    }
}

/// The input that a case names.
pub(super) fn input(inputs: Option<&Value>, asked: &Value) -> Result<Input, String> {
    let name = asked.get("use").and_then(Value::as_str).ok_or("no field `input.use`")?;
    let input = inputs.and_then(|inputs| inputs.get(name)).ok_or_else(|| format!("no input {name}"))?;
    Input::deserialize(input).map_err(|error| format!("input {name}: {error}"))
}

impl Input {
    /// Makes one run per model, in the requested order. `reasoning` names the model that reasons.
    pub(super) fn trials(&self, models: &[&str], reasoning: Option<&str>) -> Result<Observations, String> {
        let runs = models.iter().map(|name| {
            let model = self.models.iter().find(|model| model.id == *name).ok_or_else(|| format!("no model {name}"))?;
            Ok(((*name).into(), self.run(model, reasoning.map(|reasoning| reasoning == *name))))
        });
        let runs = runs.collect::<Result<Vec<_>, String>>()?;
        Observations::pooled(runs).map_err(|error| error.to_string())
    }

    fn run(&self, model: &Model, reasoning: Option<bool>) -> Observations {
        let is_planned = |query: &&Query| model.queries.as_ref().is_none_or(|own| own.contains(&query.id));
        let items: Vec<ItemFacts> = self.queries.iter().filter(is_planned).map(|query| self.item(query)).collect();
        let key = CellKey {
            configuration: "".into(),
            method: "query-summary".into(),
            model: model.id.as_str().into(),
            budget: None,
            task: Task::Summary,
        };
        let cells = vec![Cell { key: key.clone(), facts: CellFacts { reasoning, ..CellFacts::default() } }];
        let own = self.summaries.iter().filter(|summary| summary.model == model.id);
        let done = own.filter_map(|summary| {
            let query = self.queries.iter().find(|query| query.id == summary.query)?;
            Some(summary.done(&key, query))
        });
        Observations::new("hamlet", cells, &items, 1, done)
    }

    fn item(&self, query: &Query) -> ItemFacts {
        let chunks = self.books.iter().find(|book| book.id == query.book).map_or(0, |book| book.chunks);
        let levels: Vec<Level> = query.facts.iter().map(|fact| fact.level).collect();
        let labels = [("perspective", query.perspective.name()), ("fifth", FIFTHS[fifth(query.chunk, chunks)])];
        ItemFacts {
            id: query.id.clone(),
            gold: query.id.clone(),
            evidence: String::new(),
            documents: vec![query.book.clone()],
            labels: labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            book_tokens: None,
            evidence_tokens: Vec::new(),
            evidence_unplaced: 0,
            metrics: applies(&levels),
        }
    }
}

impl Summary {
    fn done(&self, cell: &CellKey, query: &Query) -> Done {
        let mut done = Observation::new(cell.clone(), query.id.clone(), 0, self.ending);
        if self.ending == Ending::Answered {
            let verdicts = self.verdicts(query);
            done.scores = scores(&verdicts).into_iter().chain(error_shares(&verdicts)).collect();
            done.measures = BTreeMap::from([(WORDS.into(), self.words as f64)]);
        }
        done
    }

    fn verdicts(&self, query: &Query) -> SummaryVerdicts {
        let covered =
            |fact: &Fact| self.alignment.iter().flatten().find(|aligned| aligned.fact == fact.id && aligned.covered);
        let facts = |_: &Vec<Aligned>| {
            let verdict = |fact: &Fact| FactVerdict { level: fact.level, matched: covered(fact).is_some() };
            query.facts.iter().map(verdict).collect()
        };
        let sentence = |(at, sentence): (usize, &Sentence)| {
            let states = |fact: &&Fact| covered(fact).is_some_and(|aligned| aligned.sentences.contains(&(at + 1)));
            let levels = query.facts.iter().filter(states).map(|fact| fact.level).collect();
            Some(SentenceVerdict { levels, category: sentence.label?.into() })
        };
        let sentences = |sentences: &Vec<Sentence>| sentences.iter().enumerate().map(sentence).collect();
        SummaryVerdicts {
            facts: self.alignment.as_ref().map(facts),
            sentences: self.sentences.as_ref().and_then(sentences),
        }
    }
}
