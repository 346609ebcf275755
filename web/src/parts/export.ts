// Figures as files: CSV of their values, SVG and PNG of what is seen.

/** Hands the reader a file. */
export function saveFile(name: string, content: BlobPart, type: string): void {
    const url = URL.createObjectURL(new Blob([content], { type }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Rows as RFC 4180 has them. */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
    const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    return rows.map((row) => `${row.map((value) => quoted(inert(String(value)))).join(",")}\r\n`).join("");
}

/** A name as a spreadsheet takes it for text, as the command line's CSV has it: with an apostrophe where it would run as a formula. Numbers get none. */
function inert(text: string): string {
    const isNumber = /^[-+]\d[-+\d.,e%[\] *]*$/.test(text);
    return /^[=+\-@\t\r]/.test(text) && !isNumber ? `'${text}` : text;
}

const DRAWN = [
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-dasharray",
    "stroke-linejoin",
    "opacity",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
    "dominant-baseline",
];

const SVG = "http://www.w3.org/2000/svg";

/** A figure as an SVG that stands for itself: what the style sheet says is in attributes; lines of text beside drawings are taken along. */
export function standalone(figure: Element): string {
    const one = figure.matches("svg") ? figure : figure.querySelector("svg.drawing");
    const box = (one ?? figure).getBoundingClientRect();
    const whole = element("svg", { width: box.width, height: box.height, viewBox: `0 0 ${box.width} ${box.height}` });
    whole.append(element("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
    const drawings = one ? [one as SVGSVGElement] : [...figure.querySelectorAll("svg")];
    for (const drawing of drawings) {
        const at = drawing.getBoundingClientRect();
        if (at.width > 0) whole.append(placed(at, box, styledCopy(drawing)));
    }
    if (!one) for (const line of figure.querySelectorAll(".rows .place, .rows .text, .ribbon-foot > span")) whole.append(lineOfText(line, box));
    return new XMLSerializer().serializeToString(whole);
}

function element(name: string, attributes: Record<string, string | number>): SVGElement {
    const made = document.createElementNS(SVG, name);
    for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
    return made;
}

function placed(at: DOMRect, within: DOMRect, drawing: SVGElement): SVGElement {
    for (const [name, value] of Object.entries({ x: at.left - within.left, y: at.top - within.top, width: at.width, height: at.height }))
        drawing.setAttribute(name, String(value));
    return drawing;
}

function styledCopy(svg: SVGSVGElement): SVGElement {
    const copy = svg.cloneNode(true) as SVGElement;
    const [shown, copied] = [
        [svg, ...svg.querySelectorAll("*")],
        [copy, ...copy.querySelectorAll("*")],
    ];
    shown.forEach((from, n) => {
        const style = getComputedStyle(from);
        for (const name of DRAWN) {
            const value = style.getPropertyValue(name);
            if (value !== "" && value !== "normal") copied[n]!.setAttribute(name, value);
        }
        for (const name of ["class", "style", "role", "tabindex"]) copied[n]!.removeAttribute(name);
    });
    return copy;
}

/** A line as far as it is seen. */
function lineOfText(line: Element, within: DOMRect): SVGElement {
    const [at, style] = [line.getBoundingClientRect(), getComputedStyle(line)];
    const size = Number.parseFloat(style.fontSize);
    const text = element("text", { y: size, fill: style.color, "font-family": style.fontFamily, "font-size": size });
    text.textContent = line.textContent;
    const clip = element("svg", { overflow: line.matches(".text") ? "hidden" : "visible" });
    clip.append(text);
    return placed(at, within, clip);
}

/** The same in pixels, two for each of the page's. */
export async function png(figure: Element): Promise<Blob> {
    const one = figure.matches("svg") ? figure : (figure.querySelector("svg.drawing") ?? figure);
    const { width, height } = one.getBoundingClientRect();
    const url = URL.createObjectURL(new Blob([standalone(figure)], { type: "image/svg+xml" }));
    try {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
        canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
        return await new Promise((resolve, reject) =>
            canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large for this browser"))), "image/png"),
        );
    } finally {
        URL.revokeObjectURL(url);
    }
}
