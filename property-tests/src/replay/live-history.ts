/**
 * Random lives of a whole governor: agents and what is done to them, people, keys, models, the mapping, envelopes,
 * webhooks, the kill switch, decisions, outcomes, erasures, some of them at once.
 */
import {
  Identities,
  AccessMapping,
  Agents,
  Capture,
  checkChannel,
  Drills,
  Erasure,
  EvalRuns,
  FairnessScreens,
  type GovernorServices,
  IngestKeys,
  PlatformKeys,
  Kill,
  Models,
  Principals,
  Provenance,
  ResponsePolicies,
  suspendDue,
  systemHost,
  TierEvidence
} from "@flyball/core"
import { type DrillOut, plans, platformScopes } from "@flyball/contract"
import { Storage } from "@flyball/core/storage"
import { recordKinds } from "@flyball/evidence"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Act } from "../evaluations/governed-history.ts"
import { breaker } from "./live-breakers.ts"
import { bound, governed, takenBack } from "./live-envelopes.ts"
import { heard, letGo, silent, stop, wish } from "./live-kills.ts"
import { reviewed } from "./live-reviews.ts"
import { answeredList, listed } from "./live-tool-servers.ts"
import { hook, minded } from "./live-webhooks.ts"
import { chosen, type Doing, type Lived } from "./lived.ts"

const units = ["ops", "sales", "Zürich"]

const register = ({ a, b, c }: Act, lived: Lived): Doing =>
  Agents.use((agents) =>
    agents.register(
      {
        name: `agent ${a}`,
        org_unit: chosen(units, b)!,
        ...(c % 2 === 0 ? { owner_name: `owner ${b}`, owner_email: "o@example.org" } : {}),
        ...(c % 3 === 0
          ? {
              labels: { ключ: [c, null, { deep: "\u{1F600}" }] },
              blast_radius: { ratio: 0.1 * c },
              model_ids: ["m/1"],
              purpose: "e\u0301".normalize("NFC")
            }
          : {})
      },
      systemHost
    )
  ).pipe(
    Effect.tap(({ agent, created }) =>
      Effect.sync(() => {
        if (created) lived.agentIds.push(agent.id)
      })
    )
  )

/** Does something with an agent that is there. */
const withAgent = (lived: Lived, choice: number, act: (id: string) => Doing): Doing => {
  const id = chosen(lived.agentIds, choice)
  return id === undefined ? Effect.void : act(id)
}

/** Acts of people on an agent, in turn or out of turn. */
const govern = ({ a, b, c }: Act, lived: Lived): Doing =>
  withAgent(lived, a, (id) =>
    Effect.flatMap(Agents, (agents): Doing =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs): Doing => {
        // So near that the clock passes it within the history.
        const later = new Date(nowMs + 1 + c * 1_000).toISOString()
        switch (b % 8) {
          case 0:
            return agents.update(
              id,
              {
                purpose: c % 3 === 0 ? null : `p${c}`,
                ...(c % 2 === 0 ? { autonomy_tier: chosen(["L0", "L1", "L2", "L3", "L4"] as const, c)! } : {}),
                ...(c % 5 === 0 ? { recert_due_at: later, labels: { c } } : {}),
                ...(c % 7 === 0 ? { if_version: 1 } : {})
              },
              systemHost
            )
          case 1:
          case 2:
            return agents.activate(id, systemHost)
          case 3:
            return agents.suspend(id, c % 2 === 0 ? { reason: `because ${c}` } : {}, systemHost)
          case 4:
            return c % 4 === 0
              ? agents.decommission(id, systemHost)
              : agents.recertify(id, { recert_due_at: later }, systemHost)
          case 5:
            return agents.transferOwnership(id, { owner_name: `heir ${c}`, owner_email: "h@example.org" }, systemHost)
          case 6:
            return agents.disown(id, { reason: "left" }, systemHost)
          default:
            return Identities.use((identities) =>
              identities.attach(id, { declared_source: "spiffe", declared_ref: `spiffe://x/${c}` }, systemHost)
            )
        }
      })
    )
  )

/** A capability that speaks for some agents now and not then. */
export const wavering: Layer.Layer<never> = Layer.sync(TierEvidence, () => {
  let requested = 0
  return {
    publishedEnvelope: () => Effect.sync(() => ++requested % 3 > 0)
  }
})

const piece = ({ a, b, c }: Act, lived: Lived): Doing =>
  withAgent(lived, a, (id) =>
    Provenance.use((provenance) =>
      provenance.add(
        id,
        {
          kind: b % 2 === 0 ? "model" : "prompt",
          name: `piece ${c}`,
          digest: `sha256:${c}`,
          ...(c % 2 === 0 ? { uri: "git://x", slsa_level: c % 4 } : {})
        },
        systemHost
      )
    )
  )

