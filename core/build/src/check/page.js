"use strict";
const form = document.getElementById("form");
const who = document.getElementById("who");
const key = "closeread-check-" + form.dataset.check;
const fields = [...form.querySelectorAll("fieldset")];
const place = document.getElementById("written");

function collected() {
  const answers = {};
  const notes = {};
  for (const field of fields) {
    const ticked = field.querySelector("input[type=radio]:checked");
    const note = field.querySelector("input[type=text]").value.trim();
    if (ticked) answers[field.dataset.id] = ticked.value;
    if (note) notes[field.dataset.id] = note;
  }
  const state = { check: form.dataset.check, who: who.value.trim(), answers, notes };
  if (place) state.written = [...place.children].map(filled);
  return state;
}

function filled(field) {
  const slots = {};
  for (const input of field.querySelectorAll("[data-slot]")) slots[input.dataset.slot] = input.value.trim();
  const value = (name) => field.querySelector(`[data-field=${name}]`).value;
  const lines = (name) => value(name).split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return {
    form: field.dataset.form, book: field.dataset.book, slots, aspect: value("aspect"), complexity: value("complexity"),
    answers: lines("answers"), evidence: lines("evidence"),
  };
}

/** Puts a copy of a form on the page, filled in as `written` says. */
function add(written) {
  const template = [...document.querySelectorAll("template")].find((known) => known.dataset.form === written.form);
  if (!template) return null;
  const field = template.content.firstElementChild.cloneNode(true);
  field.dataset.form = written.form;
  field.dataset.book = written.book;
  const book = [...document.getElementById("book").options].find((known) => known.value === written.book);
  field.querySelector(".of").textContent = "About: " + (book ? book.textContent : written.book);
  for (const input of field.querySelectorAll("[data-slot]")) input.value = written.slots?.[input.dataset.slot] ?? "";
  for (const input of field.querySelectorAll("[data-field]")) {
    const value = written[input.dataset.field];
    if (value !== undefined) input.value = Array.isArray(value) ? value.join("\n") : value;
  }
  field.querySelector(".remove").addEventListener("click", () => {
    field.remove();
    keep();
    document.getElementById("add").focus();
  });
  place.append(field);
  return field;
}

function shown() {
  const state = collected();
  for (const field of fields) field.classList.toggle("answered", field.dataset.id in state.answers);
  const n = Object.keys(state.answers).length;
  const written = place ? ", " + state.written.length + " written" : "";
  document.getElementById("done").textContent = n + " of " + fields.length + " answered" + written;
  return state;
}

function keep() {
  const state = shown();
  // A browser may refuse storage to a page opened from a file: then the answers live as long as the page.
  try { localStorage.setItem(key, JSON.stringify(state)); } catch { /* nothing is lost that was there */ }
}

try {
  const state = JSON.parse(localStorage.getItem(key) ?? "{}");
  who.value = state.who ?? "";
  for (const field of fields) {
    const answer = state.answers?.[field.dataset.id];
    for (const input of field.querySelectorAll("input[type=radio]")) input.checked = input.value === answer;
    field.querySelector("input[type=text]").value = state.notes?.[field.dataset.id] ?? "";
  }
  if (place) for (const written of state.written ?? []) add(written);
} catch { /* what was kept is not readable: begin anew */ }

form.addEventListener("input", keep);
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("add")?.addEventListener("click", () => {
  const value = (id) => document.getElementById(id).value;
  const field = add({ form: value("kind"), book: value("book") });
  keep();
  field?.querySelector("[data-slot]").focus();
});
document.getElementById("save").addEventListener("click", () => {
  const blob = new Blob([JSON.stringify(collected(), null, 1) + "\n"], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = "check-" + form.dataset.check + ".json";
  link.click();
  URL.revokeObjectURL(link.href);
});
shown();
