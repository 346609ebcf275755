/** What to compare, as the options of `closeread compare`. */
export type CompareOptions = Choice & {
    /** Names of the runs where both have one name; default: the name. */
    paths?: [string, string];
};
