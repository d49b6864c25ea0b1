/** Which traces are kept. Spec: OpenTelemetry, OTEL_TRACES_SAMPLER. */

/** The samplers that there are, by their standard names. */
export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio"
] as const

/** One of them. */
export type SamplerName = (typeof samplers)[number]

/** Keeps a span by the trace's id, and by what its parent says; null for a span that begins a trace. */
export type Sampler = (traceId: string, parentSampled: boolean | null) => boolean

/** The low 52 bits of a trace id: random where W3C Trace Context asks for randomness, and as many as a number holds. */
const DIGITS = 13
const ALL = 2 ** (4 * DIGITS)

/** The sampler of this name. `ratio`: the share of traces that the two with `traceidratio` keep, 0 to 1. */
export const samplerOf = (name: SamplerName, ratio: number): Sampler => {
  const root = (traceId: string): boolean => {
    if (name.endsWith("always_on")) return true
    return name.endsWith("traceidratio") && Number.parseInt(traceId.slice(-DIGITS), 16) < ratio * ALL
  }
  return name.startsWith("parentbased_") ? (traceId, parentSampled) => parentSampled ?? root(traceId) : root
}
