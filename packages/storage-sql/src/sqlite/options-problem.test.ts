import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { ephemeralKeys, GovernorError, openGovernor } from "@flyball/core"
import { layerOf, retirementOf, Storage } from "@flyball/core/storage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { sqliteStorage } from "./storage.ts"
import type { SqliteOptions } from "./thread/threads.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-options-"))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, "store.db")

/** Options as a host without types hands them in, and what is said of them. */
const wrong: ReadonlyArray<readonly [options: unknown, why: RegExp]> = [
  [undefined, /sqliteStorage takes an object .*, not undefined/],
  [null, /takes an object .*, not null/],
  ["store.db", /takes an object .*, not "store\.db"/],
  [{}, /file is the path of the database file, a string that is not empty, not undefined/],
  [{ file: undefined }, /file is .* not undefined/],
  [{ file: "" }, /file is .* not ""/],
  [{ file: 7 }, /file is .* not 7/],
  [{ file: `${file}\0` }, /file is .* not ".*store\.db\\u0000"/],
  [{ file: pathToFileURL(file) }, /file is .* not an object \(URL\); write fileURLToPath\(url\)/],
  [{ file: pathToFileURL(file).href }, /file is a path, not "file:.*"; write fileURLToPath\(url\)/],
  [{ file: `file:${file}?nolock=1` }, /file is a path/],
  ...[() => 1, -1, 1.5, Number.NaN, Infinity, 2 ** 31, "7", null].map(
    (busyTimeoutMs) =>
      [
        { file, busyTimeoutMs },
        new RegExp(
          /busyTimeoutMs is a whole number of milliseconds from 0 to 2147483647, not /.source +
            /(a function|-1|1\.5|NaN|Infinity|2147483648|"7"|null)/.source
        )
      ] as const
  ),
  [{ file, readOnly: "no" }, /readOnly is true, false or left out, not "no"/],
  [{ file, small: Symbol("s") }, /small is true, false or left out, not a symbol/]
]

describe("invalid options of a SQLite store", () => {
  it.each(wrong)("%o are refused with a sentence when a governor opens, without a file", async (options, why) => {
    const locks = () => readdirSync(".").filter((name) => name.endsWith(".lock"))
    const before = locks()
    const error = await openGovernor({ storage: sqliteStorage(options as SqliteOptions), keys: ephemeralKeys() }).then(
      () => assert.fail("it opened"),
      (refused: unknown) => refused
    )
    assert.instanceOf(error, GovernorError)
    assert.strictEqual(error.code, "invalid_option")
    assert.match(error.message, why)
    assert.match(error.message, /Nothing was written/)
    assert.isFalse(existsSync(`${file}.lock`))
    assert.deepStrictEqual(locks(), before)
  })

  it.effect("are refused by a recovery too", () =>
    Effect.gen(function* () {
      for (const options of [undefined, { file: "" }]) {
        const retirement = retirementOf(sqliteStorage(options as unknown as SqliteOptions))!
        for (const step of [
          retirement.retired,
          retirement.retire({
            head: null,
            genesis: { kind: "chain.genesis", body: {}, parts: [], agentId: null },
            leave: []
          })
        ]) {
          const fault = yield* Effect.flip<unknown, Error, never>(step)
          assert.match(fault.message, /takes an object|file is the path/)
        }
      }
    })
  )

  it.effect("do not include undefined options", () =>
    Effect.asVoid(
      Storage.use(({ head }) => head).pipe(
        Effect.provide(
          layerOf(
            sqliteStorage({
              file,
              busyTimeoutMs: undefined,
              readOnly: undefined,
              small: undefined
            } as unknown as SqliteOptions)
          )
        )
      )
    )
  )
})
