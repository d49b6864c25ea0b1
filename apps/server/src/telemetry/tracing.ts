/** Spans of this process, where a collector is configured. Decision 0023. */
import { type Attributes, Tracing, type TracingApi } from "@flyball/http/host"
import { randomFillSync, randomUUID } from "node:crypto"
import { Effect, Layer } from "effect"
import { makeExporter, type SpanExporter } from "./exporter.ts"
import { type Sampler, type SamplerName, samplerOf } from "./sampler.ts"
import { type Collector, sendTo } from "./send.ts"
import { steadyNanos } from "./steady-nanos.ts"

/** How spans are made and where they go. */
export interface TracingOptions extends Collector {
  readonly serviceName: string
  readonly sampler: SamplerName
  /** For samplers that keep a share: 0 to 1. */
  readonly ratio: number
  readonly version: string
  /** How long the end waits for the collector. Unit: milliseconds. */
  readonly lastMs?: number
}

/** Tracing for as long as the scope is open. Its end sends what is left, so it should be the last to close. */
export const tracingLayer = (options: TracingOptions): Layer.Layer<never> =>
  Layer.effect(
    Tracing,
    Effect.map(
      makeExporter(sendTo(options, { attributes: resourceOf(options), version: options.version }), options.lastMs),
      (exporter) => makeTracing(exporter, samplerOf(options.sampler, options.ratio), steadyNanos())
    )
  )

const resourceOf = ({ serviceName, version }: TracingOptions): Attributes => ({
  "service.name": serviceName,
  "service.version": version,
  "service.instance.id": randomUUID(),
  "telemetry.sdk.name": "flyball",
  "telemetry.sdk.version": version,
  "telemetry.sdk.language": "nodejs"
})

/** Tracing over an exporter. */
export const makeTracing = (exporter: SpanExporter, sampler: Sampler, nowNanos: () => bigint): TracingApi => ({
  counts: exporter.counts,
  start: (kind, parent, remote = false) => {
    const traceId = parent?.traceId ?? hex(16)
    const sampled = sampler(traceId, parent?.sampled ?? null)
    const spanId = hex(8)
    if (!sampled) return { traceId, spanId, sampled, end: () => {} }
    const startNanos = nowNanos()
    return {
      traceId,
      spanId,
      sampled,
      end: (said) =>
        exporter.push({
          traceId,
          spanId,
          parentId: parent?.spanId ?? null,
          remote,
          kind,
          startNanos,
          endNanos: nowNanos(),
          ...said
        })
    }
  }
})

/** Random bytes that are made together: one call for each id would be most of what a span costs. */
const pool = Buffer.alloc(4_096)
let used = pool.length

const hex = (bytes: number): string => {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString("hex", used - bytes, used)
}
