/**
 * Every event of the catalogue from the act that emits it, against its schema and its golden file. Spec: document 1
 * section 6.
 */
import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { eventEnvelope, eventTypes, type EventType, isEventType } from "@flyball/contract"
import { canonicalBytes, fromUtf8, portableCrypto, utf8 } from "@flyball/evidence"
import { seededEntropy } from "@flyball/testkit"
import { Effect, Exit, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { suspendDue } from "../../registry/agents/clock.ts"
import { Agents } from "../../registry/agents/service.ts"
import { Capture } from "../../verdicts/capture/service.ts"
import { raiseAlarm } from "../../chain/alarm.ts"
import { Checkpointer } from "../../chain/checkpointer.ts"
import { storeCheckpoint } from "../../chain/check/checkpoints.ts"
import { driftAlarms } from "../../screens/drift/alarms.ts"
import { changedRuns } from "../../screens/drift/testing/witness-runs.ts"
import { ResponsePolicies } from "../../verdicts/response-policy/service.ts"
import { Breakers } from "../../verdicts/breakers/service.ts"
import { checkChannel } from "../../verdicts/drills/channel-check.ts"
import { alarmIfOverdue } from "../../verdicts/drills/channel-clock.ts"
import { Drills } from "../../verdicts/drills/service.ts"
import { acknowledged, drilled } from "../../verdicts/drills/testing/drilled.ts"
import { FairnessScreens } from "../../screens/fairness/service.ts"
import { Envelopes } from "../../verdicts/envelopes/service.ts"
import { Evaluations } from "../../verdicts/evaluations/service.ts"
import { confirmStops } from "../../verdicts/kill/confirm-stops.ts"
import { recordExpected } from "../../verdicts/kill/expected.ts"
import { Kill } from "../../verdicts/kill/service.ts"
import { Reviews } from "../../verdicts/reviews/service.ts"
import { Erasure } from "../erasure/service.ts"
import { detachedCard, cardOf, ed25519Key } from "../../registry/identity/testing/cards.ts"
import { ToolServers } from "../../screens/mcp/service.ts"
import { Identities } from "../../registry/identity/service.ts"
import { TrustStore } from "../../registry/identity/trust-store.ts"
import { IngestKeys } from "../../registry/ingest-keys/service.ts"
import { Packs } from "../packs/service.ts"
import type { StoredEvent } from "../../storage/outbox/outbox.ts"
import { Storage } from "../../storage/port.ts"
import { pass } from "../../testing/chain-world.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import { CONFIRM_MS, MAX_ATTEMPTS, renderEvent } from "@flyball/rules"
import { Webhooks } from "./service.ts"
import { literalWebhookSettings } from "./settings.ts"
import { commitEndedAttempts } from "./commit-ended-attempts.ts"
import { type Outside, outside, outsideLayer, unreachable } from "./testing/webhook-world.ts"

const NOW_MS = Date.UTC(2026, 10, 21, 3)
const DAY = 86_400_000
const acme = ed25519Key("acme")
const trust = Layer.succeed(TrustStore, { keys: Effect.succeed([acme.trusted]) })
const worldOf = (there: Outside) =>
  Layer.fresh(governorWorld()).pipe(Layer.provide([trust, outsideLayer(there), seededEntropy("events")]))

type World = Layer.Success<ReturnType<typeof worldOf>>
type Act = Effect.Effect<unknown, unknown, World>
const agents = <A, E>(use: (service: Agents["Service"]) => Effect.Effect<A, E>) => Agents.use(use)
const courier = registered("courier", "ward 7")
const active = Effect.tap(courier, ({ id }) => agents((service) => service.activate(id, writer)))
const minted = IngestKeys.use((keys) =>
  keys.mint({ name: "ci of ward 7", org_unit: "ward 7", expires_at: "2027-01-31T00:00:00.000Z" }, writer)
)
const card = detachedCard(utf8(JSON.stringify(cardOf("courier"))), acme)
const readAll = (pack: AsyncIterable<Uint8Array>) =>
  Effect.promise(async () => {
    for await (const _ of pack);
  })

const webhook = Webhooks.use((webhooks) =>
  webhooks.create(
    { url: "https://hooks.example.org/ada", events: ["agent.registered"], notify_email: "ada@example.org" },
    writer
  )
)

/** An active agent whose envelope somebody else published than wrote it. */
const governedBy = Effect.fnUntraced(function* (outcome: "allow" | "require_review") {
  const { id } = yield* active
  const envelopes = yield* Envelopes
  const envelope = {
    semantics: "envelope/1",
    signals: { tool: { type: "enum", values: ["pay"], source: "caller" } },
    effects: { pay: "read" },
    rules: [{ id: "pay", outcome, when: [] }],
    default: { outcome: "deny" }
  }
  const drafted = yield* envelopes.create({ name: "of Ada", agent_id: id, envelope }, { id: "system:author" })
  yield* envelopes.publish(drafted.id, {}, writer)
  return id
})
const governed = governedBy("allow")

/** An open review. */
const reviewed = Effect.flatMap(governedBy("require_review"), (agentId) =>
  Evaluations.use((evaluations) =>
    evaluations.evaluate(
      { agent_id: agentId, client_ref: "order-8", action: "pay", signals: { tool: "pay" }, args: { to: "Ada" } },
      writer
    )
  )
).pipe(Effect.map(({ review_id }) => review_id!))

/** A halted agent. */
const haltOf = (id: string) =>
  Kill.use((kill) =>
    kill.activate({ target_type: "agent", target_id: id, response: "halt", reason: "paid Ada twice" }, writer)
  )
const halted = Effect.flatMap(courier, ({ id }) => haltOf(id))

/** A breaker that reports, of an active agent. */
const armed = Effect.flatMap(active, ({ id }) =>
  Breakers.use((breakers) =>
    breakers.arm(
      id,
      {
        name: "errors",
        metric: "consecutive_failures",
        params: { max_count: 1 },
        enabled: true,
        mode: "warn"
      },
      writer
    )
  )
)

/** The same, after the decision that trips it. */
const tripped = Effect.gen(function* () {
  const breaker = yield* armed
  yield* Capture.use((capture) =>
    capture.witness(
      breaker.agent_id,
      [{ client_ref: "order-7", kind: "tool_call", action: "pay", status: "error" }],
      writer
    )
  )
  yield* Breakers.use((breakers) => breakers.check())
  return breaker
})

const drillOf = (agentId: string) =>
  Drills.use((drills) =>
    drills.start(
      {
        target_type: "agent",
        target_id: agentId,
        mode: "live",
        scenario: "Ada pays twice.",
        slo_ms: 5_000,
        max_duration_ms: 60_000
      },
      writer
    )
  )

/** An act per event type that causes its event. A missing type does not compile. */
const emitters: { readonly [T in EventType]: Act } = {
  "agent.registered": courier,
  "agent.activated": active,
  "agent.tier_lowered": Effect.gen(function* () {
    const id = yield* governed
    yield* agents((service) => service.update(id, { autonomy_tier: "L2" }, writer))
    const [envelope] = yield* Envelopes.use((envelopes) => envelopes.list({ agent_id: id }))
    yield* Envelopes.use((envelopes) => envelopes.withdraw(envelope!.id, { reason: "Ada left" }, writer))
  }),
  "agent.suspended": Effect.flatMap(active, ({ id }) =>
    agents((service) => service.suspend(id, { reason: "paid Ada twice" }, writer))
  ),
  "agent.recert_overdue": Effect.gen(function* () {
    const { agent } = yield* agents((service) =>
      service.register(
        {
          name: "courier",
          org_unit: "ward 7",
          owner_name: "Ada",
          owner_email: "ada@example.org",
          recert_due_at: "2026-11-22T03:00:00.000Z"
        },
        writer
      )
    )
    yield* agents((service) => service.activate(agent.id, writer))
    yield* TestClock.adjust(DAY)
    yield* suspendDue
  }),
  "agent.decommissioned": Effect.flatMap(active, ({ id }) => agents((service) => service.decommission(id, writer))),
  "agent.owner_transferred": Effect.flatMap(courier, ({ id }) =>
    agents((service) =>
      service.transferOwnership(id, { owner_name: "Grace", owner_email: "grace@example.org" }, writer)
    )
  ),
  "agent.orphaned": Effect.flatMap(courier, ({ id }) =>
    agents((service) => service.disown(id, { reason: "Ada left" }, writer))
  ),
  mcp_manifest_changed: Effect.flatMap(courier, ({ id }) =>
    Effect.forEach(["Pays Ada.", "Pays Bob."], (description) =>
      ToolServers.use((servers) =>
        servers.upload(
          { agent_id: id, tool_server: "bank", manifest: { tools: [{ name: "pay", description }] } },
          writer
        )
      )
    )
  ),
  "agent.identity_attested": Effect.flatMap(courier, ({ id }) =>
    Identities.use((service) => service.attach(id, { signed_card: card }, writer))
  ),
  "key.minted": minted,
  "key.revoked": Effect.flatMap(minted, ({ id }) => IngestKeys.use((keys) => keys.revoke(id, writer))),
  "chain.checkpoint": Effect.andThen(
    courier,
    Checkpointer.use(({ now }) => now)
  ),
  // What finds it is tested where it is (chain/alarm.test.ts): a store that changes its records is no part of this
  // world.
  "chain.verify_failed": Effect.flatMap(Effect.andThen(courier, Storage), (storage) =>
    raiseAlarm(storage, { code: "E_HASH", seq: 1, foundBy: "signing" })
  ),
  "capture.gap": Effect.flatMap(active, ({ id }) =>
    Capture.use((capture) =>
      capture.gap(
        id,
        { from: "2026-11-21T02:00:00.000Z", to: "2026-11-21T02:30:00.000Z", count: 12, reason: "server_unreachable" },
        writer
      )
    )
  ),
  "envelope.published": governed,
  "evaluation.denied": Effect.flatMap(governed, (agentId) =>
    Evaluations.use((evaluations) =>
      evaluations.evaluate(
        { agent_id: agentId, client_ref: "order 7 of Ada".replaceAll(" ", "-"), signals: { tool: "pay", to: "Ada" } },
        writer
      )
    )
  ),
  "kill.activated": halted,
  "kill.requested": Effect.flatMap(courier, ({ id }) =>
    Kill.use((kill) => kill.request({ agent_id: id, reason: "Ada pays twice" }, writer))
  ),
  "kill.acknowledged": Effect.flatMap(halted, ({ activation_event: id }) =>
    Kill.use((kill) => kill.ack({ activation_event: id!, instance_id: "pod-7", in_flight: 2, stopped: false }, writer))
  ),
  "kill.unconfirmed": Effect.gen(function* () {
    const { id } = yield* active
    yield* Capture.use((capture) =>
      capture.witness(
        id,
        [{ client_ref: "1", kind: "tool_call", action: "pay", status: "ok", instance_id: "pod-7" }],
        writer
      )
    )
    yield* haltOf(id)
    yield* recordExpected
    yield* TestClock.adjust(CONFIRM_MS)
    yield* confirmStops
  }),
  "kill.released": Effect.flatMap(halted, ({ activation_event: id }) =>
    Kill.use((kill) => kill.release({ activation_event: id!, reason: "Ada was right" }, writer))
  ),
  "drift.alarmed": Effect.gen(function* () {
    const { id } = yield* courier
    yield* ResponsePolicies.use((policies) =>
      policies.set([{ scope: "default", trigger: "drift", response: "notify", notify: [] }], writer)
    )
    const { round } = yield* driftAlarms()
    yield* round
    yield* changedRuns(id)
    yield* round
  }),
  "fairness.flagged": Effect.gen(function* () {
    const { id } = yield* courier
    const labels = (sex: string, at: number) => ({ sex, hired: sex === "m" || at % 4 === 0 })
    yield* Capture.use((capture) =>
      capture.witness(
        id,
        Array.from({ length: 80 }, (_, at) => ({
          client_ref: `d${at}`,
          kind: "other",
          action: "hire",
          status: "ok",
          labels: labels(at < 40 ? "m" : "f", at)
        })),
        writer
      )
    )
    yield* FairnessScreens.use((screens) =>
      screens.screen(
        { agent_id: id, group: "/sex", outcome: { source: "labels", path: "/hired", positive: [true] } },
        writer
      )
    )
  }),
  "breaker.armed": armed,
  "breaker.tripped": tripped,
  "breaker.released": Effect.flatMap(tripped, ({ id }) =>
    Breakers.use((breakers) => breakers.release(id, { reason: "Ada repaired it" }, writer))
  ),
  "review.opened": reviewed,
  "review.resolved": Effect.flatMap(reviewed, (id) =>
    Reviews.use((reviews) =>
      reviews.resolve(
        id,
        { resolution: "reject", reason: "paid Ada twice" },
        { writer: { id: `usr_${"0".repeat(25)}9` }, grants: "any", email: null }
      )
    )
  ),
  "review.cancelled": Effect.flatMap(reviewed, (id) =>
    Reviews.use((reviews) => reviews.withdraw(id, { reason: "Ada paid it herself" }, writer))
  ),
  "review.expired": Effect.gen(function* () {
    yield* reviewed
    yield* TestClock.adjust(86_400_000)
    yield* Reviews.use((reviews) => reviews.sweep)
  }),
  "drill.started": Effect.flatMap(courier, ({ id }) => drillOf(id)),
  "drill.completed": Effect.gen(function* () {
    const { id: agentId } = yield* courier
    const { activation_event, id } = yield* drillOf(agentId)
    yield* TestClock.adjust(420)
    yield* acknowledged(activation_event, agentId, "host-1")
    yield* Drills.use((drills) => drills.complete(id, writer))
  }),
  "drill.attested": Effect.flatMap(courier, ({ id }) => drilled(id)),
  "channel.alarmed": Effect.gen(function* () {
    const storage = yield* Storage
    yield* checkChannel
    yield* TestClock.adjust(2 * 60_000 + 1)
    yield* alarmIfOverdue(storage, NOW_MS, 60_000)
    // One alarm for one check.
    yield* alarmIfOverdue(storage, NOW_MS, 60_000)
  }),
  "evidence.exported": Effect.gen(function* () {
    yield* courier
    const packs = yield* Packs
    const { id } = yield* packs.request({ kind: "full", disclose: "all" }, writer)
    for (let time = 0; time < 2; time++) yield* readAll(yield* packs.build(id, writer))
  }),
  "webhook.test": Effect.flatMap(webhook, ({ id }) => Webhooks.use((webhooks) => webhooks.test(id))),
  "webhook.failed": Effect.gen(function* () {
    const storage = yield* Storage
    yield* webhook
    yield* courier
    const claim = Effect.map(
      storage.outbox.claim({ leaseMs: 30_000, limit: 1, perEndpoint: 1 }),
      ({ claimed: [one] }) => one!
    )
    // The schedule is tested where it is: here every attempt is due at once.
    for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts++) {
      const {
        delivery: { id }
      } = yield* claim
      yield* storage.commit({
        moves: [
          {
            id,
            from: { state: "in_flight", attempts },
            to: { state: "pending", nextAttemptAtMs: NOW_MS },
            ended: { ...unreachable, endedAtMs: NOW_MS }
          }
        ]
      })
    }
    const {
      delivery,
      event: { type }
    } = yield* claim
    yield* commitEndedAttempts({ storage, settings: literalWebhookSettings, sha256: portableCrypto.sha256 }, [
      { ...unreachable, delivery, eventType: type, firstStartedAtMs: NOW_MS, endedAtMs: NOW_MS }
    ])
  })
}

