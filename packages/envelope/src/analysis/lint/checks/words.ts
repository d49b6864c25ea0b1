/** Names as people list them: "a", "a and b", "a, b and c". */
export const listed = (names: ReadonlyArray<string>, word = "and"): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} ${word} ${names.at(-1)}`
