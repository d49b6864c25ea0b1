/** What the end of a file says about the lines before it. */
import { expect, it } from "vitest"
import { utf8 } from "../bytes.ts"
import { endsWithoutPartLines } from "./closing-tags.ts"
import { bytesSource } from "./pack-source.ts"

const ends = (...lines: ReadonlyArray<string>): Promise<boolean> =>
  endsWithoutPartLines(bytesSource(utf8(lines.join("\n"))))
const record = `R ${"x".repeat(700)}`

it.each([
  ["a full pack or a range", ["S 0 1 abc", "Z 5 00", "N abc", ""]],
  ["a sparse pack", ["I 4 abc", "Z 5 00", "N abc", ""]]
])("sees that %s has no line about a part", async (_, closing) => {
  expect(await ends("first", record, ...closing)).toBe(true)
  expect(await ends("first", ...Array.from({ length: 100 }, () => record), ...closing)).toBe(true)
})

it.each([
  ["disclosed parts", ["S 0 1 abc", "D 1 a abc abc", "Z 5 00", "N abc", ""]],
  ["a disclosed part longer than the look", [`D 1 a abc S ${"x".repeat(20_000)}`, "Z 5 00", "N abc", ""]],
  ["erased parts", ["S 0 1 abc", "E 1 a 2", "Z 5 00", "N abc", ""]],
  ["an end that is cut off", ["S 0 1 abc", "Z 5 00", "N abc"]],
  ["no N line", ["S 0 1 abc", "Z 5 00", ""]],
  ["a line too many", ["S 0 1 abc", "Z 5 00", "N abc", "", ""]],
  ["nothing", [""]]
])("does not say so of %s", async (_, closing) => {
  expect(await ends("first", record, ...closing)).toBe(false)
})
