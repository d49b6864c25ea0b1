/**
 * Reads documents in children that can be lost: a hostile file costs a child, and nothing else.
 *
 * Spec: document 2 sections 2 and 6, "extraction".
 */
import { open } from "node:fs/promises"
import type { ExtractionFailure, ReadDocument } from "@flyball/rules"
import { Context, Effect, Exit, Layer, Semaphore } from "effect"
import { MAX_BYTES } from "./protocol.ts"
import { type Read, ReaderProcess } from "./reader-process.ts"

/** A document to read. */
export type DocumentFile = { readonly path: string } | { readonly bytes: Uint8Array }

/** Why a document was not read. */
export interface ReadFailure {
  readonly code: ExtractionFailure
}

/** Measures of the pool; tests replace them. */
export interface DocumentReaderOptions {
  readonly children?: number
  /** The longest for one document. Unit: milliseconds. */
  readonly longestMs?: number
  /** The most resident memory of a child. Unit: bytes. */
  readonly memoryBytes?: number
}

const LONGEST_MS = 10_000
const MEMORY_BYTES = 512 * 1024 * 1024
const WATCH_MS = 10
const IDLE_MS = 60_000
/** Documents after which a child is ended: what an engine leaks stays bounded. */
const DOCUMENTS = 200
const PART_BYTES = 256 * 1024

/** The operations of {@link DocumentReader}. */
export interface DocumentReaderApi {
  readonly read: (file: DocumentFile, mediaType: string) => Effect.Effect<ReadDocument, ReadFailure>
}

/** Reads documents to positioned text. */
export class DocumentReader extends Context.Service<DocumentReader, DocumentReaderApi>()(
  "flyball/platform/documents/DocumentReader"
) {
  /** Children that start with the first document and end after a minute without one, or with the layer. */
  static readonly layer = (options: DocumentReaderOptions = {}): Layer.Layer<DocumentReader> =>
    Layer.effect(DocumentReader, makeReader(options))
}

const makeReader = ({ children = 1, longestMs = LONGEST_MS, memoryBytes = MEMORY_BYTES }: DocumentReaderOptions) =>
  Effect.gen(function* () {
    const permits = yield* Semaphore.make(children)
    const scope = yield* Effect.scope
    const idle = new Map<ReaderProcess, number>()
    yield* Effect.addFinalizer(() => Effect.sync(() => idle.forEach((_, child) => child.kill("interrupted"))))

    const take = Effect.sync(() => {
      for (const [child] of idle) {
        idle.delete(child)
        if (child.usable) return child
      }
      return new ReaderProcess()
    })
    /** Keeps a child that answered. A read that was cut off leaves a child at work, which nobody can use. */
    const giveBack = (child: ReaderProcess, exit: Exit.Exit<Read>) =>
      Effect.gen(function* () {
        if (Exit.isFailure(exit) || !child.usable || child.documents >= DOCUMENTS) return child.kill("interrupted")
        const turn = child.documents
        idle.set(child, turn)
        yield* Effect.sleep(IDLE_MS).pipe(
          Effect.andThen(
            Effect.sync(() => {
              if (idle.get(child) !== turn) return
              idle.delete(child)
              child.kill("interrupted")
            })
          ),
          Effect.forkIn(scope)
        )
      })
    const watch = (child: ReaderProcess) =>
      Effect.sync(() => {
        if (child.memory() > memoryBytes) child.kill("too_much_memory")
      }).pipe(Effect.andThen(Effect.sleep(WATCH_MS)), Effect.forever)
    const readIn = (child: ReaderProcess, file: DocumentFile, mediaType: string): Effect.Effect<Read> =>
      Effect.gen(function* () {
        const sent = yield* Effect.promise(() => sendParts(child, file))
        if (!sent) {
          child.kill("too_large")
          return "too_large" as const
        }
        return yield* Effect.callback<Read>((resume) => child.read(mediaType, (read) => resume(Effect.succeed(read))))
      }).pipe(
        Effect.raceFirst(watch(child)),
        Effect.timeoutOrElse({
          duration: longestMs,
          orElse: () =>
            Effect.sync((): Read => {
              child.kill("too_slow")
              return "too_slow"
            })
        })
      )
    return DocumentReader.of({
      read: (file, mediaType) =>
        permits
          .withPermits(1)(Effect.acquireUseRelease(take, (child) => readIn(child, file, mediaType), giveBack))
          .pipe(
            Effect.flatMap((read) =>
              read === null || typeof read === "string"
                ? Effect.fail({ code: read ?? "interrupted" } as ReadFailure)
                : Effect.succeed(read)
            )
          )
    })
  })

/** Sends a document in pieces, so that the host's loop turns between them; false where it is too long. */
const sendParts = async (child: ReaderProcess, file: DocumentFile): Promise<boolean> => {
  if ("bytes" in file) {
    if (file.bytes.length > MAX_BYTES) return false
    for (let at = 0; at < file.bytes.length; at += PART_BYTES)
      await child.part(file.bytes.subarray(at, at + PART_BYTES))
    return true
  }
  const handle = await open(file.path)
  try {
    let total = 0
    for (;;) {
      const buffer = new Uint8Array(PART_BYTES)
      const { bytesRead } = await handle.read(buffer, 0, PART_BYTES)
      if (bytesRead === 0) return true
      total += bytesRead
      if (total > MAX_BYTES) return false
      await child.part(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}
