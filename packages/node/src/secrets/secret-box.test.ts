import { execFileSync } from "node:child_process"
import { createDecipheriv } from "node:crypto"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { KeysUnreadable, SecretBox, SecretUnreadable } from "@flyball/core"
import { Effect } from "effect"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { memorySecretBox, openSecretBox, rotateSecretsKey, secretBox } from "./secret-box.ts"
import { seal, sealedBy, secretsKey, unseal } from "./sealed.ts"

let root: string
let dir: string
let file: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "flyball-"))
  dir = join(root, "data", "deeper")
  file = join(dir, "secrets.key")
})
afterEach(() => rm(root, { recursive: true, force: true }))

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const secret = bytes("whsec_c2VjcmV0")

describe("where keys cannot be meant to be", () => {
  test.each([
    [undefined, /secretBox: it takes an object/],
    [{}, /dir is a path, .* not undefined/],
    [{ dir: "" }, /dir is a path, .* not ""/],
    [{ file: "" }, /file is a path, .* not ""/],
    [{ file: 7 }, /file is a path, .* not 7/]
  ])("%j is refused, and no key is made", async (given, why) => {
    const options = given as unknown as Parameters<typeof secretBox>[0]
    for (const refused of [openSecretBox(options), rotateSecretsKey(options)]) {
      await expect(refused).rejects.toThrow(KeysUnreadable)
      await expect(refused).rejects.toThrow(why)
    }
    expect(await readdir(".")).not.toContain("secrets.key")
  })
})

describe("what is sealed", () => {
  const key = secretsKey(Uint8Array.from({ length: 32 }, (_, index) => index))

  test("is AES-256-GCM in version 1, and names its key", () => {
    expect(key.id).toBe("f03d02a6e17f294a")
    const sealed = seal(key, secret, "wh_1")
    expect([sealed.length, sealed[0], sealedBy(sealed)]).toEqual([1 + 8 + 12 + secret.length + 16, 1, key.id])
    // By hand, as another program would.
    const decipher = createDecipheriv("aes-256-gcm", key.bytes, sealed.subarray(9, 21))
      .setAAD(Buffer.concat([sealed.subarray(0, 9), Buffer.from("wh_1")]))
      .setAuthTag(sealed.subarray(-16))
    expect(Buffer.concat([decipher.update(sealed.subarray(21, -16)), decipher.final()]).toString()).toBe(
      "whsec_c2VjcmV0"
    )
    expect(unseal(key, sealed, "wh_1")).toEqual(secret)
    expect(seal(key, secret, "wh_1")).not.toEqual(sealed)
    expect(unseal(key, seal(key, new Uint8Array(), ""), "")).toEqual(new Uint8Array())
  })

  test("opens only for its owner, and only unchanged", () => {
    const sealed = seal(key, secret, "wh_1")
    for (const other of ["wh_2", "wh_1 ", "", "wh_", "WH_1"]) expect(unseal(key, sealed, other)).toBeNull()
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Uint8Array.from(sealed)
      changed[bit >> 3]! ^= 1 << (bit & 7)
      expect(unseal(key, changed, "wh_1")).toBeNull()
    }
    expect(unseal(secretsKey(new Uint8Array(32)), sealed, "wh_1")).toBeNull()
    expect([
      sealedBy(new Uint8Array()),
      sealedBy(sealed.subarray(0, 36)),
      sealedBy(Uint8Array.from([2, ...sealed.subarray(1)]))
    ]).toEqual([null, null, null])
  })
})

