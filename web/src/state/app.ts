// What the views share: where the page is, its language, the open book, the question, what went wrong.

import type { Chapter } from "../closeread_books.js";
import type { Facts } from "../messages/book.js";
import type { Item } from "../closeread_wasm.js";
import type { Work } from "../sample.js";
import type { Language } from "../words/index.js";
import type { Address } from "./address.js";

export interface OpenBook {
    /** In an address: the id of a work of the sample, or the start of the bytes' SHA-256; empty where neither is known. */
    key: string;
    /** The file's name, or the work's title. */
    name: string;
    /** The EPUB's or the work's title; else the file's name without its ending. */
    title: string;
    bytes: Uint8Array;
    facts: Facts;
    /** None where the book has no headings that tell. */
    chapters: Chapter[];
    /** Where it is one of the sample's works. */
    work: Work | undefined;
}

/** A question, and the sample's item that it is from. */
export interface Question {
    text: string;
    item: Item | undefined;
}

export interface AppState {
    address: Address;
    language: Language;
    book: OpenBook | undefined;
    /** The name of the book that is being read. */
    opening: string | undefined;
    question: Question;
    /** What is going on, for the page's polite line. */
    status: string;
    /** What went wrong last; empty where nothing did. */
    problem: string;
    /** The key of the open book, or its name without one, if the browser does not keep it and that was not taken note of; else empty. */
    unkept: string;
    /** Names of the files that were dropped with the one that was opened, and were not. */
    left: readonly string[];
}

export type AppAction =
    | { kind: "went"; address: Address }
    | { kind: "spoke"; language: Language }
    | { kind: "opening"; name: string }
    | { kind: "opened"; book: OpenBook }
    | { kind: "kept" }
    | { kind: "asked"; question: Question }
    | { kind: "said"; status: string }
    | { kind: "failed"; problem: string }
    | { kind: "unkept"; key: string }
    | { kind: "left"; names: readonly string[] };

export const NO_QUESTION: Question = { text: "", item: undefined };

export function initialApp(address: Address, language: Language): AppState {
    return { address, language, book: undefined, opening: undefined, question: NO_QUESTION, status: "", problem: "", unkept: "", left: [] };
}

export function reduceApp(state: AppState, action: AppAction): AppState {
    switch (action.kind) {
        case "went":
            return { ...state, address: action.address };
        case "spoke":
            return { ...state, language: action.language };
        case "opening":
            return { ...state, opening: action.name, problem: "", left: [] };
        // Another book has other questions.
        case "opened":
            return { ...state, book: action.book, opening: undefined, question: NO_QUESTION, unkept: "" };
        case "kept":
            return { ...state, opening: undefined };
        case "asked":
            return { ...state, question: action.question };
        case "said":
            return state.status === action.status ? state : { ...state, status: action.status };
        case "failed":
            return state.problem === action.problem ? state : { ...state, problem: action.problem };
        case "unkept":
            return state.unkept === action.key ? state : { ...state, unkept: action.key };
        case "left":
            return { ...state, left: action.names };
    }
}
