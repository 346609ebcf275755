"""The peers' side of `cargo xtask bench corpus`, one thread each. Every command prints one line of JSON; `seconds` are of CPU time.

    corpus_peer.py vectors N DIMENSION N_QUERIES NOISE RAW QUERIES_RAW   # invented: unit vectors around 1,000 centres
    corpus_peer.py bm25s-build PASSAGES FOLDER
    corpus_peer.py bm25s-query FOLDER QUERIES OUT
    corpus_peer.py tantivy-build PASSAGES FOLDER
    corpus_peer.py tantivy-query FOLDER QUERIES OUT
    corpus_peer.py flat-build|ivf-build RAW DIMENSION FILE
    corpus_peer.py flat-query|ivf-query FILE QUERIES_RAW OUT [N_PROBE]
    corpus_peer.py usearch-build RAW DIMENSION FILE
    corpus_peer.py usearch-query FILE QUERIES_RAW OUT EXPANSION

PASSAGES and QUERIES are a text a line; RAW is 32-bit floats, row after row. OUT gets the best ten of each query.
"""

import json
import os
import sys
import time
from pathlib import Path

BEST = 10
SEED = 7


def main():
    name, *rest = sys.argv[1:]
    print(json.dumps(COMMANDS[name](*rest)))


def lines(path):
    return Path(path).read_text(encoding="utf-8").splitlines()


def size(path):
    path = Path(path)
    return path.stat().st_size if path.is_file() else sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def timed(queries, rank, out):
    """Mean CPU seconds of a query. All are ranked twice: the first time reads and compiles what the second time finds."""
    best = [[[int(idx), float(score)] for idx, score in rank(query)] for query in queries]
    Path(out).write_text(json.dumps(best))
    before = time.process_time()
    for query in queries:
        list(rank(query))
    return (time.process_time() - before) / len(queries)


def vectors(n, dimension, n_queries, noise, raw, queries_raw):
    import numpy as np

    n, dimension, n_queries = int(n), int(dimension), int(n_queries)
    random = np.random.default_rng(SEED)
    centres = random.standard_normal((1000, dimension), dtype=np.float32)

    def some(count):
        rows = centres[random.integers(0, len(centres), count)]
        rows = rows + np.float32(noise) * random.standard_normal((count, dimension), dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    with open(raw, "wb") as file:
        for start in range(0, n, 50_000):
            some(min(50_000, n - start)).astype("<f4").tofile(file)
    some(n_queries).astype("<f4").tofile(queries_raw)
    return {"vectors": n}


def bm25s_build(passages, folder):
    import bm25s

    texts = lines(passages)
    start = time.process_time()
    tokens = bm25s.tokenize(texts, stopwords=None, token_pattern=r"(?u)\w+", show_progress=False)
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    index.index(tokens, show_progress=False)
    index.save(folder)
    return {"seconds": time.process_time() - start, "bytes": size(folder)}


def bm25s_query(folder, queries, out):
    import bm25s

    start = time.perf_counter()
    index = bm25s.BM25.load(folder, mmap=True)
    index.backend = "numba"
    opened = time.perf_counter() - start

    def rank(query):
        tokens = bm25s.tokenize([query], stopwords=None, token_pattern=r"(?u)\w+", show_progress=False)
        found = index.retrieve(tokens, k=BEST, show_progress=False, n_threads=1)
        return zip(found.documents[0], found.scores[0])

    return {"open": opened, "seconds": timed(lines(queries), rank, out)}


def tantivy_build(passages, folder):
    import tantivy

    texts = lines(passages)
    os.makedirs(folder)
    start = time.process_time()
    schema = tantivy.SchemaBuilder().add_unsigned_field("id", stored=True)
    schema = schema.add_text_field("body", stored=False, tokenizer_name="default", index_option="freq").build()
    index = tantivy.Index(schema, path=folder)
    writer = index.writer(heap_size=500_000_000, num_threads=1)
    for idx, text in enumerate(texts):
        writer.add_document(tantivy.Document(id=idx, body=text))
    writer.commit()
    writer.wait_merging_threads()
    return {"seconds": time.process_time() - start, "bytes": size(folder)}


def tantivy_query(folder, queries, out):
    import tantivy

    start = time.perf_counter()
    index = tantivy.Index.open(folder)
    searcher = index.searcher()
    opened = time.perf_counter() - start

    def rank(query):
        hits = searcher.search(index.parse_query(query, ["body"]), BEST).hits
        return [(searcher.doc(address)["id"][0], score) for score, address in hits]

    return {"open": opened, "seconds": timed(lines(queries), rank, out)}


def read_raw(raw, dimension):
    import numpy as np

    return np.fromfile(raw, dtype="<f4").reshape(-1, int(dimension))


def faiss_build(kind):
    def build(raw, dimension, file):
        import faiss

        faiss.omp_set_num_threads(1)
        rows = read_raw(raw, dimension)
        start = time.process_time()
        index = faiss.IndexFlatIP(int(dimension))
        if kind == "ivf":
            n_lists = int(4 * len(rows) ** 0.5)
            index = faiss.IndexIVFFlat(index, int(dimension), n_lists, faiss.METRIC_INNER_PRODUCT)
            index.train(rows)
        index.add(rows)
        faiss.write_index(index, file)
        return {"seconds": time.process_time() - start, "bytes": size(file)}

    return build


def faiss_query(file, queries_raw, out, n_probe=None):
    import faiss

    faiss.omp_set_num_threads(1)
    start = time.perf_counter()
    index = faiss.read_index(file)
    opened = time.perf_counter() - start
    if n_probe:
        index.nprobe = int(n_probe)

    def rank(query):
        scores, found = index.search(query.reshape(1, -1), BEST)
        return zip(found[0], scores[0])

    return {"open": opened, "seconds": timed(read_raw(queries_raw, index.d), rank, out)}


def usearch_build(raw, dimension, file):
    import numpy as np
    from usearch.index import Index

    rows = read_raw(raw, dimension)
    start = time.process_time()
    index = Index(ndim=int(dimension), metric="ip", dtype="f32")
    index.add(np.arange(len(rows)), rows, threads=1)
    index.save(file)
    return {"seconds": time.process_time() - start, "bytes": size(file)}


def usearch_query(file, queries_raw, out, expansion):
    from usearch.index import Index

    start = time.perf_counter()
    index = Index.restore(file, view=True)
    opened = time.perf_counter() - start
    index.expansion_search = int(expansion)

    def rank(query):
        found = index.search(query, BEST, threads=1)
        return zip(found.keys, found.distances)

    return {"open": opened, "seconds": timed(read_raw(queries_raw, index.ndim), rank, out)}


COMMANDS = {
    "vectors": vectors,
    "bm25s-build": bm25s_build,
    "bm25s-query": bm25s_query,
    "tantivy-build": tantivy_build,
    "tantivy-query": tantivy_query,
    "flat-build": faiss_build("flat"),
    "flat-query": faiss_query,
    "ivf-build": faiss_build("ivf"),
    "ivf-query": faiss_query,
    "usearch-build": usearch_build,
    "usearch-query": usearch_query,
}

if __name__ == "__main__":
    main()
