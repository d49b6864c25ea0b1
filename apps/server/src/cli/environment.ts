/** The settings of this process, for every command. */
import { readFileSync } from "node:fs"
import { readSettings, type EffectiveSetting, type Settings } from "../settings/read.ts"

/** Reads the settings, prints warnings to standard error, and throws one error that lists every problem. */
export const settingsOfProcess = (): {
  readonly settings: Settings
  readonly effective: ReadonlyArray<EffectiveSetting>
} => {
  const read = readSettings(process.env, (path) => readFileSync(path, "utf8").replace(/^\ufeff/, ""))
  for (const warning of read.warnings) console.error(`flyball: ${warning}`)
  if (!read.ok)
    throw new Error(`the settings cannot be used:\n${read.problems.map((problem) => `  ${problem}`).join("\n")}`)
  return read
}
