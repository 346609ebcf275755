// What methods ask for, as the essay shows it.

import type { CostRange, MethodOffer } from "../closeread_wasm.js";

/** What a method asks for: fewest and most calls and tokens of prompts. */
export interface MethodCost {
    name: string;
    budget: number | null;
    calls: [number, number];
    tokens: [number, number];
    madeCalls: [number, number];
    madeTokens: [number, number];
}

const BUDGET = 1500;

/** What one question asks of a method, at the middle of its budgets where it does not take the essay's. */
export function methodCost({ name, costs }: Pick<MethodOffer, "name" | "costs">): MethodCost {
    const { budget, preparation, question } = costs.find((cost) => cost.budget === BUDGET) ?? costs[Math.floor(costs.length / 2)]!;
    const between = ({ low, high }: CostRange): [number, number] => [low, high];
    return {
        name,
        budget,
        calls: between(question.calls),
        tokens: between(question.prompt_tokens),
        madeCalls: between(preparation.calls),
        madeTokens: between(preparation.prompt_tokens),
    };
}
