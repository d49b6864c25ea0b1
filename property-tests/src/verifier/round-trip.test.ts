/** Packs that the writer makes are good, whatever is in them and however they are packed. */
import { compress, bytesSource, detectCompression, nodeCrypto, packContent } from "@flyball/evidence/node"
import { portableCrypto, verifyPack } from "@flyball/evidence"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeChain } from "./chain.ts"
import { check, makePack } from "./packs.ts"

const plans = fc.integer({ min: 1, max: 40 }).chain((length) =>
  fc.record({
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    length: fc.constant(length),
    kind: fc.constantFrom("full" as const, "range" as const, "sparse" as const),
    ends: fc.tuple(fc.nat(length - 1), fc.nat(length - 1)),
    picked: fc.subarray(Array.from({ length }, (_, i) => i)),
    disclose: fc.boolean(),
    older: fc.option(fc.integer({ min: 0, max: length }), { nil: undefined })
  })
)

describe("a pack that the writer makes", () => {
  it("verifies with both crypto libraries, and the report describes it", () =>
    fc.assert(
      fc.asyncProperty(plans, async ({ disclose, ends, kind, length, older, picked, seed }) => {
        const chain = makeChain({ seed, length })
        const [from, to] = kind === "full" ? [0, length - 1] : [Math.min(...ends), Math.max(...ends)]
        const seqs =
          kind === "sparse"
            ? picked.filter((seq) => seq >= from && seq <= to)
            : Array.from({ length: to - from + 1 }, (_, i) => from + i)
        const pack = await makePack(chain, {
          kind,
          from,
          to,
          seqs,
          disclose,
          ...(older === undefined ? {} : { older })
        })
        const report = await check(pack, chain)
        expect(report.findings).toEqual([])
        expect(report.exit).toBe(0)
        expect(report.verdicts).toMatchObject({
          integrity: "ok",
          authenticity: "signed_by_pinned_key",
          completeness: kind === "sparse" ? "sparse_claimed" : kind
        })
        const parts = seqs.flatMap((seq) => chain.records[seq]!.parts)
        const { parts_disclosed, parts_erased, parts_withheld, records } = report.counts
        expect(records).toBe(seqs.length)
        expect(parts_disclosed + parts_erased + parts_withheld).toBe(parts.length)
        const erased = chain.erasures.filter((one) => seqs.includes(one.seq) && seqs.includes(one.erasingSeq)).length
        expect(parts_erased).toBe(erased)
        if (!disclose) expect(parts_disclosed).toBe(0)
        const { roots: _a, ...slow } = await verifyPack(portableCrypto, [pack], { vkeys: [chain.signer.vkey] })
        const { roots: _b, ...fast } = report
        expect(slow).toEqual(fast)
      }),
      { numRuns: 120, seed: 42 }
    ))

  it("survives compression", async () => {
    const chain = makeChain({ seed: 5, length: 30 })
    const pack = await makePack(chain, { kind: "full" })
    for (const compression of ["gzip", "zstd", "none"] as const) {
      const chunks: Array<Uint8Array> = []
      for await (const chunk of compress([pack.subarray(0, 100), pack.subarray(100)], compression)) chunks.push(chunk)
      const source = bytesSource(Buffer.concat(chunks))
      expect(await detectCompression(source)).toBe(compression)
      expect(
        await verifyPack(nodeCrypto, packContent(source, compression), { vkeys: [chain.signer.vkey] })
      ).toMatchObject({ exit: 0, findings: [] })
    }
  })
})
