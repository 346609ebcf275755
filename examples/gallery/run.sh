#!/usr/bin/env bash
# A model of yours reads the sample by all eleven methods; then two pairs of methods are compared.
# Usage: run.sh URL MODEL OUT [methods|sample|fairytaleqa ...]   URL: an OpenAI-compatible server, such as http://localhost:8000/v1
# CLOSEREAD_DATA: a folder that holds qa/fairytaleqa. Without it, that part is left out. The same command resumes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
url=$1 model=$2; mkdir -p "$3"; out=$(realpath "$3"); shift 3
parts=("${@:-}"); [ -n "${parts[0]}" ] || parts=(methods sample fairytaleqa)
data=${CLOSEREAD_DATA:+$(realpath "$CLOSEREAD_DATA")}
cd "$out"
reader=(--model "openai-compatible/$model" --base-url "$url" --context-window 8192 --max-output-tokens 64 --concurrency 1 --timeout 3600)

# run NAME OPTIONS...: exit code 1 means that some trials failed, which the report says.
run() { local name=$1; shift; closeread run "$@" "${reader[@]}" --out "runs/$name" >"$name.txt" 2>"$name.log" || [ $? = 1 ]; echo "$name: done"; }
compare() { closeread compare "$@" || [ $? = 1 ]; }

methods() {
  python3 "$here/opening.py" "$here/../../sample" opening
  run methods --benchmark opening --method all --budget 500 --repeats 1 --judge-model builtin/rule \
    --param agentic-rag.max_searches=1 --param memory-agent.section_tokens=1500 --param memory-agent.memory_tokens=128
}

sample() {
  run sample --items "$(seq -f 'en-%03g' -s , 1 24)" --method closed-book,vanilla-rag,dos-rag --budget 300 --repeats 1
  compare runs/sample --method closed-book,dos-rag >compare-closed-dos.txt
  compare runs/sample --method vanilla-rag,dos-rag >compare-vanilla-dos.txt
}

fairytaleqa() {
  if [ -z "$data" ]; then echo "fairytaleqa: left out, CLOSEREAD_DATA is not set"; return; fi
  run fairytaleqa --benchmark fairytaleqa --data "$data/qa/fairytaleqa" --draw 6 --method all --budget 300 --repeats 1 --judge-model builtin/rule \
    --param agentic-rag.max_searches=2 --param memory-agent.section_tokens=1500 --param memory-agent.memory_tokens=128
  closeread report runs/fairytaleqa >fairytaleqa.txt
}

for part in "${parts[@]}"; do "$part"; done
