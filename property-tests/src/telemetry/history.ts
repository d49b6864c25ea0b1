/** Random histories of what telemetry reads, and figures that are counted from them in the plainest way. */
import { formatInstant } from "@flyball/evidence"
import type { JsonMap } from "@flyball/rules"
import fc from "fast-check"

/** A record of a history. `at`: milliseconds since 1970 UTC. */
export interface Sealed {
  readonly seq: number
  readonly at: number
  readonly kind: string
  readonly body: JsonMap
}

const AGENTS = 3
export const agentId = (n: number): string => `agt_${"0".repeat(25)}${n}`
const model = (n: number): string => `m${n}`
const person = (n: number): string => `usr_${"0".repeat(25)}${n}`
const outcomes = ["allow", "allow_with_notice", "require_review", "deny", "halt"] as const

/** One act. Numbers choose among what there is. `wait`: milliseconds that pass before it. */
export interface Act {
  readonly kind: string
  readonly wait: number
  readonly a: number
  readonly b: number
  readonly c: number
  readonly d: number
}

const spending = ["model", "decision", "decision", "decision", "settle", "settle", "evaluation"] as const
const stopping = ["activate", "ack", "ack", "release", "release", "drill", "trip", "request"] as const
const reviewing = ["open", "present", "claim", "resolve", "resolve", "expire", "cancel"] as const

const actsOf = (kinds: ReadonlyArray<string>) =>
  fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      wait: fc.oneof(fc.constant(0), fc.nat(9_000), fc.nat(40_000)),
      a: fc.nat(1_000),
      b: fc.nat(1_000),
      c: fc.nat(1_000),
      d: fc.nat(1_000)
    }),
    { minLength: 1, maxLength: 70, size: "max" }
  )

/** Histories, each mostly about one subject, or about all. */
export const histories = fc.oneof(
  ...[spending, stopping, reviewing, [...spending, ...stopping, ...reviewing]].map(actsOf)
)

