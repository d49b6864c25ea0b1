/** Takes a document to a file of the service's own: what a request brings goes when its answer ends. */
import { BodyTooLarge, detailItem, type ExtractIn, InvalidInput, requestBounds } from "@flyball/contract"
import { documentMedia, ReceivedFile } from "@flyball/contract/http"
import type { EgressApi } from "@flyball/core"
import { fromBase64 } from "@flyball/evidence"
import { Effect } from "effect"
import { newFile, ownFile } from "./reading/own-files.ts"

/** The longest that an address is waited for. Unit: milliseconds. */
const FETCH_MS = 10_000

/** A document that waits to be read. */
export interface TakenFile {
  readonly path: string
  readonly mediaType: string
  readonly bytes: number
  /** Lower-case hex. */
  readonly sha256: string
}

const refused = (member: keyof typeof ExtractIn.Type, msg: string, input?: unknown): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", member], "value_error", msg, input)] })

/** Takes the document of a request: its body, the content within it, or what is at its address. */
export const takeFile = Effect.fnUntraced(function* (
  body: ReceivedFile | typeof ExtractIn.Type,
  folder: string,
  id: string,
  egress: EgressApi | null
): Effect.fn.Return<TakenFile, BodyTooLarge | InvalidInput> {
  if (body instanceof ReceivedFile) {
    const path = ownFile(folder, id, body.path)
    return { path, mediaType: body.media, bytes: body.bytes, sha256: body.sha256 }
  }
  const { content = null, media_type: stated = null, url = null } = body
  if ((content === null) === (url === null)) return yield* refused("content", "Send either `content` or `url`")
  if (stated !== null || url === null) yield* known(stated)
  const got: { readonly body: Uint8Array | null; readonly mediaType?: string } =
    content === null ? yield* fetched(url!, egress) : { body: fromBase64(content) }
  const mediaType = yield* known(stated ?? got.mediaType ?? null)
  const bytes = got.body
  if (bytes === null || bytes.length === 0)
    return yield* content === null
      ? refused("url", "The address gave an empty document", url)
      : refused("content", "Expected base64 of a document")
  if (bytes.length > requestBounds.inlineDocumentBytes)
    return yield* new BodyTooLarge({ limitBytes: requestBounds.inlineDocumentBytes })
  return { ...newFile(folder, id, bytes), mediaType, bytes: bytes.length }
})

const known = (mediaType: string | null): Effect.Effect<string, InvalidInput> =>
  mediaType !== null && documentMedia.includes(mediaType)
    ? Effect.succeed(mediaType)
    : Effect.fail(refused("media_type", `Expected one of ${documentMedia.join(", ")}`, mediaType))

const fetched = Effect.fnUntraced(function* (
  url: string,
  egress: EgressApi | null
): Effect.fn.Return<{ readonly body: Uint8Array; readonly mediaType?: string }, BodyTooLarge | InvalidInput> {
  if (egress === null) return yield* refused("url", "This server fetches no documents")
  const problem = egress.urlProblem(url)
  if (problem !== null) return yield* refused("url", problem, url)
  const limitBytes = requestBounds.inlineDocumentBytes
  const got = yield* egress.call({
    url,
    method: "GET",
    headers: { accept: "*/*" },
    body: new Uint8Array(),
    timeoutMs: FETCH_MS,
    maxBytes: limitBytes
  })
  if (got.isTooLarge) return yield* new BodyTooLarge({ limitBytes })
  if (got.statusCode !== 200 || !got.isComplete) {
    const isCut = got.statusCode === 200
    const why = isCut ? "cut" : got.errorCode === "http_status" ? got.statusCode : got.errorCode
    return yield* refused("url", `The address did not give the document (${why})`, url)
  }
  return got
})
