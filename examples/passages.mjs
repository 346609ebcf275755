// Passages of a book, and scores of answers, in Node. Needs `npm install @closeread/page`; no model, no network.
import { Index, score } from "@closeread/page";

const index = new Index();
index.add("harbour", "Ana lit the lamp. The boats stayed in the harbour. Bo sold his boat to Carla in spring.");
const { passages } = index.search("Who bought the boat?", { retriever: "bm25", budget: 200 });
for (const { text, score } of passages) console.log(score?.toFixed(2), text);

const gold = '{"id":"1","question":"Who bought it?","task":"generative","answers":["Carla"],"documents":["harbour"]}';
const card = score({ name: "gold.jsonl", content: gold }, { name: "p.jsonl", content: '{"item":"1","answer":"Carla"}' });
console.log(JSON.stringify(card.metrics));
if (passages.length === 0 || card.metrics.f1.value !== 1) process.exit(1);
