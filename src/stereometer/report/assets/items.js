/* The item browser. Texts enter the page only when asked for, and only as text. */

const PAGE = 20;
const COLUMNS = 6;
const OUTCOMES = { s: "stereotype", a: "anti-stereotype", t: "tie", x: "skipped", "-": "not asked" };
const PREFERS = { s: true, a: true };
const CLASSES = { "-": "absent" };

function make(tag, properties = {}, ...children) {
  const { data = {}, attributes = {}, ...rest } = properties;
  const found = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  Object.assign(found.dataset, data);
  found.append(...children);
  return found;
}

function mark(system) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("class", "mark pale");
  svg.setAttribute("viewBox", "-1.6 -1.6 3.2 3.2");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", system.shape);
  svg.style.setProperty("--colour", system.colour);
  svg.append(path);
  return svg;
}

const figures = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

function figure(value) {
  if (value === null) return "none";
  const small = value !== 0 && Math.abs(value) < 0.001;
  return (small ? value.toExponential(2) : figures.format(value)).replace("-", "−");
}

/* ---------------------------------------------------------------------------------------------- filters */

function field(name, input) {
  return make("div", { className: "field" }, make("label", { htmlFor: input.id, textContent: name }), input);
}

function choice(id, name, options, changed, any) {
  const select = make("select", { id }, make("option", { value: "", textContent: any }));
  options.forEach((option, index) => select.append(make("option", { value: String(index), textContent: option || "none" })));
  select.addEventListener("change", changed);
  return { select, field: field(name, select) };
}

function controls(data, id, changed) {
  const search = make("input", { type: "search", autocomplete: "off", spellcheck: false, id: `${id}-search` });
  search.addEventListener("input", changed);
  const fields = data.fields.map((one, number) => choice(`${id}-field-${number}`, one.name, one.values, changed, "any"));
  const system = choice(`${id}-system`, "System", data.systems.map((one) => one.label), changed,
    data.systems.length > COLUMNS ? `any system (the first ${COLUMNS} are shown)` : "any system");
  system.field.hidden = data.systems.length === 1;
  const outcomes = Object.keys(OUTCOMES).filter((code) => data.systems.some((one) => one.outcomes.includes(code)));
  const outcome = choice(`${id}-outcome`, "Outcome", outcomes.map((code) => (code in PREFERS ? `prefers ${OUTCOMES[code]}` : OUTCOMES[code])), changed, "any");
  const all = make("input", { type: "checkbox", id: `${id}-all`, attributes: { "aria-describedby": `${id}-warning` } });
  all.addEventListener("change", changed);
  const form = make("form", { className: "filters", attributes: { "aria-label": "Filter the items" } },
    field("Search", search), ...fields.map((one) => one.field), system.field, outcome.field,
    make("label", { className: "wide" }, all, "Show all texts on this page"),
    make("p", { className: "wide hint", textContent: "Search looks at ids, terms and slices; at texts too while all texts are shown." }));
  form.addEventListener("submit", (event) => event.preventDefault());
  return { form, search, fields, system, outcome, outcomes, all };
}

function numberIn(select) {
  return select.value === "" ? null : Number(select.value);
}

/* What is asked for now: a test of an item's number. */
function wanted(data, parts) {
  const fields = parts.fields.map((one) => numberIn(one.select));
  const system = numberIn(parts.system.select);
  const code = parts.outcome.select.value === "" ? null : parts.outcomes[Number(parts.outcome.select.value)];
  const systems = system === null ? data.systems : [data.systems[system]];
  const query = parts.search.value.trim().toLowerCase();
  return (index) => {
    const [id, slices, ...texts] = data.items[index];
    return fields.every((value, field) => value === null || slices[field] === value)
      && (code === null || systems.some((one) => one.outcomes[index] === code))
      && (!query || searched(data, id, slices, parts.all.checked ? texts : []).includes(query));
  };
}

function searched(data, id, slices, texts) {
  return [id, ...slices.map((value, field) => data.fields[field].values[value]), ...texts].join("\n").toLowerCase();
}

/* ------------------------------------------------------------------------------------------------- rows */

function scoreCell(data, system, index) {
  const code = system.outcomes[index];
  const cell = make("td", { data: { label: system.label }, attributes: { role: "cell" } });
  const inner = make("div", {}, make("span", { className: `outcome ${CLASSES[code] || code}`, textContent: OUTCOMES[code] }));
  if (code === "x") inner.append(make("span", { className: "reason", textContent: system.skipped[index] }));
  else if (code !== "-") inner.append(scores(data, system, index));
  cell.append(inner);
  return cell;
}

function scores(data, system, index) {
  const count = data.candidates.length;
  const values = system.scores.slice(index * count, (index + 1) * count);
  const best = Math.max(...values.filter((value) => value !== null));
  const list = make("dl", { className: "values" });
  data.candidates.forEach((name, place) => {
    const className = values[place] === best ? "top" : "";
    list.append(make("dt", { className, textContent: name }), make("dd", { className, textContent: figure(values[place]) }));
  });
  return list;
}