/** Runs in a governor that was opened at a fixed time. */
const opened = <A, E>(use: Effect.Effect<A, E, World>, there = outside()) =>
  Effect.andThen(TestClock.setTime(NOW_MS), Effect.provide(use, worldOf(there)))

/** Texts of persons and callers in the acts above. */
const personal = ["Ada", "ada@", "Grace", "grace@", "courier", "ward 7", "twice", "left"]

const events = Storage.use(({ outbox }) => outbox.events({ limit: 1_000 }))
const sentBy = (stored: StoredEvent): Sent => JSON.parse(fromUtf8(renderEvent(stored))!) as Sent

interface Sent {
  readonly type: string
  readonly created_at: string
  readonly data: { readonly [name: string]: unknown }
  readonly chain: { readonly [name: string]: unknown }
}

/** An envelope in which ids and digests are numbered as they come, and times count from the event's. */
const normalised = (sent: Sent): unknown => {
  const names = new Map<string, string>()
  const named = (kind: string) => (found: string) => {
    if (!names.has(found)) names.set(found, `${kind} ${names.size + 1}`)
    return names.get(found)!
  }
  const text = fromUtf8(canonicalBytes({ ...sent, chain: { ...sent.chain, seq: "a seq" } }))!
    .replace(/[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}/g, (id) => named(id.slice(0, 3))(id))
    .replace(/sha256:[0-9a-f]{64}/g, named("sha256"))
    .replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, (time) =>
      String(Date.parse(JSON.parse(time) as string) - Date.parse(sent.created_at))
    )
    .replace(/"note":"[^"]*"/, '"note":"a note"')
  return JSON.parse(text)
}

