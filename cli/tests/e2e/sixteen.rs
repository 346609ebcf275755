//! Sixteen configurations played by a scripted host: the papers' tables from their run folders, cell by cell, against the
//! scripts of `tests/papers`, which compute them from the records by the papers' definitions.

use crate::http::{Answered, Asked, HttpServer, ok};
use crate::support::Sandbox;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Sentences of each book, and the windows of the configurations: from one that holds few books to one that holds all.
const BOOKS: [usize; 8] = [4, 10, 20, 35, 60, 90, 130, 180];
const WINDOWS: [usize; 4] = [1_300, 1_700, 3_000, 100_000];
const TYPES: [&str; 3] = ["Location", "Character", "Reason"];

/// Books with three items each, made by `item` of book, number and id.
fn benchmark(sandbox: &Sandbox, item: impl Fn(usize, usize, &str) -> Value) {
    let (mut documents, mut items) = (String::new(), String::new());
    for (book, n) in BOOKS.into_iter().enumerate() {
        let text: Vec<String> = (0..n).map(|line| format!("In room {line} of house {book} lay a stone.")).collect();
        let (id, title) = (format!("house-{book}"), format!("House {book}"));
        documents += &format!("{}\n", json!({"id": id, "title": title, "language": "en", "text": text.join(" ")}));
        for number in 0..TYPES.len() {
            let id = format!("h{book}-{number}");
            let mut made = item(book, number, &id);
            made["documents"] = json!([format!("house-{book}")]);
            made["question"] = json!(format!("Case {id}: what opens the door?"));
            made["id"] = json!(id);
            items += &format!("{made}\n");
        }
    }
    sandbox.write("houses/documents.jsonl", documents);
    sandbox.write("houses/items.jsonl", items);
}

/// The same number for the same words, below 100.
fn dice(words: &[&str]) -> u32 {
    let bytes = words.iter().flat_map(|word| word.bytes());
    bytes.fold(2_166_136_261_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619)) / 7 % 100
}

fn said(text: &str, finish: &str) -> Answered {
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 5});
    ok(&json!({"choices": [{"message": {"content": text}, "finish_reason": finish}], "usage": usage}))
}

/// Right or wrong in a form, or without it, cut short, blocked, failed.
fn ended(thrown: u32, right: &str, wrong: &str) -> Answered {
    match thrown {
        0..50 => said(right, "stop"),
        50..65 => said(wrong, "stop"),
        65..75 => said("", "content_filter"),
        75..82 => said("Let me think about this stone", "length"),
        82..88 => ("400 Bad Request", Vec::new(), json!({"error": {"message": "no"}}).to_string()),
        _ => said("It is a stone, I would say.", "stop"),
    }
}

/// Novels of sentences with 12 tokens each, with questions in both settings whose evidence is sentences of theirs: two short
/// ones, one of 65,000 to 100,000 tokens and a longer one.
fn novels(sandbox: &Sandbox) {
    const SENTENCES: [usize; 4] = [40, 90, 6_000, 9_500];
    const ASPECTS: [&str; 7] = ["times", "meaning", "span", "setting", "relation", "character", "plot"];
    let sentence = |line: usize| format!("In room {} of wing {} lay a stone.", line % 1_000, line / 1_000);
    let (mut documents, mut items) = (String::new(), String::new());
    for (book, n) in SENTENCES.into_iter().enumerate() {
        let id = format!("house-{book}");
        let text: Vec<String> = (0..n).map(sentence).collect();
        documents += &format!("{}\n", json!({"id": id, "title": id, "language": "en", "text": text.join(" ")}));
        for number in 0..14 {
            let item = format!("h{book}-{number}");
            let place = |piece: u32| dice(&[&item, &piece.to_string()]) as usize * n / 100;
            let evidence: Vec<Value> =
                (0..=number as u32 % 3).map(|piece| json!({"quote": sentence(place(piece))})).collect();
            let complexity = ["detail", "single-hop", "multi-hop"][number % 3];
            let rights = if book % 2 == 0 { "public-domain" } else { "copyrighted" };
            let labels = json!({"complexity": complexity, "aspect": ASPECTS[number % 7], "rights": rights});
            items += &format!(
                "{}\n",
                json!({
                    "id": item, "documents": [id], "task": "generative", "question": format!("Case {item}: what opens the door?"),
                    "answers": [format!("key of {item}")], "options": ["a key", "a stone", "a word", "a bell"],
                    "correct": number % 4, "evidence": evidence, "labels": labels,
                })
            );
        }
    }
    sandbox.write("houses/documents.jsonl", documents);
    sandbox.write("houses/items.jsonl", items);
}

