import type { ChangeSet } from "@flyball/core/storage"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { openWriter, tags } from "./testing/open-writer.ts"

/**
 * Generates one change of a document: a put as new, a put over any version, or a delete. The last two flush all rows
 * that wait.
 */
const act = (kinds: fc.Arbitrary<"new" | "any" | "delete">) =>
  fc.record({
    kind: kinds,
    id: fc.nat({ max: 400 }).map((id) => `d${id}`),
    value: fc.nat({ max: 60 }).map((value) => (value === 0 ? "é\u{1f600}" : `v${value}`))
  })
const calm = act(fc.constant("new"))
const lively = act(
  fc.oneof(
    { weight: 25, arbitrary: fc.constant("new" as const) },
    { weight: 2, arbitrary: fc.constant("any" as const) },
    { weight: 1, arbitrary: fc.constant("delete" as const) }
  )
)
/** Batches of ChangeSets of one or two documents. */
const batch = fc.oneof(
  ...[calm, lively].map((one) =>
    fc.array(fc.uniqueArray(one, { minLength: 1, maxLength: 2, selector: ({ id }) => id }), {
      minLength: 1,
      maxLength: 40,
      size: "max"
    })
  )
)
const batches = fc.array(batch, { minLength: 1, maxLength: 5, size: "max" })

describe("unique values", () => {
  it("go to the first valid claim of a batch, and conflicts are found before the tables refuse them", () => {
    fc.assert(
      fc.property(batches, (batches) => {
        const { commit, db, rollbacks } = openWriter()
        let stored = new Map<string, { readonly version: number; readonly value: string }>()
        for (const acts of batches) {
          const expected: Array<string> = []
          const sent = acts.map((documents): ChangeSet => {
            const versionOf = (id: string): number => stored.get(id)?.version ?? 0
            const change: ChangeSet = {
              puts: documents.flatMap(({ id, kind, value }) =>
                kind === "delete"
                  ? []
                  : [
                      {
                        collection: "agents",
                        id,
                        expectedVersion: kind === "new" ? 0 : null,
                        body: {},
                        unique: { name: value }
                      }
                    ]
              ),
              deletes: documents.flatMap(({ id, kind }) =>
                kind === "delete" ? [{ collection: "agents", id, version: Math.max(1, versionOf(id)) }] : []
              )
            }
            const stale = documents.some(({ id, kind }) =>
              kind === "new" ? versionOf(id) > 0 : kind === "delete" && versionOf(id) === 0
            )
            const puts = documents.filter(({ kind }) => kind !== "delete")
            // What the ChangeSet deletes frees its value for those behind it only.
            const others = [...stored]
              .filter(([id]) => !puts.some((put) => put.id === id))
              .map(([, { value }]) => value)
            const values = [...others, ...puts.map(({ value }) => value)]
            const refused = stale || new Set(values).size < values.length
            expected.push(refused ? "Refused" : "Committed")
            if (refused) return change
            stored = new Map(stored)
            for (const { id, kind, value } of documents) {
              if (kind === "delete") stored.delete(id)
              else stored.set(id, { version: versionOf(id) + 1, value })
            }
            return change
          })
          assert.deepEqual(tags(commit(...sent)), expected)
        }
        assert.equal(rollbacks(), 0)
        db.close()
      }),
      { numRuns: 200, seed: 20_261_126 }
    )
  })
})
