// What a person is typing in reply to a call: it is there again after another view was shown.

import { useState } from "preact/hooks";
import { useSession } from "../../context.js";

export function useDraft(of: string): [string, (text: string) => void] {
    const { person } = useSession().models;
    const [text, setText] = useState(person.draft(of));
    const type = (text: string) => {
        person.keep(of, text);
        setText(text);
    };
    return [text, type];
}
