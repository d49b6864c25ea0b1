/** Metrics of breakers counted over whole lists of records: what running windows are compared with. */
import type { MetricRecord, Params, ReadAt, Reading, WindowStart } from "../breakers/metric.ts"
import type { Json } from "../records/record.ts"

/** The window of all metrics here. Unit: milliseconds. */
export const WINDOW = 1_000
/** How long an effect may take. Unit: milliseconds. */
export const WITHIN = 1_000

/** Responses that an instance is to acknowledge. */
const stopping = ["drain", "halt", "quarantine"]

/** The amount of a list that is named; null where none is. */
const amountIn = (list: Json | undefined, by: string, named: unknown): number | null => {
  const found = ((list ?? []) as ReadonlyArray<{ readonly [name: string]: Json }>).find((one) => one[by] === named)
  return typeof found?.["amount"] === "number" ? found["amount"] : null
}

/** Counts a metric over all records. */
export type NaiveMetric = (
  params: Params,
  records: ReadonlyArray<MetricRecord>,
  at: ReadAt,
  start: WindowStart
) => Omit<Reading, "tripped">

const inside = <A extends { readonly atMs: number }>(all: ReadonlyArray<A>, ms: number, windowMs: number) =>
  all.filter(({ atMs }) => atMs > ms - windowMs && atMs <= ms)
const span = (all: ReadonlyArray<{ readonly seq: number }>) => ({
  samples: all.length,
  fromSeq: all[0]?.seq ?? null,
  toSeq: all.at(-1)?.seq ?? null
})
const ended = (all: ReadonlyArray<MetricRecord>) =>
  all.filter(
    ({ body, kind }) => (kind === "decision.witnessed" && body["status"] !== "intended") || kind === "decision.settled"
  )
const share = (all: ReadonlyArray<MetricRecord>, counts: (one: MetricRecord) => boolean) => ({
  value: `${all.filter(counts).length}/${all.length}`,
  ...span(all)
})
/** Usage of each record; a settlement counts by what it states beyond its decision. */
const used = (
  records: ReadonlyArray<MetricRecord>,
  knownMs: number,
  amountOf: (usage: { [name: string]: number }) => number
) =>
  records.flatMap((one) => {
    const amount = one.body["usage"] === undefined ? 0 : amountOf(one.body["usage"] as { [name: string]: number })
    if (one.kind === "decision.witnessed")
      return amount > 0 ? [{ ...one, amount, run: String(one.body["run_id"] ?? "") }] : []
    if (one.kind !== "decision.settled") return []
    const isFirst = !records.some(
      (other) =>
        other.kind === "decision.settled" &&
        other.seq < one.seq &&
        other.body["decision_seq"] === one.body["decision_seq"]
    )
    const of = records.find(
      ({ body, kind, seq }) =>
        isFirst && kind === "decision.witnessed" && body["status"] === "intended" && seq === one.body["decision_seq"]
    )
    const known = of !== undefined && one.atMs - of.atMs < knownMs ? of : undefined
    const more = Math.max(0, amount - (known === undefined ? 0 : amountOf(known.body["usage"] as never)))
    return more > 0
      ? [{ ...one, amount: more, run: known === undefined ? "" : String(known.body["run_id"] ?? "") }]
      : []
  })
const sum = (all: ReadonlyArray<{ readonly amount: number }>): bigint =>
  all.reduce((total, { amount }) => total + BigInt(amount), 0n)

