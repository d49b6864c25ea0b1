import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerOf } from "@flyball/core/storage"
import { storageCases } from "@flyball/testkit"
import { describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { sqliteStorage } from "./storage.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-sqlite-"))
afterAll(() => rmSync(folder, { recursive: true }))

describe("SQLite in a file", () => {
  storageCases.forEach(({ name, run }, index) => {
    it.effect(name, () => Effect.provide(run, layerOf(sqliteStorage({ file: join(folder, `${index}.db`) }))))
  })
})

describe("SQLite in a file, in the host's own thread", () => {
  storageCases.forEach(({ name, run }, index) => {
    it.effect(name, () =>
      Effect.provide(run, layerOf(sqliteStorage({ file: join(folder, `small-${index}.db`), small: true })))
    )
  })
})

describe("SQLite in memory", () => {
  for (const { name, run } of storageCases) {
    it.effect(name, () => Effect.provide(run, layerOf(sqliteStorage({ file: ":memory:" }))))
  }
})
