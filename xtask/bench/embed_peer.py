"""The other side of `cargo xtask bench embed`: onnxruntime, with the protocol of core/tract/examples/embed_bench.rs.

embed_peer.py FILE.onnx IDS          answers commands `B TOKENS` with nanoseconds of CPU time, one thread
                                     and `vectors FILE` by writing the normalised means of all texts as f32
embed_peer.py --compare A B          prints how close the vectors of B are to those of A
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
        if line.startswith("vectors "):
            rows = []
            for text in texts:
                tokens = np.array([text], np.int64)
                mean = session.run(None, {"input_ids": tokens, "attention_mask": np.ones_like(tokens)})[0][0].mean(0, np.float64)
                rows.append(mean / np.linalg.norm(mean))
            np.array(rows, "<f4").tofile(line.split(" ", 1)[1].strip())
            print(0, flush=True)
            continue
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


def compare(reference, other, dimension=384):
    a, b = (np.fromfile(path, "<f4").reshape(-1, dimension).astype(np.float64) for path in (reference, other))
    a, b = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (a, b))
    distance = 1 - (a * b).sum(1)
    # Each passage as a question to the others.
    near = lambda rows: np.argsort(-(rows @ rows.T) + 9 * np.eye(len(rows)), axis=1, kind="stable")
    ours, theirs = near(b)[:, :10], near(a)[:, :10]
    top10 = np.mean([len(set(x) & set(y)) / 10 for x, y in zip(ours, theirs)])
    top1 = np.mean(ours[:, 0] == theirs[:, 0])
    print(f"  {len(a)} passages: 1 - cos mean {distance.mean():.1e}, largest {distance.max():.1e}; top-10 {top10:.4f}, top-1 {top1:.4f}")


if sys.argv[1] == "--compare":
    compare(*sys.argv[2:])
elif sys.argv[1] == "--tokenize":
    folder, text, ids, n_tokens, n_texts = sys.argv[2:]
    tokenize(folder, text, ids, int(n_tokens), n_texts)
else:
    serve(*sys.argv[1:])
