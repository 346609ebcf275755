//! Embeddings from a server that nobody here wrote: llama.cpp's llama-server over tiny random weights.

use crate::real_server::LlamaServer;
use crate::support::{Sandbox, tales};

#[test]
#[ignore = "needs CLOSEREAD_SERVERS with llama-server"]
fn needs_llama_llama_server_embeds_and_what_is_too_long_for_it_is_said() {
    let server = LlamaServer::start_with(&["--embeddings", "--pooling", "mean"]);
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let sandbox = Sandbox::with_own_cache();
    tales(&sandbox);
    let model = ["--embedder", "openai-compatible/tiny", "--embedder-base-url", &url];
    let run = [
        "run",
        "--benchmark",
        "tales",
        "--method",
        "dos-rag",
        "--budget",
        "60",
        "--passage-tokens",
        "12",
        "--out",
        "r",
    ];
    let report = sandbox.run(&[&run[..], &model, &["--json"]].concat()).exits(0).json();
    assert_eq!(report["cells"][0]["ledger"]["missing"], 0);
    let took = &report["embeddings"][0];
    let (texts, tokens) = (took["texts"].as_u64().unwrap(), took["tokens"].as_u64().unwrap());
    assert!(texts > 36 && tokens > 5 * texts, "it counts its tokens: {took}");
    let hybrid = ["--retriever", "hybrid", "--out", "hybrid"];
    let run: Vec<&str> = run.iter().copied().filter(|a| !matches!(*a, "--out" | "r")).collect();
    sandbox.run(&[&run[..], &model, &hybrid].concat()).exits(0);

    sandbox.write("long.txt", "Nobody on the island counted the ships any more. ".repeat(400));
    let search = ["search", "long.txt", "Who counted the ships?", "--passage-tokens", "4000", "--budget", "8000"];
    let refused = sandbox.run(&[&search[..], &model].concat()).exits(2);
    for words in ["refuses a text that is too long", "too large to process", "--embedder-spec"] {
        assert!(refused.err().contains(words), "`{words}` is not in {}", refused.err());
    }
}
