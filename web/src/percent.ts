/** A share in percent, as the command line prints it: with one decimal, and of two that are equally near the even one. */
export function percent(share: number): string {
    const value = 100 * share;
    const isBetween = Math.abs(value % 0.5) === 0.25;
    return (isBetween ? Math.round(5 * value) / 5 : value).toFixed(1);
}