const folder = new URL("../../../../../fixtures/webhooks/", import.meta.url)
const golden = (type: string): Sent => JSON.parse(readFileSync(new URL(`${type}.json`, folder), "utf8")) as Sent
const strictly = (sent: Sent): unknown =>
  isEventType(sent.type)
    ? Schema.decodeUnknownSync(eventEnvelope(sent.type), { onExcessProperty: "error" })(sent)
    : assert.fail(`${sent.type} is not in the catalogue`)

describe("what is emitted", () => {
  it("has a golden file for every entry of the catalogue, and none beside", () => {
    assert.deepStrictEqual(readdirSync(folder).sort(), eventTypes.map((type) => `${type}.json`).sort())
  })

  for (const type of eventTypes) {
    it.effect(`${type}: by the act that causes it, as the catalogue and the golden file say`, () => {
      const there = outside()
      return opened(
        Effect.gen(function* () {
          // Acts have randomness of their own: services start in any order, and an alarm follows from its agent's id.
          yield* Effect.provide(emitters[type], seededEntropy("acts"))
          // A test event is sent and not kept.
          const reported = [
            ...(yield* events).map(sentBy),
            ...there.arrived
              .map(({ body }) => JSON.parse(fromUtf8(body)!) as Sent)
              .filter((sent) => sent.type === "webhook.test")
          ]
          const own = reported.filter((sent) => sent.type === type)
          assert.strictEqual(own.length, 1, "once")
          assert.deepStrictEqual(normalised(own[0]!), normalised(golden(type)))
          for (const sent of [...reported, golden(type)]) {
            assert.deepStrictEqual<unknown>(strictly(sent), sent)
            // Without ids, digests and notes: a signature spells "Ada" once in some two thousand.
            for (const text of personal) assert.notInclude(JSON.stringify((normalised(sent) as Sent).data), text)
          }
        }),
        there
      )
    })
  }
})

