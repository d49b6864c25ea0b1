/** Names as Markdown shows code, with commas between them. */
export const code = (names: ReadonlyArray<string>): string => names.map((name) => `\`${name}\``).join(", ")