const model = ({ a, b, c }: Act, lived: Lived): Doing =>
  Models.use((models): Doing => {
    const id = chosen(lived.modelIds, a)
    if (id !== undefined && b % 2 === 0)
      return models.update(
        id,
        {
          status: chosen(["allowed", "restricted", "retired"] as const, c)!,
          ...(c % 2 === 0 ? { price: { input_micro_usd_per_mtok: c } } : { hosting: null })
        },
        systemHost
      )
    return models
      .create(
        { provider: "p", name: `m${a % 4}`, ...(c % 2 === 0 ? { version: `${b % 3}`, hosting: "self_hosted" } : {}) },
        systemHost
      )
      .pipe(Effect.tap((made) => Effect.sync(() => lived.modelIds.push(made.id))))
  })

const map = ({ a, b, c }: Act): Doing =>
  AccessMapping.use((mapping) =>
    mapping.set(
      {
        rules: Array.from(
          { length: a % 3 },
          (_, n) =>
            ({
              match: { claim: "groups", value: `g${b + n}` },
              role: n === 0 ? "admin" : "auditor",
              org_unit: n === 0 ? "*" : "Zürich"
            }) as const
        ),
        trust_canonical: c % 2 === 0,
        ...(c % 5 === 0 ? { if_version: b % 3 } : {})
      },
      systemHost
    )
  )

/** Some rows name what does not exist, or stand twice: those policies are refused. */
const policy = ({ a, b, c }: Act, lived: Lived): Doing =>
  ResponsePolicies.use((policies) =>
    policies.set(
      Array.from({ length: a % 4 }, (_, n) => ({
        scope: (["default", "tier", "org_unit", "agent"] as const)[(b + n) % 4]!,
        target: [null, `L${c % 6}`, "Zürich", chosen(lived.agentIds, c) ?? null][(b + n) % 4]!,
        trigger: c % 2 === 0 ? ("breaker" as const) : ("orphan" as const),
        response: c % 3 === 0 ? ("notify" as const) : ("halt" as const),
        notify: b % 2 === 0 ? [`p${c}@example.org`] : []
      })),
      systemHost
    )
  )

/** Drills begin, are acknowledged, end, and are vouched for; each also where it is not its turn. */
const drill = ({ a, b, c }: Act, lived: Lived): Doing =>
  Effect.gen(function* () {
    const drills = yield* Drills
    const heardOf = (drill: DrillOut, n: number): Doing => {
      const agentId = drill.target_type === "agent" ? drill.target_id : chosen(lived.agentIds, n)
      return agentId === undefined
        ? Effect.void
        : Kill.use((kill) =>
            kill.ack(
              { activation_event: drill.activation_event, agent_id: agentId, instance_id: `i${n % 4}` } as never,
              systemHost
            )
          )
    }
    const all = yield* drills.list()
    const one = all.length === 0 ? undefined : chosen(all, a)
    if (one === undefined || b % 4 === 0) {
      const agentId = chosen(lived.agentIds, a)
      if (agentId === undefined) return
      yield* drills.start(
        {
          target_type: c % 5 === 0 ? "model" : "agent",
          target_id: c % 5 === 0 ? "m" : agentId,
          mode: c % 2 === 0 ? "live" : "shadow",
          scenario: `scenario ${c}`,
          slo_ms: 1 + c,
          max_duration_ms: 1_000 + 100 * c
        },
        { id: `system:d${c % 3}` }
      )
    } else if (b % 4 === 1) yield* heardOf(one, c)
    else if (b % 4 === 2) {
      if (c % 2 === 0) yield* heardOf(one, c)
      yield* drills.complete(one.id, systemHost)
      yield* drills.attest(one.id, { id: `system:d${c % 4}` })
    } else yield* drills.attest(one.id, { id: `system:d${c % 4}` })
    yield* drills.completeDue
    if (c % 4 === 0) yield* checkChannel
  })

/** The clock of the registry polls. Not by weeks: everything that sleeps a second would wake for each of them. */
const pollClock = ({ a }: Act): Doing => Effect.andThen(TestClock.adjust(a * 500), suspendDue)

