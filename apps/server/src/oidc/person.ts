/**
 * A person with a browser, as far as signing in needs one: follows redirects, keeps cookies, fills in the provider's
 * two forms. For the end-to-end test.
 */
import { createHash, randomBytes } from "node:crypto"

/** Signs in with the authorization code flow and PKCE, and answers the ID token. */
export const signIn = async (issuer: string, clientId: string, redirectUri: string, login: string): Promise<string> => {
  const cookies = new Map<string, string>()
  const verifier = randomBytes(32).toString("base64url")

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

  let url = `${issuer}/auth?${new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "openid",
    state: "s",
    nonce: "n",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256"
  })}`
  for (let step = 0; step < 20; step++) {
    if (url.startsWith(redirectUri)) break
    const response = await visit(url)
    const location = response.headers.get("location")
    if (location !== null) {
      url = new URL(location, url).href
      continue
    }
    const page = await response.text()
    const prompt = /name="prompt" value="(login|consent)"/.exec(page)?.[1]
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1]
    if (prompt === undefined || action === undefined)
      throw new Error(`The provider shows neither of its forms, but ${response.status}: ${page.slice(0, 500)}`)
    const sent = await visit(
      new URL(action, url).href,
      prompt === "login" ? { prompt, login, password: "anything" } : { prompt }
    )
    url = new URL(sent.headers.get("location")!, url).href
  }
  const code = new URL(url).searchParams.get("code")
  if (code === null) throw new Error(`The provider gives no code: ${url}`)
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
