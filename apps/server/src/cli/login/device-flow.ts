/** Signing in with a code that the person enters on any other device. Spec: RFC 8628. */
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

/**
 * Shows the code, and waits until the person has signed in.
 *
 * - Fails: with {@link LoginFailed}, where the provider has no such flow, the person refused, or the code expired.
 */
export const deviceFlow = async (provider: Provider, client: Client, world: World): Promise<Tokens> => {
  if (provider.device === null)
    throw new LoginFailed(`${provider.issuer} offers no sign-in with a code. Use --browser on a host with a browser`)
  const begun = await post(provider.device, { client_id: client.clientId, scope: client.scope })
  if (!begun.ok) throw new LoginFailed(`${provider.issuer} refuses to begin: ${begun.sentence}`)
  const { device_code: deviceCode, expires_in: expiresIn, interval, user_code: userCode } = begun.members
  // Google has the older name of it.
  const address = begun.members["verification_uri"] ?? begun.members["verification_url"]
  if (typeof deviceCode !== "string" || typeof userCode !== "string" || typeof address !== "string")
    throw new LoginFailed(`${provider.issuer} gives no code to enter`)
  world.say(`Open ${asPlainText(address)} and enter the code ${asPlainText(userCode)}`)
  const endMs = world.nowMs() + seconds(expiresIn, DEFAULT_EXPIRY_S)
  let pauseMs = seconds(interval, DEFAULT_INTERVAL_S)
  while (world.nowMs() < endMs) {
    await world.pause(pauseMs)
    const answer = await post(provider.token, {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: deviceCode,
      client_id: client.clientId,
      client_secret: client.clientSecret
    })
    if (answer.ok) return tokensOf(provider, client, answer.members)
    if (answer.error === "slow_down") pauseMs += SLOWER_MS
    else if (answer.error === "access_denied") throw new LoginFailed("the sign-in was refused at the provider")
    else if (answer.error === "expired_token") break
    else if (answer.error !== "authorization_pending")
      throw new LoginFailed(`${provider.issuer} gives no token: ${answer.sentence}`)
  }
  throw new LoginFailed("the code expired before anybody signed in with it. Run flyball login again")
}

const seconds = (value: unknown, fallback: number): number =>
  1_000 * (typeof value === "number" && value > 0 && value < 86_400 ? value : fallback)

/** Where the provider does not say it. Unit: seconds. */
const DEFAULT_EXPIRY_S = 600
const DEFAULT_INTERVAL_S = 5
/** Spec: RFC 8628 section 3.5, `slow_down`. Unit: milliseconds. */
const SLOWER_MS = 5_000
