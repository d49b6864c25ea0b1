/**
 * Reviews that several people answer at once on several hosts, around the end of their time too, and approvals that are
 * presented at once: one answer ends a review, one evaluation consumes an approval, and who follows the changes gets
 * each of them once, whichever hosts come and go.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Evaluations, type GovernorServices, governorLayer, keysLayerOf, Replay, Reviews } from "@flyball/core"
import { layerOf, memoryStorage, Storage, type StorageChoice } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { type Pick, pickOf, seededSource } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  governedAgent,
  key,
  recomputed,
  refunds
} from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { runs } from "../runs.ts"
import { readRecords } from "../simulation/checkers/checked.ts"

const database = givenDatabase({ beforeAll, afterAll })
const folder = mkdtempSync(join(tmpdir(), "flyball-reviews-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const seed = "one winner 20261126"
const HOSTS = 3
const ROUNDS = runs(8, 60)
/** Far above what a test spends. */
const DAY_CAP = 100_000_000
/** How long a review with a short life waits. Unit: milliseconds. */
const SHORT_MS = 1_000

const people = ["4", "5", "6", "7"].map((digit) => ({
  writer: { id: `usr_${"0".repeat(25)}${digit}` },
  grants: "any" as const,
  email: null
}))

/** Refunds that one person, two people, or one within a second must approve. */
const envelope = (): { readonly [member: string]: unknown } => {
  const large = (id: string, from: number, approvals: number, ttl_ms: number) => ({
    id,
    outcome: "require_review",
    when: [
      { signal: "tool", in: ["refund"] },
      { signal: "amount", gt: from },
      { signal: "amount", lte: from + 1_000 }
    ],
    obligations: [{ type: "reviewers", role: "reviewer", approvals, ttl_ms }]
  })
  const rules = (refunds({}, DAY_CAP)["rules"] as ReadonlyArray<{ readonly id: string }>).filter(
    ({ id }) => id !== "large"
  )
  return refunds(
    {
      rules: [
        ...rules,
        large("one", 2_000, 1, 3_600_000),
        large("two", 3_000, 2, 3_600_000),
        large("short", 4_000, 1, SHORT_MS)
      ]
    },
    DAY_CAP
  )
}

/** One host: a governor of its own over the store, until it is closed. */
interface Host {
  readonly run: <A, E>(effect: Effect.Effect<A, E, GovernorServices | Storage>) => Promise<Exit.Exit<A, E>>
  readonly close: () => Promise<void>
}

