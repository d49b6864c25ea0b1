import { spawn } from "node:child_process"
import { chmod, link, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import {
  Chain,
  EvidenceCrypto,
  Guard,
  governorLayer,
  KeyRotation,
  keysLayerOf,
  layerOf,
  memoryStorage,
  openGovernor,
  Signer
} from "@flyball/core"
import { formatVkey, utf8, verifyEd25519 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Context, Effect, Layer } from "effect"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { dataFolder, dataFolderVkey } from "./data-folder.ts"
import { makeNextKey, nextKeyFile, promoteNextKey, readKeys } from "./key-files.ts"
import { openFolder } from "./open-folder.ts"

const origin = "flyball.example/acme"
let dir: string
let old: string
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "flyball-")), "data")
  old = await dataFolderVkey({ dir, origin })
})
afterEach(() => rm(join(dir, ".."), { recursive: true, force: true }))

const text = (name: string): Promise<string> => readFile(join(dir, name), "utf8")
const names = async (): Promise<ReadonlyArray<string>> =>
  (await readdir(dir)).filter((name) => name !== "guard" && !name.startsWith("unused-")).sort()
const promoteNext = async (): Promise<string> => {
  const { next } = await readKeys(dir)
  await promoteNextKey(dir, next!.publicKey)
  return next!.vkey
}

describe("the key that is to follow", () => {
  test("is created once by many processes at once, and only its owner can read it", async () => {
    await Promise.all(Array.from({ length: 16 }, () => makeNextKey(dir)))
    const keyId = old.split("+")[1]!
    expect(await names()).toEqual(["origin", "signing.key", `signing.key.next-${keyId}`, "vkey"])
    expect((await stat(join(dir, `signing.key.next-${keyId}`))).mode & 0o777).toBe(0o600)
    const before = (await readKeys(dir)).next!.vkey
    await makeNextKey(dir)
    expect((await readKeys(dir)).next!.vkey).toBe(before)
    expect([before === old, await dataFolderVkey({ dir })]).toEqual([false, old])
  })

  test("replaces the current key once, whichever process does it", async () => {
    await makeNextKey(dir)
    const { next } = await readKeys(dir)
    await Promise.all(Array.from({ length: 8 }, () => promoteNextKey(dir, next!.publicKey)))
    expect([await dataFolderVkey({ dir }), await text("vkey"), await names()]).toEqual([
      next!.vkey,
      `${next!.vkey}\n`,
      ["origin", "signing.key", "vkey"]
    ])
    await promoteNextKey(dir, next!.publicKey)
    await expect(promoteNextKey(dir, new Uint8Array(32))).rejects.toThrow(
      /the key that is to take its place is not here/
    )
  })

  test("is refused when everybody may read it, or when it is garbled", async () => {
    await makeNextKey(dir)
    const file = nextKeyFile(dir, (await readKeys(dir)).current)
    await chmod(file, 0o604)
    await expect(readKeys(dir)).rejects.toThrow(/chmod 600/)
    await chmod(file, 0o600)
    await writeFile(file, "hello\n")
    await expect(dataFolderVkey({ dir })).rejects.toThrow(/signing\.key\.next-.*Bring the file back/)
  })

  test("is not used when a suspended process created it for a key that has been replaced", async () => {
    await makeNextKey(dir)
    const { current } = await readKeys(dir)
    await promoteNext()
    // The sleeper wakes after everything, and writes behind a key that was rotated away.
    await writeFile(nextKeyFile(dir, current), "whatever\n", { mode: 0o600 })
    expect((await readKeys(dir)).next).toBeNull()
    await makeNextKey(dir)
    await promoteNext()
    expect(await dataFolderVkey({ dir })).toBe((await readKeys(dir)).current.vkey)
  })
})

describe("the old key", () => {
  test("is overwritten, not only removed", async () => {
    await makeNextKey(dir)
    const handle = await open(join(dir, "signing.key"), "r")
    try {
      const { size } = await handle.stat()
      await promoteNext()
      expect((await handle.read(Buffer.alloc(size), 0, size, 0)).buffer.equals(Buffer.alloc(size))).toBe(true)
    } finally {
      await handle.close()
    }
  })

  test("with a second hard link, as some backups make, is kept under that name", async () => {
    const backup = join(dir, "..", "backup")
    await link(join(dir, "signing.key"), backup)
    const before = await readFile(backup, "utf8")
    await makeNextKey(dir)
    await promoteNext()
    expect(await readFile(backup, "utf8")).toBe(before)
  })

  test("is deleted even where its file is read-only", async () => {
    await makeNextKey(dir)
    await chmod(join(dir, "signing.key"), 0o400)
    expect(await promoteNext()).toBe(await dataFolderVkey({ dir }))
  })
})

