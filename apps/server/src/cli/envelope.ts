/** `flyball envelope`: an envelope in the words of another engine, and its tests. Writes no file. */
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { exportEnvelope, exportLanguages, runCases } from "@flyball/envelope"
import { readJson, withoutMark } from "@flyball/evidence"
import { fileProblem } from "../host/file-problem.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { oneLine } from "./one-line.ts"

/** Does one act with the envelope in a file, or with its tests. */
export const run = command("envelope", async (args) => {
  const { positionals, values } = readArguments(
    args,
    { "from-tools": { type: "string" }, to: { type: "string" } },
    true
  )
  const [act, ...files] = positionals
  const { "from-tools": tools, to } = values
  if (act === "export" && files.length === 1 && tools === undefined) return exported(files[0]!, to)
  if (act === "new" && files.length === 0 && tools !== undefined && to === undefined) {
    const { draftOfList, draftOfServer } = await import("./envelope-draft.ts")
    return /^-$|\.json$/.test(tools) ? draftOfList(readJsonFile(tools)) : draftOfServer(tools)
  }
  if (act === "test" && files.length > 0 && tools === undefined && to === undefined) {
    const statuses = files.map(tested)
    return Math.max(...statuses)
  }
  throw new UsageError("expected new --from-tools SERVER|FILE.json, test FILE… or export --to cedar|cel FILE")
})

/** Prints the policy text; or, where there is none, why, a line each. */
const exported = (file: string, language: string | undefined): number => {
  const to = exportLanguages.find((one) => one === language)
  if (to === undefined) throw new UsageError(`--to should be one of ${exportLanguages.join(", ")}`)
  const policy = exportEnvelope(readJsonFile(file), to)
  if ("text" in policy) {
    process.stdout.write(policy.text)
    return exitStatus.ok
  }
  for (const refusal of policy.refusals) console.error(`flyball envelope: ${refusal}`)
  return exitStatus.failed
}

/** Prints how many cases of a file end as expected, and the difference of each other one. */
const tested = (file: string): number => {
  const tests = readJsonFile(file)
  const named = (tests as { readonly envelope?: unknown } | null)?.envelope
  const { cases, findings } =
    typeof named === "string" ? runCases(tests, readJsonFile(resolve(dirname(file), named))) : runCases(tests)
  for (const { code, in: place, message, path } of findings)
    console.error(
      oneLine(`flyball envelope: ${file}: ${place === "tests" ? "" : "the envelope: "}${code} ${path}: ${message}`)
    )
  if (findings.length > 0) return exitStatus.failed
  const differing = cases.filter(({ difference }) => difference !== null)
  console.log(
    `${file}: ${counted(cases.length, "case")}, ${differing.length} ${differing.length === 1 ? "differs" : "differ"}`
  )
  for (const { difference, name } of differing) console.log(oneLine(`  ${name}: ${difference}`))
  return differing.length === 0 ? exitStatus.ok : exitStatus.failed
}

const readJsonFile = (file: string): unknown => {
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
