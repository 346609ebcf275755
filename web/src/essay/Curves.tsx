// Order in the paper; budget against evidence.

import { StepChart, type Curve } from "../parts/StepChart.js";
import { useWords } from "../context.js";
import * as words from "../words/essay.js";
import type { Subject } from "./Hero.js";
import { Idea, Paper } from "./Idea.js";

/** Stronger Baselines, table 2: budget, accuracy, standard deviation. */
const BOOK_ORDER = [
    [1500, 75.6, 0.2],
    [5000, 85.9, 0.6],
    [10_000, 90, 0.5],
    [20_000, 91.4, 0.2],
    [30_000, 93.1, 0.5],
    [40_000, 91.9, 0.7],
] as const;
const BY_SCORE = [
    [1500, 76.2, 0.6],
    [5000, 82.6, 0.8],
    [10_000, 86, 0.7],
    [20_000, 86.9, 0.5],
    [30_000, 87.8, 0.4],
    [40_000, 86.6, 0.4],
] as const;

const points = (rows: readonly (readonly [number, number, number])[]) => rows.map(([x, y, spread]) => ({ x, y, spread }));

export function OrderIdea() {
    const say = useWords(words);
    const curves: Curve[] = [
        { name: say.bookOrder, line: "solid", points: points(BOOK_ORDER) },
        { name: say.byScore, line: "dashed", points: points(BY_SCORE) },
    ];
    return (
        <Idea
            id="order"
            heading={say.orderHeading}
            texts={say.order}
            paper={
                <>
                    <Paper of="stronger" />
                    {say.orderPaper}
                </>
            }
        >
            <StepChart name="order-in-the-paper" title={say.orderChart} curves={curves} low={70} high={95} xLabel={say.budgetAxis} value={say.points} />
        </Idea>
    );
}

export function BudgetIdea({ subject: { file, mine, settings, evidence } }: { subject: Subject }) {
    const say = useWords(words);
    if (mine) {
        const curve = mine.found.curve.map(({ budget, nPlaces }) => ({ x: budget, y: nPlaces }));
        return (
            <Idea id="budget" heading={say.budgetHeading} texts={[say.budgetMine]} paper={say.computed}>
                {curve.length > 0 && (
                    <StepChart
                        name="places"
                        title={say.placesChart}
                        low={0}
                        high={Math.max(4, ...curve.map(({ y }) => y))}
                        xLabel={say.budgetAxis}
                        value={say.count}
                        mark={settings.budget}
                        curves={[{ name: say.places, line: "solid", step: true, points: curve }]}
                    />
                )}
            </Idea>
        );
    }
    const all = file.curve.find(([, recall]) => recall >= 1)?.[0] ?? 0;
    const curves: Curve[] = [
        { name: say.thisQuestion, line: "solid", step: true, points: file.curve.map(([x, y]) => ({ x, y })) },
        { name: say.allQuestions, line: "dashed", points: file.mean.filter(([x]) => x <= 10_000).map(([x, y]) => ({ x, y })) },
    ];
    return (
        <Idea id="budget" heading={say.budgetHeading} texts={say.budget(evidence.length, all, file.nQuestions)} paper={say.computed}>
            <StepChart
                name="evidence-by-budget"
                title={say.budgetChart}
                curves={curves}
                low={0}
                high={1}
                xLabel={say.budgetAxis}
                value={say.percent}
                mark={settings.budget}
            />
        </Idea>
    );
}
