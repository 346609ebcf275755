//! Judging the trials of a run: who is asked what, one line of `judgements.jsonl` each.

mod options;
mod probe;
pub mod replay;
mod store;

pub use options::{ALL_JUDGES, JudgeOptions, MAX_OUTPUT_TOKENS};
pub use probe::{Probe, Probed};
pub use store::{JUDGEMENTS, JUDGING, merge, read};

use crate::host::CliHost;
use crate::interrupt;
use crate::progress::Progress;
use crate::spending::{Spending, Taken};
use crate::texts::BookTexts;
use anyhow::{Context, Result, bail};
use closeread_books::Book;
use closeread_books::tokens::Tokenizer;
use closeread_data::resolve_chunk;
use closeread_eval::{Item, KeyFacts};
use closeread_judges::{
    BUILTIN_RULE, Judge, JudgeResponse, Judgement, JudgementKey, Panel, Reference, Subject, Submission,
    SubmittedAnswer, Verdict, ask, by_rule, cited,
};
use closeread_methods::record::Record;
use closeread_prompts::Prompts;
use closeread_providers::response_cache::ResponseCache;
use closeread_providers::{Model, Options};
use closeread_report::subjects_of;
use closeread_text::{Language, Locator};
use futures_util::{StreamExt, stream};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use store::Judgements;
use tracing::{Instrument, info, info_span};

/// A panel with the hosts that reach its members.
pub struct JudgeRunner<'a> {
    panel: Panel,
    prompts: &'a Prompts,
    tokenizer: &'a Tokenizer,
    hosts: HashMap<String, CliHost>,
    concurrency: usize,
    spending: Arc<Spending>,
}

/// The trials of a run to be judged, with the items and books they are about.
pub struct PendingJudgements<'a> {
    /// The items.
    pub items: &'a [Item],
    /// The trials.
    pub records: &'a [Record],
    /// The books by id; those that cannot be read are not there.
    pub books: HashMap<&'a str, &'a Arc<Book>>,
    /// The texts that the books do not hold.
    pub texts: &'a BookTexts,
}

/// The result of a judging session.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// Whether Ctrl-C ended the session.
    pub interrupted: bool,
    /// Whether the limit on what the run may cost ended it.
    pub out_of_money: bool,
    /// Number of calls that failed, retries included; they are asked again in the next session.
    pub failed: usize,
    /// Reasons why they failed, with the number of calls of each.
    pub reasons: BTreeMap<String, usize>,
    /// Items whose chunk cannot be found, so that their summaries cannot be judged.
    pub without_chunk: usize,
}

/// The facts of an item's work that a judge is told.
pub struct Work {
    title: String,
    language: Language,
    chunk: String,
}

impl Work {
    /// Title of the work; empty if it is of several.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the language of the work.
    pub const fn language(&self) -> Language {
        self.language
    }

    /// The text of the chunk, where it was looked for and found.
    pub fn chunk(&self) -> &str {
        &self.chunk
    }

    /// Returns what a judge is told of an answer about this work.
    pub fn submission<'a>(&'a self, item: &'a Item, said: SubmittedAnswer<'a>, cited: &'a [String]) -> Submission<'a> {
        Submission { item, title: &self.title, language: self.language, said, cited, chunk: &self.chunk }
    }
}

impl<'a> JudgeRunner<'a> {
    /// A panel with models that can be reached as the options say; their calls are counted in `spending`.
    pub fn new(
        panel: Panel,
        options: &JudgeOptions,
        prompts: &'a Prompts,
        tokenizer: &'a Tokenizer,
        spending: Arc<Spending>,
    ) -> Result<Self> {
        let provider = Options {
            seed: options.seed,
            extra_body: options.extra_body.clone(),
            timeout: options.timeout,
            concurrency: options.concurrency,
            rates: options.rates,
            tokenizer: Some(tokenizer.clone()),
            address: options.address,
            ..Options::default()
        };
        let responses = Rc::new(if options.no_cache { ResponseCache::new(None) } else { crate::cache::responses() });
        let mut hosts = HashMap::new();
        for model in panel.models.iter().filter(|model| *model != BUILTIN_RULE) {
            let reader = Model::named(model, options.base_url.as_deref(), provider.clone())?;
            let host = CliHost::new(reader, Rc::clone(&responses)).charged_to(Arc::clone(&spending), model);
            hosts.insert(model.clone(), host);
        }
        Ok(Self { panel, prompts, tokenizer, hosts, concurrency: options.concurrency, spending })
    }

