//! Which pages are read again for a question.

use super::{Pages, ReadAgent};
use crate::Host;
use crate::read::{input, lettered, options_of};
use crate::{Session, Stop};
use closeread_eval::Item;
use closeread_eval::answer::{after_thinking, look_up_pages};
use closeread_eval::reading::Expected;
use closeread_llm::Message;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How pages are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LookUp {
    /// All at once (ReadAgent-P, what Stronger Baselines compares).
    #[default]
    Parallel,
    /// One a turn, the pages chosen so far in view, until the model says `STOP` (ReadAgent-S).
    Sequential,
}

/// The pages that the model wants to read again, each once, in its order, at most `max_pages`.
///
/// The reference takes every page that a reply names; here those beyond `max_pages` are not read, as the prompt says.
pub(super) async fn look_up<H: Host>(
    session: &mut Session<'_, H>,
    item: &Item,
    pages: &Pages,
    parameters: &ReadAgent,
) -> Result<Vec<usize>, Stop> {
    let mut chosen = Vec::new();
    match parameters.lookup {
        LookUp::Parallel if parameters.max_pages > 0 => {
            let reply = turn(session, "read-agent-lookup", item, pages, &chosen, parameters.max_pages).await?;
            for page in look_up_pages(&reply, pages.pages.len()) {
                if chosen.len() < parameters.max_pages && !chosen.contains(&page) {
                    chosen.push(page);
                }
            }
        }
        LookUp::Parallel => {}
        LookUp::Sequential => {
            while chosen.len() < parameters.max_pages.min(pages.pages.len()) {
                let reply = turn(session, "read-agent-lookup-next", item, pages, &chosen, 1).await?;
                match next_page(&reply, pages.pages.len()).filter(|page| !chosen.contains(page)) {
                    Some(page) => chosen.push(page),
                    None => break,
                }
            }
        }
    }
    Ok(chosen)
}

/// The page that a turn asks for; none if it says `STOP` first, or names no page.
fn next_page(reply: &str, n_pages: usize) -> Option<usize> {
    let stops = reply.trim_start().starts_with("STOP");
    look_up_pages(reply, n_pages).into_iter().next().filter(|_| !stops)
}

/// What the prompt of a look-up is filled with.
pub(super) fn variables(item: &Item, memory: &str, at_most: usize, chosen: &[usize]) -> Value {
    json!({
        "memory": memory, "question": item.question, "options": lettered(options_of(item)),
        "max_pages": at_most, "read": chosen,
    })
}

/// Asks for pages once.
async fn turn<H: Host>(
    session: &mut Session<'_, H>,
    prompt: &str,
    item: &Item,
    pages: &Pages,
    chosen: &[usize],
    at_most: usize,
) -> Result<String, Stop> {
    let memory = pages.memory(session.books(), chosen);
    let shown = pages.shown(&memory, true);
    let variables = variables(item, &shown, at_most, chosen);
    // The gists are what all questions on the books share.
    let message = Message::user(session.settings().prompts.render(prompt, &variables)?).sharing(&shown);
    // A page that was read has no gist any more that could be asked for.
    let gists = pages.pages.iter().enumerate();
    let gists = gists.map(|(page, p)| if chosen.contains(&page) { String::new() } else { p.gist.clone() }).collect();
    let input = input(item, gists, Expected::Pages(at_most), session.language());
    let reply = session.ask(prompt, vec![message], Some(input)).await?;
    Ok(after_thinking(&reply.text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_comes_first() {
        assert_eq!(next_page("I want to look up Page [3] to see", 6), Some(3));
        assert_eq!(next_page(" STOP, since [3] is read", 6), None);
        assert_eq!(next_page("Nothing more.", 6), None);
    }
}
