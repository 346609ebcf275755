"""An MLflow server that receives spans: `python receive_spans.py FOLDER PORT serve`, then `... count` for what it holds."""

import json
import os
import subprocess
import sys

folder, port, what = sys.argv[1:4]
store = f"sqlite:///{folder}/mlflow.db"

if what == "serve":
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    os.execve(
        sys.executable,
        [sys.executable, "-m", "mlflow", "server", "--backend-store-uri", store, "--port", port, "--workers", "1"],
        environment,
    )

import mlflow  # noqa: E402

mlflow.set_tracking_uri(f"http://127.0.0.1:{port}")
if what == "ready":
    mlflow.search_experiments()
else:
    traces = mlflow.search_traces(locations=["0"], return_type="list")
    print(json.dumps({"traces": len(traces), "spans": sorted(span.name for trace in traces for span in trace.data.spans)}))
