/**
 * An issuer on this host, for tests of what its good and bad tokens open: its keys are served over HTTP, and it signs
 * any claims.
 */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from "jose"

/** Opens one. `answer` may answer in place of it. */
export const testIssuer = async () => {
  interface Key {
    readonly kid: string
    readonly alg: string
    readonly jwk: JWK
    readonly privateKey: CryptoKey | KeyObject
  }
  const keys: Array<Key> = []
  const requested: Array<string> = []
  let instead: ((path: string, response: ServerResponse) => boolean) | null = null
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    requested.push(path)
    if (instead !== null && instead(path, response)) return
    response.setHeader("content-type", "application/json")
    if (path === "/.well-known/openid-configuration")
      response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }))
    else if (path === "/keys")
      response.end(JSON.stringify({ keys: keys.map(({ alg, jwk, kid }) => ({ ...jwk, kid, alg, use: "sig" })) }))
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    requested,
    /** Installs a handler that answers in place of the issuer; it returns true when it did. */
    answer: (by: typeof instead) => void (instead = by),
    addKey: async (kid: string, alg = "EdDSA") => {
      const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true })
      keys.push({ kid, alg, jwk: await exportJWK(publicKey), privateKey })
    },
    /** An RSA key of any size; jose itself signs with no weak one. */
    addRsaKey: (kid: string, modulusLength: number) => {
      const pair = generateKeyPairSync("rsa", { modulusLength })
      const jwk = pair.publicKey.export({ format: "jwk" }) as JWK
      keys.push({ kid, alg: "RS256", jwk, privateKey: pair.privateKey })
    },
    dropKey: (kid: string) =>
      void keys.splice(
        keys.findIndex((key) => key.kid === kid),
        1
      ),
    publicJwk: (kid: string): JWK => keys.find((key) => key.kid === kid)!.jwk,
    /** A token by a key, good but for the changes. */
    sign: (
      kid: string,
      nowMs: number,
      claims: { readonly [name: string]: unknown } = {},
      header: Partial<JWTHeaderParameters> = {}
    ) => {
      const key = keys.find((one) => one.kid === kid)!
      return new SignJWT({ iss: url, aud: "flyball", sub: "ann", exp: Math.floor(nowMs / 1_000) + 300, ...claims })
        .setProtectedHeader({ alg: key.alg, kid, ...header })
        .sign(key.privateKey)
    },
    /** A token by an RSA key that is too weak for {@link sign}. */
    signWeakly: (kid: string, nowMs: number) => {
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")
      const claims = { iss: url, aud: "flyball", sub: "ann", exp: Math.floor(nowMs / 1_000) + 300 }
      const text = `${part({ alg: "RS256", kid })}.${part(claims)}`
      const { privateKey } = keys.find((one) => one.kid === kid)!
      return `${text}.${sign("sha256", Buffer.from(text), privateKey as KeyObject).toString("base64url")}`
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}

/** An open issuer. */
export type TestIssuer = Awaited<ReturnType<typeof testIssuer>>
