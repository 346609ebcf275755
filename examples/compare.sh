#!/usr/bin/env bash
# Two methods on the sample, compared item by item, and one of them held to a threshold. Needs closeread on the path; no model, no network.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

closeread run --method vanilla-rag,dos-rag --budget 500 --retriever bm25 --out "$folder/run" --quiet > "$folder/table.txt"
cat "$folder/table.txt"
closeread compare "$folder/run" --method vanilla-rag,dos-rag --budget 500
closeread gate "$folder/run" --at dos-rag@500 --min accuracy=0.3
