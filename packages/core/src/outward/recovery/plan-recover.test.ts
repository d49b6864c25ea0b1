import { assert, describe, it } from "@effect/vitest"
import { parsePrevious } from "@flyball/evidence"
import { Result } from "effect"
import type { Behind } from "./diagnose.ts"
import { nextOrigin } from "./next-origin.ts"
import { planRecover, reasonProblem } from "./plan-recover.ts"

const random = new Uint8Array(16).fill(7)
const local = `flyball.local/${"0".repeat(26)}`

describe("the name of the chain after a recovery", () => {
  it.each<[string, string]>([
    ["flyball.example/acme", "flyball.example/acme~2-07070707"],
    ["flyball.example/acme~2", "flyball.example/acme~3-07070707"],
    ["flyball.example/acme~2-0123abcd", "flyball.example/acme~3-07070707"],
    ["flyball.example/acme~9-07070707", "flyball.example/acme~10-07070707"],
    ["flyball.example/acme~2-0123ABCD", "flyball.example/acme~2-0123ABCD~2-07070707"],
    ["flyball.example/~acme", "flyball.example/~acme~2-07070707"],
    ["flyball.example/acme~1", "flyball.example/acme~1~2-07070707"],
    ["flyball.example/acme~02", "flyball.example/acme~02~2-07070707"],
    ["flyball.local/mine", "flyball.local/mine~2-07070707"]
  ])("of %s is %s", (old, next) => assert.strictEqual(nextOrigin(old, random), next))
  it("is another for each recovery of one copy", () => {
    for (const old of ["flyball.example/acme", local])
      assert.notStrictEqual(nextOrigin(old, random), nextOrigin(old, new Uint8Array(16).fill(8)))
  })
  it("is made up again where it was made up before", () => {
    const next = nextOrigin(local, random)
    assert.match(next, /^flyball\.local\/[0-9a-hjkmnp-tv-z]{26}$/)
    assert.notStrictEqual(next, local)
  })
})

describe("the plan of a recovery", () => {
  const behind: Behind = {
    _tag: "Behind",
    origin: "flyball.example/acme",
    head: { seq: 2, hash: new Uint8Array(32), atMs: 5 },
    storedRootHex: "0b".repeat(32),
    checkpoint: { size: 2, rootHex: "0c".repeat(32), note: "a note" },
    signed: { origin: "flyball.example/acme", size: 9, rootHex: "0a".repeat(32) },
    guarded: null
  }
  const context = { publicKey: new Uint8Array(32).fill(1), taken: ["flyball.example/acme~2"], random }
  const planned = (command: { readonly reason?: string; readonly origin?: string } = {}, found = behind) =>
    planRecover(found, { reason: command.reason ?? "why", origin: command.origin }, context)

  it("names the chain before in record 0, whose body is that of any other", () => {
    const plan = Result.getOrThrow(planned())
    assert.deepEqual([plan.head, plan.leave], [behind.head, ["checkpoints", "packs"]])
    const { body, kind, parts } = plan.genesis
    assert.strictEqual(kind, "chain.genesis")
    assert.deepEqual(Object.keys(body).sort(), ["hash", "origin", "vkeys"])
    assert.strictEqual(body["origin"], "flyball.example/acme~2-07070707")
    assert.match(
      String((body["vkeys"] as ReadonlyArray<string>)[0]),
      /^flyball\.example\/acme~2-07070707\+[0-9a-f]{8}\+/
    )
    assert.deepEqual(
      parts.map(({ name }) => name),
      ["previous", "reason"]
    )
    assert.deepEqual(parsePrevious(parts[0]!.bytes), {
      origin: "flyball.example/acme",
      checkpoint: "a note",
      signedSize: 9,
      signedRootHex: "0a".repeat(32),
      storedSize: 3,
      storedRootHex: "0b".repeat(32)
    })
    assert.strictEqual(new TextDecoder().decode(parts[1]!.bytes), '"why"')
  })

  it("says null of what nobody knows", () => {
    const plan = Result.getOrThrow(planned({}, { ...behind, head: null, checkpoint: null, signed: null }))
    assert.deepInclude(parsePrevious(plan.genesis.parts[0]!.bytes), {
      checkpoint: null,
      signedSize: null,
      signedRootHex: null,
      storedSize: 0
    })
  })

  it.each<[{ readonly reason?: string; readonly origin?: string }, string]>([
    [{ reason: "" }, "ReasonInvalid"],
    [{ reason: " \n" }, "ReasonInvalid"],
    [{ reason: "\u200b\u3164" }, "ReasonInvalid"],
    [{ reason: "x".repeat(2_001) }, "ReasonInvalid"],
    [{ reason: "\ud800" }, "ReasonInvalid"],
    [{ origin: "" }, "OriginInvalid"],
    [{ origin: "a+b" }, "OriginInvalid"],
    [{ origin: "flyball.example/acme" }, "OriginTaken"],
    [{ origin: "flyball.example/acme~2" }, "OriginTaken"]
  ])("%j is refused: %s", (command, tag) => {
    const plan = planned(command)
    assert.strictEqual(Result.isFailure(plan) ? plan.failure._tag : "success", tag)
  })

  it("does not make a name that is too long to be one", () => {
    const plan = planRecover({ ...behind, origin: "x".repeat(254) }, { reason: "why", origin: undefined }, context)
    assert.isTrue(Result.isFailure(plan) && plan.failure._tag === "OriginInvalid")
  })

  it("is refused where it is no text", () =>
    assert.isTrue([undefined, null, 5, {}].every((reason) => reasonProblem(reason)?._tag === "ReasonInvalid")))

  it("counts characters, not code units", () => assert.isNull(reasonProblem("\u{1f9ef}".repeat(2_000))))
})
