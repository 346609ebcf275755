//! Writes one institution's row as a report: every fact once or more, among figures that distract.

use super::domain::{Domain, Scale, grouped};
use super::plan::{Flaw, Plan, plan, vary};
use super::rng::Rng;
use super::table::{Field, Month, Row, Value};

/// The report on `row` in Markdown, about `n_tokens` long, with its title.
///
/// Each figure of 2025 stands in a table, in prose or in both, in a unit drawn for each place. Some are given wrongly
/// and put right by a note of a later month; some meet an older estimate. Figures of 2023 and 2024, of parts of the
/// institution and of single events distract.
pub(super) fn write(domain: &Domain, row: &Row, rng: &mut Rng, n_tokens: usize) -> (String, String) {
    let title = rng.pick(domain.wording.titles).replace("{n}", row.text(Field::Name));
    let mut writer = Writer::new(domain, row, rng);
    let profile = writer.profile();
    let notes = writer.notes();
    let mut middle = vec![
        writer.figures(WORK, domain.wording.work_headings, domain.wording.work_remarks),
        writer.figures(MONEY, domain.wording.money_headings, domain.wording.money_remarks),
        writer.units(),
    ];
    if n_tokens > LONG || writer.rng.chance(35) {
        middle.push(writer.archive());
    }
    let outlook = writer.outlook();
    let n_bytes = n_tokens * domain.tenths_of_bytes_per_token / 10;
    let taken: usize = middle.iter().chain([&profile, &notes, &outlook]).map(String::len).sum();
    middle.push(writer.diary(n_bytes.saturating_sub(taken + title.len())));
    writer.rng.shuffle(&mut middle);

    let mut report = format!("# {title}\n");
    let notes_first = writer.rng.chance(20);
    let (first, last) = if notes_first { (notes, String::new()) } else { (String::new(), notes) };
    for section in [first, profile].iter().chain(&middle).chain([&outlook, &last]) {
        report.push_str(section);
    }
    (title, report)
}

/// Reports longer than this many tokens always look back on earlier years.
const LONG: usize = 2_500;
const WORK: &[Field] = &[Field::Places, Field::People, Field::Staff, Field::FirstRate, Field::SecondRate];
const MONEY: &[Field] = &[Field::Income, Field::Spending, Field::Reserve];

struct Writer<'a> {
    domain: &'a Domain,
    row: &'a Row,
    rng: &'a mut Rng,
    plans: Vec<(Field, Plan)>,
    /// Names of the parts, each once.
    parts: Vec<String>,
    anecdotes: Deck,
}

