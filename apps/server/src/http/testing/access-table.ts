/**
 * Every route by every kind of caller, against a table written from the specification, not from the code. Spec: api.md,
 * "Who may call".
 */
import { decode } from "@flyball/contract"
import { endpoints, JSON_MEDIA } from "@flyball/contract/http"
import { AccessMapping, systemHost } from "@flyball/core"
import { Result } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { devIssuer } from "../../dev-issuer.ts"
import { goodRequests } from "../http-requests.ts"
import { UNIT, type World } from "../http-world.ts"
import {
  expectedOfTwo,
  expectedStatuses,
  type TableCaller,
  tableCallers,
  twoGrantCallers
} from "./expected-statuses.ts"

/** An open server, a good request for each endpoint, and every caller with its token, in the order of the columns. */
export interface Table {
  readonly world: World
  readonly good: Awaited<ReturnType<typeof goodRequests>>
  readonly callers: ReadonlyArray<TableCaller & { readonly token: string }>
}

/** The table over the server that `open` makes, for the tests of a file. Call `opened` inside tests only. */
export const givenTable = (open: () => Promise<World>): { readonly opened: () => Table } => {
  let world: World
  let good: Awaited<ReturnType<typeof goodRequests>>
  let callers: ReadonlyArray<TableCaller & { readonly token: string }>

  beforeAll(async () => {
    world = await open()
    good = await goodRequests(world)
    const rules = twoGrantCallers.flatMap(({ grants, name }) =>
      grants.map(
        ({ orgUnit, role }) => ({ match: { claim: "user_ids", value: name }, role, org_unit: orgUnit }) as const
      )
    )
    await world.runtime.runPromise(
      AccessMapping.use((mapping) => mapping.set({ rules, trust_canonical: true }, systemHost))
    )
    const tokenOf = ({ grants: [first, second], name, orgUnit }: TableCaller): Promise<string> | string => {
      if (first === undefined) return orgUnit === UNIT ? world.key : world.otherKey
      return second === undefined
        ? world.token(first.role, first.orgUnit)
        : world.forged({ sub: name, roles: [], exp: Math.floor(Date.now() / 1_000) + 3_600 })
    }
    callers = await Promise.all(
      [...tableCallers.flat(), ...twoGrantCallers].map(async (caller) => ({ ...caller, token: await tokenOf(caller) }))
    )
  })
  afterAll(() => world.close())

  return { opened: () => ({ world, good, callers }) }
}

/** Which requests of a row are sent: all, or one for each status by kind of caller. */
export type Breadth = "every caller" | "one caller for each answer"

/** True when a column of a row is the first of its answer: a status, to a key or to a person. */
const isFirst = (callers: Table["callers"], row: ReadonlyArray<number>, column: number): boolean => {
  const isKey = (at: number): boolean => callers[at]!.grants.length === 0
  return !row.some((status, at) => at < column && status === row[column] && isKey(at) === isKey(column))
}

/** Tests of every row of the table. */
export const accessTests = ({ opened }: ReturnType<typeof givenTable>, breadth: Breadth = "every caller"): void => {
  describe("who may call", () => {
    it("has a line for every endpoint", () => {
      const ids = endpoints.map(({ id }) => id).sort()
      assert.deepStrictEqual(Object.keys(expectedStatuses).sort(), ids)
      assert.deepStrictEqual(Object.keys(expectedOfTwo).sort(), ids)
    })

    for (const endpoint of endpoints) {
      it(`${endpoint.method} ${endpoint.path}: each caller gets what the table says`, async () => {
        const { callers, good, world } = opened()
        const row = [...expectedStatuses[endpoint.id]!.flat(), ...expectedOfTwo[endpoint.id]!]
        assert.strictEqual(row.length, callers.length)
        for (const [column, { grants, name, orgUnit, token }] of callers.entries()) {
          if (breadth !== "every caller" && !isFirst(callers, row, column)) continue
          const { json, path } = await good(endpoint, orgUnit)
          const got = await world.send(endpoint.method, path, { token, ...(json === null ? {} : { json }) })
          const expected = row[column]!
          assert.strictEqual(got.status, expected, `${name}: ${got.text.slice(0, 300)}`)
          if (expected < 300 && endpoint.success.schema !== null && endpoint.success.media === JSON_MEDIA) {
            const problems = decode(endpoint.success.schema as never)(got.json, "body")
            assert.isTrue(
              Result.isSuccess(problems),
              `${name}: the answer is not what the table says: ${JSON.stringify(problems).slice(0, 500)}`
            )
            assert.strictEqual(got.headers.get("content-type"), endpoint.success.media)
          }
          if (expected !== 403) continue
          if (grants.length === 0) {
            assert.deepStrictEqual(got.json, { detail: "This action needs an OIDC session.", code: "key_not_allowed" })
          } else if (grants.length === 1 || got.json.code !== "org_unit_not_allowed")
            assert.strictEqual(got.json.code, "forbidden")
          // The role would do, and the request names a unit where the person has it not.
          else assert.include(["agents.create", "ingest_keys.mint", "platform_keys.mint"], endpoint.id)
        }
      })

      it(`${endpoint.method} ${endpoint.path}: an invalid token is 401, or ignored where none is needed`, async () => {
        const { good, world } = opened()
        const { json, path } = await good(endpoint)
        const stranger = await devIssuer()
        const authorizations = [
          // None, the longest, and one that is wrong only by what the store says of it; then all others.
          undefined,
          `Bearer ${"a".repeat(9_000)}`,
          `Bearer ${world.revokedKey}`,
          "",
          "Bearer",
          "Bearer ",
          `Basic ${world.key}`,
          world.key,
          `Bearer ${world.key} x`,
          `Bearer fbk_${"a".repeat(43)}`,
          "Bearer x",
          `Bearer ${world.expiredKey}`,
          `Bearer ${await world.forged({ aud: "another" })}`,
          `Bearer ${await world.forged({ iss: "https://elsewhere.example" })}`,
          `Bearer ${await world.forged({ exp: 1 })}`,
          "Bearer a.b.c",
          `Bearer ${await stranger.sign({ role: "admin", subject: "a", orgUnit: "*" }, Date.now())}`,
          `Bearer ${await world.issuer.sign({ role: "admin", subject: "a", orgUnit: "*" }, Date.now() - 901_000)}`
        ]
        const before = await world.size()
        const sent = breadth === "every caller" ? authorizations : authorizations.slice(0, 3)
        for (const authorization of sent) {
          const got = await world.send(endpoint.method, path, {
            headers: authorization === undefined ? {} : { authorization },
            ...(json === null ? {} : { json })
          })
          if (endpoint.access.anonymous) {
            assert.strictEqual(got.status, 200)
            continue
          }
          assert.strictEqual(got.status, 401, authorization)
          assert.strictEqual(got.headers.get("www-authenticate"), "Bearer")
          assert.strictEqual(got.json.code, "unauthorized")
        }
        assert.strictEqual(await world.size(), before)
      })
    }
  })
}