/** The records of a history, record 0 first. */
export const recordsOf = (acts: ReadonlyArray<Act>, beginMs: number): ReadonlyArray<Sealed> => {
  const records: Array<Sealed> = []
  const activations: Array<string> = []
  const unread: Array<JsonMap> = []
  const decisions: Array<Sealed> = []
  const reviews: Array<string> = []
  let at = beginMs
  const seal = (kind: string, body: JsonMap): void => {
    records.push({ seq: records.length, at, kind, body })
    if (kind === "decision.witnessed") decisions.push(records.at(-1)!)
  }
  seal("chain.genesis", { origin: "flyball.example/telemetry" })
  const id = (prefix: string, list: Array<string>): string => {
    const made = `${prefix}_${String(list.length).padStart(26, "0")}`
    list.push(made)
    return made
  }
  const activate = (a: number, more: JsonMap): void =>
    seal("kill.activated", {
      ...(a % 4 === 3
        ? { target_type: "model", target_id: "m0" }
        : { target_type: "agent", target_id: agentId(a % 3) }),
      response: "halt",
      ...more
    })
  for (const { a, b, c, d, kind, wait } of acts) {
    at += wait
    const agent_id = agentId(a % AGENTS)
    const used = { ...(b % 5 === 0 ? {} : { input_tokens: b * 7 }), ...(c % 3 === 0 ? {} : { output_tokens: c }) }
    const usage = d % 4 === 0 ? {} : { usage: d % 2 === 0 ? used : { ...used, cost_micro_usd: d } }
    const review = reviews[b % Math.max(1, reviews.length)]
    // Before a release at the latest: what is read behind it measures no incident.
    if (c % 2 === 0 || kind === "release") for (const body of unread.splice(0)) seal("kill.expected", body)
    switch (kind) {
      case "model": {
        const price = {
          ...(c % 4 === 0 ? {} : { input_micro_usd_per_mtok: c * 1_000 }),
          ...(d % 4 === 0 ? {} : { output_micro_usd_per_mtok: d * 3 })
        }
        // Two models of one name with different prices leave that name without one.
        const model_id = `mdl_${String(a % 4).padStart(26, "0")}`
        seal("model.registered", { model_id, provider: "p", name: model((a % 4) % 3), version: `v${a % 4}`, price })
        break
      }
      case "decision":
        seal("decision.witnessed", { agent_id, ...(b % 6 === 0 ? {} : { model: nameOf(b) }), ...usage })
        break
      case "settle": {
        const decision = decisions[b % Math.max(1, decisions.length)]
        if (decision === undefined) break
        decisions.splice(decisions.indexOf(decision), 1)
        seal("decision.settled", {
          agent_id: String(decision.body["agent_id"]),
          decision_seq: decision.seq,
          ...usage
        })
        break
      }
      case "evaluation":
        seal("evaluation.made", { agent_id, outcome: outcomes[b % 5]! })
        break
      case "activate":
        {
          const activation_id = id("kil", activations)
          const instances = { expected: b % 3, ...(c % 3 === 0 ? { unlisted: 1 } : {}) }
          activate(a, { activation_id })
          unread.push({ activation_id, ...instances })
        }
        break
      case "drill":
        activate(a, { activation_id: id("kil", activations), drill: { drill_id: "drl", mode: "live" } })
        break
      case "trip": {
        const activation_id = id("kil", activations)
        const trip = () =>
          seal("breaker.tripped", { activation_id, from_seq: Math.max(0, records.length - 1 - (d % 9)) })
        if (c % 2 === 0) trip()
        activate(a, { activation_id })
        unread.push({ activation_id, expected: 1 })
        if (c % 2 === 1) trip()
        break
      }
      case "request": {
        const activation_id = id("kil", activations)
        seal("kill.requested", { activation_id, agent_id })
        activate(a, { activation_id })
        unread.push({ activation_id, expected: 1 })
        break
      }
      case "ack":
        if (activations.length > 0)
          seal("kill.acknowledged", {
            activation_id: activations[b % activations.length]!,
            agent_id,
            instance_id: `i${c % 3}`
          })
        break
      case "release":
        if (activations.length > 0) seal("kill.released", { activation_id: activations[b % activations.length]! })
        break
      case "open":
        seal("review.opened", { agent_id, review_id: id("rev", reviews) })
        break
      case "present":
      case "claim":
        if (review !== undefined)
          seal(kind === "claim" ? "review.claimed" : "review.presented", { review_id: review, writer: person(c % 2) })
        break
      case "resolve":
        if (review !== undefined)
          seal("review.resolved", {
            review_id: review,
            resolution: (["approve", "reject", "amend"] as const)[c % 3]!,
            ends: d % 3 !== 0,
            writer: person(d % 2)
          })
        break
      case "expire":
      case "cancel":
        if (review !== undefined) seal(`review.${kind === "expire" ? "expired" : "cancelled"}`, { review_id: review })
        break
    }
  }
  return records
}

const nameOf = (n: number): string => [model(n % 3), `p/${model(n % 3)}`, `${model(n % 3)}@v${n % 4}`][n % 3]!

