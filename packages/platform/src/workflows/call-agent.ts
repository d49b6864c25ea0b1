/** One step of an agent: its envelope is evaluated, its request is sent, and both are on record. */
import { detailItem, type Evaluation, InvalidInput } from "@flyball/contract"
import {
  type AgentCalled,
  Capture,
  type EgressApi,
  Evaluations,
  Kill,
  type Reviews,
  type Scope,
  type SecretBoxApi,
  type Writer
} from "@flyball/core"
import type { JsonObject, ReadFault } from "@flyball/core/storage"
import { fromBase64, fromUtf8, toBase64, utf8 } from "@flyball/evidence"
import { fillTemplate, sealedForm } from "@flyball/rules"
import { Effect } from "effect"
import { reviewOf } from "../calling-agent.ts"
import { templateValues } from "./move.ts"
import type { ExecutionDocument, StepDefinition, StepState, WorkflowDocument } from "./document.ts"

type AgentStep = StepDefinition & { readonly type: "agent" }

/** The outcome of a step. */
export type StepOutcome =
  | { readonly is: "done"; readonly output: JsonObject }
  | { readonly is: "failed"; readonly code: string; readonly message: string }
  | { readonly is: "again"; readonly afterMs: number }
  | { readonly is: "review"; readonly reviewId: string }
  | { readonly is: "waiting" }

/** Levels of an agent's answer: outputs stand in subjects and records, within more levels. */
const MAX_ANSWER_DEPTH = 32
/** Bytes of an agent's answer that are taken. */
export const MAX_ANSWER_BYTES = 65_536

const failed = (code: string, message: string): StepOutcome => ({ is: "failed", code, message })

/** Headers of a step, sealed. The execution's step cannot open those of another workflow. */
export const sealHeaders = (box: SecretBoxApi, workflowId: string, stepId: string, headers: JsonObject) =>
  Effect.map(box.seal(utf8(JSON.stringify(headers)), `${workflowId}:${stepId}`), toBase64)

const openHeaders = (box: SecretBoxApi | null, sealed: string | undefined, boundTo: string) =>
  sealed === undefined
    ? Effect.succeed({} as { readonly [name: string]: string })
    : box === null
      ? Effect.succeed(null)
      : box.open(fromBase64(sealed)!, boundTo).pipe(
          Effect.map((bytes) => JSON.parse(fromUtf8(bytes) ?? "{}") as { readonly [name: string]: string }),
          Effect.catchTag("SecretUnreadable", () => Effect.succeed(null))
        )

/** The step at hand, with all that it reads. */
export interface StepAtHand {
  readonly executionId: string
  readonly execution: ExecutionDocument
  readonly workflowId: string
  readonly workflow: WorkflowDocument
  readonly step: AgentStep
  readonly state: StepState
  readonly writer: Writer
  readonly scope: Scope
  readonly egress: EgressApi | null
  readonly box: SecretBoxApi | null
}

/** Does the step once. The same step twice is one evaluation, one Idempotency-Key and one decision. */
export const callAgent = Effect.fnUntraced(function* (
  at: StepAtHand
): Effect.fn.Return<StepOutcome, ReadFault, Capture | Evaluations | Kill | Reviews> {
  const { egress, execution, executionId, step, workflow } = at
  const values = templateValues(execution, workflow.steps)
  const body = step.request.body === null ? null : fillTemplate(step.request.body, values)
  const signals = fillTemplate(step.signals, values)
  if (signals === null || (body === null && step.request.body !== null))
    return failed("template_too_large", "The body or the signals of the step are too large, or nest too deep.")
  if (egress === null) return failed("egress_unavailable", "This host calls no agents.")
  const opened = yield* headersOf(at)
  if (opened === null) return failed("headers_unreadable", "The headers of the step cannot be opened with this key.")
  const allowed = yield* evaluate(at, signals.value as JsonObject, (body?.value ?? null) as JsonObject | null)
  if (allowed.is !== "allowed") return allowed
  const called = yield* egress.call({
    url: step.request.url,
    method: step.request.method,
    headers: {
      "content-type": "application/json",
      accept: "application/json",
      ...lowerCased(opened),
      "idempotency-key": `"${executionId}:${step.id}"`
    },
    body: body?.sealed.bytes ?? new Uint8Array(),
    timeoutMs: step.timeout_ms,
    maxBytes: MAX_ANSWER_BYTES
  })
  const outcome = outcomeOf(called, step, at.state)
  if (outcome.is !== "again") yield* witness(at, allowed.evaluation, called, outcome)
  return outcome
})

