import { Effect } from "effect"
import { EventEmitter } from "node:events"
import fs, { existsSync, mkdtempSync, readdirSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { afterEach, assert, it } from "vitest"
import type { Incoming, Outgoing } from "../exchange.ts"
import { readFile } from "./read-file.ts"

const { rmSync: removed } = fs
const { TMPDIR } = process.env
afterEach(() => {
  fs.rmSync = removed
  syncBuiltinESMExports()
  if (TMPDIR === undefined) delete process.env["TMPDIR"]
  else process.env["TMPDIR"] = TMPDIR
})

it("a body is taken beside folders of others: one that stays, one of a process before it, and one in use", async () => {
  const base = mkdtempSync(join(tmpdir(), "flyball-read-file-"))
  process.env["TMPDIR"] = base
  const foreign = mkdtempSync(join(base, "flyball-body-99999999-"))
  const before = mkdtempSync(join(base, `flyball-body-${process.pid}-`))
  fs.utimesSync(before, 0, 0)
  const own = mkdtempSync(join(base, `flyball-body-${process.pid}-`))
  fs.rmSync = (path, options) => {
    if (path === foreign) throw Object.assign(new Error("EACCES"), { code: "EACCES" })
    removed(path, options)
  }
  syncBuiltinESMExports()
  const request = Object.assign(Readable.from([Buffer.from("text")]), { headers: {} }) as unknown as Incoming
  const response = Object.assign(new EventEmitter(), { destroyed: true }) as unknown as Outgoing
  const { bytes } = await Effect.runPromise(readFile(request, response, { limitBytes: 10, media: "text/plain" }))
  assert.strictEqual(bytes, 4)
  assert.deepStrictEqual(
    [foreign, before, own].map((folder) => existsSync(folder)),
    [true, false, true]
  )
  assert.strictEqual(readdirSync(base).length, 2)
  removed(base, { recursive: true })
})