/** The figures, by searching the whole history for each of them. */
export const naiveUsage = (history: ReadonlyArray<Sealed>, fromMs: number, toMs: number) => {
  const before = history.filter(({ at }) => at < toMs)
  const inside = before.filter(({ at }) => at >= fromMs)
  const incidents = incidentsOf(before)
  const reviews = reviewsOf(before)
  const open = reviews.filter(({ end }) => end === null)
  const ids = new Set([
    ...inside
      .filter(({ kind }) => /^(decision\.witnessed|evaluation\.made|review\.opened)$/.test(kind))
      .map(({ body }) => String(body["agent_id"])),
    ...spentIn(before, fromMs).map(({ agent }) => agent),
    ...reviews.flatMap((one) => (one.answers.some(({ at }) => at >= fromMs) ? [one.agent] : [])),
    ...reviews.flatMap((one) => (one.end !== null && one.end.at >= fromMs ? [one.agent] : [])),
    ...open.map(({ agent }) => agent)
  ])
  const ended = incidents.filter(({ released }) => released !== null && released >= fromMs)
  const begun = incidents.filter(({ activated }) => activated >= fromMs)
  const repairs = ended.map(({ activated, released }) => released! - activated).toSorted((a, b) => a - b)
  return {
    from: formatInstant(fromMs),
    to: formatInstant(toMs),
    as_of_seq: before.at(-1)?.seq ?? null,
    agents: [...ids].toSorted().map((id) => {
      const models = modelsOf(spentIn(before, fromMs).filter(({ agent }) => agent === id))
      const sum = (member: "input_tokens" | "output_tokens" | "stated_cost_micro_usd" | "unpriced_tokens"): number =>
        models.reduce((total, row) => total + row[member], 0)
      const costs = models.flatMap(({ cost_micro_usd: cost }) => (cost === null ? [] : [cost]))
      const count = (kind: string, member = "", value: unknown = undefined): number =>
        inside.filter((one) => one.kind === kind && one.body["agent_id"] === id && one.body[member] === value).length
      return {
        agent_id: id,
        decisions: count("decision.witnessed"),
        evaluations: Object.fromEntries(outcomes.map((one) => [one, count("evaluation.made", "outcome", one)])),
        input_tokens: sum("input_tokens"),
        output_tokens: sum("output_tokens"),
        cost_micro_usd: costs.length === 0 ? null : costs.reduce((total, cost) => total + cost, 0),
        unpriced_tokens: sum("unpriced_tokens"),
        stated_cost_micro_usd: sum("stated_cost_micro_usd"),
        models,
        reviews: reviewFigures(
          reviews.filter(({ agent }) => agent === id),
          fromMs,
          toMs
        )
      }
    }),
    reviews: reviewFigures(reviews, fromMs, toMs),
    incident: {
      count: ended.length,
      mttr_ms: mean(repairs),
      median_ms: repairs[Math.ceil(repairs.length / 2) - 1] ?? null,
      max_ms: repairs.at(-1) ?? null,
      mttd_ms: mean(begun.flatMap(({ activated, onset }) => (onset === null ? [] : [activated - onset]))),
      mttc_ms: mean(
        begun.flatMap((one) => {
          const contained = Math.min(one.acked ?? Infinity, one.activated + 15_000, one.released ?? Infinity)
          return contained < toMs ? [contained - one.activated] : []
        })
      ),
      open_incidents: incidents
        .filter(({ released }) => released === null)
        .map(({ activated, target }) => ({
          target_type: target.split(" ")[0],
          target_id: target.split(" ")[1],
          activated_at: formatInstant(activated),
          age_ms: toMs - activated
        }))
    }
  }
}

const mean = (times: ReadonlyArray<number>): number | null =>
  times.length === 0 ? null : Math.floor(times.reduce((sum, ms) => sum + ms, 0) / times.length)

interface Spent {
  readonly agent: string
  readonly model: string | null
  readonly tokens: readonly [input: number, output: number]
  readonly prices: readonly [input: number | null, output: number | null]
  readonly stated: number
}

/** Amounts that each record adds, with the prices that were in force. */
const spentIn = (history: ReadonlyArray<Sealed>, fromMs: number): ReadonlyArray<Spent> =>
  history.flatMap((record): ReadonlyArray<Spent> => {
    const usage = record.body["usage"] as JsonMap | undefined
    if (record.at < fromMs || usage === undefined) return []
    const decision = record.kind === "decision.settled" ? history[Number(record.body["decision_seq"])]! : record
    const stated = (decision === record ? {} : (decision.body["usage"] ?? {})) as JsonMap
    const [input, output, cost] = ["input_tokens", "output_tokens", "cost_micro_usd"].map((name) =>
      Math.max(0, Number(usage[name] ?? 0) - Number(stated[name] ?? 0))
    ) as [number, number, number]
    if (input + output + cost === 0) return []
    const named = (decision.body["model"] ?? null) as string | null
    return [
      {
        agent: String(record.body["agent_id"]),
        model: named,
        tokens: [input, output],
        prices: pricesOf(history.slice(0, record.seq), named),
        stated: cost
      }
    ]
  })

