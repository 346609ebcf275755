"use strict";
const form = document.getElementById("form");
const who = document.getElementById("who");
const key = "closeread-check-" + form.dataset.check;
const fields = [...form.querySelectorAll("fieldset")];

function collected() {
  const answers = {};
  const notes = {};
  for (const field of fields) {
    const ticked = field.querySelector("input[type=radio]:checked");
    const note = field.querySelector("input[type=text]").value.trim();
    if (ticked) answers[field.dataset.id] = ticked.value;
    if (note) notes[field.dataset.id] = note;
  }
  return { check: form.dataset.check, who: who.value.trim(), answers, notes };
}

function shown() {
  const state = collected();
  for (const field of fields) field.classList.toggle("answered", field.dataset.id in state.answers);
  const n = Object.keys(state.answers).length;
  document.getElementById("done").textContent = n + " of " + fields.length + " answered";
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
} catch { /* what was kept is not readable: begin anew */ }

form.addEventListener("input", keep);
form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("save").addEventListener("click", () => {
  const blob = new Blob([JSON.stringify(collected(), null, 1) + "\n"], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = "check-" + form.dataset.check + ".json";
  link.click();
  URL.revokeObjectURL(link.href);
});
shown();
