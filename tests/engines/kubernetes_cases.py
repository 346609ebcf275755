"""The manifests of `closeread submit kubernetes` are valid by Kubernetes' published schemas, and those see a mistake.

    python3 tests/engines/kubernetes_cases.py ENVIRONMENT BINARY      # ENVIRONMENT: what `cargo xtask test --install --only engines` makes
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# The oldest has backoffLimitPerIndex without a feature gate.
VERSIONS = ["1.33.0", "1.37.0"]
SUBMIT = [
    "submit", "kubernetes", "--parts", "8", "--image", "registry.example/closeread", "--claim", "runs", "--secret", "keys",
    "--memory", "2048", "--out", "/runs/spread", "--dry-run", "--", "--method", "closed-book,dos-rag", "--max-cost", "8",
]


def main(environment, binary):
    said = subprocess.run([binary, *SUBMIT], check=True, capture_output=True, text=True)
    parts, merge = json.loads(said.stdout)["items"]
    bad = json.loads(json.dumps(parts))
    bad["spec"]["completionz"] = bad["spec"].pop("completions")
    with tempfile.TemporaryDirectory() as folder:
        for version in VERSIONS:
            for manifest, code in ((parts, 0), (merge, 0), (bad, 1)):
                file = pathlib.Path(folder) / "job.json"
                file.write_text(json.dumps(manifest))
                validate = [f"{environment}/bin/kubernetes-validate", "--strict", "-k", version, file]
                ended = subprocess.run(validate, capture_output=True, text=True)
                if ended.returncode != code:
                    raise SystemExit(f"{version}: exit code {ended.returncode}, expected {code}\n{ended.stdout}{ended.stderr}")
    print(f"kubernetes {', '.join(VERSIONS)}: passed")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
