//! The items that a run asks, and the way each is asked.

use super::options::{AskedAs, BenchmarkOptions};
use anyhow::{Context, Result, bail};
use closeread_eval::draw::keep_where;
use closeread_eval::{ASKED_AS, Item, Task};
use closeread_text::composed;
use closeread_text::names::meant;
use std::collections::HashSet;

/// The items that the options leave, asked the way they say.
pub(super) fn select(mut items: Vec<Item>, asked: &BenchmarkOptions) -> Result<Vec<Item>> {
    for item in &mut items {
        match asked.task {
            AskedAs::Choice if can_choose(item) => item.task = Task::Choice,
            AskedAs::Generative if can_tell(item) => item.task = Task::Generative,
            _ => {}
        }
    }
    if !asked.items.is_empty() {
        let known: HashSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
        // An id may have commas itself.
        let ids = |given: &String| match known.contains(given.as_str()) {
            true => vec![given.clone()],
            false => given.split(',').map(str::to_owned).collect(),
        };
        let wanted: Vec<String> = asked.items.iter().flat_map(ids).collect();
        if let Some(unknown) = wanted.iter().find(|id| !known.contains(id.as_str())) {
            if items.iter().any(|item| composed(&item.id) == composed(unknown)) {
                bail!(
                    "the item `{unknown}` is in other characters that look the same (NFC or NFD) in this benchmark: copy its id"
                );
            }
            let meant = meant(unknown, items.iter().map(|item| item.id.as_str()));
            bail!("there is no item `{unknown}` in this benchmark{meant}; its ids look like `{}`", first_id(&items));
        }
        items.retain(|item| wanted.contains(&item.id));
    }
    keep_where(&mut items, &asked.only).context("--where")?;
    if let Some(only) = asked.only_of_paper.as_ref().filter(|only| items.iter().any(|item| only.holds(item))) {
        items.retain(|item| only.holds(item));
    }
    if let Some(draw) = &asked.draw {
        draw.sample(&mut items).context("--draw")?;
    }
    items.truncate(asked.limit.unwrap_or(usize::MAX));
    if asked.task == AskedAs::Both { both_ways(items) } else { Ok(items) }
}

/// Whether an item has options to choose from. Without any gold answer, as questions of a leaderboard are published, it may be
/// asked either way.
fn can_choose(item: &Item) -> bool {
    item.options.len() > 1 && (item.correct.is_some() || item.answers.is_empty())
}

/// Whether an item can be asked without its options: its gold answer is there in words, or there is none.
fn can_tell(item: &Item) -> bool {
    !item.answers.is_empty() || item.task == Task::Choice && item.correct.is_none()
}

/// Returns every item that has options and answers twice: as given, and behind it the other way, under its id with the
/// task.
pub(super) fn both_ways(items: Vec<Item>) -> Result<Vec<Item>> {
    let (n, mut asked) = (items.len(), Vec::new());
    for item in items {
        let can_both = can_choose(&item) && can_tell(&item);
        let other = match item.task {
            Task::Choice if can_both => Some((Task::Generative, "generative")),
            Task::Generative if can_both => Some((Task::Choice, "choice")),
            _ => None,
        };
        let other = other.map(|(task, name)| Item { id: format!("{}#{name}", item.id), task, ..item.clone() });
        match other {
            Some(other) => asked.extend([item, other].map(|item| {
                let name = if item.task == Task::Choice { "choice" } else { "generative" };
                item.label(ASKED_AS, name)
            })),
            None => asked.push(item),
        }
    }
    if asked.len() == n {
        bail!("--task both: no item has options, a correct one and an answer in words: ask them as they are given");
    }
    let mut ids = HashSet::new();
    if let Some(item) = asked.iter().find(|item| !ids.insert(item.id.as_str())) {
        bail!("--task both: two items would be called `{}`: rename the item that has this id in the data", item.id);
    }
    Ok(asked)
}

pub(super) fn first_id(items: &[Item]) -> &str {
    items.first().map_or("", |item| item.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_listed_and_one_that_has_a_comma_is_given_as_it_is() {
        let all = ["a", "b", "Doyle, 1902", "d"].map(|id| Item::new(id, "book", "Who?", Task::Generative)).to_vec();
        let ids = |given: &[&str]| {
            let items = given.iter().map(|id| (*id).to_owned()).collect();
            let kept = select(all.clone(), &BenchmarkOptions { items, ..BenchmarkOptions::default() });
            kept.map(|kept| kept.into_iter().map(|item| item.id).collect::<Vec<_>>())
        };
        assert_eq!(ids(&["d,a", "Doyle, 1902"]).unwrap(), ["a", "Doyle, 1902", "d"]);
        assert!(ids(&["a,Doyle, 1902"]).unwrap_err().to_string().contains("no item `Doyle`"));
    }

    #[test]
    fn an_id_that_only_looks_the_same_is_said_to_be_another() {
        let items = vec![Item::new("cafe\u{301}", "book", "Who?", Task::Generative)];
        let asked = BenchmarkOptions { items: vec!["caf\u{e9}".to_owned()], ..BenchmarkOptions::default() };
        let refused = select(items, &asked).unwrap_err().to_string();
        assert!(refused.contains("look the same (NFC or NFD)"), "{refused}");
    }

    #[test]
    fn an_item_asked_the_other_way_takes_no_id_of_another() {
        let mut choice = Item::new("q", "d", "Who?", Task::Choice);
        choice.options = ["Ana", "Bo"].map(str::to_owned).to_vec();
        (choice.correct, choice.answers) = (Some(0), vec!["Ana".to_owned()]);
        let mut other = Item::new("q#generative", "d", "When?", Task::Generative);
        other.answers = vec!["at dusk".to_owned()];
        assert_eq!(both_ways(vec![choice.clone()]).unwrap().len(), 2);
        let refused = both_ways(vec![choice, other]).unwrap_err().to_string();
        assert!(refused.contains("two items would be called `q#generative`"), "{refused}");
    }
}
