/** Tests of how the command reports the chain before a recovered one. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  concatBytes,
  encodeRecord,
  formatCheckpoint,
  formatNote,
  NO_RECORD,
  noteSigner,
  packLines,
  type Previous,
  previousBytes,
  rootOfHashes,
  toHex,
  utf8
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { afterAll, describe, expect, it } from "vitest"
import { nodePackFile } from "./node-pack-file.ts"
import { followedChain } from "./previous-chain.ts"
import { run } from "./run.ts"

const origin = "flyball.example/acme~2"
const seed = new Uint8Array(32).fill(1)
const signer = noteSigner(nodeCrypto, { name: origin, seed })
const scratch = mkdtempSync(join(tmpdir(), "flyball-previous-"))
afterAll(() => rmSync(scratch, { recursive: true }))

const before = "flyball.example/acme"
const noteOf = (name: string): string => {
  const text = formatCheckpoint({ origin: name, size: 2, root: new Uint8Array(32) })
  return formatNote(text, [noteSigner(nodeCrypto, { name, seed }).line(text)])
}
const previous: Previous = {
  origin: before,
  checkpoint: noteOf(before),
  signedSize: 17,
  signedRootHex: "0a".repeat(32),
  storedSize: 14,
  storedRootHex: "0b".repeat(32)
}
const salt = new Uint8Array(32).fill(7)

interface Plan {
  readonly bytes?: Uint8Array
  readonly show?: "disclosed" | "withheld" | "erased"
  /** Another part of record 0, disclosed. */
  readonly beside?: string
}

/** A pack of two records; the second erases, where the plan says so. */
const packed = async ({ beside, bytes = previousBytes(previous), show = "disclosed" }: Plan = {}): Promise<string> => {
  const named = [
    ...(beside === undefined ? [] : [{ name: beside, bytes: utf8('"x"') }]),
    { name: "previous", bytes }
  ].sort((a, b) => (a.name < b.name ? -1 : 1))
  const at = "2026-11-21T00:00:00.000Z"
  const parts = named.map((part) => ({ c: toHex(nodeCrypto.commitment(salt, part.name, part.bytes)), name: part.name }))
  const first = encodeRecord({
    at,
    body: { hash: "sha256-rfc6962", origin, vkeys: [signer.vkey] },
    kind: "chain.genesis",
    parts,
    prev: NO_RECORD,
    seq: 0
  })
  const [kind, body] =
    show === "erased"
      ? (["part.erased", { name: "previous", reason: "retention", seq: 0 }] as const)
      : (["sample.made", {}] as const)
  const records = [first, encodeRecord({ at, body, kind, parts: [], prev: toHex(nodeCrypto.leafHash(first)), seq: 1 })]
  const text = formatCheckpoint({
    origin,
    size: 2,
    root: rootOfHashes(
      nodeCrypto,
      records.map((record) => nodeCrypto.leafHash(record))
    )
  })
  const lines = packLines(nodeCrypto, origin)
  const out = [
    lines.open(
      { created: at, filter: {}, from: 0, generator: "test/1", kind: "full", to: 1, tree_size: 2 },
      formatNote(text, [signer.line(text)])
    ),
    ...records.map((record) => lines.record(record)),
    lines.range(0, 1, [], [])
  ]
  for (const part of named)
    if (part.name !== "previous" || show === "disclosed") out.push(lines.disclosed(0, part.name, salt, part.bytes))
  if (show === "erased") out.push(lines.erased(0, "previous", 1))
  out.push((await lines.close((message) => nodeCrypto.ed25519Sign(seed, message), origin, signer.keyId)).bytes)
  const path = join(scratch, "a.evp")
  writeFileSync(path, concatBytes(...out))
  return path
}

const verified = async (path: string, ...flags: ReadonlyArray<string>) => {
  let out = ""
  const status = await run([path, "--vkey", signer.vkey, ...flags], {
    out: async (text) => void (out += text),
    err: async () => {},
    nowMs: () => 0,
    isTerminal: false
  })
  return { status, out }
}

describe("the chain before, in a pack of a recovered chain", () => {
  it("is reported, with status 0", async () => {
    for (const plan of [
      {},
      { beside: "a_part" },
      { beside: "reason" },
      { bytes: previousBytes({ ...previous, checkpoint: null, signedSize: 3, storedSize: 9 }) }
    ]) {
      const path = await packed(plan)
      const { out, status } = await verified(path)
      expect(status, out).toBe(0)
      expect(out).toContain(`Follows         ${before}.`)
      expect(JSON.parse((await verified(path, "--json")).out)).toMatchObject({
        not_checked: [],
        previous: { origin: before }
      })
      expect(await followedChain(nodePackFile(path))).toMatchObject({ origin: before })
    }
  })

  const text = new TextDecoder().decode(previousBytes(previous))
  it.each<[string, Plan, string]>([
    ["withheld", { show: "withheld" }, "does not show which"],
    ["withheld beside another part", { show: "withheld", beside: "reason" }, "does not show which"],
    ["withheld behind another part", { show: "withheld", beside: "a_part" }, "does not show which"],
    ["erased", { show: "erased" }, "does not show which"],
    ["in another form", { bytes: utf8(text.replace(/\}$/, ',"z":1}')) }, "not in the form"],
    ["in JSON that is not canonical", { bytes: utf8(text.replace(/\}$/, ',"stored_size":99}')) }, "not in the form"],
    [
      "with a checkpoint that is none",
      { bytes: previousBytes({ ...previous, checkpoint: "nonsense" }) },
      "not in the form"
    ],
    [
      "with a checkpoint of a third chain",
      { bytes: previousBytes({ ...previous, checkpoint: noteOf("flyball.example/other") }) },
      "not in the form"
    ],
    [
      "longer than such a part can be",
      { bytes: previousBytes({ ...previous, checkpoint: "x".repeat(40_000) }) },
      "not in the form"
    ]
  ])("%s is said plainly, with status 2", async (_, plan, sentence) => {
    const path = await packed(plan)
    const { out, status } = await verified(path)
    expect(status, out).toBe(2)
    expect(out).toContain("Follows         another chain")
    expect(out.replace(/\s+/g, " ")).toContain(sentence)
    const report = JSON.parse((await verified(path, "--json")).out) as { readonly not_checked: ReadonlyArray<string> }
    expect(report).toMatchObject({
      verdicts: { integrity: "ok", authenticity: "signed_by_pinned_key" },
      findings: [],
      previous: null
    })
    expect(report.not_checked[0]).toContain(sentence)
    expect((await verified(path, "--quiet")).status).toBe(2)
    expect(await followedChain(nodePackFile(path))).toBe("hidden")
  })
})