const headersOf = ({ box, step, workflow, workflowId }: StepAtHand) =>
  openHeaders(box, workflow.sealedHeaders[step.id], `${workflowId}:${step.id}`)

const lowerCased = (headers: { readonly [name: string]: string }) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The name of the step's decision. */
const refOf = ({ executionId, step }: StepAtHand): string => `${executionId}:${step.id}`

/**
 * The name of the evaluation: a new one each time that an engine takes the step up, since a verdict is no leave for
 * later. A review approves one evaluation alone.
 */
const evaluationRefOf = (at: StepAtHand): string =>
  at.state.reviewId !== null
    ? `${refOf(at)}:approved`
    : at.state.takes > 1
      ? `${refOf(at)}:${at.state.takes}`
      : refOf(at)

/** Evaluates the step under the agent's envelope. What is to be reviewed waits for its review. */
const evaluate = Effect.fnUntraced(function* (
  at: StepAtHand,
  signals: JsonObject,
  args: JsonObject | null
): Effect.fn.Return<
  StepOutcome | { readonly is: "allowed"; readonly evaluation: Evaluation },
  ReadFault,
  Evaluations | Kill | Reviews
> {
  const { executionId, scope, state, step, writer } = at
  if (state.reviewId !== null) {
    const ended = yield* reviewOf(state.reviewId, scope)
    if (ended === null) return failed("review_not_found", "The review of the step does not exist.")
    if (ended === "open") return { is: "waiting" }
    if (ended !== "approve") return failed("review_not_approved", `The review ${state.reviewId} ended as ${ended}.`)
    // The approved evaluation is one for all tries, so what was halted since is not in it.
    const held = yield* Kill.use((kill) => kill.holding({ type: "agent", id: step.agent })).pipe(
      Effect.catchTags({ AgentNotFound: () => Effect.succeed([]), ModelNotFound: () => Effect.succeed([]) })
    )
    if (held.length > 0) return failed("agent_halted", "The agent is halted.")
  }
  const evaluated = yield* Evaluations.use((evaluations) =>
    evaluations.evaluate(
      {
        agent_id: step.agent,
        client_ref: evaluationRefOf(at),
        signals,
        action: step.action,
        run_id: executionId,
        ...(args === null ? {} : { args }),
        ...(state.reviewId === null ? {} : { approval_id: state.reviewId })
      },
      writer,
      scope
    )
  ).pipe(
    Effect.catchTags({
      AgentNotFound: () => Effect.succeed("The agent of the step does not exist in this org unit."),
      ClientRefReused: () => Effect.succeed("The step was evaluated with other content."),
      InvalidInput: ({ detail }: InvalidInput) => Effect.succeed(detail[0]?.msg ?? "The signals cannot be evaluated.")
    })
  )
  if (typeof evaluated === "string") return failed("agent_not_evaluated", evaluated)
  switch (evaluated.outcome) {
    case "allow":
    case "allow_with_notice":
      return { is: "allowed", evaluation: evaluated }
    case "require_review":
      return evaluated.review_id === null
        ? failed("agent_denied", "The envelope asks for a review that was not opened.")
        : { is: "review", reviewId: evaluated.review_id }
    case "halt":
      return failed("agent_halted", `The agent is halted (${evaluated.matched_rule}).`)
    case "deny":
      return failed("agent_denied", `The agent's envelope denies it (${evaluated.matched_rule}).`)
  }
})

const MOST_WAIT_MS = 60_000
/** The longest that an agent's `Retry-After` is followed. Unit: milliseconds. */
const MOST_PAUSE_MS = 3_600_000

