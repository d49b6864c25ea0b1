/** Runs docs/quickstart-operator.md block by block, as one reader with one shell: Postgres, a provider, two servers. */
import { spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type FreshDatabase, freshDatabase, givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { testIssuer, type TestIssuer } from "../packages/http/src/oidc/test-issuer.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = readFileSync(join(root, "docs/quickstart-operator.md"), "utf8")
const blocks = [...page.matchAll(/^```sh operator\n([^]*?)^```/gm)].map(([, block]) => block!)

const anyDatabase = givenDatabase({ beforeAll, afterAll })
let databases: ReadonlyArray<FreshDatabase> = []
let issuer: TestIssuer
let place: string
beforeEach(async () => {
  databases = [await freshDatabase(anyDatabase.url), await freshDatabase(anyDatabase.url)]
  issuer = await testIssuer()
  await issuer.addKey("k1")
  place = mkdtempSync(join(tmpdir(), "flyball-operator-"))
})
afterEach(async () => {
  await issuer.close()
  for (const database of databases) await database.drop()
  rmSync(place, { recursive: true, force: true })
})

const freePort = (): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(String(port)))
    })
  })

describe("docs/quickstart-operator.md", () => {
  it("works from its first block to its last", { timeout: 180_000 }, async () => {
    assert.lengthOf(blocks, 7)
    const script = blocks
      .join("\n")
      .replaceAll("8787", await freePort())
      .replaceAll("8788", await freePort())
    const child = spawn(
      "bash",
      ["-euo", "pipefail", "-c", `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${script}`],
      {
        cwd: place,
        env: {
          ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("FLYBALL_"))),
          PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`,
          STORE: databases[0]!.url,
          GUARD: databases[1]!.url,
          ISSUER: issuer.url,
          TOKEN: await issuer.sign("k1", Date.now(), { groups: ["platform"] })
        },
        stdio: ["ignore", "pipe", "pipe"]
      }
    )
    let output = ""
    child.stdout.on("data", (chunk) => (output += String(chunk)))
    child.stderr.on("data", (chunk) => (output += String(chunk)))
    const status = await new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? -1)))
    assert.strictEqual(status, 0, output)
    assert.match(output, /^FLYBALL_GUARD_URL +postgres.*\(file\)$/m)
    for (const expected of [
      "\nadmin\n",
      "GOOD. ",
      "no difference; the last checkpoint covers",
      "\nflyball_chain_unsigned"
    ])
      assert.include(output, expected)
    assert.deepEqual([readdirSync(join(place, "host-a/guard")), readdirSync(join(place, "host-b/guard"))], [[], []])
  })
})
