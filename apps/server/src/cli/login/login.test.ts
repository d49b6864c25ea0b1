/** Signing in at a real OpenID provider: with a code on another device, and with a browser on this host. */
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Provider from "oidc-provider"
import { afterAll, afterEach, assert, beforeAll, describe, it, vi } from "vitest"
import { browse } from "../../oidc/person.ts"
import { browserFlow } from "./browser-flow.ts"
import { deviceFlow } from "./device-flow.ts"
import { type Client, findProvider, LoginFailed, type Provider as Found, type World } from "./provider.ts"
import { currentSession } from "./session.ts"
import { readSession, type Session, sessionFile, writeSession } from "./session-file.ts"

const REDIRECT = "http://127.0.0.1/callback"
const client: Client = { clientId: "flyball", clientSecret: null, use: "id", scope: "openid profile offline_access" }
const scratch = mkdtempSync(join(tmpdir(), "flyball-login-"))
const file = sessionFile({ XDG_CONFIG_HOME: scratch })

let server: Server
let issuer: string
let found: Found
beforeAll(async () => {
  server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "flyball",
        token_endpoint_auth_method: "none",
        redirect_uris: [REDIRECT],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        application_type: "native"
      }
    ],
    features: { deviceFlow: { enabled: true } },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    cookies: { keys: ["a secret of this test"] },
    findAccount: (_: unknown, login: string) => ({ accountId: login, claims: () => ({ sub: login }) })
  })
  server.on("request", provider.callback())
  found = await findProvider(issuer)
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => void server.close(resolve))
  rmSync(scratch, { recursive: true })
})
afterEach(() => rmSync(join(scratch, "flyball"), { recursive: true, force: true }))

/** A world in which the person reads what is shown, and acts while the command pauses. */
const worldOf = (act: (shown: string) => Promise<unknown> = async () => undefined) => {
  let nowMs = Date.now()
  let acting: Promise<unknown> = Promise.resolve()
  const world: World = {
    nowMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms
      await acting
    },
    say: (text) => {
      acting = act(text)
      acting.catch(() => undefined)
    }
  }
  return { world }
}
const failure = (act: Promise<unknown>): Promise<string> =>
  act.then(
    () => "it succeeds",
    (cause: unknown) => (cause instanceof LoginFailed ? cause.message : String(cause))
  )
const codeIn = (shown: string): string => {
  const [, address, code] = /^Open (\S+) and enter the code (\S+)$/.exec(shown)!
  return `${address}?user_code=${code}`
}
const addressIn = (shown: string): string => shown.replace(/^Open /, "")
/** The browser follows the provider's last redirect, to the program. */
const comeBack = async (shown: string, login: string | null) => fetch(await browse(addressIn(shown), login))
const sessionOf = (tokens: { readonly token: string }): Session =>
  ({ ...client, issuer, url: null, ...tokens }) as Session

describe("signing in with a code", () => {
  it("gives the person's token and what extends it", async () => {
    const { world } = worldOf((shown) => browse(codeIn(shown), "ada"))
    const tokens = await deviceFlow(found, client, world)
    assert.strictEqual(tokens.subject, "ada")
    assert.isString(tokens.refreshToken)
    assert.isAbove(tokens.expiresAtMs, Date.now())
  })

  it("ends in words where the person refuses, or nobody comes", async () => {
    const refuses = worldOf((shown) => browse(codeIn(shown), null))
    assert.include(await failure(deviceFlow(found, client, refuses.world)), "was refused at the provider")
    assert.include(await failure(deviceFlow(found, client, worldOf().world)), "the code expired")
  })

  it("says what the provider lacks, and what it refuses", async () => {
    assert.include(await failure(deviceFlow({ ...found, device: null }, client, worldOf().world)), "Use --browser")
    const unknown = { ...client, clientId: "nobody" }
    assert.include(await failure(deviceFlow(found, unknown, worldOf().world)), "refuses to begin: invalid_client")
  })
})

