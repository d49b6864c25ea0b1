/** Plans what people do with breakers, and what a breaker does when it trips. Pure. */
import { BreakerNotTripped } from "@flyball/contract"
import { canonicalBytes } from "@flyball/evidence"
import {
  type BreakerDocument,
  type KillResponse,
  type BreakerTrip,
  paramsToBody,
  type ReadAt,
  type Reading
} from "@flyball/rules"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { reasonPart } from "../../registry/agents/parts.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, ChangeSet, JsonObject, JsonValue } from "../../storage/port.ts"
import { breakerPut, epochPut, type StoredBreaker } from "./stored-breaker.ts"

/** An act that was decided: the breaker after it, and the change. */
export interface BreakerPlan {
  readonly breaker: BreakerDocument
  readonly change: ChangeSet
}

/** Input for arming a breaker. */
export type ArmCommand = Omit<BreakerDocument, "createdBy" | "lastActivationId" | "sinceSeq" | "trip">

/**
 * Decides what arming a breaker would change. Its window begins with the record. `except`: runs that did not count
 * where good runs set its threshold.
 */
export const planArm = (
  id: string,
  command: ArmCommand,
  { except, writer }: { readonly writer: Writer; readonly except: ReadonlyArray<string> },
  asOf: AsOf
): BreakerPlan => {
  const breaker: BreakerDocument = {
    ...command,
    createdBy: writer.id,
    sinceSeq: asOf.seq,
    trip: null,
    lastActivationId: null
  }
  const { agentId, enabled, metric, mode } = breaker
  return {
    breaker,
    change: {
      puts: [breakerPut(id, 0, breaker), epochPut],
      records: [
        {
          kind: "breaker.armed",
          agentId,
          body: wholeBody(id, breaker, asOf, writer),
          parts: breaker.goodRuns === undefined ? [] : [{ name: "good_runs", bytes: canonicalBytes({ except }) }]
        }
      ],
      events: [event("breaker.armed", { breaker_id: id, agent_id: agentId, metric, mode, enabled, writer: writer.id })]
    }
  }
}

/** Input of a change; absent members stay as they are. */
export type ChangeCommand = Partial<Pick<BreakerDocument, "confidenceBp" | "enabled" | "mode" | "params" | "response">>

/**
 * Decides what changing a breaker would change. Its window restarts; a tripped one stays tripped. Null where the
 * command says what holds already: a window that restarts with each repetition would never trip.
 */
export const planChange = (
  { body, id, version }: StoredBreaker,
  command: ChangeCommand,
  writer: Writer,
  asOf: AsOf
): BreakerPlan | null => {
  const breaker: BreakerDocument = { ...body, ...command, sinceSeq: asOf.seq }
  if (isSame(body, breaker)) return null
  return {
    breaker,
    change: {
      puts: [breakerPut(id, version, breaker), epochPut],
      records: [
        {
          kind: "breaker.changed",
          agentId: body.agentId,
          body: wholeBody(id, breaker, asOf, writer),
          parts: []
        }
      ]
    }
  }
}

const isSame = (one: BreakerDocument, other: BreakerDocument): boolean =>
  one.confidenceBp === other.confidenceBp &&
  one.enabled === other.enabled &&
  one.mode === other.mode &&
  one.response === other.response &&
  Object.keys({ ...one.params, ...other.params }).every((name) => one.params[name] === other.params[name])

/**
 * Decides what releasing a breaker would change: it is armed again, with a window that begins with the record.
 *
 * - Fails: `BreakerNotTripped` where it is armed.
 */
export const planRelease = (
  { body, id, version }: StoredBreaker,
  reason: string | null,
  writer: Writer,
  asOf: AsOf
): Result.Result<BreakerPlan, BreakerNotTripped> => {
  if (body.trip === null) return Result.fail(new BreakerNotTripped())
  const breaker: BreakerDocument = { ...body, sinceSeq: asOf.seq, trip: null }
  const { agentId, metric } = breaker
  return Result.succeed({
    breaker,
    change: {
      puts: [breakerPut(id, version, breaker), epochPut],
      records: [
        {
          kind: "breaker.released",
          agentId,
          body: { agent_id: agentId, as_of_ms: asOf.ms, as_of_seq: asOf.seq, breaker_id: id, writer: writer.id },
          parts: reasonPart(reason)
        }
      ],
      events: [event("breaker.released", { breaker_id: id, agent_id: agentId, metric, writer: writer.id })]
    }
  })
}

/** The activation of a trip: its id, and the change that makes it. */
export interface Activated {
  readonly activationId: string
  readonly response: KillResponse
  readonly change: ChangeSet
}

/**
 * Decides what a breaker does that trips: latches, records on what, and activates. In mode `shadow` it records alone.
 *
 * - `activated`: null but in mode `enforce`.
 */
export const planTrip = (
  { body, id, version }: StoredBreaker,
  { fromSeq, samples, toSeq, value }: Reading,
  at: ReadAt,
  activated: Activated | null
): BreakerPlan => {
  const { agentId, metric, mode } = body
  const writer = writerOfBreaker(body)
  const trip: BreakerTrip = {
    atMs: at.ms,
    asOfSeq: at.seq,
    value,
    samples,
    mode,
    response: activated?.response ?? null,
    activationId: activated?.activationId ?? null
  }
  const breaker: BreakerDocument = { ...body, trip, lastActivationId: trip.activationId ?? body.lastActivationId }
  const { events = [], expects = [], puts = [], records = [] } = activated?.change ?? {}
  return {
    breaker,
    change: {
      expects,
      puts: [breakerPut(id, version, breaker), ...puts],
      records: [
        {
          kind: "breaker.tripped",
          agentId,
          body: omitNullish({
            activation_id: trip.activationId,
            agent_id: agentId,
            as_of_ms: at.ms,
            as_of_seq: at.seq,
            breaker_id: id,
            from_seq: fromSeq,
            metric,
            mode,
            response: trip.response,
            samples,
            to_seq: toSeq,
            value,
            writer
          }) as JsonObject,
          parts: []
        },
        ...records
      ],
      events: [
        ...(mode === "shadow"
          ? []
          : [
              event("breaker.tripped", {
                breaker_id: id,
                agent_id: agentId,
                metric,
                mode,
                value,
                samples,
                response: trip.response,
                activation_id: trip.activationId,
                writer
              })
            ]),
        ...events
      ]
    }
  }
}

/** Writer of the acts of a breaker. Spec: document 1 section 3, kill state. */
export const writerOfBreaker = ({ name }: Pick<BreakerDocument, "name">): string => `breaker:${name}`

const wholeBody = (id: string, breaker: BreakerDocument, asOf: AsOf, writer: Writer): JsonObject =>
  omitNullish({
    agent_id: breaker.agentId,
    as_of_ms: asOf.ms,
    as_of_seq: asOf.seq,
    breaker_id: id,
    confidence_bp: breaker.confidenceBp,
    enabled: breaker.enabled,
    good_runs:
      breaker.goodRuns === undefined
        ? null
        : { from_seq: breaker.goodRuns.fromSeq, runs: breaker.goodRuns.runs, to_seq: breaker.goodRuns.toSeq },
    max_false_stop_bp: breaker.maxFalseStopBp,
    metric: breaker.metric,
    mode: breaker.mode,
    name: breaker.name,
    params: paramsToBody(breaker.params) as unknown as JsonValue,
    response: breaker.response,
    writer: writer.id
  }) as JsonObject
