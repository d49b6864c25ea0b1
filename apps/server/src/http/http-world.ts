/** A server in process over a store in memory, with a caller of every kind: what the HTTP tests stand on. */
import { type Role, roles } from "@flyball/contract"
import {
  type Attempted,
  countedStorage,
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  IngestKeys,
  keysLayerOf,
  layerOf,
  type Mailer,
  memoryStorage,
  ownMetrics,
  type SecretBox,
  Storage,
  type StorageChoice,
  systemHost,
  type WebhooksLayer,
  WebhookSender
} from "@flyball/core"
import { watchedStorage } from "@flyball/http/host"
import type { RequestLog } from "@flyball/http/server"
import { logMailer, memorySecretBox, pinnedSender } from "@flyball/node"
import { Effect, Layer, ManagedRuntime } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { DEV_AUDIENCE, DEV_ISSUER, type DevIssuer, devIssuer } from "../dev-issuer.ts"
import { tracedGuard, tracedStorage } from "../telemetry/traced-ports.ts"
import { type FlyballServer, makeServer, type ServerOptions } from "./server.ts"

/** Org unit of the agents that the tests register. */
export const UNIT = "claims"
/** Another org unit. */
export const OTHER_UNIT = "treasury"

/** A response, read to its end. */
export interface Got {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Uint8Array
  readonly text: string
  // oxlint-disable-next-line no-explicit-any
  readonly json: any
}

/** How to send something. `json` is written with `JSON.stringify`; `body` goes out as it is. */
export interface Sending {
  readonly token?: string
  readonly json?: unknown
  readonly body?: BodyInit
  readonly headers?: { readonly [name: string]: string }
}

/** Receivers that take everything, at addresses of the right form. Nothing leaves this process. */
const takingAll: WebhooksLayer = Layer.mergeAll(
  Layer.succeed(WebhookSender, {
    send: () =>
      Effect.succeed<Attempted>({
        statusCode: 204,
        errorCode: null,
        durationMs: 1,
        responseExcerpt: "",
        retryAfterMs: null
      }),
    urlProblem: pinnedSender().urlProblem
  }),
  memorySecretBox,
  logMailer
)

/** Options of a world. */
export interface WorldOptions {
  readonly storage?: StorageChoice
  readonly trust?: Layer.Layer<never>
  readonly spans?: Layer.Layer<never>
  readonly server?: Partial<ServerOptions>
  /** Opens the server for the API. Left out: the standalone server. */
  readonly serve?: (options: ServerOptions) => FlyballServer
  /** Ports of webhooks. Nothing is sent by itself unless `jobs` has the engine. */
  readonly webhooks?: WebhooksLayer
  readonly jobs?: Layer.Layer<never, never, GovernorServices | Storage | WebhookSender | SecretBox | Mailer>
  /** Stands under everything: a clock. */
  readonly under?: Layer.Layer<never>
}

