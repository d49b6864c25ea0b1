/** Tests of the user's trust settings: pinned keys, policies, an earlier checkpoint, freshness, another pack. */
import type { FindingCode, Report, VerifyOptions } from "@flyball/evidence"
import {
  compareHistories,
  cosigner,
  findingCodes,
  formatCheckpoint,
  formatNote,
  formatVkey,
  noteSigner,
  rootOfHashes,
  signatureLine,
  toHex,
  UnusableTrust,
  verifyPack,
  withComparison
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { describe, expect, it } from "vitest"
import type { Chain } from "./chain.ts"
import { checkpointNote, makeChain, sealAll } from "./chain.ts"
import { check, codesOf, linesOf, makePack, packOf, reseal } from "./packs.ts"

const chain = makeChain({ seed: 31, length: 9 })
const nowS = 1_795_219_200
const witness = (n: number, timeS = nowS) =>
  cosigner(nodeCrypto, { name: `witness${n}.example`, seed: new Uint8Array(32).fill(100 + n), timeS })
const [w1, w2, w3] = [witness(1, nowS - 3600), witness(2, nowS - 60), witness(3)]
const policy = (quorum: string, ...more: ReadonlyArray<string>): string =>
  [
    `log ${chain.signer.vkey}`,
    `witness a ${w1.vkey}`,
    `witness b ${w2.vkey}`,
    `witness c ${w3.vkey}`,
    "group two 2 a b c",
    ...more,
    `quorum ${quorum}`,
    ""
  ].join("\n")
const cosigned = (...witnesses: ReadonlyArray<ReturnType<typeof witness>>) =>
  makePack(chain, {
    kind: "full",
    note: checkpointNote(
      chain,
      9,
      witnesses.map((one) => one.line)
    )
  })
const plain = await makePack(chain, { kind: "full" })

describe("pinned keys", () => {
  const report = (vkeys: ReadonlyArray<string>, pack = plain) => verifyPack(nodeCrypto, [pack], { vkeys })
  const stranger = noteSigner(nodeCrypto, { name: chain.origin, seed: new Uint8Array(32).fill(50) })

  it("of the log make the pack good (exit 0); without one the exit is 2", async () => {
    expect(await report([chain.signer.vkey])).toMatchObject({
      exit: 0,
      verdicts: { authenticity: "signed_by_pinned_key" },
      keys: [{ role: "log", pinned: true }]
    })
    expect(await report([])).toMatchObject({
      exit: 2,
      findings: [],
      verdicts: { authenticity: "signed_by_unpinned_key" },
      keys: [{ role: "log", pinned: false }]
    })
  })

  it("of other signers do not make it good", async () => {
    const other = await report([stranger.vkey])
    expect([other.exit, codesOf(other), other.findings.map((finding) => finding.line)]).toEqual([
      2,
      ["E_KEY_UNKNOWN"],
      [3, plain.filter((byte) => byte === 10).length]
    ])
    expect(other.counts.ignored_signatures).toBe(0)
    const foreign = await report([formatVkey("flyball.example/other", chain.signer.publicKey)])
    expect([foreign.exit, codesOf(foreign)]).toEqual([2, ["E_KEY_UNKNOWN"]])
    expect(foreign.not_checked.join()).toContain("of another origin and was ignored")
    expect((await report([stranger.vkey, chain.signer.vkey])).exit).toBe(0)
  })

  it("given only by hints or records verify a signature as unpinned; without any the note is unsigned", async () => {
    const range = await makePack(chain, { kind: "range", from: 1, to: 3 })
    expect(await report([], range)).toMatchObject({
      exit: 2,
      verdicts: { authenticity: "unsigned" },
      counts: { ignored_signatures: 2 }
    })
    expect(
      await report([], await makePack(chain, { kind: "range", from: 1, to: 3, hints: [chain.signer.vkey] }))
    ).toMatchObject({ exit: 2, verdicts: { authenticity: "signed_by_unpinned_key" } })
    const forged = checkpointNote(chain, 9).replace(
      / [^ ]+\n$/,
      ` ${signatureLine("x", chain.signer.keyId, new Uint8Array(64)).split(" ")[2]}`
    )
    expect(await report([], await makePack(chain, { kind: "full", note: forged }))).toMatchObject({
      exit: 1,
      verdicts: { authenticity: "bad_signature" }
    })
  })

  it("may sign together with others, and a rotation is reported but not followed", async () => {
    const text = formatCheckpoint({
      origin: chain.origin,
      size: 9,
      root: rootOfHashes(
        nodeCrypto,
        chain.records.map((record) => record.hash)
      )
    })
    const both = await makePack(chain, {
      kind: "full",
      note: formatNote(text, [chain.signer.line(text), stranger.line(text)])
    })
    expect(await report([chain.signer.vkey], both)).toMatchObject({ exit: 0, counts: { ignored_signatures: 1 } })
    const rotated: Chain = {
      ...chain,
      records: sealAll([
        ...chain.records.slice(0, 8),
        {
          ...chain.records[8]!,
          kind: "key.rotated",
          body: { from_key_id: chain.signer.keyIdHex, to_vkey: stranger.vkey },
          parts: []
        }
      ])
    }
    const seen = await check(await makePack(rotated, { kind: "full" }), rotated)
    expect(seen.not_checked.join()).toContain(
      `record 8 rotates the key from ${chain.signer.keyIdHex} to ${stranger.keyIdHex}`
    )
    const after = { ...rotated, signer: stranger, seed: new Uint8Array(32).fill(50) }
    expect(await check(await makePack(after, { kind: "full" }), chain)).toMatchObject({
      exit: 2,
      verdicts: { authenticity: "signed_by_unpinned_key" }
    })
  })

  it("that are invalid are refused before the pack is read", async () => {
    const never = (function* (): Generator<Uint8Array> {
      throw new Error("the pack was read")
    })()
    for (const options of [
      { vkeys: ["x"] },
      { vkeys: [formatVkey(chain.origin, new Uint8Array(32))] },
      { vkeys: [formatVkey(chain.origin, chain.signer.publicKey, 2)] },
      { policy: "quorum x\n" },
      { trustedCheckpoint: "x" }
    ]) {
      await expect(verifyPack(nodeCrypto, never, options)).rejects.toThrow(UnusableTrust)
    }
  })
})

describe("a policy", () => {
  const under = async (text: string, pack: Uint8Array, options: VerifyOptions = {}): Promise<Report> =>
    verifyPack(nodeCrypto, [pack], { policy: text, ...options })

  it("is met by its quorum of witnesses, and by no fewer", async () => {
    expect(await under(policy("two"), await cosigned(w1, w2))).toMatchObject({
      exit: 0,
      verdicts: { anchoring: "witnessed" },
      cosignatures: [{ name: "witness1.example" }, { name: "witness2.example" }]
    })
    expect(await under(policy("two"), await cosigned(w1, w1))).toMatchObject({
      exit: 2,
      verdicts: { anchoring: "none" }
    })
    const unmet = await under(policy("two"), plain)
    expect(unmet).toMatchObject({ exit: 2, findings: [], verdicts: { integrity: "ok", anchoring: "none" } })
    expect(unmet.not_checked[0]).toContain("quorum is not reached: 0 of 3")
    expect(await under(policy("none"), plain)).toMatchObject({ exit: 0, verdicts: { anchoring: "none" } })
    expect(await under(policy("none"), await cosigned(w3))).toMatchObject({
      exit: 0,
      verdicts: { anchoring: "none" },
      cosignatures: [{ name: "witness3.example" }]
    })
  })

  it("without a log leaves the log to --vkey", async () => {
    const text = policy("two").replace(/^log .*\n/, "")
    expect(await under(text, await cosigned(w1, w2))).toMatchObject({
      exit: 2,
      verdicts: { authenticity: "signed_by_unpinned_key", anchoring: "witnessed" }
    })
    expect(await under(text, await cosigned(w1, w2), { vkeys: [chain.signer.vkey] })).toMatchObject({ exit: 0 })
  })

  it("counts no cosignature that does not verify, and reports it as bad", async () => {
    const bad = (text: string): string => w2.line(text.replace("9\n", "8\n"))
    const report = await under(
      policy("a"),
      await makePack(chain, { kind: "full", note: checkpointNote(chain, 9, [w1.line, bad]) })
    )
    expect([report.exit, codesOf(report), report.verdicts.authenticity]).toEqual([
      1,
      ["E_CHECKPOINT_SIG"],
      "bad_signature"
    ])
  })

  it("is not needed for one witness whose key is given", async () => {
    const pack = await cosigned(w1)
    expect(await check(pack, chain, { vkeys: [chain.signer.vkey, w1.vkey] })).toMatchObject({
      exit: 0,
      verdicts: { anchoring: "witnessed" },
      keys: [{ role: "log" }, { role: "witness", pinned: true }]
    })
    expect(await check(pack, chain)).toMatchObject({
      exit: 0,
      verdicts: { anchoring: "none" },
      counts: { ignored_signatures: 1 }
    })
  })
})

describe("freshness", () => {
  const aged = (pack: Uint8Array, maxAgeMs: number, options: VerifyOptions = {}) =>
    verifyPack(nodeCrypto, [pack], {
      vkeys: [chain.signer.vkey, w1.vkey, w2.vkey],
      maxAgeMs,
      nowMs: nowS * 1000,
      ...options
    })

  it("is the age of the newest cosignature", async () => {
    expect(await aged(await cosigned(w1, w2), 60_000)).toMatchObject({ exit: 0, verdicts: { anchoring: "witnessed" } })
    const stale = await aged(await cosigned(w1), 3_599_000)
    expect([stale.exit, codesOf(stale), stale.verdicts.anchoring]).toEqual([2, ["E_KEY_UNKNOWN", "E_STALE"], "stale"])
    const none = await aged(plain, 3_600_000)
    expect([none.exit, codesOf(none), none.verdicts.anchoring]).toEqual([2, ["E_KEY_UNKNOWN", "E_STALE"], "none"])
  })

  it("is not proven by a cosignature from the future, and needs a clock", async () => {
    expect(await aged(await cosigned(w2), 60_000, { nowMs: (nowS - 7200) * 1000 })).toMatchObject({ exit: 2 })
    await expect(verifyPack(nodeCrypto, [plain], { maxAgeMs: 1 })).rejects.toThrow("nowMs")
  })
})

describe("a trusted checkpoint", () => {
  const trusting = (note: string, pack = plain, options: VerifyOptions = {}) =>
    check(pack, chain, { trustedCheckpoint: note, ...options })
  const fork: Chain = {
    ...chain,
    records: sealAll(
      chain.records.map((record, seq) => (seq === 3 ? { ...record, body: { agent_id: "agt_else" } } : record))
    )
  }

  it("of every smaller size is continued by a full pack", async () => {
    for (let size = 0; size <= 9; size++) {
      expect(await trusting(checkpointNote(chain, size)), `size ${size}`).toMatchObject({
        exit: 0,
        findings: [],
        verdicts: { anchoring: "consistent_with_trusted_checkpoint" }
      })
    }
  })

  it("of another history is a split view, at every size where they differ", async () => {
    for (let size = 4; size <= 9; size++) {
      const report = await trusting(checkpointNote(fork, size))
      expect([report.exit, codesOf(report), report.verdicts.integrity], `size ${size}`).toEqual([
        1,
        ["E_SPLIT_VIEW"],
        "broken"
      ])
    }
    expect((await trusting(checkpointNote(fork, 3))).exit).toBe(0)
  })

  it("that is larger means that the end of the chain is missing", async () => {
    const longer = makeChain({ seed: 31, length: 12 })
    const report = await trusting(checkpointNote({ ...longer, signer: chain.signer }))
    expect([report.exit, codesOf(report), report.verdicts.completeness]).toEqual([2, ["E_ROLLBACK"], "truncated"])
    const empty = await check(await makePack(chain, { kind: "full", note: checkpointNote(chain, 9) }), chain, {
      trustedCheckpoint: checkpointNote({ ...longer, signer: chain.signer }),
      requireCompleteness: "full"
    })
    expect(empty.exit).toBe(2)
  })

  it("is compared with a range or sparse pack only through the older checkpoint in it", async () => {
    const range = await makePack(chain, { kind: "range", from: 2, to: 6 })
    const undecided = await trusting(checkpointNote(chain, 5), range)
    expect([undecided.exit, undecided.findings, undecided.verdicts.anchoring]).toEqual([2, [], "none"])
    expect(undecided.not_checked[0]).toContain("could not be compared")
    for (const kind of ["range", "sparse"] as const) {
      const with5 = await makePack(chain, { kind, from: 2, to: 6, older: 5 })
      expect(await trusting(checkpointNote(chain, 5), with5)).toMatchObject({
        exit: 0,
        verdicts: { anchoring: "consistent_with_trusted_checkpoint" }
      })
      expect(codesOf(await trusting(checkpointNote(fork, 5), with5))).toEqual(["E_SPLIT_VIEW"])
    }
  })

  it("is checked with the pinned keys, and accepted without any", async () => {
    const stranger = {
      ...chain,
      signer: noteSigner(nodeCrypto, { name: chain.origin, seed: new Uint8Array(32).fill(50) })
    }
    const unknown = await trusting(checkpointNote(stranger, 5))
    expect([unknown.exit, codesOf(unknown), unknown.verdicts.anchoring]).toEqual([2, ["E_KEY_UNKNOWN"], "none"])
    const forged = await trusting(checkpointNote(chain, 5).replace("\n5\n", "\n6\n"))
    expect([forged.exit, codesOf(forged)]).toEqual([1, ["E_CHECKPOINT_SIG"]])
    expect(await trusting(checkpointNote(stranger, 5), plain, { vkeys: [] })).toMatchObject({
      exit: 2,
      findings: [],
      verdicts: { anchoring: "consistent_with_trusted_checkpoint" }
    })
    const other = makeChain({ seed: 31, length: 9, origin: "flyball.example/other" })
    expect(codesOf(await trusting(checkpointNote(other, 5)))).toEqual(["E_ORIGIN"])
  })

  it("is not compared with records that do not fit their own checkpoint", async () => {
    const pack = await makePack(fork, { kind: "full", note: checkpointNote(chain) })
    const report = await trusting(checkpointNote(chain, 5), pack)
    expect(codesOf(report)).toEqual(["E_ROOT"])
    expect(report.verdicts.anchoring).toBe("none")
  })
})

describe("two packs", () => {
  const fork: Chain = {
    ...chain,
    records: sealAll(
      chain.records.map((record, seq) => (seq === 3 ? { ...record, body: { agent_id: "agt_else" } } : record))
    )
  }
  const shorter: Chain = { ...chain, records: chain.records.slice(0, 6) }
  const compare = async (one: Uint8Array, other: Uint8Array) => {
    const rootsAt = [2, 3, 4, 5, 6, 7, 8, 9]
    const [a, b] = [await check(one, chain, { rootsAt }), await check(other, chain, { rootsAt })]
    const comparison = compareHistories(a, b)
    return { outcome: comparison.outcome, ...withComparison(a, b, comparison) }
  }

  it("of one history compare well in either order", async () => {
    const short = await makePack(shorter, { kind: "full" })
    for (const [a, b] of [
      [plain, short],
      [short, plain],
      [plain, plain]
    ] as const)
      expect(await compare(a, b)).toMatchObject({ outcome: "one history", exit: 0 })
    const range = await makePack(chain, { kind: "range", from: 2, to: 6, older: 6 })
    expect(await compare(range, short)).toMatchObject({ outcome: "one history", exit: 0 })
  })

  it("with two signed heads are a split view, and the report says what to do", async () => {
    const report = await compare(plain, await makePack(fork, { kind: "full" }))
    expect(report).toMatchObject({
      outcome: "split view",
      exit: 1,
      verdicts: { integrity: "broken", completeness: "not_checked" }
    })
    expect(codesOf(report)).toEqual(["E_SPLIT_VIEW"])
    expect(report.statement).toContain("Keep both packs")
    const shortFork = await makePack({ ...fork, records: fork.records.slice(0, 6) }, { kind: "full" })
    expect((await compare(plain, shortFork)).outcome).toBe("split view")
    expect((await compare(shortFork, plain)).outcome).toBe("split view")
  })

  it("with a second history by another signer are undecided (exit 2)", async () => {
    const seed = new Uint8Array(32).fill(50)
    const forger = { ...fork, seed, signer: noteSigner(nodeCrypto, { name: chain.origin, seed }) }
    const forged = await makePack(forger, { kind: "full", hints: [forger.signer.vkey] })
    expect((await check(forged, chain, { vkeys: [] })).verdicts.authenticity).toBe("signed_by_unpinned_key")
    for (const [a, b] of [
      [plain, forged],
      [forged, plain]
    ] as const) {
      const report = await compare(a, b)
      expect([report.outcome, report.exit, codesOf(report).includes("E_SPLIT_VIEW")]).toEqual(["undecided", 2, false])
      expect(report.not_checked[0]).toContain("may be somebody else's work")
      expect(report.statement).not.toContain("two different histories")
    }
    const unpinned = async (one: Uint8Array, other: Uint8Array) => {
      const [a, b] = [await check(one, chain, { vkeys: [] }), await check(other, chain, { vkeys: [] })]
      return withComparison(a, b, compareHistories(a, b))
    }
    expect((await unpinned(plain, forged)).exit).toBe(2)
    // One key that signed both contradicts itself.
    const contradiction = await unpinned(plain, await makePack(fork, { kind: "full" }))
    expect([contradiction.exit, codesOf(contradiction)]).toEqual([1, ["E_SPLIT_VIEW"]])
    expect(contradiction.statement).toContain("which nobody pinned")
  })

  it("are a split view even where one of them was closed wrongly", async () => {
    const lines = linesOf(await makePack(fork, { kind: "full" }))
    const closedWrongly = packOf([...lines.slice(0, -1), linesOf(plain).at(-1)!.replace(/.{8}$/, "AAAAAAo=")])
    const report = await compare(plain, closedWrongly)
    expect([report.outcome, report.exit]).toEqual(["split view", 1])
  })

  it("keep every code in a full list of findings", () => {
    const finding = (code: FindingCode) => ({ code, line: 1, seq: null, expected: "", found: "" })
    const findings = [...Array.from({ length: 99 }, () => finding("E_PREV")), finding("E_ROOT")]
    const report = {
      findings,
      findingCount: 100,
      verdicts: { completeness: "full" },
      not_checked: [],
      origin: chain.origin,
      exit: 1
    } as unknown as Report
    const added = withComparison(
      report,
      { ...report, findings: [], exit: 0 },
      { outcome: "split view", signer: { pinned: true }, size: 1, rootHex: "", otherRootHex: "" }
    )
    expect([added.findings.length, added.findingCount, codesOf(added)]).toEqual([
      100,
      101,
      ["E_PREV", "E_ROOT", "E_SPLIT_VIEW"]
    ])
  })

  it("that cannot be compared are reported as such (exit 2)", async () => {
    const other = makeChain({ seed: 31, length: 9, origin: "flyball.example/other" })
    expect(await compare(plain, await makePack(other, { kind: "full" }))).toMatchObject({
      outcome: "undecided",
      exit: 2
    })
    expect(
      await compare(await makePack(chain, { kind: "range", from: 2, to: 6 }), await makePack(shorter, { kind: "full" }))
    ).toMatchObject({ outcome: "undecided", exit: 2 })
    expect(await compare(plain, new Uint8Array(3))).toMatchObject({ outcome: "undecided", exit: 3 })
    const nobody = {
      ...fork,
      signer: noteSigner(nodeCrypto, { name: chain.origin, seed: new Uint8Array(32).fill(50) })
    }
    expect(await compare(plain, await makePack(nobody, { kind: "range", from: 1, to: 3 }))).toMatchObject({
      outcome: "undecided",
      exit: 2
    })
  })
})

describe("the statement", () => {
  const seed = new Uint8Array(32).fill(50)
  const stranger = noteSigner(nodeCrypto, { name: chain.origin, seed })
  /** The checkpoint is the log's, the closing note somebody else's. */
  const closedByStranger = (hints: ReadonlyArray<string>): Promise<Uint8Array> =>
    makePack({ ...chain, seed, signer: stranger }, { kind: "full", hints, note: checkpointNote(chain) })

  it("does not say that a signed checkpoint carries no signature", async () => {
    const report = await check(await closedByStranger([]), chain)
    expect([report.exit, report.verdicts.authenticity]).toEqual([2, "unsigned"])
    expect(report.statement).toContain(
      "but the checkpoint or the pack as a whole carries no signature that could be checked"
    )
  })

  it("does not call a pinned key unpinned", async () => {
    const report = await check(await closedByStranger([stranger.vkey]), chain)
    expect([report.exit, report.verdicts.authenticity]).toEqual([2, "signed_by_unpinned_key"])
    expect(report.statement).toContain(`signed in part by key ${toHex(stranger.keyId)}, which nobody pinned`)
  })

  it("names the unreadable line after any earlier findings", async () => {
    const lines = linesOf(plain)
    const report = await check(packOf([...lines.slice(0, 4), lines[5]!, "?"]), chain)
    expect(codesOf(report)).toEqual(["E_FORMAT", "E_SEQ"])
    expect(report.statement).toContain("2 findings, the last: E_FORMAT at line 6")
  })
})

it("the finding codes are the 22 of the format", () => expect(findingCodes).toHaveLength(22))

describe("a range to the end that calls itself full", () => {
  const late = async (from: number) =>
    reseal(
      chain,
      linesOf(await makePack(chain, { kind: "range", from, to: 8 })).map((line) =>
        line.replace('"kind":"range"', '"kind":"full"')
      )
    )

  it("has no root of an earlier size, and is compared with none", async () => {
    for (const from of [1, 4, 8]) {
      const pack = await late(from)
      for (let size = 0; size <= 9; size++) {
        const report = await check(pack, chain, { trustedCheckpoint: checkpointNote(chain, size), rootsAt: [2, 5, 9] })
        expect([report.exit, codesOf(report), [...report.roots.keys()]]).toEqual([1, ["E_COUNT"], [9]])
      }
      const [one, other] = [await check(pack, chain, { rootsAt: [6, 9] }), await check(plain, chain, { rootsAt: [9] })]
      for (const [a, b] of [
        [one, other],
        [other, one]
      ] as const)
        expect(withComparison(a, b, compareHistories(a, b))).toMatchObject({ exit: 1 })
    }
  })
})