describe("a folder in which a rotation was stopped", () => {
  test("after vkey was replaced opens, and can complete the rotation", async () => {
    await makeNextKey(dir)
    const { next } = await readKeys(dir)
    await rm(join(dir, "vkey"))
    await writeFile(join(dir, "vkey"), `${next!.vkey}\n`)
    expect(await dataFolderVkey({ dir })).toBe(old)
    expect(await promoteNext()).toBe(await dataFolderVkey({ dir }))
  })

  test("is still refused when vkey names a third key", async () => {
    await makeNextKey(dir)
    await writeFile(join(dir, "vkey"), `${formatVkey(origin, new Uint8Array(32).fill(1))}\n`)
    await expect(dataFolderVkey({ dir })).rejects.toThrow(/vkey: it does not say/)
  })

  test("opens while others rotate in it", async () => {
    const others = { done: false }
    const opening = (async () => {
      while (!others.done) await openFolder({ dir, origin })
    })()
    try {
      for (let round = 0; round < 12; round++) {
        await makeNextKey(dir)
        await promoteNext()
      }
    } finally {
      others.done = true
      await opening
    }
    expect(await text("vkey")).toBe(`${(await readKeys(dir)).current.vkey}\n`)
  })

  test("by killing it opens with a key that was published before, and continues", { timeout: 60_000 }, async () => {
    const reported = new Set([old])
    for (let round = 1; round <= 4; round++) {
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL("./testing/rotation-child.ts", import.meta.url)), dir],
        { stdio: ["ignore", "pipe", "inherit"] }
      )
      let lines = 0
      for await (const line of createInterface({ input: child.stdout })) {
        reported.add(line)
        if (++lines === round * 3) child.kill("SIGKILL")
      }
      expect(reported).toContain(await dataFolderVkey({ dir, origin }))
      expect((await text("vkey")).trim()).toMatch(/^flyball\.example\/acme\+/)
    }
    await makeNextKey(dir)
    await promoteNext()
    expect((await names()).filter((name) => name.startsWith("signing.key"))).toEqual(["signing.key"])
  })
})

describe("a governor over a data folder", () => {
  test("rotates while it is open, and signs with the new key from then on", async () => {
    const storage = memoryStorage()
    const layer = governorLayer().pipe(Layer.provide(layerOf(storage)), Layer.provide(keysLayerOf(dataFolder({ dir }))))
    const rotation = await Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(layer)
          const rotated = yield* Context.get(context, KeyRotation).rotate
          return { ...rotated, vkey: Context.get(context, Chain).vkey }
        })
      )
    )
    expect([rotation.fromVkey, rotation.vkey, await dataFolderVkey({ dir })]).toEqual([
      old,
      rotation.toVkey,
      rotation.toVkey
    ])
    // Another governor on a store of its own is refused by the guard, so only the client is shown here.
    const other = join(dir, "..", "other")
    const governor = await openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir: other, origin }) })
    const first = governor.chain.vkey
    const answer = await governor.chain.rotateKey()
    expect([answer.from_vkey, answer.to_vkey, (await governor.chain.keys()).map(({ current }) => current)]).toEqual([
      first,
      governor.chain.vkey,
      [false, true]
    ])
    expect(answer.checkpoint.note.split("\n").filter((line) => line.startsWith("— ")).length).toBe(2)
    await governor.close()
  })

  test("keeps the key that it opened with in memory, and reads later keys from the folder", async () => {
    const { signer } = await Effect.runPromise(
      Effect.scoped(
        Effect.map(Layer.build(keysLayerOf(dataFolder({ dir }))), (context) => ({
          signer: Context.get(context, Signer),
          guard: Context.get(context, Guard),
          crypto: Context.get(context, EvidenceCrypto)
        }))
      )
    )
    await makeNextKey(dir)
    await promoteNext()
    const { current, next } = await Effect.runPromise(signer.rotation!.keys)
    expect([formatVkey(origin, signer.publicKey), formatVkey(origin, current.publicKey), next]).toEqual([
      old,
      await dataFolderVkey({ dir }),
      null
    ])
    expect(
      verifyEd25519(nodeCrypto, current.publicKey, utf8("x"), await Effect.runPromise(current.sign(utf8("x"))))
    ).toBe(true)
    await rename(join(dir, "signing.key"), join(dir, "..", "gone"))
    await expect(Effect.runPromise(signer.rotation!.keys)).rejects.toThrow(
      /the signing key: .*signing\.key: it is missing/
    )
  })
})
