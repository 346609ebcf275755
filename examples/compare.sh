#!/usr/bin/env bash
# Two methods on the sample, compared item by item. Needs closeread on the path; no model, no network.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

closeread run --method vanilla-rag,dos-rag --budget 500 --retriever bm25 --limit 20 --out "$folder/run" --quiet > "$folder/table.txt"
cat "$folder/table.txt"
closeread compare "$folder/run" --method vanilla-rag,dos-rag --budget 500
