// How trees and agents read: what each method would ask of this book.

import { useEffect, useRef, useState } from "preact/hooks";
import { Save } from "../parts/Save.js";
import { Term } from "../parts/Term.js";
import { useApp, useSession, useWords } from "../context.js";
import { inView } from "../state/address.js";
import { shown } from "../words/index.js";
import * as words from "../words/essay.js";
import { methodCost, type MethodCost } from "./cost.js";
import type { Subject } from "./Hero.js";
import { Idea, Paper } from "./Idea.js";

/** The methods of the papers that one book shows; the others are variants of these. */
const SHOWN = ["vanilla-rag", "dos-rag", "agentic-rag", "raptor", "read-agent", "memory-agent", "full-document"];

export function Agents({ subject: { file, mine } }: { subject: Subject }) {
    const say = useWords(words);
    const address = useApp((state) => state.address);
    const figure = useRef<HTMLElement>(null);
    const { costs: all, waiting } = useCosts(file.methods, mine?.book, figure);
    const methods = SHOWN.flatMap((name) => all.find((method) => method.name === name) ?? []);
    const most = Math.max(1, ...methods.map(({ tokens }) => tokens[1]));
    const [width, row] = [360, 30];
    // From 100 tokens on, by factors: an agent reads a thousand times what a search does.
    const x = (tokens: number) => (width * Math.log(Math.max(1, tokens / 100))) / Math.log(Math.max(10, most / 100));
    return (
        <Idea
            id="agents"
            heading={say.agentsHeading}
            texts={say.agents}
            paper={
                <>
                    <Paper of="stronger" />
                    {say.agentsPaper.stronger}
                    <Paper of="saga" />
                    {say.agentsPaper.saga}
                </>
            }
        >
            <figure class="chart agents" ref={figure} aria-label={say.agentsChart} aria-busy={waiting}>
                <div class="scroll" tabIndex={0} role="region" aria-label={say.agentsChart}>
                    <table>
                        <thead>
                            <tr>
                                <th scope="col">
                                    <Term name="method">{say.methodName}</Term>
                                </th>
                                <th scope="col">{say.reads}</th>
                                <th scope="col" class="number">
                                    <Term name="call">{say.callsName}</Term>
                                </th>
                                <th scope="col" class="number">
                                    {say.tokensName}
                                </th>
                                <th aria-hidden="true" />
                            </tr>
                        </thead>
                        <tbody>
                            {methods.map(({ name, calls, tokens, madeCalls, madeTokens }) => (
                                <tr key={name}>
                                    <th scope="row">{name}</th>
                                    <td>
                                        {say.methods[name] ?? ""}
                                        {madeCalls[1] > 0 && <small> {say.once(say.calls(madeCalls), say.calls(madeTokens))}</small>}
                                    </td>
                                    <td class="number">{say.calls(calls)}</td>
                                    <td class="number">{say.calls(tokens)}</td>
                                    <td aria-hidden="true">
                                        <svg width="120" height="14">
                                            <rect class="bar" width={Math.max(2, x(tokens[1]) / 3)} height="14" />
                                        </svg>
                                    </td>
                                </tr>
                            ))}
                        </tbody>
                    </table>
                </div>
                <svg class="drawing vh" width={width + 330} height={row * methods.length + 8} aria-hidden="true">
                    {methods.map(({ name, tokens }, n) => (
                        <g key={name}>
                            <text x="0" y={n * row + 20}>
                                {name}
                            </text>
                            <rect class="bar" x="120" y={n * row + 8} width={Math.max(2, x(tokens[1]))} height="14" />
                            <text x={128 + x(tokens[1])} y={n * row + 20}>
                                {say.calls(tokens)}
                            </text>
                        </g>
                    ))}
                </svg>
                <Save
                    name="methods"
                    title={say.agentsChart}
                    figure={figure}
                    rows={() => [
                        ["method", "calls_low", "calls_high", "tokens_low", "tokens_high"],
                        ...methods.map(({ name, calls, tokens }) => [name, ...calls, ...tokens]),
                    ]}
                />
                <p>
                    <a href={inView(address, "watch")}>{say.watchThem}</a>{" "}
                    <span class="mute num">
                        {say.fits(mine ? mine.book.title : file.book.title, shown(mine ? mine.book.facts.nTokens : file.book.nTokens))}
                    </span>
                </p>
            </figure>
        </Idea>
    );
}

/** What the methods ask of the reader's own book, computed when the figure comes near. */
function useCosts(
    before: MethodCost[],
    book: Subject["mine"] extends infer M | undefined ? (M extends { book: infer B } ? B : never) | undefined : never,
    figure: { current: HTMLElement | null },
): { costs: MethodCost[]; waiting: boolean } {
    const session = useSession();
    const [costs, setCosts] = useState<{ of: unknown; costs: MethodCost[] }>();
    useEffect(() => {
        if (book === undefined || figure.current === null) return;
        let wanted = true;
        const observer = new IntersectionObserver(
            ([entry]) => {
                if (!entry?.isIntersecting) return;
                observer.disconnect();
                void session.attempt(async () => {
                    const { language } = book.facts;
                    const offers = await session.core.ask("watch/methods", { book: { id: "book", title: book.title, language } });
                    if (wanted)
                        setCosts({
                            of: book,
                            costs: offers.map(methodCost),
                        });
                });
            },
            { rootMargin: "400px" },
        );
        observer.observe(figure.current);
        return () => {
            wanted = false;
            observer.disconnect();
        };
    }, [book]);
    const there = book !== undefined && costs?.of === book;
    return { costs: there ? costs.costs : before, waiting: book !== undefined && !there };
}
