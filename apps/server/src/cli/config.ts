/** `flyball config`: the settings in force, secrets masked. */
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"

/** Prints one line a setting: name, value, where it comes from. */
export const run = command("config", async (args) => {
  readArguments(args, {})
  const { effective } = settingsOfProcess()
  const width = Math.max(...effective.map((row) => row.name.length))
  for (const row of effective) console.log(`${row.name.padEnd(width)}  ${row.shown}  (${row.from})`)
  console.log(`Relative paths start at ${process.cwd()}.`)
  return exitStatus.ok
})