const types = Effect.map(events, (reported) => reported.map(({ type }) => type))
const head = Storage.use((storage) => storage.head)

describe("what is not emitted", () => {
  it.effect("decisions and their outcomes: the path that must be fast", () =>
    opened(
      Effect.gen(function* () {
        const { id } = yield* active
        const before = yield* types
        const capture = yield* Capture
        const {
          receipts: [receipt]
        } = yield* capture.witness(
          id,
          [{ client_ref: "1", kind: "tool_call", action: "pay", status: "intended" }],
          writer
        )
        yield* capture.settle(receipt!.decision_id, { status: "ok" }, writer)
        assert.deepStrictEqual(yield* types, before)
      })
    )
  )

  it.effect("what was refused", () =>
    opened(
      Effect.gen(function* () {
        const { id } = yield* active
        const key = yield* minted
        yield* IngestKeys.use((keys) => keys.revoke(key.id, writer))
        const before = yield* types
        const refused: ReadonlyArray<Act> = [
          agents((service) => service.activate(id, writer)),
          agents((service) => service.create({ name: "courier", org_unit: "ops" }, writer)),
          Identities.use((service) => service.attach(id, {}, writer)),
          IngestKeys.use((keys) =>
            keys.mint({ name: "late", org_unit: "ops", expires_at: "2026-11-21T02:59:59.999Z" }, writer)
          ),
          Capture.use((capture) =>
            capture.gap(
              id,
              { from: "2026-11-21T03:00:00.000Z", to: "2026-11-21T02:30:00.000Z", count: 1, reason: "crash" },
              writer
            )
          )
        ]
        for (const act of refused) yield* Effect.flip(act)
        // Not refused, but done already.
        yield* agents((service) => service.register({ name: "courier", org_unit: "ops" }, writer))
        yield* IngestKeys.use((keys) => keys.revoke(key.id, writer))
        assert.deepStrictEqual(yield* types, before)
      })
    )
  )

  it.effect("what another writer was first to do", () =>
    opened(
      Effect.gen(function* () {
        const { id } = yield* active
        const storage = yield* Storage
        const document = (yield* storage.get("agents", id))!
        const reported = event("agent.owner_transferred", { agent_id: id, writer: writer.id })
        const conflict = yield* Effect.flip(
          storage.commit({ puts: [{ ...document, expectedVersion: document.version - 1 }], events: [reported] })
        )
        assert.strictEqual(conflict._tag, "StorageConflict")
        const suspensions = yield* Effect.all(
          Array.from({ length: 8 }, () => Effect.exit(agents((service) => service.suspend(id, {}, writer)))),
          { concurrency: "unbounded" }
        )
        // A second suspension answers the agent and records nothing.
        assert.isTrue(suspensions.every(Exit.isSuccess))
        yield* Effect.all(
          Array.from({ length: 8 }, () =>
            agents((service) => service.register({ name: "another", org_unit: "ops" }, writer))
          ),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(yield* types, [
          "agent.registered",
          "agent.activated",
          "agent.suspended",
          "agent.registered"
        ])
      })
    )
  )

  it.effect("a checkpoint is emitted once: its event makes no other checkpoint due", () =>
    opened(
      Effect.gen(function* () {
        yield* courier
        const { now } = yield* Checkpointer
        const checkpoint = yield* now
        const before = yield* head
        // Another process that signed for the same tree.
        yield* Effect.flatMap(Storage, (storage) => storeCheckpoint(storage, checkpoint))
        for (let minute = 0; minute < 5; minute++) {
          yield* now
          yield* pass(60_000)
        }
        assert.deepStrictEqual(yield* head, before)
        assert.deepStrictEqual(
          (yield* events).filter(({ type }) => type === "chain.checkpoint").map(({ data }) => data["tree_size"]),
          [checkpoint.size]
        )
      })
    )
  )
})

describe("what is emitted for other reasons", () => {
  it.effect("an erased owner leaves an orphan", () =>
    opened(
      Effect.gen(function* () {
        const { id } = yield* courier
        yield* Erasure.use(({ erase }) => erase({ seq: 1, name: "owner", reason: "subject_request" }, writer))
        assert.deepInclude((yield* events).at(-1)!, {
          type: "agent.orphaned",
          data: event("agent.orphaned", {
            agent_id: id,
            orphaned_since: "2026-11-21T03:00:00.000Z",
            suspend_at: "2026-11-28T03:00:00.000Z",
            writer: "policy:erased_owner"
          }).data
        })
      })
    )
  )

  it.effect("the event of a rejected card does not contain the name in the card", () =>
    opened(
      Effect.gen(function* () {
        const { id } = yield* courier
        yield* Identities.use((service) =>
          service.attach(id, { signed_card: { ...card, key_id: "key-of-ada" } }, writer)
        )
        const sent = sentBy((yield* events).at(-1)!)
        assert.deepInclude(sent.data, { verdict: "rejected", reason_code: "key_unknown", key_id: null })
        assert.deepStrictEqual<unknown>(strictly(sent), sent)
        assert.notInclude(JSON.stringify(sent.data), "key-of-ada")
      })
    )
  )
})
