/**
 * A rotation that meets a fault, or a process that dies, at every call of every port: the next start finishes it, and
 * no checkpoint ever lacks a signature.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { memoryStorage } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { type FaultKind, faultKinds } from "@flyball/testkit"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ORIGIN } from "../simulation/host.ts"
import { type RotationWalked, type Strike, walkRotation } from "./rotation-walk.ts"

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-rotation-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Strikes call after call until there are no more. Answers what was struck, with how many rotations came of it. */
const walkAll = async (
  kind: FaultKind,
  kills: boolean,
  walk: (strike: Strike) => Promise<RotationWalked>,
  step = 1
): Promise<ReadonlyArray<RotationWalked>> => {
  const all: Array<RotationWalked> = []
  for (let call = 1; ; call += step) {
    const walked = await walk({ call, kind, kills })
    if (walked.struck === null) return all
    assert.isEmpty(
      walked.problems,
      `${kind}${kills ? ", killed" : ""} at call ${call}, ${walked.struck}: ${walked.problems.join("; ")}`
    )
    all.push(walked)
  }
}

describe("a rotation", () => {
  it("succeeds without faults", async () => {
    assert.deepStrictEqual(
      await walkRotation(memoryStorage({ crypto: nodeCrypto }), { call: 0, kind: "write lost", kills: false }),
      { struck: null, rotations: 1, problems: [] }
    )
  })

  for (const kind of faultKinds) {
    it(`that meets a fault (${kind}) at any call is completed by the next request`, { timeout: 120_000 }, async () => {
      const all = await walkAll(kind, false, (strike) => walkRotation(memoryStorage({ crypto: nodeCrypto }), strike))
      assert.isAbove(all.length, 20)
      // Asking again after an answer was lost may find the first rotation finished, and make another.
      for (const { rotations } of all) assert.oneOf(rotations, [1, 2])
      assert.includeMembers(
        all.map(({ struck }) => struck),
        ["storage.commit", "guard.advance", "signer.sign", "signer.keys", "signer.prepare", "signer.promote"]
      )
    })
  }

  for (const kind of ["write lost", "answer lost"] as const) {
    it(
      `whose process dies at any call (${kind}) is completed by the next start, or never began`,
      { timeout: 120_000 },
      async () => {
        const all = await walkAll(kind, true, (strike) => walkRotation(memoryStorage({ crypto: nodeCrypto }), strike))
        assert.sameMembers([...new Set(all.map(({ rotations }) => rotations))], [0, 1])
        assert.includeMembers(
          all.map(({ struck }) => struck),
          ["storage.commit", "guard.advance", "signer.sign", "signer.promote"]
        )
      }
    )
  }

  it("survives the same faults on SQLite with keys in files", { timeout: 240_000 }, async () => {
    let run = 0
    const walk = (strike: Strike) => {
      const dir = join(folder, String(run++))
      return walkRotation(
        sqliteStorage({ file: `${dir}.db`, small: true }),
        strike,
        dataFolder({ dir, origin: ORIGIN })
      )
    }
    // A sample; in memory every call is struck.
    await walkAll("answer lost", true, walk, 4)
    await walkAll("write lost", true, walk, 9)
    await walkAll("answer lost", false, walk, 9)
  })
})