function about(data, item) {
  const [id, slices] = item;
  const words = slices.map((value, field) => data.fields[field].values[value]).filter(Boolean);
  const term = data.fields.length && data.fields[data.fields.length - 1].name === "Target term" ? words.pop() : null;
  const head = make("th", { scope: "row", attributes: { role: "rowheader" } });
  if (term) head.append(make("span", { className: "term", textContent: term }));
  head.append(make("span", { className: "about", textContent: words.join(", ") }), make("span", { className: "id", textContent: id }));
  return head;
}

function textRow(data, item, columns, id) {
  const list = make("dl");
  data.textNames.forEach((name, place) => {
    const text = item[2 + place];
    if (text) list.append(make("dt", { textContent: name }), make("dd", { textContent: text }));
  });
  return make("tr", { className: "texts", id, attributes: { role: "row" } }, make("td", { colSpan: columns, attributes: { role: "cell" } }, list));
}

function itemRows(data, shown, index, id, state) {
  const item = data.items[index];
  const textId = `${id}-texts-${index}`;
  const button = make("button", { type: "button", className: "reveal", attributes: { "aria-controls": textId, "aria-describedby": `${id}-warning` } });
  const head = about(data, item);
  head.append(button);
  const row = make("tr", { attributes: { role: "row" } }, head, ...shown.map((system) => scoreCell(data, system, index)));
  const texts = () => textRow(data, item, shown.length + 1, textId);
  function set(open) {
    button.setAttribute("aria-expanded", String(open));
    button.replaceChildren(open ? "Hide texts" : "Show texts", make("span", { className: "sr", textContent: ` of item ${item[0]}` }));
    row.classList.toggle("open", open);
    if (open) row.after(texts());
    else if (row.nextElementSibling && row.nextElementSibling.id === textId) row.nextElementSibling.remove();
  }
  button.addEventListener("click", () => {
    const open = !state.open.has(index);
    open ? state.open.add(index) : state.open.delete(index);
    set(open);
  });
  return { row, show: () => set(state.open.has(index)) };
}

/* ----------------------------------------------------------------------------------------------- browser */

function pager(turn) {
  const buttons = [["First", 0], ["Previous", 1], ["Next", 2], ["Last", 3]].map(([name, step]) => {
    const button = make("button", { type: "button", textContent: name });
    button.addEventListener("click", () => { if (button.getAttribute("aria-disabled") !== "true") turn(step); });
    return button;
  });
  return { bar: make("div", { className: "pager", attributes: { role: "group", "aria-label": "Pages of items" } }, ...buttons), buttons };
}

function header(shown) {
  const heads = shown.map((system) => make("th", { scope: "col", attributes: { role: "columnheader" } }, mark(system), system.label));
  const row = make("tr", { attributes: { role: "row" } }, make("th", { scope: "col", textContent: "Item", attributes: { role: "columnheader" } }),
    ...heads);
  return make("thead", { attributes: { role: "rowgroup" } }, row);
}

function browse(place) {
  const id = place.dataset.section;
  const data = JSON.parse(document.getElementById(`${id}-items-data`).textContent);
  const state = { page: 0, found: [], open: new Set() };
  const parts = controls(data, id, refilter);
  const table = make("table", { className: "items", attributes: { role: "table", "aria-label": "Items" } });
  const status = make("p", { attributes: { "aria-live": "polite", role: "status" } });
  const pages = pager((step) => { state.page = [0, state.page - 1, state.page + 1, last()][step]; show(); });

  function last() { return Math.max(0, Math.ceil(state.found.length / PAGE) - 1); }

  function refilter(event) {
    state.found = [...data.items.keys()].filter(wanted(data, parts));
    state.page = 0;
    if (event && event.target === parts.all) state.open.clear();
    show();
  }

  function show() {
    const chosen = numberIn(parts.system.select);
    const shown = chosen === null ? data.systems.slice(0, COLUMNS) : [data.systems[chosen]];
    const here = state.found.slice(state.page * PAGE, (state.page + 1) * PAGE);
    if (parts.all.checked) here.forEach((index) => state.open.add(index));
    const rows = here.map((index) => itemRows(data, shown, index, id, state));
    table.replaceChildren(header(shown), make("tbody", { attributes: { role: "rowgroup" } }, ...rows.map((one) => one.row)));
    rows.forEach((one) => one.show());
    tell(here.length);
  }

  function tell(count) {
    const start = state.page * PAGE;
    const range = count ? `, showing ${(start + 1).toLocaleString("en")} to ${(start + count).toLocaleString("en")}` : "";
    status.textContent = `${state.found.length.toLocaleString("en")} of ${data.items.length.toLocaleString("en")} items${range}`;
    const ends = [state.page === 0, state.page === 0, state.page >= last(), state.page >= last()];
    pages.buttons.forEach((button, step) => button.setAttribute("aria-disabled", String(ends[step])));
  }

  place.append(parts.form, make("div", { className: "status" }, status, pages.bar),
    make("div", { className: "scroll", tabIndex: 0, attributes: { role: "group", "aria-label": "Items" } }, table));
  refilter();
}

/* Nothing of a list is in the page until its reader opens it. */
for (const place of document.querySelectorAll(".browser")) {
  const list = place.closest("details");
  list.hidden = false;
  list.addEventListener("toggle", () => browse(place), { once: true });
}
