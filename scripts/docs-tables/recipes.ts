/** The recipes of envelopes, each with its tests: the page of recipes shows the files as they are. */
import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("../../examples/envelopes", import.meta.url))

/** The files by name, without the ending. */
export const recipes: ReadonlyArray<{ readonly name: string; readonly text: string }> = globSync(`${folder}/*.json`)
  .sort()
  .map((file) => ({ name: basename(file, ".json"), text: readFileSync(file, "utf8") }))
