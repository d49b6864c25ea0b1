import { describe, expect, it } from "@effect/vitest"
import type { CommitReceipt, Document } from "@flyball/core/storage"
import { type LookUp, DocumentCache } from "./document-cache.ts"

const document = (id: string, version = 1): Document => ({ collection: "agents", id, version, body: {} })
const receipt = (seq: number): CommitReceipt => ({ records: [], head: { seq, hash: new Uint8Array(32), atMs: seq } })
const lookUp = (near: DocumentCache, collection: string, key: string): LookUp => {
  const found = near.lookUp(collection, key)
  if (!("shelf" in found)) throw new Error("it was there already")
  return found
}
const holds = (near: DocumentCache, collection: string, key: string): boolean =>
  !("shelf" in near.lookUp(collection, key))

describe("documents in memory", () => {
  it("answers hits and known absences until a commit touches the collection", () => {
    const near = new DocumentCache()
    near.keep(lookUp(near, "agents", "a"), [document("a")], 2)
    near.keep(lookUp(near, "agents", "b"), [], 0)
    near.keep(lookUp(near, "models", "m"), [document("m")], 2)
    expect(near.lookUp("agents", "a")).toEqual([document("a")])
    expect(near.lookUp("agents", "b")).toEqual([])
    near.changing(new Set(["agents"]))([receipt(1)])
    expect(holds(near, "agents", "a")).toBe(false)
    expect(holds(near, "agents", "b")).toBe(false)
    expect(holds(near, "models", "m")).toBe(true)
  })
  it("does not cache a read that overlaps a commit", () => {
    const near = new DocumentCache()
    const before = lookUp(near, "agents", "a")
    const changed = near.changing(new Set(["agents"]))
    near.keep(before, [document("a")], 2)
    expect(holds(near, "agents", "a")).toBe(false)
    const during = lookUp(near, "agents", "a")
    near.keep(during, [document("a")], 2)
    changed([receipt(1)])
    near.keep(before, [document("a")], 2)
    near.keep(during, [document("a")], 2)
    expect(holds(near, "agents", "a")).toBe(false)
    near.keep(lookUp(near, "agents", "a"), [document("a", 2)], 2)
    expect(near.lookUp("agents", "a")).toEqual([document("a", 2)])
  })
  it("caches again only after the last of two commits on one collection", () => {
    const near = new DocumentCache()
    const first = near.changing(new Set(["agents"]))
    const second = near.changing(new Set(["agents"]))
    first([receipt(1)])
    near.keep(lookUp(near, "agents", "a"), [document("a")], 2)
    expect(holds(near, "agents", "a")).toBe(false)
    second([receipt(2)])
    near.keep(lookUp(near, "agents", "a"), [document("a")], 2)
    expect(holds(near, "agents", "a")).toBe(true)
  })
  it("empties itself before it exceeds its limit, and never keeps a single answer above the limit", () => {
    const near = new DocumentCache(1_000)
    near.keep(lookUp(near, "agents", "a"), [document("a")], 500)
    near.keep(lookUp(near, "models", "b"), [document("b")], 500)
    expect([holds(near, "agents", "a"), holds(near, "models", "b")]).toEqual([false, true])
    near.keep(lookUp(near, "models", "c"), [document("c")], 2_000)
    expect([holds(near, "models", "b"), holds(near, "models", "c")]).toEqual([true, false])
    // A long question counts like a long answer.
    near.keep(lookUp(near, "models", "d".repeat(1_000)), [], 0)
    expect(holds(near, "models", "d".repeat(1_000))).toBe(false)
    // What commits let go counts no more.
    for (let round = 0; round < 10; round++) {
      near.keep(lookUp(near, "agents", "a"), [document("a")], 50)
      near.changing(new Set(["agents"]))([])
    }
    expect(holds(near, "models", "b")).toBe(true)
  })
})

describe("the head in memory", () => {
  it("is that of the last commit, and unknown during a commit or after one with an unknown outcome", () => {
    const near = new DocumentCache()
    expect(near.head).toBeNull()
    near.keepHead(near.askHead(), receipt(4).head)
    expect(near.head?.seq).toBe(4)
    const first = near.changing(new Set())
    expect(near.head).toBeNull()
    first([receipt(6), receipt(5)])
    expect(near.head?.seq).toBe(6)
    near.changing(new Set())(null)
    expect(near.head).toBeNull()
  })
  it("is null before there is a chain, and callers cannot change it", () => {
    const near = new DocumentCache()
    near.changing(new Set())([receipt(-1)])
    expect(near.head).toBeNull()
    const given = receipt(1)
    near.changing(new Set())([given])
    given.head.hash.fill(9)
    near.head!.hash.fill(9)
    expect(near.head!.hash).toEqual(new Uint8Array(32))
  })
  it("does not take a head that was read before or during a commit", () => {
    const near = new DocumentCache()
    const before = near.askHead()
    const changed = near.changing(new Set())
    const during = near.askHead()
    near.keepHead(before, receipt(1).head)
    near.keepHead(during, receipt(1).head)
    changed(null)
    near.keepHead(before, receipt(1).head)
    near.keepHead(during, receipt(1).head)
    expect(near.head).toBeNull()
  })
})
