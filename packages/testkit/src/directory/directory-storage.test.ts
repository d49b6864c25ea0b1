import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { layerOf, Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { historyScene } from "../history/world.ts"
import { observe } from "../observe.ts"
import { storageCases } from "../storage-cases.ts"
import { directoryStorage } from "./directory-storage.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-directory-"))
afterAll(() => rmSync(folder, { recursive: true }))

describe("a store in a folder", () => {
  storageCases.forEach(({ name, run }, index) => {
    it.effect(name, () =>
      Effect.gen(function* () {
        const here = join(folder, String(index))
        const seen = yield* Effect.provide(
          Effect.andThen(
            run,
            Storage.use((storage) => observe(storage, historyScene))
          ),
          layerOf(directoryStorage(here))
        )
        // What a case left is there when the folder is opened again.
        const again = yield* Effect.provide(
          Storage.use((storage) => observe(storage, historyScene)),
          layerOf(directoryStorage(here))
        )
        assert.deepStrictEqual(again, seen)
      })
    )
  })
})