describe("a box over a file", () => {
  test("creates its file for its owner only, and opens secrets that another process sealed", async () => {
    const first = await openSecretBox({ dir })
    expect([(await stat(file)).mode & 0o777, (await stat(dir)).mode & 0o777, await readdir(dir)]).toEqual([
      0o600,
      0o700,
      ["secrets.key"]
    ])
    expect(await readFile(file, "utf8")).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
    const second = await openSecretBox({ file })
    expect([second.keyId, first.keyId]).toEqual([first.keyId, expect.stringMatching(/^[0-9a-f]{16}$/)])
    expect(await second.open(await first.seal(secret, "wh_1"), "wh_1")).toEqual(secret)
    await expect(second.open(await first.seal(secret, "wh_1"), "wh_2")).rejects.toThrow(SecretUnreadable)
  })

  test("has one key, however many processes start at once", async () => {
    const boxes = await Promise.all(Array.from({ length: 16 }, () => openSecretBox({ dir })))
    expect([new Set(boxes.map(({ keyId }) => keyId)).size, await readdir(dir)]).toEqual([1, ["secrets.key"]])
  })

  test("seals with the first key and opens with any key in the file", async () => {
    const before = await openSecretBox({ dir })
    const old = await before.seal(secret, "wh_1")
    const id = await rotateSecretsKey({ dir })
    const after = await openSecretBox({ dir })
    expect([
      after.keyId,
      after.keyId === before.keyId,
      (await readFile(file, "utf8")).split("\n").length,
      (await stat(file)).mode & 0o777
    ]).toEqual([id, false, 3, 0o600])
    expect(await after.open(old, "wh_1")).toEqual(secret)
    // The one that was running reads the file again for what a newer one sealed, and still opens what it sealed itself.
    await writeFile(file, (await readFile(file, "utf8")).split("\n")[0]!)
    expect(await before.open(await after.seal(secret, "wh_1"), "wh_1")).toEqual(secret)
    expect(await before.open(old, "wh_1")).toEqual(secret)
    await expect((await openSecretBox({ dir })).open(old, "wh_1")).rejects.toThrow(
      `sealed with the key ${before.keyId}`
    )
  })

  test("explains why bytes do not open", async () => {
    const box = await openSecretBox({ dir })
    const other = await openSecretBox({ dir: join(root, "other") })
    for (const [sealed, why] of [
      [new Uint8Array(3), /not a secret that was sealed here/],
      [await other.seal(secret, "wh_1"), /no such key/],
      [await box.seal(secret, "wh_9"), /another owner/]
    ] as const) {
      await expect(box.open(sealed, "wh_1")).rejects.toThrow(SecretUnreadable)
      await expect(box.open(sealed, "wh_1")).rejects.toMatchObject({ reason: expect.stringMatching(why) })
    }
  })

  test("takes a file that openssl made, and one with other line ends", async () => {
    await mkdir(dir, { recursive: true })
    await writeFile(
      file,
      execFileSync(process.execPath, ["-p", "require('crypto').randomBytes(32).toString('base64')"]),
      { mode: 0o600 }
    )
    const { keyId } = await openSecretBox({ file })
    await writeFile(
      file,
      (await readFile(file, "utf8")).replace("\n", "\r\n") + `${Buffer.alloc(32, 7).toString("base64")}\r\n`
    )
    expect((await openSecretBox({ file })).keyId).toBe(keyId)
  })

  test.each([
    [0o604, /everybody on this host/],
    [0o602, /everybody on this host/],
    [0o620, /its group may write/],
    [0o640, /its group may read/]
  ])("is refused when its mode is %s", async (mode, why) => {
    await openSecretBox({ dir })
    await chmod(file, mode)
    await expect(openSecretBox({ dir })).rejects.toThrow(KeysUnreadable)
    await expect(openSecretBox({ dir })).rejects.toThrow(why)
    await expect(rotateSecretsKey({ dir })).rejects.toThrow(/chmod 600/)
  })

  test("may be read by a group where somebody else put it, as mounted secrets are", async () => {
    await openSecretBox({ dir })
    await symlink(file, join(root, "mounted"))
    await chmod(file, 0o440)
    expect((await openSecretBox({ file: join(root, "mounted") })).keyId).toMatch(/^[0-9a-f]{16}$/)
    await chmod(file, 0o444)
    await expect(openSecretBox({ file: join(root, "mounted") })).rejects.toThrow(/everybody/)
  })

  const good = Buffer.alloc(32, 1).toString("base64")
  test.each([
    ["nothing", ""],
    ["a hexadecimal key", "00".repeat(32)],
    ["31 bytes", Buffer.alloc(31).toString("base64")],
    ["a remark", `# mine\n${good}\n`],
    ["an empty line", `${good}\n\n`],
    ["a space", `${good} \n`],
    ["bits behind the end", `${good.slice(0, 42)}F=\n`]
  ])("is refused when it holds %s, and never shown", async (_, text) => {
    await mkdir(dir, { recursive: true })
    await writeFile(file, text, { mode: 0o600 })
    const problem = await openSecretBox({ file }).then(
      () => null,
      (error: unknown) => error
    )
    expect(problem).toBeInstanceOf(KeysUnreadable)
    expect(String(problem)).toMatch(/each line is expected/)
    expect(String(problem)).not.toMatch(/AQEB|0000/)
    expect(await readFile(file, "utf8")).toBe(text)
  })

  test("is refused when a key is there twice, when there are too many, and when it is no file", async () => {
    await mkdir(dir, { recursive: true })
    await writeFile(file, `${good}\n${good}\n`, { mode: 0o600 })
    await expect(openSecretBox({ file })).rejects.toThrow(/twice/)
    await writeFile(
      file,
      Array.from({ length: 16 }, (_, index) => `${Buffer.alloc(32, index).toString("base64")}\n`).join("")
    )
    await expect(rotateSecretsKey({ file })).rejects.toThrow(/the most/)
    await writeFile(file, "x".repeat(10_000))
    await expect(openSecretBox({ file })).rejects.toThrow(/10000 bytes/)
    await expect(openSecretBox({ file: dir })).rejects.toThrow(/something else is there/)
    await expect(openSecretBox({ file: join(root, "nowhere", "secrets.key") })).rejects.toThrow(
      /the folder .* is not there/
    )
    execFileSync("mkfifo", ["-m", "600", join(root, "pipe")])
    await expect(openSecretBox({ file: join(root, "pipe") })).rejects.toThrow(/something else is there/)
  })
})

test("as layers: over a file, and in memory", async () => {
  const roundTrip = Effect.gen(function* () {
    const box = yield* SecretBox
    const sealed = yield* box.seal(secret, "wh_1")
    return [box.keyId, yield* box.open(sealed, "wh_1"), (yield* Effect.flip(box.open(sealed, "wh_2")))._tag]
  })
  const [fromFile, again] = [
    await Effect.runPromise(Effect.provide(roundTrip, secretBox({ dir }))),
    await Effect.runPromise(Effect.provide(roundTrip, secretBox({ dir })))
  ]
  const [memory, other] = [
    await Effect.runPromise(Effect.provide(roundTrip, memorySecretBox)),
    await Effect.runPromise(Effect.provide(roundTrip, memorySecretBox))
  ]
  for (const found of [fromFile, memory]) expect(found.slice(1)).toEqual([secret, "SecretUnreadable"])
  expect([fromFile[0] === again[0], memory[0] === other[0]]).toEqual([true, false])
})
