/** Checks files that a person chose in a browser: the same code as the command, with the browser's own interfaces. */
import { portableCrypto, UnusableTrust, PackFileUnusable, type VerifyOptions } from "@flyball/evidence"
import { blobSource, detectCompression, packContent } from "@flyball/evidence/web"
import { type Checked, checkPack, type CheckStep } from "../check-pack.ts"
import { parseDuration } from "../duration.ts"
import { type PackFile, verifyPackOf } from "../pack-file.ts"
import type { PageRequest } from "./messages.ts"

/** The person chose something that cannot be used. The sentence says what to change. */
export class UnusableChoice extends Error {
  override readonly name = "UnusableChoice"
}

/** A chosen file as a pack. `onRead`: the position in the file that a reading has reached. Unit: bytes. */
export const chosenPack = (file: File, onRead: (at: number) => void = () => undefined): PackFile => ({
  name: file.name,
  crypto: portableCrypto,
  content: async function* () {
    const source = blobSource(file, onRead)
    yield* packContent(source, await detectCompression(source))
  },
  bytes: () => blobSource(file, onRead).chunks(0),
  // A browser refuses to read a file that changed since it was chosen.
  identity: async () => `${file.size},${file.lastModified}`
})

/**
 * Checks the chosen pack as `flyball-verify` does.
 *
 * - Fails: rejects with `UnusableChoice`, with what `checkPack` fails with, and with the browser's error where a file
 *   cannot be read.
 * - Unit: `nowMs`, milliseconds since 1970 UTC.
 */
export const checkFiles = async (
  request: PageRequest,
  nowMs: number,
  onProgress: (step: CheckStep, at: number) => void = () => undefined
): Promise<Checked> => {
  let step: CheckStep = "verify"
  const pack = chosenPack(request.pack, (at) => onProgress(step, at))
  const options = await optionsOf(request, nowMs)
  return checkPack({
    pack,
    verify: async () => ({ report: await verifyPackOf(pack, options), splitView: null }),
    replay: request.replay,
    previous: request.replay ? request.previous.map((file) => chosenPack(file)) : [],
    bodies: request.bodies,
    // As `--summary` of the command.
    summary: "required",
    onStep: (next) => {
      step = next
      onProgress(step, 0)
    }
  })
}

const optionsOf = async (request: PageRequest, nowMs: number): Promise<VerifyOptions> => {
  const { policy, require, trustedCheckpoint } = request
  const maxAge = request.maxAge.trim()
  const maxAgeMs = maxAge === "" ? null : parseDuration(maxAge)
  if (maxAge !== "" && maxAgeMs === null)
    throw new UnusableChoice("The greatest age is a number and a unit: 90s, 15m, 24h, 7d.")
  return {
    vkeys: request.vkeys
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
    requireCompleteness: require,
    ...(policy === null ? {} : { policy: await bytesOf(policy) }),
    ...(trustedCheckpoint === null ? {} : { trustedCheckpoint: await bytesOf(trustedCheckpoint) }),
    ...(maxAgeMs === null ? {} : { maxAgeMs, nowMs })
  }
}

/** Policies and checkpoints above a megabyte are refused by their readers: one byte more shows that there is more. */
const MAX_GIVEN_BYTES = 1024 * 1024
const bytesOf = async (file: File): Promise<Uint8Array> =>
  new Uint8Array(await file.slice(0, MAX_GIVEN_BYTES + 1).arrayBuffer())

/** A sentence for what is not our fault; null for what is. */
export const explainFailure = (cause: unknown): string | null => {
  if (cause instanceof UnusableChoice || cause instanceof PackFileUnusable) return cause.message
  if (cause instanceof UnusableTrust) return `${cause.message[0]!.toUpperCase()}${cause.message.slice(1)}`
  const { name } = cause as { readonly name?: unknown }
  return name === "NotReadableError" || name === "NotFoundError"
    ? "The browser cannot read this file: it is a folder, or was changed or moved after you chose it. Choose it again."
    : null
}
