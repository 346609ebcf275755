//! `closeread data stats`: what the papers print of their data.

use crate::support::{Sandbox, tales};
use expect_test::expect;

#[test]
fn the_sample_has_the_papers_tables_on_data() {
    let ended = Sandbox::new().run(&["data", "stats"]).exits(0);
    expect![[r#"
        Questions and books by length in tokens (SagaScale, Table 2)
        Range      <128K  128K-256K  256K-512K  512K-1M  Total
        ------------------------------------------------------
        questions    139          0          0        0    139
        books          2          0          0        0      2

        Lengths of the books (SagaScale, Table 9)
        title                 language  tokens  questions
        -------------------------------------------------
        The Loan of the Bell  en        30,773         88
        赊渡簿                zh        27,188         51
        tokens by cl100k_base

        Lengths of the books by language, tokens (SagaScale, Figure 5)
        group  books   least  first quarter  median  third quarter    most    mean
        --------------------------------------------------------------------------
        en         1  30,773         30,773  30,773         30,773  30,773  30,773
        zh         1  27,188         27,188  27,188         27,188  27,188  27,188

        Lengths of the books with their questions, tokens (NovelQA, Figure 3)
        group  books   least  first quarter  median  third quarter    most    mean
        --------------------------------------------------------------------------
        all        2  30,269         31,261  32,252         33,244  34,235  32,252

        Questions by aspect and complexity (NovelQA, Table 1)
        aspect     multi-hop  single-hop  detail  sum
        ---------------------------------------------
        times             13           2       0   15
        meaning            9           3       4   16
        span               5           6       6   17
        setting            1           4       9   14
        relation           7           5       1   13
        character          5           5       6   16
        plot               9          14       9   32
        ---------------------------------------------
        sum               49          39      35  139
        16 questions have no aspect of the paper's and are in the sums alone

        Share of questions, % (NovelQA, Table 9)
        dimension   type        share
        -----------------------------
        complexity  multi-hop   35.25
        complexity  single-hop  28.06
        complexity  detail      25.18
        aspect      times       10.79
        aspect      meaning     11.51
        aspect      span        12.23
        aspect      setting     10.07
        aspect      relation     9.35
        aspect      character   11.51
        aspect      plot        23.02
        of all questions, those without the label among them

        Where the evidence starts, in tokens: pieces, and % of them (NovelQA, Table 12)
        Range       0-20K  20-40K  40-60K  60-80K  80-100K  100-130K  130-170K  170-210K  >210K
        ---------------------------------------------------------------------------------------
        Count         163      63       0       0        0         0         0         0      0
        Percentage  72.12   27.88    0.00    0.00     0.00      0.00      0.00      0.00   0.00
        226 pieces of gold evidence; 0 more have no exact match in the book

        Where in its book the evidence starts: pieces, and % of them (NovelQA, Table 13)
        Range       0-10%  10-20%  20-30%  30-40%  40-50%  50-60%  60-70%  70-80%  80-90%  90-100%
        ------------------------------------------------------------------------------------------
        Count          25      21      19      23      32      22      25      25      16       18
        Percentage  11.06    9.29    8.41   10.18   14.16    9.73   11.06   11.06    7.08     7.96
        226 pieces of gold evidence; 0 more have no exact match in the book

        Key facts of each book (HAMLET, Table 8)
        Name                  Author  Genre  Token Count  Publication Date  # Chunks  Analytical Root  Analytical Branch  Analytical Leaf  Analytical Total  Narrative Root  Narrative Branch  Narrative Leaf  Narrative Total  Queries
        -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
        赊渡簿                -       -           27,188  -                        3                6                 12               25                43               3                12              31               46        6
        The Loan of the Bell  -       -           30,773  -                        5                8                 21               48                77               5                24              52               81       10
        -------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
        Average                                   28,981                           4                7                 17               37                60               4                18              42               64        8
        Total                                     57,961                           8               14                 33               73               120               8                36              83              127       16
    "#]]
    .assert_eq(&ended.out());
    assert_eq!(ended.err(), "");
}

#[test]
fn a_collection_is_counted_by_domain_set_and_difficulty() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "c/documents.jsonl",
        r#"{"id": "a", "language": "en", "text": "One two three."}
{"id": "b", "language": "zh", "text": "我们在河边的磨坊里等到灯灭了。"}
"#,
    );
    sandbox.write(
        "c/items.jsonl",
        r#"{"id": "1", "documents": ["a"], "question": "How many?", "task": "generative", "answers": ["3"], "labels": {"domain": "x", "length_set": "128K", "difficulty": "easy"}}
{"id": "2", "documents": ["a", "b"], "question": "How many?", "task": "generative", "answers": ["8"], "labels": {"domain": "y", "length_set": "128K", "difficulty": "hard"}}
"#,
    );
    let stats = |options: &[&str]| sandbox.run(&[&["data", "stats", "c"], options].concat()).exits(0);
    let tables = stats(&["--json"]).json();
    let ids: Vec<&str> = tables["tables"].as_array().unwrap().iter().map(|t| t["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["data-lengths", "lengths", "data-languages", "data-with-questions", "data-instances"]);
    assert_eq!(tables["tokenizer"], "cl100k_base");
    stats(&["--csv", "tables"]);
    stats(&["--csv", "all.csv"]);
    let printed = stats(&["--csv", "-"]).out();
    assert_eq!(printed, std::fs::read_to_string(sandbox.path("all.csv")).unwrap());
    assert!(!sandbox.path("-").exists());
    sandbox.run(&["data", "stats", "c", "--csv", "-", "--json"]).refuses(&["--csv - prints the list of tables"]);
    for file in ["all.txt", "all.XLSX"] {
        let words = format!("--csv {file}: expected a file that ends in .csv");
        sandbox.run(&["data", "stats", "c", "--csv", file]).refuses(&[&words]);
        assert!(!sandbox.path(file).exists());
    }
    expect![[r#"
        Dimension,Category,Avg T.,Lang.,#Inst.,complete
        Domain,x,4,EN,1,yes
        Domain,y,25,"EN, ZH",1,yes
        Length Set,Set1 (128K),14.5,"EN, ZH",2,yes
        Difficulty,Easy,4,EN,1,yes
        Difficulty,Hard,25,"EN, ZH",1,yes
        all,,14.5,"EN, ZH",2,yes
    "#]]
    .assert_eq(&std::fs::read_to_string(sandbox.path("tables/data-instances.csv")).unwrap().replace('\r', ""));
    assert!(stats(&["--latex"]).out().contains("CorpusQA, Table 2"));
    let other = stats(&["--tokenizer", "o200k", "--json"]).json();
    assert_ne!(other["tables"][1]["rows"], tables["tables"][1]["rows"], "other tokens");
}

#[test]
fn key_facts_are_counted_by_book_with_what_it_says_of_itself() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "h/documents.jsonl",
        r#"{"id": "a", "title": "Ash", "language": "en", "text": "One two three. Four.", "author": "A. Writer", "genre": "Fiction", "date": "2025-01-02"}
"#,
    );
    sandbox.write(
        "h/items.jsonl",
        r#"{"id": "1", "documents": ["a"], "question": "What happens?", "task": "summary", "key_facts": {"document": "a", "start": 0, "end": 14, "roots": [{"fact": "Three.", "children": [{"fact": "Two.", "children": [{"fact": "One."}]}, {"fact": "Also."}]}]}, "labels": {"perspective": "narrative"}}
"#,
    );
    let ended = sandbox.run(&["data", "stats", "h", "--csv", "tables"]).exits(0);
    assert_eq!(ended.out(), "");
    expect![[r#"
        Name,Author,Genre,Token Count,Publication Date,# Chunks,Analytical Root,Analytical Branch,Analytical Leaf,Analytical Total,Narrative Root,Narrative Branch,Narrative Leaf,Narrative Total,Queries,complete
        Ash,A. Writer,Fiction,6,2025-01-02,1,0,0,0,0,1,2,1,4,1,yes
    "#]].assert_eq(&std::fs::read_to_string(sandbox.path("tables/books.csv")).unwrap().replace('\r', ""));
}

#[test]
fn what_is_no_benchmark_is_refused_and_rows_left_out_are_said() {
    let sandbox = Sandbox::new();
    sandbox.run(&["data", "stats", "nowhere"]).refuses(&["`nowhere`", "sample", "novelqa"]);
    sandbox.run(&["data", "stats", "novelqa"]).refuses(&["novelqa", "--data"]);
    tales(&sandbox);
    let items = std::fs::read_to_string(sandbox.path("tales/items.jsonl")).unwrap();
    sandbox.write("tales/items.jsonl", items.replacen("\"t0-1\"", "7", 1));
    let ended = sandbox.run(&["data", "stats", "tales"]).exits(1);
    assert!(ended.err().contains("items.jsonl:1"), "{}", ended.err());
    assert!(ended.out().contains("SagaScale, Table 2"));
}

#[test]
fn where_there_is_no_report_notes_on_the_data_are_named_by_stats() {
    let sandbox = Sandbox::new();
    sandbox.write("own/documents.jsonl", r#"{"id": "d", "text": "Ana came."}"#);
    let item = r#"{"id": "a", "documents": ["d"], "question": "Who?", "answers": ["Ana"], "evidence": [{"quote": "Bo left."}]}"#;
    sandbox.write("own/items.jsonl", item);
    let note = "evidence 1: “Bo left.” is not in document `d`";
    let estimated = sandbox.run(&["estimate", "--benchmark", "own", "--method", "closed-book"]).err();
    assert!(
        estimated.contains("1 note on the data, all in closeread data stats") && estimated.contains(note),
        "{estimated}"
    );
    let said = sandbox.run(&["data", "stats", "own"]).exits(0).err();
    assert!(said.contains(note), "{said}");
}