/// The lines of the numbered list behind the last of these words: `1. ...` or `[1] ...`.
fn numbered<'p>(prompt: &'p str, behind: &str, open: &str, close: &str) -> Vec<&'p str> {
    let list = prompt.rsplit(behind).next().unwrap_or_default();
    let numbers = (1..).map_while(|n: usize| list.split(&format!("\n{open}{n}{close} ")).nth(1));
    numbers.map(|rest| rest.lines().next().unwrap_or_default()).collect()
}

/// A request: its model, the user's first message, its item, and whether that is a judge's.
struct Request {
    model: String,
    first: String,
    item: String,
    turns: usize,
    is_judge: bool,
}

impl Request {
    fn of(asked: &Asked) -> Self {
        let request = asked.json();
        let messages = request["messages"].as_array().unwrap();
        let of_user = messages.iter().find(|message| message["role"] == "user").unwrap();
        let first = of_user["content"].as_str().unwrap().to_owned();
        let item = first.split("Case ").nth(1).map_or("", |rest| rest.split(':').next().unwrap()).to_owned();
        let turns = messages.iter().filter(|message| message["role"] == "assistant").count();
        let model = request["model"].as_str().unwrap().to_owned();
        Self { is_judge: model == "judge", model, first, item, turns }
    }
}

/// Runs the benchmark in sixteen configurations and holds the paper's report against its script.
fn check(
    paper: &str,
    benchmark: &str,
    more: &[&str],
    sandbox: &Sandbox,
    play: impl FnMut(&Asked) -> Answered + Send + 'static,
) {
    let url = format!("{}/v1", HttpServer::start(play).url);
    let mut runs = Vec::new();
    for (n, window) in WINDOWS.iter().flat_map(|window| [window; 4]).enumerate() {
        let (name, reasoning) = (format!("c{n}"), if n % 2 == 0 { "off" } else { "high" });
        let (model, window) = (format!("openai-compatible/m{n}"), window.to_string());
        let fixed = ["run", "--benchmark", benchmark, "--data", "houses", "--retriever", "bm25", "--no-cache"];
        let in_order = ["--concurrency", "1"];
        let asked = ["--base-url", &url, "--model", &model, "--max-output-tokens", "1000", "--reasoning", reasoning];
        let how = ["--context-window", &window, "--name", &name, "--out", &name, "--judge-base-url", &url];
        let ended = sandbox.run(&[&fixed[..], &in_order, &asked, &how, more].concat());
        assert!(ended.err().contains("run folder"), "{}", ended.err());
        runs.push(name);
    }
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let report = sandbox.run(&[&["report"][..], &runs, &["--paper", paper, "--json"]].concat()).json();
    sandbox.write("report.json", report.to_string());
    let script = format!("../tests/papers/{}.py", paper.replace('-', "_"));
    let mut check = Command::new("python3");
    check.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script)).env("PYTHONDONTWRITEBYTECODE", "1");
    check.arg(sandbox.path("report.json")).args(runs.iter().map(|run| sandbox.path(run)));
    let checked = check.output().unwrap();
    let (said, failed) = (String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
    assert!(checked.status.success() && said.contains("cells agree"), "{said}\n{failed}");
    documented(paper, sandbox);
}

/// Holds what each command prints that the paper's page has below `## Scripted runs`; `UPDATE_EXPECT=1` writes it there.
fn documented(paper: &str, sandbox: &Sandbox) {
    const OPEN: &str = "```console\n$ closeread ";
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/papers/{paper}.md"));
    let text = std::fs::read_to_string(&page).unwrap();
    let Some((head, rest)) = text.split_once("\n## Scripted runs\n") else { return };
    let (section, tail) = rest.split_once("\n## ").expect("another section follows");
    let mut blocks = section.split(OPEN);
    let mut written = blocks.next().unwrap().to_owned();
    for block in blocks {
        let (command, after) = (block.lines().next().unwrap(), block.split_once("\n```\n").unwrap().1);
        let args: Vec<&str> = command.split(' ').collect();
        let printed = sandbox.run(&args).exits(0).out();
        written += &format!("{OPEN}{command}\n{}\n```\n{after}", printed.trim_end());
    }
    let written = format!("{head}\n## Scripted runs\n{written}\n## {tail}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&page, written).unwrap();
    } else {
        assert!(text == written, "{} has other output: run this test with UPDATE_EXPECT=1", page.display());
    }
}

