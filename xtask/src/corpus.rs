//! `cargo xtask corpus`: a corpus of any length, to measure with. Reports of cooperatives, each with its facts among
//! sentences that say nothing; questions over all of them, with gold answers computed from the facts.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder to write; must be new or empty.
    out: PathBuf,
    /// Length of the whole in cl100k tokens, estimated from bytes: 128K, 10M.
    #[arg(long, value_name = "N", value_parser = amount)]
    tokens: usize,
    /// Length of a report.
    #[arg(long, value_name = "N", value_parser = amount, default_value = "12500")]
    tokens_per_document: usize,
    /// Seed of the random draws; the same seed gives the same bytes.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Bytes per token of these reports, in tenths.
const TENTHS_OF_BYTES_PER_TOKEN: usize = 40;
const REGIONS: [&str; 4] = ["Quarrand", "Northfen", "Aldermoor", "Serrick"];
const NAMES: [&str; 10] =
    ["Velemere", "Torvennow", "Karelen", "Umberow", "Boserdl", "Linholt", "Neswick", "Ostead", "Percombe", "Yarford"];
const WHO: [&str; 6] = ["The board", "A tenant", "The caretaker", "Our architect", "The treasurer", "A roofer"];
const DID: [&str; 6] = ["looked at", "wrote about", "painted", "paid for", "complained of", "repaired"];
const WHAT: [&str; 8] =
    ["stairs", "playground", "lift", "boiler", "bicycle shed", "attic", "garden fence", "entrance hall"];

/// The facts that a report states.
struct Facts {
    name: String,
    region: &'static str,
    members: usize,
    income: usize,
}

/// Parses a whole number, with or without K or M behind it.
fn amount(text: &str) -> Result<usize, String> {
    let (digits, unit) = match (text.strip_suffix(['K', 'k']), text.strip_suffix(['M', 'm'])) {
        (Some(digits), _) => (digits, 1_000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (text, 1),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    number.filter(|&number| number > 0).ok_or_else(|| "expected a number such as 12500, 128K or 10M".to_owned())
}

/// A SplitMix64 generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }

    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }
}

/// Writes reports, documents.jsonl, items.jsonl and the facts as table.csv.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let out = &args.out;
    let n = args.tokens / args.tokens_per_document;
    ensure!(n >= 2, "--tokens {} is less than two reports of {}", args.tokens, args.tokens_per_document);
    let is_empty = fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
    ensure!(is_empty, "{} is not empty: name a new folder", out.display());
    fs::create_dir_all(out.join("reports")).with_context(|| out.display().to_string())?;
    let write = |name: &str, text: String| {
        fs::write(out.join(name), text).with_context(|| format!("{name} in {}", out.display()))
    };

    let mut random = Random(args.seed);
    let mut corpus = Vec::with_capacity(n);
    let (mut documents, mut ids, mut table) = (String::new(), Vec::new(), "name,region,members,income\n".to_owned());
    for at in 0..n {
        let name = format!("{} {} Cooperative", NAMES[at % NAMES.len()], at / NAMES.len() + 1);
        let facts = Facts {
            name,
            region: random.pick(&REGIONS),
            members: 80 + random.below(4_000),
            income: 300_000 + random.below(9_000_000),
        };
        let (id, path) = (format!("report-{:05}", at + 1), format!("reports/{:05}.md", at + 1));
        write(&path, report(&mut random, &facts, args.tokens_per_document * TENTHS_OF_BYTES_PER_TOKEN / 10))?;
        documents += &format!("{}\n", json!({"id": id, "title": facts.name, "language": "en", "path": path}));
        table += &format!("{},{},{},{}\n", facts.name, facts.region, facts.members, facts.income);
        ids.push(id);
        corpus.push(facts);
    }
    let mut items = String::new();
    for (at, (difficulty, question, gold)) in (1..).zip(questions(&corpus)) {
        let labels = json!({"domain": "housing_en", "difficulty": difficulty});
        let item = json!({"id": format!("housing_en_{at}"), "documents": ids, "question": question, "task": "generative",
            "answers": [gold], "labels": labels});
        items += &format!("{item}\n");
    }
    write("table.csv", table)?;
    write("items.jsonl", items)?;
    write("documents.jsonl", documents)?;
    println!("{}: {n} reports", out.display());
    Ok(true)
}

/// A report of about `n_bytes`, its facts spread over it.
fn report(random: &mut Random, facts: &Facts, n_bytes: usize) -> String {
    let Facts { name, region, members, income } = facts;
    let stated = [
        format!("{name} lies in {region}. "),
        format!("At the end of 2025 {name} had {members} members. "),
        format!("In 2025 the income of {name} was {income} euros. "),
    ];
    let mut places: Vec<usize> = stated.iter().map(|_| random.below(n_bytes)).collect();
    places.sort_unstable();
    let mut left = places.iter().zip(&stated).peekable();
    let mut text = format!("# {name}: report for 2025\n\n");
    while text.len() < n_bytes || left.peek().is_some() {
        while let Some((_, fact)) = left.next_if(|(place, _)| **place <= text.len()) {
            text += fact;
        }
        let (who, did, what) = (random.pick(&WHO), random.pick(&DID), random.pick(&WHAT));
        let end = if random.below(6) == 0 { "\n\n" } else { " " };
        text += &format!("{who} {did} the {what} of house {}.{end}", random.below(400));
    }
    text
}

/// The questions: difficulty, question, gold answer.
fn questions(corpus: &[Facts]) -> Vec<(&'static str, String, String)> {
    let names = |keep: &dyn Fn(&Facts) -> bool| {
        json!(corpus.iter().filter(|facts| keep(facts)).map(|facts| &facts.name).collect::<Vec<_>>()).to_string()
    };
    let sum: usize = corpus.iter().map(|facts| facts.income).sum();
    let most = corpus.iter().map(|facts| facts.income).max().unwrap_or_default();
    let mean = format!("{:.2}", sum as f64 / corpus.len() as f64);
    let mut asked = vec![
        ("easy", "Which cooperatives had the highest income in 2025?".to_owned(), names(&|facts| facts.income == most)),
        ("easy", "What was the income of all cooperatives together in 2025, in euros?".to_owned(), sum.to_string()),
        ("medium", "What was the mean income of a cooperative in 2025, in euros?".to_owned(), mean),
    ];
    for region in REGIONS {
        let inside = corpus.iter().filter(|facts| facts.region == region);
        let members: usize = inside.map(|facts| facts.members).sum();
        let large = names(&|facts| facts.region == region && facts.members > 3_500);
        asked.push(("medium", format!("List all cooperatives in {region} with more than 3,500 members."), large));
        asked.push((
            "hard",
            format!("How many members do the cooperatives in {region} have together?"),
            members.to_string(),
        ));
    }
    asked
}
