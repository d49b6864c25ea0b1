/**
 * Incidents: times in which at least one activation of the kill switch held for a target. Drills and the check of the
 * channel are none. Spec: envelopes.md 3.12.
 */
import type { Json, JsonMap, ReplayRecord } from "../records/record.ts"
import { STOP_BOUND_MS } from "../kill/certificate.ts"
import { CHANNEL_TARGET, type KillTargetType } from "../kill/response.ts"

/** Kinds of records that incidents are made of. */
export const incidentKinds = [
  "breaker.tripped",
  "kill.acknowledged",
  "kill.activated",
  "kill.expected",
  "kill.released",
  "kill.requested"
] as const

/** Facts about an incident, whether it has ended or not. Times are those of records, in milliseconds. */
export interface Incident {
  readonly targetType: KillTargetType
  readonly targetId: string
  /** When the first activation was recorded. */
  readonly activatedAtMs: number
  /** The first record in the window of the breaker that tripped; null without one. */
  readonly onsetSeq: number | null
  /** When an agent requested the stop; null without a request. */
  readonly onsetAtMs: number | null
  /** When the last expected instance had acknowledged, where that was within the bound; null where it was not. */
  readonly acknowledgedAtMs: number | null
  /** Null while it is open. */
  readonly releasedAtMs: number | null
}

interface Open extends Incident {
  readonly firstId: string
  /** Null until it is read. */
  readonly expected: number | null
  /** When each of `acknowledged` was. */
  readonly ackTimes: ReadonlyArray<number>
  readonly live: ReadonlyArray<string>
  readonly acknowledged: ReadonlyArray<string>
}

interface Cause {
  readonly activationId: string
  readonly onsetSeq: number | null
  readonly onsetAtMs: number | null
}

/** The incidents that are open at one place of the chain. */
export class OpenIncidents {
  readonly #open: Map<string, Open>
  /** The record before, as the cause of an activation that follows in the same commit. */
  #cause: Cause | null

  /** `json`: what {@link toJson} gave. */
  constructor(json: Json = { open: [], cause: null }) {
    const { cause, open } = json as unknown as { readonly open: ReadonlyArray<Open>; readonly cause: Cause | null }
    this.#open = new Map(open.map((one) => [keyOf(one), one]))
    this.#cause = cause
  }

  /** Takes a record of {@link incidentKinds}; answers the incident that it ends, if any. */
  take({ body, kind }: Pick<ReplayRecord, "body" | "kind">, atMs: number): Incident | null {
    const id = String(body["activation_id"])
    switch (kind) {
      case "breaker.tripped":
        this.#causedBy({ activationId: id, onsetSeq: wholeOrNull(body["from_seq"]), onsetAtMs: null })
        return null
      case "kill.requested":
        this.#causedBy({ activationId: id, onsetSeq: null, onsetAtMs: atMs })
        return null
      case "kill.activated":
        this.#activate(body, atMs)
        return null
      case "kill.expected":
        this.#expects(id, countIn(body))
        return null
      case "kill.acknowledged":
        this.#acknowledge(id, `${body["agent_id"]} ${body["instance_id"]}`, atMs)
        return null
      case "kill.released":
        return this.#release(id, atMs)
    }
    return null
  }

  /** Open incidents, in the order of their first activations. */
  list(): ReadonlyArray<Incident> {
    return [...this.#open.values()]
  }

  /** As plain data. */
  toJson(): Json {
    return { open: [...this.#open.values()] as unknown as Json, cause: this.#cause as unknown as Json }
  }

  /** A breaker's record may stand before its activation or behind it. */
  #causedBy(cause: Cause): void {
    const { activationId, onsetAtMs, onsetSeq } = cause
    const begun = [...this.#open.values()].find(({ firstId }) => firstId === activationId)
    if (begun === undefined) this.#cause = cause
    else this.#open.set(keyOf(begun), { ...begun, onsetAtMs, onsetSeq })
  }

  #activate(body: JsonMap, atMs: number): void {
    const activationId = String(body["activation_id"])
    const target = { targetType: String(body["target_type"]) as KillTargetType, targetId: String(body["target_id"]) }
    if (body["drill"] !== undefined || target.targetId === CHANNEL_TARGET) return
    const known = this.#open.get(keyOf(target))
    if (known !== undefined) {
      this.#open.set(keyOf(target), { ...known, live: [...known.live, activationId] })
      return
    }
    const cause = this.#cause?.activationId === activationId ? this.#cause : null
    this.#open.set(keyOf(target), {
      ...target,
      activatedAtMs: atMs,
      onsetSeq: cause?.onsetSeq ?? null,
      onsetAtMs: cause?.onsetAtMs ?? null,
      acknowledgedAtMs: null,
      releasedAtMs: null,
      firstId: activationId,
      expected: null,
      ackTimes: [],
      live: [activationId],
      acknowledged: []
    })
  }

  #acknowledge(activationId: string, instance: string, atMs: number): void {
    const incident = [...this.#open.values()].find(({ firstId }) => firstId === activationId)
    if (incident === undefined || incident.acknowledgedAtMs !== null || incident.acknowledged.includes(instance)) return
    if (atMs - incident.activatedAtMs >= STOP_BOUND_MS) return
    const acknowledged = [...incident.acknowledged, instance]
    this.#open.set(keyOf(incident), contained({ ...incident, acknowledged, ackTimes: [...incident.ackTimes, atMs] }))
  }

  #expects(activationId: string, expected: number): void {
    const incident = [...this.#open.values()].find(({ firstId }) => firstId === activationId)
    if (incident !== undefined && incident.expected === null)
      this.#open.set(keyOf(incident), contained({ ...incident, expected }))
  }

  #release(activationId: string, atMs: number): Incident | null {
    const incident = [...this.#open.values()].find(({ live }) => live.includes(activationId))
    if (incident === undefined) return null
    const live = incident.live.filter((one) => one !== activationId)
    if (live.length > 0) {
      this.#open.set(keyOf(incident), { ...incident, live })
      return null
    }
    this.#open.delete(keyOf(incident))
    const { acknowledgedAtMs, activatedAtMs, onsetAtMs, onsetSeq, targetId, targetType } = incident
    return { targetType, targetId, activatedAtMs, onsetSeq, onsetAtMs, acknowledgedAtMs, releasedAtMs: atMs }
  }
}

/**
 * When an incident was contained: its expected instances had acknowledged, or the bound was over after which no SDK
 * begins a side effect, or it was released. Null where none of these was before `untilMs`.
 */
export const containedAtMs = (
  { acknowledgedAtMs, activatedAtMs, releasedAtMs }: Incident,
  untilMs: number
): number | null => {
  const at = Math.min(
    acknowledgedAtMs ?? Number.POSITIVE_INFINITY,
    activatedAtMs + STOP_BOUND_MS,
    releasedAtMs ?? Number.POSITIVE_INFINITY
  )
  return at < untilMs ? at : null
}

/** An incident with the time at which its last expected instance had acknowledged. */
const contained = (incident: Open): Open => ({
  ...incident,
  acknowledgedAtMs: incident.expected === null ? null : (incident.ackTimes[Math.max(1, incident.expected) - 1] ?? null)
})

/** How many instances a record states an activation to expect. */
const countIn = (body: JsonMap): number => (wholeOrNull(body["expected"]) ?? 0) + (wholeOrNull(body["unlisted"]) ?? 0)

const keyOf = ({ targetId, targetType }: Pick<Incident, "targetId" | "targetType">): string =>
  `${targetType} ${targetId}`
const wholeOrNull = (value: Json | undefined): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null
