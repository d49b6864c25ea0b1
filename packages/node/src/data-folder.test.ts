import { spawn } from "node:child_process"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { EvidenceCrypto, Guard, keysLayerOf, memoryStorage, openGovernor, Signer } from "@flyball/core"
import { noteSigner, parseVkey, verifyEd25519 } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { Context, Effect, Layer } from "effect"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { dataFolder, dataFolderVkey } from "./data-folder.ts"
import { openFolder } from "./open-folder.ts"
import { parsePrivateKey } from "./private-key.ts"

let dir: string
beforeEach(async () => {
  dir = join(await mkdtemp(join(tmpdir(), "flyball-")), "data")
})
afterEach(() => rm(join(dir, ".."), { recursive: true, force: true }))

const text = (name: string): Promise<string> => readFile(join(dir, name), "utf8")
const mode = async (name: string): Promise<string> => ((await stat(join(dir, name))).mode & 0o777).toString(8)

/** Builds the layer and answers the services. */
const services = (options: Parameters<typeof dataFolder>[0]) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.map(Layer.build(keysLayerOf(dataFolder(options))), (context) => ({
        guard: Context.get(context, Guard),
        signer: Context.get(context, Signer)
      }))
    )
  )

const refusal = (options: Parameters<typeof dataFolder>[0]): Promise<string> =>
  services(options).then(
    () => "opened",
    (error: Error & { _tag: string }) => `${error._tag}: ${error.message}`
  )

describe("a new data folder", () => {
  test("holds a signing key that only its owner can read, and its public key", async () => {
    const vkey = await dataFolderVkey({ dir, origin: "flyball.example/acme" })
    expect((await readdir(dir)).sort()).toEqual([
      "guard",
      "origin",
      "signing.key",
      expect.stringMatching(/^unused-[0-9a-f]{16}$/),
      "vkey"
    ])
    expect([await mode("."), await mode("guard"), await mode("signing.key")]).toEqual(["700", "700", "600"])
    expect([await text("origin"), await text("vkey")]).toEqual(["flyball.example/acme\n", `${vkey}\n`])
    const key = parsePrivateKey(await text("signing.key"))
    expect(typeof key === "string" ? key : noteSigner(nodeCrypto, { name: key.origin, seed: key.seed }).vkey).toBe(vkey)
  })

  test("begins under the governor's origin, and refuses another one later", async () => {
    const open = (origin?: string) =>
      openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir }), ...(origin === undefined ? {} : { origin }) })
    await (await open("flyball.example/acme")).close()
    expect(await text("origin")).toBe("flyball.example/acme\n")
    await expect(open("flyball.example/other")).rejects.toMatchObject({ code: "origin_refused" })
    expect(await text("origin")).toBe("flyball.example/acme\n")
  })

  test("creates no file for an invalid origin", async () => {
    const opening = openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir }), origin: "no name" })
    await expect(opening).rejects.toMatchObject({ code: "origin_invalid" })
    await expect(readdir(dir)).rejects.toMatchObject({ code: "ENOENT" })
  })

  test("signs what its vkey verifies, again after it was closed", async () => {
    const message = new TextEncoder().encode("flyball.example/acme\n1\n")
    const signature = await Effect.runPromise(
      (await services({ dir, origin: "flyball.example/acme" })).signer.sign(message)
    )
    const again = await services({ dir })
    const vkey = parseVkey(await dataFolderVkey({ dir }))
    expect(vkey.ok && verifyEd25519(nodeCrypto, vkey.vkey.publicKey, message, signature)).toBe(true)
    expect(await Effect.runPromise(again.signer.sign(message))).toEqual(signature)
    expect(again.signer.origin).toBe("flyball.example/acme")
  })

  test("generates an origin when none is given", async () => {
    expect((await services({ dir })).signer.origin).toMatch(/^flyball\.local\/[0-9a-hjkmnp-tv-z]{26}$/)
  })

  test("opened by many processes at once ends with one key", async () => {
    const vkeys = await Promise.all(Array.from({ length: 24 }, () => dataFolderVkey({ dir })))
    expect(new Set(vkeys).size).toBe(1)
    expect((await readdir(dir)).filter((name) => name.startsWith("tmp-"))).toEqual([])
  })

  test("opened by many at once under different origins keeps one origin, and refuses the others", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => refusal({ dir, origin: `flyball.example/${index % 3}` }))
    )
    const origin = (await text("origin")).trim()
    answers.forEach((answer, index) =>
      expect(answer).toMatch(origin === `flyball.example/${index % 3}` ? /^opened$/ : /^OriginRefused/)
    )
  })

  test("provides OpenSSL's hashes to the governor", async () => {
    const above = Layer.effectDiscard(Effect.map(EvidenceCrypto, ({ name }) => expect(name).toBe("openssl")))
    await Effect.runPromise(Effect.scoped(Layer.build(above.pipe(Layer.provide(keysLayerOf(dataFolder({ dir })))))))
  })

  test("keeps a governor's guard, which refuses the next governor over an empty store", async () => {
    const origin = "flyball.example/acme"
    await (await openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir, origin }) })).close()
    expect((await readdir(join(dir, "guard"))).length).toBe(1)
    // The store is empty again, and the guard knows better.
    await expect(openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir }) })).rejects.toThrow(
      /A checkpoint of \d+ records was signed/
    )
  })
})

