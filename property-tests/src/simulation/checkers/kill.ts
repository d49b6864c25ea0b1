/**
 * The kill switch: every state that anybody was answered is what the records say, none is older than what was known
 * before the question, nothing is allowed under a halt, and a release lifts one activation.
 */
import { CHANNEL_TARGET, KILL_ACTIVATIONS } from "../../../../packages/rules/src/index.ts"
import { Effect } from "effect"
import { MODEL } from "../governed-acts.ts"
import { CHILD } from "../kill-acts.ts"
import type { Ledger } from "../ledger.ts"
import { type Checked, type Checker, type ReadRecord, recordsBy } from "./checked.ts"

/** Adds up by hand what holds after each record. */
export const killChecker: Checker = (world) =>
  Effect.gen(function* () {
    const { ledger, ports, records } = world
    const changes = changesIn(records)
    // The service itself checks the channel, and breakers and alarms activate by themselves: no caller requests that.
    const reasons = (yield* ports.storage.list(KILL_ACTIVATIONS))
      .filter(({ body }) => body["targetId"] !== CHANNEL_TARGET && body["breakerId"] === null)
      .filter(({ body }) => body["actor"] !== "policy:drift")
      .map(({ body }) => String(body["reason"]))
    return [
      ...epochs(changes),
      ...acknowledged(world, changes, reasons),
      ...acks(world),
      ...statuses(world, changes),
      ...evaluations(ledger, records)
    ].map((problem) => `kill: ${problem}`)
  })

const severities = ["notify", "step_down", "drain", "halt", "quarantine"]
const severity = (response: string): number => severities.indexOf(response)
const HALT = severity("halt")
const DRAIN = severity("drain")

/** An activation as its records tell of it. */
interface Activation {
  readonly id: string
  readonly target: string
  readonly response: string
  readonly writer: string
  readonly tier: string
  readonly epoch: number
  readonly seq: number
  release: { readonly epoch: number; readonly seq: number } | null
}

interface Changes {
  /** Seq of the record that each epoch began with, by epoch. */
  readonly began: ReadonlyMap<number, number>
  readonly activations: ReadonlyArray<Activation>
  readonly problems: ReadonlyArray<string>
}

const changesIn = (records: ReadonlyArray<ReadRecord>): Changes => {
  const began = new Map<number, number>()
  const activations = new Map<string, Activation>()
  const problems: Array<string> = []
  for (const { body, kind, seq } of records) {
    if (kind !== "kill.activated" && kind !== "kill.released") continue
    const id = String(body["activation_id"])
    const epoch = Number(body["epoch"])
    const [writer, tier] = [String(body["writer"]), String(body["highest_tier"] ?? "")]
    if (epoch !== began.size + 1) problems.push(`record ${seq} begins epoch ${epoch}, and ${began.size} were before it`)
    began.set(epoch, seq)
    const before = activations.get(id)
    if (kind === "kill.activated") {
      const [target, response] = [String(body["target_id"]), String(body["response"])]
      if (before !== undefined) problems.push(`${id} is activated twice`)
      activations.set(id, { id, target, response, writer, tier, epoch, seq, release: null })
    } else if (before === undefined || before.release !== null) problems.push(`${id} is released, and was not active`)
    else {
      before.release = { epoch, seq }
      if (
        severity(before.response) >= HALT &&
        writer === before.writer &&
        [tier, before.tier].some((one) => one >= "L3")
      )
        problems.push(`${id} reaches an agent at L3, and is released by who activated it`)
    }
  }
  return { began, activations: [...activations.values()], problems }
}

const epochs = ({ problems }: Changes): ReadonlyArray<string> => problems

/** Finds acts that are not recorded once for each acknowledgement and at most once for each try. */
const acknowledged = (
  { ledger }: Checked,
  { activations }: Changes,
  reasons: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const byId = new Map(activations.map((one) => [one.id, one]))
  const times = Map.groupBy(reasons, (reason) => reason)
  for (const reason of times.keys())
    if (!ledger.killActivations.has(reason)) problems.push(`${reason} is activated, and nobody wanted that`)
  for (const [reason, line] of ledger.killActivations) {
    const found = times.get(reason)?.length ?? 0
    if (found < line.acknowledged || found > line.tries)
      problems.push(`${reason} is activated ${found} times, of ${line.tries} tries ${line.acknowledged} acknowledged`)
  }
  for (const { epoch, id, target } of ledger.killHeld) {
    const there = byId.get(id)
    if (there?.epoch !== epoch || there.target !== target.id)
      problems.push(`${id} was acknowledged at epoch ${epoch}, and the records say ${there?.epoch}`)
  }
  for (const [id, line] of ledger.killReleases) {
    const there = byId.get(id)?.release ?? null
    if (line.epoch !== null && there?.epoch !== line.epoch)
      problems.push(`${id} was acknowledged as released at epoch ${line.epoch}, and the records say ${there?.epoch}`)
  }
  for (const { id, release, target } of activations)
    if (release !== null && target !== CHANNEL_TARGET && !ledger.killReleases.has(id))
      problems.push(`${id} is released, and nobody wanted that`)
  return problems
}

