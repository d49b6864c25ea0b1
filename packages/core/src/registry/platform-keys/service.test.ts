import { assert, describe, it } from "@effect/vitest"
import type { PlatformKeyCreate } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Agents } from "../agents/service.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { isPlatformKeyText, platformKeyText } from "./key-text.ts"
import { PlatformKeys } from "./service.ts"

const minted = (more: Partial<PlatformKeyCreate> = {}) =>
  PlatformKeys.use((keys) =>
    keys.mint({ name: "shop", org_unit: "ops", plan: "starter", scopes: ["usage:read", "*", "*"], ...more }, systemHost)
  )
const authenticated = (token: string) => PlatformKeys.use((keys) => keys.authenticate(token))
const refused = (token: string) => Effect.map(Effect.flip(authenticated(token)), ({ _tag }) => _tag)
const differences = Effect.map(
  Replay.use(({ check }) => check),
  (report) => report.differences
)

describe("the text of a platform key", () => {
  it("has 43 characters of every 32 bytes, and a checksum that every slip breaks", () => {
    for (const byte of [0, 1, 127, 255])
      assert.isTrue(isPlatformKeyText(platformKeyText(new Uint8Array(32).fill(byte))))
    const key = platformKeyText(Uint8Array.from({ length: 32 }, (_, at) => at * 7))
    assert.match(key, /^fb_live_[0-9A-Za-z]{49}$/)
    for (let at = 8; at < key.length; at++) {
      const slip = key.slice(0, at) + (key[at] === "x" ? "y" : "x") + key.slice(at + 1)
      assert.isFalse(isPlatformKeyText(slip), slip)
    }
  })
})

describe("platform keys", () => {
  it.effect("are shown once, kept as a digest, and authenticate with their plan and scopes", () =>
    Effect.gen(function* () {
      const { key, ...shown } = yield* minted()
      assert.deepInclude(shown, { plan: "starter", scopes: ["usage:read", "*"], revoked_at: null, last_used_at: null })
      const holder = yield* authenticated(key)
      assert.deepInclude(holder, { writer: { id: shown.id }, orgUnit: "ops", plan: "starter" })
      assert.strictEqual(holder.limits.requestsPerMinute, 60)
      const storage = yield* Storage
      assert.notInclude(JSON.stringify(yield* storage.get("platform_keys", shown.id)), key.slice(8, 20))
      assert.deepStrictEqual(yield* differences, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("open nothing once they are revoked, expired, mistyped or their profile is erased", () =>
    Effect.gen(function* () {
      const revoked = yield* minted()
      const over = yield* minted({ expires_at: formatInstant(60_000) })
      const erased = yield* minted()
      yield* authenticated(over.key)
      const first = yield* PlatformKeys.use((keys) => keys.revoke(revoked.id, systemHost))
      assert.isNotNull(first.revoked_at)
      assert.deepStrictEqual(yield* PlatformKeys.use((keys) => keys.revoke(revoked.id, systemHost)), first)
      const minting = (yield* Storage.use((storage) => storage.records({ limit: 100 })))
        .filter(({ kind }) => kind === "platform_key.minted")
        .at(-1)!
      yield* Erasure.use(({ erase }) =>
        erase({ seq: minting.seq, name: "profile", reason: "subject_request" }, systemHost)
      )
      yield* TestClock.adjust(60_000)
      for (const token of [revoked.key, over.key, erased.key, "fb_live_x", `${erased.key}x`, ""])
        assert.strictEqual(yield* refused(token), "Unauthorized")
      assert.deepStrictEqual(yield* differences, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("name an agent of their org unit, or none", () =>
    Effect.gen(function* () {
      const { agent } = yield* Agents.use((agents) =>
        agents.register(
          { name: "clerk", org_unit: "ops", owner_name: "Ada", owner_email: "ada@example.org" },
          systemHost
        )
      )
      const own = yield* minted({ agent_id: agent.id })
      assert.strictEqual(own.agent_id, agent.id)
      assert.strictEqual((yield* authenticated(own.key)).agentId, agent.id)
      yield* PlatformKeys.use((keys) => keys.revoke(own.id, systemHost))
      for (const wrong of [{ org_unit: "sales", agent_id: agent.id }, { agent_id: `agt_${"0".repeat(26)}` }])
        assert.strictEqual((yield* Effect.flip(minted(wrong)))._tag, "InvalidInput")
      assert.deepStrictEqual(yield* differences, [])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("have limits of their own with the plan custom, and with no other", () =>
    Effect.gen(function* () {
      const own = yield* minted({ plan: "custom", limits: { requests_per_minute: 7, concurrent: null } })
      assert.deepStrictEqual(own.limits, {
        requests_per_minute: 7,
        requests_per_day: null,
        concurrent: 1_000,
        concurrent_runs: 1_000
      })
      const wrong = yield* Effect.flip(minted({ limits: { requests_per_minute: 7 }, expires_at: formatInstant(-1) }))
      assert.deepStrictEqual(
        wrong._tag === "InvalidInput" ? wrong.detail.map(({ loc }) => loc.join(".")) : wrong._tag,
        ["body.expires_at", "body.limits"]
      )
      assert.deepStrictEqual(yield* differences, [])
    }).pipe(Effect.provide(governorWorld()))
  )
})
