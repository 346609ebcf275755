// The style that all elements share; elements are made by ../dom.

/** Colours and sizes of a page go in by custom properties; both colour schemes are there without them. */
export const STYLE = `
:host { display: block; container-type: inline-size; font: 1rem/1.5 system-ui, sans-serif;
  --ink: var(--closeread-ink, light-dark(#1c1b19, #e9e6df)); --paper: var(--closeread-paper, light-dark(#fbfaf7, #191817));
  --line: var(--closeread-line, light-dark(#cfcabf, #45413b)); --muted: var(--closeread-muted, light-dark(#5d584f, #ada698));
  --mark: var(--closeread-mark, light-dark(#a3431f, #f0a078)); color-scheme: var(--closeread-scheme, light dark);
  color: var(--ink); background: var(--paper); padding: var(--closeread-padding, 1rem); }
:host([hidden]) { display: none; }
button, input { font: inherit; max-width: 100%; accent-color: var(--mark); }
button { padding: .3rem .8rem; }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.scroll { overflow-x: auto; }
.tools { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: 0; }
.tools input { padding: .3rem .5rem; }
summary { cursor: pointer; }
table { border-collapse: collapse; margin: .75rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: start; font-weight: 600; }
th, td { padding: .2rem .75rem .2rem 0; border-bottom: 1px solid var(--line); text-align: start; font-weight: normal; vertical-align: top; }
thead th { color: var(--muted); }
td.number { text-align: end; }
.note { color: var(--muted); } .problem { color: var(--mark); font-weight: 600; } .problem:empty { display: none; }
`;

export { csv, saveFile as save } from "../parts/export.js";

export function styled(host: HTMLElement, style = ""): ShadowRoot {
    const root = host.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE + style);
    root.adoptedStyleSheets = [sheet];
    return root;
}