const outcomeOf = (called: AgentCalled, { retries }: AgentStep, { tries }: StepState): StepOutcome => {
  const { errorCode, isComplete, isTooLarge, retryAfterMs: pauseMs, statusCode } = called
  const isCut = !isComplete && !isTooLarge
  if (statusCode === null || statusCode === 429 || statusCode >= 500 || isCut) {
    if (errorCode === "ssrf_blocked")
      return failed("address_not_allowed", "The address of the step may not be reached.")
    if (tries >= retries)
      return failed(
        "agent_unreachable",
        isCut && statusCode !== null && statusCode < 300
          ? `The agent's answer to the step did not reach its end: ${errorCode ?? "it was cut"}.`
          : `The agent did not answer the step: ${statusCode ?? errorCode ?? "nothing came"}.`
      )
    return {
      is: "again",
      afterMs: Math.min(MOST_PAUSE_MS, Math.max(pauseMs ?? 0, Math.min(MOST_WAIT_MS, 500 * 2 ** tries)))
    }
  }
  if (statusCode < 200 || statusCode >= 300)
    return failed("agent_refused", `The agent answered the step with ${statusCode}.`)
  if (isTooLarge) return failed("agent_answer_too_large", `The answer has more than ${MAX_ANSWER_BYTES} bytes.`)
  return answerOf(called.body)
}

/** An answer as output: a JSON object, or another value under `value`. An empty answer is an empty object. */
const answerOf = (bytes: Uint8Array): StepOutcome => {
  if (bytes.length === 0) return { is: "done", output: {} }
  const text = fromUtf8(bytes)
  let value: unknown
  try {
    value = JSON.parse(text ?? "")
  } catch {
    return failed("agent_answer_invalid", "The answer is no JSON.")
  }
  const output = typeof value === "object" && value !== null && !Array.isArray(value) ? value : { value }
  return sealedForm(output, MAX_ANSWER_DEPTH) === null || text?.includes("\\u0000") === true
    ? failed("agent_answer_invalid", "The answer holds a number or a text that JSON cannot say exactly.")
    : { is: "done", output: output as JsonObject }
}

const notWitnessed = (refusal: unknown) => Effect.logError("A step of a workflow was not witnessed.", refusal)

/** Puts what the agent did on record. After a crash it is there already, with another latency. */
const witness = (at: StepAtHand, evaluation: Evaluation, { durationMs }: AgentCalled, outcome: StepOutcome) =>
  Capture.use((capture) =>
    capture.witness(
      at.step.agent,
      [
        {
          client_ref: refOf(at),
          kind: "handoff",
          action: at.step.action,
          evaluation_id: evaluation.id,
          run_id: at.executionId,
          status: outcome.is === "done" ? "ok" : "error",
          latency_ms: durationMs,
          mode: "enforced",
          decided_by: "server"
        }
      ],
      at.writer,
      at.scope
    )
  ).pipe(
    Effect.catchTag("ClientRefReused", () => Effect.void),
    Effect.catchTags({
      AgentNotFound: notWitnessed,
      CaptureNotMediated: notWitnessed,
      DecisionTooLarge: notWitnessed,
      InvalidInput: notWitnessed
    })
  )

/** The problem with the request of a step; null where there is none. */
export const requestProblem = (
  { request }: AgentStep,
  headers: { readonly [name: string]: string },
  egress: EgressApi,
  at: number
): InvalidInput | null => {
  const url = egress.urlProblem(request.url)
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const header =
    egress.headersProblem(headers) ??
    (names.some((name) => ["idempotency-key", "content-type", "accept"].includes(name))
      ? "Idempotency-Key, Content-Type and Accept are set by the service"
      : null)
  const msg = url ?? header
  return msg === null
    ? null
    : new InvalidInput({
        detail: [
          detailItem(
            ["body", "steps", String(at), "request", url === null ? "headers" : "url"],
            "value_error",
            msg,
            url === null ? undefined : request.url
          )
        ]
      })
}