impl<'a> Writer<'a> {
    fn new(domain: &'a Domain, row: &'a Row, rng: &'a mut Rng) -> Self {
        let n_parts = rng.between(3, 6) as usize;
        let mut parts: Vec<String> = Vec::new();
        while parts.len() < n_parts {
            let part = (domain.unit_name)(rng);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let plans = plan(row, rng);
        let anecdotes = Deck::new(domain.wording.anecdotes.len());
        Self { domain, row, rng, plans, parts, anecdotes }
    }

    fn say(&self, value: &Value, scale: Scale) -> String {
        (self.domain.prose)(value, scale)
    }

    fn heading(&mut self, patterns: &[&str]) -> String {
        format!("\n## {}\n", self.rng.pick(patterns))
    }

    /// Who and where: a few facts in prose, others in a table.
    fn profile(&mut self) -> String {
        let words = &self.domain.wording;
        let facts = [
            (Field::Region, words.region, other(self.domain.regions, self.row.text(Field::Region), self.rng)),
            (Field::Sort, words.sort, other(self.domain.sorts, self.row.text(Field::Sort), self.rng)),
            (Field::Founded, words.founded, self.month_near(Field::Founded)),
            (Field::Inspected, words.inspected, self.month_near(Field::Inspected)),
        ];
        let mut sentences = vec![self.rng.pick(words.openings).to_owned()];
        let mut entries = vec![(self.domain.title(Field::Name), self.row.text(Field::Name).to_owned())];
        let with_table = self.rng.chance(60);
        for (field, patterns, distraction) in facts {
            let value = self.say(self.row.get(field), Scale::Whole);
            if with_table && self.rng.chance(50) {
                entries.push((self.domain.title(field), value));
            } else {
                let pattern = self.rng.pick(patterns);
                sentences.push(fill(pattern, &[("n", &self.row.short_name), ("v", &value), ("o", &distraction)]));
            }
        }
        self.rng.shuffle(&mut sentences[1..]);
        let mut out = self.heading(words.profile_headings);
        out.push_str(&paragraphs(&sentences, words.gap, self.rng));
        if entries.len() > 1 {
            out.push('\n');
            out.push_str(&table_head(&words.profile_headers));
            for (title, entry) in entries {
                out.push_str(&format!("| {title} | {entry} |\n"));
            }
        }
        out
    }

    /// A date near a fact's that is not the fact: after a foundation, before an inspection.
    fn month_near(&mut self, field: Field) -> String {
        let Value::Month(month) = *self.row.get(field) else { return String::new() };
        let month = match field {
            Field::Founded => month.plus(self.rng.between(4, 70) as u32),
            _ => month.minus(self.rng.between(17, 55) as u32),
        };
        self.say(&Value::Month(month), Scale::Whole)
    }

    /// A section of figures: sentences, and a table of three years.
    fn figures(&mut self, fields: &[Field], headings: &[&str], remarks: &[&str]) -> String {
        let words = &self.domain.wording;
        let mut groups: Vec<String> = vec![self.rng.pick(remarks).to_owned()];
        let mut lines = Vec::new();
        for idx in 0..self.plans.len() {
            let (field, plan) = &self.plans[idx];
            if !fields.contains(field) {
                continue;
            }
            if plan.in_prose {
                let patterns = words.figures[idx];
                let [_, before, now] = &plan.printed;
                let (now, before) = (self.say(now, plan.prose_scale), self.say(before, plan.prose_scale));
                let mut text = fill(self.rng.pick(patterns), &[("v", &now), ("p", &before)]);
                if let Flaw::Provisional(estimate) = &plan.flaw {
                    let estimate = self.say(estimate, plan.prose_scale);
                    let month = Month::draw(self.rng, Month::new(2026, 1), Month::new(2026, 3));
                    let month = self.say(&Value::Month(month), Scale::Whole);
                    let slots = [("l", self.domain.title(*field)), ("w", &*estimate), ("d", &*month)];
                    text.push_str(words.gap);
                    text.push_str(&fill(self.rng.pick(words.provisional), &slots));
                }
                groups.push(text);
            }
            if plan.in_table {
                let column = &self.domain.columns[*field as usize];
                lines.push(table_line(self.domain, column.title, column.unit, &plan.printed, plan.table_scale));
            }
        }
        if fields == MONEY {
            lines.extend(self.side_costs());
        }
        self.rng.shuffle(&mut groups);
        self.rng.shuffle(&mut lines);
        let prose = paragraphs(&groups, words.gap, self.rng);
        let table = if lines.is_empty() {
            String::new()
        } else {
            let head = [words.indicator_headers[0], words.indicator_headers[1], "2023", "2024", "2025"];
            format!("\n{}\n\n{}{}", self.rng.pick(words.table_intros), table_head(&head), lines.concat())
        };
        let heading = self.heading(headings);
        if self.rng.chance(50) { heading + &prose + &table } else { heading + &table + &prose }
    }

    /// Lines of the money table that no question asks about.
    fn side_costs(&mut self) -> Vec<String> {
        let mut costs = self.domain.wording.side_costs.to_vec();
        self.rng.shuffle(&mut costs);
        costs.truncate(self.rng.between(2, 3) as usize);
        costs
            .into_iter()
            .map(|(title, thousandths)| {
                let now = self.row.get(Field::Income);
                let now = now.with_number(now.number() / 1_000 * thousandths / 10_000 * 10_000 + 10_000);
                let years = [vary(&now, self.rng), vary(&now, self.rng), now];
                table_line(self.domain, title, "", &years, Scale::Thousands)
            })
            .collect()
    }

    /// The parts of the institution; their places and their spending add up to the whole.
    fn units(&mut self) -> String {
        let words = &self.domain.wording;
        let places = split(self.row.number(Field::Places), self.parts.len(), self.rng);
        let spending = self.row.number(Field::Spending) / self.domain.part_spending_unit;
        let spending = split(spending, self.parts.len(), self.rng);
        let mut out = self.heading(words.unit_headings);
        out.push_str(&format!("\n{}\n\n{}", self.rng.pick(words.unit_intros), table_head(&words.unit_headers)));
        for ((part, places), spending) in self.parts.iter().zip(places).zip(spending) {
            let year = self.rng.between(1931, 2016);
            out.push_str(&format!("| {part} | {year} | {} | {} |\n", grouped(places), grouped(spending)));
        }
        out
    }

    /// Figures of 2015 to 2022.
    fn archive(&mut self) -> String {
        let words = &self.domain.wording;
        let mut fields = Field::FIGURES;
        self.rng.shuffle(&mut fields);
        let fields = &fields[..4];
        let titles = fields.iter().map(|field| match (self.domain.cell)(self.row.get(*field), Scale::Thousands).1 {
            "" => self.domain.title(*field).to_owned(),
            unit => format!("{} ({unit})", self.domain.title(*field)),
        });
        let head: Vec<String> = std::iter::once(words.year_header.to_owned()).chain(titles).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let mut out = self.heading(words.archive_headings);
        out.push_str(&format!("\n{}\n\n{}", self.rng.pick(words.archive_intros), table_head(&head)));
        for year in 2015..=2022 {
            let cells = fields.iter().map(|field| {
                let value = vary(self.row.get(*field), self.rng);
                (self.domain.cell)(&value, Scale::Thousands).0
            });
            let cells: Vec<String> = cells.collect();
            out.push_str(&format!("| {year} | {} |\n", cells.join(" | ")));
        }
        out
    }

    /// Events of the year, as many as fill `n_bytes`, at least three; by month once they are many.
    fn diary(&mut self, n_bytes: usize) -> String {
        let words = &self.domain.wording;
        let mut entries: Vec<(Month, String)> = Vec::new();
        let mut taken = 0;
        while entries.len() < 3 || taken < n_bytes {
            let month = Month::draw(self.rng, Month::new(2025, 1), Month::new(2025, 12));
            let pattern = words.anecdotes[self.anecdotes.draw(self.rng)];
            let entry = self.event(pattern, month);
            taken += entry.len() + 2;
            entries.push((month, entry));
        }
        let mut out = self.heading(words.diary_headings);
        if entries.len() < 8 {
            out.push('\n');
            for (_, entry) in entries {
                out.push_str(&format!("- {entry}\n"));
            }
            return out;
        }
        entries.sort_by_key(|(month, _)| *month);
        if entries.len() < 24 {
            let entries: Vec<String> = entries.into_iter().map(|(_, entry)| entry).collect();
            return out + &paragraphs(&entries, words.gap, self.rng);
        }
        let mut open = None;
        for (month, entry) in entries {
            if open != Some(month) {
                out.push_str(&format!("\n### {}\n", self.say(&Value::Month(month), Scale::Whole)));
                open = Some(month);
            }
            out.push_str(&format!("\n{entry}\n"));
        }
        out
    }

    fn outlook(&mut self) -> String {
        let words = &self.domain.wording;
        let mut patterns = words.outlooks.to_vec();
        self.rng.shuffle(&mut patterns);
        let month = Month::draw(self.rng, Month::new(2026, 9), Month::new(2026, 12));
        let sentences: Vec<String> = patterns[..3].iter().map(|pattern| self.event(pattern, month)).collect();
        self.heading(words.outlook_headings) + "\n" + &sentences.join(words.gap) + "\n"
    }

    /// Notes of later months: what they say counts. Nothing if there is nothing to put right.
    fn notes(&mut self) -> String {
        let words = &self.domain.wording;
        let mut notes = Vec::new();
        for (field, plan) in &self.plans {
            let (patterns, right, wrong) = match &plan.flaw {
                Flaw::Erratum => (words.errata, self.row.get(*field), &plan.printed[2]),
                Flaw::Restated(right) => (words.restated, right, &plan.printed[1]),
                Flaw::None | Flaw::Provisional(_) => continue,
            };
            let month = Month::draw(self.rng, Month::new(2026, 6), Month::new(2026, 10));
            let slots = [
                ("l", self.domain.title(*field).to_owned()),
                ("v", self.say(right, Scale::Whole)),
                ("w", self.say(wrong, plan.prose_scale)),
                ("d", self.say(&Value::Month(month), Scale::Whole)),
                ("y", "2024".to_owned()),
            ];
            let slots: Vec<(&str, &str)> = slots.iter().map(|(slot, text)| (*slot, text.as_str())).collect();
            notes.push((month, fill(self.rng.pick(patterns), &slots)));
        }
        if notes.is_empty() {
            return String::new();
        }
        notes.sort_by_key(|(month, _)| *month);
        let notes: Vec<String> = notes.into_iter().map(|(_, note)| format!("\n{note}\n")).collect();
        self.heading(words.note_headings) + &notes.concat()
    }

    fn event(&mut self, pattern: &str, month: Month) -> String {
        let part = self.parts[self.rng.index(self.parts.len())].clone();
        let person = (self.domain.person)(self.rng);
        let sum = Value::Money(self.rng.between(19, 389) * 100);
        let small = Value::Money(self.rng.between(12, 79) * 10);
        let count = Value::Count(self.rng.between(3, 40));
        let slots = [
            ("u", part),
            ("t", person),
            ("k", self.say(&count, Scale::Whole)),
            ("e", self.say(&sum, Scale::Whole)),
            ("s", self.say(&small, Scale::Whole)),
            ("d", self.say(&Value::Month(month), Scale::Whole)),
        ];
        let slots: Vec<(&str, &str)> = slots.iter().map(|(slot, text)| (*slot, text.as_str())).collect();
        fill(pattern, &slots)
    }
}

/// One of `options` that is not `chosen`.
fn other(options: &[&str], chosen: &str, rng: &mut Rng) -> String {
    let others: Vec<&str> = options.iter().copied().filter(|option| *option != chosen).collect();
    rng.pick(&others).to_owned()
}

/// `total` in `n` parts of at least one each.
fn split(total: u64, n: usize, rng: &mut Rng) -> Vec<u64> {
    let weights: Vec<u64> = (0..n).map(|_| rng.between(20, 100)).collect();
    let sum: u64 = weights.iter().sum();
    let mut parts: Vec<u64> = weights.iter().map(|weight| (total * weight / sum).max(1)).collect();
    let rest = total.saturating_sub(parts[1..].iter().sum());
    parts[0] = rest;
    parts
}

fn table_head(headers: &[&str]) -> String {
    format!("| {} |\n|{}\n", headers.join(" | "), " --- |".repeat(headers.len()))
}

/// One indicator over three years; `things` is the unit of a count.
fn table_line(domain: &Domain, title: &str, things: &str, years: &[Value; 3], scale: Scale) -> String {
    let cells: Vec<(String, &str)> = years.iter().map(|value| (domain.cell)(value, scale)).collect();
    let numbers: Vec<&str> = cells.iter().map(|(number, _)| number.as_str()).collect();
    let unit = if cells[0].1.is_empty() { things } else { cells[0].1 };
    format!("| {title} | {unit} | {} |\n", numbers.join(" | "))
}

/// Sentences in paragraphs of one to three.
fn paragraphs(sentences: &[String], gap: &str, rng: &mut Rng) -> String {
    let mut out = String::new();
    let mut rest = sentences;
    while !rest.is_empty() {
        let n = (rng.between(1, 3) as usize).min(rest.len());
        out.push_str(&format!("\n{}\n", rest[..n].join(gap)));
        rest = &rest[n..];
    }
    out
}

/// Puts values into the slots of a pattern and a capital at the start of each sentence.
fn fill(pattern: &str, slots: &[(&str, &str)]) -> String {
    let mut text = pattern.to_owned();
    for (slot, value) in slots {
        text = text.replace(&format!("{{{slot}}}"), value);
    }
    let mut starts_sentence = true;
    let mut ended = false;
    let capitalize = |c: char| {
        let c = if starts_sentence { c.to_ascii_uppercase() } else { c };
        starts_sentence = ended && c == ' ';
        ended = matches!(c, '.' | '?' | '!');
        c
    };
    text.chars().map(capitalize).collect()
}

/// Patterns dealt without repetition until all have been used.
struct Deck {
    n: usize,
    order: Vec<usize>,
}

impl Deck {
    fn new(n: usize) -> Self {
        Self { n, order: Vec::new() }
    }

    fn draw(&mut self, rng: &mut Rng) -> usize {
        if self.order.is_empty() {
            self.order = (0..self.n).collect();
            rng.shuffle(&mut self.order);
        }
        self.order.pop().expect("just filled")
    }
}
