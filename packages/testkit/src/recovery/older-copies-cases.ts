/**
 * Keys and guards out of copies from before a recovery that is done, beside the store of after it. Spec: decision 0010
 * of core.
 */
import { Agents, Chain, Checkpointer, recover, renameKey, type StorageChoice, systemHost } from "@flyball/core"
import { Effect } from "effect"
import assert from "node:assert/strict"
import { KeptKeys } from "./kept-keys.ts"
import type { RecoveryCase } from "./recovery-cases.ts"
import { lived, ORIGIN, putBack, recovered, type RecoverySite, session, siteOf } from "./recovery-world.ts"

const olderCase = (name: string, check: (site: RecoverySite) => Effect.Effect<void, unknown>): RecoveryCase => ({
  name,
  run: (storage: StorageChoice) => check(siteOf(storage))
})

const tagOf = <A, E extends { readonly _tag: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<string, never, R> =>
  Effect.match(effect, { onFailure: (error) => error._tag, onSuccess: () => "success" })

const started = (site: RecoverySite) => tagOf(session(site, Effect.void))

/** The code that a host sees. */
const renamed = ({ keys, storage }: RecoverySite) =>
  Effect.promise(() =>
    renameKey({ storage, keys: keys.choice }).then(
      ({ to }) => to,
      (error: { readonly code: string }) => error.code
    )
  )

/** A chain that was recovered and has signed for more since. Answers its name. */
const goneOn = Effect.fnUntraced(function* (site: RecoverySite, agent: string) {
  putBack(site, 1)
  const { origin } = yield* recovered(site)
  yield* session(
    site,
    Effect.andThen(
      Agents.use((agents) => agents.register({ name: agent, org_unit: "ops" }, systemHost)),
      Checkpointer.use(({ now }) => now)
    )
  )
  return origin
})

/** The same store with a key of this name out of a vault, and with this guard. */
const withKey = ({ keys, storage }: RecoverySite, origin: string, signed = keys.signed, seed = 1): RecoverySite => {
  const vault = new KeptKeys(origin, seed)
  vault.signed = signed
  return { storage, keys: vault }
}

/** The cases. */
export const olderCopiesCases: ReadonlyArray<RecoveryCase> = [
  olderCase(
    "a key from before a finished recovery is distinguished from a stopped recovery, and is renamed",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      const origin = yield* goneOn(site, "second")
      const vault = withKey(site, ORIGIN)
      assert.deepEqual([yield* started(vault), yield* tagOf(recovered(vault))], ["KeyFromBefore", "KeyFromBefore"])
      assert.deepEqual(
        [yield* renamed(vault), vault.keys.origin, vault.keys.signed],
        [origin, origin, site.keys.signed]
      )
      assert.equal(
        yield* session(
          vault,
          Chain.use((chain) => Effect.succeed(chain.origin))
        ),
        origin
      )
      assert.equal(yield* renamed(vault), "key_named_already")
    })
  ),

  olderCase(
    "a key from before two recoveries is recognised by the retired stores",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      yield* goneOn(site, "second")
      const third = yield* goneOn(site, "third")
      const vault = withKey(site, ORIGIN)
      assert.equal(yield* started(vault), "KeyFromBefore")
      assert.equal(yield* renamed(vault), third)
      assert.equal(yield* started(vault), "success")
    })
  ),

  olderCase(
    "a key from before a recovery, without a guard, is renamed, and then the guard counts as lost",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      const origin = yield* goneOn(site, "second")
      const vault = withKey(site, ORIGIN, null)
      assert.deepEqual([yield* started(vault), yield* tagOf(recovered(vault))], ["KeyFromBefore", "KeyFromBefore"])
      assert.equal(yield* renamed(vault), origin)
      assert.equal(yield* started(vault), "GuardBehindStore")
      assert.equal((yield* recovered(vault)).previous.origin, origin)
      assert.equal(yield* started(vault), "success")
    })
  ),

  olderCase(
    "a finished recovery without later records whose guard was lost is not taken for a stopped one",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      putBack(site, 1)
      const { origin } = yield* recovered(site)
      const vault = withKey(site, ORIGIN, null)
      assert.equal(yield* started(vault), "KeyFromBefore")
      assert.equal(yield* renamed(vault), origin)
      assert.equal(yield* started(vault), "GuardBehindStore")
    })
  ),

  olderCase(
    "a recovery that began without a guard is not taken for a stopped one, as its store may be a copy",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      site.keys.signed = null
      const { origin, previous } = yield* recovered(site)
      assert.equal(previous.signedSize, null)
      const vault = withKey(site, ORIGIN, null)
      assert.deepEqual(
        [yield* started(vault), yield* tagOf(recovered(vault)), vault.keys.signed],
        ["KeyFromBefore", "KeyFromBefore", null]
      )
      assert.deepEqual([yield* renamed(vault), yield* started(vault)], [origin, "GuardBehindStore"])
      assert.equal((yield* recovered(vault)).previous.origin, origin)
    })
  ),

  olderCase(
    "a guard from before a finished recovery is replaced only after a person confirms what it forgot",
    Effect.fnUntraced(function* (site) {
      yield* lived(site)
      const before = site.keys.signed
      const origin = yield* goneOn(site, "second")
      const copy = withKey(site, origin, before)
      assert.deepEqual([yield* started(copy), yield* tagOf(recovered(copy))], ["GuardFromBefore", "GuardFromBefore"])
      assert.deepEqual([copy.keys.origin, copy.keys.signed], [origin, before])
      const both = withKey(site, ORIGIN, before)
      assert.deepEqual(
        [yield* started(both), yield* renamed(both), yield* started(both)],
        ["KeyFromBefore", origin, "GuardFromBefore"]
      )
      const { origin: next, previous } = yield* recover(
        { storage: copy.storage, keys: copy.keys.choice, guardForgotten: true },
        { reason: "no newer guard was left", origin: undefined }
      )
      assert.deepEqual(
        [previous.origin, previous.signedSize, copy.keys.origin, copy.keys.signed?.origin],
        [origin, null, next, next]
      )
      assert.equal(yield* started(copy), "success")
    })
  ),

  olderCase(
    "a key is renamed in no other case",
    Effect.fnUntraced(function* (site) {
      assert.equal(yield* renamed(site), "chain_missing")
      yield* lived(site)
      assert.equal(yield* renamed(site), "key_named_already")
      assert.equal(yield* renamed(withKey(site, "flyball.test/other")), "origin_refused")
      putBack(site, 1)
      site.keys.fault = { at: "rename", kind: "write lost" }
      assert.equal(yield* tagOf(recovered(site)), "StorageUnavailable")
      assert.equal(yield* renamed(site), "recovery_unfinished")
      yield* recovered(site)
      assert.equal(yield* renamed(withKey(site, "flyball.test/other")), "origin_refused")
      const another = withKey(site, ORIGIN, { ...site.keys.signed!, size: 2 }, 2)
      assert.deepEqual([yield* renamed(another), another.keys.origin], ["key_refused", ORIGIN])
    })
  )
]
