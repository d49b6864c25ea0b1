/**
 * Properties that every entry of the catalogue has, whatever is added. Spec: document 1 section 6; api.md "Events to
 * webhooks".
 */
import { SchemaAST } from "effect"
import { assert, describe, it } from "vitest"
import type { CheckDetail } from "./foundation/fields.ts"
import { idPrefixes } from "./foundation/ids.ts"
import { eventEnvelope, eventResource, eventTypes, isEventType, webhookEvents } from "./webhook-events.ts"

/** The events that the specifications and the api name. Those that nothing emits yet have no entry. */
const named = new Set(
  `
    agent.registered agent.activated agent.suspended agent.decommissioned agent.tier_lowered agent.owner_transferred
    agent.orphaned agent.recert_overdue agent.identity_attested envelope.published evaluation.denied review.opened
    review.resolved review.expired review.cancelled breaker.armed breaker.tripped breaker.released kill.activated
    kill.acknowledged kill.requested kill.released kill.unconfirmed drill.started drill.completed drill.attested
    mcp_manifest_changed drift.alarmed fairness.flagged chain.checkpoint chain.verify_failed capture.gap
    key.minted key.revoked evidence.exported channel.alarmed webhook.test webhook.failed analysis.completed
    analysis.failed alert.triggered alert.resolved
    extraction.completed extraction.failed routes.completed routes.failed workflow.completed workflow.failed
  `
    .trim()
    .split(/\s+/)
)

/** Every leaf of a shape, with where it stands. */
const leaves = (ast: SchemaAST.AST, at: string): ReadonlyArray<readonly [string, SchemaAST.AST]> => {
  const encoded = SchemaAST.toEncoded(ast)
  if (SchemaAST.isObjects(encoded))
    return encoded.propertySignatures.flatMap(({ name, type }) => leaves(type, `${at}.${String(name)}`))
  if (SchemaAST.isUnion(encoded)) return encoded.types.flatMap((type) => leaves(type, at))
  return [[at, encoded]]
}

const details = (ast: SchemaAST.AST): ReadonlyArray<CheckDetail> =>
  (ast.checks ?? []).flatMap(({ annotations }) =>
    annotations?.["detail"] === undefined ? [] : [annotations["detail"] as CheckDetail]
  )

/** True for a check that binds a text to a form that no person's name has. */
const isForm = ({ ctx, type }: CheckDetail): boolean =>
  type === "datetime_parsing" ||
  (type === "string_pattern_mismatch" &&
    ["Ada", "Ada Lovelace", "paid twice, and again"].every((text) => !new RegExp(String(ctx?.["pattern"])).test(text)))

/** Names of things that a caller chooses but that have no spaces: records' bodies hold them too. */
const callersNames = [
  "agent.identity_attested.key_id",
  "kill.acknowledged.instance_id",
  "drill.attested.target_id",
  "drill.completed.target_id",
  "drill.started.target_id",
  "kill.activated.target_id",
  "kill.released.target_id",
  "webhook.failed.event_type"
]

const prefixes = Object.values(idPrefixes)

describe.each(eventTypes.map((type) => [type, webhookEvents[type]] as const))(
  "%s",
  (type, { about, data, facts, resource }) => {
    it("is an event of the api, in one sentence or two", () => {
      assert.include([...named], type)
      assert.match(about, /^[A-Z].*\.$/)
      assert.isTrue(isEventType(type))
    })

    it("has no member for text of a person or a caller", () => {
      for (const [at, leaf] of leaves(data.ast, type)) {
        const isFree = leaf._tag === "Unknown" || (leaf._tag === "String" && !details(leaf).some(isForm))
        assert.strictEqual(isFree, leaf._tag === "String" && callersNames.includes(at), `${at} can hold any text`)
      }
    })

    it("has members that are always there", () => {
      for (const { name, type: member } of data.ast._tag === "Objects"
        ? data.ast.propertySignatures
        : assert.fail("no object"))
        assert.isFalse(SchemaAST.isOptional(SchemaAST.toEncoded(member)), String(name))
    })

    it("links to its subject, by members that it has", () => {
      const names = [...resource.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      assert.includeMembers(Object.keys(facts.fields), names)
      const values = Object.fromEntries(names.map((name) => [name, `agt_${"0".repeat(26)}`]))
      const path = eventResource(type, values)
      assert.match(path, /^\/(api\/)?v1\/[a-z0-9_/-]+$/)
      for (const value of Object.values(values)) assert.include(path, value)
    })

    it("is sent in an envelope of its own type", () => {
      const [literal] = leaves(eventEnvelope(type).fields.type.ast, "type")
      assert.strictEqual(literal![1]._tag === "Literal" ? literal![1].literal : null, type)
    })
  }
)

describe("the catalogue", () => {
  it("rejects names that are no event type", () => {
    for (const text of ["", "agent", "agent.promoted", "constructor", "__proto__", "toString"])
      assert.isFalse(isEventType(text), text)
  })

  it("has ids of their own for webhooks, events and deliveries", () => {
    assert.includeMembers(prefixes, ["whk", "evt", "dlv"])
    assert.strictEqual(new Set(prefixes).size, prefixes.length)
  })
})
