/** Text in HTML. */

const entities: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Text escaped for an element or a quoted attribute. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!)

/** Text of which what stands between backticks is code. */
export const withCode = (text: string): string =>
  text
    .split("`")
    .map((piece, index) => (index % 2 === 1 ? `<code>${escaped(piece)}</code>` : escaped(piece)))
    .join("")

/** Paragraphs, empty lines between them. */
export const paragraphs = (text: string): string =>
  text
    .split("\n\n")
    .map((one) => `<p>${withCode(one)}</p>`)
    .join("\n")

/** A table; its cells are HTML. Nothing without rows. */
export const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  rows.length === 0
    ? ""
    : `<table><thead><tr>${heads.map((head) => `<th scope="col">${escaped(head)}</th>`).join("")}</tr></thead>\n` +
      `<tbody>${rows.map(rowOf).join("\n")}</tbody></table>`

const rowOf = (cells: ReadonlyArray<string>): string => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`