#[test]
#[ignore = "needs python3"]
fn needs_python_sagascale_in_sixteen_configurations_comes_out_as_computed_apart() {
    let sandbox = Sandbox::new();
    benchmark(
        &sandbox,
        |_, number, id| json!({"task": "generative", "answers": [format!("key of {id}")], "labels": {"question_type": TYPES[number]}}),
    );
    let play = |asked: &Asked| {
        let Request { model, first, item, turns, is_judge } = Request::of(asked);
        if is_judge {
            let right = first.rsplit("Answer of the model:").next().unwrap().contains("key of");
            return said(if right { "\\boxed{CORRECT}" } else { "\\boxed{INCORRECT}" }, "stop");
        }
        let method = match first.as_str() {
            first if first.contains("<query>") => "agentic",
            first if first.contains("NONE") => "naive",
            first if first.contains("BOOK") => "long",
            _ => "closed",
        };
        let searches = [1, 1, 1, 1, 2, 2, 2, 2, 2, 9][dice(&[&item, &model, "searches"]) as usize / 10];
        if method == "agentic" && turns < searches {
            return said("<query>\nstone\n</query>", "stop");
        }
        // What no configuration finds by one retrieval, and what each says that there is none of.
        let thrown = dice(&[&model, method, &item]);
        match (method, item.as_str()) {
            ("naive", item) if item.ends_with("-2") && item < "h4" => said("<answer>\na stone\n</answer>", "stop"),
            _ if thrown > 94 => said("<answer>\nNONE\n</answer>", "stop"),
            _ => ended(thrown, &format!("<answer>\nkey of {item}\n</answer>"), "<answer>\na stone\n</answer>"),
        }
    };
    let more =
        ["--method", "full-document,naive-rag,agentic-rag,closed-book", "--judge-model", "openai-compatible/judge"];
    check("sagascale", "sagascale", &more, &sandbox, play);
}

#[test]
#[ignore = "needs python3"]
fn needs_python_stronger_baselines_in_sixteen_configurations_come_out_as_computed_apart() {
    let sandbox = Sandbox::new();
    benchmark(
        &sandbox,
        |_, number, _| json!({"task": "choice", "options": ["a key", "a stone", "a word", "a bell"], "correct": number}),
    );
    let mut n_asked = 0;
    let play = move |asked: &Asked| {
        let Request { model, item, .. } = Request::of(asked);
        n_asked += 1;
        let right: usize = item.rsplit('-').next().unwrap().parse().unwrap();
        let thrown = dice(&[&model, &item, &n_asked.to_string()]);
        ended(thrown, &format!("Surely. [[{}]]", right + 1), &format!("Perhaps. [[{}]]", right + 2))
    };
    let more = ["--method", "vanilla-rag,dos-rag,full-document", "--budget", "100,400", "--repeats", "3"];
    check("stronger-baselines", "infinitebench", &more, &sandbox, play);
}

#[test]
#[ignore = "needs python3"]
fn needs_python_corpusqa_in_sixteen_configurations_comes_out_as_computed_apart() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox, |book, number, id| {
        let domain = if book % 2 == 0 { "financial_en" } else { "education_en" };
        let length_set = if book < 4 { "128K" } else { "1M" };
        let difficulty = if number == 0 { "easy" } else { "hard" };
        let labels = json!({"domain": domain, "length_set": length_set, "difficulty": difficulty});
        json!({"task": "generative", "answers": [format!("key of {id}")], "labels": labels})
    });
    let mut n_asked = 0;
    let play = move |asked: &Asked| {
        let Request { model, first, item, is_judge, .. } = Request::of(asked);
        if is_judge {
            let right = first.split("Answer 1:").nth(1).unwrap().split("Answer 2:").next().unwrap().contains("key of");
            return said(if right { "The same. [[YES]]" } else { "Others. [[NO]]" }, "stop");
        }
        n_asked += 1;
        let thrown = dice(&[&model, &item, &n_asked.to_string()]);
        ended(thrown, &format!("So. The answer is: key of {item}"), "The answer is: a stone")
    };
    let more = ["--method", "full-document,corpus-rag", "--budget", "600", "--judge-model", "openai-compatible/judge"];
    check("corpusqa", "corpusqa", &more, &sandbox, play);
}

