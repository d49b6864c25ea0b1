/** The OpenID provider as a client on a person's host needs it: its addresses, and its token endpoint. */
import { isIssuerUrl } from "@flyball/http/issuer-url"
import { discovery } from "@flyball/http/oidc"
import { decodeJwt } from "jose"

/** Signing in did not work. The message says why, and what to do. */
export class LoginFailed extends Error {}

/** The facts of a provider that a client needs. An address is null where the provider does not offer that. */
export interface Provider {
  readonly issuer: string
  readonly authorization: string | null
  readonly device: string | null
  readonly token: string
  /** It names itself in its answers to a browser (RFC 9207). */
  readonly namesItself: boolean
}

/** The registered client, and which of its tokens the server takes. */
export interface Client {
  readonly clientId: string
  /** For providers that give secrets to programs that cannot keep one; null for others. */
  readonly clientSecret: string | null
  readonly use: "id" | "access"
  readonly scope: string
}

/** The outside of a person's sign-in. */
export interface World {
  readonly nowMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly say: (text: string) => void
}

/** Tokens of a provider. Unit: `expiresAtMs`, milliseconds since 1970 UTC. */
export interface Tokens {
  readonly token: string
  readonly expiresAtMs: number
  readonly refreshToken: string | null
  /** The person, by the token's claims. */
  readonly subject: string
}

/** An answer of the token endpoint: its members, or the error's code and sentence. */
export type TokenAnswer =
  | { readonly ok: true; readonly members: Members }
  | { readonly ok: false; readonly error: string; readonly sentence: string }

type Members = { readonly [name: string]: unknown }

/** Discovers a provider. Fails: with {@link LoginFailed}, where its document cannot be had, or is of another issuer. */
export const findProvider = async (issuer: string): Promise<Provider> => {
  const found = await discovery(issuer).catch((cause: { readonly reason?: unknown }) => {
    throw typeof cause.reason === "string" ? new LoginFailed(cause.reason) : cause
  })
  const address = (name: string): string | null => {
    const value = found[name]
    if (value === undefined) return null
    if (typeof value !== "string" || !isIssuerUrl(value))
      throw new LoginFailed(`${issuer} names no https address as its ${name}`)
    return value
  }
  const token = address("token_endpoint")
  if (token === null) throw new LoginFailed(`${issuer} has no token endpoint`)
  return {
    issuer,
    authorization: address("authorization_endpoint"),
    device: address("device_authorization_endpoint"),
    token,
    namesItself: found["authorization_response_iss_parameter_supported"] === true
  }
}

/** Posts a form to the provider. Fails: with {@link LoginFailed}, where it cannot be reached or gives no JSON. */
export const post = async (address: string, form: { readonly [name: string]: string | null }): Promise<TokenAnswer> => {
  const given = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== null)
  const response = await fetch(address, {
    method: "POST",
    redirect: "error",
    headers: { accept: "application/json" },
    body: new URLSearchParams(given),
    signal: AbortSignal.timeout(REQUEST_MS)
  }).catch((cause: unknown) => {
    throw new LoginFailed(`${address} cannot be reached: ${reasonOf(cause)}`)
  })
  const members = await response.json().catch(() => null)
  if (typeof members !== "object" || members === null)
    throw new LoginFailed(`${address} answers ${response.status}, and no JSON`)
  if (response.ok) return { ok: true, members }
  const { error, error_description: description } = members as Members
  const code = typeof error === "string" ? error : `status ${response.status}`
  const sentence = typeof description === "string" ? `${code}: ${description}` : code
  return { ok: false, error: code, sentence: asPlainText(sentence) }
}

/**
 * Reads the tokens of an answer. The provider gave them over TLS, so their signature is for the server to check.
 *
 * - Fails: with {@link LoginFailed}, for a token of another issuer, for another client, or without the nonce.
 */
export const tokensOf = (
  { issuer }: Provider,
  { clientId, use }: Client,
  members: Members,
  nonce: string | null = null
): Tokens => {
  const token = members[`${use}_token`]
  if (typeof token !== "string")
    throw new LoginFailed(
      `${issuer} gives no ${use === "id" ? "ID" : "access"} token. Ask for another --scope or --use`
    )
  const claims = claimsOf(token)
  if (claims === null)
    throw new LoginFailed(
      `the ${use} token of ${issuer} is no signed token, which the server needs. Use --use id, or a scope of an API`
    )
  if (claims.iss !== issuer)
    throw new LoginFailed(`the token is of another issuer, ${asPlainText(String(claims.iss))}, and not of ${issuer}`)
  const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud]
  if (use === "id" && !audiences.includes(clientId))
    throw new LoginFailed(`the ID token is for another client than ${clientId}`)
  if (nonce !== null && use === "id" && claims["nonce"] !== nonce)
    throw new LoginFailed("the ID token does not belong to this sign-in")
  if (typeof claims.exp !== "number") throw new LoginFailed(`the token of ${issuer} never expires`)
  const refresh = members["refresh_token"]
  return {
    token,
    expiresAtMs: claims.exp * 1_000,
    refreshToken: typeof refresh === "string" ? refresh : null,
    subject: asPlainText(String(claims["name"] ?? claims["preferred_username"] ?? claims["email"] ?? claims.sub))
  }
}

/** A text of the provider as one that a terminal only shows. */
export const asPlainText = (text: string): string => text.slice(0, MAX_SHOWN).replace(/[^\x20-\x7e]/g, "?")

const claimsOf = (token: string) => {
  try {
    return decodeJwt(token)
  } catch {
    return null
  }
}

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause)

/** Unit: milliseconds. */
const REQUEST_MS = 10_000
const MAX_SHOWN = 500
