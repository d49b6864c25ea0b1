/**
 * Learns that a tool failed though its `errorFunction` put the failure into words.
 *
 * The SDK shows such a failure nowhere but on the current span of its tracing. This holds too where tracing is
 * disabled: a span is then one that is sent nowhere.
 */
import { createFunctionSpan, getCurrentTraceContext, NoopSpan, type Span, withTraceContext } from "@openai/agents"

// oxlint-disable-next-line no-explicit-any
type AnySpan = Span<any>

/** How a call of a tool ended. */
export interface ToolAnswer<A> {
  readonly output: A
  /** True when the SDK reported a failure that became this output. */
  readonly failed: boolean
}

/** The SDK's report of a failure that a tool's own function put into words. */
const REPORTED = "Error running tool (non-fatal)"

/** Calls a tool. Outside of a run nothing is learned of its failures. */
export const withFailure = async <A>(tool: string, invoke: () => Promise<A>): Promise<ToolAnswer<A>> => {
  const context = getCurrentTraceContext()
  const span = context === null ? null : (context.span ?? unsentSpan(tool))
  if (context === null || span === null) return { output: await invoke(), failed: false }
  let failed = false
  const watched = watch(span, (error) => {
    failed ||= error.message === REPORTED && error.data?.["tool_name"] === tool
  })
  const output = await withTraceContext({ trace: context.trace, span: watched }, invoke)
  return { output, failed }
}

/** A span that is sent nowhere; null where the SDK would send it. */
const unsentSpan = (name: string): AnySpan | null => {
  const span = createFunctionSpan({ data: { name, input: "", output: "" } })
  return span instanceof NoopSpan ? span : null
}

/** The same span, which also reports each error that it is given. */
const watch = (span: AnySpan, report: (error: Parameters<AnySpan["setError"]>[0]) => void): AnySpan =>
  new Proxy(span, {
    get: (target, name) => {
      if (name === "setError")
        return (error: Parameters<AnySpan["setError"]>[0]): void => {
          report(error)
          target.setError(error)
        }
      // Its members are private fields, which only the span itself may read.
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? (value.bind(target) as unknown) : value
    },
    set: (target, name, value) => Reflect.set(target, name, value, target)
  })