    /// Returns what the folder's calls have taken by now.
    pub fn taken(&self) -> Taken {
        self.spending.taken()
    }

    /// Makes the models of the panel keep to the limits of the server together with those of `readers` that are the
    /// same.
    pub fn beside(mut self, readers: &HashMap<String, CliHost>) -> Self {
        for (model, host) in &mut self.hosts {
            if let Some(reader) = readers.get(model) {
                host.share_limits_with(reader);
            }
        }
        self
    }

    /// Asks every member what has not been asked yet, and appends each verdict to the folder; the caller holds its lock.
    pub async fn run(&self, folder: &Path, pending: &PendingJudgements<'_>) -> Result<Session> {
        store::note_panel(folder, &self.panel)?;
        let mut judgements = Judgements::open(folder)?;
        let open = self.open(pending, &judgements);
        let (works, without_chunk) = works_of(pending, &open, self.panel.reference);
        let open: Vec<JudgementKey> =
            open.into_iter().filter(|key| works.contains_key(key.subject.item.as_str())).collect();
        let items: HashMap<&str, &Item> = pending.items.iter().map(|item| (item.id.as_str(), item)).collect();
        let records: HashMap<Subject, &Record> =
            pending.records.iter().map(|record| (Subject::from(&record.key), record)).collect();
        let progress = Progress::new("judgements", open.len()).with_spending(Arc::clone(&self.spending));
        let stop = Cell::new(false);
        let mut session = Session { without_chunk, ..Session::default() };
        let work = async {
            let mut judged = stream::iter(open.into_iter().take_while(|_| !stop.get()))
                .map(|key| {
                    let item = items[key.subject.item.as_str()];
                    let (record, work) = (records.get(&key.subject).copied(), &works[item.id.as_str()]);
                    let span =
                        info_span!("judgement", judge = key.judge.name(), model = key.judge_model, item = item.id);
                    self.judged(key, item, record, work).instrument(span)
                })
                .buffer_unordered(self.concurrency);
            while let Some(judgement) = judged.next().await {
                let Some(judgement) = judgement? else { continue };
                let failed = store::is_failed(&judgement);
                if let Verdict::Failed { error } = &judgement.verdict {
                    session.failed += 1;
                    *session.reasons.entry(error.clone()).or_default() += 1;
                }
                judgements.append(judgement)?;
                if failed { progress.tick_failed() } else { progress.tick() }
            }
            anyhow::Ok(())
        };
        let mut out_of_money = false;
        // The work first: what comes back when the money is out is still written down.
        tokio::select! {
            biased;
            result = work => result?,
            () = interrupt::watch(&stop) => {}
            () = self.spending.is_out() => out_of_money = true,
        }
        progress.finish();
        judgements.sync()?;
        (session.interrupted, session.out_of_money) = (stop.get(), out_of_money);
        Ok(session)
    }

    /// Returns what is still to be asked, the questions on an item together; first what costs nothing, as money may end
    /// before the rest.
    fn open(&self, pending: &PendingJudgements<'_>, judgements: &Judgements) -> Vec<JudgementKey> {
        let mut open = Vec::new();
        for (judge, subjects) in subjects_of(&self.panel, pending.items, pending.records) {
            for subject in subjects {
                for (model, vote) in self.panel.members_for(judge) {
                    let setup = self.panel.setup(judge, model);
                    let key =
                        JudgementKey { subject: subject.clone(), judge, judge_model: model.to_owned(), vote, setup };
                    if !judgements.is_done(&key) {
                        open.push(key);
                    }
                }
            }
        }
        open.sort();
        open.sort_by_key(|key| key.judge_model != BUILTIN_RULE);
        open
    }

