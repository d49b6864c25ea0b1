/**
 * A real server on a disk that fills up: it refuses with 503 or stops signing, loses nothing, and continues by itself
 * when there is space.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { fullDiskCases } from "./cases.ts"
import { MOST_COMPLAINTS, ROOM_BYTES } from "./full-disk.ts"
import { isLong } from "../runs.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyball-full-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe("a full disk", () => {
  // The first takes two seconds, each of the others a quarter of a minute.
  for (const [index, { name, run }] of fullDiskCases.entries()) {
    if (index > 0 && !isLong) continue
    it(name, { timeout: 300_000 }, async () => {
      // One of them is full from one moment to the next, the others fill up.
      const { book, complaints, refusals } = await run(folder, [index === 0 ? 0 : ROOM_BYTES], index)
      assert.isAbove(book.acknowledged, 60)
      assert.isAtMost(complaints, MOST_COMPLAINTS, `complaints in the log, after ${refusals} refusals`)
    })
  }
})
