/**
 * Breakers: each trip is what the records before it come to, none is missing before an evaluation, none comes twice in
 * one window, a person alone releases, and in the end every host says what the records say.
 *
 * Windows are counted by hand here, over all records, without any code of the service.
 */
import { Effect } from "effect"
import { type Checked, type Checker, type ReadRecord, recordsBy } from "./checked.ts"

/** Adds up by hand what every breaker came to. */
export const breakersChecker: Checker = (world) =>
  Effect.sync(() => {
    const life = lifeOf(world.records)
    return [...life.problems, ...acknowledged(world), ...readings(world), ...listings(world, life.states)].map(
      (problem) => `breakers: ${problem}`
    )
  })

/** A trip as its record says it. */
interface Trip {
  readonly seq: number
  readonly value: string
  readonly activation: string | null
}

/** A breaker after one of its records. */
interface State {
  readonly id: string
  readonly name: string
  readonly agentId: string
  readonly metric: string
  readonly params: { readonly [name: string]: unknown }
  readonly enabled: boolean
  readonly mode: string
  /** The record that its window begins with. */
  readonly startSeq: number
  readonly trip: Trip | null
  /** The last activation that it caused, released or not. */
  readonly fired: string | null
}

/** The breakers after each record that changed one, oldest first. */
type States = ReadonlyArray<{ readonly seq: number; readonly breakers: ReadonlyMap<string, State> }>

/** A reading that is older than this when it is recorded was planned long before. Unit: milliseconds. */
const LATE_MS = 300_000

const lifeOf = (records: ReadonlyArray<ReadRecord>): { readonly states: States; readonly problems: Array<string> } => {
  const problems: Array<string> = []
  let breakers: ReadonlyMap<string, State> = new Map()
  const states: Array<States[number]> = [{ seq: -1, breakers }]
  for (const record of records) {
    const { agentId, atMs, body, kind, seq } = record
    if (kind === "evaluation.made") {
      const at = { ms: Number(body["as_of_ms"]), seq: Number(body["as_of_seq"]) }
      if (atMs - at.ms > LATE_MS) continue
      for (const one of breakers.values()) {
        if (one.agentId !== agentId || !one.enabled || one.trip !== null || one.startSeq > at.seq) continue
        const counted = count(one, records, at)
        if (counted.trips) problems.push(`${one.name} had to trip before ${seq}: it comes to ${counted.value}`)
      }
      continue
    }
    if (!kind.startsWith("breaker.")) continue
    const id = String(body["breaker_id"])
    const before = breakers.get(id) ?? null
    const after = stateAfter(before, record, records, problems)
    if (after === null) continue
    breakers = new Map([...breakers, [id, after]])
    states.push({ seq, breakers })
  }
  for (const { body, kind, seq } of records)
    if (kind === "kill.activated" && body["breaker_id"] !== undefined) {
      const trip = records[seq - 1]
      if (trip?.kind !== "breaker.tripped" || trip.body["activation_id"] !== body["activation_id"])
        problems.push(`${String(body["activation_id"])} is activated by a breaker, and no trip before it says so`)
    }
  return { states, problems }
}