    /// A judge's verdict; none if the end of the program keeps it from one.
    async fn judged(
        &self,
        key: JudgementKey,
        item: &Item,
        record: Option<&Record>,
        work: &Work,
    ) -> Result<Option<Judgement>> {
        let submission = work.submission(
            item,
            record.map_or(SubmittedAnswer::Nothing, |record| SubmittedAnswer::of(&record.outcome, &record.calls)),
            record.map(cited).unwrap_or_default(),
        );
        if key.judge_model == BUILTIN_RULE {
            let verdict = by_rule(key.judge, &submission).context("a panel asks the rule only what it can say")?;
            return Ok(Some(Judgement { key, verdict, calls: Vec::new(), blocked_tokens: None }));
        }
        let host = &self.hosts[&key.judge_model].repetition(key.vote, None);
        let response = ask(key.judge, host, self.settings(), &submission).await;
        if host.was_cut_off() {
            return Ok(None);
        }
        let response = response.with_context(|| format!("{} on item `{}`", key.judge.name(), item.id))?;
        let JudgeResponse { verdict, calls, blocked_tokens } = response;
        Ok(Some(Judgement { key, verdict, calls, blocked_tokens }))
    }
}

/// Returns what these judgements need to be told of their works.
fn works_of<'a>(
    pending: &PendingJudgements<'a>,
    judgements: &[JudgementKey],
    reference: Reference,
) -> (HashMap<&'a str, Work>, usize) {
    let wanted: HashSet<&str> = judgements.iter().map(|key| key.subject.item.as_str()).collect();
    let verified: HashSet<&str> =
        judgements.iter().filter(|key| key.judge == Judge::VerifyFacts).map(|key| key.subject.item.as_str()).collect();
    let items = pending.items.iter().filter(|item| wanted.contains(item.id.as_str()));
    works(items.map(|item| (item, verified.contains(item.id.as_str()))), &pending.books, pending.texts, reference)
}

/// Returns what the judges of these items are told of their works, the chunk of their key facts (or its whole book)
/// where it is needed, and how many items are left out because their chunk cannot be found, which is said.
pub fn works<'a>(
    items: impl Iterator<Item = (&'a Item, bool)>,
    all_books: &HashMap<&str, &Arc<Book>>,
    texts: &BookTexts,
    reference: Reference,
) -> (HashMap<&'a str, Work>, usize) {
    let (mut works, mut without_chunk) = (HashMap::new(), 0);
    for (item, needs_chunk) in items {
        let books: Vec<&Arc<Book>> =
            item.documents.iter().filter_map(|id| all_books.get(id.as_str()).copied()).collect();
        let mut chunk = String::new();
        if let Some(facts) = item.key_facts.as_ref().filter(|_| needs_chunk) {
            match chunk_of(facts, all_books, texts, reference) {
                Ok(text) => chunk = text,
                Err(why) => {
                    info!(
                        "item `{}`: the chunk of its key facts is not found, so its summaries are not judged: {why:#}",
                        item.id
                    );
                    without_chunk += 1;
                    continue;
                }
            }
        }
        let title = match books.as_slice() {
            [one] => one.title.clone(),
            _ => String::new(),
        };
        let language = books.first().map_or(Language::ENGLISH, |book| book.language);
        works.insert(item.id.as_str(), Work { title, language, chunk });
    }
    (works, without_chunk)
}

/// The text of the chunk that key facts are about, or of its whole book.
fn chunk_of(
    facts: &KeyFacts,
    books: &HashMap<&str, &Arc<Book>>,
    texts: &BookTexts,
    reference: Reference,
) -> Result<String> {
    let Some(book) = books.get(facts.document.as_str()) else {
        bail!("its document `{}` cannot be read", facts.document);
    };
    let open = texts.open(book)?;
    if reference == Reference::Book {
        return Ok(open.flow().text().to_owned());
    }
    let span = resolve_chunk(facts, &Locator::new(open.source()))?;
    let Some(flow) = open.flow().from_source(span) else { bail!("it is empty") };
    Ok(open.flow().text()[flow.range()].to_owned())
}
