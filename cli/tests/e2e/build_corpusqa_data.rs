//! `closeread build corpusqa` on documents of the shared data: country profiles and filings, whose tables are made here by rules.

use crate::corpus_truth::{Plain, json_file, lines};
use crate::support::{Sandbox, shared_data};
use serde_json::Value;

/// The texts of nested fields, a line each.
fn flat(value: &Value, path: &str, into: &mut String) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let inner = if name == "text" { path.to_owned() } else { format!("{path} {name}").trim().to_owned() };
            flat(value, &inner, into);
        }),
        Value::String(text) => *into += &format!("{path}: {text}\n\n"),
        other => *into += &format!("{path}: {other}\n\n"),
    }
}

fn quoted(cell: &str) -> String {
    format!("\"{}\"", cell.replace('"', "\"\""))
}

/// The digits and points before the first letter of a figure, as the country's page prints it.
fn bare(text: &str) -> String {
    let number: String = text.chars().take_while(|c| !c.is_alphabetic() && !matches!(c, '%' | '(')).collect();
    let number: f64 = number.replace(',', "").trim().parse().unwrap_or_else(|_| panic!("{text}"));
    let millions = if text.contains("million") { 1e6 } else { 1.0 };
    format!("{}", (number * millions * 1e6).round() / 1e6)
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_country_profiles_become_questions_whose_answers_are_computed_again() {
    let data = shared_data();
    let sandbox = Sandbox::new();
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let mut table =
        "Country,Area (sq km),Population,Population growth rate (%),Government type,Independence,document\n".to_owned();
    let titles = ["Area", "Population", "Population growth rate", "Government type", "Independence"];
    let (mut names, mut cells): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), vec![Vec::new(); titles.len()]);
    let mut files: Vec<_> =
        std::fs::read_dir(data.join("corpora/factbook-africa")).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files {
        let profile = json_file(&file);
        let text = |path: &str| profile.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let stated = [
            text("/Government/Country name/conventional short form/text"),
            text("/Geography/Area/total /text").or(text("/Geography/Area/total/text")),
            text("/People and Society/Population/total/text"),
            text("/People and Society/Population growth rate/text"),
            text("/Government/Government type/text"),
            text("/Government/Independence/text"),
        ];
        let [Some(name), Some(area), Some(population), Some(growth), Some(government), Some(independence)] = stated
        else {
            continue;
        };
        // Only pages that give one day: `5 July 1962 (from France)`.
        let words: Vec<&str> = independence.split(' ').collect();
        let month = words.get(1).and_then(|word| MONTHS.iter().position(|month| month == word));
        let (Some(month), Some(Ok(year))) = (month, words.get(2).map(|word| word.parse::<u16>())) else { continue };
        if independence.matches("19").count() != 1 || independence.contains([';', '<']) || name == "none" {
            continue;
        }
        let id = file.file_stem().unwrap().to_string_lossy().into_owned();
        let mut page = format!("# {name}\n\n");
        flat(&profile, "", &mut page);
        sandbox.write(&format!("countries/{id}.md"), page);
        let row = [&name, &area, &population, &growth, &government, &independence, &id];
        table += &format!("{}\n", row.map(|cell| quoted(cell)).join(","));
        names.push(name);
        let computed = [bare(&area), bare(&population), bare(&growth), government, format!("{year}-{:02}", month + 1)];
        for (column, cell) in cells.iter_mut().zip(computed) {
            column.push(cell);
        }
    }
    assert!(names.len() > 25, "{} profiles have all fields", names.len());
    sandbox.write("countries.csv", table);
    let build =
        ["build", "corpusqa", "--documents", "countries", "--table", "countries.csv", "--entity", "country,countries"];
    let sets = [
        "--least-tokens",
        "3000",
        "--least-table-rows",
        "0",
        "--lengths",
        "128K,all",
        "--coverage",
        "80",
        "--questions",
        "60",
    ];
    let report = sandbox.run(&[&build[..], &sets, &["--out", "f", "--json"]].concat()).exits(0).json();
    assert_eq!(report["funnel"][1]["kept"], names.len(), "{}", report["funnel"]);
    let items = lines(&sandbox, "f/items.jsonl");
    assert!(items.len() > 60, "{} items", items.len());
    let columns = titles.iter().map(|title| (*title).to_owned()).zip(cells).collect();
    let plain = Plain { names, columns, one: "country".to_owned(), many: "countries".to_owned() };
    plain.confirms(&items, &json_file(&sandbox.path("f/sets.json")));
    sandbox.run(&["build", "corpusqa", "--out", "f", "--check-sql"]).exits(0);
    let run = [
        "run",
        "--benchmark",
        "f",
        "--method",
        "corpus-rag",
        "--retriever",
        "bm25",
        "--budget",
        "2000",
        "--limit",
        "2",
        "--out",
        "r",
    ];
    sandbox.run(&run).exits(0);
}

#[test]
#[ignore = "needs CLOSEREAD_DATA"]
fn needs_data_filings_become_questions_by_a_rule_without_a_model() {
    let data = shared_data();
    let sandbox = Sandbox::new();
    let mut table = "Filing,Employees,State,Year end\n".to_owned();
    let (mut names, mut cells): (Vec<String>, [Vec<String>; 3]) = (Vec::new(), Default::default());
    let mut files: Vec<_> =
        std::fs::read_dir(data.join("corpora/sec-10k/items")).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    for file in files {
        let filing = json_file(&file);
        let mut page = String::new();
        flat(&filing, "", &mut page);
        // The rule: `employed approximately 166,000 people`.
        let said = page.split("employed ").skip(1).find_map(|rest| {
            let rest = rest.strip_prefix("approximately ").unwrap_or(rest);
            let (number, rest) = rest.split_once(' ')?;
            let counts = number.replace(',', "").parse::<u32>().is_ok()
                && (rest.starts_with("people") || rest.starts_with("persons"));
            counts.then(|| number.to_owned())
        });
        let field = |name: &str| filing[name].as_str().unwrap_or_default().to_owned();
        let (company, end, state) = (field("company"), field("period_of_report"), field("state_of_inc"));
        let Some(said) = said else { continue };
        let name = format!("{} {}", company.split_whitespace().take(2).collect::<Vec<_>>().join(" "), &end[..4]);
        sandbox.write(&format!("filings/{name}.md"), page);
        table += &format!("{},{},{state},{end}\n", quoted(&name), quoted(&said));
        names.push(name);
        for (column, cell) in cells.iter_mut().zip([said.replace(',', ""), state, end[..7].to_owned()]) {
            column.push(cell);
        }
    }
    assert!(names.len() >= 8, "{names:?}");
    sandbox.write("filings.csv", table);
    let build = ["build", "corpusqa", "--documents", "filings", "--table", "filings.csv", "--entity", "filing,filings"];
    let sets = [
        "--least-density",
        "1",
        "--least-table-rows",
        "0",
        "--lengths",
        "all",
        "--questions",
        "30",
        "--domain",
        "financial_en",
    ];
    sandbox.run(&[&build[..], &sets, &["--out", "f", "--json"]].concat()).exits(0);
    let items = lines(&sandbox, "f/items.jsonl");
    assert!(items.len() > 8, "{} items", items.len());
    let columns = ["Employees", "State", "Year end"].map(str::to_owned).into_iter().zip(cells).collect();
    let plain = Plain { names, columns, one: "filing".to_owned(), many: "filings".to_owned() };
    plain.confirms(&items, &json_file(&sandbox.path("f/sets.json")));
}
