/** `flyball export`: an evidence pack of the last signed checkpoint. Reads only. */
import { createWriteStream } from "node:fs"
import { rename, rm } from "node:fs/promises"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip, createZstdCompress } from "node:zlib"
import { decode, PackRequest } from "@flyball/contract"
import { Packs } from "@flyball/core"
import { Result } from "effect"
import { command, readArguments, UsageError, wholeNumber } from "./arguments.ts"
import { withHost } from "./with-host.ts"

const decodeRequest = decode(PackRequest)

const requestOf = (args: ReadonlyArray<string>): { readonly request: PackRequest; readonly out: string } => {
  const { values } = readArguments(args, {
    kind: { type: "string" }, from: { type: "string" }, to: { type: "string" }, agent: { type: "string" }, run: { type: "string" },
    "record-kind": { type: "string", multiple: true }, since: { type: "string" }, until: { type: "string" }, disclose: { type: "string", multiple: true }, out: { type: "string" }
  })
  if (values.out === undefined) throw new UsageError("--out FILE is missing")
  const disclose = values.disclose?.flatMap((name) => name.split(","))
  const wanted = Object.fromEntries(Object.entries({
    kind: values.kind, from: wholeNumber("from", values.from), to: wholeNumber("to", values.to), agent_id: values.agent, run_id: values.run,
    kinds: values["record-kind"], since: values.since, until: values.until,
    disclose: disclose?.length === 1 && (disclose[0] === "all" || disclose[0] === "none") ? disclose[0] : disclose
  }).filter(([, value]) => value !== undefined))
  return {
    out: values.out,
    request: Result.getOrThrowWith(decodeRequest(wanted, "body"), (detail) =>
      new UsageError(detail.map((item) => `${flagOf(item.loc.at(1))}: ${item.msg}`).join("; ")))
  }
}

const flagOf = (member: string | undefined): string => `--${{ agent_id: "agent", run_id: "run", kinds: "record-kind" }[member ?? ""] ?? member ?? "kind"}`

const compressorFor = (file: string) => file.endsWith(".gz") ? [createGzip()] : file.endsWith(".zst") ? [createZstdCompress()] : []

/** Writes the pack beside its place and moves it there when it is complete, so that half a pack never has the name. */
export const run = command("export", async (args) => {
  const { out, request } = requestOf(args)
  return withHost({ readOnly: true }, async (runtime) => {
    const partial = `${out}.partial`
    try {
      const pack = await runtime.runPromise(Packs.use((packs) => packs.export(request)))
      await pipeline([Readable.from(pack), ...compressorFor(out), createWriteStream(partial, { mode: 0o600, flush: true })])
      await rename(partial, out)
    } catch (cause) {
      await rm(partial, { force: true })
      throw cause
    }
    console.error(`Wrote ${out}. Check it with: flyball-verify ${out} --vkey "$(flyball vkey)"`)
    return 0
  })
})
