import * as contract from "@flyball/contract"
import { type Entity, type Place, placesOf, type Records, recordsOf } from "@flyball/contract"
import { outcomes } from "@flyball/envelope"
import { kindRow, recordKinds } from "@flyball/evidence"
import * as rules from "@flyball/rules"
import { Schema, SchemaAST } from "effect"
import { assert, describe, it } from "vitest"

/** A struct of the contract that names its records. */
interface Annotated {
  readonly name: string
  readonly records: Records
  readonly places: ReadonlyMap<string, Place | null>
  readonly fields: Schema.Struct.Fields
}

const isEntity = (schema: unknown): schema is Entity => Schema.isSchema(schema) && "fields" in schema

/** A struct where it names its records, and those among its members. */
const find = (name: string, schema: unknown): ReadonlyArray<Annotated> => {
  if (!isEntity(schema)) return []
  const { fields } = schema
  const inner = Object.entries(fields).flatMap(([member, field]) =>
    "members" in field ? (field.members as ReadonlyArray<unknown>).flatMap((one) => find(`${name}.${member}`, one)) : []
  )
  const records = recordsOf(schema)
  return records === null ? inner : [{ name, records, places: placesOf(schema), fields }, ...inner]
}
const annotated = Object.entries(contract).flatMap(([name, schema]) => find(name, schema))
const entities = annotated.filter(({ records }) => records.as === "entity")

const rows = (kinds: ReadonlyArray<string>) =>
  kinds.map((kind) => {
    const row = kindRow(kind)
    assert.isNotNull(row, `${kind} is expected in the catalogue`)
    return row!
  })

