/** `flyball envelope export`: an envelope in the words of another engine. Touches nothing but the file it reads. */
import { readFileSync } from "node:fs"
import { exportEnvelope, exportLanguages } from "@flyball/envelope"
import { readJson, withoutMark } from "@flyball/evidence"
import { fileProblem } from "../host/file-problem.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"

/** Prints the policy text; or, where there is none, why, a line each. */
export const run = command("envelope", async (args) => {
  const {
    positionals: [act, file, more],
    values
  } = readArguments(args, { to: { type: "string" } }, true)
  if (act !== "export" || file === undefined || more !== undefined)
    throw new UsageError("expected export --to cedar|cel FILE")
  const to = exportLanguages.find((language) => language === values.to)
  if (to === undefined) throw new UsageError(`--to should be one of ${exportLanguages.join(", ")}`)
  const exported = exportEnvelope(readEnvelopeFile(file), to)
  if ("text" in exported) {
    process.stdout.write(exported.text)
    return exitStatus.ok
  }
  for (const refusal of exported.refusals) console.error(`flyball envelope: ${refusal}`)
  return exitStatus.failed
})

const readEnvelopeFile = (file: string): unknown => {
  const problem = (says: string): never => {
    throw new UsageError(`${file} ${says}`)
  }
  let bytes: Uint8Array
  try {
    bytes = readFileSync(file === "-" ? 0 : file)
  } catch (cause) {
    return problem(`cannot be read: ${fileProblem(cause)}`)
  }
  const read = readJson(withoutMark(bytes))
  return read.ok ? read.value : problem(`is not JSON that can be read (${read.reason} at byte ${read.offset})`)
}