/** The price of the one model that is meant; of several only where all have the same. */
const pricesOf = (history: ReadonlyArray<Sealed>, named: string | null): Spent["prices"] => {
  const models = new Map<string, JsonMap>()
  for (const { body, kind } of history) if (kind === "model.registered") models.set(String(body["model_id"]), body)
  const found = new Set(
    [...models.values()]
      .filter(({ name, provider, version }) =>
        [`${name}`, `${provider}/${name}`, `${name}@${version}`, `${provider}/${name}@${version}`].includes(named ?? "")
      )
      .map(({ price }) => {
        const { input_micro_usd_per_mtok: input = null, output_micro_usd_per_mtok: output = null } = price as JsonMap
        return JSON.stringify([input, output])
      })
  )
  return found.size === 1 ? (JSON.parse([...found][0]!) as Spent["prices"]) : [null, null]
}

const modelsOf = (spent: ReadonlyArray<Spent>) =>
  [...new Set(spent.map(({ model: name }) => name))]
    .toSorted((a, b) => ((a ?? "") < (b ?? "") ? -1 : 1))
    .map((name) => {
      const own = spent.filter((one) => one.model === name)
      const cost = own.reduce(
        (sum, { prices, tokens }) =>
          sum + tokens.reduce((some, count, i) => some + BigInt(count) * BigInt(prices[i] ?? 0), 0n),
        0n
      )
      const unpriced = own.flatMap(({ prices, tokens }) => tokens.filter((_, i) => prices[i] === null))
      const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, one) => total + one, 0)
      return {
        model: name,
        input_tokens: sum(own.map(({ tokens }) => tokens[0])),
        output_tokens: sum(own.map(({ tokens }) => tokens[1])),
        cost_micro_usd: cost === 0n && sum(unpriced) > 0 ? null : Number((cost + 500_000n) / 1_000_000n),
        unpriced_tokens: sum(unpriced),
        stated_cost_micro_usd: sum(own.map(({ stated }) => stated))
      }
    })

interface PlainIncident {
  /** Of the record that began it. */
  readonly seq: number
  readonly target: string
  readonly activated: number
  readonly onset: number | null
  readonly acked: number | null
  readonly released: number | null
}

const incidentsOf = (history: ReadonlyArray<Sealed>): ReadonlyArray<PlainIncident> => {
  const found: Array<PlainIncident> = []
  const targets = new Set<string>()
  const targetOf = ({ body }: Sealed): string => `${body["target_type"]} ${body["target_id"]}`
  for (const record of history) if (record.kind === "kill.activated") targets.add(targetOf(record))
  for (const target of targets) {
    const own = history.filter(
      (one) => one.kind === "kill.activated" && targetOf(one) === target && one.body["drill"] === undefined
    )
    let begin: Sealed | null = null
    const live = new Set<unknown>()
    const end = (released: number | null): void => {
      const id = begin!.body["activation_id"]
      const about = history.filter(({ body }) => body["activation_id"] === id)
      const seen = new Set<string>()
      let acked: number | null = null
      for (const { at, body } of about.filter((one) => one.kind === "kill.acknowledged" && one.seq > begin!.seq)) {
        if (at - begin!.at >= 15_000 || (released !== null && at > released)) break
        seen.add(`${body["agent_id"]} ${body["instance_id"]}`)
        const states = about.find((one) => one.body["expected"] !== undefined)?.body
        if (states !== undefined && seen.size >= Number(states["expected"]) + Number(states["unlisted"] ?? 0))
          acked ??= at
      }
      const trip = about.find(({ kind }) => kind === "breaker.tripped")
      const request = about.find(({ kind }) => kind === "kill.requested")
      const onset = trip === undefined ? (request?.at ?? null) : history[Number(trip.body["from_seq"])]!.at
      found.push({ seq: begin!.seq, target, activated: begin!.at, onset, acked, released })
      begin = null
    }
    for (const record of history) {
      if (own.includes(record)) {
        begin ??= record
        live.add(record.body["activation_id"])
      } else if (record.kind === "kill.released" && live.delete(record.body["activation_id"]) && live.size === 0)
        end(record.at)
    }
    if (begin !== null) end(null)
  }
  return found.toSorted((a, b) => a.seq - b.seq)
}

