import { recordKinds } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { Writers } from "../recompute/checks/writers.ts"
import { mayWrite, serviceWriters, writersOfKinds } from "./writers-of-kinds.ts"

const id = (prefix: string): string => `${prefix}_${"0".repeat(26)}`
/** One writer of each class, and names that no version of the service writes under. */
const writers = [
  id("usr"),
  id("key"),
  "system:host",
  "breaker:spend",
  "policy:x",
  "policy:analysis",
  "policy:routes",
  "policy:drift",
  "policy:monitor",
  "policy:tracking",
  "policy:orphan",
  "policy:reviews",
  "policy:workflow",
  ...serviceWriters
]

describe("the writers of kinds", () => {
  it("are listed for each kind whose records name a writer, and for no other", () =>
    assert.deepStrictEqual(
      Object.keys(writersOfKinds).sort(),
      recordKinds
        .filter(({ body }) => body.some(({ name }) => name === "writer"))
        .map(({ kind }) => kind)
        .sort()
    ))

  it("are a closed list: of each kind somebody may write, and a rule that nobody knows may not", () => {
    for (const kind of Object.keys(writersOfKinds)) {
      assert.isTrue(writers.some((writer) => mayWrite(kind, writer)) || kind.startsWith("ingest_key."), kind)
      for (const writer of ["policy:x", "policy:", "system:kill2".slice(0, 11)])
        assert.strictEqual(mayWrite(kind, writer), (writersOfKinds[kind] as ReadonlyArray<string>).includes(writer))
    }
  })

  it("let a platform key act on webhooks of an org unit, and on no webhook of the governance", () => {
    const writers = new Writers()
    const created = (webhook: string, more: { readonly owner_digest?: string }) =>
      writers.problem({
        seq: 1,
        kind: "webhook.created",
        body: { webhook_id: webhook, writer: id("pky"), ...more }
      })
    assert.isNull(created("whk_owned", { owner_digest: "0a".repeat(32) }))
    assert.match(created("whk_none", {}) ?? "", /webhooks of an org unit only/)
    for (const kind of ["webhook.changed", "webhook.revoked"]) {
      const by = (webhook: string, writer: string) =>
        writers.problem({ seq: 2, kind, body: { webhook_id: webhook, writer } }) === null
      assert.deepStrictEqual(
        [by("whk_owned", id("pky")), by("whk_none", id("pky")), by("whk_none", id("usr"))],
        [true, false, true]
      )
    }
  })

  it.each(Object.keys(writersOfKinds))("are held against %s, each writer by its class", (kind) => {
    for (const writer of writers) {
      const found = new Writers().problem({ seq: 1, kind, body: { writer, capture: "self_reported" } })
      assert.strictEqual(found === null, mayWrite(kind, writer), `${kind} by ${writer}: ${found}`)
    }
  })
})
