/** The seeds that failed once. They stay, and every run begins with them. */
import { appendFileSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const file = fileURLToPath(new URL("../../../fixtures/seeds.txt", import.meta.url))

/** The seeds of `fixtures/seeds.txt`: one number a line, the rest of a line says why it is there. */
export const keptSeeds = (): ReadonlyArray<number> => seedsOf(readFileSync(file, "utf8"))

/** Reads the text of such a file. Throws at a line that is neither a seed nor a comment. */
export const seedsOf = (text: string): ReadonlyArray<number> =>
  text.split("\n").flatMap((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return []
    const seed = /^(\d{1,15})(?:\s|$)/.exec(line)?.[1]
    if (seed === undefined)
      throw new Error(`seeds.txt, line ${index + 1}: a whole number, and after a space why it is there, is expected.`)
    return [Number(seed)]
  })

/** Adds a seed that failed, unless it exists already. */
export const keepSeed = (seed: number, why: string): void => {
  if (!keptSeeds().includes(seed)) appendFileSync(file, `${seed} ${why.replaceAll(/\s+/g, " ").slice(0, 200)}\n`)
}