/** By the name of the metric: its value by the plainest count there is. Windows are {@link WINDOW} long. */
export const naiveMetrics: { readonly [metric: string]: NaiveMetric } = {
  error_rate: (_, records, { ms }) =>
    share(inside(ended(records), ms, WINDOW), ({ body }) => body["status"] === "error"),
  denial_rate: (_, records, { ms }) =>
    share(
      inside(
        records.filter(({ body, kind }) => kind === "evaluation.made" && body["matched_rule"] !== "@killed"),
        ms,
        WINDOW
      ),
      ({ body }) => body["outcome"] === "deny" || body["outcome"] === "halt"
    ),
  spend: (params, records, { ms }) => {
    const amounts = records.flatMap((one) => {
      if (one.kind !== "evaluation.made" || !String(one.body["outcome"]).startsWith("allow")) return []
      const added = amountIn(one.body["meters"], "id", params["meter"])
      if (added === null) return []
      let amount = added
      for (const { body, kind } of records) {
        if (body["evaluation_seq"] !== one.seq) continue
        if (kind === "meter.voided") amount = 0
        if (kind === "decision.settled") amount = amountIn(body["actual"], "meter", params["meter"]) ?? amount
      }
      return [{ ...one, amount }]
    })
    const within = inside(amounts, ms, WINDOW)
    return { value: String(sum(within)), ...span(within) }
  },
  spend_burn: (params, records, { ms }) => {
    const all = used(records, 2 * WINDOW, (usage) => usage["cost_micro_usd"]!)
    const rate = (length: number) =>
      (sum(inside(all, ms, length)) * BigInt(params["period_ms"]!) * 10_000n) /
      (BigInt(params["budget"]!) * BigInt(length))
    const [long, short] = [rate(2 * WINDOW), rate(WINDOW)]
    return { value: String(long < short ? long : short), ...span(inside(all, ms, 2 * WINDOW)) }
  },
  token_burn: (params, records, { ms }) => {
    const within = inside(
      used(records, WINDOW, (usage) => usage["input_tokens"]! + usage["output_tokens"]!),
      ms,
      WINDOW
    )
    const groups = Map.groupBy(within, ({ run }) => (params["per"] === "run" ? run : ""))
    const largest = [...groups.values()].map(sum).reduce((a, b) => (a > b ? a : b), 0n)
    return { value: String(largest), ...span(within) }
  },
  action_velocity: (params, records, { ms }) => {
    const within = inside(
      records.filter(
        ({ body, kind }) =>
          kind === "decision.witnessed" && (params["kind"] === undefined || body["kind"] === params["kind"])
      ),
      ms,
      WINDOW
    )
    const groups = Map.groupBy(within, ({ body }) => (params["per"] === "run" ? body["run_id"] : ""))
    return { value: String(Math.max(0, ...[...groups.values()].map((one) => one.length))), ...span(within) }
  },
  drift_score: (_, records, { ms }) => {
    const within = inside(
      records.filter(({ kind }) => kind === "drift.alarmed"),
      ms,
      WINDOW
    )
    return { value: String(within.length), ...span(within) }
  },
  repeat_action: (_, records, { ms }) => {
    const within = inside(
      records.filter(
        ({ body, kind }) =>
          kind === "evaluation.made" &&
          body["action_digest"] !== undefined &&
          String(body["outcome"]).startsWith("allow")
      ),
      ms,
      WINDOW
    )
    const counts = [...Map.groupBy(within, ({ body }) => body["action_digest"]).values()].map((all) => all.length)
    return { value: String(Math.max(0, ...counts)), ...span(within) }
  },
  consecutive_failures: (_, records, { ms }) => {
    const within = inside(ended(records), ms, WINDOW)
    const last = within.findLastIndex(({ body }) => body["status"] !== "error")
    const run = within.slice(last + 1)
    return { value: String(run.length), ...span(run) }
  },
  mcp_manifest_changed: (_, records, { ms }) => {
    const within = inside(
      records.filter(({ body, kind }) => kind === "mcp.manifest_seen" && body["trusted"] === false),
      ms,
      WINDOW
    )
    return { value: String(within.length), ...span(within) }
  },
  effect_missing_rate: (_, records, { ms }) => {
    const within = inside(
      records.filter(({ body, kind }) => kind === "evaluation.made" && String(body["outcome"]).startsWith("allow")),
      ms - WITHIN,
      WINDOW
    )
    const done = new Set(
      records.flatMap(({ body, kind, seq }) => {
        if (kind !== "decision.witnessed") return []
        const of = records.find(
          (one) => one.kind === "evaluation.made" && one.body["evaluation_id"] === body["evaluation_id"]
        )
        if (of === undefined || of.seq > seq) return []
        const isSettled = records.some(
          (one) => one.kind === "decision.settled" && one.body["decision_seq"] === seq && one.seq > seq
        )
        return body["status"] !== "intended" || isSettled ? [String(body["evaluation_id"])] : []
      })
    )
    return share(within, ({ body }) => !done.has(String(body["evaluation_id"])))
  },
  heartbeat_missing: (_, records, { ms }, start) => {
    const last = records.findLast(
      ({ kind }) => !/^(mcp\..*|meter\.voided|kill\.activated|kill\.expected|kill\.released|review\..*)$/.test(kind)
    )
    return { value: String(Math.max(0, ms - (last?.atMs ?? start.atMs))), ...span(last === undefined ? [] : [last]) }
  },
  kill_ack_missing: (_, records, { ms }) => {
    const about = (id: unknown) => records.filter(({ body }) => body["activation_id"] === id)
    const silent = records.flatMap((one) => {
      const { activation_id: id, drill, response } = one.body
      if (one.kind !== "kill.expected" || drill !== undefined || !stopping.includes(String(response))) return []
      if (about(id).some(({ kind, seq }) => kind === "kill.released" && seq > one.seq)) return []
      const said = about(id).filter(({ kind }) => kind === "kill.acknowledged" || kind === "kill.stopped")
      return (one.instances ?? [])
        .filter((instance) => !said.some(({ body }) => body["instance_id"] === instance))
        .map(() => one)
    })
    return { value: String(Math.max(0, silent.length === 0 ? 0 : ms - silent[0]!.atMs)), ...span(silent) }
  },
  review_overturn_rate: (_, records, { ms }) =>
    share(
      inside(
        records.filter(({ body, kind }) => kind === "review.resolved" && body["ends"] === true),
        ms,
        WINDOW
      ),
      ({ body }) => body["resolution"] === "reject"
    ),
  review_backlog: (_, records, { ms }) => {
    const isEnd = ({ body, kind }: MetricRecord): boolean =>
      kind === "review.expired" || kind === "review.cancelled" || (kind === "review.resolved" && body["ends"] === true)
    const open = records.filter(
      ({ body, kind, seq }) =>
        kind === "review.opened" &&
        Number(body["expires_at_ms"]) > ms &&
        !records.some((one) => one.seq > seq && isEnd(one) && one.body["review_id"] === body["review_id"])
    )
    return { value: String(open.length), ...span(open) }
  }
}
