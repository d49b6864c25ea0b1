import { assert, describe, it } from "vitest"
import { effectClasses } from "./envelope.ts"
import { floorSentence } from "./floor-words.ts"

const needs = [[], [], [], ["a verified identity"], ["an attested drill"]]

describe("the tier floor in words", () => {
  it("says of each class from which tier on it is denied, reviewed and alone, and what that tier needs", () => {
    assert.deepEqual(
      effectClasses.map((effect) => floorSentence(effect, "`refund`", needs)),
      [
        "`refund` is `read`: it runs alone at every tier.",
        "`refund` is `write_reversible`: at L0 it is denied, from L1 reviewed, alone from L2.",
        "`refund` is `external_message`: at L0 it is denied, from L1 reviewed, alone from L3 with a verified identity.",
        "`refund` is `money`: at L0 it is denied, from L1 reviewed, alone from L3 with a verified identity.",
        "`refund` is `irreversible`: at L0 to L1 it is denied, from L2 reviewed, alone from L4 with a " +
          "verified identity and an attested drill."
      ]
    )
  })

  it("leaves out what a tier needs where nobody knows it", () =>
    assert.equal(
      floorSentence("money", "`pay`"),
      "`pay` is `money`: at L0 it is denied, from L1 reviewed, alone from L3."
    ))
})
