/** Combines activations into the state of one agent or target. Pure. */
import { type AutonomyTier, autonomyTiers } from "../agents/document.ts"
import type { Json, JsonMap } from "../records/record.ts"
import { type DrillMode, halts, type KillResponse, type KillVia, severityOfResponse } from "./response.ts"

/**
 * An activation that reaches an agent, as evaluations record it. Spec: format 1 section 8, `evaluation.made`; decision
 * 0047.
 */
export interface ReachingActivation {
  readonly id: string
  readonly epoch: number
  readonly response: KillResponse
  /** Null: it is real. */
  readonly drill: DrillMode | null
  readonly via: KillVia
}

/** The members that decide. */
type Deciding = Pick<ReachingActivation, "drill" | "epoch" | "id" | "response">

/** The state of a target. Spec: document 1 section 2, "Kill status". */
export interface KillStateOf<A extends Deciding> {
  /** No new side effect may begin: the response in force is `halt` or `quarantine`. */
  readonly halted: boolean
  /** True when the activation that decides is a drill. */
  readonly drill: boolean
  /** The response of {@link activation}, shadow drills included; null where nothing is active. */
  readonly response: KillResponse | null
  /** The response that agents and evaluations obey: the most restrictive of all that act; null where none does. */
  readonly effectiveResponse: KillResponse | null
  /** The activation that is named for the state; null where nothing is active. */
  readonly activation: A | null
}

/**
 * The kill state under a set of activations.
 *
 * The most restrictive response holds. A shadow drill changes no behaviour, so it is named only where nothing else is
 * active. A real halt outranks a drill: it is named although a live drill may be more restrictive. Among equals a real
 * activation is named before a drill, and an earlier one before a later one.
 *
 * - Spec: envelopes.md 3.10, precedence.
 */
export const killStateOf = <A extends Deciding>(activations: ReadonlyArray<A>): KillStateOf<A> => {
  const sorted = byPrecedence(activations)
  const acting = sorted.filter(({ drill }) => drill !== "shadow")
  const effectiveResponse = acting.reduce<KillResponse | null>(
    (most, { response }) =>
      most === null || severityOfResponse(response) > severityOfResponse(most) ? response : most,
    null
  )
  const named = sorted[0] ?? null
  return {
    halted: effectiveResponse !== null && halts(effectiveResponse),
    drill: named !== null && named.drill !== null,
    response: named?.response ?? null,
    effectiveResponse,
    activation: named
  }
}

/** Sorts activations in the order in which records and answers name them. Spec: decision 0047. */
export const byPrecedence = <A extends Deciding>(activations: ReadonlyArray<A>): ReadonlyArray<A> =>
  activations.toSorted(
    (a, b) =>
      Number(isRealHalt(b)) - Number(isRealHalt(a)) ||
      Number(b.drill !== "shadow") - Number(a.drill !== "shadow") ||
      severityOfResponse(b.response) - severityOfResponse(a.response) ||
      Number(a.drill !== null) - Number(b.drill !== null) ||
      a.epoch - b.epoch ||
      (a.id < b.id ? -1 : 1)
  )

const isRealHalt = ({ drill, response }: Deciding): boolean => drill === null && halts(response)

/** Activations that a record of an evaluation names. The rest follow from the records before it. */
export const MAX_RECORDED_ACTIVATIONS = 64

/**
 * The member `activations` of the body of an evaluation; null where nothing reached the agent. Spec: format 1 section
 * 8, `evaluation.made`.
 */
export const activationsBody = (activations: ReadonlyArray<ReachingActivation>): ReadonlyArray<JsonMap> | null =>
  activations.length === 0
    ? null
    : byPrecedence(activations)
        .slice(0, MAX_RECORDED_ACTIVATIONS)
        .map(({ drill, epoch, id, response, via }) => ({
          ...(drill === null ? {} : { drill }),
          epoch,
          id,
          response,
          via
        }))

/**
 * Reads the member `activations` of a body that agrees with the catalogue. Spec: format 1 section 8, `evaluation.made`.
 */
export const readActivations = (value: Json | undefined): ReadonlyArray<ReachingActivation> =>
  (Array.isArray(value) ? (value as ReadonlyArray<JsonMap>) : []).map(({ drill, epoch, id, response, via }) => ({
    id: String(id),
    epoch: Number(epoch),
    response: String(response) as KillResponse,
    drill: drill === undefined ? null : (String(drill) as DrillMode),
    via: String(via) as KillVia
  }))

/**
 * The tier at which an agent acts under a response: one below its effective tier under `step_down`, at least L0. Spec:
 * `envelope/1` section 11, step 1; decision 0047.
 */
export const tierUnder = (effective: AutonomyTier, response: KillResponse | null): AutonomyTier =>
  response === "step_down" ? autonomyTiers[Math.max(0, autonomyTiers.indexOf(effective) - 1)]! : effective

/** The higher of two tiers; null stands for none. */
export const higherTier = (a: AutonomyTier | null, b: AutonomyTier | null): AutonomyTier | null =>
  a === null ? b : b === null || a >= b ? a : b