const witness = ({ a, b, c }: Act, lived: Lived): Doing => {
  const agentId = chosen(lived.agentIds, a)
  if (agentId === undefined) return Effect.void
  const decisions = Array.from({ length: 1 + (c % 4) }, (_, index) => ({
    client_ref: `r${(b + index) % 12}`,
    run_id: `run-${((b + index) % 12) % 5}`,
    kind: "tool_call" as const,
    action: `act-${c % 2}`,
    status: "intended" as const,
    capture: (["framework_hook", "self_reported", null] as const)[(a + b) % 3]!,
    ...(b % 2 === 0 ? { args: { c }, labels: c % 8 === 0 ? null : { team: (c + index) % 3, good: c % 2 } } : {})
  }))
  return Capture.use((capture) => capture.witness(agentId, decisions, systemHost)).pipe(
    Effect.tap(({ receipts }) =>
      Effect.sync(() => {
        const fresh = receipts.filter(({ duplicate }) => !duplicate)
        lived.witnessed.set(agentId, (lived.witnessed.get(agentId) ?? 0) + fresh.length)
        lived.decisionIds.push(...fresh.map(({ decision_id }) => decision_id))
      })
    )
  )
}

const settle = ({ a, b }: Act, lived: Lived): Doing => {
  const id = chosen(lived.decisionIds, a)
  if (id === undefined) return Effect.void
  return Capture.use((capture) =>
    capture.settle(id, { status: b % 2 === 0 ? "ok" : "error", result: b }, systemHost)
  ).pipe(
    Effect.tap(({ duplicate }) =>
      Effect.sync(() => {
        if (!duplicate) lived.settled.set(id, 1)
      })
    )
  )
}

const mint = (act: Act, lived: Lived): Doing => {
  const { a, b } = act
  return IngestKeys.use((keys) =>
    keys.mint(
      { name: `key ${a}`, org_unit: chosen(units, b)!, max_autonomy_tier: b % 2 === 0 ? "L2" : null },
      systemHost
    )
  ).pipe(
    Effect.tap(({ id, key }) =>
      Effect.andThen(
        Effect.sync(() => lived.keyIds.push(id)),
        IngestKeys.use((keys) => keys.authenticate(key))
      )
    ),
    Effect.andThen(mintPlatformKey(act, lived))
  )
}

/** Every fourth key of the plan `custom` has limits of its own. */
const mintPlatformKey = ({ a, b, c }: Act, lived: Lived) =>
  PlatformKeys.use((keys) =>
    keys.mint(
      {
        name: `platform key ${a}`,
        org_unit: chosen(units, b)!,
        plan: chosen(plans, c)!,
        scopes: [chosen(platformScopes, a)!],
        limits: plans[c % plans.length] === "custom" && a % 4 === 0 ? { requests_per_minute: b + 1 } : null
      },
      systemHost
    )
  ).pipe(
    Effect.tap(({ id, key }) =>
      Effect.andThen(
        Effect.sync(() => lived.platformKeyIds.push(id)),
        PlatformKeys.use((keys) => keys.authenticate(key))
      )
    )
  )

const revoke = ({ a, b }: Act, lived: Lived): Doing => {
  const [id, platform] = [chosen(lived.keyIds, a), chosen(lived.platformKeyIds, b)]
  return Effect.andThen(
    id === undefined ? Effect.void : IngestKeys.use((keys) => keys.revoke(id, systemHost)),
    platform === undefined ? Effect.void : PlatformKeys.use((keys) => keys.revoke(platform, systemHost))
  )
}

const seen = ({ a, b }: Act): Doing =>
  Principals.use((principals) => principals.writerFor(`https://id${b % 2}.example`, `subject ${a}`))

const kindsWithParts = recordKinds
  .map((row) => ({ ...row, parts: row.parts.filter(({ kept }) => kept !== true) }))
  .filter(({ parts }) => parts.length > 0)

/**
 * Erases a part of any record, whether it has one of that name or not; every other time of a kind that was chosen
 * first.
 */
const erase = ({ a, b, c }: Act, lived: Lived): Doing =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const row = chosen(kindsWithParts, a * 3 + c)!
    const ofKind = b % 2 === 0 ? [] : yield* storage.records({ kinds: [row.kind], from: 0, limit: 100 })
    const seq = chosen(ofKind, b >> 1)?.seq ?? (a * 64 + b) % (((yield* storage.head)?.seq ?? 0) + 1)
    const parts = yield* storage.parts([seq])
    const name = c % 8 === 0 ? chosen(row.parts, b)!.name : (chosen(parts, c)?.name ?? chosen(row.parts, c)!.name)
    yield* Erasure.use((erasure) => erasure.erase({ seq, name, reason: "subject_request" }, systemHost))
    lived.erased += 1
  })

