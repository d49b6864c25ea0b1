/** The spans that requests are served under, where a collector is configured. Decision 0023. */
import { Context } from "effect"
import type { TraceContext } from "./trace-context.ts"

/** Attributes of a span: words and numbers of our tables, never what a caller sent. */
export type Attributes = { readonly [name: string]: string | number | boolean }

/** Serves a request, or happens inside the process. */
export type SpanKind = "server" | "internal"

/** Spans by their result. */
export interface SpanCounts {
  readonly exported: number
  readonly dropped: number
  readonly waiting: number
}

/** A span that continues. */
export interface OpenSpan extends TraceContext {
  /** Ends it, once. The name comes last: of a request it is the route, which is found on the way. */
  readonly end: (said: { readonly name: string; readonly attributes: Attributes; readonly failed: boolean }) => void
}

/** Makes spans. */
export interface TracingApi {
  /** Begins a span under `parent`, or a trace where that is null. `remote`: the parent is in another process. */
  readonly start: (kind: SpanKind, parent: TraceContext | null, remote?: boolean) => OpenSpan
  readonly counts: () => SpanCounts
}

/** Null where no collector is configured: nothing is made then, and a request pays for one comparison. */
export const Tracing: Context.Reference<TracingApi | null> = Context.Reference("flyball/server/Tracing", {
  defaultValue: (): TracingApi | null => null
})

/** The span that an Effect runs under; null outside any. */
export const CurrentSpan: Context.Reference<OpenSpan | null> = Context.Reference("flyball/server/CurrentSpan", {
  defaultValue: (): OpenSpan | null => null
})
