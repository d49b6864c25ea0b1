/**
 * Verdicts of an agent's SDK while the service cannot be reached. The service, the SDK and the verifier run this code.
 *
 * Spec: `SPEC.md` section 15; envelopes.md 3.12; decision 0055.
 */
import type { Envelope, Obligation } from "../language/envelope.ts"
import { effectClassOf } from "../language/tier-floor.ts"
import type { Values } from "./decode.ts"
import { type Action, decide, type Ready } from "./decide.ts"
import type { Decision } from "./decision.ts"

/**
 * Highest age of the envelopes under which an SDK may decide: the age up to which reads continue under an old kill
 * status. Unit: milliseconds, from the sending of the request that confirmed them. Spec: `envelope/1` section 15, item
 * 3.
 */
export const LOCAL_MAX_AGE_MS = 60_000

/** Why no verdict under some layers may be given without the service. */
export type LocalObstacle = "no_envelope" | "not_offered" | "metered" | "latched"

/**
 * The first reason why no verdict under these layers may be given without the service; null where one may. Spec:
 * `envelope/1` section 15, item 1.
 */
export const localObstacle = (layers: ReadonlyArray<Envelope>): LocalObstacle | null => {
  if (layers.length === 0) return "no_envelope"
  if (layers.some(({ onUnavailable }) => onUnavailable !== "allow_cached")) return "not_offered"
  if (layers.some(({ meters }) => meters.length > 0)) return "metered"
  return layers.some(({ signals }) => signals.some(({ source }) => source === "latch")) ? "latched" : null
}

/** The agent's state, as the service answered it with the layers. Spec: `envelope/1` section 15. */
export interface LocalStanding {
  readonly agentId: string
  /** Values of the signals of source `server`, at the tier at which the agent acts. */
  readonly server: Values
}

/** Why one action gets no verdict without the service. */
export type LocalRefusal = LocalObstacle | "not_a_read" | "not_decided_alone" | "obliges"

/** A verdict, `allow` or `deny`; or the reason why there is none. Spec: `envelope/1` section 15. */
export type LocalVerdict =
  | { readonly decision: Decision; readonly refusal: null }
  | { readonly decision: null; readonly refusal: LocalRefusal }

/**
 * Decides about an action of an active agent that no kill reaches, without the service. `ready` is the combination of
 * these layers under their tier floor.
 *
 * No verdict where the action may do more than read, where it needs a person or a notice in time, or where it obliges
 * to what only the service can do. Spec: `envelope/1` section 15; decision 0055.
 */
export const localVerdict = (
  layers: ReadonlyArray<Envelope>,
  ready: Ready | null,
  action: Action,
  { agentId, server }: LocalStanding
): LocalVerdict => {
  const obstacle = localObstacle(layers)
  if (obstacle !== null) return { decision: null, refusal: obstacle }
  if (ready === null) return { decision: null, refusal: "no_envelope" }
  if (!readsOnly(layers, action.signals)) return { decision: null, refusal: "not_a_read" }
  const decision = decide(ready, action, {
    kill: "none",
    agent: { id: agentId, orgUnit: "", isActive: true },
    server,
    latches: none,
    windows: () => ({ value: 0, count: 0 }),
    approved: false
  })
  if (decision.outcome === "deny") return { decision, refusal: null }
  if (decision.outcome !== "allow") return { decision: null, refusal: "not_decided_alone" }
  return decision.obligations.every(({ type }) => keptAlone.has(type))
    ? { decision, refusal: null }
    : { decision: null, refusal: "obliges" }
}

/** True when the tool that the caller names is of class `read` in the layers together. An absent one is not. */
const readsOnly = (layers: ReadonlyArray<Envelope>, signals: unknown): boolean => {
  const hasTool = layers.some((layer) => layer.signals.some(({ name }) => name === "tool"))
  if (!hasTool) return effectClassOf(layers, "*") === "read"
  const tool = typeof signals === "object" && signals !== null ? (signals as { readonly tool?: unknown }).tool : null
  return typeof tool === "string" && effectClassOf(layers, tool) === "read"
}

/** Obligations that need nobody but the agent. */
const keptAlone: ReadonlySet<Obligation["type"]> = new Set(["redact_fields", "sample_for_eval_bp"])

const none: ReadonlySet<string> = new Set()
