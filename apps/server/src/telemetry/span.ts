/**
 * A span that is over, and how OTLP writes it in JSON. Spec: opentelemetry-proto 1.x, trace.proto; OTLP, JSON Protobuf
 * encoding.
 */
import type { Attributes, SpanKind } from "@flyball/http/host"

/** A finished span. Times are nanoseconds since 1970 UTC. */
export interface EndedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Null where the trace begins. */
  readonly parentId: string | null
  /** The parent is in another process. */
  readonly remote: boolean
  readonly name: string
  readonly kind: SpanKind
  readonly startNanos: bigint
  readonly endNanos: bigint
  readonly attributes: Attributes
  /** A fault occurred that an operator should investigate. */
  readonly failed: boolean
}

/** The source of the spans. */
export interface Resource {
  readonly attributes: Attributes
  /** Of the program that makes the spans. */
  readonly version: string
}

/** Numbers of the protocol: `SPAN_KIND_INTERNAL`, `SPAN_KIND_SERVER`. */
const kinds: { readonly [kind in SpanKind]: number } = { internal: 1, server: 2 }
const STATUS_UNSET = 0
const STATUS_ERROR = 2
/**
 * `SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK`, `SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK`, and the sampled bit of W3C: only
 * sampled spans are sent.
 */
const [FLAGS, REMOTE] = [0x101, 0x200]

/** The body of an export request. */
export const otlpJson = (resource: Resource, spans: ReadonlyArray<EndedSpan>): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource.attributes) },
        scopeSpans: [{ scope: { name: "flyball", version: resource.version }, spans: spans.map(spanJson) }]
      }
    ]
  })

const spanJson = (span: EndedSpan): object => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentId === null ? {} : { parentSpanId: span.parentId }),
  flags: FLAGS | (span.remote ? REMOTE : 0),
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: String(span.startNanos),
  endTimeUnixNano: String(span.endNanos),
  attributes: keyValues(span.attributes),
  status: { code: span.failed ? STATUS_ERROR : STATUS_UNSET }
})

const keyValues = (attributes: Attributes): ReadonlyArray<object> =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }))

/** Whole numbers are 64 bits long in the protocol, which JSON writes as text. */
const anyValue = (value: string | number | boolean): object => {
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "boolean") return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