/** Once for each instance, never after the release, and never more than was said. */
const acks = ({ ledger, records }: Checked): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const keyOf = ({ body }: ReadRecord): string =>
    `${String(body["activation_id"])}/${String(body["agent_id"])}/${String(body["instance_id"])}`
  const said = recordsBy(records, "kill.acknowledged", keyOf)
  const stopped = recordsBy(records, "kill.stopped", keyOf)
  const released = recordsBy(records, "kill.released", ({ body }) => String(body["activation_id"]))
  for (const [what, found] of [["acknowledged", said] as const, ["stopped", stopped] as const])
    for (const [key, all] of found) {
      const [end] = released.get(key.split("/")[0]!) ?? []
      if (all.length > 1) problems.push(`${key} is ${what} ${all.length} times`)
      if (!ledger.killAcks.has(key)) problems.push(`${key} is ${what}, and never said so`)
      if (end !== undefined && all.some(({ seq }) => seq > end.seq))
        problems.push(`${key} is ${what} after the release`)
    }
  for (const [key, line] of ledger.killAcks) {
    if (line.seen > 0 && !said.has(key)) problems.push(`${key} was answered, and no record says so`)
    if (line.stopped > 0 && !stopped.has(key)) problems.push(`${key} was answered as stopped, and no record says so`)
  }
  const activated = recordsBy(records, "kill.activated", ({ body }) => String(body["activation_id"]))
  for (const [id, all] of recordsBy(records, "kill.expected", ({ body }) => String(body["activation_id"]))) {
    if (all.length > 1) problems.push(`whom ${id} expects is recorded ${all.length} times`)
    if (!(all[0]!.seq > (activated.get(id)?.[0]?.seq ?? all[0]!.seq)))
      problems.push(`whom ${id} expects is recorded before its activation`)
  }
  const unconfirmed = recordsBy(records, "kill.unconfirmed", ({ body }) => String(body["activation_id"]))
  for (const [id, all] of unconfirmed) {
    if (all.length > 1) problems.push(`the silence under ${id} is recorded ${all.length} times`)
    const [end] = released.get(id) ?? []
    if (end !== undefined && all.some(({ seq }) => seq > end.seq))
      problems.push(`the silence under ${id} is recorded after its release`)
  }
  return problems
}

/** Targets whose activations reach this one. */
const reaching = (ledger: Ledger, target: string): ReadonlyArray<string> => {
  const governed = ledger.agents.get("governed")
  if (target === governed) return [target, MODEL]
  return target === ledger.agents.get(CHILD) ? [target, String(governed)] : [target]
}

const statuses = ({ ledger, origin }: Checked, { began, activations }: Changes): ReadonlyArray<string> =>
  ledger.killStatuses.flatMap(({ by, floor, status }) => {
    const { epoch } = status
    if (epoch < floor) return [`${by} was answered epoch ${epoch}, and ${floor} was known before the question`]
    const targets = reaching(ledger, status.target_id)
    const live = activations.filter(
      (one) => one.epoch <= epoch && (one.release === null || one.release.epoch > epoch) && targets.includes(one.target)
    )
    const most = Math.max(-1, ...live.map(({ response }) => severity(response)))
    const [named] = live
      .filter(({ response }) => severity(response) === most)
      .toSorted((one, other) => one.epoch - other.epoch)
    const wanted = [most >= HALT, severities[most] ?? null, named?.id ?? null, began.get(epoch) ?? null, origin]
    const found = [status.halted, status.effective_response, status.activation_event, status.as_of_seq, status.origin]
    return JSON.stringify(found) === JSON.stringify(wanted)
      ? []
      : [
          `${by} was answered ${JSON.stringify(found)} of ${status.target_id} at epoch ${epoch}: it is ` +
            JSON.stringify(wanted)
        ]
  })

/** No evaluation after an activation's record and before its release ends in allow. */
const evaluations = (ledger: Ledger, records: ReadonlyArray<ReadRecord>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const live = new Map<string, { readonly target: string; readonly response: string }>()
  for (const { agentId, body, kind, seq } of records) {
    const id = String(body["activation_id"])
    if (kind === "kill.activated")
      live.set(id, { target: String(body["target_id"]), response: String(body["response"]) })
    if (kind === "kill.released") live.delete(id)
    if (kind !== "evaluation.made") continue
    const targets = reaching(ledger, String(agentId))
    const denying = [...live].find(
      ([, { response, target }]) => severity(response) >= DRAIN && targets.includes(target)
    )
    const killed = body["outcome"] === "deny" && body["matched_rule"] === "@killed"
    if (denying !== undefined && !killed)
      problems.push(`${seq} is ${String(body["outcome"])} after ${denying[0]} and before its release`)
    if (denying === undefined && body["matched_rule"] === "@killed")
      problems.push(`${seq} is denied, and nothing holds`)
  }
  return problems
}
