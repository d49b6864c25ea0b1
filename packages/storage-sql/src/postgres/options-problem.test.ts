import { ephemeralKeys, GovernorError, openGovernor } from "@flyball/core"
import { layerOf, retirementOf, Storage, StorageUnavailable } from "@flyball/core/storage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { postgresStorage } from "./postgres-choice.ts"
import { optionsProblem } from "./options-problem.ts"
import type { PostgresOptions } from "./sessions.ts"

const url = "postgres://ann:s3cret@127.0.0.1:1/app"

/** Options as a host without types hands them in, and what is said of them. */
const wrong: ReadonlyArray<readonly [options: unknown, why: RegExp]> = [
  [undefined, /postgresStorage takes an object .*, not undefined/],
  [null, /takes an object .*, not null/],
  [url, /takes an object .*, not a text/],
  [{}, /url is the address of a database, .* not undefined/],
  [{ url: 5 }, /url is .* not 5/],
  [{ url: new URL(url) }, /url is .* not an object \(URL\); write url\.href/],
  ...[
    "",
    "flyball.db",
    "s3cret",
    "https://ann:s3cret@db/app",
    "mysql://ann:s3cret@db/app",
    "postgres//ann:s3cret@db"
  ].map((text) => [{ url: text }, /url is .* not a text of another form/] as const),
  [{ url, schema: 5 }, /schema is the name of a schema, not 5/],
  [{ url, schema: "Bad-Name" }, /the name of the schema does not match/],
  ...[1, 2.5, "4", null].map(
    (maxConnections) => [{ url, maxConnections }, /maxConnections is a whole number from 2, not/] as const
  ),
  [{ url, applicationName: {} }, /applicationName is a text, not an object/],
  [{ url, readOnly: "no" }, /readOnly is true, false or left out, not "no"/]
]

describe("invalid options of a Postgres store", () => {
  it.each(wrong)("%o are refused with a sentence before any connection", async (options, why) => {
    const error = await openGovernor({
      storage: postgresStorage(options as PostgresOptions),
      keys: ephemeralKeys()
    }).then(
      () => assert.fail("it opened"),
      (refused: unknown) => refused
    )
    assert.instanceOf(error, GovernorError)
    assert.strictEqual(error.code, "invalid_option")
    assert.match(error.message, why)
    assert.notInclude(error.message, "s3cret")
  })

  it.effect("are refused with Effect and by a recovery too", () =>
    Effect.gen(function* () {
      const choice = postgresStorage({ url: 5 } as unknown as PostgresOptions)
      for (const step of [
        Effect.provide(
          Storage.use(({ head }) => head),
          layerOf(choice)
        ),
        retirementOf(choice)!.retired
      ]) {
        const fault = yield* Effect.flip<unknown, unknown, never>(step)
        assert.instanceOf(fault, StorageUnavailable)
        assert.match(fault.message, /url is the address/)
      }
    })
  )

  it("do not include undefined options or any valid form of an address", () => {
    for (const good of [
      url,
      "postgresql://db/app?sslmode=require",
      "postgres:///app?host=/run/postgresql",
      "postgres://[::1]:5433/app"
    ]) {
      assert.isNull(
        optionsProblem({
          url: good,
          schema: undefined,
          maxConnections: undefined,
          applicationName: undefined,
          readOnly: undefined
        } as unknown as PostgresOptions),
        good
      )
    }
  })
})
