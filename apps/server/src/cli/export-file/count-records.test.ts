import { assert, describe, it } from "vitest"
import { type Counts, countRecords } from "./count-records.ts"

const pack = 'evidence-pack/v1 R\nH {}\nR {"a":1}\nI 0 R\nR {}\nS 0 1\nZ 5 R\nN R\n'

const count = async (chunks: ReadonlyArray<string>): Promise<readonly [Counts, string]> => {
  const counts: Counts = { bytes: 0, records: 0 }
  let passed = ""
  const source = async function* (): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  for await (const chunk of countRecords(source(), counts)) passed += Buffer.from(chunk).toString()
  return [counts, passed]
}

describe("records of a pack", () => {
  it("are counted however the bytes are cut, and pass unchanged", async () => {
    for (let size = 1; size <= pack.length; size++) {
      const chunks = Array.from({ length: Math.ceil(pack.length / size) }, (_, index) =>
        pack.slice(index * size, (index + 1) * size)
      )
      assert.deepEqual(await count(["", ...chunks]), [{ bytes: pack.length, records: 2 }, pack], `chunks of ${size}`)
    }
  })
  it("are 0 in an empty pack", async () => assert.deepEqual(await count([]), [{ bytes: 0, records: 0 }, ""]))
})
