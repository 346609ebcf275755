// How long a response takes: seconds, and tokens a second, as it comes.

export interface Pace {
    /** Since the call was sent. */
    seconds: number;
    /** Until the first of the response came; the time of reading the prompt. */
    toFirst: number | undefined;
    /** Pieces of the response that have come; most engines send one a token. */
    pieces: number;
}

/** A clock for one call, in milliseconds of `now`. */
export class Clock {
    readonly #now: () => number;
    #start: number;
    #first: number | undefined;
    #end: number | undefined;
    #pieces = 0;

    constructor(now: () => number = () => performance.now()) {
        this.#now = now;
        this.#start = now();
    }

    piece(): void {
        this.#first ??= this.#now();
        this.#pieces += 1;
    }

    /** The call is sent again after `wait` seconds: what was before counts no more. */
    again(wait: number): void {
        this.#start = this.#now() + wait * 1000;
        this.#first = undefined;
        this.#pieces = 0;
    }

    stop(): void {
        this.#end ??= this.#now();
    }

    get pace(): Pace {
        return {
            seconds: ((this.#end ?? this.#now()) - this.#start) / 1000,
            toFirst: this.#first === undefined ? undefined : (this.#first - this.#start) / 1000,
            pieces: this.#pieces,
        };
    }
}

/** Tokens written a second; `counted` are those that the engine counted, where it has said so. */
export function written({ seconds, toFirst, pieces }: Pace, counted?: number | null): number | undefined {
    const time = toFirst === undefined ? seconds : seconds - toFirst;
    const tokens = counted ?? pieces;
    return time > 0.05 && tokens > 0 ? tokens / time : undefined;
}

/** Tokens read a second. */
export function read({ toFirst }: Pace, prompt: number): number | undefined {
    return toFirst !== undefined && toFirst > 0.05 && prompt > 0 ? prompt / toFirst : undefined;
}