const stateAfter = (
  before: State | null,
  { agentId, atMs, body, kind, seq }: ReadRecord,
  records: ReadonlyArray<ReadRecord>,
  problems: Array<string>
): State | null => {
  const [id, writer] = [String(body["breaker_id"]), String(body["writer"])]
  if (kind === "breaker.armed") {
    if (before !== null) problems.push(`${id} is armed twice`)
    return whole(id, String(agentId), body, seq, null)
  }
  if (before === null) {
    problems.push(`${seq} is about ${id}, which nobody armed`)
    return null
  }
  if (writer.startsWith("breaker:") && kind !== "breaker.tripped")
    problems.push(`${id} has ${kind} by ${writer}, and a breaker trips and does nothing else`)
  if (kind === "breaker.changed") return { ...whole(id, before.agentId, body, seq, before.trip), fired: before.fired }
  if (kind === "breaker.released") {
    if (before.trip === null) problems.push(`${id} is released at ${seq}, and had not tripped`)
    return { ...before, startSeq: seq, trip: null }
  }
  const at = { ms: Number(body["as_of_ms"]), seq: Number(body["as_of_seq"]) }
  const said = [body["value"], body["samples"], body["from_seq"] ?? null, body["to_seq"] ?? null]
  const { from, samples, to, trips, value } = count(before, records, at)
  if (before.trip !== null) problems.push(`${id} trips twice in the window that begins at ${before.startSeq}`)
  if (!before.enabled) problems.push(`${id} trips at ${seq}, and is switched off`)
  if (before.startSeq > at.seq || at.seq >= seq)
    problems.push(`${id} trips at ${seq} as of ${at.seq}, outside its window`)
  else if (!trips) problems.push(`${id} trips at ${seq}, and comes to ${value}`)
  else if (atMs - at.ms <= LATE_MS && JSON.stringify(said) !== JSON.stringify([value, samples, from, to]))
    problems.push(`${id} trips on ${JSON.stringify(said)}: it comes to ${JSON.stringify([value, samples, from, to])}`)
  const activation = typeof body["activation_id"] === "string" ? body["activation_id"] : null
  const fired = records[seq + 1]
  const isFired = activation !== null && fired?.kind === "kill.activated" && fired.body["activation_id"] === activation
  if (isFired !== (before.mode === "enforce"))
    problems.push(`${id} trips in mode ${before.mode} and activates ${isFired ? activation : "nothing"}`)
  return { ...before, trip: { seq, value: String(body["value"]), activation }, fired: activation ?? before.fired }
}

const whole = (id: string, agentId: string, body: ReadRecord["body"], seq: number, trip: Trip | null): State => ({
  id,
  agentId,
  name: String(body["name"]),
  metric: String(body["metric"]),
  params: Object.fromEntries(
    (body["params"] as unknown as ReadonlyArray<{ name: string; number?: number; word?: string }>).map((one) => [
      one.name,
      one.number ?? one.word
    ])
  ),
  enabled: body["enabled"] === true,
  mode: String(body["mode"]),
  startSeq: seq,
  fired: null,
  trip
})

interface Counted {
  readonly value: string
  readonly samples: number
  readonly from: number | null
  readonly to: number | null
  readonly trips: boolean
}

/** Counts a metric over the agent's records since the window began, as of a record and a time. */
const count = (
  { agentId, metric, params, startSeq }: State,
  records: ReadonlyArray<ReadRecord>,
  at: { readonly ms: number; readonly seq: number }
): Counted => {
  const within = records.filter(
    (one) =>
      one.agentId === agentId &&
      one.seq > startSeq &&
      one.seq <= at.seq &&
      one.atMs <= at.ms &&
      one.atMs > at.ms - Number(params["window_ms"])
  )
  const ended = within.filter(
    ({ body, kind }) => (kind === "decision.witnessed" && body["status"] !== "intended") || kind === "decision.settled"
  )
  const isError = ({ body }: ReadRecord): boolean => body["status"] === "error"
  const counted = (of: ReadonlyArray<ReadRecord>, value: string, trips: boolean): Counted => ({
    value,
    samples: of.length,
    from: of[0]?.seq ?? null,
    to: of.at(-1)?.seq ?? null,
    trips
  })
  const share = (of: ReadonlyArray<ReadRecord>, part: number): Counted =>
    counted(
      of,
      `${part}/${of.length}`,
      of.length >= Number(params["min_samples"]) && part * 10_000 >= Number(params["threshold_bp"]) * of.length
    )
  if (metric === "error_rate") return share(ended, ended.filter(isError).length)
  if (metric === "consecutive_failures") {
    const streak = ended.slice(ended.findLastIndex((one) => !isError(one)) + 1)
    return counted(streak, String(streak.length), streak.length >= Number(params["max_count"]))
  }
  if (metric === "action_velocity") {
    const made = within.filter(({ kind }) => kind === "decision.witnessed")
    const runs = Map.groupBy(made, ({ body }) => (params["per"] === "run" ? body["run_id"] : null))
    const most = Math.max(0, ...[...runs.values()].map(({ length }) => length))
    return counted(made, String(most), most > Number(params["max_count"]))
  }
  const judged = within.filter(({ body, kind }) => kind === "evaluation.made" && body["matched_rule"] !== "@killed")
  return share(judged, judged.filter(({ body }) => body["outcome"] === "deny" || body["outcome"] === "halt").length)
}

