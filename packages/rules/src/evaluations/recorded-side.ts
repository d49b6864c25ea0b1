/** Writes a verdict into a record's body, and reads it back. */
import type { Decision, Outcome, StopStep } from "@flyball/envelope"
import type { Json, JsonMap } from "../records/record.ts"
import type { LayerRef } from "./layers.ts"

/** A meter in a body. `amount` is present where the evaluation adds to the window. */
export interface RecordedMeter {
  readonly id: string
  readonly window: string
  readonly value: number
  readonly after: number
  readonly amount: number | null
}

/** The verdict of one side, enforced or on trial. Spec: format 1 section 8, `evaluation.made`. */
export interface RecordedSide {
  readonly outcome: Outcome
  readonly matchedRule: string
  readonly stoppedOn: string | null
  readonly trace: ReadonlyArray<number>
  readonly layers: ReadonlyArray<LayerRef>
  readonly meters: ReadonlyArray<RecordedMeter>
}

/** True when an outcome permits the action, and so adds to meters. */
export const letsThrough = (outcome: Outcome): boolean => outcome === "allow" || outcome === "allow_with_notice"

/**
 * A decision as its record states it. `windowOf` names the window of a meter and key. Spec: format 1 section 8,
 * `evaluation.made`.
 */
export const recordedSide = (
  decision: Decision,
  layers: ReadonlyArray<LayerRef>,
  windowOf: (meter: string, key: string) => string
): RecordedSide => ({
  outcome: decision.outcome,
  matchedRule: decision.matchedRule,
  stoppedOn: decision.stopped?.step === "signals" ? decision.stopped.id : null,
  trace: decision.failedOn,
  layers: layers.map(({ digest, envelopeId, version }) => ({ digest, envelopeId, version })),
  meters: decision.meters.map(({ after, amount, contributes, id, key, value }) => ({
    id,
    window: windowOf(id, key),
    value,
    after,
    amount: contributes && letsThrough(decision.outcome) ? amount : null
  }))
})

/**
 * Members of a body for one side of a verdict; list members in the order of their names. Spec: format 1 section 8,
 * `evaluation.made`.
 */
export const sideBody = ({ layers, matchedRule, meters, outcome, stoppedOn, trace }: RecordedSide): JsonMap => ({
  layers: layers.map(({ digest, envelopeId, version }) => ({ digest, envelope_id: envelopeId, version })),
  matched_rule: matchedRule,
  meters: meters.map(({ after, amount, id, value, window }) => ({
    after,
    ...(amount === null ? {} : { amount }),
    id,
    value,
    window
  })),
  outcome,
  ...(stoppedOn === null ? {} : { stopped_on: stoppedOn }),
  trace
})

/**
 * Reads one side of a verdict from a body that agrees with the catalogue. Spec: format 1 section 8, `evaluation.made`.
 */
export const readSide = (body: JsonMap): RecordedSide => ({
  outcome: String(body["outcome"]) as Outcome,
  matchedRule: String(body["matched_rule"]),
  stoppedOn: typeof body["stopped_on"] === "string" ? body["stopped_on"] : null,
  trace: (body["trace"] ?? []) as ReadonlyArray<number>,
  layers: maps(body["layers"]).map((layer) => ({
    digest: String(layer["digest"]),
    envelopeId: String(layer["envelope_id"]),
    version: Number(layer["version"])
  })),
  meters: maps(body["meters"]).map((meter) => ({
    id: String(meter["id"]),
    window: String(meter["window"]),
    value: Number(meter["value"]),
    after: Number(meter["after"]),
    amount: typeof meter["amount"] === "number" ? meter["amount"] : null
  }))
})

const steps: { readonly [rule: string]: StopStep } = {
  "@killed": "kill",
  "@suspended": "agent",
  "@not_active": "agent",
  "@no_envelope": "envelope",
  "@invalid_signal": "signals",
  "@missing_signal": "signals"
}

/**
 * The decision of a recorded side, as far as its trace needs it. Meters have no key and no bound there: the rule
 * implies `over`. Spec: `envelope/1` section 12.
 */
export const decisionOf = ({ matchedRule, meters, outcome, stoppedOn, trace }: RecordedSide): Decision => {
  const step = steps[matchedRule]
  return {
    outcome,
    matchedRule,
    stopped: step === undefined ? null : { step, id: stoppedOn },
    failedOn: trace,
    meters: meters.map(({ after, amount, id, value }) => ({
      id,
      key: "",
      value,
      amount: after - value,
      contributes: amount !== null,
      after,
      over: matchedRule === `@budget:${id}`
    })),
    obligations: [],
    noticeMs: null,
    retryAfterMs: null,
    suggestion: null,
    approved: false
  }
}

const maps = (value: Json | undefined): ReadonlyArray<JsonMap> =>
  Array.isArray(value) ? (value as ReadonlyArray<JsonMap>) : []