describe("a data folder is refused", () => {
  const opened = () => dataFolderVkey({ dir, origin: "flyball.example/acme" })

  test.each([
    [undefined, "keys_unreadable", /dataFolder: it takes an object such as .*, not undefined/],
    [{}, "keys_unreadable", /dataFolder: dir is a path, a string that is not empty, not undefined/],
    [{ dir: "" }, "keys_unreadable", /dir is a path, .* not ""; write \. for the folder/],
    [
      { dir: new URL("file:///srv/flyball") },
      "keys_unreadable",
      /dir is a path, .* not an object \(URL\); write fileURLToPath\(url\)/
    ],
    [{ dir: "a\0b" }, "keys_unreadable", /dir is a path/],
    [{ origin: 1 }, "origin_invalid", /The origin "<1, which is no string>" cannot be used: 1 to 255 printable ASCII/],
    [{ origin: null }, "origin_invalid", /<null, which is no string>/],
    [{ origin: {} }, "origin_invalid", /<an object \(Object\), which is no string>/],
    [{ origin: "" }, "origin_invalid", /The origin "" cannot be used/]
  ])("for options that cannot be meant: %j, and nothing is made", async (given, code, why) => {
    // With a folder where it is the origin that is checked.
    const options = (given !== undefined && "origin" in given ? { dir, ...given } : given) as unknown as Parameters<
      typeof dataFolder
    >[0]
    await expect(openGovernor({ storage: memoryStorage(), keys: dataFolder(options) })).rejects.toMatchObject({
      name: "GovernorError",
      code,
      message: expect.stringMatching(why) as string
    })
    await expect(dataFolderVkey(options)).rejects.toThrow(why)
    await expect(readdir(dir)).rejects.toThrow(/ENOENT/)
    expect((await readdir(".")).filter((name) => ["signing.key", "guard", "origin", "vkey"].includes(name))).toEqual([])
  })

  test("for another origin, and for a name that is none", async () => {
    await opened()
    expect(await refusal({ dir, origin: "flyball.example/other" })).toMatch(/^OriginRefused/)
    expect(await refusal({ dir, origin: "a b" })).toMatch(/^OriginInvalid/)
  })

  test.each([
    ["an empty key", ""],
    ["another text", "hello\n"],
    ["a key without its end", "PRIVATE+KEY+flyball.example/acme+01234567+AAAA"],
    ["a key that does not fit its id", `PRIVATE+KEY+flyball.example/acme+01234567+${"AQEB".repeat(11)}\n`]
  ])("with %s, without showing it", async (_name, content) => {
    await opened()
    await writeFile(join(dir, "signing.key"), content)
    const answer = await refusal({ dir })
    expect(answer).toMatch(/^KeysUnreadable: .*signing\.key: .*backup/)
    expect(answer).not.toContain("AQEB")
  })

  test("when other users can read its key", async () => {
    await opened()
    await chmod(join(dir, "signing.key"), 0o644)
    expect(await refusal({ dir })).toMatch(/^KeysUnreadable: .*chmod 600/)
  })

  test("when origin or vkey come from another folder", async () => {
    await opened()
    await writeFile(join(dir, "vkey"), "flyball.example/acme+00000000+AAAA\n")
    expect(await refusal({ dir })).toMatch(/^KeysUnreadable: .*vkey: /)
  })

  test("when its key is lost, though it has signed", async () => {
    await opened()
    await rm(join(dir, "signing.key"))
    expect(await refusal({ dir })).toMatch(/^KeysUnreadable: .*signing\.key: .*missing/)
    expect(await readdir(dir), "and no new key takes its place").not.toContain("signing.key")
  })

  test("when a file of the guard is not what the guard wrote", async () => {
    await opened()
    await writeFile(join(dir, "guard", "0000000000000001"), "flyball-guard/v1\n")
    expect(await refusal({ dir })).toMatch(/^KeysUnreadable: .*guard/)
  })

  test("when it is a file", async () => {
    await mkdir(join(dir, ".."), { recursive: true })
    await writeFile(dir, "")
    expect(await refusal({ dir })).toMatch(/^KeysUnreadable: .*a folder is expected/)
  })
})