interface PlainReview {
  readonly agent: string
  readonly opened: number
  readonly answers: ReadonlyArray<{ readonly at: number; readonly ms: number; readonly resolution: string }>
  readonly end: { readonly at: number; readonly how: string } | null
}

const reviewsOf = (history: ReadonlyArray<Sealed>): ReadonlyArray<PlainReview> =>
  history
    .filter(({ kind }) => kind === "review.opened")
    .map((opened) => {
      const about = history.filter(
        ({ body, seq }) => body["review_id"] === opened.body["review_id"] && seq > opened.seq
      )
      const last = about.findIndex(
        ({ body, kind }) =>
          kind === "review.expired" ||
          kind === "review.cancelled" ||
          (kind === "review.resolved" && body["ends"] === true)
      )
      const live = last < 0 ? about : about.slice(0, last + 1)
      const end = last < 0 ? null : about[last]!
      const first = (kind: string, writer: unknown, until: Sealed): number | undefined =>
        live.find((one) => one.kind === kind && one.body["writer"] === writer && one.seq < until.seq)?.at
      return {
        agent: String(opened.body["agent_id"]),
        opened: opened.at,
        answers: live
          .filter(({ kind }) => kind === "review.resolved")
          .map((one) => {
            const { writer } = one.body
            const since = first("review.presented", writer, one) ?? first("review.claimed", writer, one) ?? opened.at
            return { at: one.at, ms: one.at - since, resolution: String(one.body["resolution"]) }
          }),
        end: end === null ? null : { at: end.at, how: String(end.body["resolution"] ?? end.kind) }
      }
    })

const reviewFigures = (reviews: ReadonlyArray<PlainReview>, fromMs: number, toMs: number) => {
  const ends = reviews.filter(({ end }) => end !== null && end.at >= fromMs)
  const count = (how: string): number => ends.filter(({ end }) => end!.how === how).length
  const people = ends.filter(({ end }) => /^(approve|reject|amend)$/.test(end!.how))
  const answers = reviews.flatMap((one) => one.answers.filter(({ at }) => at >= fromMs))
  const open = reviews.filter(({ end }) => end === null).map(({ opened }) => toMs - opened)
  return {
    opened: reviews.filter(({ opened }) => opened >= fromMs).length,
    approved: count("approve"),
    rejected: count("reject"),
    amended: count("amend"),
    expired: count("review.expired"),
    cancelled: count("review.cancelled"),
    wait_ms: percentiles(people.map(({ end, opened }) => end!.at - opened)),
    decision_ms: percentiles(answers.map(({ ms }) => ms)),
    overturn_bp: people.length === 0 ? null : Math.floor((count("reject") * 10_000) / people.length),
    approvals_under_5s: answers.filter(({ ms, resolution }) => resolution === "approve" && ms < 5_000).length,
    open: open.length,
    oldest_open_ms: open.length === 0 ? null : Math.max(...open)
  }
}

const percentiles = (times: ReadonlyArray<number>) => {
  const ascending = times.toSorted((a, b) => a - b)
  const at = (percent: number): number | null => ascending[Math.ceil((ascending.length * percent) / 100) - 1] ?? null
  return { p50: at(50), p95: at(95) }
}
