// The first screen and the essay below it: a figure an idea, each on the sample until the reader opens a book.

import { useEffect, useMemo, useState } from "preact/hooks";
import { chooseBook, useApp, useSession, useWords } from "../context.js";
import { inView } from "../state/address.js";
import * as words from "../words/essay.js";
import { essayFile, type EssayFile } from "./data.js";
import { Hero, useSubject } from "./Hero.js";
import { Agents } from "./Agents.js";
import { BudgetIdea, OrderIdea } from "./Curves.js";
import { Meaning } from "./Meaning.js";
import { Whole } from "./Whole.js";

export function Essay() {
    const session = useSession();
    const say = useWords(words);
    const { language, address } = useApp((state) => state);
    const [file, setFile] = useState<EssayFile>();
    useEffect(() => {
        let wanted = true;
        void session.attempt(async () => {
            const read = await essayFile(language);
            if (wanted) setFile(read);
        });
        return () => void (wanted = false);
    }, [language]);
    const section = address.path[0];
    useEffect(() => {
        if (section && file) document.getElementById(`idea-${section}`)?.scrollIntoView();
    }, [section, file !== undefined]);
    const subject = useSubject(file);
    const ask = useMemo(() => inView(address, "ask"), [address]);
    return (
        <article id="essay" class="essay" aria-labelledby="essay-heading">
            <header class="hero">
                <div>
                    <h1 id="essay-heading">{say.title}</h1>
                    <p class="lead">{say.lead}</p>
                </div>
                <div class="acts">
                    <button type="button" id="try" class="go" onClick={chooseBook} onPointerEnter={() => session.prepare()}>
                        {say.tryMine}
                    </button>
                    <a class="button" href={ask}>
                        {say.askModel}
                    </a>
                </div>
            </header>
            {subject && file && (
                <>
                    <Hero subject={subject} />
                    <OrderIdea />
                    <BudgetIdea subject={subject} />
                    <Meaning subject={subject} />
                    <Agents subject={subject} />
                    <Whole subject={subject} />
                    <section class="idea end-of-essay" aria-labelledby="end-heading">
                        <div class="say">
                            <h2 id="end-heading">{say.endHeading}</h2>
                            <p>{say.end}</p>
                            <p class="acts">
                                <button type="button" class="go" onClick={chooseBook}>
                                    {say.tryMine}
                                </button>{" "}
                                <a class="button" href={ask}>
                                    {say.askModel}
                                </a>
                            </p>
                        </div>
                    </section>
                </>
            )}
        </article>
    );
}