/** Finds acts that are not recorded once for each acknowledgement and at most once for each try. */
const acknowledged = ({ ledger, records }: Checked): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const by = (kind: string, member: string) => recordsBy(records, kind, ({ body }) => String(body[member]))
  const compared = [
    ["armed", ledger.breakers, by("breaker.armed", "name")],
    ["released", ledger.breakerReleases, by("breaker.released", "breaker_id")]
  ] as const
  for (const [what, lines, found] of compared) {
    for (const key of found.keys()) if (!lines.has(key)) problems.push(`${key} is ${what}, and nobody wanted that`)
    for (const [key, { acknowledged: sure, tries }] of lines) {
      const times = found.get(key)?.length ?? 0
      if (times < sure || times > tries)
        problems.push(`${key} is ${what} ${times} times, of ${tries} tries ${sure} were acknowledged`)
    }
  }
  for (const [name, found] of compared[0][2])
    if (found.length > 1) problems.push(`${found.length} breakers are armed as ${name}`)
  return [...problems, ...changed({ ledger, records })]
}

/** A change is recorded only if it alters something, and what was acknowledged held at some time. */
const changed = ({ ledger, records }: Pick<Checked, "ledger" | "records">): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const found = Map.groupBy(
    records.filter(({ kind }) => kind === "breaker.armed" || kind === "breaker.changed"),
    ({ body }) => String(body["breaker_id"])
  )
  for (const [id, all] of found) {
    const settings = all.map(({ body }) => JSON.stringify([body["mode"], body["enabled"]]))
    const line = ledger.breakerChanges.get(id)
    const tries = line?.tries ?? 0
    if (all.length - 1 > tries) problems.push(`${id} is changed ${all.length - 1} times, of ${tries} tries`)
    settings.forEach((now, place) => {
      if (now === settings[place - 1]) problems.push(`${all[place]!.seq} changes nothing of ${id}`)
    })
    for (const { enabled, mode } of line?.acknowledged ?? [])
      if (!settings.includes(JSON.stringify([mode, enabled])))
        problems.push(`${id} was acknowledged as ${mode}, enabled ${enabled}, and no record says so`)
  }
  return problems
}

/** Finds readings of a check that report a trip which no record holds. */
const readings = ({ ledger, records }: Checked): ReadonlyArray<string> => {
  const trips = recordsBy(records, "breaker.tripped", ({ body }) => String(body["breaker_id"]))
  return ledger.breakerReadings.flatMap(({ breaker_id: id, fired_event_id: fired, tripped, value }) =>
    !tripped ||
    (trips.get(id) ?? []).some(
      ({ body }) => body["value"] === value && ((body["activation_id"] as string | undefined) ?? null) === fired
    )
      ? []
      : [`a check reports that ${id} tripped on ${value} and fired ${fired}, and no record says so`]
  )
}

/** In the end every host says of each breaker what the records say. */
const listings = ({ ledger }: Checked, states: States): ReadonlyArray<string> =>
  ledger.breakerLists.flatMap(({ after, before, by, shown }) => {
    const found = texts(shown.map((one) => [one.id, one.enabled, one.mode, one.state, one.fired_event_id]))
    const first = states.findLastIndex(({ seq }) => seq <= before)
    const possible = states
      .slice(first)
      .filter(({ seq }) => seq <= after)
      .map(({ breakers }) =>
        texts(
          [...breakers.values()].map((one) => [
            one.id,
            one.enabled,
            one.mode,
            one.trip === null ? "armed" : "tripped",
            one.fired
          ])
        )
      )
    return possible.includes(found) ? [] : [`${by} shows ${found}: the records say ${possible.at(-1)}`]
  })

const texts = (rows: ReadonlyArray<ReadonlyArray<unknown>>): string =>
  JSON.stringify(rows.map((row) => JSON.stringify(row)).toSorted())
