import { assert, describe, it } from "@effect/vitest"
import type { Previous } from "@flyball/evidence"
import { type Found, isUnfinished } from "../../chain/unfinished.ts"

const rootHex = "5a".repeat(32)
const previousOf = (signedSize: number | null): Previous => ({
  origin: "old",
  checkpoint: null,
  signedSize,
  signedRootHex: signedSize === null ? null : rootHex,
  storedSize: 7,
  storedRootHex: rootHex
})
const old = { origin: "old", size: 9, rootHex }
const moved = { origin: "new", size: 1, rootHex }
const stopped: Found = {
  origin: "new",
  size: 1,
  previous: previousOf(9),
  keyOrigin: "old",
  signed: old,
  inDoubt: false,
  isSigned: false
}

describe("a recovery is unfinished", () => {
  it.each<[string, Partial<Found>, boolean]>([
    ["once the store was put aside", {}, true],
    ["once the guard was moved", { signed: moved }, true],
    ["once the new chain was signed for", { signed: moved, isSigned: true }, true],
    ["not once the key has its name", { signed: moved, isSigned: true, keyOrigin: "new" }, false],
    ["where the guard was lost before it began", { previous: previousOf(null), signed: null }, true],
    ["where the guard had forgotten, and is there", { previous: previousOf(null) }, true],
    ["where the guard in doubt is the old chain's", { previous: previousOf(null), inDoubt: true }, true],
    ["not once there is a second record", { size: 2, signed: moved }, false],
    ["not where the guard has signed for more", { signed: { ...moved, size: 2 }, isSigned: true }, false],
    ["not where the guard was lost since", { signed: null }, false],
    [
      "not where the guard was lost before it began, and again after the new chain was signed for",
      { previous: previousOf(null), signed: null, isSigned: true },
      false
    ],
    ["not where the old guard is back after the new chain was signed for", { isSigned: true }, false],
    ["not where the new chain's guard is a copy", { signed: moved, isSigned: true, inDoubt: true }, false],
    ["not where there was no chain before", { previous: null }, false]
  ])("%s", (_, found, expected) => assert.strictEqual(isUnfinished({ ...stopped, ...found }), expected))
})
