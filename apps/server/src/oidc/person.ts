/**
 * A person with a browser, as far as signing in needs one: follows redirects, keeps cookies, fills in the provider's
 * forms. For tests.
 */
import { createHash, randomBytes } from "node:crypto"

/**
 * Opens an address and signs in as `login`; null: refuses where the provider asks for anything.
 *
 * Answers the address that leads back to the program, or that of the provider's last page.
 */
export const browse = async (address: string, login: string | null): Promise<string> => {
  const home = new URL(address).origin
  const cookies = new Map<string, string>()

  const visit = async (url: string, form?: { readonly [name: string]: string }): Promise<Response> => {
    const response = await fetch(url, {
      method: form === undefined ? "GET" : "POST",
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (value === "") cookies.delete(name!)
      else cookies.set(name!, value!)
    }
    return response
  }

  let response = await visit(address)
  for (let step = 0; step < 20; step++) {
    const location = response.headers.get("location")
    if (location !== null) {
      const next = new URL(location, response.url).href
      if (new URL(next).origin !== home) return next
      response = await visit(next)
      continue
    }
    const page = await response.text()
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
    if (action === undefined) return response.url
    const hidden = [...page.matchAll(/name="([a-z_]+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!])
    const form: Record<string, string> = Object.fromEntries(hidden)
    if (form["prompt"] === "login") Object.assign(form, { login: login ?? "", password: "anything" })
    if (login === null) {
      const away = /<a href="([^"]+\/abort)"/.exec(page)?.[1]
      if (away !== undefined) {
        response = await visit(new URL(away, response.url).href)
        continue
      }
      if (page.includes('name="abort"')) form["abort"] = "yes"
    }
    response = await visit(new URL(action, response.url).href, form)
    if (form["abort"] !== undefined) return response.url
  }
  throw new Error(`The provider does not come to an end: ${response.url}`)
}

/** Signs in with the authorization code flow and PKCE, and answers the ID token. */
export const signIn = async (issuer: string, clientId: string, redirectUri: string, login: string): Promise<string> => {
  const verifier = randomBytes(32).toString("base64url")
  const back = await browse(
    `${issuer}/auth?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid",
      state: "s",
      nonce: "n",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256"
    })}`,
    login
  )
  const code = new URL(back).searchParams.get("code")
  if (code === null) throw new Error(`The provider gives no code: ${back}`)
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      client_id: clientId,
      redirect_uri: redirectUri,
      code_verifier: verifier
    })
  })
  const { id_token: token } = (await answer.json()) as { readonly id_token?: string }
  if (token === undefined) throw new Error(`The provider gives no token, but ${answer.status}`)
  return token
}