/** Erases one part of each kind and name that there is. Answers which, as `<kind>/<name>`. */
export const eraseOneOfEach = (choice: number) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const erased: Array<string> = []
    for (const { kind, parts } of kindsWithParts) {
      const seqs = (yield* storage.records({ kinds: [kind], order: "desc", limit: 100 })).map(({ seq }) => seq)
      const there = seqs.length === 0 ? [] : (yield* storage.parts(seqs)).filter(({ erasedBy }) => erasedBy === null)
      for (const { name } of parts) {
        const part = chosen(
          there.filter((one) => one.name === name),
          choice
        )
        if (part === undefined) continue
        yield* Erasure.use((erasure) => erasure.erase({ seq: part.seq, name, reason: "subject_request" }, systemHost))
        erased.push(`${kind}/${name}`)
      }
    }
    return erased
  })

const gap = ({ a, c }: Act, lived: Lived): Doing => {
  const agentId = chosen(lived.agentIds, a)
  const at = "2026-05-01T00:00:00.000Z"
  return agentId === undefined
    ? Effect.void
    : Capture.use((capture) => capture.gap(agentId, { from: at, to: at, count: c, reason: "crash" }, systemHost))
}

const ended = ({ a, b }: Act, lived: Lived): Doing =>
  withAgent(lived, a, (id) =>
    Capture.use((capture) => capture.endInstance(id, { instance_id: `pod-${b % 3}` }, systemHost))
  )

/** Runs of two suites, some of which lose cases. */
const evaluated = ({ a, b, c }: Act, lived: Lived): Doing =>
  withAgent(lived, a, (id) =>
    EvalRuns.use((runs) =>
      runs.record(
        {
          agent_id: id,
          suite: `suite ${b % 2}`,
          suite_digest: `sha256:${String(b % 2).repeat(64)}`,
          cases: ["one", "two"].map((name, at) => ({ id: name, outcomes: [(c >> at) % 2 === 0 ? "passed" : "failed"] }))
        },
        systemHost
      )
    )
  )

/** Screens of agents and of org units, by each source of outcomes. */
const screened = ({ a, b, c }: Act, lived: Lived): Doing =>
  withAgent(lived, a, (id) =>
    FairnessScreens.use((screens) =>
      screens.screen(
        {
          ...(b % 3 === 0 ? { org_unit: chosen(units, c)!, from_seq: c } : { agent_id: id }),
          group: "/team",
          ...(c % 5 === 0 ? { action: "act-1" } : {}),
          outcome:
            b % 2 === 0
              ? { source: "labels", path: "/good", positive: [1] }
              : { source: "status", positive: ["ok", "unknown"] }
        },
        systemHost
      )
    )
  )

const pass = ({ a, b }: Act): Doing => TestClock.adjust(a * 977 + b)

const acts = [
  register,
  register,
  govern,
  govern,
  govern,
  govern,
  govern,
  govern,
  piece,
  model,
  map,
  policy,
  drill,
  drill,
  drill,
  drill,
  pollClock,
  witness,
  witness,
  witness,
  settle,
  settle,
  mint,
  revoke,
  seen,
  erase,
  erase,
  erase,
  erase,
  erase,
  erase,
  breaker,
  breaker,
  breaker,
  breaker,
  erase,
  erase,
  gap,
  pass,
  bound,
  bound,
  governed,
  governed,
  governed,
  governed,
  takenBack,
  takenBack,
  hook,
  minded,
  minded,
  minded,
  minded,
  stop,
  stop,
  letGo,
  letGo,
  heard,
  silent,
  wish,
  reviewed,
  reviewed,
  ended,
  evaluated,
  screened,
  screened,
  listed,
  listed,
  listed,
  answeredList
] as const

const actOf = (what: number, erases: boolean): (typeof acts)[number] => {
  const found = acts[what % acts.length]!
  return erases || found !== erase ? found : govern
}

/** Tags of faults, which no act may be answered with. */
const faults = ["StorageUnavailable", "StorageCorrupt"]

/** Lives through the groups one after another, the acts of a group at once. */
export const live = (
  groups: ReadonlyArray<ReadonlyArray<Act>>,
  lived: Lived,
  erases = true
): Effect.Effect<void, never, GovernorServices | Storage> =>
  Effect.forEach(
    groups,
    (group) =>
      Effect.forEach(
        group,
        (act) =>
          actOf(act.what, erases)(act, lived).pipe(
            Effect.catch((error) => {
              const tag = (error as { readonly _tag: string })._tag
              if (faults.includes(tag)) return Effect.die(error)
              return Effect.sync(() => lived.refusals.set(tag, (lived.refusals.get(tag) ?? 0) + 1))
            })
          ),
        { concurrency: "unbounded", discard: true }
      ),
    { discard: true }
  )
