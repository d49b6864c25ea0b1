/**
 * Entry point for hosts on Effect that run the HTTP surface: a store whose health is known, and spans. It loads no
 * handler.
 */
export { isLoopback } from "./request/loopback.ts"
export type { TraceContext } from "./telemetry/trace-context.ts"
export {
  type Attributes,
  CurrentSpan,
  type OpenSpan,
  type SpanKind,
  Tracing,
  type TracingApi
} from "./telemetry/tracing.ts"
export { watchedStorage } from "./answer/write-health.ts"
