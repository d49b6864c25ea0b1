/** `flyball config`: the settings in force, secrets masked. */
import { command, readArguments } from "./arguments.ts"
import { settingsOfProcess } from "./environment.ts"

/** Prints one line a setting: name, value, where it comes from. */
export const run = command("config", async (args) => {
  readArguments(args, {})
  const { effective } = settingsOfProcess()
  const width = Math.max(...effective.map((row) => row.name.length))
  for (const row of effective) console.log(`${row.name.padEnd(width)}  ${row.shown}  (${row.from})`)
  return 0
})
