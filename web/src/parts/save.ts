// Figures as files: CSV of their values, SVG and PNG of what is seen.

/** Hands the reader a file. */
export function saveFile(name: string, content: BlobPart, type: string): void {
    const url = URL.createObjectURL(new Blob([content], { type }));
    Object.assign(document.createElement("a"), { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Rows as RFC 4180 has them. */
export function csv(rows: readonly (readonly (string | number)[])[]): string {
    const cell = (value: string | number) => (/[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
    return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

/** A drawing that stands for itself: what the style sheet says of it is in its attributes. */
export function standalone(svg: SVGSVGElement): string {
    const copy = svg.cloneNode(true) as SVGSVGElement;
    const { width, height } = svg.getBoundingClientRect();
    const [shown, copied] = [[svg, ...svg.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
    shown.forEach((element, n) => {
        const style = getComputedStyle(element);
        for (const name of DRAWN) {
            const value = style.getPropertyValue(name);
            if (value !== "" && value !== "normal") copied[n]!.setAttribute(name, value);
        }
        copied[n]!.removeAttribute("class");
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const box = svg.viewBox.baseVal;
    const [x, y] = box && box.width > 0 ? [box.x, box.y] : [0, 0];
    for (const [name, value] of Object.entries({ x, y, width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor })) paper.setAttribute(name, String(value));
    copy.prepend(paper);
    return new XMLSerializer().serializeToString(copy);
}

/** The same in pixels, two for each of the page's. */
export async function png(svg: SVGSVGElement): Promise<Blob> {
    const { width, height } = svg.getBoundingClientRect();
    const url = URL.createObjectURL(new Blob([standalone(svg)], { type: "image/svg+xml" }));
    try {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
        canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
        return await new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture is too large for this browser"))), "image/png"));
    } finally {
        URL.revokeObjectURL(url);
    }
}
