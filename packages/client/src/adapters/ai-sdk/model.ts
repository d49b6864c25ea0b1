/** Stops a model's calls on a halt, and witnesses each with its tokens. */
import type { LanguageModelMiddleware } from "ai"
import type { AgentClient } from "../../client.ts"
import { ActionDenied } from "../../enforce/denied.ts"
import { stoppedSentence } from "../../kill/kill-view.ts"
import type { Usage } from "../../wire.ts"

/** Options of a governed model. */
export interface ModelOptions {
  /** Names what belongs together in the record. */
  readonly runId?: string | undefined
}

type Wrap<K extends "wrapGenerate" | "wrapStream"> = NonNullable<LanguageModelMiddleware[K]>
type Generated = Awaited<ReturnType<Wrap<"wrapGenerate">>>
type Streamed = Awaited<ReturnType<Wrap<"wrapStream">>>
type Part = Streamed["stream"] extends ReadableStream<infer P> ? P : never

/**
 * Middleware for `wrapLanguageModel`: no model call begins while the agent is halted, and one that runs is ended by
 * a halt.
 *
 * Each call is witnessed as `model_call` with its model, its tokens and its latency; prompts and answers are not.
 * Tools are governed by `governTools`: this is no gate for them.
 */
export const governModel = (agent: AgentClient, { runId }: ModelOptions = {}): LanguageModelMiddleware => {
  const begin = async (model: string) => {
    const witness = (more: object): Promise<unknown> =>
      agent
        .witness({
          action: "model",
          kind: "model_call",
          capture: "framework_hook",
          model,
          ...(runId === undefined ? {} : { run_id: runId }),
          ...more
        })
        // Capture fails open: what could not be kept became a gap.
        .catch(() => null)
    // A first question may be under way still.
    if (agent.kill.denial("read") !== null) await agent.kill.refresh()
    const rule = agent.kill.denial("read")
    if (rule !== null) {
      await witness({ status: "denied", mode: "enforced", decided_by: "fail_closed", labels: { rule } })
      const outcome = rule === "@killed" ? "halt" : "deny"
      const reason = stoppedSentence(agent.kill.view(), "No model call begins while the agent is stopped")
      throw new ActionDenied("model", outcome, rule, reason, null)
    }
    const { done, signal } = agent.kill.signal()
    const startedMs = performance.now()
    let isOver = false
    const end = async (status: "ok" | "error", usage: Usage | null): Promise<void> => {
      if (isOver) return
      isOver = true
      done()
      await witness({
        status,
        mode: "observed",
        latency_ms: Math.round(performance.now() - startedMs),
        ...(usage === null ? {} : { usage })
      })
    }
    return { signal, end }
  }

  return {
    specificationVersion: "v4",
    wrapGenerate: async ({ model, params }) => {
      const { end, signal } = await begin(model.modelId)
      try {
        const generated = await untilAborted(model.doGenerate({ ...params, abortSignal: both(signal, params) }), signal)
        await end("ok", usageOf(generated.usage))
        return generated
      } catch (cause) {
        await end("error", null)
        throw cause
      }
    },
    wrapStream: async ({ model, params }) => {
      const { end, signal } = await begin(model.modelId)
      try {
        const streamed = await untilAborted(model.doStream({ ...params, abortSignal: both(signal, params) }), signal)
        return { ...streamed, stream: followed(streamed.stream, signal, end) }
      } catch (cause) {
        await end("error", null)
        throw cause
      }
    }
  }
}

const both = (signal: AbortSignal, { abortSignal }: { readonly abortSignal?: AbortSignal | undefined }): AbortSignal =>
  abortSignal === undefined ? signal : AbortSignal.any([signal, abortSignal])

/** Ends with the signal, whether or not a provider obeys it. */
const untilAborted = <A>(running: PromiseLike<A>, signal: AbortSignal): Promise<A> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort)
    running.then(resolve, reject).then(() => signal.removeEventListener("abort", abort))
  })

const followed = (
  stream: ReadableStream<Part>,
  signal: AbortSignal,
  end: (status: "ok" | "error", usage: Usage | null) => Promise<void>
): ReadableStream<Part> => {
  const reader = stream.getReader()
  let usage: Usage | null = null
  return new ReadableStream<Part>({
    pull: async (controller) => {
      try {
        const next = await untilAborted(reader.read(), signal)
        if (next.done) {
          await end("ok", usage)
          return controller.close()
        }
        if (next.value.type === "finish") usage = usageOf(next.value.usage)
        controller.enqueue(next.value)
      } catch (cause) {
        await end("error", usage)
        controller.error(cause)
        await reader.cancel(cause).catch(() => undefined)
      }
    },
    cancel: async (reason) => {
      await end("error", usage)
      await reader.cancel(reason)
    }
  })
}

const usageOf = (usage: Generated["usage"]): Usage => ({
  ...(usage.inputTokens.total === undefined ? {} : { input_tokens: usage.inputTokens.total }),
  ...(usage.outputTokens.total === undefined ? {} : { output_tokens: usage.outputTokens.total })
})
