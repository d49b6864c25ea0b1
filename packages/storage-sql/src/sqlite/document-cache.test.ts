import { describe, expect, it } from "@effect/vitest"
import type { CommitReceipt, Document } from "@flyball/core/storage"
import { type LookUp, DocumentCache } from "./document-cache.ts"

const document = (id: string, version = 1): Document => ({ collection: "agents", id, version, body: {} })
const receipt = (seq: number): CommitReceipt => ({ records: [], head: { seq, hash: new Uint8Array(32), atMs: seq } })
const lookUp = (cache: DocumentCache, collection: string, key: string): LookUp => {
  const found = cache.lookUp(collection, key)
  if (!("shelf" in found)) throw new Error("it was there already")
  return found
}
const holds = (cache: DocumentCache, collection: string, key: string): boolean =>
  !("shelf" in cache.lookUp(collection, key))

describe("documents in memory", () => {
  it("answers hits and known absences until a commit touches the collection", () => {
    const cache = new DocumentCache()
    cache.keep(lookUp(cache, "agents", "a"), [document("a")], 2)
    cache.keep(lookUp(cache, "agents", "b"), [], 0)
    cache.keep(lookUp(cache, "models", "m"), [document("m")], 2)
    expect(cache.lookUp("agents", "a")).toEqual([document("a")])
    expect(cache.lookUp("agents", "b")).toEqual([])
    cache.changing(new Set(["agents"]))([receipt(1)])
    expect(holds(cache, "agents", "a")).toBe(false)
    expect(holds(cache, "agents", "b")).toBe(false)
    expect(holds(cache, "models", "m")).toBe(true)
  })
  it("does not cache a read that overlaps a commit", () => {
    const cache = new DocumentCache()
    const before = lookUp(cache, "agents", "a")
    const changed = cache.changing(new Set(["agents"]))
    cache.keep(before, [document("a")], 2)
    expect(holds(cache, "agents", "a")).toBe(false)
    const during = lookUp(cache, "agents", "a")
    cache.keep(during, [document("a")], 2)
    changed([receipt(1)])
    cache.keep(before, [document("a")], 2)
    cache.keep(during, [document("a")], 2)
    expect(holds(cache, "agents", "a")).toBe(false)
    cache.keep(lookUp(cache, "agents", "a"), [document("a", 2)], 2)
    expect(cache.lookUp("agents", "a")).toEqual([document("a", 2)])
  })
  it("caches again only after the last of two commits on one collection", () => {
    const cache = new DocumentCache()
    const first = cache.changing(new Set(["agents"]))
    const second = cache.changing(new Set(["agents"]))
    first([receipt(1)])
    cache.keep(lookUp(cache, "agents", "a"), [document("a")], 2)
    expect(holds(cache, "agents", "a")).toBe(false)
    second([receipt(2)])
    cache.keep(lookUp(cache, "agents", "a"), [document("a")], 2)
    expect(holds(cache, "agents", "a")).toBe(true)
  })
  it("empties itself before it exceeds its limit, and never keeps a single answer above the limit", () => {
    const cache = new DocumentCache(1_000)
    cache.keep(lookUp(cache, "agents", "a"), [document("a")], 500)
    cache.keep(lookUp(cache, "models", "b"), [document("b")], 500)
    expect([holds(cache, "agents", "a"), holds(cache, "models", "b")]).toEqual([false, true])
    cache.keep(lookUp(cache, "models", "c"), [document("c")], 2_000)
    expect([holds(cache, "models", "b"), holds(cache, "models", "c")]).toEqual([true, false])
    // A long question counts like a long answer.
    cache.keep(lookUp(cache, "models", "d".repeat(1_000)), [], 0)
    expect(holds(cache, "models", "d".repeat(1_000))).toBe(false)
    // What commits let go counts no more.
    for (let round = 0; round < 10; round++) {
      cache.keep(lookUp(cache, "agents", "a"), [document("a")], 50)
      cache.changing(new Set(["agents"]))([])
    }
    expect(holds(cache, "models", "b")).toBe(true)
  })
})

describe("the head in memory", () => {
  it("is that of the last commit, and unknown during a commit or after one with an unknown outcome", () => {
    const cache = new DocumentCache()
    expect(cache.head).toBeNull()
    cache.keepHead(cache.askHead(), receipt(4).head)
    expect(cache.head?.seq).toBe(4)
    const first = cache.changing(new Set())
    expect(cache.head).toBeNull()
    first([receipt(6), receipt(5)])
    expect(cache.head?.seq).toBe(6)
    cache.changing(new Set())(null)
    expect(cache.head).toBeNull()
  })
  it("is null before there is a chain, and callers cannot change it", () => {
    const cache = new DocumentCache()
    cache.changing(new Set())([receipt(-1)])
    expect(cache.head).toBeNull()
    const given = receipt(1)
    cache.changing(new Set())([given])
    given.head.hash.fill(9)
    cache.head!.hash.fill(9)
    expect(cache.head!.hash).toEqual(new Uint8Array(32))
  })
  it("does not take a head that was read before or during a commit", () => {
    const cache = new DocumentCache()
    const before = cache.askHead()
    const changed = cache.changing(new Set())
    const during = cache.askHead()
    cache.keepHead(before, receipt(1).head)
    cache.keepHead(during, receipt(1).head)
    changed(null)
    cache.keepHead(before, receipt(1).head)
    cache.keepHead(during, receipt(1).head)
    expect(cache.head).toBeNull()
  })
})
