"""What the real readers see in an export, as JSON: `python read_exports.py WHAT PATH...`. The tests of `needs_readers_` compare it."""

import json
import pathlib
import subprocess
import sys
import warnings

warnings.simplefilter("ignore")


def inspect(folder):
    """Every log by read_eval_log, and the four data frames."""
    from inspect_ai.analysis import evals_df, events_df, messages_df, samples_df
    from inspect_ai.log import read_eval_log

    logs = []
    for path in sorted(pathlib.Path(folder).glob("*.eval")):
        header = read_eval_log(str(path), header_only=True)
        log = read_eval_log(str(path))
        scores = {score.name: score.metrics["mean"].value for score in header.results.scores}
        values = {
            f"{sample.id}/{sample.epoch}": {name: score.value for name, score in (sample.scores or {}).items()}
            for sample in log.samples
        }
        reasons = sorted({str(score.reason) for sample in log.samples for score in sample.scores.values() if score.reason})
        logs.append({
            "name": path.name, "status": header.status, "model": header.eval.model, "args": header.eval.task_args,
            "scores": scores, "values": values, "reasons": reasons,
            "events": sorted({event.event for sample in log.samples for event in sample.events}),
            "tokens": sum(usage.total_tokens for usage in header.stats.model_usage.values()),
            "dollars": sum(usage.total_cost or 0 for usage in header.stats.model_usage.values()),
            "searches": [[event.arguments["query"], len(json.loads(event.result))]
                         for sample in log.samples for event in sample.events if event.event == "tool"],
            "errors": sorted({sample.error.message for sample in log.samples if sample.error}),
            "limits": sorted({sample.limit.type for sample in log.samples if sample.limit}),
        })
    samples = samples_df(folder)
    frames = {"evals": len(evals_df(folder)), "samples": len(samples), "messages": len(messages_df(folder)),
              "events": len(events_df(folder))}
    return {"logs": logs, "frames": frames, "columns": sorted(samples.columns)}


def bundle(folder, out):
    """A static viewer, and the logs that it lists."""
    command = [str(pathlib.Path(sys.executable).with_name("inspect")), "view", "bundle", "--log-dir", folder, "--output-dir", out]
    subprocess.run(command, check=True, capture_output=True)
    return sorted(json.loads((pathlib.Path(out) / "logs" / "listing.json").read_text()))


def parquet(folder):
    """The tables by DuckDB and pandas."""
    import duckdb
    import pandas

    tables = {}
    for name in ("cells", "trials", "items", "calls", "passages"):
        path = str(pathlib.Path(folder) / f"{name}.parquet")
        frame = pandas.read_parquet(path)
        ((rows,),) = duckdb.sql(f"select count(*) from '{path}'").fetchall()
        assert rows == len(frame), (name, rows, len(frame))
        tables[name] = {"rows": rows, "columns": list(frame.columns)}
    return tables


def query(folder, text):
    """The rows of a query in which `trials` and its like stand for the files."""
    import duckdb

    connection = duckdb.connect()
    for path in pathlib.Path(folder).glob("*.parquet"):
        connection.sql(f"create view {path.stem} as select * from '{path}'")
    result = connection.sql(text)
    return {"columns": result.columns, "rows": result.fetchall()}


def trec(qrels, run):
    """Rank measures by trec_eval, through ir_measures."""
    import ir_measures
    from ir_measures import RR, P, R, Success, nDCG

    wanted = {"mrr": RR, **{f"hit@{k}": Success @ k for k in (1, 5)}, **{f"ndcg@{k}": nDCG @ k for k in (1, 5)},
              **{f"precision@{k}": P @ k for k in (1, 5)}, **{f"recall@{k}": R @ k for k in (1, 5)}}
    found = ir_measures.calc_aggregate(
        list(wanted.values()), ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    )
    return {name: found[measure] for name, measure in wanted.items()}


def every_eval_ever(out):
    """The validator's word on all files, and what the records say."""
    files = sorted(str(path) for path in pathlib.Path(out).glob("data/*/*/*/*.json*"))
    relative = [str(pathlib.Path(path).relative_to(out)) for path in files]
    done = subprocess.run(
        [sys.executable, "-m", "every_eval_ever", "validate", "--format", "json", *relative],
        cwd=out, capture_output=True, text=True,
    )
    results = {}
    for path in files:
        if path.endswith(".json"):
            for result in json.loads(pathlib.Path(path).read_text())["evaluation_results"]:
                details = result["score_details"]
                name = f"{result['evaluation_name']} {result['metric_config']['metric_name']}"
                results[name] = [details["score"], (details.get("uncertainty") or {}).get("num_samples")]
    return {"code": done.returncode, "said": (done.stdout + done.stderr)[-2000:], "files": relative, "results": results}


def convert(log, out):
    """A log of ours by Every Eval Ever's own converter: score and count by metric."""
    done = subprocess.run(
        [sys.executable, "-m", "every_eval_ever", "convert", "inspect", "--log_path", log, "--output_dir", str(pathlib.Path(out) / "data"),
         "--source_organization_name", "us", "--evaluator_relationship", "third_party", "--eval_library_name", "closeread",
         "--eval_library_version", "0.1.0"],
        capture_output=True, text=True,
    )
    results = {}
    for path in pathlib.Path(out).glob("data/*/*/*/*.json"):
        for result in json.loads(path.read_text())["evaluation_results"]:
            details = result["score_details"]
            results[result["evaluation_result_id"].removesuffix(":mean")] = [details["score"], details["uncertainty"]["num_samples"]]
    return {"code": done.returncode, "said": (done.stdout + done.stderr)[-2000:], "results": results}


def yaml(path):
    """A file of YAML."""
    import yaml as reader

    return reader.safe_load(pathlib.Path(path).read_text())


if __name__ == "__main__":
    checks = {name.__name__: name for name in (inspect, bundle, parquet, query, trec, every_eval_ever, convert, yaml)}
    print(json.dumps(checks[sys.argv[1]](*sys.argv[2:])))
