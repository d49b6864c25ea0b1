/** Streams a request's body to a file: what is too large for memory, and no JSON. Spec: platform section 9. */
import { BodyTooLarge, detailItem, InvalidInput } from "@flyball/contract"
import { type FileBody, ReceivedFile } from "@flyball/contract/http"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { createWriteStream, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Incoming, Outgoing } from "../exchange.ts"
import { afterRequest } from "./after-request.ts"

/** The media type of a body that is to be streamed to a file; null where it is none of the row's. */
export const fileMedia = ({ headers }: Incoming, file: FileBody | undefined): string | null => {
  const media = (headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase()
  const isPlain = (headers["content-encoding"] ?? "identity").toLowerCase() === "identity"
  return isPlain && file?.media.includes(media) === true ? media : null
}

/**
 * Streams the body to a file that only this user reads, and that goes when the answer has ended, however it ends. No
 * more than a piece of it is in memory.
 *
 * - Fails: `BodyTooLarge` at the limit, whatever the headers say; `InvalidInput` for an empty body.
 */
export const readFile = Effect.fnUntraced(function* (
  request: Incoming,
  response: Outgoing,
  { limitBytes, media }: { readonly limitBytes: number; readonly media: string }
) {
  const { unreadable } = request
  if (unreadable !== undefined) return yield* unreadable instanceof InvalidInput ? unreadable : Effect.die(unreadable)
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) return yield* new BodyTooLarge({ limitBytes })
  if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue()
  // At once, so that no folder is left where the caller leaves meanwhile.
  const folder = makeFolder()
  yield* afterRequest(response, () => remove(folder))
  const path = join(folder, "body")
  const received = yield* written(request, path, limitBytes)
  if (received.bytes > 0) return new ReceivedFile({ path, media, ...received })
  return yield* new InvalidInput({ detail: [detailItem(["body"], "missing", "The body is empty", null)] })
})

const PREFIX = "flyball-body-"
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true })

/** Everybody may make such a folder in the one for temporary files. That of another account stays. */
const removeIfLeft = (folder: string, pid: number): void => {
  try {
    if (isLeft(folder, pid)) remove(folder)
  } catch {
    // Not ours to remove, or gone.
  }
}

/** The first folder of a process also removes what processes that died have left. */
let swept: string | null = null
const makeFolder = (): string => {
  const base = tmpdir()
  if (swept !== base)
    for (const name of readdirSync(base)) {
      const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? []
      if (pid !== undefined) removeIfLeft(join(base, name), Number(pid))
    }
  swept = base
  return mkdtempSync(join(base, `${PREFIX}${process.pid}-`))
}

/** In a container every server has the same pid: what is older than this process is of one before it. */
const isLeft = (folder: string, pid: number): boolean =>
  pid === process.pid ? statSync(folder).mtimeMs < performance.timeOrigin : !isAlive(pid)

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

const written = (
  request: Incoming,
  path: string,
  limitBytes: number
): Effect.Effect<Pick<ReceivedFile, "bytes" | "sha256">, BodyTooLarge> =>
  Effect.callback((resume) => {
    const hash = createHash("sha256")
    const file = createWriteStream(path, { flags: "wx", mode: 0o600 })
    let bytes = 0
    let isOver = false
    const end = (effect: Effect.Effect<Pick<ReceivedFile, "bytes" | "sha256">, BodyTooLarge>): void => {
      if (isOver) return
      isOver = true
      request.off("data", onData)
      file.destroy()
      resume(effect)
    }
    const onData = (piece: Uint8Array): void => {
      bytes += piece.length
      if (bytes > limitBytes) return end(Effect.fail(new BodyTooLarge({ limitBytes })))
      hash.update(piece)
      if (!file.write(piece)) request.pause()
    }
    file.on("drain", () => request.resume())
    // A full disk: the request is the host's to repeat, and its log says why.
    file.on("error", (error) => end(Effect.die(error)))
    const onEnd = (): void => {
      file.end(() => end(Effect.succeed({ bytes, sha256: hash.digest("hex") })))
    }
    const onGone = (): void => {
      if (!request.readableEnded) end(Effect.interrupt)
    }
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
    return Effect.sync(() => end(Effect.interrupt))
  })
