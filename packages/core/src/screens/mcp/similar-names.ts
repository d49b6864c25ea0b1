/** Finds names of tools of several servers that are equal, or that a reader takes for one. */

/** A tool of a server. */
export interface NamedTool {
  readonly server_id: string
  readonly tool: string
}

/** Groups that one answer lists at most. */
const MAX_GROUPS = 100

/** Letters of other scripts that a reader takes for these. */
const alike: { readonly [letter: string]: string } = {
  а: "a",
  с: "c",
  ԁ: "d",
  е: "e",
  һ: "h",
  і: "i",
  ј: "j",
  о: "o",
  р: "p",
  ѕ: "s",
  х: "x",
  у: "y",
  α: "a",
  ο: "o",
  ρ: "p",
  ν: "v",
  "0": "o",
  "1": "l"
}

/** Groups tools of more than one server whose names are similar: case, separators and scripts do not count. */
export const similarNames = (
  tools: ReadonlyArray<NamedTool>
): ReadonlyArray<{ readonly tools: ReadonlyArray<NamedTool> }> => {
  const groups = new Map<string, Array<NamedTool>>()
  for (const one of tools) {
    const key = seenAs(one.tool)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  return [...groups.values()]
    .filter((group) => new Set(group.map((one) => one.server_id)).size > 1)
    .slice(0, MAX_GROUPS)
    .map((group) => ({ tools: group }))
}

const seenAs = (name: string): string =>
  [...name.slice(0, 200).normalize("NFKC").toLowerCase()]
    .filter((letter) => /[\p{L}\p{N}]/u.test(letter))
    .map((letter) => alike[letter] ?? letter)
    .join("")
