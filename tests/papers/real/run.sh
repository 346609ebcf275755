#!/usr/bin/env bash
# Runs each paper's protocol on a real small model over the small real sets of sets.py, with the paper's report.
# Usage: run.sh DATA OUT URL [PAPER...]     URL: an OpenAI-compatible server of a model called smollm2 with 8,192 tokens.
# CLOSEREAD_BINARY names the binary. What is finished is not asked again: the same command goes on.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=$(realpath "${CLOSEREAD_BINARY:-$here/../../../target/debug/closeread}")
data=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2"); url=$3; shift 3
papers=("${@:-}"); [ -n "${papers[0]}" ] || papers=(sagascale novelqa stronger-baselines corpusqa hamlet)
sets=$out/sets; [ -d "$sets/hamlet" ] || python3 "$here/sets.py" "$data" "$sets" >/dev/null
cd "$out"
model=(--model openai-compatible/smollm2 --base-url "$url")
reader=("${model[@]}" --context-window 8192 --max-output-tokens 96 --concurrency 1 --timeout 3600)

# run NAME ARGUMENTS...: a run of its own folder, and the seconds it took.
run() {
  local name=$1 start; shift; start=$(date +%s)
  "$binary" run "$@" "${reader[@]}" --out "runs/$name" >"$name.txt" 2>"$name.log"
  echo "$name: exit $?, $(( $(date +%s) - start )) s"
}
report() { local paper=$1; shift; "$binary" report "$@" --paper "$paper" >"report-$paper.txt" 2>"report-$paper.log"; echo "report $paper: exit $?"; }

sagascale() {
  run sagascale --benchmark sagascale --data "$sets/sagascale" --param agentic-rag.max_searches=2 --judge-model builtin/rule
  run sagascale-closed --benchmark sagascale --data "$sets/sagascale" --method closed-book --judge-model builtin/rule
  report sagascale runs/sagascale
}

novelqa() {
  run novelqa --benchmark novelqa --data "$sets/novelqa" --task both --judge-model builtin/rule
  report novelqa runs/novelqa
}

stronger-baselines() {
  run infinitebench --benchmark infinitebench --data "$sets/infinitebench" --method vanilla-rag,dos-rag --budget 300,600 --repeats 2
  run quality --benchmark quality --data "$sets/quality" --method vanilla-rag,dos-rag --budget 500 --repeats 1
  run narrativeqa --benchmark narrativeqa --data "$sets/narrativeqa" --method vanilla-rag,dos-rag,raptor,read-agent --budget 300
  local name; for name in infinitebench quality narrativeqa; do
    "$binary" report "runs/$name" --paper stronger-baselines >"report-stronger-baselines-$name.txt" 2>>"report-stronger-baselines.log"
  done
}

corpusqa() {
  "$binary" build corpusqa --documents "$sets/corpusqa/profiles" --table "$sets/corpusqa/table.csv" --entity country,countries \
    --domain factbook_en --least-tokens 50 --least-density 0 --least-table-rows 0 --lengths all --questions 3 --out corpusqa-built \
    >corpusqa-build.txt 2>corpusqa-build.log
  run corpusqa --benchmark corpusqa --data corpusqa-built --budget 800 --judge-model builtin/rule
  report corpusqa runs/corpusqa
}

# Each response of the build is held to the form that its prompt asks for: left alone, a model of this size hardly writes JSON.
held() { printf '%s={"response_format":{"type":"json_schema","json_schema":{"name":"response","schema":%s}}}' "$1" "$2"; }

hamlet() {
  local text='{"type":"string","maxLength":120}' label='{"enum":[0,1]}'
  local leaves='{"type":"array","items":'$text',"minItems":2,"maxItems":2}'
  local branch='{"type":"object","properties":{"fact":'$text',"leaves":'$leaves'},"required":["fact","leaves"]}'
  local root='{"type":"object","properties":{"fact":'$text',"branches":{"type":"array","items":'$branch',"minItems":1,"maxItems":1}}}'
  local tree='{"type":"object","properties":{"roots":{"type":"array","items":'$root',"minItems":1,"maxItems":1}}}'
  local leaf='{"type":"object","properties":{"label":'$label',"reason":'$text'}}'
  local twig='{"type":"object","properties":{"label":'$label',"reason":'$text',"leaves":{"type":"array","items":'$leaf',"minItems":2,"maxItems":2}}}'
  local stem='{"type":"object","properties":{"label":'$label',"reason":'$text',"branches":{"type":"array","items":'$twig',"minItems":1,"maxItems":1}}}'
  local labels='{"type":"object","properties":{"roots":{"type":"array","items":'$stem',"minItems":1,"maxItems":1}}}'
  local query='{"type":"object","properties":{"query":'$text'}}'
  "$binary" build hamlet --books "$sets/hamlet" --chunk-tokens 400 "${model[@]}" --concurrency 1 --timeout 3600 --max-output-tokens 400 \
    --extra-body "$(held hamlet-tree-analytical "$tree")" --extra-body "$(held hamlet-tree-narrative "$tree")" \
    --extra-body "$(held hamlet-verify-tree "$labels")" --extra-body "$(held hamlet-query-analytical "$query")" \
    --extra-body "$(held hamlet-query-narrative "$query")" --out hamlet-built >hamlet-build.txt 2>hamlet-build.log
  echo "hamlet build: exit $?"
  run hamlet --benchmark hamlet --data hamlet-built --judge-model builtin/rule
  report hamlet runs/hamlet
}

for paper in "${papers[@]}"; do "$paper"; done
