/* Filters: tables by what was measured, rows by model, tier and how scores came about. */
{
  const form = document.getElementById("filters");
  const fields = [...form.querySelectorAll("[data-filter]")];
  const ofTables = new Set(["benchmark", "measure", "variant"]);
  const status = document.getElementById("filter-status");
  const fits = (place, field) => {
    const own = place.dataset[field.dataset.filter], wanted = field.value.trim();
    if (!wanted) return true;
    return field.type === "search" ? own.toLowerCase().includes(wanted.toLowerCase()) : own === wanted;
  };
  function filter() {
    let rows = 0, tables = 0;
    for (const table of document.querySelectorAll("section.table")) {
      const wanted = fields.filter((field) => ofTables.has(field.dataset.filter)).every((field) => fits(table, field));
      let left = 0;
      for (const row of table.querySelectorAll(".ranked tbody tr")) {
        row.hidden = !fields.filter((field) => !ofTables.has(field.dataset.filter)).every((field) => fits(row, field));
        left += row.hidden ? 0 : 1;
      }
      table.hidden = !wanted || !left;
      if (table.hidden) continue;
      tables += 1;
      rows += left;
    }
    status.textContent = `${rows} ${rows === 1 ? "row" : "rows"} in ${tables} ${tables === 1 ? "table" : "tables"}. Ranks are among all systems of a table.`;
  }
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