describe("signing in with a browser", () => {
  it("gives the person's token, at a free port of this host", async () => {
    const { world } = worldOf((shown) => comeBack(shown, "grace"))
    assert.strictEqual((await browserFlow(found, client, REDIRECT, world)).subject, "grace")
  })

  it("ends in words where the person refuses, or the answer is of another issuer", async () => {
    const refuses = worldOf((shown) => comeBack(shown, null))
    assert.include(await failure(browserFlow(found, client, REDIRECT, refuses.world)), "was refused at the provider")
    const mixed = worldOf((shown) => comeBack(shown, "grace"))
    const another = { ...found, issuer: "https://login.example.org" }
    assert.include(await failure(browserFlow(another, client, REDIRECT, mixed.world)), "of another issuer")
  })

  it("takes no answer without the state of this sign-in", async () => {
    const statuses: Array<number> = []
    const { world } = worldOf(async (shown) => {
      const redirect = new URL(addressIn(shown)).searchParams.get("redirect_uri")!
      for (const query of ["?code=x", "?code=x&state=y", "/other"])
        statuses.push((await fetch(`${redirect}${query}`)).status)
      await comeBack(shown, "grace")
    })
    assert.strictEqual((await browserFlow(found, client, REDIRECT, world)).subject, "grace")
    assert.deepEqual(statuses, [404, 404, 404])
  })
})

describe("the session", () => {
  /** A session whose token is about to end. */
  const ending = async (more: Partial<Session> = {}): Promise<Session> => {
    const { world } = worldOf((shown) => browse(codeIn(shown), "ada"))
    const session = { ...sessionOf(await deviceFlow(found, client, world)), expiresAtMs: Date.now() + 59_000, ...more }
    await writeSession(file, session)
    return session
  }

  it("is extended before its token ends, once for all who wait", async () => {
    const first = await ending()
    const { world } = worldOf()
    const both = await Promise.all([currentSession(file, world), currentSession(file, world)])
    assert.notStrictEqual(both[0].refreshToken, first.refreshToken)
    assert.strictEqual(both[0].refreshToken, both[1].refreshToken)
    assert.deepEqual([await readSession(file), await currentSession(file, world)], [both[0], both[0]])
    assert.isFalse(existsSync(`${file}.lock`))
  })

  it("says where it has ended, and where nobody signed in", async () => {
    const { world } = worldOf()
    assert.include(await failure(currentSession(file, world)), "nobody has signed in")
    await ending({ refreshToken: "used up" })
    assert.include(await failure(currentSession(file, world)), "the session has ended at")
    await ending({ refreshToken: null })
    assert.include(await failure(currentSession(file, world)), "gave nothing to extend it")
    await ending({ issuer: issuer.replace("127.0.0.1", "localhost") })
    assert.include(await failure(currentSession(file, world)), "it is of another issuer")
  })

  it("takes over a lock that a crash left", async () => {
    await ending()
    writeFileSync(`${file}.lock`, "")
    utimesSync(`${file}.lock`, 0, 0)
    assert.strictEqual((await currentSession(file, worldOf().world)).subject, "ada")
  })

  it("is a file of mode 0600, and refused where others can read or change it", async () => {
    await ending()
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    chmodSync(file, 0o640)
    assert.include(await failure(readSession(file)), "others may read or change")
    chmodSync(file, 0o600)
    chmodSync(join(scratch, "flyball"), 0o770)
    assert.include(await failure(readSession(file)), "nobody else can write to")
    const session = JSON.parse(readFileSync(file, "utf8")) as Session
    assert.include(await failure(writeSession(file, session)), "nobody else can write to")
    chmodSync(join(scratch, "flyball"), 0o700)
    const somebodyElse = vi.spyOn(process, "getuid").mockReturnValue(statSync(file).uid + 1)
    assert.include(await failure(readSession(file)), "should be a folder of yours")
    somebodyElse.mockRestore()
    const elsewhere = join(scratch, "elsewhere.json")
    writeFileSync(elsewhere, JSON.stringify(session), { mode: 0o600 })
    rmSync(file)
    symlinkSync(elsewhere, file)
    assert.include(await failure(readSession(file)), "(ELOOP)")
    rmSync(file)
    writeFileSync(file, "no json", { mode: 0o600 })
    assert.include(await failure(readSession(file)), "is no session")
  })
})

describe("a provider", () => {
  it("is refused where its document is of another issuer", async () => {
    const wrong = issuer.replace("127.0.0.1", "localhost")
    assert.include(await failure(findProvider(wrong)), "it is of another issuer")
  })
})
