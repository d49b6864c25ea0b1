/**
 * Checks the result of a drill against the acknowledgements before it, and its attestation by another person. Spec:
 * decision 0048.
 */
import { parseInstant } from "@flyball/evidence"
import { problem, type Problem } from "../recompute-verdict.ts"
import { DRILL_AGE_MS } from "../../agents/tier-gate.ts"
import type { KillInstance } from "../../kill/document.ts"
import { CHANNEL_TARGET } from "../../kill/response.ts"
import type { JsonMap, ReplayRecord } from "../../records/record.ts"
import { missedIn } from "../../drills/fold.ts"
import { type DrillAck, drillResult } from "../../drills/result.ts"

/** A drill's activation and its acknowledgements. */
interface Running {
  /** Its drill and target, as {@link aimOf} writes them. */
  readonly aim: string
  readonly activatedAtMs: number
  /** Null where the part is not shown; undefined until `kill.expected`. */
  expected: ReadonlyArray<KillInstance> | null | undefined
  unlisted: number
  readonly acks: Map<string, DrillAck & { readonly seq: number }>
}

/** A drill, folded from its records. */
interface Drill {
  readonly activationId: string
  /** Absent where it is aimed at a model. */
  readonly agentId: JsonMap[string] | undefined
  readonly sloMs: number
  readonly startedBy: string
  readonly completedAtMs: number | null
  readonly acknowledged: number
  /** Null until it is completed. */
  readonly met: boolean | null
  readonly isAttested: boolean
}

/** Fold of drills up to a record. Memory grows with running drills, and by two ids for each completed one. */
export class DrillJudge {
  readonly #running = new Map<string, Running>()
  readonly #drills = new Map<string, Drill>()