#[test]
#[ignore = "needs python3"]
fn needs_python_novelqa_in_sixteen_configurations_comes_out_as_computed_apart() {
    let sandbox = Sandbox::new();
    novels(&sandbox);
    let play = |asked: &Asked| {
        let Request { model, first, is_judge, .. } = Request::of(asked);
        if is_judge {
            let answer = first.split("Student's answer:").nth(1).unwrap().lines().next().unwrap();
            return said(if answer.contains("key of") { "C" } else { "N" }, "stop");
        }
        let items: Vec<&str> = first.split("Case ").skip(1).map(|rest| rest.split(':').next().unwrap()).collect();
        let is_choice = first.contains("0. a key");
        let is_closed = if first.contains("NOVEL BEGINS") { "read" } else { "closed" };
        let line = |right: bool| {
            let answer = |(n, item): (usize, &&str)| {
                let number: usize = item.rsplit('-').next().unwrap().parse().unwrap();
                let is_right = right == (dice(&[&model, item, is_closed, if is_choice { "c" } else { "g" }]) < 60);
                let said = match (is_choice, is_right) {
                    (true, is_right) => ((number + usize::from(!is_right)) % 4).to_string(),
                    (false, true) => format!("key of {item}"),
                    (false, false) => "a stone".to_owned(),
                };
                format!("Answer{n}: {said}")
            };
            items.iter().enumerate().map(answer).collect::<Vec<_>>().join("\n")
        };
        ended(dice(&[&model, items[0], is_closed, &is_choice.to_string()]), &line(true), &line(false))
    };
    let more = ["--task", "both", "--method", "full-document,closed-book", "--judge-model", "openai-compatible/judge"];
    check("novelqa", "novelqa", &more, &sandbox, play);
}

#[test]
#[ignore = "needs python3"]
fn needs_python_hamlet_in_sixteen_configurations_comes_out_as_computed_apart() {
    let sandbox = Sandbox::new();
    benchmark(&sandbox, |book, number, id| {
        let fact =
            |name: &str, children: Vec<Value>| json!({"fact": format!("Case {id}: {name}"), "children": children});
        let leaves = |branch: usize| {
            (0..=number + branch % 2).map(|leaf| fact(&format!("leaf {branch} {leaf}"), vec![])).collect()
        };
        let branches = (0..=book % 3).map(|branch| fact(&format!("branch {branch}"), leaves(branch))).collect();
        let sentence = |line: usize| format!("In room {line} of house {book} lay a stone.");
        let facts = json!({"document": format!("house-{book}"), "first": sentence(0), "last": sentence(2),
            "roots": [fact("root", branches)]});
        let perspective = if (book + number) % 2 == 0 { "analytical" } else { "narrative" };
        json!({"task": "summary", "key_facts": facts, "labels": {"perspective": perspective},
            "chunk": (3 * book + number) % 7, "n_chunks": 7})
    });
    let play = |asked: &Asked| {
        let Request { model, first, item, is_judge, .. } = Request::of(asked);
        let list = |entries: Vec<Value>| said(&Value::Array(entries).to_string(), "stop");
        if is_judge && first.contains("key-fact") {
            let (sentences, facts) =
                (numbered(&first, "The summary:", "[", "]"), numbered(&first, "key fact", "", "."));
            // What cannot be read.
            if dice(&[sentences[0], "align"]) < 8 {
                return said("I would rather not.", "stop");
            }
            let entry = |fact: &&str| {
                let stating = |n: &usize| dice(&[sentences[*n - 1], fact]) < 40;
                let lines: Vec<usize> = (1..=sentences.len()).filter(stating).collect();
                json!({"key-fact": fact, "response": if lines.is_empty() { "No" } else { "Yes" }, "line number": lines})
            };
            return list(facts.iter().map(entry).collect());
        }
        if is_judge {
            const KINDS: [&str; 5] = ["Out-of-article", "Entity", "Relation", "Sentence", "No"];
            let entry = |sentence: &&str| {
                let kind = KINDS[(dice(&[sentence]) as usize / 6).min(4)];
                json!({"sentence": sentence, "reason": "so", "category": format!("{kind} error")})
            };
            let sentences = numbered(&first, "of the summary:", "", ".");
            return list(sentences.iter().map(entry).collect());
        }
        let written = |n: usize| {
            let sentence = |line: usize| format!("Case {item}: by {model} room {line} holds stone {n}.");
            (0..n).map(sentence).collect::<Vec<_>>().join(" ")
        };
        let thrown = dice(&[&model, &item]);
        ended(thrown.min(87), &written(2 + thrown as usize % 4), &written(1))
    };
    check("hamlet", "hamlet", &["--judge-model", "openai-compatible/judge"], &sandbox, play);
}
