/** `flyball certificate stop`: the evidence of one activation of the kill switch, and what it says. Reads only. */
import { Kill, latestCheckpoint, Packs, Storage } from "@flyball/core"
import { compress, compressionFor } from "@flyball/evidence/node"
import { Effect } from "effect"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { coverHead } from "./export-file/cover-head.ts"
import { checkIsNew, checkOutFile, writeOutFile } from "./export-file/out-file.ts"
import { checkNotOwn } from "./export-file/own-files.ts"
import { stopSignal } from "./stop-signal.ts"
import { withHost } from "./with-host.ts"

/** Writes the pack, and prints the certificate as JSON. */
export const run = command("certificate", async (args) => {
  const {
    positionals: [what, more],
    values: { activation, out }
  } = readArguments(args, { activation: { type: "string" }, out: { type: "string" } }, true)
  if (what !== "stop" || more !== undefined) throw new UsageError("expected stop")
  if (activation === undefined) throw new UsageError("--activation ID is missing; flyball kill-status lists them")
  if (out === undefined) throw new UsageError("--out FILE is missing")
  checkOutFile("--out", out)
  const { settings } = settingsOfProcess()
  checkNotOwn("--out", out, settings)
  checkIsNew("--out", out, "name a new file")
  await coverHead(settings)
  const stop = stopSignal()
  return withHost({ readOnly: true, small: true, settings }, async (runtime) => {
    // Later records are under no checkpoint: a pack cannot hold them.
    const covered = await runtime.runPromise(
      Effect.map(Effect.flatMap(Storage, latestCheckpoint), (checkpoint) => checkpoint?.size ?? 0)
    )
    const found = await runtime.runPromise(Kill.use((kill) => kill.certify(activation, covered)))
    if (found === null) throw new Error(`the record of ${activation} is in a retired chain; export it with --chain`)
    const { certificate, from, to } = found
    const pack = await runtime.runPromise(
      Packs.use((packs) => packs.export({ kind: "range", from, to, disclose: ["expected"] }))
    )
    await writeOutFile(out, compress(pack, compressionFor(out)), stop.signal, false)
    console.log(JSON.stringify(certificate, null, 2))
    console.error(
      `Wrote records ${from} to ${to} to ${out}. Make the certificate from them with: flyball-verify ${out} ` +
        `--vkey "$(flyball vkey)" --certificate ${activation}`
    )
    return exitStatus.ok
  })
})
