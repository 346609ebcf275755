"""The other side of `cargo xtask bench embed`: onnxruntime, with the protocol of core/examples/embed_bench.rs.

embed_peer.py FILE.onnx IDS          answers commands `B TOKENS` with nanoseconds of CPU time, one thread
embed_peer.py --tokenize FOLDER TEXT IDS TOKENS N   writes N texts of about TOKENS tokens each as ids, one a line
"""
import re
import sys
import time

import numpy as np


def tokenize(folder, text, ids, n_tokens, n_texts):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    content = re.sub(r"\s+", " ", open(text, encoding="utf-8", errors="replace").read())
    rows, current = [], []
    for sentence in re.split(r"(?<=[.!?]) ", content):
        encoded = tokenizer.encode(sentence, add_special_tokens=False).ids
        if current and len(current) + len(encoded) > n_tokens:
            rows.append(current[:510])
            current = []
        current = current + encoded
    cls, *_, sep = tokenizer.encode("x").ids
    rows = [[cls, *row, sep] for row in rows if row][: int(n_texts)]
    open(ids, "w").write("\n".join(" ".join(map(str, row)) for row in rows))


def serve(model, ids):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    texts = [[int(token) for token in line.split()] for line in open(ids)]
    for line in sys.stdin:
        n, n_tokens = map(int, line.split())
        n = n or 8
        rows = sorted((text[:n_tokens] for text in texts), key=len, reverse=True)
        batches = []
        for start in range(0, len(rows), n):
            part = rows[start : start + n]
            shape = (len(part), len(part[0]))
            tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
            for at, row in enumerate(part):
                tokens[at, : len(row)], mask[at, : len(row)] = row, 1
            batches.append({"input_ids": tokens, "attention_mask": mask})
        start = time.thread_time_ns()
        for batch in batches:
            session.run(None, batch)
        print(time.thread_time_ns() - start, flush=True)


if sys.argv[1] == "--tokenize":
    folder, text, ids, n_tokens, n_texts = sys.argv[2:]
    tokenize(folder, text, ids, int(n_tokens), n_texts)
else:
    serve(*sys.argv[1:])
