/** Reads the lies that `docs/what-replay-judges.md` says nobody would notice. */
import { readFileSync } from "node:fs"

/** The lies about records of these kinds, as `<kind>: <what>`. */
export const namedLies = (kinds: ReadonlyArray<string>) =>
  new Set(
    [
      ...readFileSync(new URL("../../../docs/what-replay-judges.md", import.meta.url), "utf8").matchAll(
        /^\| `([a-z_.]+)` \| ([^|]+) \| ([^|]+) \|$/gm
      )
    ].flatMap(([, kind = "", ...cells]) =>
      cells.flatMap((cell) =>
        kinds.includes(kind) && cell.trim() !== "-"
          ? cell
              .trim()
              .split(", ")
              .map((one) => `${kind}: ${one.replaceAll("`", "")}`)
          : []
      )
    )
  )
