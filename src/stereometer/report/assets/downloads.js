/* Every picture as a file: SVG, PNG, and the numbers it is drawn from. */

const LOOKS = new Set(["colour", "fill", "shape", "tint", "dot", "tip", "dx", "dy"]);

/* Outside the page its colours are not known: they are written into the picture, on paper. */
function standalone(svg) {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  const coloured = svg.replace(/var\((--[\w-]+)\)/g, (_, name) => value(name));
  return coloured.replace(/(<svg[^>]*>)/, `$1<rect width="100%" height="100%" fill="${value("--paper")}"/>`);
}

async function png(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * image.naturalWidth;
  canvas.height = 2 * image.naturalHeight;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/* A spreadsheet takes a text that begins so for a formula. */
function quoted(value) {
  if (typeof value === "number") return String(value);
  const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return `"${(/^[=+\-@\t\r]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;
}

function csv(rows) {
  const names = [...new Set(rows.flatMap(Object.keys))].filter((name) => !LOOKS.has(name));
  const lines = rows.map((row) => names.map((name) => quoted(row[name])).join(","));
  return [names.map(quoted).join(","), ...new Set(lines)].join("\r\n") + "\r\n";
}

function save(name, blob) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function offerDownloads(box, drawn) {
  const kinds = {
    svg: async () => new Blob([standalone(await drawn.picture())], { type: "image/svg+xml" }),
    png: async () => png(standalone(await drawn.picture())),
    csv: async () => new Blob([csv(drawn.rows())], { type: "text/csv" }),
  };
  const bar = Object.assign(document.createElement("p"), { className: "downloads", textContent: "Download: " });
  for (const [kind, content] of Object.entries(kinds)) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: kind === "csv" ? "data" : kind.toUpperCase() });
    button.setAttribute("aria-label", `Download this picture as ${kind === "csv" ? "CSV data" : kind.toUpperCase()}`);
    button.addEventListener("click", async () => save(`${drawn.file()}.${kind}`, await content()));
    bar.append(button);
  }
  box.after(bar);
}
