//! Conformance tests: all vectors of this repository pass, and those in CLOSEREAD_VECTORS for which there is code.

use closeread_tests::{FileReport, run_file};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[test]
fn our_vectors_pass() {
    let reports = run_folder(&own());
    let n_schemas = closeread_tests::schemas().count();
    assert_eq!(reports.len(), n_schemas + 1, "one file a schema that has code, and two of papers' tables");
    for report in reports {
        assert_eq!(report.failed, 0, "{report:#?}");
    }
}

#[test]
#[ignore = "needs CLOSEREAD_VECTORS"]
fn needs_vectors_the_shared_vectors_pass_where_there_is_code() {
    let dir = std::env::var_os("CLOSEREAD_VECTORS").expect("CLOSEREAD_VECTORS is set");
    for report in run_folder(Path::new(&dir)) {
        assert_eq!(report.failures, [""; 0], "{}", report.file);
        assert!(report.passed > 0 || !report.not_yet.is_empty(), "{report:#?}");
    }
}

/// Each case must be able to fail: with any one number or text of its expectation changed it must not pass.
#[test]
fn a_changed_expectation_is_noticed() {
    let places = [
        ("sagascale_tables.json", "/cases/0/expected/rows/1/cells/NR/value"),
        ("sagascale_tables.json", "/cases/0/expected/rows/0/head/max_len"),
        ("sagascale_tables.json", "/cases/1/expected/average/LC/value"),
        ("sagascale_tables.json", "/cases/2/expected/rows/0/cells/Err Rate/n"),
        ("sagascale_tables.json", "/cases/3/expected/rows/2/cells/AR/value"),
        ("hamlet_tables.json", "/cases/0/expected/wrong/analytical/root/wide/1/hit"),
        ("hamlet_tables.json", "/cases/1/expected/left_out/all/narrative/total/value"),
        ("hamlet_tables.json", "/cases/2/expected/wrong/aligned/analytical/models/wide/of"),
        ("hamlet_tables.json", "/cases/3/expected/wrong/wide/recall/out/unjudged"),
        ("hamlet_tables.json", "/cases/4/expected/average/entity/value"),
        ("hamlet_tables.json", "/cases/5/expected/leaf/n"),
        ("raters.json", "/cases/0/expected/majority/u1"),
        ("raters.json", "/cases/1/expected/ac1/pe"),
        ("raters.json", "/cases/1/expected/judge/against_majority/balanced"),
        ("raters.json", "/cases/2/expected/first_line"),
        ("sentences_en.json", "/passages/0/sentences/1/byte/1"),
        ("sentences_en.json", "/passages/1/sentences/0/char/1"),
        ("sentences_en.json", "/short/0/sentences/0/text"),
        ("sentences_en.json", "/short/3/words/2"),
        ("sentences_zh.json", "/passages/0/*/sentences/2"),
        ("sentences_zh.json", "/short/1/*/char/0/1"),
        ("token_counts.json", "/cases/0/cl100k_base/3"),
        ("token_counts.json", "/cases/0/minilm_wordpiece_count"),
        ("token_counts.json", "/cases/10/o200k_base/0"),
        ("passages.json", "/cases/0/runs/0/chunks/1/text"),
        ("passages.json", "/cases/1/runs/3/chunks/0/tokens"),
        ("passages.json", "/cases/2/runs/1/chunks/0/pieces_char/0/1"),
        ("passages.json", "/cases/2/runs/2/in_document_order"),
        ("passages.json", "/cases/5/runs/2/empty_chunks"),
        ("retrieval.json", "/cases/0/expected/cosine_similarity/0"),
        ("retrieval.json", "/cases/1/expected/rank_order/0"),
        ("retrieval.json", "/cases/1/expected/vanilla_order_stop_at_first_overflow/0"),
        ("retrieval.json", "/cases/1/expected/document_order/0"),
        ("retrieval.json", "/cases/7/expected/tokens_used"),
        ("retrieval.json", "/cases/9/expected/contrast_skip_on_overflow/0"),
        ("scorecard.json", "/cases/0/expected/~1metrics~1accuracy~1value"),
        ("scorecard.json", "/cases/1/expected/~1ledger~1problems~1unknown_ids~10~1line"),
        ("scorecard.json", "/cases/3/expected/~1main"),
        ("observations.json", "/cases/0/expected/mean"),
        ("observations.json", "/cases/4/expected/of"),
        ("observations.json", "/cases/5/expected/groups/s/mean"),
        ("observations.json", "/cases/7/expected/over_repeats/sd"),
        ("observations.json", "/cases/14/expected/clusters/members/0/0"),
        ("observations.json", "/cases/16/expected/only_a"),
        ("observations.json", "/cases/18/expected/cells/1/ledger/missing"),
        ("observations.json", "/cases/20/expected/refused"),
        ("statistics.json", "/two_raters/0/expected/cohen_kappa_linear"),
        ("statistics.json", "/two_raters/0/expected/gwet_ac1/se"),
        ("statistics.json", "/many_raters/1/expected/fleiss_kappa"),
        ("statistics.json", "/correlation/0/expected/kendall_tau_b/p"),
        ("statistics.json", "/proportion/1/expected/jeffreys_99/1"),
        ("statistics.json", "/clustered_se/1/expected/se_clustered_small_sample"),
        ("statistics.json", "/paired_clustered/1/expected/ci95_normal/0"),
        ("statistics.json", "/mcnemar/0/expected/chi2_corrected/p"),
        ("statistics.json", "/paired_permutation/1/expected/wilcoxon/p"),
        ("statistics.json", "/exhaustive_bootstrap/1/expected/percentile_95_linear/0"),
        ("statistics.json", "/percentiles/4/expected/inverted_cdf/1"),
        ("statistics.json", "/multiple_comparison/1/expected/benjamini_hochberg/0"),
        ("meteor_resources.json", "/stems/300/stem"),
        ("meteor_resources.json", "/synonyms/40/synonyms/0"),
        ("memagent.json", "/cases/38/expected"),
        ("parse_corpusqa.json", "/cases/30/expected"),
        ("parse_infinitebench.json", "/cases/2/expected"),
        ("text_metrics.json", "/cases/0/expected/meteor"),
        ("text_metrics.json", "/cases/1/expected/meteor_without_synonyms"),
        ("text_metrics.json", "/cases/2/trace/word_tokenize/prediction/0"),
        ("text_metrics.json", "/cases/3/trace/meteor_alignment/0/matches/0/1"),
        ("text_metrics.json", "/cases/4/trace/meteor_alignment/0/n_stem"),
        ("text_metrics.json", "/cases/5/trace/meteor_alignment/1/chunks"),
        ("text_metrics.json", "/cases/0/expected/rouge/rougeLsum/fmeasure"),
        ("text_metrics.json", "/cases/0/expected/squad_v2/f1"),
        ("text_metrics.json", "/cases/0/expected/bleu_4_smooth/bleu"),
        ("text_metrics.json", "/cases/0/expected/infinitebench_zh_f1"),
        ("text_corpus.json", "/sets/0/expected/meteor_mean"),
        ("text_corpus.json", "/sets/1/expected/meteor_mean_without_synonyms"),
        ("text_corpus.json", "/sets/2/expected/bleu_3/bleu"),
    ];
    for (name, pointer) in places {
        let mut file: Value = serde_json::from_str(&read(&own().join(name))).expect("our vectors are JSON");
        // Chinese sentences are right by either rule set, so both must be changed.
        for rules in ["common_rules", "extended_rules"] {
            let pointer = pointer.replace('*', rules);
            change(file.pointer_mut(&pointer).unwrap_or_else(|| panic!("{name} has no {pointer}")));
            if !pointer.contains(rules) {
                break;
            }
        }
        let report = run_file(name, &file.to_string());
        assert_eq!((report.failed, report.failures.len()), (1, 1), "{name}{pointer} changed: {report:#?}");
    }
}