const bodyOf = (kinds: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(rows(kinds).flatMap(({ body }) => body.map(({ name }) => name)))

/** Parts by name, each with its members; null where one is not an object of known members. */
const partsOf = (kinds: ReadonlyArray<string>): ReadonlyMap<string, ReadonlySet<string> | null> => {
  const found = new Map<string, Set<string> | null>()
  for (const { members, name } of rows(kinds).flatMap(({ parts }) => parts)) {
    const before = found.get(name)
    if (members === undefined || before === null) found.set(name, null)
    else found.set(name, new Set([...(before ?? []), ...members.map((one) => one.name)]))
  }
  return found
}

/** The words that a member takes; null where it takes any other value. */
const wordsOf = ({ ast }: Schema.Top): ReadonlyArray<string> | null => {
  const types = (SchemaAST.isUnion(ast) ? ast.types : [ast]).filter((type) => !SchemaAST.isNull(type))
  const words = types.flatMap((type) =>
    SchemaAST.isLiteral(type)
      ? [String(type.literal)]
      : SchemaAST.isUnion(type)
        ? (wordsOf(Schema.make(type)) ?? [])
        : []
  )
  return words.length > 0 && words.length >= types.length ? words : null
}

describe("the annotations of the contract and the catalogue of records", () => {
  it("are about every kind that is written, but those without a struct of their own", () => {
    const known = new Set(annotated.flatMap(({ records }) => records.kinds))
    assert.deepStrictEqual(
      recordKinds.map(({ kind }) => kind).filter((kind) => !known.has(kind)),
      [
        "chain.genesis",
        "key.rotated",
        "drift.alarmed",
        "standing_approval.granted",
        "standing_approval.used",
        "mcp.manifest_seen",
        "mcp.manifest_changed",
        "mcp.pinned",
        "finding.resolved",
        "workflow.changed",
        "execution.started",
        "execution.waiting",
        "execution.decided",
        "execution.finished",
        "analysis.completed",
        "analysis.failed",
        "extraction.completed",
        "extraction.failed",
        "extraction.revealed",
        "monitor.changed",
        "alert.triggered",
        "alert.resolved",
        "positions.recorded",
        "route_plan.completed",
        "route_plan.failed",
        "route_plan.dispatched",
        "principal.seen"
      ]
    )
  })

  it.each(annotated)("$name: every member says where it is stored", ({ places }) => {
    const silent = [...places].filter(([, place]) => place === null)
    assert.deepStrictEqual(silent, [])
  })

  it.each(annotated)("$name: what it says is in a body or a part is there", ({ places, records }) => {
    const body = bodyOf(records.kinds)
    const parts = partsOf(records.kinds)
    const wrong = [...places].filter(([name, place]) => {
      if (place === null) return false
      if (place.in === "body") return !body.has(place.name ?? name)
      if (place.in !== "part") return false
      const members = parts.get(place.part)
      return members === undefined || (place.whole !== true && members?.has(place.name ?? name) !== true)
    })
    assert.deepStrictEqual(wrong, [])
  })

  it.each(annotated)("$name: its words are those of the bodies", ({ fields, places, records }) => {
    const enums = new Map(
      rows(records.kinds).flatMap(({ body }) =>
        body.flatMap(({ name, type }) => (type.type === "enum" ? [[name, type.values] as const] : []))
      )
    )
    for (const [name, place] of places) {
      const words = place?.in === "body" ? wordsOf(fields[name]! as Schema.Top) : null
      const values = place?.in === "body" ? enums.get(place.name ?? name) : undefined
      if (words === null || values === undefined) continue
      // An entity shows every word that a record can have; an input takes only words that a record can have.
      const [within, all] = records.as === "entity" ? [values, words] : [words, values]
      assert.deepStrictEqual([name, within.filter((word) => !all.includes(word))], [name, []])
    }
  })

  it.each(entities)("$name: it shows all that its records say, but what it names", ({ places, records }) => {
    const all = [...places].flatMap(([name, place]) => (place === null ? [] : [{ name, place }]))
    const shownBody = all.flatMap(({ name, place }) => (place.in === "body" ? [place.name ?? name] : []))
    assert.sameMembers([...new Set([...shownBody, ...records.unshownBody])], [...bodyOf(records.kinds)])
    assert.deepStrictEqual(
      records.unshownBody.filter((name) => shownBody.includes(name)),
      [],
      "a member is shown or unshown, and not both"
    )
    for (const [part, members] of partsOf(records.kinds)) {
      const shown = all.filter(({ place }) => place.in === "part" && place.part === part)
      if (records.unshownParts.includes(part)) assert.deepStrictEqual(shown, [], `${part} is shown and unshown`)
      else if (members === null || shown.some(({ place }) => place.in === "part" && place.whole === true))
        assert.lengthOf(shown, 1, `the part ${part} is expected whole, or unshown`)
      else
        assert.sameMembers(
          shown.map(({ name, place }) => (place.in === "part" && place.name !== undefined ? place.name : name)),
          [...members]
        )
    }
    const known = [...partsOf(records.kinds).keys()]
    assert.deepStrictEqual(
      records.unshownParts.filter((part) => !known.includes(part)),
      []
    )
  })

  it("name the same sources of an identity", () => {
    const source = kindRow("agent.identity_attested")!.body.find(({ name }) => name === "source")
    assert.deepStrictEqual(source?.type, { type: "enum", values: [...contract.identitySources] })
  })
})

/** Lists of words that a package exports, by name. */
const wordLists = (exported: object): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    Object.entries(exported).flatMap(([name, value]: [string, unknown]) =>
      Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")
        ? [[name, value] as const]
        : []
    )
  )

/** Neither package may import the other, so each names its words; here they meet. */
describe("the words of the contract and of the rules", () => {
  const ofContract = wordLists(contract)
  const kindsCounted = rules.metricOf("action_velocity")!.params["kind"]!
  const ofRules = new Map([
    ...wordLists(rules),
    ["evaluationOutcomes", outcomes],
    ["roles", rules.strongestFirst],
    ["decisionKinds", kindsCounted.type === "word" ? kindsCounted.words : []]
  ])
  const both = [...ofRules.keys()].filter((name) => ofContract.has(name)).toSorted()

  it("are lists of these names", () => {
    assert.deepStrictEqual(both, [
      "agentStatuses",
      "autonomyTiers",
      "breakerModes",
      "decisionKinds",
      "documentTypes",
      "documentWarnings",
      "drillModes",
      "evaluationOutcomes",
      "extractionFailures",
      "killResponses",
      "killTargetTypes",
      "mcpTransports",
      "policyScopes",
      "policyTriggers",
      "reviewCancelCauses",
      "reviewResolutions",
      "reviewRoles",
      "reviewStatuses",
      "roles",
      "suspensionCauses",
      "unassignedReasons"
    ])
  })

  it.each(both)("are the same in %s", (name) => {
    assert.sameMembers([...ofContract.get(name)!], [...ofRules.get(name)!])
  })
})
