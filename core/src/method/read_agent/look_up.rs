//! Which pages are read again for a question.

use super::{Pages, ReadAgent};
use crate::answer::{after_thinking, look_up_pages};
use crate::benchmark::Item;
use crate::host::{Host, Message};
use crate::method::Material;
use crate::method::ask::{Asking, End};
use crate::method::read::{lettered, options_of, reading};
use crate::reader::Want;
use serde::{Deserialize, Serialize};
use serde_json::json;

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
    asking: &mut Asking<'_, H>,
    material: &Material<'_>,
    item: &Item,
    pages: &Pages,
    parameters: &ReadAgent,
) -> Result<Vec<usize>, End> {
    let mut chosen = Vec::new();
    match parameters.lookup {
        LookUp::Parallel if parameters.max_pages > 0 => {
            let reply = turn(asking, "read-agent-lookup", material, item, pages, &chosen, parameters.max_pages).await?;
            for page in look_up_pages(&reply, pages.pages.len()) {
                if chosen.len() < parameters.max_pages && !chosen.contains(&page) {
                    chosen.push(page);
                }
            }
        }
        LookUp::Parallel => {}
        LookUp::Sequential => {
            while chosen.len() < parameters.max_pages.min(pages.pages.len()) {
                let reply = turn(asking, "read-agent-lookup-next", material, item, pages, &chosen, 1).await?;
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

/// Asks for pages once.
async fn turn<H: Host>(
    asking: &mut Asking<'_, H>,
    prompt: &str,
    material: &Material<'_>,
    item: &Item,
    pages: &Pages,
    chosen: &[usize],
    at_most: usize,
) -> Result<String, End> {
    let memory = pages.memory(material.books, chosen);
    let shown = pages.shown(&memory, true);
    let variables = json!({
        "memory": shown, "question": item.question, "options": lettered(options_of(item)),
        "max_pages": at_most, "read": chosen,
    });
    // The gists are what all questions on the books share.
    let message = Message::user(asking.setting().prompts.render(prompt, &variables)?).sharing(&shown);
    // A page that was read has no gist any more that could be asked for.
    let gists = pages.pages.iter().enumerate();
    let gists = gists.map(|(page, p)| if chosen.contains(&page) { String::new() } else { p.gist.clone() }).collect();
    let reading = reading(item, gists, Want::Pages(at_most), material.language());
    let reply = asking.ask(prompt, vec![message], Some(reading)).await?;
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
