/** Notes, keys and checkpoints against published ones. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { fromHex, toHex, utf8 } from "../bytes.ts"
import { parseCheckpoint, parseGeneralCheckpoint } from "../checkpoint/checkpoint.ts"
import { portableCrypto } from "../crypto.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { formatNote, MAX_NOTE_SIGNATURES, parseNote, signatureLine } from "./note.ts"
import { cosigner, noteSigner } from "../checkpoint/sign.ts"
import { verifyNote } from "./verify-note.ts"
import { checkVkey, formatVkey, isVerifiable, keyIdOf, parseVkey } from "./vkey.ts"

const folder = new URL("../../../../fixtures/vectors/", import.meta.url)
const json = (name: string): unknown => JSON.parse(readFileSync(new URL(name, folder), "utf8"))

interface NoteCase {
  readonly id: string
  readonly kind: string
  readonly note: string
  readonly vkeys: ReadonlyArray<string>
  readonly origin?: string
  readonly expect: "valid" | "invalid"
}

const readKeys = (vkeys: ReadonlyArray<string>) =>
  vkeys.map((text) => {
    const parsed = parseVkey(text)
    if (!parsed.ok) throw new Error(parsed.reason)
    return parsed.vkey
  })

const readNote = (text: string) => {
  const parsed = parseNote(utf8(text))
  if (!parsed.ok) throw new Error(parsed.reason)
  return parsed.note
}

describe("published notes", () => {
  for (const one of json("checkpoints/notes.json") as ReadonlyArray<NoteCase>) {
    for (const crypto of [portableCrypto, nodeCrypto]) {
      it(`${one.id}, ${crypto.name}`, () => {
        const note = readNote(one.note)
        const keys = readKeys(one.vkeys)
        const judged = verifyNote(crypto, note, keys)
        if (keys.every(isVerifiable)) {
          expect(keys.map((key) => checkVkey(crypto, key))).toEqual(keys.map(() => null))
          expect(judged.verified).toHaveLength(keys.length)
          expect(judged.bad).toEqual([])
          expect(judged.ignored).toHaveLength(note.signatures.length - keys.length)
        } else {
          // ECDSA: not a type that we verify, so its lines are ignored, and never called good.
          expect(judged).toEqual({ verified: [], bad: [], ignored: note.signatures })
        }
        if (one.origin !== undefined)
          expect(parseGeneralCheckpoint(note.text)).toMatchObject({ ok: true, checkpoint: { origin: one.origin } })
        expect(
          formatNote(
            note.text,
            note.signatures.map((line) => signatureLine(line.name, line.keyId, line.signature))
          )
        ).toBe(one.note)
      })
    }
  }

  it("the time of a witness is read", () => {
    const one = (json("checkpoints/notes.json") as ReadonlyArray<NoteCase>).find(
      (note) => note.id === "skylight-witness-cosig"
    )!
    expect(verifyNote(nodeCrypto, readNote(one.note), readKeys(one.vkeys)).verified[0]!.timeS).toBe(0x69546780)
  })

  it("a changed text, a changed signature and a changed time do not verify", () => {
    for (const one of json("checkpoints/notes.json") as ReadonlyArray<NoteCase>) {
      if (!one.kind.includes("ed25519") && !one.kind.includes("0x04")) continue
      const note = readNote(one.note)
      const keys = readKeys(one.vkeys)
      const textBytes = note.textBytes.slice()
      textBytes[3]! ^= 1
      expect(verifyNote(nodeCrypto, { ...note, textBytes }, keys)).toMatchObject({ verified: [], bad: [{}] })
      for (let i = 0; i < note.signatures.at(-1)!.signature.length; i += 5) {
        const signatures = note.signatures.map((line) => ({
          ...line,
          signature: line.signature.with(
            Math.min(i, line.signature.length - 1),
            line.signature[Math.min(i, line.signature.length - 1)]! ^ 1
          )
        }))
        expect(verifyNote(nodeCrypto, { ...note, signatures }, keys).verified).toEqual([])
      }
    }
  })
})

describe("published checkpoint bodies and vkeys", () => {
  const cases = json("checkpoints/parse-cases.json") as {
    readonly checkpoint_body: ReadonlyArray<{ readonly desc: string; readonly body: string; readonly ok: boolean }>
    readonly vkey: ReadonlyArray<{ readonly desc: string; readonly vkey: string; readonly ok: boolean }>
  }
  for (const one of cases.checkpoint_body) it(one.desc, () => expect(parseGeneralCheckpoint(one.body).ok).toBe(one.ok))
  for (const one of cases.vkey) it(one.desc, () => expect(parseVkey(one.vkey).ok).toBe(one.ok))
})

describe("a checkpoint of format 1", () => {
  const root = Buffer.alloc(32, 7).toString("base64")
  it("has an origin, a size and a root of 32 bytes, and nothing more", () => {
    expect(parseCheckpoint(`a.example/x\n5\n${root}\n`)).toMatchObject({
      ok: true,
      checkpoint: { origin: "a.example/x", size: 5 }
    })
    for (const text of [
      `a.example/x\n5\n${root}`,
      `a.example/x\n05\n${root}\n`,
      `a.example/x\n-5\n${root}\n`,
      `a.example/x\n9007199254740992\n${root}\n`,
      `a.example/x\n5 \n${root}\n`,
      `a example\n5\n${root}\n`,
      `a+b\n5\n${root}\n`,
      `${"a".repeat(256)}\n5\n${root}\n`,
      `é\n5\n${root}\n`,
      `\n5\n${root}\n`,
      `a.example/x\n5\n${root.slice(0, -4)}\n`,
      `a.example/x\n5\n${root.replace("=", "")}\n`,
      `a.example/x\n5\n${root}\nextension\n`
    ])
      expect(parseCheckpoint(text).ok, JSON.stringify(text)).toBe(false)
  })
})

describe("a note", () => {
  const signer = noteSigner(portableCrypto, { name: "log.example/a", seed: new Uint8Array(32).fill(1) })
  const text = "log.example/a\nanything\n"
  const good = formatNote(text, [signer.line(text)])

  it("made here is read and verified here", () => {
    const note = readNote(good)
    expect(note.text).toBe(text)
    expect(verifyNote(nodeCrypto, note, readKeys([signer.vkey])).verified).toHaveLength(1)
  })

  it("may hold empty lines in its text, which ends at the last one", () => {
    const long = `a\n\nb\n`
    expect(readNote(formatNote(long, [signer.line(long)])).text).toBe(long)
  })

  it("is refused in any other form", () => {
    const line = signer.line(text)
    const loose = line.replace(/=\n$/, "\n")
    for (const [bad, why] of [
      ["", "empty"],
      [text, "no signatures"],
      [`${text}\n`, "no signature line"],
      [good.slice(0, -1), "no last newline"],
      [good.replace("\u2014", "-"), "hyphen"],
      [good.replace("\u2014 ", "\u2014  "), "two spaces"],
      [`${good}x\n`, "rest"],
      [good.replace("anything", "any\tthing"), "control character"],
      [good.replace("\n\n", "\n"), "no empty line"],
      [`${text}\n${line.replace("log.example/a", "log+x")}`, "plus in a name"],
      [`${text}\n${line.replace("log.example/a", "log\u00a0x")}`, "space in a name"],
      [`${text}\n${loose}`, "base64 without padding"],
      [`${text}\n\u2014 a AAAA\n`, "no signature behind the key id"],
      [`${text}\n${line.repeat(MAX_NOTE_SIGNATURES + 1)}`, "too many lines"]
    ] as const)
      expect(parseNote(utf8(bad)).ok, why).toBe(false)
    expect(parseNote(Uint8Array.of(0xff, 0x0a)).ok).toBe(false)
    expect(parseNote(utf8(`${text}\n${line.repeat(MAX_NOTE_SIGNATURES)}`)).ok).toBe(true)
  })

  it("is judged line by line: unknown keys are ignored, a known key must verify", () => {
    const other = noteSigner(portableCrypto, { name: "log.example/a", seed: new Uint8Array(32).fill(2) })
    const witness = cosigner(portableCrypto, {
      name: "witness.example",
      seed: new Uint8Array(32).fill(3),
      timeS: 1_700_000_000
    })
    const forged = signatureLine(signer.name, signer.keyId, new Uint8Array(64).fill(9))
    const note = readNote(formatNote(text, [signer.line(text), other.line(text), witness.line(text), forged]))
    const judged = verifyNote(nodeCrypto, note, readKeys([signer.vkey, witness.vkey]))
    expect(judged.verified.map(({ timeS, vkey }) => [vkey.name, timeS])).toEqual([
      ["log.example/a", null],
      ["witness.example", 1_700_000_000]
    ])
    expect(judged.bad).toHaveLength(1)
    expect(judged.ignored).toHaveLength(1)
  })
})

describe("a vkey", () => {
  const publicKey = portableCrypto.ed25519PublicKey(new Uint8Array(32).fill(1))

  it("is written as the format's example has it", () => {
    const vkey = formatVkey("flyball.example/acme/prod", publicKey)
    expect(vkey).toBe("flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c")
    expect(toHex(keyIdOf(portableCrypto, "flyball.example/acme/prod", 1, publicKey))).toBe("512011be")
    expect(parseVkey(vkey)).toMatchObject({ ok: true, vkey: { name: "flyball.example/acme/prod", type: 1 } })
  })

  it("that cannot be used has another problem than one that cannot be read", () => {
    const unusable = (text: string) => checkVkey(portableCrypto, readKeys([text])[0]!)
    expect(unusable(formatVkey("a", publicKey))).toBeNull()
    expect(unusable(formatVkey("a", publicKey, 4))).toBeNull()
    expect(unusable(formatVkey("a", publicKey, 6))).toContain("0x06")
    expect(unusable(formatVkey("a", publicKey.subarray(1)))).toContain("public key")
    expect(unusable(formatVkey("a", new Uint8Array(32)))).toContain("public key")
    expect(unusable(formatVkey("a", fromHex("ed".padEnd(62, "f") + "7f")!))).toContain("public key")
    expect(unusable(formatVkey("a", publicKey).replace("a+", "b+"))).toContain("key id")
    for (const text of [
      "",
      "a",
      "a+512011be",
      "+512011be+AYqI",
      "a b+512011be+AYqI",
      "a+512011BE+AYqI",
      "a+512011b+AYqI",
      "a+512011be+",
      "a+512011be+AQ==",
      "a+512011be+A?=="
    ]) {
      expect(parseVkey(text).ok, text).toBe(false)
    }
  })
})
