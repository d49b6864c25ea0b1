/** Signing in with a browser on this host: authorization code with PKCE. Spec: RFC 7636, RFC 8252, RFC 9207. */
import { createHash, randomBytes } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import {
  asPlainText,
  type Client,
  LoginFailed,
  post,
  type Provider,
  type Tokens,
  tokensOf,
  type World
} from "./provider.ts"

/** How long a person may take. Unit: milliseconds. */
const SIGN_IN_MS = 600_000

/**
 * Shows the address to open, and waits for the browser to come back with a code.
 *
 * - `redirect`: an http address of this host, as registered with the provider; a free port is added where it has none.
 * - Fails: with {@link LoginFailed}, where the provider has no such flow or refuses, or nobody comes back in time.
 */
export const browserFlow = async (
  provider: Provider,
  client: Client,
  redirect: string,
  world: World
): Promise<Tokens> => {
  if (provider.authorization === null) throw new LoginFailed(`${provider.issuer} offers no sign-in with a browser`)
  const target = new URL(redirect)
  const [state, nonce, verifier] = [secret(), secret(), secret()]
  const server = createServer()
  try {
    const port = await listen(server, target)
    // A registered address without a path stays without one.
    const path = redirect.replace(/^http:\/\/[^/]*/, "")
    const redirectUri = `http://${target.hostname}:${port}${path}`
    const back = cameBack(server, provider, { path: target.pathname, state })
    const address = new URL(provider.authorization)
    for (const [name, value] of Object.entries({
      response_type: "code",
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: client.scope,
      state,
      nonce,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256"
    }))
      address.searchParams.set(name, value)
    world.say(`Open ${address.href}`)
    const answer = await post(provider.token, {
      grant_type: "authorization_code",
      code: await back,
      redirect_uri: redirectUri,
      client_id: client.clientId,
      client_secret: client.clientSecret,
      code_verifier: verifier
    })
    if (!answer.ok) throw new LoginFailed(`${provider.issuer} gives no token: ${answer.sentence}`)
    return tokensOf(provider, client, answer.members, nonce)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const secret = (): string => randomBytes(32).toString("base64url")

const listen = (server: Server, { hostname, port }: URL): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", ({ code }: NodeJS.ErrnoException) =>
      reject(new LoginFailed(`the port of the redirect address cannot be used here (${code ?? "unknown"})`))
    )
    server.listen(Number(port), hostname === "[::1]" ? "::1" : "127.0.0.1", () =>
      resolve((server.address() as AddressInfo).port)
    )
  })

/** The code that the browser brings. An answer without this sign-in's state is another page's, and ignored. */
const cameBack = (
  server: Server,
  { issuer, namesItself }: Provider,
  { path, state }: { readonly path: string; readonly state: string }
): Promise<string> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new LoginFailed("nobody signed in within ten minutes")), SIGN_IN_MS)
    server.on("request", (request, response) => {
      const { pathname, searchParams: given } = new URL(request.url ?? "/", "http://127.0.0.1")
      const isOurs = request.method === "GET" && pathname === path && given.get("state") === state
      response.writeHead(isOurs ? 200 : 404, { "content-type": "text/plain", connection: "close" })
      response.end(isOurs ? "Flyball has the answer. This page can be closed.\n" : "Not found.\n")
      if (!isOurs) return
      clearTimeout(late)
      const [code, error, from] = [given.get("code"), given.get("error"), given.get("iss")]
      if (from === null ? namesItself : from !== issuer)
        reject(new LoginFailed(`the answer is of another issuer than ${issuer}`))
      else if (error === "access_denied") reject(new LoginFailed("the sign-in was refused at the provider"))
      else if (code === null) reject(new LoginFailed(`${issuer} gives no code: ${asPlainText(error ?? "no reason")}`))
      else resolve(code)
    })
  })
