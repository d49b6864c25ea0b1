/** Nothing that a pack, a note, a key or a path says reaches a terminal as anything but visible text. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  concatBytes,
  cosigner,
  encodeRecord,
  formatCheckpoint,
  formatNote,
  NO_RECORD,
  noteSigner,
  packLines,
  rootOfHashes,
  signatureLine,
  utf8
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { afterAll, describe, expect, it } from "vitest"
import { printable, printableLines } from "./printable.ts"
import { run } from "../run.ts"

const scratch = mkdtempSync(join(tmpdir(), "flyball-printable-"))
afterAll(() => rmSync(scratch, { recursive: true }))

/** DEL, an escape sequence of C1, bidi marks, a line separator, a tag character, private use. */
const EVIL = "\u007f\u009b2J\u202e\u2066\u200f\ufeff\u{e0041}\ue000"
const STEERING = /[^\P{Cc}\n]|[\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/u

const origin = "flyball.example/printable"
const seed = new Uint8Array(32).fill(1)
const signer = noteSigner(nodeCrypto, { name: origin, seed })
const witness = cosigner(nodeCrypto, { name: `w${EVIL}`, seed: new Uint8Array(32).fill(2), timeS: 1_795_219_200 })

/** A pack of record 0 alone. `mark` makes another history. */
const packed = async (
  name: string,
  lines: ReadonlyArray<(text: string) => string>,
  mark: object = {}
): Promise<string> => {
  const at = "2026-11-21T00:00:00.000Z"
  const parts = [{ c: "0".repeat(64), name: "reason", ...mark }]
  const record = encodeRecord({
    at,
    body: { hash: "sha256-rfc6962", origin, vkeys: [signer.vkey] },
    kind: "chain.genesis",
    parts,
    prev: NO_RECORD,
    seq: 0
  })
  const text = formatCheckpoint({ origin, size: 1, root: rootOfHashes(nodeCrypto, [nodeCrypto.leafHash(record)]) })
  const out = packLines(nodeCrypto, origin)
  const header = {
    created: at,
    filter: { run_id: EVIL },
    from: 0,
    generator: EVIL,
    kind: "full",
    to: 0,
    tree_size: 1
  } as const
  const note = formatNote(
    text,
    [signer, ...lines.map((line) => ({ line }))].map(({ line }) => line(text))
  )
  const body = [out.open(header, note, { hints: [EVIL] }), out.record(record), out.range(0, 0, [], [])]
  const closed = await out.close((message) => nodeCrypto.ed25519Sign(seed, message), origin, signer.keyId)
  const path = join(scratch, name)
  writeFileSync(path, concatBytes(...body, closed.bytes))
  return path
}

const call = async (...args: ReadonlyArray<string>) => {
  let printed = ""
  const take = async (text: string): Promise<void> => void (printed += text)
  const status = await run(args, { out: take, err: take, nowMs: () => Date.UTC(2026, 10, 21), isTerminal: false })
  return { status, printed }
}

const stranger = () => signatureLine(`x${EVIL}`, Uint8Array.of(1, 2, 3, 4), new Uint8Array(64))
const badly = () => signatureLine(witness.name, witness.keyId, new Uint8Array(72))

describe("what the command prints", () => {
  it.each<[string, number, () => Promise<ReadonlyArray<string>>]>([
    [
      "of a witness that cosigned",
      0,
      async () => [await packed("a.evp", [witness.line]), "--vkey", signer.vkey, "--vkey", witness.vkey]
    ],
    [
      "of one that did not",
      2,
      async () => [await packed("a.evp", [stranger]), "--vkey", signer.vkey, "--vkey", witness.vkey]
    ],
    [
      "of one whose cosignature is wrong",
      1,
      async () => [await packed("a.evp", [badly]), "--vkey", signer.vkey, "--vkey", witness.vkey]
    ],
    [
      "of a policy",
      2,
      async () => {
        const policy = join(scratch, "policy")
        // A policy holds no DEL. Its names are bytes, so the C1 of it is a byte alone too.
        const name = concatBytes(utf8(`a${EVIL.slice(1)}`), Uint8Array.of(0x9b))
        const { vkey } = cosigner(nodeCrypto, { name: `w${EVIL.slice(1)}`, seed: new Uint8Array(32).fill(3), timeS: 0 })
        writeFileSync(
          policy,
          concatBytes(utf8(`log ${signer.vkey}\nwitness `), name, utf8(` ${vkey}\nquorum `), name, utf8("\n"))
        )
        return [await packed("a.evp", [stranger]), "--policy", policy]
      }
    ],
    [
      "of two histories, with their notes",
      1,
      async () => [
        await packed("a.evp", [stranger]),
        "--vkey",
        signer.vkey,
        "--compare",
        await packed("b.evp", [stranger], { c: "1".repeat(64) })
      ]
    ],
    [
      "with replay and bodies",
      2,
      async () =>
        [await packed("a.evp", []), "--vkey", signer.vkey, "--replay", "--bodies"].filter(
          (flag) => flag !== "--vkey" && flag !== signer.vkey
        )
    ],
    ["of a path", 2, async () => [await packed(`${EVIL}\n.evp`, [])]],
    ["of a path that is not there", 4, async () => [join(scratch, `${EVIL}\n`)]],
    ["of a flag that is none", 4, async () => [`--${EVIL}\n`]]
  ])("%s is visible text alone, as text and as JSON", async (_, status, args) => {
    const given = await args()
    for (const flags of [[], ["--json"]]) {
      const called = await call(...given, ...flags)
      expect(called.status, called.printed).toBe(status)
      expect(called.printed).not.toBe("")
      expect(called.printed).not.toMatch(STEERING)
    }
  })

  it("says in JSON what was read, and in text where something stood", async () => {
    const file = await packed(`${EVIL}.evp`, [witness.line])
    const json = JSON.parse((await call(file, "--vkey", signer.vkey, "--vkey", witness.vkey, "--json")).printed) as {
      readonly file: string
      readonly keys: ReadonlyArray<object>
    }
    expect(json.file).toBe(file)
    expect(json.keys).toContainEqual({ key_id: expect.any(String), name: witness.name, role: "witness", pinned: true })
    expect((await call(file)).printed).toContain(
      "\\u007f\\u009b2J\\u202e\\u2066\\u200f\\ufeff\\udb40\\udc41\\ue000.evp"
    )
  })
})

describe("printable text", () => {
  it("keeps what is visible, and newlines only where lines are meant", () => {
    expect(printable("Zürich, 東京 — ok\n")).toBe("Zürich, 東京 — ok\\u000a")
    expect(printableLines("a\n\tb\r\n")).toBe("a\n\\u0009b\\u000d\n")
    expect(printable("\ud800")).toBe("\\ud800")
  })
})
