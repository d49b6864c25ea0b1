import { assert, describe, it } from "vitest"
import { sampleGenesis } from "../testing/sample-genesis.ts"
import { readGenesis } from "./genesis.ts"

const first = sampleGenesis({ origin: "acme/prod" })
const second = sampleGenesis({ origin: "acme/prod~2", after: "acme/prod" })

describe("a genesis", () => {
  it("states its signer, and the chain that it follows", () => {
    assert.deepInclude(readGenesis(first), { origin: "acme/prod", previousOrigin: null })
    assert.deepInclude(readGenesis(second), { origin: "acme/prod~2", previousOrigin: "acme/prod" })
    // The key stays, its name changes.
    assert.deepStrictEqual(readGenesis(second)!.signers, readGenesis(first)!.signers)
    assert.strictEqual(readGenesis(first)!.signers.size, 1)
  })

  it("is rejected if any part of it is not proved", () => {
    const other = sampleGenesis({ origin: "acme/prod~2", after: "acme/test" })
    const wrong: ReadonlyArray<readonly [string, unknown]> = [
      ["no answer", null],
      ["nothing in it", {}],
      ["no checkpoint yet", { ...second, checkpoint: null }],
      ["another name", { ...second, origin: "acme/prod~3" }],
      ["another record", { ...second, record: other.record, previous: other.previous }],
      ["another chain before", { ...second, previous: other.previous }],
      ["a part without a commitment", { ...first, previous: second.previous }],
      ["a commitment without its part", { ...second, previous: null }],
      ["no proof", { ...second, proof: [] }],
      ["an unreadable proof", { ...second, proof: ["sha256:00"] }],
      ["no key", { ...second, vkeys: [] }],
      ["a key that did not sign", { ...second, vkeys: sampleGenesis({ origin: "acme/prod~2", seed: 2 }).vkeys }],
      ["a changed checkpoint", { ...second, checkpoint: second.checkpoint.replace("\n2\n", "\n3\n") }],
      ["no signature", { ...second, checkpoint: second.checkpoint.split("\n\n")[0] }]
    ]
    for (const [what, answer] of wrong) assert.isNull(readGenesis(answer), what)
  })
})
