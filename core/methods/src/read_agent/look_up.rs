//! Look-up: the choice of pages that are read again for a question.

use super::pages::Pages;
use crate::Host;
use crate::read::{input, messages};
use crate::style::options_of;
use crate::{Session, Stop};
use closeread_eval::Item;
use closeread_eval::reading::Parsed;
use closeread_prompts::ReaderPrompt;
use closeread_prompts::readers::{ReadAgentLookUp, ReadAgentLookUpNext};
use closeread_prompts::variables::Lettered;
use serde::{Deserialize, Serialize};

/// The way to choose pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LookUp {
    /// All pages at once (ReadAgent-P, what Stronger Baselines compares).
    #[default]
    Parallel,
    /// One page a turn, the pages chosen so far in view, until the model says `STOP` (ReadAgent-S).
    Sequential,
}

/// The method's parameters that a look-up takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looking {
    pub lookup: LookUp,
    pub max_pages: usize,
    pub read_beyond: bool,
    pub lettered: bool,
}

/// The pages that the model wants to read again, each once, in its order, at most `max_pages`.
///
/// The reference takes every page that a response names; here those beyond `max_pages` are read with `read_beyond` alone, for
/// the prompt says that they are not.
pub(super) async fn look_up<H: Host>(
    session: &mut Session<'_, H>,
    item: &Item,
    pages: &Pages,
    looking: Looking,
) -> Result<Vec<usize>, Stop> {
    let mut chosen = Vec::new();
    let Looking { lookup, max_pages, read_beyond, .. } = looking;
    match lookup {
        LookUp::Parallel if max_pages > 0 => {
            for page in turn(session, looking, item, pages, &chosen, max_pages).await?.pages {
                if (read_beyond || chosen.len() < max_pages) && !chosen.contains(&page) {
                    chosen.push(page);
                }
            }
        }
        LookUp::Parallel => {}
        LookUp::Sequential => {
            while chosen.len() < max_pages.min(pages.pages.len()) {
                let wanted = turn(session, looking, item, pages, &chosen, 1).await?;
                match wanted.next_page().filter(|page| !chosen.contains(page)) {
                    Some(page) => chosen.push(page),
                    None => break,
                }
            }
        }
    }
    Ok(chosen)
}

/// The pages that a turn asks for.
#[derive(Default)]
struct Wanted {
    pages: Vec<usize>,
    stops: bool,
}

impl Wanted {
    /// Returns the first page; none if the turn says `STOP` first, or names no page.
    fn next_page(&self) -> Option<usize> {
        self.pages.first().copied().filter(|_| !self.stops)
    }
}

/// The prompt of a turn, with the pages that were chosen before.
pub(super) fn prompt<'p>(
    looking: Looking,
    item: &'p Item,
    memory: &'p str,
    max_pages: usize,
    read: &'p [usize],
) -> Box<dyn ReaderPrompt + 'p> {
    let (question, options) = (item.question.as_str(), Lettered::all(options_of(item)));
    let lettered = looking.lettered;
    match looking.lookup {
        LookUp::Parallel => Box::new(ReadAgentLookUp { memory, question, options, lettered, max_pages, read }),
        LookUp::Sequential => Box::new(ReadAgentLookUpNext { memory, question, options, max_pages, read }),
    }
}

/// Asks for pages once.
async fn turn<H: Host>(
    session: &mut Session<'_, H>,
    looking: Looking,
    item: &Item,
    pages: &Pages,
    chosen: &[usize],
    at_most: usize,
) -> Result<Wanted, Stop> {
    let memory = pages.memory(session, chosen).await?;
    let shown = pages.shown(&memory, true);
    let prompt = prompt(looking, item, &shown, at_most, chosen);
    // The gists are what all questions on the books share.
    let asked = messages(&*prompt, session.settings().prompts, &shown)?;
    // A page that was read has no gist any more that could be asked for.
    let gists = pages.pages.iter().enumerate();
    let gists = gists.map(|(page, p)| if chosen.contains(&page) { String::new() } else { p.gist.clone() }).collect();
    let input = input(item, gists, prompt.expected(), session.language());
    let response = session.ask(prompt.name(), asked, async || Ok(input)).await?;
    Ok(match prompt.expected().parse(&[item], pages.pages.len(), &response.text) {
        Parsed::Pages { pages, stops } => Wanted { pages, stops },
        _ => Wanted::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_comes_first() {
        let wanted = |pages: &[usize], stops| Wanted { pages: pages.to_vec(), stops };
        assert_eq!(wanted(&[3, 1], false).next_page(), Some(3));
        assert_eq!(wanted(&[3], true).next_page(), None);
        assert_eq!(wanted(&[], false).next_page(), None);
    }
}