#[test]
fn a_case_that_does_not_follow_its_schema_fails_alone() {
    for name in [
        "sentences_en.json",
        "sentences_zh.json",
        "token_counts.json",
        "passages.json",
        "retrieval.json",
        "scorecard.json",
        "observations.json",
    ] {
        let mut file: Value = serde_json::from_str(&read(&own().join(name))).expect("our vectors are JSON");
        let lists = file.as_object_mut().expect("a vector file is an object").values_mut();
        let cases = lists.filter_map(Value::as_array_mut).next().expect("it has cases");
        let whole = cases.len();
        cases.push(json!({"id": "broken", "group": "budget"}));
        let report = run_file(name, &file.to_string());
        assert_eq!(report.failed, 1, "{report:#?}");
        assert!(report.passed >= whole);
        assert!(report.failures[0].starts_with("broken: "), "{report:#?}");
    }
}

#[test]
fn a_group_without_code_fails_and_says_so() {
    let file =
        json!({"schema": "retrieval/1", "cases": [{"id": "a", "group": "dowsing"}, {"id": "b", "group": "dowsing"}]});
    let report = run_file("retrieval.json", &file.to_string());
    assert_eq!((report.passed, report.failed), (0, 2));
    assert_eq!(report.not_yet[0].what, "retrieval: group dowsing has no code yet");
    assert_eq!(report.not_yet[0].cases, 2);
}

/// Returns a different value of the same kind.
fn change(value: &mut Value) {
    *value = match value {
        Value::Bool(flag) => json!(!*flag),
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(number) if number.is_f64() => json!(number.as_f64().expect("is_f64") + 1e-7),
        Value::Number(number) => json!(number.as_u64().expect("counts are natural") + 1),
        other => panic!("{other} cannot be changed"),
    };
}

fn run_folder(dir: &Path) -> Vec<FileReport> {
    let entries = dir.read_dir().unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.extend([dir.join("tables/eval.json")].into_iter().filter(|path| path.is_file()));
    files.sort();
    files.iter().map(|path| run_file(&path.file_name().expect("a file").to_string_lossy(), &read(path))).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}
