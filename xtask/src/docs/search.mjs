// Searches the built site as its own search box does: node search.mjs SITE '[["question", "page.html"], ...]'.
// Each page must be among the first five results, the page of the questions aside.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";

const [site, pairs] = process.argv.slice(2);
const file = (start) => {
    const found = readdirSync(site).filter((name) => name.startsWith(start) && name.endsWith(".js"));
    if (found.length !== 1) throw new Error(`${site} has ${found.length} files ${start}*.js, expected one`);
    return readFileSync(join(site, found[0]), "utf8");
};
const page = { search: {} };
page.window = page;
runInNewContext(file("elasticlunr"), page);
runInNewContext(file("searchindex"), page);
const { doc_urls: urls, index: written, search_options: options } = page.search;
const index = page.elasticlunr.Index.load(written);
const lost = JSON.parse(pairs).filter(([question, wanted]) => {
    const results = index.search(question, options);
    const urlsOfPages = results.map((result) => urls[result.ref].split("#")[0]).filter((url) => url !== "questions.html");
    const pages = [...new Set(urlsOfPages)].slice(0, 5);
    const found = pages.includes(wanted);
    console.log(`${found ? "found" : "not found"}: ${question} -> ${wanted}${found ? "" : `, but ${pages.join(", ")}`}`);
    return !found;
});
process.exit(lost.length === 0 ? 0 : 1);
