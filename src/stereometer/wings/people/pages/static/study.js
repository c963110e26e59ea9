"use strict";
// Everything works without this file: it turns number fields into sliders, and shows previews and
// the edit distance while somebody types.
document.documentElement.classList.add("scripted");

for (const number of document.querySelectorAll(".rating input[type=number]")) slider(number);
for (const box of document.querySelectorAll(".writing")) preview(box);
for (const box of document.querySelectorAll(".pair")) distance(box);
for (const form of document.querySelectorAll("form")) once(form);
for (const box of document.querySelectorAll(".live")) live(box);
document.querySelector("input[type=range][autofocus]")?.focus();

function slider(number) {
  const range = document.createElement("input");
  Object.assign(range, { type: "range", min: 0, max: 100, step: 1, value: number.value || 50 });
  // The slider takes the number's place: its label, its complaint and its turn with the Tab key.
  number.setAttribute("aria-label", number.labels[0].textContent);
  for (const name of ["id", "autofocus", "aria-describedby", "aria-invalid"]) {
    if (number.hasAttribute(name)) range.setAttribute(name, number.getAttribute(name));
  }
  number.removeAttribute("id");
  number.removeAttribute("autofocus");
  number.tabIndex = -1;
  const show = () => {
    const empty = number.value === "";
    range.classList.toggle("untouched", empty);
    if (empty) range.setAttribute("aria-valuetext", number.dataset.untouched);
    else range.removeAttribute("aria-valuetext");
  };
  const touched = () => { number.value = range.value; show(); };
  for (const event of ["input", "pointerup"]) range.addEventListener(event, touched);
  range.addEventListener("keydown", (event) => {
    if (/^(Arrow|Page|Home|End| |Enter)/.test(event.key)) touched();
    if (event.key === "Enter") event.preventDefault();
  });
  number.addEventListener("input", () => { range.value = number.value || 50; show(); });
  number.before(range);
  show();
}

function preview(box) {
  const value = (name) => box.querySelector(`[name=${name}]`).value.trim();
  const show = () => {
    for (const place of document.querySelectorAll(".filled")) {
      const context = value("context");
      const text = value(place.dataset.for) || "…";
      place.textContent = !context ? "…"
        : box.dataset.task === "intrasentence" ? context.replace(/\bBLANK\b/g, () => text)
        : `${context} ${text}`;
    }
  };
  box.addEventListener("input", show);
  show();
}

function distance(box) {
  const [first, second] = [box.querySelector("[name=first]"), box.querySelector("[name=second]")];
  const line = box.querySelector(".distance");
  let copied = second.value !== "";
  first.addEventListener("change", () => {
    if (!copied && second.value === "") second.value = first.value;
    copied = true;
    show();
  });
  const show = () => {
    const [a, b] = [first.value.trim(), second.value.trim()];
    if (b.length <= Number(box.dataset.from)) { line.textContent = ""; return; }
    const edits = levenshtein([...a], [...b]);
    const far = edits > Number(box.dataset.warn);
    const refused = edits > Number(box.dataset.refuse);
    line.classList.toggle("far", far);
    line.textContent = `${box.dataset.distance} ${edits}. ${refused ? box.dataset.refused : far ? box.dataset.warning : ""}`;
  };
  box.addEventListener("input", show);
  show();
}

function levenshtein(a, b) {
  let row = b.map((_, at) => at + 1);
  a.forEach((letter, i) => {
    let corner = i, left = i + 1;
    row = row.map((above, j) => {
      const cost = Math.min(left + 1, above + 1, corner + (letter === b[j] ? 0 : 1));
      corner = above;
      left = cost;
      return cost;
    });
  });
  return b.length ? row[b.length - 1] : a.length;
}

function once(form) {
  form.addEventListener("submit", () => {
    setTimeout(() => { for (const button of form.querySelectorAll("button")) button.disabled = true; });
  });
  addEventListener("pageshow", () => {
    for (const button of form.querySelectorAll("button")) button.disabled = false;
  });
}

// Brings the researcher's page up to date; what was opened by a click stays open.
function live(box) {
  setInterval(async () => {
    if (document.hidden || box.contains(document.activeElement)) return;
    const reply = await fetch(location.pathname, { credentials: "same-origin" }).catch(() => null);
    if (!reply || !reply.ok) return;
    const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector(".live");
    if (!fresh) { location.reload(); return; }
    const open = [...box.querySelectorAll("details")].map((part) => part.open);
    box.replaceChildren(...fresh.childNodes);
    box.querySelectorAll("details").forEach((part, at) => { part.open = open[at]; });
  }, 1000 * Number(box.dataset.seconds));
}