const openHost = async (storage: Layer.Layer<Storage, unknown>, keys: ReturnType<typeof dataFolder>): Promise<Host> => {
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(
    Layer.buildWithScope(
      Layer.fresh(governorLayer()).pipe(
        Layer.provideMerge(storage),
        Layer.provide(keysLayerOf(keys)),
        Layer.provideMerge(Logger.layer([]))
      ),
      scope
    )
  )
  return {
    run: (effect) => Effect.runPromiseExit(Effect.provideContext(effect, context as Context.Context<any>) as never),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** Name of an act's result: `done`, or the tag of its refusal. */
const nameOf = (exit: Exit.Exit<unknown, { readonly _tag: string }>): string => {
  if (Exit.isSuccess(exit)) return "done"
  const reason = exit.cause.reasons.find((one) => one._tag === "Fail")
  return reason === undefined ? `died: ${String(exit.cause)}` : reason.error._tag
}

const keysOf = (name: string) => dataFolder({ dir: join(folder, name), origin: "flyball.example/reviews" })

let refs = 0
const requested = (agentId: string, amount: number, approval_id?: string) => {
  const signals = { tool: "refund", amount }
  const client_ref = `q${refs++}`
  return Evaluations.use((evaluations) =>
    evaluations.evaluate(
      { agent_id: agentId, client_ref, signals, args: signals, ...(approval_id === undefined ? {} : { approval_id }) },
      key
    )
  )
}

const answered = (id: string, resolution: "approve" | "reject", person: number) =>
  Reviews.use((reviews) => reviews.resolve(id, { resolution, reason: "seen" }, people[person]!))

const value = async <A>(exit: Promise<Exit.Exit<A, unknown>>): Promise<A> => {
  const ended = await exit
  if (Exit.isFailure(ended)) throw new Error(String(ended.cause))
  return ended.value
}

/** One review, answered by everybody at once, and its approval presented by every host at once. */
const round = async (
  hosts: ReadonlyArray<Host>,
  agentId: string,
  pick: Pick,
  restart: (at: number) => Promise<void>
) => {
  const kind = pick(3)
  const amount = 2_000 + kind * 1_000 + 1 + pick(900)
  const opened = await value(hosts[0]!.run(requested(agentId, amount)))
  const { outcome, matched_rule, review_id: id } = opened
  expect([outcome, id === null, matched_rule]).toEqual(["require_review", false, ["one", "two", "short"][kind]])
  // Around the end of its time, on either side of it.
  if (kind === 2 && pick(3) > 0) await new Promise((resolve) => setTimeout(resolve, SHORT_MS - 60 + pick(80)))
  const answers = await Promise.all(
    people.map(async (_, person) => {
      const resolution = pick(4) === 0 ? ("reject" as const) : ("approve" as const)
      const exit = await hosts[(person + pick(2)) % hosts.length]!.run(answered(id!, resolution, person))
      return { name: nameOf(exit), ended: Exit.isSuccess(exit) && exit.value.status === "resolved" }
    })
  )
  expect(answers.filter(({ name }) => name !== "done" && name !== "ReviewClosed")).toEqual([])
  const ends = answers.filter(({ ended }) => ended).length
  await restart(pick(hosts.length))
  const review = await value(hosts[pick(hosts.length)]!.run(Reviews.use((reviews) => reviews.get(id!))))
  expect([review.status, ends]).toEqual(review.status === "expired" ? ["expired", 0] : ["resolved", 1])
  expect(kind === 2 || review.status === "resolved").toBe(true)
  const made = await Promise.all(hosts.map((host) => value(host.run(requested(agentId, amount, id!)))))
  const allowed = made.filter((one) => one.outcome === "allow")
  const isLive = review.status === "resolved" && review.resolution === "approve"
  if (kind === 2) expect(allowed.length).toBeLessThanOrEqual(isLive ? 1 : 0)
  else expect(allowed.length).toBe(isLive ? 1 : 0)
  for (const one of made)
    if (one.outcome !== "allow") expect([one.outcome, one.matched_rule]).toEqual(["require_review", matched_rule])
  const after = await value(hosts[0]!.run(Reviews.use((reviews) => reviews.get(id!))))
  expect(after.consumed_by).toBe(allowed[0]?.id ?? null)
}

/** Records that change a review. */
const CHANGES = ["opened", "claimed", "resolved", "expired", "cancelled", "consumed"].map((act) => `review.${act}`)

/**
 * A reader of the changes on one host after the other, cut off anywhere, that continues behind the last one it got.
 * `end`: reads what is left, and answers the records of all changes that it got, in that order.
 */
const following = (hosts: ReadonlyArray<Host>, pick: Pick) => {
  const got: Array<number> = []
  let last = 0
  const ending = new AbortController()
  const step = async (waitMs: number): Promise<boolean> => {
    const stepped = await hosts[pick(hosts.length)]!.run(
      Reviews.use((reviews) => Effect.flatMap(reviews.placeBehind(last), (place) => reviews.changes(place, waitMs)))
    )
    if (Exit.isFailure(stepped)) return true
    const { changes } = stepped.value
    const kept = ending.signal.aborted ? changes : changes.slice(0, 1 + pick(changes.length + 1))
    for (const { seq } of kept) got.push((last = seq))
    return changes.length > 0
  }
  const running = (async () => {
    while (!ending.signal.aborted) await step(20)
  })()
  return {
    end: async (): Promise<ReadonlyArray<number>> => {
      ending.abort()
      await running
      while (await step(0));
      return got
    }
  }
}

/** Checks every review by the records: one end, in time, and one consumption at most. */
const examined = Effect.gen(function* () {
  const records = yield* readRecords(yield* Storage)
  const problems: Array<string> = []
  for (const { body: opened } of records.filter(({ kind }) => kind === "review.opened")) {
    const id = opened["review_id"]
    const about = records.filter(({ body, kind }) => kind.startsWith("review.") && body["review_id"] === id)
    const of = (kind: string) => about.filter((one) => one.kind === kind)
    const answers = of("review.resolved")
    const ends = [
      ...answers.filter(({ body }) => body["ends"] === true),
      ...of("review.expired"),
      ...of("review.cancelled")
    ]
    if (ends.length > 1) problems.push(`${String(id)} ends ${ends.length} times`)
    if (new Set(answers.map(({ body }) => body["writer"])).size !== answers.length)
      problems.push(`${String(id)} is answered twice by one person`)
    for (const { body } of answers)
      if (Number(body["resolved_at_ms"]) >= Number(opened["expires_at_ms"]))
        problems.push(`${String(id)} is answered after its time`)
    const consumed = of("review.consumed")
    if (consumed.length > 1) problems.push(`${String(id)} is consumed ${consumed.length} times`)
    for (const { body } of consumed)
      if (Number(body["consumed_at_ms"]) >= Number(opened["expires_at_ms"]))
        problems.push(`${String(id)} is consumed after its time`)
  }
  const kinds = new Map([...Map.groupBy(records, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]))
  return { problems, kinds }
})

const race = async (open: () => Promise<Host>): Promise<void> => {
  const pick = pickOf(seededSource(seed))
  const hosts: Array<Host> = []
  try {
    for (let count = 0; count < HOSTS; count++) hosts.push(await open())
    const { agentId } = await value(hosts[0]!.run(governedAgent(envelope())))
    let followed: ReadonlyArray<number> = []
    const follower = following(hosts, pickOf(seededSource(`${seed} follower`)))
    const restart = async (at: number): Promise<void> => {
      await hosts[at]!.close()
      hosts[at] = await open()
    }
    try {
      for (let at = 0; at < ROUNDS; at++) await round(hosts, agentId, pick, restart)
    } finally {
      followed = await follower.end()
    }
    const records = await value(hosts[0]!.run(Effect.flatMap(Storage, readRecords)))
    expect(followed).toEqual(records.filter(({ kind }) => CHANGES.includes(kind)).map(({ seq }) => seq))
    const { kinds, problems } = await value(hosts[0]!.run(examined))
    expect(problems).toEqual([])
    expect(kinds.get("review.consumed") ?? 0).toBeGreaterThan(0)
    const { differences } = await value(hosts[0]!.run(Replay.use(({ check }) => check)))
    expect(differences).toEqual([])
    const again = await value(
      hosts[0]!.run(recomputed as Effect.Effect<ReadonlyArray<{ verdict: string }>, unknown, any>)
    )
    expect(again.filter(({ verdict }) => verdict !== "ok")).toEqual([])
  } finally {
    for (const host of hosts) await host.close()
  }
}

/** Hosts that come and go over one store, which stays open. */
const overOne = (name: string, choice: () => StorageChoice) => async () => {
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(layerOf(choice()), scope))
  try {
    await race(() => openHost(Layer.succeed(Storage, Context.get(context, Storage)), keysOf(name)))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

describe("a review with concurrent resolutions has one result, and its approval one use", { timeout: 300_000 }, () => {
  it(
    "in memory",
    overOne("memory", () => memoryStorage())
  )
  it(
    "on SQLite",
    overOne("sqlite", () => sqliteStorage({ file: ":memory:" }))
  )
  it("on Postgres, with three hosts of one store that restart", () =>
    race(() => openHost(Layer.fresh(layerOf(postgresStorage({ url: database.url }))), keysOf("postgres"))))
})