/** Opens a server on a free port of the loopback address. */
export const openWorld = async (options: WorldOptions = {}) => {
  const runtime = ManagedRuntime.make(
    (options.jobs ?? Layer.empty).pipe(
      Layer.provideMerge(governorLayer({ origin: "flyball.test/http" })),
      Layer.provide(options.webhooks ?? takingAll),
      Layer.provide(options.trust ?? Layer.empty),
      Layer.provideMerge(
        watchedStorage.pipe(
          Layer.provideMerge(tracedStorage),
          Layer.provideMerge(countedStorage),
          Layer.provideMerge(layerOf(options.storage ?? memoryStorage()))
        )
      ),
      Layer.provideMerge(tracedGuard.pipe(Layer.provideMerge(keysLayerOf(ephemeralKeys())))),
      Layer.provideMerge(options.spans ?? Layer.empty),
      Layer.provideMerge(options.under ?? Layer.empty),
      Layer.provideMerge(ownMetrics)
    )
  )
  const context = await runtime.context()
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })
  const issuer: DevIssuer = await devIssuer(await exportJWK(privateKey))
  /** A token of an administrator by the issuer's own key, good but for these claims. */
  const forged = (claims: { readonly [name: string]: unknown }): Promise<string> =>
    new SignJWT({
      iss: DEV_ISSUER,
      aud: DEV_AUDIENCE,
      sub: "ann",
      roles: ["admin"],
      org_unit: "*",
      exp: Math.floor(Date.now() / 1_000) + 60,
      ...claims
    })
      .setProtectedHeader({ alg: "EdDSA" })
      .sign(privateKey)
  const log: Array<RequestLog> = []
  const server = (options.serve ?? makeServer)({
    context,
    verifier: issuer,
    version: "0.0.0-test",
    log: (entry) => log.push(entry),
    ...options.server
  })
  const { host, port, url } = await server.listen({ host: "127.0.0.1", port: 0 })

  const send = async (method: string, path: string, sending: Sending = {}): Promise<Got> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(sending.token === undefined ? {} : { authorization: `Bearer ${sending.token}` }),
        ...(sending.json === undefined && sending.body === undefined ? {} : { "content-type": "application/json" }),
        ...sending.headers
      },
      ...(sending.json !== undefined
        ? { body: JSON.stringify(sending.json) }
        : sending.body !== undefined
          ? { body: sending.body }
          : {}),
      ...(sending.body instanceof ReadableStream ? { duplex: "half" } : {})
    } as RequestInit)
    const bytes = await bytesOf(response)
    const text = new TextDecoder().decode(bytes)
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      text,
      json:
        (response.headers.get("content-type") ?? "").startsWith("application/json") && text !== ""
          ? JSON.parse(text)
          : null
    }
  }

  const token = (role: Role, orgUnit = "*", subject = `${role} of ${orgUnit}`): Promise<string> =>
    issuer.sign({ role, orgUnit, subject }, Date.now())
  const mint = (orgUnit: string) =>
    runtime.runPromise(IngestKeys.use((keys) => keys.mint({ name: "a key", org_unit: orgUnit }, systemHost)))

  const key = await mint(UNIT)
  const otherKey = await mint(OTHER_UNIT)
  const revokedKey = await mint(UNIT)
  await runtime.runPromise(IngestKeys.use((keys) => keys.revoke(revokedKey.id, systemHost)))
  const expired = await mint(UNIT)
  // A key is minted for a time to come, so the one that has run out is made by hand.
  await runtime.runPromise(
    Storage.use((storage) =>
      Effect.flatMap(storage.get("ingest_keys", expired.id), (document) =>
        storage.commit({
          puts: [
            {
              collection: "ingest_keys",
              id: expired.id,
              expectedVersion: 1,
              body: { ...document!.body, expiresAtMs: 1 },
              unique: { digest: String(document!.body["digest"]) }
            }
          ]
        })
      )
    )
  )
  const admin = await token("admin")
  // Everybody writes once, so that later tests see no `principal.seen` of theirs.
  const tokens = Object.fromEntries(await Promise.all(roles.map(async (role) => [role, await token(role)]))) as {
    readonly [R in Role]: string
  }
  for (const role of roles)
    await send("POST", "/api/v1/evidence/packs", { token: tokens[role], json: { kind: "full" } })

  return {
    runtime,
    context,
    server,
    host,
    port,
    url,
    issuer,
    log,
    send,
    token,
    mint,
    admin,
    tokens,
    key: key.key,
    keyId: key.id,
    otherKey: otherKey.key,
    revokedKey: revokedKey.key,
    expiredKey: expired.key,
    forged,
    /** Records in the chain. */
    size: async (): Promise<number> => (await send("GET", "/api/v1/chain/head", { token: admin })).json.tree_size,
    register: async (
      name: string,
      orgUnit = UNIT,
      more: { readonly [member: string]: unknown } = {}
    ): Promise<string> =>
      (await send("POST", "/api/v1/agents", { token: admin, json: { name, org_unit: orgUnit, ...more } })).json.id,
    close: async () => {
      await server.close()
      await runtime.dispose()
    }
  }
}

/** The body; of a stream of events the first piece, since it has no end of its own. */
const bytesOf = async (response: Response): Promise<Uint8Array> => {
  const isEvents = (response.headers.get("content-type") ?? "").startsWith("text/event-stream")
  if (!isEvents || response.body === null) return new Uint8Array(await response.arrayBuffer())
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return value ?? new Uint8Array()
}

/** An open server. */
export type World = Awaited<ReturnType<typeof openWorld>>
