/** `flyball export`: an evidence pack of the last signed checkpoint. Reads only. */
import { AgentNotFound, decode, InvalidInput, PackRequest } from "@flyball/contract"
import { Chain, Packs } from "@flyball/core"
import { recordKinds } from "@flyball/evidence"
import { compress, compressionFor } from "@flyball/evidence/node"
import { Effect, Result } from "effect"
import type { HostRuntime } from "../host/open-host.ts"
import { readArguments, UsageError, wholeNumber } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { type Counts, countRecords } from "./export-file/count-records.ts"
import { coverHead, uncoveredRecords } from "./export-file/cover-head.ts"
import { checkIsNew, checkOutFile, writeOutFile } from "./export-file/out-file.ts"
import { checkNotOwn } from "./export-file/own-files.ts"
import { stopSignal } from "./stop-signal.ts"
import { withHost } from "./with-host.ts"

/** Writes the pack, and says what it holds and how to check it. */
export const run = command("export", async (args) => {
  const { chain, checkpointNow, force, out, request } = requestOf(args)
  checkOutFile("--out", out)
  const { settings } = settingsOfProcess()
  checkNotOwn("--out", out, settings)
  if (!force) checkIsNew("--out", out)
  // Before signals are taken: a person may end the wait, which has written nothing.
  if (checkpointNow) await coverHead(settings)
  const stop = stopSignal()
  return withHost(
    { readOnly: true, small: true, settings, ...(chain === undefined ? {} : { chain }) },
    async (runtime) => {
      const counts: Counts = { bytes: 0, records: 0 }
      try {
        const pack = await runtime.runPromise(Packs.use((packs) => packs.export(request)))
        await writeOutFile(out, compress(countRecords(pack, counts), compressionFor(out)), stop.signal, force)
      } catch (cause) {
        throw inFlags(request, cause)
      }
      const keys = chain === undefined ? '--vkey "$(flyball vkey)"' : await retiredKeys(runtime, chain)
      console.error(
        `Wrote ${counted(counts.records, "record")} to ${out}. Check it with: flyball-verify ${out} ${keys}`
      )
      const uncovered = await runtime.runPromise(uncoveredRecords)
      if (uncovered > 0)
        console.error(
          `The store has ${counted(uncovered, "more record")} that no checkpoint covers` +
            `${
              chain === undefined
                ? " yet: a pack of a later checkpoint will have them"
                : ". This chain is retired and signed no more, so no pack can have them. flyball check reads them"
            }.`
        )
      if (counts.records === 0)
        console.error("No record matches the request. The pack is empty, and proves nothing about other records.")
      return exitStatus.ok
    }
  )
})

/** The key of a retired chain; and where it was rotated away since, the one that closed the pack in its place. */
const retiredKeys = async (runtime: HostRuntime, chain: string): Promise<string> => {
  const [closing, keys] = await runtime.runPromise(
    Chain.use((retired) => {
      const { vkey } = retired
      return Effect.map(retired.keys, (all) => [vkey, all.map((key) => key.vkey)] as const)
    })
  )
  return `--vkey "$(flyball vkey --chain ${chain})"${keys.at(-1) === closing ? "" : ` --vkey ${closing}`}`
}

const decodeRequest = decode(PackRequest)

const requestOf = (
  args: ReadonlyArray<string>
): {
  readonly request: PackRequest
  readonly out: string
  readonly force: boolean
  readonly chain: string | undefined
  readonly checkpointNow: boolean
} => {
  const { values } = readArguments(args, {
    kind: { type: "string" },
    from: { type: "string" },
    to: { type: "string" },
    agent: { type: "string" },
    run: { type: "string" },
    "record-kind": { type: "string", multiple: true },
    since: { type: "string" },
    until: { type: "string" },
    disclose: { type: "string", multiple: true },
    out: { type: "string" },
    force: { type: "boolean" },
    chain: { type: "string" },
    "checkpoint-now": { type: "boolean" }
  })
  if (values.kind === undefined) throw new UsageError("--kind is missing; it is full, range or sparse")
  if (values.out === undefined) throw new UsageError("--out FILE is missing")
  if (values["checkpoint-now"] === true && values.chain !== undefined)
    throw new UsageError(
      "--checkpoint-now is for the current chain: the chain of --chain is retired and signed no more"
    )
  const wanted = Object.fromEntries(
    Object.entries({
      kind: values.kind,
      from: wholeNumber("from", values.from),
      to: wholeNumber("to", values.to),
      agent_id: values.agent,
      run_id: values.run,
      kinds: values["record-kind"]?.flatMap((kind) => kind.split(",")),
      since: values.since,
      until: values.until,
      disclose: disclosed(values.disclose)
    }).filter(([, value]) => value !== undefined)
  )
  return {
    out: values.out,
    force: values.force === true,
    chain: values.chain,
    checkpointNow: values["checkpoint-now"] === true,
    request: Result.getOrThrowWith(decodeRequest(wanted, "body"), (detail) => new UsageError(flagProblems(detail)))
  }
}

/** Names of parts, comma-separated or repeated. A name that no record has would silently disclose nothing. */
const disclosed = (given: ReadonlyArray<string> | undefined): string | ReadonlyArray<string> | undefined => {
  const names = given?.flatMap((name) => name.split(","))
  if (names?.length === 1 && (names[0] === "all" || names[0] === "none")) return names[0]
  const known = [...new Set(recordKinds.flatMap(({ parts }) => parts.map(({ name }) => name)))].sort()
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new UsageError(
      `--disclose takes all, none or names of parts (${known.join(", ")}), and got ` +
        `${JSON.stringify(unknown.slice(0, 40))}`
    )
  return names
}

const AGENT_EXPECTED = "--agent should be an agent's id, agt_ and 26 characters; GET /api/v1/agents lists them"

const flagProblems = (detail: InvalidInput["detail"]): string =>
  detail.map(({ loc, msg }) => (loc.at(1) === "agent_id" ? AGENT_EXPECTED : `${flagOf(loc.at(1))}: ${msg}`)).join("; ")

const flagOf = (member: string | undefined): string =>
  `--${{ agent_id: "agent", run_id: "run", kinds: "record-kind" }[member ?? ""] ?? member ?? "kind"}`

/** Refusals name members of a request; the operator gave flags. */
const inFlags = (request: PackRequest, cause: unknown): unknown => {
  if (cause instanceof InvalidInput) return new UsageError(flagProblems(cause.detail))
  if (cause instanceof AgentNotFound)
    return new Error(`--agent ${request.agent_id}: there is no such agent in this store`)
  return cause
}
