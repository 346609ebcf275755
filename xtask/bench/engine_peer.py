"""The samples of a file of prompts, evaluated by inspect_ai: PROMPTS.jsonl LOGS CONCURRENCY.

Prints {"status", "seconds"}: how it ended, and the seconds from the start to the end of the evaluation.
"""

import json
import sys
import time

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

prompts, logs, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(prompts, encoding="utf-8") as lines:
    samples = [Sample(input=json.loads(line), target=f"[[{n % 4 + 1}]]", id=n + 1) for n, line in enumerate(lines)]
task = Task(dataset=samples, solver=generate(), scorer=includes())
started = time.perf_counter()
[log] = eval(
    task,
    model="openai/gpt-4o",
    log_dir=logs,
    display="none",
    max_connections=concurrency,
    max_samples=concurrency,
)
print(json.dumps({"status": log.status, "seconds": time.perf_counter() - started}))