test("temporary files of a killed process are deleted", async () => {
  await dataFolderVkey({ dir })
  // 4194305 is no process: numbers end before it. A number of our own that we are not writing came back to us.
  for (const name of ["tmp-1", "tmp-4194305-a", `tmp-${process.pid}-a`, "guard/tmp-1"])
    await writeFile(join(dir, name), "")
  // That of a live process is not: this one's parent is still there.
  await writeFile(join(dir, `tmp-${process.ppid}-a`), "")
  await dataFolderVkey({ dir })
  expect(
    [...(await readdir(dir)), ...(await readdir(join(dir, "guard")))].filter((name) => name.startsWith("tmp-"))
  ).toEqual([`tmp-${process.ppid}-a`])
})

test(
  "a holder killed at any moment leaves a guard at or past every state that it confirmed",
  { timeout: 60_000 },
  async () => {
    await dataFolderVkey({ dir, origin: "flyball.example/acme" })
    let reported = 0
    for (let round = 1; round <= 3; round++) {
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL("./testing/guard-child.ts", import.meta.url)), dir],
        { stdio: ["ignore", "pipe", "inherit"] }
      )
      let lines = 0
      for await (const line of createInterface({ input: child.stdout })) {
        reported = Math.max(reported, Number(line))
        // Killed while it writes the next one.
        if (++lines === round * 7) child.kill("SIGKILL")
      }
      const { guard } = await openFolder({ dir })
      expect((await guard.read())?.size).toBeGreaterThanOrEqual(reported)
    }
    expect(reported).toBeGreaterThan(20)
  }
)

describe("a signing key out of a vault", () => {
  const begun = async (): Promise<string> => {
    const { close } = await openGovernor({
      storage: memoryStorage(),
      keys: dataFolder({ dir, origin: "flyball.example/acme" })
    })
    await close()
    return text("signing.key")
  }
  const opened = (): Promise<string> =>
    openGovernor({ storage: memoryStorage(), keys: dataFolder({ dir }) }).then(
      async (governor) => (await governor.close(), "opened"),
      (error: { code: string }) => error.code
    )
  /** The folder is gone, and somebody brought the key back before store and guard. */
  const onlyKey = async (key: string): Promise<void> => {
    await rm(dir, { recursive: true })
    await mkdir(dir, { mode: 0o700 })
    await writeFile(join(dir, "signing.key"), key, { mode: 0o600 })
  }

  test("never begins a second chain under the origin that it signed for, however often it is tried", async () => {
    await onlyKey(await begun())
    expect([await opened(), await opened()]).toEqual(["key_from_elsewhere", "key_from_elsewhere"])
    expect(await readdir(join(dir, "guard"))).toEqual([])
  })

  test("made here and without a signature begins its chain, also after a killed process", async () => {
    await dataFolderVkey({ dir, origin: "flyball.example/acme" })
    await rm(join(dir, "origin"))
    await rm(join(dir, "vkey"))
    expect(await opened()).toBe("opened")
    expect((await readdir(dir)).filter((name) => name.startsWith("unused-"))).toEqual([])
  })

  test("replaces the folder's own key, and is not mistaken for it", async () => {
    const key = await begun()
    await rm(dir, { recursive: true })
    await dataFolderVkey({ dir, origin: "flyball.example/acme" })
    await writeFile(join(dir, "signing.key"), key, { mode: 0o600 })
    await rm(join(dir, "vkey"))
    expect(await opened()).toBe("key_from_elsewhere")
  })
})
