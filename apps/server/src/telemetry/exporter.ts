/**
 * Takes finished spans and sends them in batches, in the background.
 *
 * A request only puts its span into a list; when the list is full the span is dropped and counted. A collector that is
 * slow or down costs spans, never a request.
 */
import { Clock, Effect, Queue, Schedule, type Scope } from "effect"
import { type SendSpans, SpansRefused } from "./send.ts"
import type { EndedSpan } from "./span.ts"

/**
 * Spans that wait at most, those on their way included: about 2 MB. The default of OpenTelemetry's own exporters, as
 * are the next three.
 */
export const QUEUE_SPANS = 2_048
/** Spans that go out together at most. So many that wait go out at once. */
export const BATCH_SPANS = 512
/** How long a span waits at most before it is sent. Unit: milliseconds. */
export const DELAY_MS = 5_000
/** How long a collector may take to answer. Unit: milliseconds. */
export const SEND_MS = 10_000
/** How often a batch is sent again, after 1, 2 and 4 s, before it is dropped. */
const RETRIES = 3
/** How long the end of the process may wait for what is left. Unit: milliseconds. */
export const LAST_MS = 3_000
/** How long dropped spans are no news. Unit: milliseconds. */
const NEWS_MS = 60_000

/** Receiver of ended spans. */
export interface SpanExporter {
  /** Never waits and never fails. */
  readonly push: (span: EndedSpan) => void
  /** Spans by their result. */
  readonly counts: () => { readonly exported: number; readonly dropped: number; readonly waiting: number }
}

/** An exporter that works until its scope closes, and then sends what is left within `lastMs`. */
export const makeExporter = Effect.fnUntraced(function* (
  send: SendSpans,
  lastMs: number = LAST_MS
): Effect.fn.Return<SpanExporter, never, Scope.Scope> {
  const waiting: Array<EndedSpan> = []
  let [exported, dropped] = [0, 0]
  let loggedAtMs: number | null = null
  const full = yield* Queue.sliding<void>(1)

  const tell = Effect.fnUntraced(function* (reason: string) {
    const nowMs = yield* Clock.currentTimeMillis
    if (loggedAtMs !== null && nowMs - loggedAtMs < NEWS_MS) return
    loggedAtMs = nowMs
    yield* Effect.logWarning(`Spans were dropped: ${reason}. Requests are not affected; /metrics counts dropped spans.`)
  })

  // They leave the list only when their fate is known: what is interrupted here is sent by the last attempt.
  const sendBatch = Effect.suspend(() => {
    const batch = waiting.slice(0, BATCH_SPANS)
    return send(batch).pipe(
      Effect.timeoutOrElse({
        duration: SEND_MS,
        orElse: () =>
          Effect.fail(
            new SpansRefused({ reason: `the collector did not answer within ${SEND_MS / 1_000} s`, again: true })
          )
      }),
      Effect.retry({ while: ({ again }) => again, times: RETRIES, schedule: Schedule.exponential("1 second") }),
      Effect.matchEffect({
        onSuccess: () =>
          Effect.sync(() => {
            exported += waiting.splice(0, batch.length).length
          }),
        onFailure: ({ reason }) =>
          Effect.suspend(() => {
            dropped += waiting.splice(0, batch.length).length
            return tell(reason)
          })
      })
    )
  })
  const sendAll = Effect.whileLoop({ while: () => waiting.length > 0, body: () => sendBatch, step: () => {} })

  yield* Effect.addFinalizer(() =>
    sendAll.pipe(
      Effect.timeoutOption(lastMs),
      Effect.andThen(
        Effect.suspend(() => {
          const left = waiting.splice(0).length
          dropped += left
          return left === 0
            ? Effect.void
            : Effect.logWarning(`${left} spans were dropped: the collector did not take them before the end.`)
        })
      )
    )
  )
  yield* Queue.take(full).pipe(
    Effect.timeoutOption(DELAY_MS),
    Effect.andThen(sendAll),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    push: (span) => {
      if (waiting.length >= QUEUE_SPANS) dropped += 1
      else if (waiting.push(span) === BATCH_SPANS) Queue.offerUnsafe(full, undefined)
    },
    counts: () => ({ exported, dropped, waiting: waiting.length })
  }
})
