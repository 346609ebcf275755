// Which model embeds: the one that ships, or the reader's own files.

import { SHIPPED, ownModel, shipped } from "../encoder/model.js";
import { button, make } from "../dom.js";
import type { Session } from "../session.js";
import type { Words } from "../words/lab.js";

export function modelChoice(session: Session, words: Words): HTMLElement {
    const name = make("summary", { id: "embedding-model" });
    const files = make("input", { id: "model-files", type: "file", multiple: "", accept: ".toml,.json,.onnx", "aria-describedby": "model-hint" });
    const back = button(words.backToShipped(SHIPPED), () => (session.model = shipped), { id: "shipped-model" });
    const element = make("details", {}, name,
        make("p", { class: "field" }, make("label", { for: files.id }, words.ownModel), files, " ", back),
        make("p", { class: "note", id: "model-hint" }, words.ownModelHint));
    files.addEventListener("change", () => session.attempt(async () => {
        const model = await ownModel([...files.files!], words.lacksFiles);
        // A description that is none is said before anything is embedded by it.
        await session.core.ask("lab/model", { toml: (await model.describe()).toml });
        session.model = model;
    }));
    const show = async () => {
        const { model } = session;
        back.hidden = model === shipped;
        if (model === shipped) files.value = "";
        const called = model === shipped ? SHIPPED : (await session.core.ask("lab/model", { toml: (await model.describe()).toml })).name;
        if (session.model === model) name.textContent = words.embeddingModel(called);
    };
    session.listen(element, "model", () => session.attempt(show));
    void session.attempt(show);
    return element;
}
