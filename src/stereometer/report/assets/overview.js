/* The first screen: columns that sort, and folds that open when something in them is linked to or printed. */

function sortable(table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => row.cells[column].dataset.order;
  function sort(column, down) {
    const by = (one, other) => column === 0 ? key(one, 0).localeCompare(key(other, 0)) : key(one, column) - key(other, column);
    const [some, none] = [true, false].map((has) => [...body.rows].filter((row) => (key(row, column) !== "") === has));
    body.append(...some.sort((one, other) => (down ? -1 : 1) * by(one, other)), ...none);
    heads.forEach((head, place) => place === column
      ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
  }
  heads.forEach((head, column) => {
    const label = head.querySelector(".sort");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...label.childNodes);
    label.replaceWith(button);
    button.addEventListener("click", () => sort(column, head.getAttribute("aria-sort") === "ascending"));
  });
}

function openTo(hash) {
  const place = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
  if (!place) return;
  for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  place.scrollIntoView();
}

{
  document.querySelectorAll("table.matrix").forEach(sortable);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link) openTo(link.hash);
  });
  window.addEventListener("hashchange", () => openTo(location.hash));
  openTo(location.hash);
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.fold:not([open])")];
    closed.forEach((fold) => { fold.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((fold) => { fold.open = false; }));
}
