/**
 * docs/roles.md: the rows of its tables agree with each other, and its three mapping files load and come to what the
 * page says.
 */
import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { decode, MappingIn } from "@flyball/contract"
import { type Claims, grantsOf } from "@flyball/core"
import { Result } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "../apps/server/src/cli/testing/commands.ts"
import { rolesTable } from "./docs-tables/roles.ts"

const page = readFileSync(new URL("../docs/roles.md", import.meta.url), "utf8")
const fileOf = (path: string): string => fileURLToPath(new URL(`../docs/${path}`, import.meta.url))

describe("docs/roles.md", () => {
  it("states that each role allows what the weaker ones allow, which holds in every row", () => {
    const rows = rolesTable()
      .split("\n")
      .filter((line) => / `[A-Z]+ \//.test(line))
    assert.isAbove(rows.length, 50)
    const strength = ["-", "`*`", "yes"]
    for (const row of rows) {
      const cells = row
        .split(" | ")
        .slice(3)
        .map((cell) => strength.indexOf(cell.replace(/ \|$/, "")))
      assert.lengthOf(cells, 5)
      assert.deepStrictEqual(
        cells,
        cells.toSorted((a, b) => a - b),
        row
      )
    }
  })
})

/** A mapping file with what the page says of it: its text, and rows of claims and grants. */
const mappings = [
  ...page.matchAll(
    new RegExp(
      /^\[(mappings\/[^\]]+)\]\(\1\)[^]*?```json\n([^]*?)```\n\n/.source +
        /\| claims of a person \| grants \|\n\|---\|---\|\n((?:\|.*\|\n)+)/.source,
      "gm"
    )
  )
].map(([, path, text, rows]) => ({
  path: path!,
  text: text!,
  people: rows!
    .trim()
    .split("\n")
    .map((row) => row.slice(2, -2).split(" | "))
}))

/** `groups: a, b` as claims. */
const claimsOf = (text: string): Claims => {
  const [claim, values] = text.split(": ")
  const held = values!.split(", ")
  return {
    roles: claim === "roles" ? held : [],
    groups: claim === "groups" ? held : [],
    userIds: claim === "user_ids" ? held : []
  }
}

describe("the mapping files", () => {
  let me: Operator
  beforeAll(async () => {
    me = operator()
    assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
  })
  afterAll(() => me.leave())

  it("are three, each on the page", () => {
    assert.lengthOf(mappings, 3)
    assert.deepStrictEqual(
      mappings.map(({ path }) => path).sort(),
      globSync("mappings/*.json", { cwd: fileOf("") }).sort()
    )
  })

  it.each(mappings)("$path is on the page unchanged, and flyball mapping set accepts it", async ({ path, text }) => {
    assert.strictEqual(text, readFileSync(fileOf(path), "utf8"))
    const { err, out, status } = await me.flyball(["mapping", "set", fileOf(path)])
    assert.strictEqual(status, 0, err)
    assert.match(out, /^The access mapping is set: \d+ rules/)
    const { if_version: _, ...shown } = JSON.parse((await me.flyball(["mapping", "show"])).out)
    assert.deepStrictEqual(shown, JSON.parse(text))
  })

  it.each(mappings)(
    "$path grants people the roles of the page, and each of its rules matches a person",
    ({ people, text }) => {
      const input = Result.getOrThrow(decode(MappingIn)(JSON.parse(text), "body"))
      const rules = input.rules.map(({ id, match, org_unit, role }) => ({ id: id!, ...match, role, orgUnit: org_unit }))
      const given = people.map(
        ([claims]) =>
          grantsOf({ rules, trustCanonical: input.trust_canonical }, claimsOf(claims!))
            .map(({ orgUnit, role }) => `${role} in ${orgUnit}`)
            .join(", ") || "none"
      )
      assert.deepStrictEqual(
        given,
        people.map(([, grants]) => grants)
      )
      const unmatched = rules.filter(
        (rule) =>
          !people.some(([claims]) => grantsOf({ rules: [rule], trustCanonical: false }, claimsOf(claims!)).length > 0)
      )
      assert.deepStrictEqual(unmatched, [])
    }
  )
})