  /** Takes one record, in order, and answers its problem, or null. Records of other kinds change nothing. */
  take(record: ReplayRecord, fromGenesis: boolean): Problem | null {
    const { body, kind, parts } = record
    const drillId = String(body["drill_id"])
    switch (kind) {
      case "kill.activated":
        if (body["drill"] !== undefined && body["target_id"] !== CHANNEL_TARGET)
          this.#running.set(String(body["activation_id"]), {
            aim: aimOf((body["drill"] as JsonMap)["drill_id"], (body["drill"] as JsonMap)["mode"], body),
            activatedAtMs: atMs(body["activated_at"]),
            expected: undefined,
            unlisted: 0,
            acks: new Map()
          })
        return null
      case "kill.expected": {
        const running = this.#running.get(String(body["activation_id"]))
        if (running === undefined) return null
        running.expected = missedIn(parts.get("expected"))
        running.unlisted = Number(body["unlisted"] ?? 0)
        return null
      }
      case "kill.acknowledged":
        this.#acknowledged(record)
        return null
      case "drill.started":
        return this.#started(drillId, body, fromGenesis)
      case "drill.completed":
        return this.#completed(drillId, record, fromGenesis)
      case "drill.attested":
        return this.#attested(drillId, body, fromGenesis)
    }
    return null
  }

  #acknowledged({ body, seq }: ReplayRecord): void {
    const acks = this.#running.get(String(body["activation_id"]))?.acks
    const one = { agentId: String(body["agent_id"]), instanceId: String(body["instance_id"]) }
    const name = `${one.agentId} ${one.instanceId}`
    // The first acknowledgement of an instance counts.
    if (acks !== undefined && !acks.has(name))
      acks.set(name, { ...one, acknowledgedAtMs: atMs(body["acknowledged_at"]), seq })
  }

  #started(drillId: string, body: JsonMap, fromGenesis: boolean): Problem | null {
    const drill: Drill = {
      activationId: String(body["activation_id"]),
      agentId: body["agent_id"],
      sloMs: Number(body["slo_ms"]),
      startedBy: String(body["writer"]),
      completedAtMs: null,
      acknowledged: 0,
      met: null,
      isAttested: false
    }
    this.#drills.set(drillId, drill)
    if (drill.agentId !== (body["target_type"] === "agent" ? body["target_id"] : undefined))
      return problem("drill_result_mismatch", `${drillId} names another agent than its target.`)
    const running = this.#running.get(drill.activationId)
    if (running === undefined)
      return fromGenesis
        ? problem("reference_mismatch", `No record before it activates ${drill.activationId} as an exercise.`)
        : null
    return running.aim === aimOf(drillId, body["mode"], body)
      ? null
      : problem("drill_result_mismatch", `${drill.activationId} does not belong to ${drillId}, or has another target.`)
  }

  #completed(drillId: string, { body, parts }: ReplayRecord, fromGenesis: boolean): Problem | null {
    const drill = this.#drills.get(drillId)
    if (drill === undefined) return unknownDrill(drillId, fromGenesis)
    if (drill.completedAtMs !== null) return problem("drill_result_mismatch", `${drillId} was completed before.`)
    this.#drills.set(drillId, {
      ...drill,
      completedAtMs: atMs(body["completed_at"]),
      acknowledged: Number(body["acknowledged"]),
      met: body["met"] === true
    })
    if (drill.agentId !== body["agent_id"]) return ofAnotherAgent(drillId)
    const running = this.#running.get(drill.activationId)
    this.#running.delete(drill.activationId)
    if (running === undefined)
      return fromGenesis
        ? problem("drill_result_mismatch", `No record before it activates ${drill.activationId} as a drill.`)
        : null
    const { acks, activatedAtMs, expected, unlisted } = running
    const counted = [...acks.values()].filter(({ seq }) => seq <= Number(body["as_of_seq"]))
    const measured = { activatedAtMs, expectedInstances: expected === undefined ? null : (expected ?? []), unlisted }
    const found = drillResult(measured, counted, drill.sloMs)
    const recomputed = {
      acknowledged: found.acknowledged,
      max_ms: found.maxMs,
      p50_ms: found.p50Ms,
      p95_ms: found.p95Ms,
      unlisted: found.unlisted === 0 ? null : found.unlisted,
      ...(expected === null ? {} : { expected: found.expected, met: found.met })
    }
    for (const [name, value] of Object.entries(recomputed))
      if ((body[name] ?? null) !== value)
        return problem(
          "drill_result_mismatch",
          `The acknowledgements of ${drillId} give ${name} ${value}; the record says ${String(body[name] ?? null)}.`
        )
    const missed = missedIn(parts.get("missed"))
    if (expected === null || missed === null)
      return problem("withheld", `Which instances ${drillId} expected, or missed, is not shown.`)
    return JSON.stringify(missed) === JSON.stringify(found.missed)
      ? null
      : problem(
          "drill_result_mismatch",
          `${found.missed.length} instances of ${drillId} never answered; the record names ${missed.length}, or others.`
        )
  }

  #attested(drillId: string, body: JsonMap, fromGenesis: boolean): Problem | null {
    const drill = this.#drills.get(drillId)
    if (drill === undefined) return unknownDrill(drillId, fromGenesis)
    if (drill.completedAtMs === null)
      return problem("drill_result_mismatch", `${drillId} was attested before it was completed.`)
    if (drill.isAttested) return problem("drill_result_mismatch", `${drillId} was attested before.`)
    this.#drills.set(drillId, { ...drill, isAttested: true })
    if (drill.agentId !== body["agent_id"]) return ofAnotherAgent(drillId)
    if (drill.acknowledged === 0)
      return problem("drill_result_mismatch", `${drillId} is attested without an acknowledgement.`)
    if (body["met"] !== drill.met)
      return problem("drill_result_mismatch", `${drillId} is attested with another result than it has.`)
    if (drill.completedAtMs < atMs(body["attested_at"]) - DRILL_AGE_MS)
      return problem("drill_result_mismatch", `${drillId} is attested later than an attestation counts.`)
    return drill.startedBy === body["writer"]
      ? problem("drill_result_mismatch", `${drillId} is attested by the person who started it.`)
      : null
  }
}

/** The members that a drill and its activation must share. */
const aimOf = (drillId: unknown, mode: unknown, body: JsonMap): string =>
  [drillId, mode, body["target_type"], body["target_id"]].map(String).join(" ")

const ofAnotherAgent = (drillId: string): Problem =>
  problem("drill_result_mismatch", `${drillId} is a drill of another agent than the record says.`)

const unknownDrill = (drillId: string, fromGenesis: boolean): Problem | null =>
  fromGenesis ? problem("reference_mismatch", `No record before it starts ${drillId}.`) : null

const atMs = (value: unknown): number => parseInstant(String(value)) ?? 0
