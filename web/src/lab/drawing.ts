// SVG elements of names and attributes.

const SVG = "http://www.w3.org/2000/svg";

export function draw(name: string, attributes: Record<string, string> = {}, ...children: (Node | string)[]): SVGElement {
    const element = document.createElementNS(SVG, name);
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
    element.append(...children);
    return element;
}

/** Rounds for an attribute. */
export const at = (x: number): string => x.toFixed(2);
