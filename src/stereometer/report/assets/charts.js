"use strict";
/* Draws the charts: one Vega-Lite specification a box, redrawn when the box changes its width or a reader chooses another. */

const report = JSON.parse(document.getElementById("report-data").textContent);

/* Layers named after the other size are left out; those without a name belong to both. */
function sized(spec, width) {
  const other = width < 560 ? "wide-" : "narrow-";
  const layer = spec.layer.filter((one) => !(one.name || "").startsWith(other));
  return { ...spec, layer, config: report.config, width };
}

function tooltip(box) {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  box.addEventListener("mouseleave", () => { tip.hidden = true; });
  return (handler, event, item, value) => {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    tip.textContent = String(value);
    const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 16 + tip.offsetHeight < window.innerHeight;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${below ? event.clientY + 16 : event.clientY - tip.offsetHeight - 10}px`;
  };
}

/* Vega gives its container a role and name of its own; ours belong to the box around it. */
function inside(box) {
  const found = document.createElement("div");
  found.setAttribute("aria-hidden", "true");
  box.replaceChildren(found);
  return found;
}

function drawer(box) {
  const charts = report.charts[box.id];
  const tip = tooltip(box);
  let chosen = 0, view = null, width = 0;
  async function draw() {
    width = box.clientWidth;
    if (!width) return;
    if (view) view.finalize();
    box.setAttribute("aria-label", charts[chosen].description);
    const compiled = vegaLite.compile(sized(charts[chosen].spec, width)).spec;
    const runtime = vega.parse(compiled, null, { ast: true });
    view = new vega.View(runtime, { expr: vega.expressionInterpreter, renderer: "svg", tooltip: tip });
    view.initialize(inside(box));
    await view.runAsync();
    box.dataset.drawn = String(Number(box.dataset.drawn || 0) + 1);
  }
  return {
    draw,
    choose(index) { chosen = index; return draw(); },
    fit() { if (box.clientWidth !== width) draw(); },
    picture: () => view.toSVG(),
    file: () => charts[chosen].file || box.id,
    rows: () => charts[chosen].spec.layer.flatMap((one) => one.data.values),
  };
}

function watchWidth(boxes) {
  let waiting = 0;
  const observer = new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => boxes.forEach((drawn) => drawn.fit()));
  });
  boxes.forEach((_, box) => observer.observe(box));
}

function offerChoices(boxes) {
  for (const select of document.querySelectorAll("select[data-box]")) {
    select.closest(".chooser").hidden = false;
    select.selectedIndex = 0;
    const drawn = boxes.get(document.getElementById(select.dataset.box));
    select.addEventListener("change", () => drawn.choose(select.selectedIndex));
  }
}

/* Tables wider than the page say so, as long as there is more to the right. */
function hintAtScrolling() {
  const hint = (place) => place.classList.toggle("more", place.scrollWidth - place.clientWidth - place.scrollLeft > 2);
  const observer = new ResizeObserver((entries) => entries.forEach((entry) => hint(entry.target)));
  for (const place of document.querySelectorAll(".scroll")) {
    observer.observe(place);
    place.addEventListener("scroll", () => hint(place), { passive: true });
  }
}

{
  const boxes = new Map([...document.querySelectorAll(".chart")].map((box) => [box, drawer(box)]));
  boxes.forEach((drawn) => drawn.draw());
  offerChoices(boxes);
  boxes.forEach((drawn, box) => offerDownloads(box, drawn));
  hintAtScrolling();
  watchWidth(boxes);
}
