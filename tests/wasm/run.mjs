// The WebAssembly runner: node run.mjs MODULE.wasm FILE... prints one line of JSON a vector file (a FileReport).
//
// The module gets no working import but one: whatever it declares is a function that throws, because core needs nothing
// from outside. The exception is the seed of hash maps inside the crate tokenizers (`crypto.getRandomValues` by way of
// getrandom). It gets zeros here, against real randomness in the native run: no result may depend on it.
import { readFile } from "node:fs/promises";
import { basename } from "node:path";

const [modulePath, ...files] = process.argv.slice(2);
if (!modulePath) {
  console.error("usage: node run.mjs MODULE.wasm FILE...");
  process.exit(2);
}
const module = await WebAssembly.compile(await readFile(modulePath));

const imports = {};
for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
  if (kind !== "function") throw new Error(`the module wants a ${kind} ${from}.${name}; only functions can be refused`);
  (imports[from] ??= {})[name] = name.includes("getRandomValues")
    ? (at, length) => void new Uint8Array(instance.exports.memory.buffer, at, length).fill(0)
    : () => {
        throw new Error(`core called ${from}.${name}; it may need nothing from outside`);
      };
}

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() };
let instance = await WebAssembly.instantiate(module, imports);
for (const path of files) {
  const name = utf8.encoder.encode(basename(path));
  const json = await readFile(path);
  try {
    const { memory, alloc, run } = instance.exports;
    const at = alloc(name.length + json.length);
    const input = new Uint8Array(memory.buffer, at, name.length + json.length);
    input.set(name);
    input.set(json, name.length);
    run(name.length);
    console.log(output());
  } catch (error) {
    // After a trap the module's state is undefined: the next file gets a fresh instance.
    const why = `stopped the module: ${output() || error.message}`;
    console.log(JSON.stringify({ file: basename(path), passed: 0, failed: 1, failures: [why], not_yet: [], notes: [] }));
    instance = await WebAssembly.instantiate(module, imports);
  }
}

function output() {
  const { memory, output, output_len } = instance.exports;
  return utf8.decoder.decode(new Uint8Array(memory.buffer, output(), output_len()));
}
