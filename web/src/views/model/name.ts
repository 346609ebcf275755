// The chosen model as it is called on the page.

import { OFFERED } from "../../model/catalogue.js";
import { useSession, useWords } from "../../context.js";
import { visible } from "../../runs/text.js";
import { useStore } from "../../state/store.js";
import * as words from "../../words/model.js";

export function useModelName(): string {
    const { models } = useSession();
    const say = useWords(words);
    const { choice, account } = useStore(models.store, (state) => state);
    switch (choice.source) {
        case "local":
            return visible(choice.model);
        case "page":
            return OFFERED.find(({ id }) => id === choice.id)?.name ?? choice.id;
        case "key":
            return visible(account.model.trim()) || say.names.key;
        default:
            return say.names[choice.source];
    }
}
